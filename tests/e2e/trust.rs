//! Tests of what a plugin that is not built in can send to a model of data that the user does not
//! show: `--rows none|aggregates` and `--trust`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, zoo};

use crate::endpoint::{KEY, PLAN, Said, WRITE, search, statements, whole};
use crate::host;

const QUESTION: &str = "How many customers are there?";

/// A database whose first customer's name must not leave the machine.
fn canary(folder: &Path) -> PathBuf {
    let path = folder.join("canary.sqlite");
    if path.exists() {
        return path;
    }
    let script = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers \
                  VALUES (1, 'CANARY'), (2, 'Ben');";
    syrch_kit::sqlite(path, script)
}

/// A model that plans one task, counts the customers, and says something to whatever else it is
/// asked.
pub(crate) fn model() -> Script {
    let count = Reply::sql("SELECT count(*) AS n FROM customers", 0.95);
    Script::new().on([PLAN], whole()).on([WRITE], count).on([""], Reply::sql("SELECT 1", 0.5))
}

/// A plugin for a role, and its behaviour.
struct Part<'a> {
    role: &'a str,
    plugin: &'a Path,
    behaviour: &'a str,
}

/// A search with those plugins, to be given more flags.
fn asking(endpoint: &MockEndpoint, folder: &Path, parts: &[Part<'_>]) -> Command {
    let mut command = search(&endpoint.url(), &canary(folder));
    command.env("SYRCH_STATE_DIR", folder.join("state")).args(["--format", "json", "-q", QUESTION]);
    for Part { role, plugin, behaviour } in parts {
        command
            .arg(format!("--{role}"))
            .arg(plugin)
            .args(["-P", &format!("{role}.behaviour={behaviour}")]);
    }
    command
}

fn ask(
    endpoint: &MockEndpoint,
    folder: &Path,
    (role, behaviour): (&str, &str),
    flags: &[&str],
) -> Said {
    let plugin = zoo::hostile();
    let mut command = asking(endpoint, folder, &[Part { role, plugin: &plugin, behaviour }]);
    Said::from_output(command.args(flags).output().unwrap())
}

/// The hostile plugin under another identity: with an empty section more.
fn other(folder: &Path) -> PathBuf {
    let path = folder.join("other.wasm");
    let mut bytes = fs::read(zoo::hostile()).unwrap();
    bytes.extend([0, 2, 1, b'x']);
    fs::write(&path, bytes).unwrap();
    path
}

fn warnings(document: &Value) -> String {
    document["warnings"].to_string()
}

#[test]
fn a_cell_that_was_spelled_out_by_row_counts_is_not_sent() {
    let folder = syrch_kit::scratch();
    let hostile = zoo::hostile().display().to_string();
    for rows in ["none", "aggregates"] {
        let endpoint = MockEndpoint::start(model());
        let said = ask(&endpoint, folder.path(), ("solver", "spell-out"), &["--rows", rows]);
        let error = said.document(15);
        assert_eq!(error["error"]["class"], "denied");
        for word in [&hostile, "--trust", &format!("--rows {rows}")] {
            assert!(said.stderr.contains(word), "{word}: {}", said.all());
        }
        // What it asked before it had seen anything was sent.
        assert_eq!(
            (endpoint.count_of("LEAK before"), endpoint.count_of("CANARY")),
            (1, 0),
            "{rows}"
        );

        let endpoint = MockEndpoint::start(model());
        let flags = ["--rows", rows, "--trust", &hostile];
        let document = ask(&endpoint, folder.path(), ("solver", "spell-out"), &flags).document(0);
        assert_eq!(
            (endpoint.count_of("LEAK CANARY"), warnings(&document)),
            (1, "[]".to_owned()),
            "{rows}"
        );
    }
    for rows in ["sample:3", "full"] {
        let endpoint = MockEndpoint::start(model());
        ask(&endpoint, folder.path(), ("solver", "spell-out"), &["--rows", rows]).document(0);
        assert_eq!(endpoint.count_of("LEAK CANARY"), 1, "{rows}");
    }
}

#[test]
fn whatever_reads_the_data_ends_the_model_calls_and_nothing_else_does() {
    let folder = syrch_kit::scratch();
    for (behaviour, sent) in [
        ("send-error", 0),
        ("send-plan", 0),
        ("send-statistics", 0),
        ("send-verdict", 0),
        ("send-while-it-runs", 0),
        ("send-check", 1),
        ("send-only", 1),
    ] {
        let endpoint = MockEndpoint::start(model());
        let document =
            ask(&endpoint, folder.path(), ("solver", behaviour), &["--rows", "none"]).document(0);
        assert_eq!(endpoint.count_of("LEAK"), sent, "{behaviour}: {document:#}");
        assert_eq!(
            warnings(&document).contains("was denied model calls"),
            sent == 0,
            "{behaviour}: {document:#}"
        );
        assert_eq!(warnings(&document).contains("--trust"), sent == 0, "{behaviour}: {document:#}");
    }
}

/// A search that reads all, with the hostile plugin under these grants: what of the first cell was
/// sent to the model, and the end.
fn spy(folder: &Path, grants: &[&str], flags: &[&str]) -> (usize, Said) {
    let lock = folder.join("own/syrch.lock");
    let plugin = zoo::hostile();
    let add = ["plugin", "add", "--yes", "--name", "spy"];
    let mut command = host();
    command.env("SYRCH_LOCK", &lock).args(add).arg(&plugin).args(grants);
    let added = Said::from_output(command.output().unwrap());
    assert_eq!(added.code, 0, "{}", added.all());
    let endpoint = MockEndpoint::start(model());
    let part = Part { role: "solver", plugin: &plugin, behaviour: "spell-out" };
    let mut command = asking(&endpoint, folder, &[part]);
    command.env("SYRCH_LOCK", &lock).args(["--rows", "full"]).args(flags);
    let said = Said::from_output(command.output().unwrap());
    (endpoint.count_of("CANARY"), said)
}

/// A plugin's reading and its sending are two grants.
#[test]
fn a_plugin_that_may_read_all_may_be_granted_to_send_nothing() {
    let folder = syrch_kit::scratch();
    // Who trusts its file does not widen its grants.
    let hostile = zoo::hostile().display().to_string();
    let trust = ["--trust", &hostile];
    let (sent, said) = spy(folder.path(), &[], &trust);
    assert_eq!((sent > 0, said.code), (true, 0), "{}", said.all());
    for grant in ["sends=none", "sends=aggregates", "reads=none", "reads=aggregates"] {
        let folder = syrch_kit::scratch();
        let (sent, said) = spy(folder.path(), &["--allow", grant], &trust);
        assert_eq!((sent, said.code), (0, 15), "{}", said.all());
        for part in [grant, "`syrch-host plugin grants spy --allow sends=sample:1`"] {
            assert!(said.stderr.contains(part), "{}", said.all());
        }
    }
}

/// A plugin that reads nothing sends what it knows where the user lets it.
#[test]
fn a_plugin_that_reads_no_cells_may_be_granted_to_send() {
    let folder = syrch_kit::scratch();
    let grants = ["--allow", "reads=none", "--allow", "sends=full"];
    let (sent, said) = spy(folder.path(), &grants, &[]);
    assert!(sent > 0 && said.code == 0, "{}", said.all());
}

/// The prompts for statements of a plugin quote the cells that it is shown, and no others.
#[test]
fn a_plugin_is_shown_no_more_cells_than_it_is_granted() {
    let folder = syrch_kit::scratch();
    let path = |name: &str| folder.path().join(name);
    let database = syrch_kit::sqlite(
        path("shop.sqlite"),
        // The linker makes examples of it: the names of the customers of a country.
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
         INSERT INTO customers VALUES (1, 'Ann', 'Zanzibar'), (2, 'Ben', 'Zanzibar'),
                                      (3, 'Cy', 'Zanzibar'), (4, 'Di', 'Norway');",
    );
    fs::write(path("votes.wasm"), crate::locked::component(1)).unwrap();
    // A label is a cell that the prompt quotes beside its dimension.
    let labels = "tables: {customers: {key: id, dimensions: {country: {labels: {Zanzibar: [spice \
                  island]}}}}}\nmetrics: {people: count(customers.id)}\n";
    fs::write(path("shop.yml"), labels).unwrap();
    let mut quoted = Vec::new();
    for reads in ["reads=full", "reads=none", "reads=aggregates"] {
        let mut add = host();
        add.env("SYRCH_LOCK", path("own/syrch.lock")).args(["plugin", "add", "--yes", "--name"]);
        add.arg("votes").arg(path("votes.wasm")).args(["--allow", reads, "--allow", "sends=full"]);
        let added = Said::from_output(add.output().unwrap());
        assert_eq!(added.code, 0, "{}", added.all());
        let endpoint = MockEndpoint::start(model());
        let mut command = search(&endpoint.url(), &database);
        command.env("SYRCH_STATE_DIR", path("state")).env("SYRCH_LOCK", path("own/syrch.lock"));
        command.args(["--rows", "full", "--solver", "votes", "--no-cache", "--format", "json"]);
        command.arg("--semantics").arg(path("shop.yml"));
        let question = "How many customers are in Zanzibar, and how many in Norway?";
        let said = Said::from_output(command.args(["-q", question]).output().unwrap());
        let all = statements(&endpoint);
        assert!(!all.is_empty(), "{}", said.all());
        let is_quoted =
            |request: &Recorded| request.prompt().replace(question, "").contains("Zanz");
        quoted.push(all.iter().filter(|request| is_quoted(request)).count());
    }
    assert!(quoted[0] > 0 && quoted[1..] == [0, 0], "{quoted:?}");
}

/// A judgement runs statements and asks a model for the plugin that wants it: it needs the grants.
#[test]
fn a_judgement_is_within_the_grants_of_the_plugin_that_asks_for_it() {
    for (grants, kind, grant) in [
        (&["evaluate", "llm"][..], "denied", "sql"),
        (&["evaluate", "llm", "sql", "statements=0"], "limit", "statements"),
        (&["evaluate", "llm", "sql"], "used", "sql"),
    ] {
        let folder = syrch_kit::scratch();
        let lock = folder.path().join("own/syrch.lock");
        let plugin = zoo::hostile();
        let mut add = host();
        add.env("SYRCH_LOCK", &lock).args(["plugin", "add", "--yes", "--name", "spy"]);
        add.arg(&plugin).args(grants.iter().flat_map(|grant| ["--allow", grant]));
        let added = Said::from_output(add.output().unwrap());
        assert_eq!(added.code, 0, "{}", added.all());
        let endpoint = MockEndpoint::start(model());
        let part = Part { role: "solver", plugin: &plugin, behaviour: "send-verdict" };
        let mut command = asking(&endpoint, folder.path(), &[part]);
        command.env("SYRCH_LOCK", &lock).args(["--rows", "full"]);
        let said = Said::from_output(command.output().unwrap());
        let log = fs::read_to_string(folder.path().join("state/audit.jsonl")).unwrap();
        let is_noted = log.lines().any(|line| {
            let entry: Value = serde_json::from_str(line).unwrap();
            entry["kind"] == kind && entry["grant"] == grant
        });
        assert!(is_noted, "{grants:?}: {log}{}", said.all());
    }
}

/// A wider grant would not help where the search shows no cells.
#[test]
fn a_grant_is_not_blamed_for_what_the_whole_search_forbids() {
    let folder = syrch_kit::scratch();
    let hostile = zoo::hostile().display().to_string();
    let grants = ["--allow", "sends=none", "--allow", "rows=none"];
    for (flags, is_blamed) in [(&[][..], false), (&["--trust", &hostile], true)] {
        let said = spy(folder.path(), &grants, flags).1;
        assert_eq!(said.code, 15, "{}", said.all());
        assert_eq!(said.stderr.contains("sends=none"), is_blamed, "{}", said.all());
    }
}

/// The endpoint answers none of the calls, so that no slot gets free but by giving a call up.
#[test]
fn a_plugin_cannot_choose_among_calls_that_wait() {
    let folder = syrch_kit::scratch();
    let endpoint =
        MockEndpoint::start(Script::new().on(["LEAK"], Reply::hang()).on([PLAN], whole()));
    let said =
        ask(&endpoint, folder.path(), ("solver", "choose-among-waiting"), &["--rows", "none"]);
    assert!(warnings(&said.document(0)).contains("was denied model calls"), "{}", said.all());
    assert!(endpoint.count_of("LEAK") <= 8, "{}", endpoint.count_of("LEAK"));
}

/// The first two letters of a cell, by the order in which calls were given up.
fn read_order(endpoint: &MockEndpoint) -> Option<String> {
    let requests = endpoint.list_given_up();
    let numbers = requests.iter().filter_map(|request| {
        request.prompt().split_once("LEAK number ")?.1.get(..1)?.parse::<usize>().ok()
    });
    let order: Vec<usize> = numbers.collect();
    let mut left: Vec<usize> = (0..8).collect();
    let mut value = 0;
    let mut weight = 1;
    for number in order {
        let place = left.iter().position(|known| *known == number)?;
        value += weight * place;
        weight *= left.len();
        left.remove(place);
    }
    let letters = [u8::try_from(value / 128).ok()?, u8::try_from(value % 128).ok()?];
    left.is_empty().then(|| letters.map(char::from).iter().collect())
}

/// An attacker who measures what cancellations carry: 8 calls are in flight before it knows
/// anything, and the order in which it gives them up says which of 8! it is, 15.3 bits. That is all
/// of them: once they are gone, no further call is sent.
#[test]
fn cancellations_carry_fifteen_bits_and_no_more_calls_are_made() {
    let mut arrived = Vec::new();
    for _ in 0..5 {
        let folder = syrch_kit::scratch();
        let script = Script::new().on(["LEAK"], Reply::hang()).on([PLAN], whole());
        let endpoint = MockEndpoint::start(script.on([""], Reply::sql("SELECT 1", 0.5)));
        let flags = ["--rows", "none", "--max-concurrency", "8"];
        let said = ask(&endpoint, folder.path(), ("solver", "order-of-cancellations"), &flags);
        assert!(endpoint.count_of("LEAK") <= 8, "{}", said.all());
        assert_eq!(endpoint.count_of("CANARY"), 0, "{}", said.all());
        // On a busy machine two may be noticed at once.
        arrived.push(read_order(&endpoint));
        if arrived.last() == Some(&Some("CA".to_owned())) {
            return;
        }
    }
    panic!("nothing arrived, and the document says that it does: {arrived:?}");
}

#[test]
fn every_role_that_is_shown_results_is_denied() {
    let folder = syrch_kit::scratch();
    for (role, before, flags) in [
        // Least and greatest values are shown under this grant.
        ("linker", 0, &["--rows", "aggregates"][..]),
        ("planner", 1, &["--rows", "none"]),
        ("reward", 0, &["--rows", "none"]),
        ("clarifier", 0, &["--rows", "none", "--high-conf", "1"]),
        ("aggregator", 0, &["--rows", "none"]),
    ] {
        let endpoint = MockEndpoint::start(model());
        let said = ask(&endpoint, folder.path(), (role, "send-what-is-shown"), flags);
        let document = said.document(0);
        assert_eq!(endpoint.count_of("LEAK"), before, "{role}: {}", said.all());
        assert!(warnings(&document).contains(&format!("the {role} `")), "{role}: {document:#}");

        let endpoint = MockEndpoint::start(model());
        let hostile = zoo::hostile().display().to_string();
        let trusting = [flags, &["--trust", &hostile]].concat();
        let document =
            ask(&endpoint, folder.path(), (role, "send-what-is-shown"), &trusting).document(0);
        assert!(
            endpoint.count_of("LEAK") > before && warnings(&document) == "[]",
            "{role}: {document:#}"
        );
    }
}

#[test]
fn trust_is_of_one_plugin_by_its_bytes() {
    let folder = syrch_kit::scratch();
    let hostile = zoo::hostile();
    let other = other(folder.path());
    let copy = folder.path().join("copy.wasm");
    fs::copy(&hostile, &copy).unwrap();
    let parts = [
        Part { role: "solver", plugin: &hostile, behaviour: "spell-out" },
        Part { role: "aggregator", plugin: &other, behaviour: "send-what-is-shown" },
    ];
    let endpoint = MockEndpoint::start(model());
    let mut command = asking(&endpoint, folder.path(), &parts);
    let said =
        Said::from_output(command.args(["--rows", "none", "--trust"]).arg(&copy).output().unwrap());
    let warned = warnings(&said.document(0));
    assert!(warned.contains("the aggregator `") && !warned.contains("the solver"), "{warned}");
    assert_eq!((endpoint.count_of("LEAK CANARY"), endpoint.count_of("LEAK rows")), (1, 0));
    // Both are trusted, each by its own file.
    let endpoint = MockEndpoint::start(model());
    let mut command = asking(&endpoint, folder.path(), &parts);
    command.args(["--rows", "none", "--trust"]).arg(&hostile).arg("--trust").arg(&other);
    assert_eq!(warnings(&Said::from_output(command.output().unwrap()).document(0)), "[]");
    assert_eq!((endpoint.count_of("LEAK CANARY"), endpoint.count_of("LEAK rows")), (1, 1));
}

#[test]
fn one_plugin_that_was_shown_a_result_ends_the_calls_of_another() {
    let folder = syrch_kit::scratch();
    let hostile = zoo::hostile();
    let other = other(folder.path());
    // A calibrator reaches no port and is shown signals alone; the solver reads statistics.
    for (role, behaviour) in [("calibrator", "none"), ("solver", "send-statistics")] {
        let parts = [
            Part { role, plugin: &hostile, behaviour },
            Part { role: "aggregator", plugin: &other, behaviour: "send-what-is-shown" },
        ];
        let endpoint = MockEndpoint::start(model());
        let mut command = asking(&endpoint, folder.path(), &parts);
        let said = Said::from_output(command.args(["--rows", "none"]).output().unwrap());
        assert!(
            warnings(&said.document(0)).contains("was denied model calls"),
            "{role}: {}",
            said.all()
        );
        assert_eq!(endpoint.count_of("LEAK"), 0, "{role}");
    }
}

#[test]
fn embeddings_are_model_calls_too() {
    let folder = syrch_kit::scratch();
    let flags = ["--rows", "none", "--embeddings", "mock-embed"];
    let endpoint = MockEndpoint::start(model());
    ask(&endpoint, folder.path(), ("solver", "embed"), &flags).document(0);
    assert_eq!(endpoint.count_of("LEAK"), 0);
    let trusted = zoo::hostile().display().to_string();
    ask(
        &endpoint,
        folder.path(),
        ("solver", "embed"),
        &[&flags[..], &["--trust", &trusted]].concat(),
    )
    .document(0);
    assert_eq!(endpoint.count_of("LEAK embedded"), 1);
}

/// A planner makes no call itself: the host searches for its task's text, by a vector of the text.
#[test]
fn what_the_host_searches_for_a_planner_is_a_model_call_as_well() {
    let folder = syrch_kit::scratch();
    let terms = Reply::json(&json!({"table": ["buyers"], "columns": []}));
    let endpoint =
        MockEndpoint::start(Script::new().on(["You know how people in business"], terms));
    let mut build = host();
    build
        .env("SYRCH_API_KEY", KEY)
        .env("SYRCH_STATE_DIR", folder.path().join("state"))
        .arg("build-index");
    build.args([
        "--llm",
        "openai",
        "--model",
        "mock",
        "--base-url",
        &endpoint.url(),
        "--embeddings",
        "mock-embed",
    ]);
    Said::from_output(
        build.arg("--db").arg(canary(folder.path())).args(["--format", "json"]).output().unwrap(),
    )
    .document(0);

    let flags = ["--rows", "none", "--embeddings", "mock-embed"];
    let endpoint = MockEndpoint::start(model());
    let said = ask(&endpoint, folder.path(), ("planner", "search-by-vector"), &flags);
    assert_eq!(endpoint.count_of("LEAK"), 0, "{}", said.all());
    assert!(warnings(&said.document(0)).contains("the planner `"), "{}", said.all());
    let trusted = zoo::hostile().display().to_string();
    let trusting = [&flags[..], &["--trust", &trusted]].concat();
    ask(&endpoint, folder.path(), ("planner", "search-by-vector"), &trusting).document(0);
    assert_eq!(endpoint.count_of("LEAK"), 1);
}

/// A question to the user may be made of results, and so may the answer.
#[test]
fn a_search_that_starts_over_is_the_same_search() {
    let folder = syrch_kit::scratch();
    let unsure = Script::new()
        .on([PLAN], whole())
        .on([WRITE, "Answer: all of them"], Reply::sql("SELECT count(*) AS n FROM customers", 0.95))
        .on([WRITE], Reply::sql("SELECT name FROM customers WHERE name = 'x'", 0.1))
        .on([""], Reply::text("Which customers?"));
    let endpoint = MockEndpoint::start(unsure);
    let hostile = zoo::hostile();
    let part = Part { role: "linker", plugin: &hostile, behaviour: "send-only" };
    let mut command = asking(&endpoint, folder.path(), &[part]);
    command.args(["--rows", "none", "--interactive", "--structured", "never"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"all of them\n").unwrap();
    let said = Said::from_output(child.wait_with_output().unwrap());
    assert!(warnings(&said.document(0)).contains("the linker `"), "{}", said.all());
    assert_eq!(endpoint.count_of("LEAK linked"), 1);
}

#[test]
fn what_is_built_in_repairs_and_judges_as_before() {
    let folder = syrch_kit::scratch();
    let refine = zoo::builtin_path("refine").display().to_string();
    for rows in ["none", "aggregates"] {
        // A copy of a built-in plugin is that plugin, wherever it lies.
        for solver in ["refine", &refine] {
            let script = Script::new()
                .on([PLAN], whole())
                .once(
                    [WRITE],
                    Reply::sql("SELECT abs(-9223372036854775807 - 1) FROM customers", 0.95),
                )
                .on([WRITE], Reply::sql("SELECT count(*) AS n FROM customers", 0.95));
            let endpoint = MockEndpoint::start(script);
            let mut command = search(&endpoint.url(), &canary(folder.path()));
            command.args(["--format", "json", "-q", QUESTION, "--rows", rows, "--solver", solver]);
            let said = Said::from_output(command.output().unwrap());
            let document = said.document(0);
            assert_eq!(document["answer"]["rows"], json!([[2]]), "{}", said.all());
            assert!(endpoint.count_of(WRITE) >= 2 && warnings(&document) == "[]", "{}", said.all());
        }
    }
}

fn journal(state: &Path) -> PathBuf {
    fs::read_dir(state.join("runs")).unwrap().next().unwrap().unwrap().path()
}

/// Returns the parts of a document that are the same however often a run was cut off.
fn essence(said: &Said) -> Value {
    let mut document: Value = serde_json::from_str(&said.stdout).unwrap();
    for key in ["run", "time_ms", "cost", "plugins"] {
        document.as_object_mut().unwrap().remove(key);
    }
    document
}

#[test]
fn a_strict_replay_and_a_resumed_run_deny_what_the_run_denied() {
    for (role, behaviour, code) in [
        ("solver", "spell-out", 15),
        ("planner", "send-what-is-shown", 0),
        ("reward", "send-what-is-shown", 0),
    ] {
        let folder = syrch_kit::scratch();
        let endpoint = MockEndpoint::start(model());
        let said = ask(&endpoint, folder.path(), (role, behaviour), &["--rows", "none"]);
        assert_eq!(said.code, code, "{}", said.all());
        let state = folder.path().join("state");
        // Whoever trusts the plugin now does not widen what the run began with.
        let hostile = zoo::hostile();
        let mut replay = host();
        replay
            .env("SYRCH_STATE_DIR", &state)
            .args(["trace", "replay", "last", "--strict", "--format", "json", "--trust"])
            .arg(&hostile);
        let again = Said::from_output(replay.output().unwrap());
        assert_eq!((again.code, &again.stdout), (code, &said.stdout), "{}", again.all());

        let whole = fs::read_to_string(journal(&state)).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        // The run is cut off after each line of a kind that decides, and at a few places between.
        let decides = |at: &usize| {
            ["\"llm\"", "\"event\":\"call\"", "\"sql\""]
                .iter()
                .any(|word| lines[*at].contains(word))
        };
        let places: Vec<usize> = (1..lines.len() - 1).filter(|at| decides(at)).collect();
        for at in places.iter().step_by(places.len().div_ceil(8)) {
            let sent = endpoint.count_of("LEAK");
            let cut = folder.path().join(format!("cut-{at}"));
            fs::create_dir_all(cut.join("runs")).unwrap();
            let path = cut.join("runs").join(journal(&state).file_name().unwrap());
            fs::write(&path, lines[..=*at].join("\n") + "\n").unwrap();
            let mut resume = host();
            resume
                .env("SYRCH_STATE_DIR", &cut)
                .env("SYRCH_API_KEY", KEY)
                .args(["--base-url", &endpoint.url(), "--trust"])
                .arg(&hostile);
            let resumed = Said::from_output(
                resume.args(["--format", "json", "--resume", "last"]).output().unwrap(),
            );
            assert_eq!(
                (resumed.code, essence(&resumed)),
                (code, essence(&said)),
                "after {at}: {}",
                resumed.all()
            );
            // The call that was made before anything was seen is perhaps made again.
            assert!(
                endpoint.count_of("LEAK") <= sent + 1 && endpoint.count_of("CANARY") == 0,
                "after {at}"
            );
        }
    }
}

#[test]
fn a_batch_trusts_whom_the_user_trusts() {
    let folder = syrch_kit::scratch();
    let hostile = zoo::hostile();
    let batch = |endpoint: &MockEndpoint, flags: &[&str]| -> Value {
        let mut command = host();
        command.env("SYRCH_API_KEY", KEY).arg("batch").args([
            "--llm",
            "openai",
            "--model",
            "mock",
            "--base-url",
        ]);
        command
            .arg(endpoint.url())
            .arg("--db")
            .arg(canary(folder.path()))
            .arg("--solver")
            .arg(&hostile);
        command.args(["-P", "solver.behaviour=spell-out", "--rows", "none"]).args(flags);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let line = json!({"id": "1", "question": QUESTION}).to_string();
        child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
        Said::from_output(child.wait_with_output().unwrap()).document(0)
    };
    let endpoint = MockEndpoint::start(model());
    let denied = batch(&endpoint, &[]);
    assert_eq!(
        (&denied["error"]["class"], endpoint.count_of("CANARY")),
        (&json!("denied"), 0),
        "{denied:#}"
    );
    let answered = batch(&endpoint, &["--trust", &hostile.display().to_string()]);
    assert_eq!(
        (&answered["outcome"], endpoint.count_of("LEAK CANARY")),
        (&json!("answered"), 1),
        "{answered:#}"
    );
}

/// Two arms of a comparison, one of which a question ends for: the denial is an error of that arm,
/// and the other continues.
#[test]
fn a_suite_says_whose_calls_were_denied() {
    let folder = syrch_kit::scratch();
    let suite = folder.path().join("suite.jsonl");
    let line = json!({
        "id": "1", "question": QUESTION, "sql": "SELECT count(*) FROM customers", "db": "canary"
    });
    fs::write(&suite, line.to_string() + "\n").unwrap();
    canary(folder.path());
    let graded = |endpoint: &MockEndpoint, flags: &[&str]| {
        let mut command = host();
        command.env("SYRCH_API_KEY", KEY).env("SYRCH_STATE_DIR", folder.path().join("state"));
        command.arg("benchmark").arg(&suite).args([
            "--llm",
            "openai",
            "--model",
            "mock",
            "--base-url",
            &endpoint.url(),
        ]);
        command
            .arg("--solver")
            .arg(zoo::hostile())
            .args(["-P", "solver.behaviour=spell-out", "--rows", "none"])
            .args(flags);
        Said::from_output(command.args(["--format", "json"]).output().unwrap())
    };
    let endpoint = MockEndpoint::start(model());
    let said = graded(&endpoint, &[]);
    assert!(said.all().contains("denied") && endpoint.count_of("CANARY") == 0, "{}", said.all());
    let said = graded(&endpoint, &["--trust", &zoo::hostile().display().to_string()]);
    assert!(said.code == 0 && endpoint.count_of("LEAK CANARY") == 1, "{}", said.all());
}

#[test]
fn inspect_and_doctor_say_who_is_trusted() {
    let inspected = |plugin: &Path| {
        let mut command = host();
        command.args(["plugin", "inspect", "--format", "json"]).arg(plugin);
        let document = Said::from_output(command.output().unwrap()).document(0);
        (document["built_in"].clone(), document["trusted"].clone())
    };
    assert_eq!(inspected(&zoo::hostile()), (json!(false), json!(false)));
    assert_eq!(inspected(&zoo::builtin_path("refine")), (json!(true), json!(true)));
    assert_eq!(inspected(Path::new("refine")), (json!(true), json!(true)));
    let hostile = zoo::hostile().display().to_string();
    let checked = |flags: &[&str]| {
        let mut command = host();
        command
            .args(["doctor", "--llm", "offline", "--format", "json", "--solver", &hostile])
            .args(flags);
        let document = Said::from_output(command.output().unwrap()).document(0);
        let checks = document["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "plugin").unwrap()
    };
    let warned = checked(&["--rows", "none"]);
    assert_eq!(warned["state"], "warn", "{warned}");
    assert!(warned["fix"].as_str().unwrap().contains(&format!("--trust {hostile}")), "{warned}");
    for flags in [&["--rows", "none", "--trust", &hostile][..], &["--rows", "sample:3"]] {
        assert_eq!(checked(flags)["state"], "ok", "{flags:?}");
    }
}
