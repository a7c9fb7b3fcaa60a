//! CSV, JSON Lines and other files of rows as databases, through the binary.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::bad_input::{Place, finish, refused, said};

const SALES: &str = "region,product,units,price\nNorth,lamp,2,20.5\nSouth,lamp,3,20.5\nNorth,desk,1,150\n";

fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.path().join("data")).unwrap();
    fs::write(place.path().join("data/sales.csv"), SALES).unwrap();
    place
}

/// The program with a cache folder of its own.
fn host(place: &Place) -> Command {
    let mut command = place.host();
    command.env("SYRCH_CACHE_DIR", place.path().join("cache")).env_remove("SYRCH_CACHE");
    command
}

fn prints(command: &mut Command) -> (String, String) {
    let output = finish(command, "");
    let (stdout, stderr) = said(&output);
    assert_eq!(output.status.code(), Some(0), "{command:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

fn sql(place: &Place, db: &str, statement: &str) -> (Value, String) {
    let (stdout, stderr) = prints(host(place).args(["sql", "--format", "json", "--db", db, statement]));
    (serde_json::from_str(&stdout).unwrap(), stderr)
}

#[test]
fn a_csv_file_answers_a_question_and_its_types_are_said_once() {
    let place = place();
    let ask = || {
        let mut command = host(&place);
        command.args(["--llm", "offline", "--format", "json", "--db", "data/sales.csv"]);
        let (stdout, stderr) = prints(command.args(["-q", "What is the total units in each region?"]));
        (serde_json::from_str::<Value>(&stdout).unwrap(), stderr)
    };
    let (report, stderr) = ask();
    assert_eq!(report["answer"]["rows"], json!([["North", 3], ["South", 3]]), "{report}");
    let read = "read sales.csv as the table sales: 3 rows of region TEXT, product TEXT, units INTEGER, price REAL\n";
    assert!(stderr.contains(read), "{stderr}");
    let (again, stderr) = ask();
    assert_eq!(
        (&again["answer"]["rows"], stderr.contains("read sales.csv")),
        (&report["answer"]["rows"], false),
        "{stderr}"
    );
    // A changed file is read again, and no cached answer is given.
    fs::write(place.path().join("data/sales.csv"), format!("{SALES}South,desk,10,150\n")).unwrap();
    let (changed, stderr) = ask();
    assert_eq!(changed["answer"]["rows"], json!([["North", 3], ["South", 13]]), "{changed}");
    assert!(stderr.contains("4 rows of"), "{stderr}");
    assert_eq!(fs::read_dir(place.path().join("data")).unwrap().count(), 1, "nothing is written beside the file");
}

#[test]
fn folders_and_patterns_are_databases_and_the_cache_command_knows_them() {
    let place = place();
    fs::write(place.path().join("data/regions.jsonl"), "{\"name\": \"North\", \"head\": \"Ada\"}\n").unwrap();
    let joined = "SELECT head, sum(units) AS n FROM sales JOIN regions ON name = region GROUP BY head";
    for db in ["data", "data/*", "files:data", "data/[sr]*.*"] {
        let (document, _) = sql(&place, db, joined);
        assert_eq!(document["rows"], json!([["Ada", 3]]), "{db}: {document}");
    }
    // `data` and `files:data` are the same.
    let (stats, _) = prints(host(&place).args(["cache", "stats"]));
    assert!(stats.contains("files 3 entries"), "{stats}");
    let (cleared, _) = prints(host(&place).args(["cache", "clear", "files"]));
    assert!(cleared.starts_with("cleared 3 entries"), "{cleared}");
    assert_eq!(fs::read_dir(place.path().join("cache/tables")).unwrap().count(), 0);
    prints(host(&place).env("SYRCH_CACHE", "no").args(["sql", "--db", "data", joined]));
    assert_eq!(fs::read_dir(place.path().join("cache/tables")).unwrap().count(), 0);
    let (checked, _) = prints(host(&place).args(["doctor", "--db", "data"]));
    assert!(checked.contains("data opens: 2 tables and 0 views, 2 files of 1 KiB"), "{checked}");
}

#[test]
fn journals_of_files_are_replayed() {
    let place = place();
    let runs = place.path().join("state");
    let with_state = |mut command: Command| {
        command.env("SYRCH_STATE_DIR", &runs);
        command
    };
    let mut ask = with_state(host(&place));
    prints(ask.args(["--llm", "offline", "--db", "data/sales.csv", "-q", "How many sales are there?"]));
    let mut replay = with_state(host(&place));
    let (stdout, stderr) = prints(replay.args(["trace", "replay", "last"]));
    assert!(stdout.contains("The answer is 3."), "{stdout}{stderr}");
}

#[test]
fn what_cannot_be_read_is_said_with_what_to_do() {
    let place = place();
    fs::write(place.path().join("data/short.csv"), "a,b\n1,2\n3\n").unwrap();
    for (given, code, expected) in [
        ("schema data/short.csv", 11, "`short.csv`, line 3: it has 1 value, and the first line has 2"),
        ("schema data/short.csv", 11, "correct what the message names in that file"),
        ("schema data/sals.csv", 11, "did you mean `sales.csv`"),
        ("schema data/*.tsv", 11, "has no file that ends with .csv, .tsv, .jsonl, .ndjson or .parquet"),
        ("schema data/sales.csv --executor sqlite", 10, "the database `data/sales.csv` is one of files, not of sqlite"),
        ("schema data/sales.csv --max-import-rows 2", 11, "more than 2 rows: raise --max-import-rows"),
        ("schema data/sales.csv --max-import-bytes 20", 11, "more than 20 bytes: raise --max-import-bytes"),
    ] {
        refused(host(&place).args(given.split(' ')), code, &[expected]);
    }
    refused(host(&place).args(["schema", "data/sales.csv", "-o", "data/sales.csv"]), 2, &["is the database"]);
    assert_eq!(fs::read_to_string(place.path().join("data/sales.csv")).unwrap(), SALES);
}

#[test]
fn a_suite_names_a_file_of_its_folder() {
    let place = place();
    let question = json!({"id": "1", "db": "sales.csv", "question": "How many sales are there?", "gold_sql": "SELECT count(*) FROM sales"});
    fs::write(place.path().join("data/suite.jsonl"), question.to_string()).unwrap();
    prints(host(&place).args(["suite", "lint", "data/suite.jsonl"]));
}

#[test]
fn the_limits_of_statements_are_flags() {
    let place = place();
    let run = |flags: &[&str], statement: &str| {
        finish(host(&place).args(["sql", "--format", "json", "--db", "data/sales.csv"]).args(flags).arg(statement), "")
    };
    let output = run(&["--max-rows", "2"], "SELECT * FROM sales");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((document["rows"].as_array().unwrap().len(), &document["truncated"]), (2, &json!(true)), "{document}");
    let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let (stdout, stderr) = said(&run(&["--sql-timeout", "0.2"], long));
    assert!((stdout.clone() + &stderr).contains("0.2 s"), "{stdout}{stderr}");
    let bytes = run(&["--max-bytes", "1024"], "SELECT a.product, b.product FROM sales a, sales b, sales c, sales d");
    let document: Value = serde_json::from_slice(&bytes.stdout).unwrap();
    assert_eq!(document["truncated"], json!(true), "{document}");
}

#[test]
fn a_database_has_a_name_in_the_configuration() {
    let place = place();
    let sales = place.path().join("data/sales.csv").display().to_string();
    let config = format!("databases:\n  sales: {sales:?}\n  far: postgres://ann:s3cr3t@nowhere.invalid/x\n");
    place.file("home/.syrch/config.yml", &config);
    let (document, stderr) = sql(&place, "sales", "SELECT count(*) FROM sales");
    assert_eq!(document["rows"], json!([[3]]), "{document}{stderr}");
    // A path is one with a folder before it.
    refused(host(&place).args(["schema", "./sales"]), 11, &["does not exist"]);
    let (shown, stderr) = prints(host(&place).args(["config", "--origin"]));
    assert!(shown.contains("postgres://ann:***@nowhere.invalid/x") && !(shown + &stderr).contains("s3cr3t"));
    let (both, _) = prints(host(&place).args(["schema", "sales", "shop.sqlite"]));
    assert!(both.contains("sales.csv\n\nsales (table") && both.contains("shop.sqlite\n\n"), "{both}");
    let (both, _) = prints(host(&place).args(["schema", "sales", "shop.sqlite", "--format", "json"]));
    let both: Value = serde_json::from_str(&both).unwrap();
    assert_eq!((&both["schema"], &both["databases"][1]["database"]), (&json!("syrch.schemas/1"), &json!("shop")));
    let (rows, _) = prints(host(&place).args(["schema", "sales", "shop.sqlite", "--format", "csv"]));
    assert!(rows.starts_with("database,table,kind,column"), "{rows}");
    refused(host(&place).args(["schema", "sales", "shop.sqlite", "-t", "sales"]), 2, &["--table is for one database"]);
    // A file that was found in the folder names no databases.
    place.file("syrch.yml", &config);
    refused(host(&place).args(["schema", "sales"]), 10, &["databases may not be set by a file found in a folder"]);
}
