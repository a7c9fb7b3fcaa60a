//! What searches know besides the catalog: the index of business terms, vectors, notes and solved examples.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use syrch_kit::{MockEndpoint, Reply, Script, sqlite};
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

    fn keeps(&self, mut command: Command) -> Command {
        command.env_remove("SYRCH_CACHE").env("SYRCH_CACHE_DIR", self.path().join("cache"));
        command.env("SYRCH_STATE_DIR", self.path().join("state"));
        command
    }

    /// `build-index` over the books.
    fn build(&self, endpoint: &MockEndpoint, flags: &[&str]) -> Said {
        let mut command = self.keeps(host());
        command.env("SYRCH_API_KEY", crate::endpoint::KEY).arg("build-index");
        command.args(["--llm", "openai", "--model", "mock", "--base-url", &endpoint.url(), "--format", "json"]);
        Said::of(command.arg("--db").arg(self.path().join("books.sqlite")).args(flags).output().unwrap())
    }

    fn ask(&self, endpoint: &MockEndpoint, flags: &[&str]) -> Said {
        let mut command = self.keeps(search(&endpoint.url(), &self.path().join("books.sqlite")));
        Said::of(command.args(["--format", "json"]).args(flags).output().unwrap())
    }
}

/// A model that knows what people call things.
fn knowing() -> Script {
    let terms = |table: &str, column: &str, term: &str| {
        Reply::json(&json!({"table": [table], "columns": [{"column": column, "terms": [term]}]}))
    };
    Script::new()
        .on(["You know how people in business", "Table t_ord"], terms("purchases", "amt", "net revenue, turnover"))
        .on(["You know how people in business", "Table t_cst"], terms("buyers", "nm", "full name"))
        .on(["You know how people in business", "Table t_whs"], terms("depots", "lc", "place"))
}

#[test]
fn an_index_is_built_once() {
    let (place, endpoint) = (Place::new(), MockEndpoint::start(knowing()));
    let built = place.build(&endpoint, &["--embeddings", "mock-embed"]).document(0);
    assert_eq!((&built["schema"], &built["tables"]), (&json!("syrch.index/1"), &json!(3)));
    // Three tables and a column of each are named; the amount has two names.
    assert_eq!((&built["named"], &built["terms"]), (&json!(6), &json!(7)));
    // Three tables and seven columns.
    assert_eq!(built["vectors"], json!(10));
    let asked = endpoint.requests();
    assert_eq!(asked.iter().filter(|request| request.path == "/v1/chat/completions").count(), 3);
    let embedded: Vec<_> = asked.iter().filter(|request| request.path == "/v1/embeddings").collect();
    assert_eq!((embedded.len(), &embedded[0].body["model"]), (1, &json!("mock-embed")));
    assert!(embedded[0].prompt().contains("net revenue"), "{}", embedded[0].prompt());
    assert_eq!(built["cost"], json!({"calls": 4, "cached": 0}));

    let again = place.build(&endpoint, &["--embeddings", "mock-embed"]).document(0);
    assert_eq!(again["cost"], json!({"calls": 0, "cached": 4}));
    assert_eq!(endpoint.count(), 4);
}

#[test]
fn half_an_index_is_kept_and_the_rest_is_named() {
    let script = Script::new().once(["Table t_cst"], Reply::text("I would rather not."));
    let script = script.on(["Table t_ord"], Reply::json(&json!({"table": ["purchases"], "columns": []})));
    let script = script.on(["You know"], Reply::json(&json!({"table": ["things"], "columns": []})));
    let (place, endpoint) = (Place::new(), MockEndpoint::start(script));
    let said = place.build(&endpoint, &[]);
    assert_eq!(said.code, 12, "{}", said.all());
    for part in ["table t_cst has no terms", "the index is not whole", "run build-index again"] {
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
        let mut command = place.keeps(host());
        Said::of(
            command.arg("build-index").arg("--db").arg(place.path().join("books.sqlite")).args(flags).output().unwrap(),
        )
    };
    let offline = run(&["--llm", "offline"]);
    assert_eq!(offline.code, 12, "{}", offline.all());
    assert!(offline.stderr.contains("an index needs a language model"), "{}", offline.all());
    assert!(offline.stderr.contains("name a model by --model"), "{}", offline.all());
    let rules = run(&["--llm", "offline", "--embeddings", "e"]);
    assert_eq!(rules.code, 10, "{}", rules.all());
    assert!(rules.stderr.contains("cannot make embeddings"), "{}", rules.all());
    let nothing = Said::of(host().arg("build-index").output().unwrap());
    assert_eq!(nothing.code, 2, "{}", nothing.all());
}

#[test]
fn notes_and_examples_that_cannot_be_read_are_told_by_line() {
    let (place, endpoint) = (Place::new(), MockEndpoint::start(Script::new()));
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
