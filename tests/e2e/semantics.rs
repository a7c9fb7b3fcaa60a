//! `semantics` through the binary: files that are checked, proposed, translated and shown.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::{Place, finish, read_streams};
use crate::endpoint::KEY;

/// A file about the shop of [`Place`].
const SHOP: &str = "tables:
  orders: {key: id, dimensions: [customer_id]}
  customers: {key: id, dimensions: {name: , country: {synonyms: [land]}}}
joins:
  - {from: orders.customer_id, to: customers.id}
metrics:
  orders: count(orders.id)
  customers: {measure: count(customers.id), synonyms: [clients], description: Everybody.}
  orders per customer: {ratio: [orders, customers]}
";

fn run(place: &Place, words: &str) -> Output {
    finish(&mut place.words(words), "")
}

fn texts(output: &Output) -> (String, String, Option<i32>) {
    let (stdout, stderr) = read_streams(output);
    (stdout, stderr, output.status.code())
}

#[test]
fn a_file_is_checked_for_itself_and_against_the_database() {
    let place = Place::new();
    place.file("shop.yml", SHOP);
    let (stdout, stderr, code) = texts(&run(&place, "semantics check shop.yml"));
    assert_eq!((stdout.as_str(), code), ("no findings\n", Some(0)), "{stderr}");
    assert!(stderr.contains("2 tables, 1 joins, 3 dimensions, 3 metrics"), "{stderr}");

    let checked = run(&place, "semantics check shop.yml --db shop.sqlite");
    let (stdout, stderr, code) = texts(&checked);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.lines().all(|line| line.contains(": note: ")), "{stdout}");

    place.file("wrong.yml", SHOP.replace("[customer_id]", "[custmer]"));
    let (stdout, stderr, code) = texts(&run(&place, "semantics check wrong.yml --db shop.sqlite"));
    assert_eq!(code, Some(5), "{stdout}{stderr}");
    assert!(
        stdout.contains("wrong.yml:2:")
            && stdout.contains("error: `orders` has no column `custmer`"),
        "{stdout}"
    );
    let (stdout, _, code) =
        texts(&run(&place, "semantics check wrong.yml --db shop.sqlite --format json"));
    assert_eq!(code, Some(5));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["schema"], "syrch.semantics-check/1");
    assert_eq!(document["findings"][0]["severity"], "error");
    assert_eq!(document["findings"][0]["line"], 2);
}

#[test]
fn what_is_wrong_in_a_file_is_reported_with_its_place() {
    let place = Place::new();
    place.file("a.yml", SHOP);
    place.file("b.yml", "metrics:\n  revenue: sum(order.total)\n  Orders: count(orders.*)\n");
    let (stdout, stderr, code) = texts(&run(&place, "semantics check a.yml b.yml"));
    assert_eq!(code, Some(5), "{stderr}");
    assert_eq!(
        stdout,
        "b.yml:3:3: error: metric `Orders` is declared at a.yml:7:3 already\nb.yml:2:12: error: \
         there is no table `order`; did you mean `orders`?\n"
    );
    let (_, stderr, code) = texts(&run(&place, "semantics show b.yml"));
    assert_eq!(code, Some(10));
    assert!(stderr.contains("b.yml:2:12: "), "{stderr}");
    let (_, stderr, code) = texts(&run(&place, "semantics check none.yml"));
    assert_eq!(code, Some(10));
    assert!(stderr.contains("none.yml: "), "{stderr}");
}

#[test]
fn joins_that_the_rows_do_not_bear_out_are_found() {
    let place = Place::new();
    let backwards = SHOP.replace(
        "{from: orders.customer_id, to: customers.id}",
        "{from: customers.id, to: orders.customer_id}",
    );
    place.file("shop.yml", backwards);
    let (stdout, _, code) = texts(&run(&place, "semantics check shop.yml --db shop.sqlite"));
    assert_eq!(code, Some(5), "{stdout}");
    assert!(
        stdout.contains("shop.yml:5:5: error: ") && stdout.contains("the join would repeat rows"),
        "{stdout}"
    );
    let names = run(&place, "semantics check shop.yml --db shop.sqlite --names-only");
    assert_eq!(names.status.code(), Some(0), "{}", read_streams(&names).0);
}

#[test]
fn a_proposal_for_a_database_is_a_file_that_checks_clean() {
    let place = Place::new();
    let (text, stderr, code) = texts(&run(&place, "semantics init --db shop.sqlite"));
    assert_eq!(code, Some(0), "{stderr}");
    // A dimension `ordered` has the word of the orders.
    assert!(text.contains("\ntables:\n") && text.contains("number of orders: count("), "{text}");
    assert!(text.contains("number of products: {measure: count("), "{text}");
    assert!(stderr.contains("review it"), "{stderr}");
    place.file("proposed.yml", &text);
    let (stdout, stderr, code) =
        texts(&run(&place, "semantics check proposed.yml --db shop.sqlite"));
    assert_eq!(code, Some(0), "{text}{stdout}{stderr}");
    assert!(!stdout.contains("error: "), "{stdout}");
    let (_, stderr, code) = texts(&run(&place, "semantics init"));
    assert_eq!(code, Some(2), "{stderr}");
}

/// A text that is only in a prompt for descriptions.
const DESCRIBE: &str = "You document databases";

/// Proposes a file with that model: what is written, and what is said on standard error.
fn propose_with(place: &Place, endpoint: &MockEndpoint, flags: &str) -> (String, String) {
    let url = endpoint.url();
    let words = format!(
        "semantics init --db shop.sqlite --llm openai --model mock --base-url {url} {flags}"
    );
    let output = finish(place.words(&words).env("SYRCH_API_KEY", KEY), "");
    let (text, stderr, code) = texts(&output);
    assert_eq!(code, Some(0), "{text}{stderr}");
    assert!(!text.contains(KEY) && !stderr.contains(KEY), "{text}{stderr}");
    (text, stderr)
}

fn description(name: &str, text: &str) -> Value {
    json!({"name": name, "description": text})
}

#[test]
fn a_model_describes_a_proposal_and_is_shown_no_values() {
    let place = Place::new();
    let reply = Reply::json(&json!({"descriptions": [
        description("table customers", "People: all who buy."),
        description("metric number of customers", "The number of customers."),
    ]}));
    let endpoint = MockEndpoint::start(Script::new().on([DESCRIBE], reply));
    let (text, stderr) = propose_with(&place, &endpoint, "--rows full");
    for line in [
        "  customers:\n    description: \"People: all who buy.\" # by a model: review it\n",
        "description: The number of customers.} # by a model: review it\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(stderr.contains("the model described 2 of "), "{stderr}");
    assert_eq!(endpoint.count(), 1);
    let prompt = endpoint.requests()[0].prompt();
    assert!(prompt.contains("\n  table customers\n"), "{prompt}");
    assert!(text.contains("France") && !prompt.contains("France"), "{text}{prompt}");
    place.file("described.yml", &text);
    let checked = run(&place, "semantics check described.yml --db shop.sqlite");
    assert_eq!(checked.status.code(), Some(0), "{text}{}", read_streams(&checked).0);
}

#[test]
fn a_hostile_reply_of_a_model_leaves_the_proposal_as_it_is() {
    let place = Place::new();
    let (plain, ..) = texts(&run(&place, "semantics init --db shop.sqlite"));
    let hostile = "all\n    filter: \"1 = 0\"\nmetrics:\n  evil: count(orders.*)";
    let reply = Reply::json(&json!({"descriptions": [
        description("table customers", hostile),
        description("table nowhere", "A table."),
        description("metrics", "evil: count(orders.*)"),
        description("metric number of customers", &"long ".repeat(100)),
    ]}));
    let endpoint = MockEndpoint::start(Script::new().on([DESCRIBE], reply));
    let (text, stderr) = propose_with(&place, &endpoint, "");
    assert_eq!(text, plain);
    assert!(stderr.contains("the model described 0 of "), "{stderr}");

    let inline = "x}, filter: \"1 = 0\" # {a: [b";
    let reply = Reply::json(&json!({"descriptions": [description("table customers", inline)]}));
    let endpoint = MockEndpoint::start(Script::new().on([DESCRIBE], reply));
    let (text, _) = propose_with(&place, &endpoint, "");
    let line = format!("    description: {} # by a model: review it\n", json!(inline));
    assert_eq!(text.replace(&line, ""), plain);
    assert_ne!(text, plain);
}

#[test]
fn a_model_that_fails_leaves_the_proposal_without_descriptions() {
    let place = Place::new();
    let (plain, stderr, code) = texts(&run(&place, "semantics init --db shop.sqlite"));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains("the model described"), "{stderr}");
    let good = Reply::json(&json!({"descriptions": [description("table customers", "People.")]}));
    for (reply, flags) in [
        (Reply::status(401, "no such key"), ""),
        (Reply::text("I would rather not."), ""),
        (Reply::garbage(), ""),
        (good.clone(), "--budget 1"),
    ] {
        let endpoint = MockEndpoint::start(Script::always(reply));
        let (text, stderr) = propose_with(&place, &endpoint, flags);
        assert_eq!(text, plain, "{stderr}");
        assert!(stderr.contains("the model described 0 of "), "{stderr}");
    }
    let endpoint = MockEndpoint::start(Script::always(good));
    let mut offline = place.words("semantics init --db shop.sqlite --llm offline");
    offline.envs([("SYRCH_LLM_PROVIDER", "openai"), ("SYRCH_BASE_URL", &endpoint.url())]);
    let (text, stderr, code) = texts(&finish(&mut offline, ""));
    assert_eq!((text, code), (plain, Some(0)), "{stderr}");
    assert_eq!(endpoint.count(), 0);
}

#[test]
fn definitions_of_other_tools_are_translated() {
    let place = Place::new();
    place.file(
        "dbt.yml",
        "semantic_models:
  - {name: orders, model: ref('orders'), measures: [{name: n, agg: count, expr: id}]}
metrics:
  - {name: orders_placed, type: simple, type_params: {measure: n}}
  - {name: so_far, type: cumulative, type_params: {measure: n}}
",
    );
    let (text, stderr, code) = texts(&run(&place, "semantics import dbt.yml"));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("left out: metric `so_far`: "), "{stderr}");
    place.file("ours.yml", &text);
    let checked = run(&place, "semantics check ours.yml --db shop.sqlite");
    assert_eq!(checked.status.code(), Some(0), "{text}{}", read_streams(&checked).0);

    place.file(
        "mdl.json",
        "{\"catalog\": \"c\", \"schema\": \"s\", \"models\": [{\"name\": \"orders\", \
         \"tableReference\": {\"table\": \"orders\"}, \"primaryKey\": \"id\", \"columns\": \
         [{\"name\": \"id\", \"type\": \"INTEGER\"}]}]}",
    );
    let (text, stderr, code) = texts(&run(&place, "semantics import mdl.json"));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(text.contains("\n  orders:\n    key: id\n"), "{text}");
    place.file("other.yml", "a: 1\n");
    let (_, stderr, code) = texts(&run(&place, "semantics import other.yml"));
    assert_eq!(code, Some(10));
    assert!(stderr.contains("has neither dbt's"), "{stderr}");
}

#[test]
fn a_file_is_shown() {
    let place = Place::new();
    place.file("shop.yml", SHOP);
    let (stdout, _, code) = texts(&run(&place, "semantics show shop.yml --format json"));
    assert_eq!(code, Some(0));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let entries = document["entries"].as_array().unwrap();
    let customers = entries.iter().find(|entry| entry["name"] == "customers").unwrap();
    assert_eq!(customers["definition"], "count(customers.id)");
    assert_eq!(customers["synonyms"], "clients");
    assert!(entries.iter().any(|entry| entry["name"] == "orders → customers"), "{stdout}");

    let printed = read_streams(&run(&place, "semantics schema")).0;
    let schema = syrch_kit::repository().join("docs/semantics.schema.json");
    assert_eq!(printed, fs::read_to_string(schema).unwrap());
}

#[test]
fn times_that_are_texts_of_another_form_are_found() {
    let place = Place::new();
    syrch_kit::sqlite(
        place.path().join("clinic.sqlite"),
        "CREATE TABLE visits(id INTEGER PRIMARY KEY, day TEXT);
         INSERT INTO visits(day) VALUES ('31/05/2024'), ('2024-06-01'), ('2024-13-01'), (NULL);",
    );
    let file = "tables:\n  visits: {key: id, time: day, dimensions: {day: {type: time}}}\n\
                metrics:\n  visits: count(visits.id)\n";
    place.file("clinic.yml", file);
    let (stdout, stderr, code) =
        texts(&run(&place, "semantics check clinic.yml --db clinic.sqlite"));
    assert_eq!(code, Some(5), "{stdout}{stderr}");
    let found = "2 of 3 values of `visits.day` are no days written as YYYY-MM-DD";
    assert!(stdout.contains(found), "{stdout}");
}
