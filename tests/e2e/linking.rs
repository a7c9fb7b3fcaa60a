//! The linker `narrow` in whole searches: what prompts show of a large catalog, and by what its tables are found.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, sqlite};
use tempfile::TempDir;

use crate::endpoint::{KEY, PLAN, Said, WRITE, search, statements, whole};
use crate::host;

const QUESTION: &str = "How many orders did customers of the stores in Lyon place?";
const COUNT: &str = "SELECT COUNT(*) AS n FROM orders JOIN baskets ON orders.id = basket_order \
                     JOIN customers ON customers.id = basket_customer";
/// Characters that a prompt may have.
const PROMPT: usize = 6_000;

/// Customers, orders and what joins them, a table whose name says nothing, and 90 stores that the question also speaks of.
fn script() -> String {
    let mut script = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, placed TEXT, t_amt REAL);
        CREATE TABLE baskets(basket_customer INTEGER REFERENCES customers(id), basket_order INTEGER REFERENCES orders(id));
        CREATE TABLE t_xy(id INTEGER PRIMARY KEY, twn TEXT);
        INSERT INTO customers VALUES (1, 'Ada'); INSERT INTO orders VALUES (1, '2024-01-01', 5), (2, '2024-01-02', 6);
        INSERT INTO baskets VALUES (1, 1), (1, 2); INSERT INTO t_xy VALUES (1, 'Lyon');"
        .to_owned();
    for number in 0..90 {
        script += &format!(
            "CREATE TABLE stores_{number}(id INTEGER PRIMARY KEY, label TEXT, opened TEXT, area REAL, staff INTEGER);"
        );
    }
    script
}

/// A folder with that database and a state of its own.
struct Place {
    folder: TempDir,
    database: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = syrch_kit::scratch();
        let database = sqlite(folder.path().join("shop.sqlite"), &script());
        Self { folder, database }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn ask(&self, endpoint: &MockEndpoint, question: &str, flags: &[&str]) -> Value {
        let mut command = search(&endpoint.url(), &self.database);
        command.env("SYRCH_STATE_DIR", self.path().join("state")).env("SYRCH_CACHE_DIR", self.path().join("cache"));
        Said::of(command.args(["--format", "json", "-q", question]).args(flags).output().unwrap()).document(0)
    }
}

fn endpoint() -> MockEndpoint {
    MockEndpoint::start(Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(COUNT, 0.95)))
}

/// The prompt for the last statement.
fn last(endpoint: &MockEndpoint) -> String {
    statements(endpoint).last().unwrap().prompt()
}

#[test]
fn every_prompt_over_a_large_catalog_stays_short() {
    let (place, endpoint) = (Place::new(), endpoint());
    let document = place.ask(&endpoint, QUESTION, &["--linker", "narrow"]);
    assert_eq!(document["answer"]["rows"], json!([[2]]), "{document:#}");
    for request in endpoint.requests() {
        let prompt = request.prompt();
        assert!(prompt.chars().count() <= PROMPT, "{}", prompt.chars().count());
        for table in ["customers", "orders", "baskets"] {
            assert!(prompt.contains(&format!("Table {table}")), "{table} is missing in {prompt}");
        }
        assert!(prompt.contains("basket_order INTEGER -> orders.id"), "{prompt}");
    }
    let narrowed = endpoint.count();
    place.ask(&endpoint, QUESTION, &["--linker", "none"]);
    for request in &endpoint.requests()[narrowed..] {
        let prompt = request.prompt();
        assert!(prompt.chars().count() > PROMPT && prompt.contains("Table stores_89"), "{prompt}");
    }
}

#[test]
fn cells_lead_to_their_table_only_as_far_as_they_are_granted() {
    let (place, endpoint) = (Place::new(), endpoint());
    place.ask(&endpoint, QUESTION, &["--linker", "narrow", "--rows", "full"]);
    let granted = last(&endpoint);
    assert!(granted.contains("Table t_xy") && granted.contains("Hint: t_xy.twn: Lyon"), "{granted}");
    place.ask(&endpoint, QUESTION, &["--linker", "narrow", "--rows", "none"]);
    let denied = last(&endpoint);
    assert!(!denied.contains("Table t_xy") && !denied.contains("Hint"), "{denied}");
}

#[test]
fn business_terms_of_several_words_lead_to_their_table() {
    let question = "What was the net revenue of all stores?";
    let place = Place::new();
    let know = "You know how people in business";
    let names = |table: &str, columns: Value| Reply::json(&json!({ "table": [table], "columns": columns }));
    let terms = names("purchases", json!([{ "column": "t_amt", "terms": ["net revenue"] }]));
    let script = Script::new()
        .on([know, "Table orders"], terms)
        .on([know], names("thing", json!([])))
        .on([PLAN], whole())
        .on([WRITE], Reply::sql("SELECT SUM(t_amt) AS revenue FROM orders", 0.95));
    let endpoint = MockEndpoint::start(script);
    place.ask(&endpoint, question, &["--linker", "narrow"]);
    assert!(!last(&endpoint).contains("Table orders"), "{}", last(&endpoint));

    let mut build = host();
    build.env("SYRCH_API_KEY", KEY).args(["build-index", "--llm", "openai", "--model", "mock"]);
    build.args(["--base-url", &endpoint.url(), "--format", "json", "--db"]).arg(&place.database);
    build.env("SYRCH_STATE_DIR", place.path().join("state")).env("SYRCH_CACHE_DIR", place.path().join("cache"));
    Said::of(build.output().unwrap()).document(0);
    let document = place.ask(&endpoint, question, &["--linker", "narrow"]);
    let prompt = last(&endpoint);
    assert!(prompt.contains("Table orders") && prompt.chars().count() <= PROMPT, "{prompt}");
    assert_eq!(document["answer"]["rows"], json!([[11.0]]), "{document:#}");
}

#[test]
fn notes_lead_to_their_table_and_are_reported() {
    let (place, endpoint) = (Place::new(), endpoint());
    let notes = place.path().join("notes.jsonl");
    fs::write(&notes, "{\"note\": \"Lyon and all other places are rows here\", \"table\": \"t_xy\"}\n").unwrap();
    place.ask(&endpoint, QUESTION, &["--linker", "narrow", "--rows", "none", "--notes", notes.to_str().unwrap()]);
    let prompt = last(&endpoint);
    assert!(prompt.contains("Table t_xy") && prompt.contains("Lyon and all other places"), "{prompt}");
}

#[test]
fn a_strategy_file_sets_how_the_catalog_is_narrowed() {
    let place = Place::new();
    let file = place.path().join("by-keywords.yml");
    let linker = "{plugin: narrow, config: {keywords: true, catalog_bytes: 1200}}";
    fs::write(&file, format!("name: by-keywords\nroles: {{linker: {linker}}}\n")).unwrap();
    let script = Script::new()
        .on(["Give at most 16 keywords"], Reply::json(&json!({ "keywords": ["xy", "twn"] })))
        .on([PLAN], whole())
        .on([WRITE], Reply::sql(COUNT, 0.95));
    let endpoint = MockEndpoint::start(script);
    place.ask(&endpoint, QUESTION, &["--strategy", file.to_str().unwrap(), "--rows", "none"]);
    let first = endpoint.requests()[0].prompt();
    assert!(first.contains(QUESTION) && !first.contains("Table"), "{first}");
    let prompt = last(&endpoint);
    assert!(prompt.contains("Table t_xy") && prompt.chars().count() < 2_500, "{prompt}");
}
