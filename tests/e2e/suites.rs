//! `suite lint` through the binary: what it finds in published suites and in made ones, and what
//! broken suites come to.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::bad_input::{Place, assert_refused, finish, read_streams};
use crate::host;

/// The report on a suite, with the exit code.
fn report(command: &mut Command) -> (Value, Option<i32>) {
    let output = finish(command.args(["--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    let document =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}\n{stdout}\n{stderr}"));
    (document, output.status.code())
}

fn counts(report: &Value) -> BTreeMap<&str, u64> {
    report["counts"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(kind, count)| (kind.as_str(), count.as_u64().unwrap()))
        .collect()
}

/// The ids of one kind of finding.
fn ids_of_kind<'a>(report: &'a Value, kind: &str) -> Vec<&'a str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["kind"] == kind)
        .map(|finding| finding["id"].as_str().unwrap())
        .collect()
}

/// A suite over the shop: one sound question and one of each kind of finding that the shop can
/// show.
fn make_suite() -> String {
    let line = |id: &str, question: &str, sql: &str, ordered: bool| {
        json!({"id": id, "db": "shop", "question": question, "gold_sql": sql, "ordered": ordered})
            .to_string()
            + "\n"
    };
    [
        line("sound", "How many customers are there?", "SELECT count(*) FROM customers", false),
        line("typo", "Which countries are there?", "SELECT DISTINCT contry FROM customers", false),
        line("write", "Drop the orders.", "DELETE FROM orders", false),
        line(
            "empty",
            "Who is from Mars?",
            "SELECT name FROM customers WHERE country = 'Mars'",
            false,
        ),
        line(
            "tie",
            "Who bought most often?",
            "SELECT customer_id FROM orders GROUP BY 1 ORDER BY count(*) LIMIT 1",
            false,
        ),
        line("loose", "List the products in order.", "SELECT name FROM products", true),
        line("again", "How many customers are there?", "SELECT 5", false),
    ]
    .concat()
}

#[test]
fn what_is_found_in_published_suites() {
    let Some(root) = syrch_kit::data_root() else {
        println!("skipped: the test data are absent");
        return;
    };
    let lint = |suite: &str| report(host().args(["suite", "lint"]).arg(root.join(suite)));
    let (spider, code) = lint("spider/questions.jsonl");
    println!("spider: {:?}", counts(&spider));
    assert_eq!(
        (code, &spider["suite"]["questions"], &spider["suite"]["databases"]),
        (Some(0), &json!(522), &json!(12))
    );
    let (defog, code) = lint("defog/questions.jsonl");
    println!("defog: {:?}", counts(&defog));
    assert_eq!(
        (code, &defog["suite"]["questions"], &defog["suite"]["databases"]),
        (Some(0), &json!(141), &json!(5))
    );
    assert_eq!(counts(&spider), BTreeMap::from([("order-ties", 6), ("tie-cut", 26)]));
    assert_eq!(counts(&defog), BTreeMap::from([("order-ties", 22)]));
    // Which year had the most concerts: two years had three each.
    assert!(ids_of_kind(&spider, "tie-cut").contains(&"spider_dev_0026"));
    // Its statements are of another engine than the databases beside it, which is reported for each
    // question.
    let (postgres, code) = lint("defog/questions_postgres.jsonl");
    assert_eq!((code, counts(&postgres)), (Some(5), BTreeMap::from([("other-engine", 142)])));
}

#[test]
fn findings_are_reported_in_all_formats_and_fail_as_asked() {
    let place = Place::new();
    place.file("suite.jsonl", make_suite());
    let before = fs::read(place.path().join("shop.sqlite")).unwrap();
    let names = place.names();
    let (document, code) = report(&mut place.words("suite lint suite.jsonl"));
    assert_eq!((code, &document["schema"]), (Some(5), &json!("syrch.lint/1")));
    assert_eq!((&document["errors"], &document["warnings"]), (&json!(2), &json!(4)));
    let kinds = ["does-not-run", "writes", "empty", "tie-cut", "unordered", "contradiction"];
    for (kind, id) in kinds.into_iter().zip(["typo", "write", "empty", "tie", "loose", "again"]) {
        assert_eq!(ids_of_kind(&document, kind), [id]);
    }
    for (flag, code) in [("none", 0), ("error", 5), ("any", 5)] {
        let output =
            finish(&mut place.words(&format!("suite lint suite.jsonl --fail-on {flag}")), "");
        assert_eq!(output.status.code(), Some(code), "{flag}");
    }
    let output = finish(&mut place.words("suite lint suite.jsonl --format csv"), "");
    let (csv, stderr) = read_streams(&output);
    assert_eq!(
        csv.lines().collect::<Vec<_>>(),
        [
            "severity,kind,id,line,db,gold,what",
            "error,does-not-run,typo,2,shop,1,unknown-column: no such column `contry`",
            "error,writes,write,3,shop,1,\"write-refused: `DELETE` is refused: only queries may \
             run (SELECT, VALUES, WITH … SELECT) (rule `read-only`)\"",
            "warning,empty,empty,4,shop,1,\"has no rows, as most wrong statements have none\"",
            "warning,tie-cut,tie,5,shop,1,which rows it has is chance: rows that tie are on both \
             sides of `ORDER BY count(*) LIMIT 1`",
            "warning,unordered,loose,6,shop,1,\"the order is graded, and the statement has no \
             ORDER BY\"",
            "warning,contradiction,again,7,shop,,\"asks word for word what `sound` asks, and \
             expects other rows\"",
        ]
    );
    assert_eq!(
        stderr,
        "7 questions on 1 database, with 7 expected answers: 2 errors and 4 warnings (1 \
         contradiction, 1 does-not-run, 1 empty, 1 tie-cut, 1 unordered, 1 writes)\n"
    );
    let (markdown, _) =
        read_streams(&finish(&mut place.words("suite lint suite.jsonl --format markdown"), ""));
    assert!(
        markdown.starts_with("| severity | kind | id | line | db | gold | what |\n| --- "),
        "{markdown}"
    );
    let (lines, _) =
        read_streams(&finish(&mut place.words("suite lint suite.jsonl --format jsonl"), ""));
    assert!(
        lines.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["db"] == "shop"),
        "{lines}"
    );
    let (table, quiet) =
        read_streams(&finish(&mut place.words("suite lint suite.jsonl --quiet"), ""));
    assert!(table.contains("│ error    ┆ writes ") && quiet.is_empty(), "{table}{quiet}");
    assert_eq!(fs::read(place.path().join("shop.sqlite")).unwrap(), before);
    assert_eq!(place.names(), names);
}

#[test]
fn a_sound_suite_of_any_format_has_no_findings() {
    let place = Place::new();
    place.file("count.csv", "n\n4\n");
    let sql = "SELECT count(*) FROM customers";
    for (name, content) in [
        ("ours", json!({"id": "a", "db": "shop", "question": "?", "gold_sql": sql}).to_string()),
        (
            "decompose",
            json!({
                "id": "a", "db": "shop.sqlite", "question": "?", "expected_data": "count.csv"
            })
            .to_string(),
        ),
        (
            "bird",
            json!([{
                "question_id": 1, "db_id": "shop", "question": "?", "evidence": "", "SQL": sql
            }])
            .to_string(),
        ),
        (
            "spider",
            json!([{
                "db_id": "shop", "question": "?", "query": sql, "sql": {}
            }])
            .to_string(),
        ),
        ("csv", format!("\u{feff}id,db,question,gold_sql\r\na,shop,?,{sql}\r\n")),
    ] {
        place.file("suite", content);
        let output = finish(&mut place.words("suite lint suite"), "");
        let expected = "1 question on 1 database, with 1 expected answer: nothing found\n";
        assert_eq!(
            read_streams(&output),
            ("no findings\n".to_owned(), expected.to_owned()),
            "{name}"
        );
        assert_eq!(output.status.code(), Some(0), "{name}");
    }
}

#[test]
fn all_faults_of_a_suite_are_reported_before_anything_runs() {
    let place = Place::new();
    let good = r#"{"id": "a", "db": "shop", "question": "?", "gold_sql": "SELECT 1"}"#;
    let suite = [
        good,
        "{oops",
        r#"{"id": "b\u001b[2J", "gold_sql": "SELECT 1"}"#,
        good,
        r#"{"id": "c", "db": "shop", "question": "?", "expected_data": "/etc/passwd"}"#,
    ];
    place.file("suite.jsonl", suite.join("\n"));
    let output = finish(&mut place.words("suite lint suite.jsonl"), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((stdout.as_str(), output.status.code()), ("", Some(10)));
    assert_eq!(
        stderr,
        "error: suite `suite.jsonl` has 4 faults:\n\
        \x20 line 2: is not JSON: key must be a string at column 2\n\
        \x20 line 3, `b\\u{1b}[2J`: has no `question`\n\
        \x20 line 4, `a`: repeats the id of line 1\n\
        \x20 line 5, `c`: `expected_data` is `/etc/passwd`, which lies outside of the suite's \
        folder `.`\n\
         hint: correct it there; findings are reported once the suite can be read\n"
    );
    assert_refused(
        &mut place.words("suite lint suite.jsonl"),
        10,
        &["has 4 faults", "line 4, `a`"],
    );
    assert_refused(
        &mut place.words("suite lint none.jsonl"),
        10,
        &["`none.jsonl` cannot be read", "check the path"],
    );
    assert_refused(
        &mut place.words("suite lint home"),
        10,
        &["`home` cannot be read", "it is a folder"],
    );
    assert_refused(
        &mut place.words("suite lint shop.sqlite"),
        10,
        &["`shop.sqlite` is no suite: it is a database", "BIRD", "Spider", "CSV"],
    );
    place.file("empty.jsonl", "\n");
    assert_refused(&mut place.words("suite lint empty.jsonl"), 10, &["has no questions"]);
    assert_refused(&mut place.words("suite lint suite.jsonl -o suite.jsonl"), 2, &["is the suite"]);
}

#[test]
fn all_missing_databases_are_reported() {
    let place = Place::new();
    let named = [("first", "shpo"), ("sound", "shop"), ("second", "shpo"), ("out", "../shop")];
    place.file(
        "suite.jsonl",
        named
            .map(|(id, db)| {
                json!({"id": id, "db": db, "question": "?", "gold_sql": "SELECT 1"}).to_string()
                    + "\n"
            })
            .concat(),
    );
    let words = [
        "2 databases are missing",
        "there is no database `shpo` in `.`; 2 questions need it, the first is `first`",
        "`../shop` leads out of the suite's folder, where a suite may open nothing",
        "--db names the folder",
    ];
    assert_refused(&mut place.words("suite lint suite.jsonl"), 11, &words);
    assert_refused(
        &mut place.words("suite lint suite.jsonl --db none"),
        11,
        &["`none` does not exist; 4 questions need it"],
    );
    // The one database of all questions, whatever they call it.
    let (document, code) =
        report(&mut place.words("suite lint suite.jsonl --db sqlite:shop.sqlite"));
    assert_eq!((code, &document["suite"]["databases"]), (Some(0), &json!(1)));
    let mut spared = place.words("suite lint suite.jsonl --db shop.sqlite -o shop.sqlite");
    assert_refused(&mut spared, 2, &["is the database"]);
}

#[test]
fn databases_are_looked_for_where_the_user_says_and_only_there_by_flag() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("given/database/school")).unwrap();
    syrch_kit::sqlite(
        place.path().join("given/database/school/school.sqlite"),
        "CREATE TABLE t AS SELECT 1 AS a",
    );
    place.file(
        "suite.jsonl",
        r#"{"id": "a", "db": "school", "question": "?", "gold_sql": "SELECT a FROM t"}"#,
    );
    let (_, code) = report(&mut place.words("suite lint suite.jsonl --db given"));
    assert_eq!(code, Some(0));
    // A database for searches is none for a suite.
    let mut configured = place.words("suite lint suite.jsonl");
    assert_refused(
        configured.env("SYRCH_DB", "shop.sqlite"),
        11,
        &["there is no database `school`"],
    );
    let hidden =
        finish(&mut place.words("suite lint suite.jsonl --db given --tables x* --format csv"), "");
    assert!(
        read_streams(&hidden).0.contains(
            "error,no-database,a,1,school,,\"no table of `given/database/school/school.sqlite` \
             matches"
        ),
        "{hidden:?}"
    );
    let mut spared =
        place.words("suite lint suite.jsonl --db given -o given/database/school/school.sqlite");
    assert_refused(&mut spared, 2, &["is a database of the suite"]);
}

#[test]
fn ten_thousand_questions_are_linted() {
    let place = Place::new();
    place.file(
        "suite.jsonl",
        (0..10_000)
            .map(|at: usize| {
                let sql = if at % 1_000 == 999 {
                    "SELECT 1 WHERE 0".to_owned()
                } else {
                    format!("SELECT {at}")
                };
                json!({"id": at, "db": "shop", "question": format!("{at}?"), "gold_sql": sql})
                    .to_string()
                    + "\n"
            })
            .collect::<String>(),
    );
    let (document, code) = report(&mut place.words("suite lint suite.jsonl --fail-on any"));
    assert_eq!((code, counts(&document)), (Some(5), BTreeMap::from([("empty", 10)])));
    assert_eq!(document["findings"][9]["line"], 10_000);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it() {
    let place = Place::new();
    let sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    place.file(
        "suite.jsonl",
        json!({"id": "a", "db": "shop", "question": "?", "gold_sql": sql}).to_string(),
    );
    let mut command = place.words("suite lint suite.jsonl -v");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut stderr = String::new();
    while !stderr.contains("checking 1 questions") {
        assert!(errors.read_line(&mut stderr).unwrap() > 0, "{stderr}");
    }
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), b"".as_slice()));
}
