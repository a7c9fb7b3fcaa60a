//! `optimize` through the binary: what it prints, what it sends and when it asks before, how it
//! ends, and runs over corpora that are killed.

mod corpus;
mod endings;
mod kills;
mod reports;
mod resumed;
mod sent;
#[cfg(unix)]
mod server;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, scratch, sqlite};
use tempfile::TempDir;

use crate::bad_input::{assert_refused, finish, read_streams};
use crate::{host, lives_in};

/// A statement that counts the orders of each customer by reading all orders for each of them.
pub(super) const SLOW: &str = "SELECT c.id, (SELECT count(*) FROM orders AS o \
                               WHERE o.customer_id = c.id) AS n FROM customers AS c";

/// The same rows, by reading the orders once.
pub(super) const FAST: &str = "SELECT c.id, coalesce(g.n, 0) AS n FROM customers AS c LEFT JOIN \
     (SELECT o.customer_id, count(*) AS n FROM orders AS o GROUP BY o.customer_id) AS g ON \
     g.customer_id = c.id";

/// A folder with a home of its own, and a database in which [`SLOW`] takes some hundredths of a
/// second.
pub(super) struct Slow(TempDir);

impl Slow {
    pub(super) fn new() -> Self {
        Self::with_rows(100, 5_000)
    }

    /// So many customers, of whom ten have no order, and so many orders.
    pub(super) fn with_rows(customers: u32, orders: u32) -> Self {
        let folder = scratch();
        let script = format!(
            "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
             CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, total \
               INTEGER NOT NULL);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {customers})
                 INSERT INTO customers SELECT i, 'customer ' || i FROM n;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {orders})
                 INSERT INTO orders SELECT i, 1 + i * 7919 % {with}, i * 31 % 1000 FROM n;",
            with = customers - 10,
        );
        sqlite(folder.path().join("slow.sqlite"), &script);
        Self(folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// The program in the folder, with these words, split at spaces.
    pub(super) fn words(&self, words: &str) -> Command {
        let mut command = host();
        std::fs::create_dir_all(self.path().join("home")).unwrap();
        lives_in(&mut command, &self.path().join("home"))
            .current_dir(self.path())
            .args(words.split_whitespace());
        command
    }

    /// `optimize` of a statement.
    pub(super) fn optimize(&self, sql: &str, words: &str) -> Command {
        let mut command = self.words("optimize --db slow.sqlite --min-gain-ms 1");
        command.args(words.split_whitespace()).arg(sql);
        command
    }

    /// The same with the proposals of a model.
    pub(super) fn by_model(&self, endpoint: &MockEndpoint, sql: &str, words: &str) -> Command {
        let mut command = self.optimize(sql, words);
        command.args([
            "--rewriter",
            "model",
            "--llm",
            "openai",
            "--model",
            "m",
            "--base-url",
            &endpoint.url(),
        ]);
        command
    }

    /// The rows of a statement.
    pub(super) fn rows(&self, sql: &str) -> Value {
        let output = finish(self.words("sql --db slow.sqlite --format json").arg(sql), "");
        let (stdout, stderr) = read_streams(&output);
        serde_json::from_str::<Value>(&stdout)
            .unwrap_or_else(|error| panic!("{error}\n{stdout}\n{stderr}"))["rows"]
            .take()
    }
}

/// A model that proposes this statement whenever it is asked.
pub(super) fn proposes(sql: &str) -> MockEndpoint {
    let reply =
        json!({"optimized_sql": sql, "explanation": "reads the orders once", "unchanged": false});
    MockEndpoint::start(Script::always(Reply::json(&reply)))
}

/// The document of a command that ends with that code.
pub(super) fn document(command: &mut Command, code: i32) -> Value {
    let output = finish(command.args(["--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{stdout}\n{stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}\n{stdout}\n{stderr}"))
}

#[test]
fn the_rules_find_an_equal_and_faster_statement() {
    let slow = Slow::new();
    let output = finish(&mut slow.optimize(SLOW, ""), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    assert_ne!(stdout.trim(), SLOW, "{stderr}");
    assert!(
        stderr.contains(" × faster (")
            && stderr.contains("equal on 100 rows and on 6 changed copies"),
        "{stderr}"
    );
    assert!(stderr.contains("accepted"), "{stderr}");
    // Standard output has the statement and nothing else: it runs as it stands there.
    assert_eq!(slow.rows(&stdout), slow.rows(SLOW));
}

#[test]
fn the_statement_may_be_a_file_or_standard_input_and_goes_to_a_file() {
    let slow = Slow::new();
    slow.file("slow.sql", &format!("{SLOW} -- of each customer\n"));
    let output = finish(&mut slow.optimize("slow.sql", "-o best.sql"), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stdout.as_str()), (Some(0), ""), "{stderr}");
    let best = std::fs::read_to_string(slow.path().join("best.sql")).unwrap();
    assert_eq!(slow.rows(&best), slow.rows(SLOW));
    let output = finish(&mut slow.optimize("-", "--iterations 1"), SLOW);
    assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
    assert_refused(&mut slow.optimize("slow.sql", "-o slow.sql"), 2, &["is the statement"]);
}

#[test]
fn the_document_has_everything() {
    let slow = Slow::new();
    let endpoint = proposes(FAST);
    let found = document(
        &mut slow.by_model(&endpoint, SLOW, "--accept-data-sent --iterations 1 --pairs 9"),
        0,
    );
    assert_eq!(
        (&found["schema"], &found["outcome"]),
        (&json!("syrch.optimize/1"), &json!("OPTIMIZED"))
    );
    assert_eq!(found["given"], json!(SLOW));
    let iteration = &found["iterations"][0];
    assert_eq!((&iteration["rows"], &iteration["copies"]), (&json!(100), &json!(6)));
    assert_eq!(
        (&iteration["state"], &iteration["reason"]),
        (&json!("KEPT"), &json!("reads the orders once"))
    );
    assert!(found["plans"]["before"]["text"].as_str().unwrap().contains("SCAN"), "{found:#}");
    assert!(found["plans"]["after"]["text"].is_string(), "{found:#}");
    assert!(found["confirmation"]["ratio"].as_f64().unwrap() > 1.0, "{found:#}");
    let pairs = found["confirmation"]["pairs"].as_array().unwrap().len();
    assert!((3..=9).contains(&pairs), "{found:#}");
    // Nothing of where the database and the model are.
    let run = found["run"].as_str().unwrap();
    let journal = slow.path().join(format!("home/.local/state/syrch/runs/{run}.jsonl"));
    let journal = std::fs::read_to_string(&journal)
        .unwrap_or_else(|error| panic!("{}: {error}", journal.display()));
    assert!(!journal.contains("slow.sqlite") && !journal.contains(&endpoint.url()), "{journal}");
    // It is one document: what the journal records is what was printed, and so is what a replay
    // prints.
    let recorded =
        journal.lines().last().map(|line| serde_json::from_str::<Value>(line).unwrap()).unwrap();
    assert_eq!(recorded["fact"]["document"], found, "{recorded:#}");
    assert_eq!(document(slow.words("trace replay --strict").arg(run), 0), found);
}

/// The copies that a killed run has left are removed by the next one.
#[test]
fn copies_of_a_killed_run_are_removed() {
    let slow = Slow::new();
    let temporary = slow.path().join("tmp");
    let [left, used, other] =
        ["syrch-copies-9-0-a", "syrch-copies-9-1-b", "copies"].map(|name| temporary.join(name));
    let [_, lock, _] = [&left, &used, &other].map(|folder| {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("0.sqlite"), "rows").unwrap();
        std::fs::File::create(folder.join("lock")).unwrap()
    });
    lock.lock().unwrap();
    let output = finish(slow.optimize(SLOW, "").env("TMPDIR", &temporary), "");
    assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
    let mut names: Vec<_> =
        std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert_eq!(names, [other, used]);
}

#[test]
fn nothing_faster_leaves_the_statement_as_it_is() {
    let slow = Slow::new();
    let endpoint = MockEndpoint::start(Script::always(Reply::json(
        &json!({"optimized_sql": "", "explanation": "it is as fast as can be", "unchanged": true}),
    )));
    let output = finish(&mut slow.by_model(&endpoint, SLOW, "--accept-data-sent"), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("unchanged"), "{stderr}");
    assert_eq!(slow.rows(&stdout), slow.rows(SLOW));
}

#[test]
fn other_rows_are_never_accepted() {
    let slow = Slow::new();
    // Right but for the customers without an order.
    let endpoint = proposes(&FAST.replace("LEFT JOIN", "JOIN"));
    let mut command = slow.by_model(&endpoint, SLOW, "--accept-data-sent --iterations 2");
    let output = finish(&mut command, "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("other rows"), "{stderr}");
    assert_eq!(slow.rows(&stdout), slow.rows(SLOW));
}

#[test]
fn refused_statements_name_rule_and_word() {
    let slow = Slow::new();
    for (sql, word) in [
        ("SELECT id FROM orders LIMIT 3", "limit: `LIMIT`"),
        ("SELECT random() FROM orders", "random"),
        ("DELETE FROM orders", "read-only"),
        ("CREATE TABLE x(y)", "read-only"),
        ("SELECT id FROM orders; SELECT id FROM orders", "single-statement"),
        ("SELECT id FROM nothing", "nothing"),
        ("no statement at all", "no"),
    ] {
        let output = finish(&mut slow.optimize(sql, ""), "");
        let (stdout, stderr) = read_streams(&output);
        assert_eq!(output.status.code(), Some(15), "{stderr}");
        assert_eq!(stdout.trim(), sql);
        assert!(stderr.contains(word) && stderr.contains("not supported"), "{stderr}");
    }
}

/// AR-33.
#[test]
fn check_says_what_is_supported() {
    let slow = Slow::new();
    slow.file("a.sql", SLOW);
    let mut command = slow.words("optimize check --db slow.sqlite a.sql");
    let found = document(command.arg("SELECT id FROM orders LIMIT 3"), 0);
    assert_eq!(
        (&found["schema"], &found["supported"], &found["of"]),
        (&json!("syrch.optimize-check/1"), &json!(1), &json!(2))
    );
    assert_eq!(found["share"], json!(0.5));
    assert_eq!(found["statements"][0]["supported"], json!(true));
    let refused = &found["statements"][1];
    assert!(
        refused["rule"].is_string() && refused["reason"].as_str().unwrap().contains("LIMIT"),
        "{refused}"
    );
    let output = finish(&mut slow.words("optimize check --db slow.sqlite a.sql"), "");
    let (_, stderr) = read_streams(&output);
    assert!(
        stderr.contains("1 of 1 statements are supported (100 %)") && !stderr.contains("warning"),
        "{stderr}"
    );
    let output = finish(
        slow.words("optimize check --db slow.sqlite").arg("SELECT id FROM orders LIMIT 3"),
        "",
    );
    assert!(
        read_streams(&output).1.contains("warning: fewer than 60 % are supported"),
        "{}",
        read_streams(&output).1
    );
}

#[test]
fn wrong_input_is_reported_before_any_work() {
    let slow = Slow::new();
    assert_refused(&mut slow.words("optimize --db slow.sqlite"), 2, &["no statement"]);
    assert_refused(&mut slow.optimize("missing.sql", ""), 2, &["missing.sql"]);
    assert_refused(&mut slow.words("optimize"), 2, &["no statement"]);
    assert_refused(slow.words("optimize").arg(SLOW), 2, &["no database"]);
    assert_refused(slow.words("optimize --db none.sqlite").arg(SLOW), 11, &["none.sqlite"]);
    assert_refused(&mut slow.optimize(SLOW, "--rewriter rulez"), 13, &["rulez"]);
    assert_refused(&mut slow.optimize(SLOW, "--rewriter none.wasm"), 13, &["none.wasm"]);
    assert_refused(&mut slow.optimize(SLOW, "--rewriter consistency"), 13, &["rewriter"]);
    assert_refused(&mut slow.optimize("  ", ""), 2, &["the statement is empty"]);
    assert_refused(
        &mut slow.words("optimize --db slow.sqlite check x"),
        2,
        &["--db", "after the command"],
    );
    assert_refused(&mut slow.optimize(SLOW, "--report x.csv"), 2, &[".json, .md or .html"]);
    for flag in ["--min-gain 100%", "--min-gain ten", "--pairs 2", "--iterations 0", "--copies 101"]
    {
        let output = finish(&mut slow.optimize(SLOW, flag), "");
        assert_eq!(output.status.code(), Some(2), "{flag}: {}", read_streams(&output).1);
    }
}

#[test]
fn a_locked_database_ends_the_work_in_time() {
    let slow = Slow::new();
    let writer = rusqlite::Connection::open(slow.path().join("slow.sqlite")).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE; UPDATE orders SET total = 0").unwrap();
    let started = std::time::Instant::now();
    let output = finish(&mut slow.optimize(SLOW, ""), "");
    assert_eq!(output.status.code(), Some(11), "{}", read_streams(&output).1);
    assert!(
        read_streams(&output).1.contains("lock") && started.elapsed().as_secs() < 30,
        "{}",
        read_streams(&output).1
    );
}

#[test]
fn the_help_is_as_it_was() {
    let slow = Slow::new();
    for (words, snapshot) in [
        ("optimize corpus --help", include_str!("snapshots/help-optimize-corpus.txt")),
        ("optimize check --help", include_str!("snapshots/help-optimize-check.txt")),
    ] {
        let output = finish(&mut slow.words(words), "");
        let (stdout, _) = read_streams(&output);
        assert_eq!(output.status.code(), Some(0));
        // The options of every command follow.
        let head = stdout.split("\nOptions:\n").next().unwrap();
        assert_eq!(head, snapshot, "{head}");
    }
    let (stdout, _) = read_streams(&finish(&mut slow.words("optimise --help"), ""));
    for flag in [
        "--rewriter",
        "--iterations",
        "--min-gain ",
        "--min-gain-ms",
        "--early-stop",
        "--copies",
        "--pairs",
        "--accept-data-sent",
        "--quiescent-db",
        "--dry-run",
        "--report",
        "--db",
        "--llm",
        "[default: 10%]",
    ] {
        assert!(stdout.contains(flag), "{flag}: {stdout}");
    }
}
