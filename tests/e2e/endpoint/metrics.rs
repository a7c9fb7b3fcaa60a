//! Searches with a model over a database whose metrics are defined: what prompts say of them,
//! requests in place of statements, the doubt about another computation, and sentences.

use std::path::{Path, PathBuf};

use serde_json::Value;
use syrch_kit::{MockEndpoint, Recorded, Reply, Script};

use super::{PLAN, REPAIR, Said, WRITE, ask, statements, whole};

/// A text that is only in a prompt for a sentence.
const SAY: &str = "Answer the question in one or two plain sentences";
const QUESTION: &str = "Which 3 countries had the highest revenue in 2024?";
const REQUEST: &str = "{\"metrics\": [\"revenue\"], \"by\": [\"country\"], \
                       \"period\": \"2024\", \"order\": \"revenue:desc\", \"limit\": 3}";

/// The shop and its definitions.
fn make_database(folder: &Path) -> (PathBuf, String) {
    let database = folder.join("shop.sqlite");
    syrch_examples::make_shop(&database).unwrap();
    let file = folder.join("shop.yml");
    std::fs::copy(syrch_kit::repository().join("examples/shop.semantics.yml"), &file).unwrap();
    (database, file.to_str().unwrap().to_owned())
}

fn ask_defined(script: Script, question: &str, flags: &[&str]) -> (Said, MockEndpoint) {
    let folder = syrch_kit::scratch();
    let (database, file) = make_database(folder.path());
    let endpoint = MockEndpoint::start(script);
    let all: Vec<&str> = ["--semantics", &file].into_iter().chain(flags.iter().copied()).collect();
    let said = ask(&endpoint, &database, question, &all);
    (said, endpoint)
}

fn first_prompt(endpoint: &MockEndpoint) -> String {
    statements(endpoint).first().map(Recorded::prompt).unwrap_or_default()
}

#[test]
fn a_model_may_choose_a_request_and_the_statement_is_compiled() {
    let request = format!("This asks for a metric.\n```json\n{REQUEST}\n```\nConfidence: 0.9");
    let script = Script::new().on([PLAN], whole()).on([WRITE], Reply::text(request));
    let (said, endpoint) = ask_defined(script, QUESTION, &[]);
    let document = said.document(0);
    let origin = &document["origin"];
    assert_eq!(origin["kind"], "metric", "{document:#}");
    assert_eq!((&origin["from"], &origin["until"]), (&"2024-01-01".into(), &"2025-01-01".into()));
    assert_eq!(document["answer"]["row_count"], 3);
    assert_eq!(document["answer"]["columns"], serde_json::json!(["country", "revenue"]));
    let sql = document["sql"].as_str().unwrap();
    assert!(sql.contains("'cancelled'") && sql.contains("discount"), "{sql}");
    let words = origin["words"].as_str().unwrap();
    assert!(words.contains("revenue counts where orders.status <> 'cancelled'"), "{words}");
    assert!(said.stderr.contains(&format!("shop.yml): {words}")), "{}", said.all());
    let prompt = first_prompt(&endpoint);
    for part in [
        "\nMetric revenue: sum(order_items.quantity * order_items.unit_price",
        " where orders.status <> 'cancelled' (also: sales, turnover, income) -- What items of",
        "\nDimension customers.country: customers.country (also: land, nation) values: Germany;",
        "a ```json fence with {\"metrics\": [\"revenue\"]",
    ] {
        assert!(prompt.contains(part), "{part}\n{prompt}");
    }
}

#[test]
fn a_request_without_a_statement_is_repaired_by_its_reason() {
    let wrong = REQUEST.replace("country", "cuontry");
    let script = Script::new()
        .on([PLAN], whole())
        .on([REPAIR, "customers.country"], Reply::text(REQUEST))
        .on([WRITE], Reply::text(wrong));
    let (said, endpoint) = ask_defined(script, QUESTION, &[]);
    let document = said.document(0);
    assert_eq!(document["origin"]["kind"], "metric", "{}", said.all());
    let repair = statements(&endpoint)[1].prompt();
    let wrong = "What was wrong: the request for metrics has no statement";
    assert!(repair.contains(wrong) && repair.contains("cuontry"), "{repair}");
}

/// The answer of a model that always writes this statement.
fn answer_by(sql: &str) -> Said {
    let script = Script::new().on([PLAN], whole()).on([""], Reply::sql(sql, 0.95));
    ask_defined(script, QUESTION, &["--max-attempts", "1"]).0
}

#[test]
fn a_statement_still_works_and_one_that_computes_otherwise_is_doubted() {
    let right = "SELECT c.country, SUM(oi.unit_price * oi.quantity * (1 - oi.discount)) AS revenue \
                 FROM order_items oi JOIN orders o ON o.id = oi.order_id \
                 JOIN customers c ON c.id = o.customer_id \
                 WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' \
                 GROUP BY c.country ORDER BY 2 DESC LIMIT 3";
    let said = answer_by(right);
    let document = said.document(0);
    assert_eq!(document["origin"]["kind"], "generated");
    assert!(!document["warnings"].to_string().contains("defines"), "{}", said.all());
    let sure = document["confidence"]["calibrated"].as_f64().unwrap();
    for (other, why) in [
        (right.replace(" * (1 - oi.discount)", ""), "and the statement computes SUM("),
        (right.replace("o.status <> 'cancelled' AND ", ""), "the statement lacks that condition"),
    ] {
        let said = answer_by(&other);
        let document: Value = serde_json::from_str(&said.stdout).unwrap();
        let all = document.to_string();
        assert!(all.contains("defines revenue as sum(") && all.contains(why), "{}", said.all());
        let confidence = document["confidence"]["calibrated"].as_f64();
        assert!(confidence.is_none_or(|it| it <= 0.5 && it < sure), "{}", said.all());
    }
}

#[test]
fn a_mentioned_metric_keeps_its_tables_and_values_need_the_grant() {
    let question = "What is the margin of each supplier?";
    let request = Reply::text(r#"{"metrics": ["margin"], "by": ["supplier"]}"#);
    let script = Script::new().on([PLAN], whole()).on([WRITE], request);
    let small = ["--rows", "none", "-P", "linker.catalog_bytes=700"];
    let (said, endpoint) = ask_defined(script, question, &small);
    assert_eq!(said.document(0)["origin"]["kind"], "metric", "{}", said.all());
    let prompt = first_prompt(&endpoint);
    let tables = prompt.split("Question: ").next().unwrap();
    for table in ["order_items", "orders", "products"] {
        assert!(tables.contains(&format!("Table {table} ")), "{table}: {prompt}");
    }
    assert!(prompt.contains("Metric margin: profit / revenue"), "{prompt}");
    assert!(!prompt.contains(" values: "), "{prompt}");
}

/// The answer's text where the model says this, how often it was asked to, and the document.
fn say(sentence: &str, flags: &[&str]) -> (String, usize, Value) {
    let script = Script::new()
        .on([PLAN], whole())
        .on([WRITE], Reply::sql("SELECT COUNT(*) FROM customers", 0.95))
        .on([SAY], Reply::text(sentence));
    let (said, endpoint) = ask_defined(script, "How many customers are there?", flags);
    let document = said.document(0);
    let asked = endpoint.requests().iter().filter(|one| one.prompt().contains(SAY)).count();
    (document["answer"]["text"].as_str().unwrap().to_owned(), asked, document)
}

#[test]
fn a_sentence_of_a_model_stands_if_the_rows_have_what_it_says() {
    let (text, asked, document) = say("There are 240 customers.", &["--summarise"]);
    assert_eq!((text.as_str(), asked), ("There are 240 customers.", 1), "{document:#}");
    assert_eq!(document["cost"]["by_purpose"]["summarise"]["calls"], 1, "{document:#}");
    let by_rule = "The answer is 240.";
    for (sentence, flags, calls) in [
        ("There are 241 customers.", &["--summarise"][..], 1),
        ("Germany has 240 customers.", &["--summarise"], 1),
        ("There are 240 customers.", &["--summarise", "--rows", "none"], 0),
        ("There are 240 customers.", &["--no-summarise"], 0),
        ("There are 240 customers.", &[], 0),
    ] {
        let (text, asked, _) = say(sentence, flags);
        let hidden = "The result has 1 row of number.";
        let expected = if flags.contains(&"none") { hidden } else { by_rule };
        assert_eq!((text.as_str(), asked), (expected, calls), "{sentence} {flags:?}");
    }
}
