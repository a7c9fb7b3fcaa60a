//! Tests of errors: those in a suite, its databases or the configuration are reported before
//! anything is asked, all at once; an error in an expected answer costs that question alone.

use serde_json::{Value, json};
use syrch_kit::MockEndpoint;

use super::{Bench, figures, script};
use crate::bad_input::assert_refused;
use crate::endpoint::Said;

fn line(id: &str, gold: &str) -> String {
    json!({"id": id, "db": "shop", "question": "How many customers are there?", "gold_sql": gold})
        .to_string()
        + "\n"
}

#[test]
fn a_bad_suite_is_refused_whole_before_any_call() {
    let endpoint = MockEndpoint::start(script());
    let bench = Bench::new();
    let good = line("q1", "SELECT 1");
    let long =
        format!("{{\"id\": \"q9\", \"db\": \"shop\", \"question\": \"{}\"}}\n", "x".repeat(10));
    for (content, words) in [
        (String::new(), vec!["has no questions"]),
        ("hello\n".to_owned(), vec!["is no suite"]),
        ("{\"a\": 1}\n".to_owned(), vec!["no line or item of it has a question"]),
        (
            format!("{good}{{not json\n{good}{long}"),
            vec!["3 faults", "line 2", "line 3", "repeats the id of line 1", "line 4"],
        ),
        ("[{\"question\": \"x\"}]".to_owned(), vec!["item 1"]),
        (
            json!({
                "id": "f", "db": "shop", "question": "How many?", "expected_data": "../out.csv"
            })
            .to_string(),
            vec!["line 1", "expected_data"],
        ),
        ("id,db,question,gold_sql\nq1,shop,How many?\n".to_owned(), vec!["line 2"]),
    ] {
        bench.place.file("suite.jsonl", &content);
        assert_refused(&mut bench.asks(&endpoint, ""), 10, &words);
    }
    assert_refused(
        &mut bench.command("benchmark none.jsonl --llm offline"),
        10,
        &["none.jsonl", "cannot be read"],
    );
    assert_refused(&mut bench.command("benchmark --llm offline"), 2, &["no suite"]);
    assert_eq!(endpoint.count(), 0);
    assert!(!bench.state().join("suites").exists());
}

#[test]
fn missing_databases_are_reported_all_at_once() {
    let endpoint = MockEndpoint::start(script());
    let bench = Bench::new();
    let of = |id: &str, db: &str| {
        json!({"id": id, "db": db, "question": "How many?", "gold_sql": "SELECT 1"}).to_string()
            + "\n"
    };
    bench.place.file(
        "suite.jsonl",
        format!("{}{}{}{}", of("a", "shop"), of("b", "none"), of("c", "none"), of("d", "gone")),
    );
    assert_refused(
        &mut bench.asks(&endpoint, ""),
        11,
        &["2 databases are missing", "`none`", "2 questions", "`gone`", "--db names"],
    );
    assert_refused(&mut bench.asks(&endpoint, "--db nowhere"), 11, &["`nowhere` does not exist"]);
    bench.place.file("none.sqlite", "no database at all, but long enough to be looked at");
    bench.place.file("gone.sqlite", "");
    assert_refused(&mut bench.asks(&endpoint, ""), 11, &["gone.sqlite", "is not a database"]);
    assert_eq!(endpoint.count(), 0);
}

#[test]
fn wrong_flags_plugins_and_settings_are_found_before_any_call() {
    let endpoint = MockEndpoint::start(script());
    let bench = Bench::with_questions(3);
    for (words, code, reported) in [
        ("--report x.pdf", 2, ".json, .md, .csv, .parquet, .html, or .xml (JUnit)"),
        ("--report none/x.json", 2, "--report `none/x.json`: there is no folder"),
        ("--report suite.csv --file-is-given", 2, "--file-is-given"),
        ("--rule bird", 2, "did you mean `bird-ex`?"),
        ("--shard 3/2", 2, "there is no shard 3 of 2"),
        ("--workers 0", 2, "--workers"),
        ("--total-usd -1", 2, "--total-usd"),
        ("--retry-failed", 2, "--resume"),
        ("--interactive", 2, "no answer may have help"),
        ("--resume nothing", 2, "there is no run `nothing`"),
        ("--solver none.wasm", 13, "none.wasm"),
        ("-P solver.sampels=3 --solver consistency", 10, "sampels"),
        ("--strategy nothing", 10, "nothing"),
        ("--max-usd 1", 10, "has no price"),
    ] {
        let said = Said::from_output(bench.asks(&endpoint, words).output().unwrap());
        assert_eq!(said.code, code, "{words}: {}", said.all());
        assert!(said.stderr.contains(reported), "{words}: {}", said.all());
    }
    let said = bench.say("benchmark suite.jsonl --llm openai --model mock --base-url ftp://x");
    assert!(said.code == 10 && said.stderr.contains("ftp://x"), "{}", said.all());
    assert_eq!(endpoint.count(), 0);
    assert!(!bench.state().join("suites").exists());
}

#[test]
fn no_report_replaces_what_is_read() {
    let bench = Bench::new();
    let rows = "id,db,question,gold_sql\nq1,shop,How many customers are there?,SELECT 4\n";
    let suite = bench.place.file("suite.csv", rows);
    for words in ["--report suite.csv", "--report ./suite.csv", "-o suite.csv", "-o shop.sqlite"] {
        let said = bench.say(&format!("benchmark suite.csv --llm offline {words}"));
        assert!(said.code == 2 && said.stderr.contains("is "), "{words}: {}", said.all());
    }
    assert_eq!(std::fs::read_to_string(suite).unwrap(), rows);
}

#[test]
fn gold_that_writes_or_does_not_run_counts_for_nobody_and_changes_nothing() {
    let bench = Bench::new();
    let golds = [
        ("good", "SELECT COUNT(*) FROM customers"),
        ("deletes", "DELETE FROM customers"),
        ("hides", "WITH x AS (SELECT 1) DELETE FROM customers"),
        ("two", "SELECT 1; DROP TABLE customers"),
        ("fails", "SELECT missing FROM elsewhere"),
    ];
    bench.place.file("suite.jsonl", golds.map(|(id, gold)| line(id, gold)).concat());
    let before = std::fs::read(bench.place.path().join("shop.sqlite")).unwrap();
    let said = bench.offline("--format json");
    let document = said.document(0);
    assert_eq!(figures(&document), (1, 1), "{}", said.all());
    assert_eq!(document["suite"]["gold_faults"], 4);
    let fault = |id: &str| {
        let row =
            document["results"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
        assert_eq!(
            (&row["verdict"], row["verdicts"].as_object().unwrap().len()),
            (&Value::Null, 0),
            "{row}"
        );
        row["gold_fault"].as_str().unwrap().to_owned()
    };
    for (id, why) in
        [("deletes", "`DELETE` is refused"), ("hides", "refused"), ("two", "one statement")]
    {
        assert!(fault(id).contains(why), "{id}: {}", fault(id));
    }
    assert!(fault("fails").contains("elsewhere"), "{}", fault("fails"));
    assert!(said.stderr.contains("4 questions do not count"), "{}", said.all());
    assert_eq!(std::fs::read(bench.place.path().join("shop.sqlite")).unwrap(), before);
}
