//! Suites in all formats, whole and broken, and their databases.

mod formats;

use std::fs;

use serde_json::{Value, json};
use syrch_core::DatabaseUrl;
use tempfile::TempDir;

use super::*;

/// A folder with files.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn read(&self, content: impl AsRef<[u8]>) -> Result<Suite, SuiteError> {
        read(&self.file("suite", content))
    }

    /// Returns the error message of a wrong suite, with the folder left out.
    fn wrong(&self, content: impl AsRef<[u8]>) -> String {
        let error = self.read(content).unwrap_err().to_string();
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

const GOOD: &str = r#"{"id": "a", "db": "shop", "question": "How many?", "gold_sql": "SELECT 1"}"#;

fn fields(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn an_end_without_rows_may_be_expected() {
    let home = Home::new();
    let suite = home
        .read(concat!(
            r#"{"id": "1", "db": "shop", "question": "by country?", "expect": "clarify"}"#,
            "\n",
            r#"{"id": "2", "db": "shop", "question": "Drop it", "expect": ["refuse", "silent"]}"#,
            "\n",
            r#"{"id": "3", "db": "shop", "question": "Hm?", "expect": "silent|clarify"}"#,
        ))
        .unwrap();
    let ends: Vec<Vec<&str>> = suite
        .questions
        .iter()
        .map(|question| question.ends().map(ExpectedEnd::name).collect())
        .collect();
    assert_eq!(ends, [vec!["clarify"], vec!["refuse", "silent"], vec!["silent", "clarify"]]);
    let wrong = home.wrong(r#"{"id": "1", "question": "?", "expect": "shrug"}"#);
    assert!(wrong.contains("`expect` is none of clarify, refuse and silent"), "{wrong}");
}

#[test]
fn the_turns_of_a_conversation_are_questions_that_follow_each_other() {
    let home = Home::new();
    let turns = json!([
        {"question": "orders in 2024", "gold_sql": "SELECT 1"},
        {"question": "and in 2023?", "gold_sql": "SELECT 2", "evidence": "by day"},
        {"question": "why?", "expect": "silent"},
    ]);
    let object = json!({"id": "talk", "db": "shop", "level": "easy", "turns": turns});
    let suite = home.read(object.to_string()).unwrap();
    let ids: Vec<&str> = suite.questions.iter().map(|question| question.id.as_str()).collect();
    assert_eq!(ids, ["talk/1", "talk/2", "talk/3"]);
    let last = &suite.questions[2];
    assert_eq!((last.db.as_str(), last.fields["level"].as_str()), ("shop", "easy"));
    assert_eq!((last.fields["conversation"].as_str(), last.fields["turn"].as_str()), ("talk", "3"));
    let turn = last.conversation.as_ref().unwrap();
    assert_eq!((turn.of, turn.earlier.len()), (3, 2));
    assert_eq!(turn.earlier[1].evidence.as_deref(), Some("by day"));
    // What was asked before is a part of a turn.
    let other = object.to_string().replace("orders in 2024", "orders in 2022");
    assert_ne!(home.read(other).unwrap().digest, suite.digest);
    for (wrong, why) in [
        (json!({"id": "a", "turns": []}), "has no turn"),
        (json!({"id": "a", "turns": "none"}), "`turns` is not a list of questions"),
        (json!({"id": "a", "turns": ["?"]}), "a turn is no object with a `question`"),
        (json!({"turns": [{"question": "?"}]}), "a conversation has no `id`"),
        (json!({"id": "a", "question": "?", "turns": [{}]}), "`turns` and no `question`"),
        (json!({"id": "a", "turns": [{"question": "?"}]}), "does not say what is right"),
    ] {
        let found = home.wrong(wrong.to_string());
        assert!(found.contains(why), "{wrong}: {found}");
    }
}

#[test]
fn a_line_has_all_its_fields() {
    let place = Home::new();
    let line = json!({
        "id": 7, "db": "shop", "engine": "PostgreSQL", "question": "How many?",
        "evidence": "count", "gold_sql": "SELECT 1",
        "gold_alternatives": ["SELECT 1", "SELECT 2", " "], "ordered": true,
        "as_of": "2024-02-29", "difficulty": "easy", "gold_rows": 1,
        "is_new": false, "notes": ["long"], "story": "x".repeat(201), "nothing": null,
    });
    let suite = place.read(format!("\u{feff}\n  \n{line}\r\n\n")).unwrap();
    fn sql(text: &str) -> crate::question::Gold {
        Gold::Sql(text.to_owned())
    }
    let question = Question {
        id: "7".into(),
        db: "shop".into(),
        engine: Some("postgres".into()),
        question: "How many?".into(),
        evidence: Some("count".into()),
        golds: vec![sql("SELECT 1"), sql("SELECT 2")],
        ordered: true,
        as_of: Some("2024-02-29".into()),
        conversation: None,
        fields: fields(&[("difficulty", "easy"), ("gold_rows", "1"), ("is_new", "false")]),
    };
    assert_eq!((suite.questions, suite.places), (vec![question], vec![Place::Line(3)]));
    assert_eq!((suite.format, suite.folder), (Format::Jsonl, place.0.path().to_owned()));
}

#[test]
fn suites_of_syrch_0_1_2_are_read() {
    let place = Home::new();
    place.file("data/a.csv", "n\n1\n");
    let suite = place.read(
        "{\"id\":\"a\",\"question\":\"?\",\"db\":\"shop.db\",\"expected_data\":\"data/a.csv\",\
         \"expected_answer\":42}\n\
         {\"id\":\"b\",\"question\":\"?\",\"expected_sql\":\"SELECT 1\",\"expected_data\":null}\n\
         {\"id\":\"c\",\"question\":\"?\",\"expected_answer\":\"France\"}",
    );
    let suite = suite.unwrap();
    let golds: Vec<Vec<Gold>> =
        suite.questions.iter().map(|question| question.golds.clone()).collect();
    assert_eq!(
        golds,
        [
            vec![Gold::Csv(place.path("data/a.csv")), Gold::Text("42".into())],
            vec![Gold::Sql("SELECT 1".into())],
            vec![Gold::Text("France".into())],
        ]
    );
    assert_eq!((suite.format, suite.questions[1].db.as_str()), (Format::Syrch, ""));
    let rows = read_expected_rows(&golds[0][0]).unwrap().unwrap();
    assert_eq!(rows.row_count(), 1);
}

#[test]
fn published_suites_are_read_as_arrays_and_as_lines() {
    let place = Home::new();
    let bird = json!([{"question_id": 0, "db_id": "shop", "question": "?", "evidence": "",
        "SQL": "SELECT 1", "difficulty": "simple"},
        {"db_id": "shop", "question": "?", "evidence": "e", "SQL": "SELECT 2"}]);
    let spider = json!([{"db_id": "shop", "query": "SELECT 1", "query_toks": ["SELECT", "1"],
        "question": "?", "question_toks": ["?"],
        "sql": {"from": {}}}, {"db_id": "shop", "query": "SELECT 2", "question": "?"}]);
    for (format, suite, ids) in [
        (Format::Bird, bird, ["0", "bird-0001"]),
        (Format::Spider, spider, ["spider-0000", "spider-0001"]),
    ] {
        let lines: String =
            suite.as_array().unwrap().iter().map(|item| format!("{item}\n")).collect();
        let [lines, array] =
            [lines, format!("{suite:#}")].map(|content| place.read(content).unwrap());
        assert_eq!((&lines.questions, &lines.digest), (&array.questions, &array.digest));
        assert_eq!(
            (array.format, array.places.as_slice()),
            (format, [Place::Item(1), Place::Item(2)].as_slice())
        );
        let read: Vec<&str> = array.questions.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(read, ids);
        assert_eq!(array.questions[1].golds, [Gold::Sql("SELECT 2".into())]);
    }
}

#[test]
fn tables_are_read_under_the_same_names() {
    let place = Home::new();
    let suite = place.read(
        "\u{feff}id, db ,question,gold_sql,gold_alternatives,ordered,difficulty\r\n\
         a,shop,\"How many,\r\n\"\"really\"\"?\",SELECT 1,\"[\"\"SELECT 2\"\"]\",yes,easy\r\n\r\n\
         b,shop,Who?,SELECT 3,,,\r\n",
    );
    let suite = suite.unwrap();
    assert_eq!((suite.format, suite.places), (Format::Csv, vec![Place::Line(2), Place::Line(5)]));
    let [a, b] = suite.questions.as_slice() else { panic!("{:?}", suite.questions) };
    assert_eq!(
        (a.question.as_str(), a.statements()),
        ("How many,\r\n\"really\"?", vec!["SELECT 1", "SELECT 2"])
    );
    assert_eq!((a.ordered, &a.fields), (true, &fields(&[("difficulty", "easy")])));
    assert_eq!((b.ordered, &b.fields, b.statements()), (false, &BTreeMap::new(), vec!["SELECT 3"]));
    for header in ["id,db,question,sql", "id,db_id,question,query"] {
        assert_eq!(
            place.read(format!("{header}\na,shop,?,SELECT 1")).unwrap().questions[0].db,
            "shop"
        );
    }
}

#[test]
fn each_fault_is_reported_with_its_place() {
    let place = Home::new();
    place.file("odd.csv", "a,b\n1\n");
    let folder = place.0.path().display().to_string();
    let long = format!("{{\"id\": \"{}\"}}", "x".repeat(source::LONGEST));
    let long_id =
        format!("{{\"id\": \"{}\", \"question\": \"?\", \"sql\": \"SELECT 1\"}}", "i".repeat(257));
    let cases: [(&str, &[&str]); 12] = [
        ("not JSON", &["line 2: is not JSON: expected ident at column 2"]),
        ("[1]", &["line 2: is not a JSON object"]),
        (
            r#"{"id": "b", "question": " ", "gold_sql": ""}"#,
            &[
                "line 2, `b`: has no `question`",
                "line 2, `b`: does not say what is right: it needs `gold_sql`, `expected_data`, \
                 `expected_answer` or `expect`",
            ],
        ),
        (
            r#"{"question": "?", "gold_sql": 5, "db": ["x"], "engine": "oracle"}"#,
            &[
                "line 2: has no `id`",
                "line 2: `db` is neither a text nor a number",
                "line 2: the engine `oracle` is unknown; there are sqlite, postgres, mysql, \
                 duckdb, databricks, spark, ansi",
                "line 2: `gold_sql` is not a text",
            ],
        ),
        (
            r#"{"id": "g", "question": "?", "gold_sql": "SELECT 1", "as_of": "2023-02-29", "ordered": 3}"#,
            &[
                "line 2, `g`: `ordered` is neither true nor false",
                "line 2, `g`: `as_of` is `2023-02-29`, which is no date of the form 2024-12-31",
            ],
        ),
        (GOOD, &["line 2, `a`: repeats the id of line 1"]),
        (
            r#"{"id": "c", "question": "?", "expected_data": "none.csv"}"#,
            &["line 2, `c`: `expected_data`: `none.csv` cannot be read: No such file or \
                 directory (os error 2)"],
        ),
        (
            r#"{"id": "d", "question": "?", "expected_data": "odd.csv"}"#,
            &["line 2, `d`: `expected_data`: `odd.csv` line 2: 1 cells, and the first line names \
                 2 columns"],
        ),
        (
            r#"{"id": "e", "question": "?", "expected_data": "../a.csv"}"#,
            &["line 2, `e`: `expected_data` is `../a.csv`, which lies outside of the suite's \
                 folder `FOLDER`"],
        ),
        (
            r#"{"id": "f", "question": "?", "gold_alternatives": "SELECT 1", "expected_answer": [1]}"#,
            &[
                "line 2, `f`: `gold_alternatives` is not a list of statements",
                "line 2, `f`: `expected_answer` is neither a text nor a number",
            ],
        ),
        (&long, &["line 2: is longer than 1048576 bytes"]),
        (&long_id, &["line 2: `id` is longer than 256 bytes"]),
    ];
    for (line, faults) in cases {
        let message = place.wrong([GOOD, line].join("\n")).replace(&folder, "FOLDER");
        let faults = faults.join("\n");
        let count = faults.lines().count();
        let plural = if count == 1 { "" } else { "s" };
        assert_eq!(message, format!("suite `suite` has {count} fault{plural}:\n{faults}"));
    }
}

#[test]
fn of_many_kinds_of_faults_the_first_are_reported() {
    let place = Home::new();
    let text: String = (0..9)
        .map(|at| {
            format!(
                "{{\"id\": \"{at}\", \"question\": \"?\", \"gold_sql\": \"SELECT 1\", \
                 \"engine\": \"e{at}\"}}\n"
            )
        })
        .collect();
    let message = place.wrong(text);
    assert!(
        message.starts_with("suite `suite` has 9 faults:\nline 1, `0`: the engine `e0`"),
        "{message}"
    );
    assert!(message.ends_with("\nand 4 more"), "{message}");
}

#[test]
fn a_fault_that_many_questions_have_is_reported_once() {
    let place = Home::new();
    let text: String =
        (0..1_000).map(|at| format!("{{\"id\": {at}, \"question\": \"?\"}}\n")).collect();
    let message = place.wrong(text);
    assert_eq!(message.lines().count(), 2, "{message}");
    assert!(message.starts_with("suite `suite` has 1000 faults:\nline 1, `0`: "), "{message}");
    assert!(message.ends_with(" (and 999 more like it)"), "{message}");
}

#[test]
fn errors_in_arrays_name_the_item() {
    let place = Home::new();
    let good = r#"{"id": "a", "question": "?", "gold_sql": "SELECT 1"}"#;
    let message = place.wrong(format!("[{good},\n 5, {good}, {{\"id\": }}, {good}]"));
    assert_eq!(
        message,
        "suite `suite` has 3 faults:\nitem 2: is not a JSON object\n\
         item 3, `a`: repeats the id of item 1\n\
         item 4: is not JSON: expected value at line 2 column 66; what follows was not read"
    );
    let cut = place.wrong(format!("[{good}"));
    assert!(cut.contains("item 2: is not JSON: EOF while parsing a list"), "{cut}");
    let more = place.wrong(format!("[{good}] x"));
    assert!(more.contains("item 2: is not JSON: trailing characters"), "{more}");
    let long =
        place.wrong(format!("[{good}, {{\"id\": \"{}\"}}, {good}]", "x".repeat(source::LONGEST)));
    assert_eq!(long, "suite `suite` has 1 fault:\nitem 2: is longer than 1048576 bytes");
    let deep = place.wrong(format!("[{good}, {}", "[".repeat(100_000)));
    assert!(deep.contains("item 2: is not JSON: recursion limit exceeded"), "{deep}");
}

#[test]
fn errors_in_tables_name_the_line() {
    let place = Home::new();
    let head = b"id,question,sql\na,\"?\n\",SELECT 1\n".as_slice();
    let message = place.wrong([head, b"b,?\n\xff,?,SELECT 1\n,?,SELECT 1\nc,,SELECT 1\n"].concat());
    assert_eq!(
        message,
        "suite `suite` has 4 faults:\nline 4: has 2 cells, and the header 3\n\
         line 5: is not UTF-8 text\nline 6: has no `id`\n\
         line 7, `c`: has no `question`"
    );
    let twice = place.wrong("id,question,id,sql\na,?,b,SELECT 1\n");
    assert_eq!(twice, "suite `suite` has 1 fault:\nline 1: has two columns `id`");
    let open = place.wrong([head, b"c,\"", &vec![b'x'; 3 << 20]].concat());
    assert_eq!(open, "suite `suite` has 1 fault:\nline 4: is longer than 1048576 bytes");
}

#[test]
fn what_is_no_suite_is_reported_with_the_formats() {
    let place = Home::new();
    for (content, reason) in [
        (&b"SQLite format 3\0 and so on"[..], "it is a database"),
        (b"\xff\xfe\x00", "it is not UTF-8 text"),
        (
            b"a,b\n1,2\n",
            "its first line is neither JSON nor a header with `question` and what is expected",
        ),
        (b"# How to ask\n", "its first line is neither JSON"),
        (b"{\n  \"compilerOptions\": {}\n}\n", "no line or item of it has a question"),
        (b"{\"name\": \"x\", \"version\": \"1\"}", "no line or item of it has a question"),
        (b"[1, 2]", "no line or item of it has a question"),
    ] {
        let message = place.wrong(content);
        assert!(message.starts_with(&format!("`suite` is no suite: {reason}")), "{message}");
        assert!(message.ends_with("or CSV with a header of these names"), "{message}");
    }
    for empty in ["", "\u{feff}\n \n", "[]", "id,question,sql\n"] {
        assert_eq!(place.wrong(empty), "suite `suite` has no questions", "{empty:?}");
    }
    let folder = read(place.0.path()).unwrap_err().to_string();
    assert!(folder.ends_with("cannot be read: it is a folder"), "{folder}");
    let none = read(&place.path("none")).unwrap_err().to_string();
    assert!(none.contains("No such file"), "{none}");
}

#[test]
fn the_digest_is_of_the_content() {
    let place = Home::new();
    let csv = place.file("a.csv", "n\n1\n");
    let line = r#"{"id": "a", "question": "?", "expected_data": "a.csv"}"#;
    fn digest(place: &Home, content: &str) -> String {
        place.read(content).unwrap().digest
    }
    let first = digest(&place, line);
    assert_eq!(digest(&place, &format!("\n{}\n\n", line.replace(": ", ":  "))), first);
    assert_eq!(digest(&place, &format!("[{line}]")), first);
    assert_eq!(digest(&place, "id,question,expected_data\na,?,a.csv\n"), first);
    assert_ne!(digest(&place, &line.replace("?", "??")), first);
    assert_ne!(digest(&place, &line.replace("\"a\"", "\"b\"")), first);
    fs::write(csv, "n\n2\n").unwrap();
    assert_ne!(digest(&place, line), first);
}

#[test]
fn ten_thousand_questions_are_read() {
    let place = Home::new();
    let line = |at| {
        json!({
            "id": at, "db": "shop", "question": format!("How many {at}?"),
            "gold_sql": format!("SELECT {at}")
        })
    };
    let lines: String = (0..10_000).map(|at| format!("{}\n", line(at))).collect();
    let array = Value::Array((0..10_000).map(line).collect()).to_string();
    let [lines, array] = [lines, array].map(|content| place.read(content).unwrap());
    assert_eq!(
        (lines.questions.len(), &lines.questions, &lines.digest),
        (10_000, &array.questions, &array.digest)
    );
}

const ENGINES: Engines = Engines {
    endings: &["sqlite", "db", "sqlite3"],
    file_schemes: &["sqlite"],
    server_schemes: &["postgres"],
};

#[test]
fn a_server_is_named_by_its_url_and_nothing_else_is_one() {
    let place = Home::new();
    let suite = place.read(GOOD).unwrap();
    let server = DatabaseUrl::parse("postgres://localhost/shop");
    assert_eq!(suite.database("postgres://localhost/shop", None, ENGINES), Ok(server.clone()));
    assert_eq!(suite.database("shop", Some(&server), ENGINES), Ok(server));
    assert!(matches!(
        suite.database("oracle://localhost/shop", None, ENGINES),
        Err(Unresolved::Missing { .. })
    ));
    // A file of that name comes first, and a scheme leads no path out of the folder.
    #[cfg(unix)]
    assert_eq!(
        suite.database("postgres:x", None, ENGINES).unwrap().scheme().as_deref(),
        Some("postgres")
    );
    place.file("postgres:x.sqlite", "x");
    assert_eq!(
        suite.database("postgres:x", None, ENGINES).unwrap().path(),
        place.path("postgres:x.sqlite")
    );
    assert!(matches!(
        suite.database("sqlite:/etc/passwd", None, ENGINES),
        Err(Unresolved::Outside { .. })
    ));
}

#[test]
fn databases_are_found_as_published_suites_lay_them_out() {
    let place = Home::new();
    let suite = place.read(GOOD).unwrap();
    let found = |db: &str| {
        suite
            .database(db, None, ENGINES)
            .map(|url| url.path().strip_prefix(place.0.path()).unwrap().to_owned())
    };
    // Each is preferred to those before it.
    for path in [
        "shop/shop.sqlite",
        "dev_databases/shop/shop.sqlite",
        "databases/shop/shop.sqlite",
        "database/shop/shop.sqlite",
        "databases/shop.sqlite",
        "db/shop.db",
        "db/shop.sqlite",
        "shop.sqlite3",
        "shop.db",
        "shop.sqlite",
    ] {
        place.file(path, "x");
        assert_eq!(found("shop"), Ok(path.into()));
        assert_eq!(found(path), Ok(path.into()));
    }
    let missing = found("shpo").unwrap_err().to_string();
    assert_eq!(missing, format!("there is no database `shpo` in `{}`", place.0.path().display()));
    for outside in ["/etc/passwd", "../shop", "db/../../shop.sqlite"] {
        let message = found(outside).unwrap_err().to_string();
        assert_eq!(
            message,
            format!("`{outside}` leads out of the suite's folder, where a suite may open nothing")
        );
    }
    assert_eq!(found("").unwrap_err(), Unresolved::Unnamed);
}

#[test]
fn the_users_database_comes_first() {
    let place = Home::new();
    let suite = place.read(GOOD).unwrap();
    place.file("db/shop.sqlite", "x");
    let other = Home::new();
    let file = other.file("databases/shop/shop.sqlite", "x");
    let folder = &DatabaseUrl::from_path(other.0.path());
    let file = DatabaseUrl::from_path(&file);
    assert_eq!(suite.database("shop", Some(folder), ENGINES), Ok(file.clone()));
    assert_eq!(suite.database("anything", Some(&file), ENGINES), Ok(file.clone()));
    assert_eq!(suite.database("", Some(&file), ENGINES), Ok(file));
    assert!(matches!(
        suite.database("../x", Some(folder), ENGINES),
        Err(Unresolved::Outside { .. })
    ));
    fs::remove_dir_all(other.path("databases")).unwrap();
    assert_eq!(
        suite.database("shop", Some(folder), ENGINES),
        Ok(DatabaseUrl::from_path(&place.path("db/shop.sqlite")))
    );
    let said = suite.database("shpo", Some(folder), ENGINES).unwrap_err().to_string();
    assert!(said.contains(" and "), "{said}");
    assert!(matches!(
        suite.database("shop", Some(&DatabaseUrl::from_path(&other.path("none"))), ENGINES),
        Err(Unresolved::NotThere { .. })
    ));
}

#[test]
fn all_missing_databases_are_reported_at_once() {
    let place = Home::new();
    place.file("there.sqlite", "x");
    fn line(id: usize, db: &str) -> String {
        json!({"id": format!("q{id}"), "db": db, "question": "?", "gold_sql": "SELECT 1"})
            .to_string()
            + "\n"
    }
    let names = ["gone", "there", "gone", "../secret", "gone"];
    let suite = place
        .read(names.iter().enumerate().map(|(id, db)| line(id, db)).collect::<String>())
        .unwrap();
    let message = suite
        .databases(None, ENGINES)
        .unwrap_err()
        .to_string()
        .replace(&place.0.path().display().to_string(), "FOLDER");
    assert_eq!(
        message,
        "2 databases are missing:\nthere is no database `gone` in `FOLDER`; 3 questions need it, \
         the first is `q0`\n\
         `../secret` leads out of the suite's folder, where a suite may open nothing; `q3` needs it"
    );
    let none =
        suite.databases(Some(&DatabaseUrl::parse("none.sqlite")), ENGINES).unwrap_err().to_string();
    assert_eq!(none, "`none.sqlite` does not exist; 5 questions need it, the first is `q0`");
    let given = DatabaseUrl::from_path(&place.path("there.sqlite"));
    let all = suite.databases(Some(&given), ENGINES).unwrap();
    assert_eq!(all.values().collect::<Vec<_>>(), [&given; 3]);
}
