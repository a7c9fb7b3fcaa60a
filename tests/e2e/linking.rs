//! The linker `narrow` in whole searches: what prompts show of a large catalog, and by what its
//! tables are found.

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

/// Customers, orders and what joins them, a table whose name says nothing, and 90 stores that the
/// question also speaks of.
fn script() -> String {
    let mut script = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, placed TEXT, t_amt REAL);
        CREATE TABLE baskets(basket_customer INTEGER REFERENCES customers(id), basket_order \
          INTEGER REFERENCES orders(id));
        CREATE TABLE t_xy(id INTEGER PRIMARY KEY, twn TEXT);
        INSERT INTO customers VALUES (1, 'Ada'); INSERT INTO orders VALUES (1, '2024-01-01', 5), \
          (2, '2024-01-02', 6);
        INSERT INTO baskets VALUES (1, 1), (1, 2); INSERT INTO t_xy VALUES (1, 'Lyon');"
        .to_owned();
    for number in 0..90 {
        script += &format!(
            "CREATE TABLE stores_{number}(id INTEGER PRIMARY KEY, label TEXT, opened TEXT, area \
             REAL, staff INTEGER);"
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
        command
            .env("SYRCH_STATE_DIR", self.path().join("state"))
            .env("SYRCH_CACHE_DIR", self.path().join("cache"));
        Said::from_output(
            command.args(["--format", "json", "-q", question]).args(flags).output().unwrap(),
        )
        .document(0)
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
    let place = Place::new();
    let endpoint = endpoint();
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
    let place = Place::new();
    let endpoint = endpoint();
    place.ask(&endpoint, QUESTION, &["--linker", "narrow", "--rows", "full"]);
    let granted = last(&endpoint);
    assert!(
        granted.contains("Table t_xy") && granted.contains("Hint: t_xy.twn: Lyon"),
        "{granted}"
    );
    place.ask(&endpoint, QUESTION, &["--linker", "narrow", "--rows", "none"]);
    let denied = last(&endpoint);
    assert!(!denied.contains("Table t_xy") && !denied.contains("Hint"), "{denied}");
}

#[test]
fn business_terms_of_several_words_lead_to_their_table() {
    let question = "What was the net revenue of all stores?";
    let place = Place::new();
    let know = "You know how people in business";
    let names =
        |table: &str, columns: Value| Reply::json(&json!({ "table": [table], "columns": columns }));
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
    build
        .env("SYRCH_STATE_DIR", place.path().join("state"))
        .env("SYRCH_CACHE_DIR", place.path().join("cache"));
    Said::from_output(build.output().unwrap()).document(0);
    let document = place.ask(&endpoint, question, &["--linker", "narrow"]);
    let prompt = last(&endpoint);
    assert!(prompt.contains("Table orders") && prompt.chars().count() <= PROMPT, "{prompt}");
    assert_eq!(document["answer"]["rows"], json!([[11.0]]), "{document:#}");
}

#[test]
fn notes_lead_to_their_table_and_are_reported() {
    let place = Place::new();
    let endpoint = endpoint();
    let notes = place.path().join("notes.jsonl");
    fs::write(
        &notes,
        "{\"note\": \"Lyon and all other places are rows here\", \"table\": \"t_xy\"}\n",
    )
    .unwrap();
    place.ask(
        &endpoint,
        QUESTION,
        &["--linker", "narrow", "--rows", "none", "--notes", notes.to_str().unwrap()],
    );
    let prompt = last(&endpoint);
    assert!(
        prompt.contains("Table t_xy") && prompt.contains("Lyon and all other places"),
        "{prompt}"
    );
}

#[test]
fn a_suite_says_what_linking_shows_and_misses() {
    let place = Place::new();
    let endpoint = endpoint();
    let suite = place.path().join("suite.jsonl");
    fn line(id: &str, question: &str, sql: &str) -> String {
        format!("{}\n", json!({"id": id, "db": "shop", "question": question, "gold_sql": sql}))
    }
    let lines = [
        line("found", QUESTION, COUNT),
        line(
            "missed",
            "How many stores are there?",
            "SELECT count(*) FROM t_xy WHERE twn = 'Lyon'",
        ),
        line("broken", "How many?", "SELECT id FROM nowhere"),
    ];
    fs::write(&suite, lines.concat()).unwrap();
    let run = |flags: &[&str]| {
        let mut command = host();
        command
            .env("SYRCH_API_KEY", KEY)
            .args(["suite", "linking"])
            .arg(&suite)
            .arg("--db")
            .arg(&place.database)
            .args(flags);
        Said::from_output(
            command
                .args(["--llm", "openai", "--model", "mock", "--base-url", &endpoint.url()])
                .output()
                .unwrap(),
        )
    };
    let report = run(&["--linker", "narrow", "--format", "json"]).document(0);
    assert_eq!(
        (&report["schema"], &report["questions"]),
        (&json!("syrch.linking/1"), &json!(2)),
        "{report:#}"
    );
    assert_eq!(report["unread"], json!(["broken"]));
    assert_eq!(
        (&report["tables"]["needed"], &report["tables"]["both"]),
        (&json!(4), &json!(3)),
        "{report:#}"
    );
    let missed = &report["missed"][0];
    assert_eq!(
        (&missed["id"], &missed["tables"]),
        (&json!("missed"), &json!(["t_xy"])),
        "{report:#}"
    );
    assert_eq!(missed["literals"], json!(["Lyon"]), "{report:#}");
    let longest = report["prompt"]["longest"].as_u64().unwrap();
    assert!(longest > 500 && longest <= PROMPT as u64, "{report:#}");
    assert_eq!(endpoint.count(), 0);
    let shown = run(&["--linker", "none"]);
    for part in ["tables", "literals", "2 questions under", "1 left out"] {
        assert!(shown.all().contains(part), "{part}: {}", shown.all());
    }
    assert!(!shown.stdout.contains("t_xy,"), "{}", shown.all());
    // Without any question that counts there is nothing to say.
    fs::write(&suite, line("broken", "How many?", "SELECT id FROM nowhere")).unwrap();
    let refused = run(&[]);
    assert_eq!(refused.code, 10, "{}", refused.all());
    for part in ["no question of the suite counts", "`broken`", "nowhere", "suite lint"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.all());
    }
}

#[test]
fn questions_in_another_language_get_keywords_and_copies_stay_behind() {
    let place = Place::new();
    let copies = "CREATE TABLE stg_orders(id INTEGER, total REAL); CREATE TABLE orders_20240131(id \
                  INTEGER, total REAL);";
    sqlite(&place.database, &format!("{}{copies}", script()));
    let script = Script::new()
        .on(["Give at most 16 keywords"], Reply::json(&json!({ "keywords": ["orders"] })))
        .on([PLAN], whole())
        .on([WRITE], Reply::sql("SELECT count(*) FROM orders", 0.95));
    let endpoint = MockEndpoint::start(script);
    let asked = |question: &str| {
        place.ask(&endpoint, question, &["--linker", "narrow", "-P", "linker.catalog_bytes=900"]);
        let keywords = endpoint
            .requests()
            .iter()
            .any(|request| request.prompt().contains("Give at most 16 keywords"));
        (keywords, last(&endpoint))
    };
    let (keywords, prompt) = asked("How many orders are there?");
    assert!(!keywords && prompt.contains("Table orders"), "{prompt}");
    let at = |name: &str| prompt.find(&format!("Table {name}"));
    assert!(at("stg_orders").is_none_or(|copy| at("orders").unwrap() < copy), "{prompt}");
    let (keywords, prompt) = asked("Wie viele Bestellungen gibt es insgesamt?");
    assert!(keywords && prompt.contains("Table orders"), "{prompt}");
}

#[test]
fn a_strategy_file_sets_how_the_catalog_is_narrowed() {
    let place = Place::new();
    let file = place.path().join("by-keywords.yml");
    let linker = "{plugin: narrow, config: {keywords: always, catalog_bytes: 1200}}";
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

/// The turns before the question: what the user asked, and the statement that answered it.
fn turns(endpoint: &MockEndpoint) -> Vec<(String, String)> {
    let sent = statements(endpoint).pop().unwrap().body;
    let messages = sent["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    messages
        .windows(2)
        .filter(|pair: &&[Value]| pair[1]["role"] == "assistant")
        .map(|pair| (text(&pair[0]), text(&pair[1])))
        .collect()
}

#[test]
fn without_solved_examples_some_are_made_of_the_tables() {
    let folder = syrch_kit::scratch();
    let rows =
        "('Ada', 'France', 3.5), ('Bob', 'Spain', 4.5), ('Cy', 'France', 1.5), ('Di', 'Spain', 2)";
    let script = format!(
        "CREATE TABLE customers(name TEXT, country TEXT, rating REAL); INSERT INTO customers \
         VALUES {rows};
         CREATE TABLE orders(id INTEGER PRIMARY KEY, placed TEXT); INSERT INTO orders \
           VALUES (1, '2024-01-01');"
    );
    let database = sqlite(folder.path().join("shop.sqlite"), &script);
    let shown = |flags: &[&str]| {
        let script = Script::new()
            .on([PLAN], whole())
            .on([""], Reply::sql("SELECT COUNT(*) FROM orders", 0.95));
        let endpoint = MockEndpoint::start(script);
        let mut command = search(&endpoint.url(), &database);
        command
            .args(["--strategy", "single", "--format", "json", "-q", "How many orders are there?"])
            .args(flags);
        Said::from_output(command.output().unwrap()).document(0);
        turns(&endpoint)
    };
    let pair = |question: &str, sql: &str| {
        (format!("Question: {question}\n"), format!("```sql\n{sql}\n```\nConfidence: 0.95"))
    };
    let count = pair("How many orders are there?", "SELECT COUNT(*) FROM orders");
    let first = pair(
        "Which customers has the highest rating?",
        "SELECT name FROM customers ORDER BY rating DESC LIMIT 1",
    );
    let group = pair(
        "How many customers are there for each country?",
        "SELECT country, COUNT(*) FROM customers GROUP BY country",
    );
    let filter = pair(
        "What is the name of the customers whose country is France?",
        "SELECT name FROM customers WHERE country = 'France'",
    );
    assert_eq!(shown(&["--rows", "full"]), [count.clone(), first.clone(), group, filter]);
    // Without a grant of rows there is no cell to filter by.
    assert_eq!(shown(&["--rows", "none"]), [count, first]);
    assert_eq!(shown(&["-P", "linker.made_examples=false"]), []);
    let solved = folder.path().join("solved.jsonl");
    fs::write(&solved, "{\"question\": \"How many orders in 2024?\", \"sql\": \"SELECT 1\"}\n")
        .unwrap();
    assert_eq!(
        shown(&["--examples", solved.to_str().unwrap()]),
        [pair("How many orders in 2024?", "SELECT 1")]
    );
}
