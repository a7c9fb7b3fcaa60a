//! `eval`: one question against what is expected of its answer.

use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::{Place, assert_refused};
use crate::endpoint::{KEY, PLAN, Said, WRITE, whole};

const QUESTION: &str = "How many customers are there in each country?";
const SQL: &str = "SELECT country, COUNT(*) AS n FROM customers GROUP BY country ORDER BY country";

fn endpoint(sql: &str) -> MockEndpoint {
    MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(sql, 0.95)))
}

fn eval(place: &Place, endpoint: &MockEndpoint) -> Command {
    let mut command = place.words("eval --db shop.sqlite --llm openai --model mock --base-url");
    command
        .arg(endpoint.url())
        .env("SYRCH_API_KEY", KEY)
        .env("SYRCH_STATE_DIR", place.path().join("state"));
    command.args(["-q", QUESTION]);
    command
}

fn document(place: &Place, endpoint: &MockEndpoint, words: &[&str], code: i32) -> Value {
    let mut command = eval(place, endpoint);
    Said::from_output(command.args(["--format", "json"]).args(words).output().unwrap())
        .document(code)
}

#[test]
fn an_answer_matches_rows_a_statement_or_a_text() {
    let place = Place::new();
    let endpoint = endpoint(SQL);
    place.file("gold.csv", "country,n\nSpain,1\nItaly,1\nFrance,2\n");
    let found = document(&place, &endpoint, &["--expected", "gold.csv"], 0);
    assert_eq!((&found["schema"], &found["match"]), (&json!("syrch.eval/1"), &json!(true)));
    assert_eq!(
        (&found["rows"], &found["expected_rows"], &found["missing"]),
        (&json!(3), &json!(3), &json!([]))
    );
    assert_eq!(
        (&found["verdicts"]["bag-v1"], &found["verdicts"]["strict"]),
        (&json!("right"), &json!("wrong"))
    );
    let gold = "SELECT COUNT(*), country FROM customers GROUP BY 2";
    assert_eq!(document(&place, &endpoint, &["--expected-sql", gold], 0)["expected_sql"], gold);
    // In another order it matches only where none is asked for.
    let ordered = document(&place, &endpoint, &["--expected", "gold.csv", "--ordered"], 5);
    assert_eq!((&ordered["match"], &ordered["out_of_order"]), (&json!(false), &json!(1)));
    document(&place, &endpoint, &["--expected", "gold.csv", "--rule", "strict"], 5);
    let one = self::endpoint("SELECT COUNT(*) AS n FROM customers");
    document(&place, &one, &["--expected-answer", "4"], 0);
    document(&place, &one, &["--expected-answer", "-4"], 5);
}

#[test]
fn what_differs_is_shown() {
    let place = Place::new();
    let endpoint = endpoint(SQL);
    place.file("gold.csv", "country,n\nFrance,3\nItaly,1\nSpain,1\n<b>Norway\u{1b}[2J,1\n");
    let mut command = eval(&place, &endpoint);
    let said = Said::from_output(command.args(["--expected", "gold.csv"]).output().unwrap());
    assert_eq!(said.code, 5, "{}", said.all());
    for words in [
        "mismatch under bag-v1",
        "spider-ex",
        "rows: 3, expected 4; columns: 2, expected 2",
        "confidence 0.",
        "expected and missing:",
        "answered and not expected:",
        "answered by:\nSELECT country",
    ] {
        assert!(said.stdout.contains(words), "no `{words}`: {}", said.all());
    }
    assert!(
        said.stdout.contains("Norway\\u{1b}[2J") && !said.stdout.contains('\u{1b}'),
        "{}",
        said.all()
    );
    let found = document(&place, &endpoint, &["--expected", "gold.csv"], 5);
    assert_eq!(found["missing"][0], json!(["France", 3]));
    assert_eq!(found["unexpected"], json!([["France", 2]]));
    let mut command = eval(&place, &endpoint);
    let markdown = Said::from_output(
        command.args(["--expected", "gold.csv", "--format", "markdown"]).output().unwrap(),
    )
    .stdout;
    assert!(markdown.contains("&lt;b&gt;Norway") && markdown.contains("```sql\n"), "{markdown}");
    let mut command = eval(&place, &endpoint);
    let csv = Said::from_output(
        command.args(["--expected", "gold.csv", "--format", "csv"]).output().unwrap(),
    )
    .stdout;
    assert!(csv.starts_with("rule,verdict\nbag-v1,mismatch\n"), "{csv}");
}

#[test]
fn nothing_against_nothing_is_no_match() {
    let place = Place::new();
    let endpoint = endpoint("SELECT name FROM customers WHERE country = 'Norway'");
    place.file("gold.csv", "name\n");
    let mut command = eval(&place, &endpoint);
    let said = Said::from_output(
        command.args(["--expected", "gold.csv", "--high-conf", "0.1"]).output().unwrap(),
    );
    assert!([3, 5].contains(&said.code), "{}", said.all());
    let rows = document(&place, &self::endpoint(SQL), &["--expected", "gold.csv"], 5);
    assert_eq!((&rows["expected_rows"], &rows["match"]), (&json!(0), &Value::Null));
    let other = self::endpoint(SQL);
    let mut command = eval(&place, &other);
    let shown = Said::from_output(command.args(["--expected", "gold.csv"]).output().unwrap());
    let reported = "bag-v1 cannot tell: the expected result has no rows, and neither have those of \
                    many wrong statements\n";
    assert!(shown.stdout.starts_with(reported), "{}", shown.all());
    assert!(said.code == 3 || said.stdout.contains(reported.trim_end()), "{}", said.all());
}

#[test]
fn what_is_expected_is_had_before_anybody_is_asked() {
    let place = Place::new();
    let endpoint = endpoint(SQL);
    place.file("bad.csv", "a,b\n1\n");
    let before = std::fs::read(place.path().join("shop.sqlite")).unwrap();
    for (words, code, reported) in [
        (vec!["--expected", "none.csv"], 10, "none.csv"),
        (vec!["--expected", "bad.csv"], 10, "line 2"),
        (vec!["--expected-sql", "SELECT missing FROM customers"], 11, "missing"),
        (vec!["--expected-sql", "DELETE FROM customers"], 15, "write-refused"),
        (vec![], 2, "--expected"),
        (vec!["--expected", "bad.csv", "--expected-answer", "1"], 2, "cannot be used with"),
        (vec!["--expected-answer", "1", "--rule", "best"], 2, "best"),
        (vec!["--expected-answer", "1", "--solver", "none.wasm"], 13, "none.wasm"),
        (vec!["--expected-answer", "1", "--db", "none.sqlite"], 11, "none.sqlite"),
    ] {
        let mut command = eval(&place, &endpoint);
        if words.contains(&"--db") {
            command = place.words("eval -q x --llm offline");
        }
        assert_refused(command.args(&words), code, &[reported]);
    }
    // The answer does not take its place.
    let gold = place.file("gold.csv", "n\n4\n");
    assert_refused(
        eval(&place, &endpoint).args(["--expected", "gold.csv", "-o", "gold.csv"]),
        2,
        &["is the expected rows"],
    );
    assert_eq!(std::fs::read(gold).unwrap(), b"n\n4\n");
    assert_eq!(endpoint.count(), 0);
    assert_eq!(std::fs::read(place.path().join("shop.sqlite")).unwrap(), before);
}

#[test]
fn without_an_answer_it_ends_as_a_search_does() {
    let place = Place::new();
    let broken = MockEndpoint::start(Script::always(Reply::status(401, "no such key")));
    assert_refused(eval(&place, &broken).args(["--expected-answer", "1"]), 12, &["no such key"]);
    let empty = "SELECT name FROM customers WHERE country = 'Norway'";
    let broken = "SELECT missing FROM customers";
    for (sql, confidence, outcome, code) in
        [(empty, 0.1, "clarification-needed", 4), (broken, 0.95, "no-answer", 3)]
    {
        let script = Script::new()
            .on([PLAN], whole())
            .on([WRITE], Reply::sql(sql, confidence))
            .on(["could not tell what the user means"], Reply::text("Which customers?"));
        let found =
            document(&place, &MockEndpoint::start(script), &["--expected-answer", "1"], code);
        let reported = ["outcome", "match", "rows"].map(|name| found[name].clone());
        assert_eq!(reported, [json!(outcome), Value::Null, Value::Null]);
    }
    let mut command =
        place.words("eval --db shop.sqlite --llm offline --expected-answer 1 --format json");
    command
        .env("SYRCH_STATE_DIR", place.path().join("state"))
        .args(["-q", "Why is the sky blue in Kiruna?"]);
    let said = Said::from_output(command.output().unwrap());
    assert!(
        [3, 4].contains(&said.code) && said.document(said.code)["match"] == Value::Null,
        "{}",
        said.all()
    );
}
