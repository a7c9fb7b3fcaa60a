//! `trace`: what is left of a search, listed, drawn, laid side by side and cleared away.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use syrch_kit::{MockEndpoint, Reply, Script};
use tempfile::TempDir;

use crate::endpoint::{PLAN, REPAIR, Said, WRITE, for_task, plan, search, subtask};
use crate::{host, shop};

const QUESTION: &str = "What did </script> the French buy?";

/// A place with a shop and journals of its own.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(syrch_kit::scratch());
        shop(place.0.path());
        place
    }

    fn runs(&self) -> PathBuf {
        self.0.path().join("state/runs")
    }

    fn here(&self, mut command: Command) -> Command {
        command.env("SYRCH_STATE_DIR", self.0.path().join("state"));
        command
    }

    /// Asks the endpoint; the run's id.
    fn ask(&self, endpoint: &MockEndpoint, question: &str) -> String {
        let mut command = self.here(search(&endpoint.url(), &shop(self.0.path())));
        let said =
            Said::from_output(command.args(["--format", "json", "-q", question]).output().unwrap());
        said.document(0)["run"].as_str().unwrap().to_owned()
    }

    fn trace(&self, words: &[&str]) -> Said {
        Said::from_output(self.here(host()).arg("trace").args(words).output().unwrap())
    }
}

/// A diamond whose task B is written wrong at first.
fn diamond() -> MockEndpoint {
    let subtasks = [
        subtask("A", "customers in France", &[]),
        subtask("B", "their orders", &["A"]),
        subtask("C", "their names", &["A"]),
        subtask("D", "orders with names", &["B", "C"]),
    ];
    let write = |sql: &str| Reply::sql(sql, 0.9);
    let wrong = "SELECT nonsense FROM orders";
    let script = Script::new()
        .on([PLAN], plan(&subtasks))
        .on(
            [WRITE, &for_task("customers in France")],
            write("SELECT id, name FROM customers WHERE country = 'France'"),
        )
        .on([WRITE, &for_task("their orders"), REPAIR], write("SELECT id, customer_id FROM orders"))
        .on([WRITE, &for_task("their orders")], write(wrong))
        .on(
            [WRITE, &for_task("their names")],
            write("SELECT name FROM customers WHERE country = 'France'"),
        )
        .on(
            [WRITE],
            write("SELECT name, quantity FROM customers JOIN orders ON customers.id = customer_id"),
        );
    MockEndpoint::start(script)
}

fn task<'a>(document: &'a Value, id: &str) -> &'a Value {
    let tasks = document["rounds"][0]["tasks"].as_array().unwrap();
    tasks
        .iter()
        .find(|task| task["id"] == id)
        .unwrap_or_else(|| panic!("no task {id} in {document:#}"))
}

#[test]
fn a_search_is_listed_and_drawn_as_it_was() {
    let place = Place::new();
    let endpoint = diamond();
    let run = place.ask(&endpoint, QUESTION);
    let list = place.trace(&["list", "--format", "json"]).document(0);
    assert_eq!(
        (list["schema"].as_str(), list["runs"][0]["run"].as_str()),
        (Some("syrch.traces/1"), Some(run.as_str()))
    );
    assert_eq!(
        (&list["runs"][0]["question"], &list["runs"][0]["outcome"]),
        (&QUESTION.into(), &"answered".into())
    );
    let calls = endpoint.count();
    assert_eq!(list["runs"][0]["calls"], calls);

    let tree = place.trace(&["show", &run[..6], "--format", "json"]).document(0);
    assert_eq!(tree["schema"], "syrch.trace/2");
    assert_eq!(task(&tree, "D")["depends_on"], serde_json::json!(["B", "C"]));
    assert_eq!(task(&tree, "B")["errors"]["unknown-column"], 1);
    assert_eq!(tree["cost"]["calls"], calls);
    let models =
        tree["calls"].as_array().unwrap().iter().filter(|call| call["what"]["kind"] == "model");
    assert_eq!(models.count(), calls);
    // B and C wait for A, and for nothing else.
    let time = |id: &str, field: &str| task(&tree, id)[field].as_u64().unwrap();
    assert!(
        time("B", "started_us") >= time("A", "ended_us")
            && time("D", "started_us") >= time("C", "ended_us")
    );

    let text = place.trace(&["show", "last", "--calls"]);
    assert_eq!(text.code, 0, "{}", text.all());
    for part in [QUESTION, "(after B, C)", "unknown-column", "solver(B)", "repair"] {
        assert!(text.stdout.contains(part), "{part}\n{}", text.stdout);
    }
    assert!(!text.stdout.contains('\u{1b}'));
    assert!(place.trace(&["show", "last", "--color", "always"]).stdout.contains('\u{1b}'));
    assert_eq!(
        place
            .trace(&["show", "last", "--format", "csv"])
            .stdout
            .lines()
            .next()
            .unwrap()
            .split(',')
            .count(),
        9
    );
}

#[test]
fn the_page_is_one_file_that_asks_for_nothing() {
    let place = Place::new();
    let run = place.ask(&diamond(), QUESTION);
    let page = place.0.path().join("page.html");
    let path = page.to_str().unwrap();
    for words in [["show", &run, "--html", path].as_slice(), &["show", &run, "--html", "-o", path]]
    {
        drop(fs::remove_file(&page));
        let said = place.trace(words);
        assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{}", said.all());
        let html = fs::read_to_string(&page).unwrap();
        assert!(html.contains("What did \\u003c/script\\u003e the French buy?"));
        assert_eq!(html.matches("</script>").count(), 2);
        assert!(html.contains("default-src 'none'; script-src 'sha256-"));
        // The endpoint is a setting, and so a text; nothing leads there.
        for outside in ["<script src", "<link", "<img", "url(", "href=\"http"] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
    let said = place.trace(&["show", &run, "--html", path, "-o", path]);
    assert_eq!(said.code, 2, "{}", said.all());
    for file in [place.runs().join(format!("{run}.jsonl")), shop(place.0.path())] {
        let before = fs::read(&file).unwrap();
        let said = place.trace(&["show", &run, "--html", file.to_str().unwrap()]);
        assert_eq!((said.code, fs::read(&file).unwrap()), (2, before), "{}", said.all());
    }
}

#[test]
fn rows_and_prompts_are_shown_under_the_grant_only() {
    let place = Place::new();
    let run = place.ask(&diamond(), QUESTION);
    let show = |words: &[&str]| place.trace(&[&["show", &run], words].concat());
    let rows = |words: &[&str]| {
        let document = show(&[&["--format", "json"], words].concat()).document(0);
        document["answer"]["rows"].as_array().unwrap().len()
    };
    assert_eq!(
        (rows(&["--rows", "none"]), rows(&["--rows", "sample:1"]), rows(&["--rows", "full"])),
        (0, 1, 4)
    );
    let hidden = show(&["--rows", "aggregates"]);
    assert!(
        !hidden.stdout.contains("Cleo")
            && hidden.stdout.contains("left out under --rows aggregates"),
        "{}",
        hidden.all()
    );
    assert!(show(&["--rows", "full"]).stdout.contains("Cleo"));
    let refused = show(&["--rows", "none", "--prompts"]);
    assert!(refused.code == 2 && refused.stderr.contains("may quote cells"), "{}", refused.all());
    let said =
        |words: &[&str]| show(&[&["--format", "json"], words].concat()).stdout.contains(PLAN);
    assert!(!said(&[]) && said(&["--prompts"]));
}

#[test]
fn a_call_that_was_sent_again_says_why() {
    let place = Place::new();
    let count = "SELECT COUNT(*) AS n FROM customers";
    let script = Script::new()
        .once([WRITE], Reply::text(format!("```sql\n{count}")).finish("length"))
        .on([WRITE], Reply::sql(count, 0.95));
    let endpoint = MockEndpoint::start(script);
    let mut command = place.here(search(&endpoint.url(), &shop(place.0.path())));
    let flags = ["--strategy", "single", "-q", "How many customers are there?"];
    let said = Said::from_output(command.args(flags).output().unwrap());
    assert_eq!((said.code, endpoint.count()), (0, 2), "{}", said.all());
    let reason = "it was sent again: the reply was cut off at the limit of 512 tokens";
    for flags in [&["show", "last"][..], &["show", "last", "--calls"]] {
        let shown = place.trace(flags);
        assert!(shown.stdout.contains(reason), "{}", shown.all());
    }
}

#[test]
fn two_searches_lie_side_by_side() {
    let place = Place::new();
    let endpoint = diamond();
    let one = place.ask(&endpoint, QUESTION);
    let two = place.ask(&endpoint, QUESTION);
    let diff =
        place.trace(&["diff", &one, &two, "--fail-on-difference", "--format", "json"]).document(0);
    assert_eq!(
        (&diff["equal"], &diff["answer"]["equal_rows"]),
        (&true.into(), &true.into()),
        "{diff:#}"
    );
    let other = place.ask(&endpoint, "What did they buy?");
    let said = place.trace(&["diff", &one, &other, "--fail-on-difference"]);
    assert_eq!(said.code, 5, "{}", said.all());
    assert!(
        said.stderr.contains("not asked the same question")
            && said.stdout.contains("+ What did they buy?")
    );
    assert_eq!(place.trace(&["diff", &one, &other]).code, 0);
}

#[test]
fn old_journals_are_cleared_away_when_asked() {
    let place = Place::new();
    let endpoint = diamond();
    let count = || fs::read_dir(place.runs()).unwrap().count();
    place.ask(&endpoint, QUESTION);
    let latest = place.ask(&endpoint, QUESTION);
    assert_eq!(place.trace(&["prune"]).code, 0);
    let dry = place.trace(&["prune", "--keep", "1", "--dry-run", "--format", "json"]).document(0);
    assert_eq!((dry["runs"].as_array().unwrap().len(), count()), (1, 2));
    let said = place.trace(&["prune", "--keep", "1"]);
    assert!(said.code == 0 && said.stderr.contains("1 journal of"), "{}", said.all());
    assert_eq!(
        (
            count(),
            place.trace(&["list", "--format", "json"]).document(0)["runs"][0]["run"].as_str()
        ),
        (1, Some(latest.as_str()))
    );
}

#[test]
fn what_is_no_journal_is_reported() {
    let place = Place::new();
    assert_eq!(
        place.trace(&["list", "--format", "json"]).document(0)["runs"],
        serde_json::json!([])
    );
    let run = place.ask(&diamond(), QUESTION);
    let typo = format!("{}0", &run[..run.len() - 1]);
    let typo = if typo == run { format!("{}1", &run[..run.len() - 1]) } else { typo };
    let said = place.trace(&["show", &typo]);
    assert!(said.code == 2 && said.stderr.contains(&run), "{}", said.all());
    let journal = fs::read_to_string(place.runs().join(format!("{run}.jsonl"))).unwrap();
    let at = |name: &str, text: &str| {
        let path = place.0.path().join(name);
        fs::write(&path, text).unwrap();
        place.trace(&["show", Path::new(&path).to_str().unwrap()])
    };
    let damaged = at("damaged.jsonl", &journal.replacen("\n{\"record\"", "\n{\"rec", 1));
    assert!(damaged.code == 10 && damaged.stderr.contains("line 2"), "{}", damaged.all());
    let newer = at("newer.jsonl", &journal.replacen("\"version\":2", "\"version\":7", 1));
    assert!(newer.code == 10 && newer.stderr.contains("version 7"), "{}", newer.all());
    let killed = at("killed.jsonl", &journal[..journal.len() / 2]);
    assert!(killed.code == 0 && killed.stdout.contains("it was killed"), "{}", killed.all());
    fs::write(place.runs().join("00000000000000aa.jsonl"), &journal[..journal.len() / 2]).unwrap();
    let listed = place.trace(&["list", "--format", "markdown"]);
    let marked: Vec<&str> =
        listed.stdout.lines().filter(|line| line.contains("until its last event")).collect();
    let [line] = marked.as_slice() else { panic!("{}", listed.all()) };
    assert!(line.contains("00000000000000aa") && line.contains("unfinished"), "{line}");
}

/// Written before the records, fields and ports got their present names: `books`, `kept`, `look-up`
/// and `lane`.
#[test]
fn a_journal_of_an_earlier_build_is_shown() {
    let place = Place::new();
    fs::create_dir_all(place.runs()).unwrap();
    let stored = syrch_kit::repository().join("host/journal/tests/earlier.jsonl");
    fs::copy(stored, place.runs().join("85f05f4de1b3cb0b.jsonl")).unwrap();
    let text = place.trace(&["show", "85f05f4de1b3cb0b", "--calls"]);
    assert_eq!(text.code, 0, "{}", text.all());
    for part in [
        "Which customers live in Vienna?",
        "SELECT name FROM customers WHERE city = 'Vienna'",
        "retrieval.find",
    ] {
        assert!(text.stdout.contains(part), "{part}: {}", text.all());
    }
    let tree = place.trace(&["show", "last", "--format", "json"]).document(0);
    assert_eq!(
        (&tree["outcome"]["kind"], &tree["answer"]["row_count"]),
        (&"answered".into(), &9.into())
    );
    let cost = &tree["cost"];
    assert_eq!(
        (&cost["calls"], &cost["sql_runs"], &cost["in_flight"]),
        (&2.into(), &1.into(), &0.into())
    );
    let searches =
        tree["calls"].as_array().unwrap().iter().filter(|call| call["port"] == "retrieval.find");
    assert_eq!(searches.count(), 6);
}
