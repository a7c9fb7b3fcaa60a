//! CSV, JSON Lines and other files of rows as databases, through the binary.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::bad_input::{Place, assert_refused, finish, read_streams};

const SALES: &str =
    "region,product,units,price\nNorth,lamp,2,20.5\nSouth,lamp,3,20.5\nNorth,desk,1,150\n";

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
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{command:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

fn sql(place: &Place, db: &str, statement: &str) -> (Value, String) {
    let (stdout, stderr) =
        prints(host(place).args(["sql", "--format", "json", "--db", db, statement]));
    (serde_json::from_str(&stdout).unwrap(), stderr)
}

#[test]
fn a_csv_file_answers_a_question_and_its_types_are_said_once() {
    let place = place();
    let ask = || {
        let mut command = host(&place);
        command.args(["--llm", "offline", "--format", "json", "--db", "data/sales.csv"]);
        let (stdout, stderr) =
            prints(command.args(["-q", "What is the total units in each region?"]));
        (serde_json::from_str::<Value>(&stdout).unwrap(), stderr)
    };
    let (report, stderr) = ask();
    assert_eq!(report["answer"]["rows"], json!([["North", 3], ["South", 3]]), "{report}");
    let read = "read sales.csv as the table sales: 3 rows of region TEXT, product TEXT, units \
                INTEGER, price REAL\n";
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
    assert_eq!(
        fs::read_dir(place.path().join("data")).unwrap().count(),
        1,
        "nothing is written beside the file"
    );
}

/// The index is stored for whoever asks next, for a file of rows and for a SQLite database; what
/// needs no values makes none.
#[test]
fn an_index_of_values_is_made_once_by_what_needs_it() {
    let place = place();
    assert!(place.path().join("shop.sqlite").is_file());
    let tables = place.path().join("cache/tables");
    let indexes = || {
        let paths = fs::read_dir(&tables).into_iter().flatten().map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "values"))
            .collect::<Vec<_>>()
    };
    let ask = |db: &str, question: &str, more: &[&str]| {
        let mut command = host(&place);
        command
            .args(["--llm", "offline", "--format", "json", "--db", db])
            .args(more)
            .args(["-q", question]);
        serde_json::from_str::<Value>(&prints(&mut command).0).unwrap()["answer"]["rows"].clone()
    };
    for (db, question, rows) in [
        (
            "data/sales.csv",
            "What is the total units in each region?",
            json!([["North", 3], ["South", 3]]),
        ),
        (
            "shop.sqlite",
            "How many customers are there?",
            sql(&place, "shop.sqlite", "SELECT count(*) FROM customers").0["rows"].clone(),
        ),
    ] {
        let before = indexes().len();
        prints(host(&place).args(["schema", db]));
        prints(host(&place).args(["sql", "--db", db, "SELECT 1"]));
        assert_eq!(ask(db, question, &["--no-cache"]), rows, "{db}");
        assert_eq!(indexes().len(), before, "{db}");
        assert_eq!(ask(db, question, &[]), rows, "{db}");
        assert_eq!(indexes().len(), before + 1, "{db}");
    }
    // What is stored is used: one that is damaged is found to be so, and made again.
    for path in indexes() {
        fs::write(&path, "damaged").unwrap();
        fs::remove_dir_all(place.path().join("cache/answers")).unwrap();
        ask("data/sales.csv", "What is the total units in each region?", &[]);
        ask("shop.sqlite", "How many customers are there?", &[]);
        assert_ne!(fs::read(&path).unwrap(), b"damaged");
    }
    let (cleared, _) = prints(host(&place).args(["cache", "clear", "files"]));
    assert!(cleared.starts_with("cleared 3 entries"), "{cleared}");
}

#[test]
fn folders_and_patterns_are_databases_and_the_cache_command_knows_them() {
    let place = place();
    fs::write(
        place.path().join("data/regions.jsonl"),
        "{\"name\": \"North\", \"head\": \"Ada\"}\n",
    )
    .unwrap();
    let joined =
        "SELECT head, sum(units) AS n FROM sales JOIN regions ON name = region GROUP BY head";
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
    prints(ask.args([
        "--llm",
        "offline",
        "--db",
        "data/sales.csv",
        "-q",
        "How many sales are there?",
    ]));
    let mut replay = with_state(host(&place));
    let (stdout, stderr) = prints(replay.args(["trace", "replay", "last"]));
    assert!(stdout.contains("The answer is 3."), "{stdout}{stderr}");
}

#[test]
fn journals_hold_how_files_are_read() {
    let place = place();
    fs::write(place.path().join("data/grants.csv"), "region;amount\nNorth;1,234\nSouth;2,500\n")
        .unwrap();
    let state = place.path().join("state");
    let mut ask = host(&place);
    ask.env("SYRCH_STATE_DIR", &state).args([
        "--llm",
        "offline",
        "--db",
        "data/grants.csv",
        "--decimal",
        ".",
    ]);
    let (stdout, _) = prints(ask.args(["-q", "What is the total amount?"]));
    assert!(stdout.contains("The answer is 3734."), "{stdout}");
    let (stdout, stderr) =
        prints(host(&place).env("SYRCH_STATE_DIR", &state).args(["trace", "replay", "last"]));
    assert!(stdout.contains("The answer is 3734."), "{stdout}{stderr}");
}

#[test]
fn what_cannot_be_read_is_said_with_what_to_do() {
    let place = place();
    fs::write(place.path().join("data/short.csv"), "a,b\n1,2\n3\n").unwrap();
    for (given, code, expected) in [
        (
            "schema data/short.csv",
            11,
            "`short.csv`, line 3: it has 1 value, and the first line has 2",
        ),
        ("schema data/short.csv", 11, "correct what the message names in that file"),
        ("schema data/sals.csv", 11, "did you mean `sales.csv`"),
        (
            "schema data/*.tsv",
            11,
            "has no file that ends with .csv, .tsv, .jsonl, .ndjson or .parquet",
        ),
        (
            "schema data/sales.csv --executor sqlite",
            10,
            "the database `data/sales.csv` is one of files, not of sqlite",
        ),
        (
            "schema data/sales.csv --max-import-rows 2",
            11,
            "more than 2 rows: raise --max-import-rows",
        ),
        (
            "schema data/sales.csv --max-import-bytes 20",
            11,
            "more than 20 bytes: raise --max-import-bytes",
        ),
    ] {
        assert_refused(host(&place).args(given.split(' ')), code, &[expected]);
    }
    assert_refused(
        host(&place).args(["schema", "data/sales.csv", "-o", "data/sales.csv"]),
        2,
        &["is the database"],
    );
    assert_eq!(fs::read_to_string(place.path().join("data/sales.csv")).unwrap(), SALES);
}

#[test]
fn a_suite_names_a_file_of_its_folder() {
    let place = place();
    let question = json!({
        "id": "1", "db": "sales.csv", "question": "How many sales are there?",
        "gold_sql": "SELECT count(*) FROM sales"
    });
    fs::write(place.path().join("data/suite.jsonl"), question.to_string()).unwrap();
    prints(host(&place).args(["suite", "lint", "data/suite.jsonl"]));
}

#[test]
fn the_limits_of_statements_are_flags() {
    let place = place();
    let run = |flags: &[&str], statement: &str| {
        finish(
            host(&place)
                .args(["sql", "--format", "json", "--db", "data/sales.csv"])
                .args(flags)
                .arg(statement),
            "",
        )
    };
    let output = run(&["--max-rows", "2"], "SELECT * FROM sales");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (document["rows"].as_array().unwrap().len(), &document["truncated"]),
        (2, &json!(true)),
        "{document}"
    );
    let long =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let (stdout, stderr) = read_streams(&run(&["--sql-timeout", "0.2"], long));
    assert!((stdout.clone() + &stderr).contains("0.2 s"), "{stdout}{stderr}");
    let bytes = run(
        &["--max-bytes", "1024"],
        "SELECT a.product, b.product FROM sales a, sales b, sales c, sales d",
    );
    let document: Value = serde_json::from_slice(&bytes.stdout).unwrap();
    assert_eq!(document["truncated"], json!(true), "{document}");
}

#[test]
fn a_database_has_a_name_in_the_configuration() {
    let place = place();
    let sales = place.path().join("data/sales.csv").display().to_string();
    let config =
        format!("databases:\n  sales: {sales:?}\n  far: postgres://ann:s3cr3t@nowhere.invalid/x\n");
    place.file("home/.syrch/config.yml", &config);
    let (document, stderr) = sql(&place, "sales", "SELECT count(*) FROM sales");
    assert_eq!(document["rows"], json!([[3]]), "{document}{stderr}");
    // A path is one with a folder before it.
    assert_refused(host(&place).args(["schema", "./sales"]), 11, &["does not exist"]);
    let (shown, stderr) = prints(host(&place).args(["config", "--origin"]));
    assert!(
        shown.contains("postgres://ann:***@nowhere.invalid/x")
            && !(shown + &stderr).contains("s3cr3t")
    );
    let (both, _) = prints(host(&place).args(["schema", "sales", "shop.sqlite"]));
    assert!(
        both.contains("sales.csv\n\nsales (table") && both.contains("shop.sqlite\n\n"),
        "{both}"
    );
    let (both, _) =
        prints(host(&place).args(["schema", "sales", "shop.sqlite", "--format", "json"]));
    let both: Value = serde_json::from_str(&both).unwrap();
    assert_eq!(
        (&both["schema"], &both["databases"][1]["database"]),
        (&json!("syrch.schemas/1"), &json!("shop"))
    );
    let (rows, _) =
        prints(host(&place).args(["schema", "sales", "shop.sqlite", "--format", "csv"]));
    assert!(rows.starts_with("database,table,kind,column"), "{rows}");
    assert_refused(
        host(&place).args(["schema", "sales", "shop.sqlite", "-t", "sales"]),
        2,
        &["--table is for one database"],
    );
    // A file that was found in the folder names no databases.
    place.file("syrch.yml", &config);
    assert_refused(
        host(&place).args(["schema", "sales"]),
        10,
        &["databases may not be set by a file found in a folder"],
    );
}

/// Writes a file into the folder of data, and returns how it is named.
fn file(place: &Place, name: &str, content: impl AsRef<[u8]>) -> String {
    fs::write(place.path().join("data").join(name), content).unwrap();
    format!("data/{name}")
}

/// The rows of a statement over a file, and what is said of reading it.
fn rows_of(place: &Place, db: &str, flags: &[&str], statement: &str) -> (Value, String) {
    let mut command = host(place);
    let (stdout, stderr) =
        prints(command.args(["sql", "--format", "json", "--db", db]).args(flags).arg(statement));
    (serde_json::from_str::<Value>(&stdout).unwrap()["rows"].clone(), stderr)
}

#[test]
fn numbers_are_numbers_as_people_write_them() {
    let place = place();
    let grants = "year,region,amount\n2024,North,\"1,200,000\"\n2024,South,\"350,500\"\n\
                  2023,North,\"4,000\"\n2023,South,975\n";
    let czech = "filiale;umsatz\nKiel;10 237,65\nUlm;1 000,10\n";
    let spanish = "tienda;ventas\nLugo;1.240.294,00 €\nVigo;12,50 €\n";
    let books = "month,profit,margin\nJan,$1250.00,12%\nFeb,($987.65),7.5%\nMar,NA,-\n";
    let trees = "name, points\nOak, 100\nElm, 90\nAsh, 95\n";
    for (name, text, statement, expected, note) in [
        (
            "grants.csv",
            grants,
            "SELECT sum(amount) FROM grants",
            json!([[1_555_475]]),
            "`,` between thousands",
        ),
        (
            "czech.csv",
            czech,
            "SELECT sum(umsatz) FROM czech",
            json!([[11_237.75]]),
            "a blank between thousands and a decimal",
        ),
        (
            "spanish.csv",
            spanish,
            "SELECT max(ventas) FROM spanish",
            json!([[1_240_294.0]]),
            "spanish.ventas: in `€`",
        ),
        (
            "books.csv",
            books,
            "SELECT sum(profit), avg(margin) FROM books",
            json!([[262.35, 9.75]]),
            "1 value `NA` is NULL",
        ),
        (
            "trees.csv",
            trees,
            "SELECT name FROM trees ORDER BY points DESC",
            json!([["Oak"], ["Ash"], ["Elm"]]),
            "blanks around",
        ),
    ] {
        let db = file(&place, name, text);
        let (rows, stderr) = rows_of(&place, &db, &[], statement);
        assert_eq!(rows, expected, "{name}: {stderr}");
        assert!(stderr.contains(note), "{stderr}");
    }
    let mut ask = host(&place);
    ask.args([
        "--llm",
        "offline",
        "--format",
        "json",
        "--db",
        "data/grants.csv",
        "-q",
        "What is the total amount?",
    ]);
    let (stdout, _) = prints(&mut ask);
    assert_eq!(
        serde_json::from_str::<Value>(&stdout).unwrap()["answer"]["rows"],
        json!([[1_555_475]])
    );
}

#[test]
fn a_doubt_is_said_and_a_flag_decides() {
    let place = place();
    let prices = file(&place, "prices.csv", "item;price\nlamp;1,234\n");
    let (rows, stderr) = rows_of(&place, &prices, &[], "SELECT price FROM prices");
    assert_eq!(rows, json!([["1,234"]]));
    assert!(stderr.contains("`--decimal ,` or `--decimal .` decides"), "{stderr}");
    for (mark, expected) in [(",", json!([[1.234]])), (".", json!([[1_234]]))] {
        assert_eq!(
            rows_of(&place, &prices, &["--decimal", mark], "SELECT price FROM prices").0,
            expected
        );
    }
    let days = file(&place, "days.csv", "day,n\n05/02/2024,1\n06/03/2024,2\n");
    let (rows, stderr) = rows_of(&place, &days, &[], "SELECT day FROM days");
    assert_eq!(
        (rows, stderr.contains("`--date-order dmy|mdy` decides")),
        (json!([["05/02/2024"], ["06/03/2024"]]), true)
    );
    for (order, expected) in [("dmy", "2024-02-05"), ("mdy", "2024-05-02")] {
        let (rows, _) =
            rows_of(&place, &days, &["--date-order", order], "SELECT min(day) FROM days");
        assert_eq!(rows, json!([[expected]]), "{order}");
    }
    let animals = file(&place, "animals.csv", "sex,mass\nmale,3750\nNA,NA\nunknown,3800\n");
    let count = "SELECT count(sex), avg(mass) FROM animals";
    assert_eq!(rows_of(&place, &animals, &[], count).0, json!([[3, 3_775.0]]));
    assert_eq!(
        rows_of(&place, &animals, &["--null", "NA", "--null", "unknown"], count).0,
        json!([[1, 3_775.0]])
    );
    let latin = file(&place, "latin.csv", b"name,city\nJos\xe9,K\xf6ln\n");
    assert_refused(
        host(&place).args(["schema", &latin]),
        11,
        &["line 2", "probably windows-1252", "--encoding windows-1252"],
    );
    let (rows, _) = rows_of(&place, &latin, &["--encoding", "windows-1252"], "SELECT * FROM latin");
    assert_eq!(rows, json!([["José", "Köln"]]));
    assert_refused(
        host(&place).args(["schema", &latin, "--encoding", "latin99"]),
        2,
        &["is not the name of an encoding"],
    );
    // The other settings reach it too.
    let mut command = host(&place);
    command
        .env("SYRCH_NULL", "NA,unknown")
        .args(["sql", "--format", "json", "--db", &animals, count]);
    let (stdout, _) = prints(&mut command);
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["rows"], json!([[1, 3_775.0]]));
}

#[test]
fn dates_are_stored_as_iso() {
    let place = place();
    let text =
        "booking,day,guests\n1,05/02/2024,2\n2,28/02/2024,3\n3,02/03/2024,1\n4,31/12/2023,4\n";
    let bookings = file(&place, "bookings.csv", text);
    let month = "SELECT count(*) FROM bookings WHERE strftime('%Y-%m', day) = '2024-02'";
    let (rows, stderr) = rows_of(&place, &bookings, &[], month);
    assert_eq!(rows, json!([[2]]), "{stderr}");
    assert!(
        stderr.contains("bookings.day: written in the order dmy, stored as YYYY-MM-DD"),
        "{stderr}"
    );
    let american =
        file(&place, "american.csv", text.replace("28/02", "02/28").replace("31/12", "12/31"));
    assert_eq!(
        rows_of(&place, &american, &[], "SELECT max(day) FROM american").0,
        json!([["2024-05-02"]])
    );
    let events = [(1, "T10:00:00+02:00"), (2, "T09:00:00Z"), (3, "T08:30:00Z")];
    let lines: String = events
        .iter()
        .map(|(id, time)| format!("{{\"id\": {id}, \"at\": \"2024-01-06{time}\"}}\n"))
        .collect();
    let events = file(&place, "events.jsonl", lines);
    let (rows, stderr) = rows_of(&place, &events, &[], "SELECT id FROM events ORDER BY at DESC");
    assert_eq!((rows, stderr.contains("in UTC")), (json!([[2], [3], [1]]), true), "{stderr}");
}

#[test]
fn a_table_is_found_in_its_file() {
    let place = place();
    let titled =
        "Extract of 2025-01-06\nid;operator;price\n1;Alfa;1.75\n2;Beta;1.80\nTotal;;3.55\n";
    let titled = file(&place, "titled.csv", titled);
    let (rows, stderr) =
        rows_of(&place, &titled, &[], "SELECT operator, price FROM titled ORDER BY id");
    assert_eq!(rows, json!([["Alfa", 1.75], ["Beta", 1.8]]));
    assert!(
        stderr.contains("a line above the table is left out") && stderr.contains("row of totals"),
        "{stderr}"
    );
    let bare = file(&place, "bare.csv", "1,Ann,2.5\n2,Bob,3\n");
    assert_eq!(
        rows_of(&place, &bare, &[], "SELECT column_2, column_3 FROM bare").0,
        json!([["Ann", 2.5], ["Bob", 3.0]])
    );
    let utf16 = [0xfeff_u16].into_iter().chain("name\tcity\nJosé\tKöln\n".encode_utf16());
    let excel = file(&place, "excel.csv", utf16.flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    assert_eq!(rows_of(&place, &excel, &[], "SELECT city FROM excel").0, json!([["Köln"]]));
}

#[test]
fn notes_are_comments_of_the_catalog_also_when_nothing_is_read() {
    let place = place();
    let db = file(&place, "prices.csv", "Prices\n\nitem,price\nlamp,\"1,250.50 €\"\ndesk,NA\n");
    for _ in 0..2 {
        let (stdout, _) = prints(host(&place).args(["schema", &db, "--format", "json"]));
        let schema: Value = serde_json::from_str(&stdout).unwrap();
        let table = &schema["tables"][0];
        assert_eq!(table["comment"], json!("a line above the table is left out"));
        let comment = "in `€`; written with `,` between thousands; 1 value `NA` is NULL";
        assert_eq!(table["columns"][1]["comment"], json!(comment), "{table}");
        let (stdout, _) = prints(host(&place).args(["schema", &db]));
        assert!(stdout.contains(&format!("price: {comment}")), "{stdout}");
    }
    // Other options are another reading.
    let (_, stderr) = rows_of(&place, &db, &["--null", "lamp"], "SELECT count(item) FROM prices");
    assert!(stderr.contains("read prices.csv"), "{stderr}");
    let (cleared, _) = prints(host(&place).args(["cache", "clear", "files"]));
    assert!(cleared.starts_with("cleared 2 entries"), "{cleared}");
    assert_eq!(fs::read_dir(place.path().join("cache/tables")).unwrap().count(), 0);
}
