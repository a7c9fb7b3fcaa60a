//! Tests of what leaves the machine, and of what may not happen to the database.

use std::path::{Path, PathBuf};

use serde_json::Value;
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{KEY, PLAN, Said, WRITE, ask, for_task, plan, statements, subtask, whole};

/// A database in which every cell of text says that it is one, and every number is one that stands
/// nowhere else.
fn canaries(folder: &Path) -> PathBuf {
    canaries_with(folder, "id INTEGER")
}

fn canaries_with(folder: &Path, id: &str) -> PathBuf {
    let rows = |table: usize| {
        (1..=8)
            .map(|row: usize| {
                format!("({table}9990{row}, 'CANARY-{table}-{row}', x'43414E4152592D{table}{row}')")
            })
            .collect::<Vec<_>>()
            .join(", ")
    };
    let tables = ["customers", "products", "orders"];
    let script: String = tables
        .iter()
        .enumerate()
        .map(|(number, name): (usize, &&str)| {
            format!(
                "CREATE TABLE {name}({id}, name TEXT, picture BLOB); INSERT INTO {name} VALUES {};",
                rows(number + 1)
            )
        })
        .collect();
    syrch_kit::sqlite(folder.join("canaries.sqlite"), &script)
}

/// Returns true if a cell of [`canaries`] is in the text.
fn has_canary(text: &str) -> bool {
    text.contains("CANARY")
        || text.contains("43414e4152592d")
        || (1..=3).any(|table| text.contains(&format!("{table}9990")))
}

/// A search in which cells could come into prompts in every way: results of parents, errors that
/// quote values, empty results, clarifications.
fn curious() -> Script {
    let tasks = [
        subtask("A", "the names", &[]),
        subtask("B", "a wrong one", &[]),
        subtask("C", "the end", &["A", "B"]),
    ];
    let wrong = [
        "SELECT json_extract('{}', name) FROM customers",
        "SELECT json(name) FROM products",
        "SELECT name, picture FROM products WHERE name LIKE 'x' ESCAPE name",
        "SELECT name, picture FROM products",
    ];
    let mut script = Script::new()
        .on([PLAN], plan(&tasks))
        .on([&for_task("the names")], Reply::sql("SELECT name, id, picture FROM customers", 0.95));
    for statement in wrong {
        script = script.once([&for_task("a wrong one")], Reply::sql(statement, 0.95));
    }
    script
        .once([&for_task("the end")], Reply::sql("SELECT nothing FROM task_A", 0.95))
        .on([&for_task("the end")], Reply::sql("SELECT COUNT(*) AS n FROM task_A, task_B", 0.95))
        .on([""], Reply::text("Which name?"))
}

#[test]
fn without_a_grant_no_cell_is_in_any_request() {
    let folder = syrch_kit::scratch();
    for grant in ["none", "aggregates"] {
        for verbose in ["--color=never", "-vvv"] {
            let endpoint = MockEndpoint::start(curious());
            let flags = [
                "--rows",
                grant,
                "--max-attempts",
                "6",
                verbose,
                "-P",
                "aggregator.summarise=true",
            ];
            let said =
                ask(&endpoint, &canaries(folder.path()), "How many names are there?", &flags);
            let document = said.document(0);
            assert_eq!(document["answer"]["rows"], serde_json::json!([[64]]), "{document:#}");
            assert!(endpoint.count() >= 8, "{}", endpoint.count());
            for request in endpoint.requests() {
                assert!(
                    !has_canary(&request.body.to_string()),
                    "--rows {grant}: {}",
                    request.prompt()
                );
            }
            assert!(!has_canary(&said.stderr), "--rows {grant} {verbose}: {}", said.stderr);
            assert!(!has_canary(&said.stdout), "the answer is a number: {}", said.stdout);
        }
    }
}

/// The greatest key of a table is a cell as well, such as a customer's number, and no count of
/// rows.
#[test]
fn without_a_grant_no_key_is_in_any_request() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(curious());
    let database = canaries_with(folder.path(), "id INTEGER PRIMARY KEY");
    ask(
        &endpoint,
        &database,
        "How many names are there?",
        &["--rows", "none", "--max-attempts", "6"],
    )
    .document(0);
    for request in endpoint.requests() {
        assert!(!has_canary(&request.body.to_string()), "{}", request.prompt());
    }
}

#[test]
fn a_failed_search_without_a_grant_tells_no_cell_either() {
    let folder = syrch_kit::scratch();
    let script = Script::new()
        .on([PLAN], whole())
        .once([WRITE], Reply::sql("SELECT name FROM customers WHERE id < 0", 0.1))
        .once([WRITE], Reply::sql("SELECT json_extract('{}', name) FROM customers", 0.1))
        .on([WRITE], Reply::sql("SELECT name FROM customers WHERE name = 'x'", 0.1))
        .on([""], Reply::text("Which one?"));
    let endpoint = MockEndpoint::start(script);
    let said = ask(&endpoint, &canaries(folder.path()), "Who is it?", &["--rows", "none", "-vvv"]);
    said.document(4);
    assert!(endpoint.requests().iter().all(|request| !has_canary(&request.body.to_string())));
    assert!(!has_canary(&said.all()), "{}", said.all());
}

/// The rows of the canaries' database that a text shows.
fn count_shown_rows(text: &str) -> usize {
    let row = |table: usize, row: usize| format!("CANARY-{table}-{row}");
    (1..=3)
        .flat_map(|table| (1..=8).map(move |n| row(table, n)))
        .filter(|row| text.contains(row))
        .count()
}

#[test]
fn a_sample_shows_no_more_rows_than_it_grants() {
    let folder = syrch_kit::scratch();
    for (grant, most) in [(None, 3), (Some("sample:1"), 1), (Some("sample:5"), 5)] {
        let tasks = [subtask("A", "the names", &[]), subtask("B", "the end", &["A"])];
        let script = Script::new()
            .on([PLAN], plan(&tasks))
            .on([&for_task("the names")], Reply::sql("SELECT name FROM customers", 0.95))
            .on([&for_task("the end")], Reply::sql("SELECT * FROM task_A", 0.95))
            .on(["The result has"], Reply::text("There are eight."));
        let endpoint = MockEndpoint::start(script);
        let mut flags = vec![
            "-P",
            "solver.parent_rows=50",
            "-P",
            "aggregator.summarise=true",
            "-P",
            "aggregator.told_rows=50",
        ];
        flags.extend(grant.into_iter().flat_map(|grant| ["--rows", grant]));
        let document =
            ask(&endpoint, &canaries(folder.path()), "Which names are there?", &flags).document(0);
        assert_eq!(document["answer"]["row_count"], 8);
        assert_eq!(document["answer"]["text"], "There are eight.");
        let counts: Vec<usize> =
            endpoint.requests().iter().map(|request| count_shown_rows(&request.prompt())).collect();
        assert_eq!(counts, [0, 0, most, most], "{grant:?}");
    }
}

#[test]
fn full_rows_are_a_grant_of_their_own() {
    let folder = syrch_kit::scratch();
    let tasks = [subtask("A", "the names", &[]), subtask("B", "the end", &["A"])];
    let script = Script::new()
        .on([PLAN], plan(&tasks))
        .on([&for_task("the names")], Reply::sql("SELECT name FROM customers", 0.95))
        .on([&for_task("the end")], Reply::sql("SELECT * FROM task_A", 0.95));
    let endpoint = MockEndpoint::start(script);
    let flags = ["--rows", "full", "-P", "solver.parent_rows=50"];
    ask(&endpoint, &canaries(folder.path()), "Which names are there?", &flags).document(0);
    assert_eq!(count_shown_rows(&endpoint.requests()[2].prompt()), 8);
}

#[test]
fn tables_that_are_not_granted_are_in_no_prompt_and_in_no_answer() {
    let folder = syrch_kit::scratch();
    let script = Script::new()
        .on([PLAN], whole())
        .once([WRITE], Reply::sql("SELECT name FROM orders", 0.95))
        .on([WRITE], Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.95));
    let endpoint = MockEndpoint::start(script);
    let flags = ["--tables", "customers,products"];
    let document =
        ask(&endpoint, &canaries(folder.path()), "How many are there?", &flags).document(0);
    assert_eq!(document["answer"]["rows"], serde_json::json!([[8]]));
    let asked = statements(&endpoint);
    assert_eq!(asked.len(), 2);
    assert!(
        !asked[0].prompt().contains("orders")
            && !endpoint.requests()[0].prompt().contains("orders")
    );
    assert!(asked[1].prompt().contains("What was wrong:"), "{}", asked[1].prompt());
}

/// Statements that would change something, each in its own way.
const WRITES: [&str; 7] = [
    "DELETE FROM customers",
    "UPDATE customers SET name = 'x'",
    "DROP TABLE customers",
    "INSERT INTO customers VALUES (99, 'x', NULL)",
    "CREATE TABLE x AS SELECT * FROM customers",
    "PRAGMA writable_schema = 1",
    "ATTACH DATABASE '/tmp/syrch-never-made.sqlite' AS other",
];

#[test]
fn statements_that_write_are_refused_and_change_nothing() {
    let folder = syrch_kit::scratch();
    let database = canaries(folder.path());
    let before = std::fs::read(&database).unwrap();
    for write in WRITES {
        let fenced = Reply::text(format!("```sql\n{write}\n```\nConfidence: 0.99"));
        let count = Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.99);
        let endpoint = MockEndpoint::start(
            Script::new().on([PLAN], whole()).once([WRITE], fenced).on([WRITE], count),
        );
        let document = ask(&endpoint, &database, "How many customers are there?", &[]).document(0);
        assert_eq!(document["answer"]["rows"], serde_json::json!([[8]]), "{write}");
        let asked = statements(&endpoint);
        assert_eq!(asked.len(), 2, "{write}: {document:#}");
        let reported = asked[1].prompt();
        assert!(
            reported.contains("What was wrong:")
                && reported.contains(write.split(' ').next().unwrap()),
            "{write}: {reported}"
        );
        let refused = &document["candidates"][0];
        assert_eq!(
            (refused["status"].as_str(), &refused["cluster"]),
            (Some("dropped"), &Value::Null),
            "{write}"
        );
    }
    assert!(before == std::fs::read(&database).unwrap(), "the database changed");
    assert!(!Path::new("/tmp/syrch-never-made.sqlite").exists());
    let beside: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["canaries.sqlite"], "nothing is left beside the database");
}

#[test]
fn of_several_statements_only_the_query_is_run() {
    let folder = syrch_kit::scratch();
    let database = canaries(folder.path());
    let before = std::fs::read(&database).unwrap();
    let both = Reply::sql("SELECT COUNT(*) AS n FROM customers; DELETE FROM customers", 0.95);
    let endpoint = MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], both));
    let document = ask(&endpoint, &database, "How many customers are there?", &[]).document(0);
    assert_eq!(document["sql"], "SELECT COUNT(*) AS n FROM customers");
    assert!(before == std::fs::read(&database).unwrap(), "the database changed");
}

#[test]
fn a_model_that_only_writes_gets_no_answer() {
    let folder = syrch_kit::scratch();
    let database = canaries(folder.path());
    let before = std::fs::read(&database).unwrap();
    let endpoint = MockEndpoint::start(
        Script::new().on([PLAN], whole()).on([""], Reply::sql("DELETE FROM customers", 1.0)),
    );
    let said = ask(&endpoint, &database, "How many customers are there?", &[]);
    let document = said.document(3);
    assert_eq!(document["answer"], Value::Null);
    let reason = document["candidates"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("DELETE") || reason.contains("write"), "{reason}");
    assert!(before == std::fs::read(&database).unwrap(), "the database changed");
}

#[test]
fn the_key_is_in_no_output_however_much_is_said() {
    let folder = syrch_kit::scratch();
    // The model repeats the key as its statement, its plan and its prose; `Said` looks for it in
    // both streams.
    let statement = format!("SELECT '{KEY}' AS \"{KEY}\" FROM customers WHERE id > 0");
    let script = Script::new()
        .on(
            [PLAN],
            plan(&[subtask("A", &format!("use {KEY}"), &[]), subtask(KEY, "the other", &[])]),
        )
        .once([WRITE], Reply::sql(&format!("SELECT '{KEY}' AS \"{KEY}\" FROM nothing"), 0.95))
        .on([WRITE], Reply::sql(&statement, 0.95));
    let endpoint = MockEndpoint::start(script);
    let database = canaries(folder.path());
    for format in ["json", "jsonl", "csv", "markdown", "table", "auto"] {
        let mut command = super::search(&endpoint.url(), &database);
        command.args(["-vvv", "--format", format, "-q", &format!("What is {KEY}?")]);
        let said = Said::from_output(command.output().unwrap());
        assert_eq!(said.code, 0, "{}", said.all());
        assert!(said.stdout.contains("***"), "{format}: {}", said.stdout);
    }
}

/// A key with characters that JSON and logs write otherwise.
#[test]
fn an_odd_key_is_hidden_in_every_spelling() {
    let folder = syrch_kit::scratch();
    let key = r#"pa"ss\word-17"#;
    let reply = Reply::sql(&format!("SELECT '{key}' AS k FROM customers WHERE id = 1"), 0.95);
    let tasks = [subtask("A", &format!("use {key}"), &[])];
    let script =
        Script::new().on([PLAN], plan(&tasks)).once([WRITE], Reply::text(key)).on([WRITE], reply);
    let endpoint = MockEndpoint::start(script.requires_key(key));
    let database = canaries(folder.path());
    for verbose in ["--color=never", "-vvv"] {
        let mut command = super::search(&endpoint.url(), &database);
        command.env("SYRCH_API_KEY", key).args([
            verbose,
            "--format",
            "json",
            "-q",
            &format!("What is {key}?"),
        ]);
        let said = Said::from_output(command.output().unwrap());
        let escaped = serde_json::to_string(key).unwrap();
        for spelling in [key, escaped.trim_matches('"')] {
            assert!(!said.all().contains(spelling), "{spelling} is shown: {}", said.all());
        }
        assert!(said.all().contains("***"), "{}", said.all());
    }
}

/// The key in OPENAI_API_KEY is OpenAI's: another endpoint that the user names gets no key at all.
#[test]
fn openais_key_is_handed_to_no_other_endpoint() {
    let folder = syrch_kit::scratch();
    let endpoint =
        MockEndpoint::start(Script::always(Reply::sql("SELECT count(*) FROM customers", 0.95)));
    let mut command = crate::host();
    command.env("OPENAI_API_KEY", KEY).args([
        "--llm",
        "openai",
        "--model",
        "mock",
        "--base-url",
        &endpoint.url(),
    ]);
    command.args(["-q", "How many customers are there?", "--db"]).arg(crate::shop(folder.path()));
    let said = Said::from_output(command.output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    let requests = endpoint.requests();
    assert!(!requests.is_empty());
    for request in requests {
        assert!(request.authorization().is_none(), "a key was sent");
    }
}
