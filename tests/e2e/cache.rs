//! The cache of replies and results: nothing is paid for twice, nothing stale or altered is
//! returned, and several processes share it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, sqlite};
use tempfile::TempDir;

use crate::endpoint::{PLAN, Said, WRITE, for_task, plan, search, subtask, whole};
use crate::{host, shop};

const QUESTION: &str = "How many customers are there?";
const COUNT: &str = "SELECT COUNT(*) AS n FROM customers";

/// A folder with a shop and a cache of its own. Compiled plugins are still shared.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(syrch_kit::scratch());
        let compiled = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home/cache/compiled");
        fs::create_dir_all(&compiled).unwrap();
        fs::create_dir(place.cache()).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(compiled, place.cache().join("compiled")).unwrap();
        shop(place.path());
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn cache(&self) -> std::path::PathBuf {
        self.path().join("cache")
    }

    fn with_cache(&self, mut command: Command) -> Command {
        command.env_remove("SYRCH_CACHE").env("SYRCH_CACHE_DIR", self.cache());
        command
    }

    /// A search of the shop with this cache.
    fn search(&self, endpoint: &MockEndpoint, flags: &[&str]) -> Command {
        let mut command =
            self.with_cache(search(&endpoint.url(), &self.path().join("shop.sqlite")));
        command.args(["--format", "json"]).args(flags);
        command
    }

    fn ask(&self, endpoint: &MockEndpoint, flags: &[&str]) -> Value {
        let flags = [&["-q", QUESTION], flags].concat();
        Said::from_output(self.search(endpoint, &flags).output().unwrap()).document(0)
    }

    /// Runs `cache` with these words.
    fn run_cache(&self, words: &[&str]) -> Said {
        Said::from_output(self.with_cache(host()).arg("cache").args(words).output().unwrap())
    }
}

fn counting() -> MockEndpoint {
    MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(COUNT, 0.95)))
}

/// A document without what differs between runs: when, how long and at what cost.
fn lasting(mut document: Value) -> Value {
    for key in ["run", "time_ms", "cost"] {
        document.as_object_mut().unwrap().remove(key).unwrap();
    }
    for plugin in document["plugins"].as_array_mut().unwrap() {
        plugin.as_object_mut().unwrap().remove("cpu_ms").unwrap();
    }
    document
}

#[test]
fn a_second_search_sends_nothing_and_answers_the_same() {
    let place = Place::new();
    let endpoint = counting();
    let first = place.ask(&endpoint, &[]);
    assert_eq!((&first["answer"]["rows"], endpoint.count()), (&json!([[4]]), 2));
    let second = place.ask(&endpoint, &[]);
    assert_eq!(endpoint.count(), 2, "a cached reply was requested again");
    assert_eq!(lasting(first), lasting(second));
    // Without the cache it is paid for again, and nothing new is cached.
    place.ask(&endpoint, &["--no-cache"]);
    assert_eq!(endpoint.count(), 4);
    place.ask(&endpoint, &["--cache-ttl", "0.001"]);
    assert_eq!(endpoint.count(), 6, "what is older than --cache-ttl is none");
    let mut off = place.search(&endpoint, &["-q", QUESTION]);
    Said::from_output(off.env("SYRCH_CACHE", "no").output().unwrap()).document(0);
    assert_eq!(endpoint.count(), 8);
}

/// Offline searches have no replies to cache, but results.
#[test]
fn results_of_offline_searches_are_cached() {
    let place = Place::new();
    let offline = || {
        let mut command = place.with_cache(host());
        command
            .args(["--llm", "offline", "--format", "json", "-q", QUESTION, "--db"])
            .arg(place.path().join("shop.sqlite"));
        Said::from_output(command.output().unwrap()).document(0)
    };
    assert_eq!(lasting(offline()), lasting(offline()));
    let stats: Value = place.run_cache(&["stats", "--format", "json"]).document(0);
    assert_eq!(stats["kept"]["llm"]["entries"], 0, "{stats}");
    assert!(stats["kept"]["sql"]["entries"].as_u64().unwrap() > 0, "{stats}");
}

/// Bug 1: syrch 0.1.2 returned the sum of the old file for a day after the file had changed.
#[test]
fn a_changed_database_is_never_answered_from_what_it_was() {
    let place = Place::new();
    let endpoint = counting();
    assert_eq!(place.ask(&endpoint, &[])["answer"]["rows"], json!([[4]]));
    let database = Connection::open(place.path().join("shop.sqlite")).unwrap();
    for customers in 5..8 {
        database
            .execute("INSERT INTO customers(name, country) VALUES ('Eve', 'Spain')", [])
            .unwrap();
        assert_eq!(place.ask(&endpoint, &[])["answer"]["rows"], json!([[customers]]));
    }
    // In place, and of the same size.
    database.execute("DELETE FROM customers WHERE name = 'Eve'", []).unwrap();
    assert_eq!(place.ask(&endpoint, &[])["answer"]["rows"], json!([[4]]));
}

/// Bug 2: two databases shared one result in syrch 0.1.2; later, all of the same relative path did.
#[test]
fn two_databases_never_share_a_result() {
    let place = Place::new();
    let endpoint = counting();
    let customers = |folder: &str, rows: usize| {
        let folder = place.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let values = vec!["('Ada', 'France')"; rows].join(", ");
        sqlite(
            folder.join("same.sqlite"),
            &format!(
                "CREATE TABLE customers(name TEXT, country TEXT); INSERT INTO customers \
                 VALUES {values};"
            ),
        );
        folder
    };
    let folders = [(customers("a", 5), 5), (customers("b", 7), 7)];
    for _ in 0..2 {
        for (folder, rows) in &folders {
            let mut command = place.with_cache(search(&endpoint.url(), Path::new("same.sqlite")));
            command.current_dir(folder).args(["--format", "json", "-q", QUESTION]);
            let document = Said::from_output(command.output().unwrap()).document(0);
            assert_eq!(document["answer"]["rows"], json!([[rows]]));
        }
    }
}

/// Bug 8: syrch 0.1.2 cached tables as loose JSON: '006' came back as 6, 315.0 as 315, numbers with
/// ten digits, and two columns of one name not at all.
#[test]
fn values_come_back_exactly_as_they_were() {
    let place = Place::new();
    let exact = "SELECT '006' AS code, 315.0 AS amount, 0.12345678901234568 AS share, \
                 9007199254740993 AS big, 1 AS n, 2 AS n FROM customers WHERE id = 1";
    let endpoint =
        MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(exact, 0.95)));
    let shown = || {
        let said = Said::from_output(place.search(&endpoint, &["-q", QUESTION]).output().unwrap());
        let document = said.document(0);
        assert_eq!(
            document["answer"]["columns"],
            json!(["code", "amount", "share", "big", "n", "n"])
        );
        let row = json!([["006", 315.0, 0.12345678901234568, 9_007_199_254_740_993_u64, 1, 2]]);
        assert_eq!(document["answer"]["rows"], row);
        assert!(
            said.stdout.contains("315.0") && said.stdout.contains("0.12345678901234568"),
            "{}",
            said.stdout
        );
        lasting(document)
    };
    assert_eq!(shown(), shown());
    assert_eq!(endpoint.count(), 2);
}

/// Bug 15: syrch 0.1.2 cached a plan that it could not read as an empty one, and stayed wrong for a
/// day.
#[test]
fn a_reply_that_cannot_be_used_is_not_cached() {
    let place = Place::new();
    let tasks = [subtask("A", "count them", &[]), subtask("B", "take it over", &["A"])];
    let endpoint = MockEndpoint::start(
        Script::new()
            .once([PLAN], Reply::text("I would first count the customers."))
            .on([PLAN], plan(&tasks))
            .on([&for_task("take it over")], Reply::sql("SELECT n FROM task_A", 0.95))
            .on([WRITE], Reply::sql(COUNT, 0.95)),
    );
    place.ask(&endpoint, &[]);
    assert_eq!(endpoint.count_of(PLAN), 1);
    let second = place.ask(&endpoint, &[]);
    assert_eq!(endpoint.count_of(PLAN), 2, "the plan is asked for again");
    assert_eq!(second["answer"]["rows"], json!([[4]]));
    assert!(second["sql"].as_str().unwrap().contains("task_A"), "{second:#}");
    let asked = endpoint.count();
    place.ask(&endpoint, &[]);
    assert_eq!(endpoint.count(), asked, "the plan that could be used is cached");
}

/// Bug 16: prompts of syrch 0.1.2 went over unordered sets, so that each process wrote them
/// otherwise and asked again.
#[test]
fn prompts_are_equal_in_every_process() {
    let place = Place::new();
    let tables: String = (0..30)
        .map(|n| {
            format!(
                "CREATE TABLE customers_{n}(id INTEGER PRIMARY KEY, name_{n} TEXT, country \
                 TEXT, city TEXT);"
            )
        })
        .collect();
    Connection::open(place.path().join("shop.sqlite")).unwrap().execute_batch(&tables).unwrap();
    let tasks = [
        subtask("A", "the customers", &[]),
        subtask("B", "the countries", &[]),
        subtask("C", "both", &["A", "B"]),
    ];
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&tasks))
            .on([&for_task("the customers")], Reply::sql("SELECT id, name FROM customers", 0.95))
            .on([&for_task("the countries")], Reply::sql("SELECT id, country FROM customers", 0.95))
            .on(
                [&for_task("both")],
                Reply::sql("SELECT a.name, b.country FROM task_A a JOIN task_B b USING (id)", 0.95),
            ),
    );
    let sent = |from: usize| {
        let mut bodies: Vec<String> = endpoint
            .requests()
            .split_off(from)
            .iter()
            .map(|request| request.body.to_string())
            .collect();
        bodies.sort();
        bodies
    };
    place.ask(&endpoint, &[]);
    let first = sent(0);
    assert_eq!(first.len(), 4);
    place.ask(&endpoint, &[]);
    assert_eq!(endpoint.count(), 4, "another process asked again");
    for run in 1..4 {
        place.ask(&endpoint, &["--no-cache"]);
        assert_eq!(sent(4 * run), first);
    }
}

#[test]
fn a_damaged_file_is_set_aside_and_reported() {
    let place = Place::new();
    let endpoint = counting();
    place.ask(&endpoint, &[]);
    let file = place.cache().join("answers/cache.sqlite");
    let damage = |text: &str| {
        // What the log beside the file holds would mend it.
        for companion in ["cache.sqlite-wal", "cache.sqlite-shm"] {
            drop(fs::remove_file(file.with_file_name(companion)));
        }
        fs::write(&file, text.repeat(1_000)).unwrap();
    };
    damage("this is no database at all");
    let document = place.ask(&endpoint, &[]);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    assert!(document["warnings"].to_string().contains("set aside"), "{}", document["warnings"]);
    fn is_aside(name: &str) -> bool {
        name.starts_with("cache.sqlite.corrupt-")
    }
    let names: Vec<String> = fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().any(|name| is_aside(name)), "{names:?}");
    let asked = endpoint.count();
    assert_eq!(place.ask(&endpoint, &[])["warnings"], json!([]));
    assert_eq!(endpoint.count(), asked, "the new file is used");
    damage("nor is this");
    let said = place.run_cache(&["stats"]);
    assert!(said.code == 0 && said.stderr.contains("set aside"), "{}", said.all());
}

#[test]
fn what_is_cached_is_shown_and_cleared() {
    let place = Place::new();
    let endpoint = counting();
    assert!(
        place.run_cache(&["stats"]).stdout.contains("all   0 entries, 0 bytes"),
        "{}",
        place.run_cache(&["stats"]).all()
    );
    place.ask(&endpoint, &[]);
    let stats = || place.run_cache(&["stats", "--format", "json"]).document(0);
    let before = stats();
    let file = place.cache().canonicalize().unwrap().join("answers/cache.sqlite");
    assert_eq!(
        (&before["schema"], &before["kept"]["llm"]["entries"]),
        (&json!("syrch.cache/1"), &json!(2))
    );
    assert!(
        before["path"].as_str().unwrap().ends_with("answers/cache.sqlite") && file.exists(),
        "{before}"
    );
    assert!(
        before["file_bytes"].as_u64().unwrap() > before["kept"]["all"]["bytes"].as_u64().unwrap(),
        "{before}"
    );
    let text = place.run_cache(&["stats"]).stdout;
    assert!(text.contains("on disk") && text.contains("llm   2 entries"), "{text}");

    let cleared = place.run_cache(&["clear", "sql", "--format", "json"]).document(0);
    assert_eq!(
        (&cleared["schema"], &cleared["entries"]),
        (&json!("syrch.cache-cleared/1"), &before["kept"]["sql"]["entries"])
    );
    place.ask(&endpoint, &[]);
    assert_eq!(endpoint.count(), 2, "replies are still cached");
    let all = stats()["kept"]["all"]["entries"].as_u64().unwrap();
    assert!(all >= 3, "two replies, a result and the cells that were found: {all}");
    assert!(place.run_cache(&["clear"]).stdout.starts_with(&format!("cleared {all} entries, ")));
    assert_eq!(stats()["kept"]["all"]["entries"], 0);
    place.ask(&endpoint, &[]);
    assert_eq!(endpoint.count(), 4);
    let wrong = place.run_cache(&["clear", "lmm"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("`lmm` is not one of llm, sql"),
        "{}",
        wrong.all()
    );
}

/// Four processes at once, each with the same questions from another one on.
#[test]
fn four_processes_share_one_cache() {
    let place = Place::new();
    let countries = ["France", "Spain", "Italy", "Norway"];
    let found = [2, 1, 1, 0];
    let mut script = Script::new().on([PLAN], whole().delay_ms(50));
    for country in countries {
        let sql = format!("SELECT COUNT(*) AS n FROM customers WHERE country = '{country}'");
        script = script.on([country], Reply::sql(&sql, 0.95).delay_ms(50));
    }
    let endpoint = MockEndpoint::start(script);
    std::thread::scope(|scope| {
        for first in 0..4 {
            let place = &place;
            let endpoint = &endpoint;
            scope.spawn(move || {
                for step in 0..4 {
                    let at = (first + step) % 4;
                    let question = format!("How many customers are from {}?", countries[at]);
                    let mut command = place.search(endpoint, &["-q", &question]);
                    let said = Said::from_output(command.stdin(Stdio::null()).output().unwrap());
                    let document = said.document(0);
                    assert_eq!(document["answer"]["rows"], json!([[found[at]]]), "{}", said.all());
                    // That there is no such country is doubted.
                    let warnings = document["warnings"].as_array().unwrap();
                    assert_eq!(warnings.is_empty(), found[at] > 0, "{}", said.all());
                }
            });
        }
    });
    let repeats = endpoint.repeats();
    // Four plans, four statements, and a repair of the one that is doubted.
    assert_eq!(repeats.len(), 9, "{repeats:?}");
    assert!(repeats.iter().all(|times| *times <= 2), "{repeats:?}");
    let stats = place.run_cache(&["stats", "--format", "json"]).document(0);
    assert_eq!(stats["kept"]["llm"]["entries"], 9, "{stats}");
}

/// Four processes that know nothing ask the same at once: one asks the endpoint, and the others
/// wait for its reply.
#[test]
fn four_processes_in_lockstep_ask_once() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], whole().delay_ms(400))
            .on([WRITE], Reply::sql(COUNT, 0.95).delay_ms(400)),
    );
    for process in [0; 4].map(|_| {
        let mut command = place.search(&endpoint, &["-q", QUESTION]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }) {
        let said = Said::from_output(process.wait_with_output().unwrap());
        let document = said.document(0);
        assert_eq!(document["answer"]["rows"], json!([[4]]), "{}", said.all());
        assert_eq!(document["warnings"], json!([]), "{}", said.all());
    }
    let repeats = endpoint.repeats();
    assert_eq!(repeats.len(), 2, "{repeats:?}");
    assert!(repeats.iter().all(|times| *times <= 2), "{repeats:?}");
}

/// The lease of a process that was killed expires, so that others do not wait for ever.
#[test]
fn a_killed_process_is_not_waited_for_long() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(
        Script::new()
            .once([PLAN], whole().delay_ms(60_000))
            .on([PLAN], whole())
            .on([WRITE], Reply::sql(COUNT, 0.95)),
    );
    let mut command = place.search(&endpoint, &["-q", QUESTION]);
    let mut leader =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while endpoint.count() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    leader.kill().unwrap();
    leader.wait().unwrap();
    assert_eq!(place.ask(&endpoint, &[])["answer"]["rows"], json!([[4]]));
    assert_eq!(endpoint.count_of(PLAN), 2);
}
