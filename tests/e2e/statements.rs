//! `sql`: the corpus of hostile and benign statements through the binary, and what wrong lines and
//! wrong statements come to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

use serde_json::{Value, json};
use syrch_kit::corpus::{lines, text};

use crate::bad_input::{Place, finish, read_streams};

/// All tables but `secret_tokens`, and no view that reads it.
const GRANTED: &str = "customers,products,orders,order_items,order,employees,events,canary,\
                       notes_fts,trig_t,v_revenue,v_evil";

/// The most rows of a result.
const ROWS: u64 = 10_000;

/// The corpus' statements for SQLite.
fn corpus(data: &Path, name: &str) -> Vec<Value> {
    lines(&data.join("sql-guard").join(name), "sqlite")
}

/// The corpus' database in a folder of its own; the program stands beside it, in the place.
struct Guarded {
    place: Place,
    database: PathBuf,
    bytes: Vec<u8>,
}

impl Guarded {
    fn new(data: &Path) -> Self {
        let place = Place::new();
        fs::create_dir(place.path().join("data")).unwrap();
        let script = fs::read_to_string(data.join("sql-guard/schema_sqlite.sql")).unwrap();
        let database = syrch_kit::sqlite(place.path().join("data/guarded.sqlite"), &script);
        let bytes = fs::read(&database).unwrap();
        Self { place, database, bytes }
    }

    fn sql(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> Output {
        let mut command = self.place.words("sql --tables");
        command.arg(GRANTED).arg("--db").arg(&self.database).args(arguments);
        finish(&mut command, input)
    }

    /// The answers to these statements, which must come in order.
    fn answers(&self, statements: &[&Value]) -> Vec<Value> {
        let lines = statements
            .iter()
            .map(|line| json!({"id": line["id"], "sql": text(line)}).to_string() + "\n");
        let output = self.sql(&["--stdin-jsonl"], lines.collect::<String>());
        let (stdout, stderr) = read_streams(&output);
        // All heavy statements at once may keep a busy machine from ending one within a second of
        // its deadline: then it is left to itself.
        assert!(
            output.status.code() == Some(0)
                && stderr.lines().all(|line: &str| line
                    .contains("a statement has not ended although its time is over")),
            "{stdout}{stderr}"
        );
        let answers: Vec<Value> =
            stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), statements.len(), "{stdout}");
        answers
    }

    fn is_untouched(&self) {
        assert!(fs::read(&self.database).unwrap() == self.bytes, "the database changed");
        let beside: Vec<_> = fs::read_dir(self.database.parent().unwrap()).unwrap().collect();
        assert_eq!(beside.len(), 1, "{beside:?}");
        assert_eq!(self.place.names(), ["data", "home", "shop.sqlite"]);
    }
}

/// Files that the statements name, such as `/tmp/x`: none may appear.
fn files_in_statements(statements: &[Value]) -> Vec<PathBuf> {
    fn in_path(c: char) -> bool {
        c.is_ascii_alphanumeric() || "/._-".contains(c)
    }
    let names: BTreeSet<PathBuf> = statements
        .iter()
        .filter_map(|line| line["sql"].as_str())
        .flat_map(|sql| sql.split(move |c| !in_path(c)))
        .filter(|word| word.len() > 4 && word.starts_with('/') && !word.starts_with("//"))
        .map(PathBuf::from)
        .collect();
    names.into_iter().filter(|path| !path.exists()).collect()
}

/// Returns what is wrong with the answer to a hostile statement; `None` if nothing is.
fn harm(guarded: &Guarded, statement: &Value, answer: &Value) -> Option<&'static str> {
    let error = &answer["error"];
    if answer["id"] != statement["id"] {
        return Some("the answer has another id");
    }
    if answer["ok"] == json!(false) && error["message"].as_str().is_none_or(str::is_empty) {
        return Some("the refusal says nothing");
    }
    match (statement["stop"].as_str().unwrap(), answer["ok"] == json!(true)) {
        ("static" | "policy", true) => Some("it ran"),
        ("static" | "policy", false) => {
            let by_chance = matches!(error["rule"].as_str(), Some("deadline" | "memory"));
            by_chance.then_some("it was stopped for its time or memory, not refused for what it is")
        }
        (_, false) => {
            let by_limit =
                matches!(error["kind"].as_str(), Some("too-large" | "timeout" | "unknown-table"));
            (!by_limit).then_some("it was not stopped by a limit")
        }
        // Heavy for some engines, light for one that computes a constant once.
        (_, true) if statement["class"] == "dos_time" && answer["rows"] == json!(1) => None,
        (_, true) if answer["rows"].as_u64().unwrap() > ROWS => Some("it gave too many rows"),
        (_, true) => {
            let (stdout, _) =
                read_streams(&guarded.sql(&["--format", "json", &text(statement)], ""));
            let document: Value = serde_json::from_str(&stdout).unwrap();
            (document["truncated"] != json!(true)).then_some("it was not cut short")
        }
    }
}

/// The heavy ones each have a process of their own, all at once: together they take little longer
/// than one statement's deadline.
#[test]
fn no_hostile_statement_has_an_effect_and_no_benign_one_is_refused() {
    let Some(data) = syrch_kit::data_root() else { return };
    let guarded = Guarded::new(&data);
    let hostile = corpus(&data, "hostile.jsonl");
    let benign = corpus(&data, "benign.jsonl");
    assert!(
        hostile.len() >= 160 && benign.len() >= 67,
        "{} hostile, {} benign",
        hostile.len(),
        benign.len()
    );
    let (heavy, light): (Vec<&Value>, Vec<&Value>) =
        hostile.iter().partition(|line| line["stop"] == "limit");
    let files = files_in_statements(&hostile);
    assert!(!files.is_empty());

    let start = Instant::now();
    let (light_answers, heavy_answers) = std::thread::scope(|scope| {
        let guarded = &guarded;
        let alone: Vec<_> = heavy
            .iter()
            .map(|line| scope.spawn(move || guarded.answers(&[*line]).remove(0)))
            .collect();
        // One process for all others, the benign ones after the hostile ones.
        let all: Vec<&Value> = light.iter().copied().chain(&benign).collect();
        let light = guarded.answers(&all);
        (light, alone.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>())
    });
    println!(
        "{} statements in {:.1} s",
        hostile.len() + benign.len(),
        start.elapsed().as_secs_f64()
    );

    let mut wrong = Vec::new();
    let pairs = light.iter().zip(&light_answers).chain(heavy.iter().zip(&heavy_answers));
    for (statement, answer) in pairs {
        if let Some(why) = harm(&guarded, statement, answer) {
            wrong.push(format!("{} ({}): {why}: {answer}", statement["id"], statement["class"]));
        }
    }
    for (statement, answer) in benign.iter().zip(&light_answers[light.len()..]) {
        if answer["id"] != statement["id"] || answer["ok"] != json!(true) {
            wrong.push(format!("{} refused: {answer}", statement["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    guarded.is_untouched();
    let made: Vec<_> = files.iter().filter(|path| path.exists()).collect();
    assert!(made.is_empty(), "{made:?}");
}

/// `--check` refuses the same, and runs nothing: even what would never end has its answer.
#[test]
fn a_check_runs_nothing() {
    let Some(data) = syrch_kit::data_root() else { return };
    let guarded = Guarded::new(&data);
    let hostile = corpus(&data, "hostile.jsonl");
    let benign = corpus(&data, "benign.jsonl");
    let all: Vec<&Value> =
        hostile.iter().filter(|line| line["stop"] != "limit").chain(&benign).collect();
    let lines =
        all.iter().map(|line| json!({"id": line["id"], "sql": text(line)}).to_string() + "\n");
    let output = guarded.sql(&["--check", "--stdin-jsonl"], lines.collect::<String>());
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    let mut wrong = Vec::new();
    for (statement, answer) in all.iter().zip(stdout.lines()) {
        let answer: Value = serde_json::from_str(answer).unwrap();
        let is_benign = statement["stop"].is_null();
        if answer["ok"] != json!(is_benign)
            || answer["id"] != statement["id"]
            || answer.get("rows").is_some()
        {
            wrong.push(format!("{}: {answer}: {}", statement["id"], text(statement)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let endless =
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r";
    let output = guarded.sql(&["--check", "--format", "json", endless], "");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &document["ok"]), (Some(0), &json!(true)), "{document}");
    guarded.is_untouched();
}

#[test]
fn each_line_has_the_doubts_about_its_statement() {
    let place = Place::new();
    let lines = ["SELECT AVG(name) AS a FROM customers", "SELECT COUNT(*) AS n FROM customers"];
    let input: String =
        lines.iter().map(|sql| format!("{}\n", json!({ "id": 1, "sql": sql }))).collect();
    let output = finish(&mut place.words("sql --db shop.sqlite --stdin-jsonl"), input);
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{stdout}");
    let answers: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let doubt = answers[0]["warnings"][0].as_str().unwrap_or_default();
    assert!(doubt.contains("values of name are no numbers"), "{stdout}");
    assert_eq!(answers[1], json!({ "id": 1, "ok": true, "rows": 1 }));
    let counted = finish(
        &mut place.words("sql --db shop.sqlite --stdin-jsonl --check"),
        format!("{}\n", json!({ "id": 2, "sql": lines[0] })),
    );
    assert_eq!(read_streams(&counted).0.trim(), r#"{"id":2,"ok":true}"#);
}

#[test]
fn no_line_ends_the_lines_after_it() {
    let place = Place::new();
    let mut input = Vec::new();
    for line in [
        br#"{"id": 1, "sql": "SELECT count(*) FROM customers"}"#.as_slice(),
        b"",
        b"  \t ",
        b"not json",
        br#"{"id": 2}"#,
        br#"{"id": 3, "sql": 5}"#,
        b"[1, 2]",
        b"\xff\xfe{}",
        b"{\"id\": 4, \"sql\": \"SELECT",
        &b"[".repeat(20_000),
        br#"{"id": {"a": "\u001b[2J"}, "sql": "SELECT 1", "class": "x"}"#,
        br#"{"sql": "SELECT 1"}"#,
        b"{\"id\": 5, \"sql\": \"SELECT id FROM customers\"}\r",
        br#"{"id": 6, "sql": "DELETE FROM customers"}"#,
        br#"{"id": 7, "sql": "SELECT nam FROM customers"}"#,
        br#"{"id": 8, "sql": ""}"#,
        br#"{"id": 9, "sql": "SELECT 'a\u0000b'"}"#,
    ] {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    // The last one has no line end.
    input.extend_from_slice(br#"{"id": 10, "sql": "SELECT 1 WHERE 0"}"#);
    let output = finish(&mut place.words("sql --db shop.sqlite --stdin-jsonl"), input);
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{stdout}");
    let seen: Vec<(Value, Value, Value)> = stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|answer| {
            (answer["id"].clone(), answer["rows"].clone(), answer["error"]["rule"].clone())
        })
        .collect();
    let none = Value::Null;
    let wrong = json!("json-line");
    let ran = |id: Value, rows: u64| (id, json!(rows), Value::Null);
    let odd = |id: Value| (id, none.clone(), wrong.clone());
    assert_eq!(
        seen,
        [
            ran(json!(1), 1),
            odd(json!(null)),
            odd(json!(2)),
            odd(json!(3)),
            odd(json!(null)),
            odd(json!(null)),
            odd(json!(null)),
            odd(json!(null)),
            ran(json!({"a": "\u{1b}[2J"}), 1),
            ran(json!(null), 1),
            ran(json!(5), 4),
            (json!(6), none.clone(), json!("read-only")),
            (json!(7), none.clone(), none.clone()),
            (json!(8), none.clone(), json!("empty")),
            (json!(9), none.clone(), json!("nul")),
            ran(json!(10), 0),
        ]
    );
    assert!(!stdout.contains('\u{1b}') && stdout.contains("did you mean `name`?"), "{stdout}");
    let nothing = finish(&mut place.words("sql --db shop.sqlite --stdin-jsonl"), "\n\n");
    assert_eq!((nothing.status.code(), nothing.stdout.as_slice()), (Some(0), b"".as_slice()));
}

/// However long the statement, its answer is known by its id.
#[test]
fn a_huge_line_is_refused_by_its_id_and_the_next_is_answered() {
    let place = Place::new();
    let mut input = String::new();
    for (id, bytes) in [(1, 70_000), (2, 900_000), (3, 2 << 20), (4, 12 << 20)] {
        input += &format!("{{\"id\": {id}, \"sql\": \"SELECT '{}'\"}}\n", "x".repeat(bytes));
    }
    input += "{\"id\": 5, \"sql\": \"SELECT 1\"}\n";
    let output = finish(&mut place.words("sql --db shop.sqlite --stdin-jsonl"), input);
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    let answers: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["kind"]).collect();
    assert_eq!(
        kinds,
        ["too-large", "too-large", "too-large", "too-large"]
            .map(|kind| json!(kind))
            .iter()
            .chain([&Value::Null])
            .collect::<Vec<_>>()
    );
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5].map(|id| json!(id)).iter().collect::<Vec<_>>());
}

/// The exit code of one statement, with what it says as a document.
fn one(place: &Place, arguments: &[&str]) -> (i32, Value, String) {
    let mut command = place.words("sql --db shop.sqlite --format json");
    let output = finish(command.args(arguments), "");
    let (stdout, stderr) = read_streams(&output);
    let document =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    (output.status.code().unwrap(), document, stderr)
}

#[test]
fn a_statement_that_is_not_a_query_is_denied() {
    let place = Place::new();
    let before = fs::read(place.path().join("shop.sqlite")).unwrap();
    for (statement, rule) in [
        ("DELETE FROM customers", "read-only"),
        ("WITH x AS (SELECT 1) DELETE FROM customers", "read-only"),
        ("SELECT 1; DROP TABLE customers", "single-statement"),
        ("ATTACH 'made.db' AS made", "read-only"),
        ("VACUUM INTO 'made.db'", "read-only"),
        ("PRAGMA journal_mode = WAL", "read-only"),
        ("EXPLAIN DELETE FROM customers", "read-only"),
        ("SELECT load_extension('x')", "function"),
        ("SELECT * FROM sqlite_master", "granted-tables"),
    ] {
        for check in [&[statement][..], &["--check", statement]] {
            let (code, document, stderr) = one(&place, check);
            assert_eq!(
                (code, &document["error"]["class"]),
                (15, &json!("denied")),
                "{statement}: {document}"
            );
            let message = document["error"]["message"].as_str().unwrap();
            assert!(
                message.contains(&format!("rule `{rule}`")) && stderr.contains(rule),
                "{statement}: {message}"
            );
            assert!(document["error"]["hint"].is_string(), "{statement}: {document}");
        }
    }
    let (code, document, _) = one(&place, &["--tables", "orders", "SELECT name FROM customers"]);
    assert_eq!(code, 15, "{document}");
    assert!(!document.to_string().contains("Ada"), "{document}");
    assert!(before == fs::read(place.path().join("shop.sqlite")).unwrap());
    assert_eq!(place.names(), ["home", "shop.sqlite"]);
}

#[test]
fn a_name_that_is_wrong_is_reported_with_the_nearest() {
    let place = Place::new();
    for (statement, name, near) in [
        ("SELECT * FROM custmers", "`custmers`", "did you mean `customers`?"),
        ("SELECT nam FROM customers", "`nam`", "did you mean `name`?"),
        ("SELECT c.contry FROM customers c", "contry", "country`?"),
    ] {
        for check in [&[statement][..], &["--check", statement]] {
            let (code, document, stderr) = one(&place, check);
            assert_eq!(code, 11, "{document}");
            assert!(document["error"]["message"].as_str().unwrap().contains(name), "{document}");
            assert!(
                document["error"]["hint"].as_str().is_some_and(|hint| hint.contains(near)),
                "{document}"
            );
            assert!(stderr.contains(near), "{stderr}");
        }
    }
    for statement in ["SELEC 1", "", "SELECT", "SELECT (", "SELECT 'a"] {
        let (code, document, _) = one(&place, &[statement]);
        assert_eq!(
            (code, &document["error"]["class"]),
            (11, &json!("database")),
            "{statement}: {document}"
        );
    }
    assert_eq!(finish(&mut place.words("sql --db shop.sqlite"), "").status.code(), Some(2));
    let both = finish(place.words("sql --db shop.sqlite --stdin-jsonl").arg("SELECT 1"), "");
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_statement_may_come_from_standard_input() {
    let place = Place::new();
    let run = |input: &[u8]| finish(&mut place.words("sql --db shop.sqlite --format csv -"), input);
    let output = run(b"SELECT name\n  FROM customers -- all\n WHERE id = 1\n");
    assert_eq!(read_streams(&output).0, "name\nAda\n", "{}", read_streams(&output).1);
    assert_eq!(run(b"SELECT '\xff'").status.code(), Some(15));
    assert_eq!(
        run(&[b"SELECT '".as_slice(), &vec![b'x'; 3 << 20], b"'"].concat()).status.code(),
        Some(11)
    );
}

/// A log and its index would be made by whoever reads such a file the usual way.
#[test]
fn a_database_in_wal_mode_is_read_without_a_trace() {
    let place = Place::new();
    let script = "PRAGMA journal_mode = WAL; CREATE TABLE t(n INTEGER); INSERT INTO t VALUES (7)";
    let database = syrch_kit::sqlite(place.path().join("wal.sqlite"), script);
    let before = fs::read(&database).unwrap();
    let names = place.names();
    assert_eq!(before[18..20], [2, 2], "the file is not in WAL mode");
    let output = finish(&mut place.words("sql --db wal.sqlite --format csv SELECT(n)FROM(t)"), "");
    assert_eq!(read_streams(&output).0.lines().last(), Some("7"), "{}", read_streams(&output).1);
    assert!(before == fs::read(&database).unwrap());
    assert_eq!(place.names(), names);
}

/// A name in double quotes that no column has: SQLite alone would take it for a text.
#[test]
fn a_mistyped_name_in_double_quotes_is_an_unknown_column() {
    let place = Place::new();
    let script = "CREATE TABLE samples(sample_id INTEGER, origin TEXT, status TEXT);
        INSERT INTO samples VALUES (1, 'a', 'done'), (2, 'b', 'open'), (3, 'c', 'done');
        CREATE VIEW finished AS SELECT sample_id FROM samples WHERE status = \"done\";";
    syrch_kit::sqlite(place.path().join("lab.sqlite"), script);
    place.file("points.csv", "name,points\nAnna,3\nBert,12\n");
    let sql = |database: &str, flags: &[&str], statement: &str| {
        let output = finish(place.words("sql --db").arg(database).args(flags).arg(statement), "");
        (output.status.code(), read_streams(&output).0, read_streams(&output).1)
    };
    for (database, statement, message) in [
        ("lab.sqlite", "SELECT DISTINCT \"lab_name\" FROM samples", "no such column `lab_name`"),
        ("lab.sqlite", "SELECT DISTINCT \"orgin\" FROM samples", "did you mean `origin`?"),
        (
            "lab.sqlite",
            "SELECT count(*) FROM samples WHERE \"state\" = 'done'",
            "did you mean `status`?",
        ),
        (
            "lab.sqlite",
            "SELECT count(*) FROM samples WHERE status = \"done\"",
            "a text is written in single quotes: 'done'",
        ),
        (
            "points.csv",
            "SELECT name FROM points ORDER BY \"pionts\" DESC",
            "did you mean `points`?",
        ),
        ("points.csv", "SELECT count(*) FROM points GROUP BY \"pionts\"", "did you mean `points`?"),
    ] {
        for flags in [&[][..], &["--check"]] {
            let (code, stdout, stderr) = sql(database, flags, statement);
            assert!(
                code == Some(11) && stderr.contains(message),
                "{statement}: {code:?} {stdout}{stderr}"
            );
        }
    }
    let (code, stdout, stderr) =
        sql("lab.sqlite", &["--format", "csv"], "SELECT count(*) AS \"n\" FROM finished");
    assert_eq!((code, stdout.as_str()), (Some(0), "n\n2\n"), "{stderr}");
}
