//! Tests of what searches know besides the catalog: the index of business terms, vectors, notes and
//! solved examples.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use syrch_kit::{HANGS, MockEndpoint, Reply, Script, sqlite};
use tempfile::TempDir;

use crate::endpoint::{Said, search};
use crate::host;

/// A folder with a database whose names say little, and a state and a cache of its own.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(syrch_kit::scratch());
        sqlite(
            place.path().join("books.sqlite"),
            "CREATE TABLE t_ord(id INTEGER PRIMARY KEY, amt REAL, cst INTEGER);
             CREATE TABLE t_cst(id INTEGER PRIMARY KEY, nm TEXT);
             CREATE TABLE t_whs(id INTEGER PRIMARY KEY, lc TEXT);
             INSERT INTO t_ord VALUES (1, 10.5, 1), (2, 20.0, 1);",
        );
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn with_folders(&self, mut command: Command) -> Command {
        command.env_remove("SYRCH_CACHE").env("SYRCH_CACHE_DIR", self.path().join("cache"));
        command.env("SYRCH_STATE_DIR", self.path().join("state"));
        command
    }

    /// Runs `build-index` over the database.
    fn build(&self, endpoint: &MockEndpoint, flags: &[&str]) -> Said {
        let mut command = self.with_folders(host());
        command.env("SYRCH_API_KEY", crate::endpoint::KEY).arg("build-index");
        command.args([
            "--llm",
            "openai",
            "--model",
            "mock",
            "--base-url",
            &endpoint.url(),
            "--format",
            "json",
        ]);
        Said::from_output(
            command.arg("--db").arg(self.path().join("books.sqlite")).args(flags).output().unwrap(),
        )
    }

    fn ask(&self, endpoint: &MockEndpoint, flags: &[&str]) -> Said {
        let mut command =
            self.with_folders(search(&endpoint.url(), &self.path().join("books.sqlite")));
        Said::from_output(command.args(["--format", "json"]).args(flags).output().unwrap())
    }
}

/// A model that knows what people call things.
fn knowing() -> Script {
    let terms = |table: &str, column: &str, term: &str| {
        Reply::json(&json!({"table": [table], "columns": [{"column": column, "terms": [term]}]}))
    };
    Script::new()
        .on(
            ["You know how people in business", "Table t_ord"],
            terms("purchases", "amt", "net revenue, turnover"),
        )
        .on(["You know how people in business", "Table t_cst"], terms("buyers", "nm", "full name"))
        .on(["You know how people in business", "Table t_whs"], terms("depots", "lc", "place"))
}

#[test]
fn an_index_is_built_once() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(knowing());
    let built = place.build(&endpoint, &["--embeddings", "mock-embed"]).document(0);
    assert_eq!((&built["schema"], &built["tables"]), (&json!("syrch.index/1"), &json!(3)));
    // Three tables and a column of each are named; the amount has two names.
    assert_eq!((&built["named"], &built["terms"]), (&json!(6), &json!(7)));
    // Three tables and seven columns.
    assert_eq!(built["vectors"], json!(10));
    let asked = endpoint.requests();
    assert_eq!(asked.iter().filter(|request| request.path == "/v1/chat/completions").count(), 3);
    let embedded: Vec<_> =
        asked.iter().filter(|request| request.path == "/v1/embeddings").collect();
    assert_eq!((embedded.len(), &embedded[0].body["model"]), (1, &json!("mock-embed")));
    assert!(embedded[0].prompt().contains("net revenue"), "{}", embedded[0].prompt());
    assert_eq!(built["cost"], json!({"calls": 4, "cached": 0}));

    let again = place.build(&endpoint, &["--embeddings", "mock-embed"]).document(0);
    assert_eq!(again["cost"], json!({"calls": 0, "cached": 4}));
    assert_eq!(endpoint.count(), 4);
}

#[test]
fn vectors_alone_need_no_language_model_and_leave_the_terms_as_they_are() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(knowing());
    let refused = place.build(&endpoint, &["--vectors-only"]);
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(refused.stderr.contains("--embeddings"), "{}", refused.all());
    let flags = ["--vectors-only", "--embeddings", "mock-embed"];
    let built = place.build(&endpoint, &flags).document(0);
    assert_eq!((&built["named"], &built["vectors"]), (&json!(0), &json!(10)), "{built}");
    assert!(endpoint.requests().iter().all(|request| request.path == "/v1/embeddings"));
    place.build(&endpoint, &[]).document(0);
    let again = place.build(&endpoint, &flags).document(0);
    assert_eq!((&again["terms"], &again["vectors"]), (&json!(7), &json!(10)), "{again}");
}

#[test]
fn questions_and_what_is_searched_have_prefixes_of_their_own() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(knowing());
    many_tables(&place);
    let config = place.path().join("e5.yml");
    let prefixes = "llm:\n  embedding_prefixes:\n    query: 'query: '\n    document: 'passage: '\n";
    fs::write(&config, prefixes).unwrap();
    let config = ["--config", config.to_str().unwrap(), "--embeddings", "mock-embed"];
    place.build(&endpoint, &[&config[..], &["--vectors-only"]].concat()).document(0);
    let built = endpoint.requests();
    assert!(
        built
            .iter()
            .all(|request| request.prompt().lines().all(|line| line.starts_with("passage: ")))
    );
    let narrow = ["-q", "net revenue", "-P", "linker.catalog_bytes=500"];
    place.ask(&endpoint, &[&config[..], &narrow].concat());
    let asked = endpoint.requests();
    let embedded: Vec<_> =
        asked[built.len()..].iter().filter(|request| request.path == "/v1/embeddings").collect();
    assert!(!embedded.is_empty());
    for request in embedded {
        assert!(request.prompt().starts_with("query: "), "{}", request.prompt());
    }
}

#[test]
fn an_incomplete_index_is_saved_and_the_next_build_names_the_rest() {
    let script = Script::new().once(["Table t_cst"], Reply::text("I would rather not."));
    let script =
        script.on(["Table t_ord"], Reply::json(&json!({"table": ["purchases"], "columns": []})));
    let script = script.on(["You know"], Reply::json(&json!({"table": ["things"], "columns": []})));
    let place = Place::new();
    let endpoint = MockEndpoint::start(script);
    let said = place.build(&endpoint, &[]);
    assert_eq!(said.code, 12, "{}", said.all());
    for part in ["table t_cst has no terms", "the index is incomplete", "run build-index again"] {
        assert!(said.stderr.contains(part), "{part}: {}", said.all());
    }
    let sent = endpoint.count();
    let again = place.build(&endpoint, &[]).document(0);
    assert_eq!((&again["named"], endpoint.count() - sent), (&json!(3), 1), "{again}");
}

#[test]
fn an_index_needs_a_model_and_embeddings_an_endpoint_that_makes_them() {
    let place = Place::new();
    let run = |flags: &[&str]| {
        let mut command = place.with_folders(host());
        Said::from_output(
            command
                .arg("build-index")
                .arg("--db")
                .arg(place.path().join("books.sqlite"))
                .args(flags)
                .output()
                .unwrap(),
        )
    };
    let offline = run(&["--llm", "offline"]);
    assert_eq!(offline.code, 12, "{}", offline.all());
    assert!(offline.stderr.contains("an index needs a language model"), "{}", offline.all());
    assert!(offline.stderr.contains("name a model by --model"), "{}", offline.all());
    let rules = run(&["--llm", "offline", "--embeddings", "e"]);
    assert_eq!(rules.code, 10, "{}", rules.all());
    assert!(rules.stderr.contains("cannot make embeddings"), "{}", rules.all());
    let nothing = Said::from_output(host().arg("build-index").output().unwrap());
    assert_eq!(nothing.code, 2, "{}", nothing.all());
}

#[test]
fn notes_and_examples_that_cannot_be_read_are_reported_by_line() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::new());
    let notes = place.path().join("notes.txt");
    fs::write(&notes, "amt is in cents\n{\"nota\": 1}\n").unwrap();
    for (flag, path, part) in
        [("--notes", notes.to_str().unwrap(), "line 2"), ("--examples", "none.jsonl", "none.jsonl")]
    {
        let said = place.ask(&endpoint, &["-q", "How much?", flag, path]);
        assert_eq!(said.code, 10, "{}", said.all());
        assert!(said.stderr.contains(part), "{}", said.all());
    }
    assert_eq!(endpoint.count(), 0);
}

/// A database of more tables than `narrow` leaves as they are when it is given 500 bytes.
fn many_tables(place: &Place) {
    let tables: String = (0..40)
        .map(|n| {
            format!(
                "CREATE TABLE part_{n:02}(id INTEGER PRIMARY KEY, amount_{n} REAL, label_{n} TEXT, \
                 place_{n} TEXT);"
            )
        })
        .collect();
    sqlite(place.path().join("books.sqlite"), &tables);
}

#[test]
fn a_search_asks_for_the_vector_of_its_question_alone_and_only_beside_an_index() {
    let place = Place::new();
    many_tables(&place);
    let script = Script::new()
        .on(
            ["You know how people in business"],
            Reply::json(&json!({"table": ["things"], "columns": []})),
        )
        .on(["You plan how to answer"], Reply::json(&json!({"subtasks": []})))
        .on(
            ["You answer questions with one"],
            Reply::sql("SELECT COUNT(*) AS n FROM part_07", 0.9),
        );
    let endpoint = MockEndpoint::start(script);
    let embedded = |from: usize| -> Vec<Vec<String>> {
        let requests = endpoint.requests();
        let vectors = requests[from..].iter().filter(|request| request.path == "/v1/embeddings");
        vectors
            .map(|request| serde_json::from_value(request.body["input"].clone()).unwrap())
            .collect()
    };
    let flags = [
        "-q",
        "What is the amount of part 07?",
        "--embeddings",
        "e",
        "-P",
        "linker.catalog_bytes=500",
    ];
    let said = place.ask(&endpoint, &flags);
    assert_eq!(embedded(0), Vec::<Vec<String>>::new(), "a search must not embed a whole schema");
    let idle = "nothing is searched by the vectors of `e`: there are none of the schema of `books`";
    assert!(said.stderr.contains(idle) && said.stderr.contains("build-index"), "{}", said.all());
    said.document(0);

    let built = place.build(&endpoint, &["--embeddings", "e"]);
    assert!(!built.stderr.contains("nothing is searched"), "{}", built.all());
    assert_eq!(built.document(0)["vectors"], json!(200));
    let before = endpoint.count();
    let said = place.ask(&endpoint, &flags);
    assert!(!said.stderr.contains("nothing is searched"), "{}", said.all());
    let document = said.document(0);
    assert_eq!(embedded(before), [["What is the amount of part 07?"]], "{document:#}");
    assert_eq!(document["cost"]["by_purpose"]["embed"]["calls"], json!(1));

    // A model whose vectors are of another length is detected, and the search continues without
    // them.
    let index =
        fs::read_dir(place.path().join("state/index")).unwrap().next().unwrap().unwrap().path();
    let mut saved: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    for vector in saved["vectors"].as_object_mut().unwrap().values_mut() {
        *vector = json!("AACAPw==");
    }
    fs::write(&index, saved.to_string()).unwrap();
    let said = place.ask(&endpoint, &[&flags[..], &["--no-cache"]].concat());
    assert!(said.stderr.contains("run build-index again"), "{}", said.all());
    said.document(0);
}

#[test]
fn notes_and_examples_without_a_line_are_reported() {
    let place = Place::new();
    let script = Script::new()
        .on(["You plan how to answer"], Reply::json(&json!({"subtasks": []})))
        .on(["You answer questions with one"], Reply::sql("SELECT COUNT(*) AS n FROM t_ord", 0.9));
    let endpoint = MockEndpoint::start(script);
    for (flag, name, what, line) in [
        ("--notes", "notes.txt", "notes", "amounts are in cents"),
        (
            "--examples",
            "examples.jsonl",
            "solved examples",
            "{\"question\": \"How many?\", \"sql\": \"SELECT 1\"}",
        ),
    ] {
        let path = place.path().join(name);
        let path = path.to_str().unwrap();
        let warning = format!("the {what} of `{path}` are not used: there are none in it");
        fs::write(path, " \n\n").unwrap();
        let said = place.ask(&endpoint, &["-q", "How many orders?", flag, path]);
        assert!(said.stderr.contains(&warning), "{}", said.all());
        said.document(0);
        fs::write(path, line).unwrap();
        let said = place.ask(&endpoint, &["-q", "How many orders?", flag, path]);
        assert!(!said.stderr.contains("are not used"), "{}", said.all());
        said.document(0);
    }
}

#[test]
fn a_search_goes_on_without_embeddings_that_hang_and_repeats_so() {
    let place = Place::new();
    many_tables(&place);
    let script = Script::new()
        .on(
            ["You know how people in business"],
            Reply::json(&json!({"table": ["things"], "columns": []})),
        )
        .on(["You plan how to answer"], Reply::json(&json!({"subtasks": []})))
        .on(
            ["You answer questions with one"],
            Reply::sql("SELECT COUNT(*) AS n FROM part_07", 0.9),
        );
    let endpoint = MockEndpoint::start(script);
    place.build(&endpoint, &["--embeddings", "e"]).document(0);
    let index =
        fs::read_dir(place.path().join("state/index")).unwrap().next().unwrap().unwrap().path();
    let mut saved: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    saved["model"] = json!(HANGS);
    fs::write(&index, saved.to_string()).unwrap();

    let question = "What is the amount of part 07?";
    let begin = Instant::now();
    let said = place
        .ask(&endpoint, &["-q", question, "--embeddings", HANGS, "-P", "linker.catalog_bytes=500"]);
    // One try of one call may take 120 s, and there are three.
    assert!(begin.elapsed() < Duration::from_secs(100), "{:?}", begin.elapsed());
    let document = said.document(0);
    assert_eq!(document["answer"]["row_count"], json!(1), "{document:#}");
    let warning = "the search went on without the retriever `vector`, which took longer than 10 s";
    assert_eq!(document["warnings"], json!([warning]));
    assert!(said.stderr.contains(warning), "{}", said.all());
    let asked = endpoint.requests().iter().filter(|request| request.body["model"] == HANGS).count();
    assert_eq!(asked, 1, "a retriever that is given up is not asked again");

    let mut replay = place.with_folders(host());
    let replay =
        replay.args(["--format", "json", "trace", "replay", "last", "--strict"]).output().unwrap();
    assert_eq!(Said::from_output(replay).document(0), document);
}

/// The example shop, with more words than a snippet has.
fn shop(place: &Place) {
    let rows: String = (1..=40)
        .map(|n| format!("({n}, 'c{n}', 'Germany', '2024-01-{:02}'),", 1 + n % 28))
        .collect();
    let script = format!(
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT, since TEXT);
         INSERT INTO customers VALUES {rows} (41, 'z', 'Spain', '2023-05-01');"
    );
    sqlite(place.path().join("books.sqlite"), &script);
}

#[test]
fn solved_examples_are_whole_turns_before_the_question() {
    let place = Place::new();
    shop(&place);
    let right = Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.95);
    let endpoint = MockEndpoint::start(Script::new().on(["You answer questions with one"], right));
    let long = format!(
        "SELECT name FROM customers WHERE country = 'Spain' AND name NOT IN ('{}')",
        "x".repeat(266)
    );
    let lines = [
        json!({"question": "How many customers live in Spain?", "sql": long}),
        json!({"question": "Which day has most orders?", "sql": "SELECT 1"}),
        json!({
            "question": "How many customers live there?",
            "sql": format!("SELECT '{}'", "y".repeat(5_000))
        }),
    ];
    let examples = place.path().join("examples.jsonl");
    fs::write(&examples, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let flags = [
        "-q",
        "How many customers live in Germany?",
        "--strategy",
        "single",
        "--rows",
        "full",
        "--examples",
    ];
    place.ask(&endpoint, &[&flags[..], &[examples.to_str().unwrap()]].concat()).document(0);
    let messages = endpoint.requests()[0].body["messages"].as_array().unwrap().clone();
    let of = |role: &str| -> Vec<String> {
        let own = messages.iter().filter(|message| message["role"] == role);
        own.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of("assistant"), [format!("```sql\n{long}\n```\nConfidence: 0.95")]);
    let [example, asked] = &of("user")[..] else { panic!("{messages:?}") };
    assert_eq!(example, "Question: How many customers live in Spain?\n");
    assert!(asked.starts_with("Question: How many customers live in Germany?\n"), "{asked}");
    let [tables] = &of("system")[..] else { panic!("{messages:?}") };
    assert!(tables.contains("values of customers: country is 'Germany', 'Spain'"), "{tables}");
    assert!(tables.contains("since from '2023-05-01' to '2024-01-28'"), "{tables}");
    assert!(tables.contains("Table customers") && !asked.contains("Table customers"));
    assert!(!asked.contains("values of customers"), "{asked}");
    assert!(!messages.iter().any(|message| message["content"].as_str().unwrap().contains("yyy")));
    // Without the grant no cell stands in a prompt.
    place
        .ask(
            &endpoint,
            &[
                "-q",
                "How many customers live in Germany?",
                "--strategy",
                "single",
                "--rows",
                "none",
            ],
        )
        .document(0);
    assert!(!endpoint.requests().last().unwrap().prompt().contains("Spain"));
}

#[test]
fn the_statement_of_an_example_is_doubted_for_another_question() {
    let place = Place::new();
    shop(&place);
    let solved = "SELECT COUNT(*) AS n FROM customers WHERE country = 'Spain'";
    let examples = place.path().join("examples.jsonl");
    let line = json!({"question": "How many customers live in Spain?", "sql": solved});
    fs::write(&examples, line.to_string()).unwrap();
    let reply = Reply::sql(solved, 0.95);
    let endpoint = MockEndpoint::start(Script::new().on(["You answer questions with one"], reply));
    for (question, is_doubted) in [
        ("How many customers live in Germany?", true),
        ("What is the number of customers from Spain?", false),
    ] {
        let flags = ["--strategy", "single", "--rows", "full", "-q", question, "--examples"];
        let said = place.ask(&endpoint, &[&flags[..], &[examples.to_str().unwrap()]].concat());
        let document = said.document(0);
        let confidence = document["confidence"]["calibrated"].as_f64().unwrap();
        let is_warned = document["warnings"].to_string().contains("solved example");
        assert_eq!((confidence <= 0.5, is_warned), (is_doubted, is_doubted), "{document:#}");
    }
}

#[test]
fn a_count_of_a_value_that_does_not_exist_is_repaired_by_every_strategy_that_repairs() {
    fn count(country: &str) -> String {
        format!("SELECT COUNT(*) AS n FROM customers WHERE country = '{country}'")
    }
    for strategy in ["retry3", "decompose", "chase", "text2sql", "progressive"] {
        for (wrong, known) in [("GERMANY", true), ("Germani", true), ("GERMANY", false)] {
            let place = Place::new();
            shop(&place);
            let yes = "CORRECT: YES\nREASONING: it is right";
            let sql = |country: &str| match strategy {
                "text2sql" => Reply::text(format!("```yaml\nsql: |\n  {}\n```", count(country))),
                _ => Reply::sql(&count(country), 0.95),
            };
            let nearest = format!("country has no known value `{wrong}`; the nearest: `Germany`");
            let script = Script::new()
                .on(["CORRECT: YES` when all are YES"], Reply::text(yes))
                .on([nearest.as_str()], sql("Germany"))
                .on(["You plan how to answer"], Reply::json(&json!({"subtasks": []})))
                .on(["Table customers"], sql(wrong))
                .on(["customers"], sql(wrong));
            let endpoint = MockEndpoint::start(script);
            let rows = if known { "full" } else { "none" };
            let flags = [
                "-q",
                "How many customers live in Germany?",
                "--strategy",
                strategy,
                "--rows",
                rows,
            ];
            let said = place.ask(&endpoint, &flags);
            let seen = endpoint
                .requests()
                .iter()
                .any(|request| request.prompt().contains("no known value"));
            assert_eq!(seen, known, "{strategy} {wrong}: {}", said.all());
            if known {
                let document = said.document(0);
                assert_eq!(
                    document["answer"]["rows"],
                    json!([[40]]),
                    "{strategy} {wrong}: {document:#}"
                );
            }
        }
    }
}
