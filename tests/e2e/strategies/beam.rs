//! The strategies `beam` and `exhaustive` in a whole search: candidate tables from retrieval,
//! statements on each, a repair, and agreement.

use serde_json::json;
use syrch_kit::{MockEndpoint, Reply, Script, Usage};

use super::traced::Traced;
use crate::endpoint::{REPAIR, WRITE, candidates};

const QUESTION: &str = "How many orders of products did customers in France place?";

const ON_ORDERS: &str = "SELECT COUNT(*) AS n FROM orders \
                         JOIN customers ON customers.id = customer_id WHERE country = 'France'";
const ON_CUSTOMERS: &str = "SELECT COUNT(orders.id) AS n FROM customers \
                            JOIN orders ON customers.id = customer_id WHERE country = 'France'";
const ON_PRODUCTS: &str = "SELECT COUNT(*) AS n FROM products \
                           JOIN orders ON products.id = product_id WHERE products.id > 0";
const BROKEN: &str = "SELECT COUNT(*) AS n FROM customers WHERE land = 'France'";

fn on(table: &str) -> String {
    format!("Build the statement on the table {table}:")
}

fn sql(statement: &str) -> Reply {
    Reply::sql(statement, 0.9).usage(Usage::Tokens(200, 30))
}

fn script(products: &str) -> Script {
    Script::new()
        .on([WRITE, &on("orders")], sql(ON_ORDERS))
        .on([WRITE, &on("customers"), REPAIR], sql(ON_CUSTOMERS))
        .on([WRITE, &on("customers")], sql(BROKEN))
        .on([WRITE, &on("products")], sql(products))
}

#[test]
fn tables_that_agree_outweigh_one_that_does_not() {
    let endpoint = MockEndpoint::start(script(ON_PRODUCTS));
    let traced = Traced::new();
    let document = traced.ask(&endpoint, QUESTION, &["--strategy", "beam"]).document(0);
    assert_eq!(
        (&document["answer"]["rows"], &document["sql"]),
        (&json!([[3]]), &json!(ON_ORDERS)),
        "{document:#}"
    );

    let prompts: Vec<String> = endpoint.requests().iter().map(|request| request.prompt()).collect();
    assert_eq!(prompts.len(), 4, "{prompts:#?}");
    // Three drafts at once, in whatever order they arrive; the repair last.
    for table in ["orders", "customers", "products"] {
        assert_eq!(
            prompts[..3].iter().filter(|prompt| prompt.contains(&on(table))).count(),
            1,
            "{table}"
        );
    }
    for part in
        [&on("customers"), "- orders.customer_id = customers.id\n", BROKEN, "no such column `land`"]
    {
        assert!(prompts[3].contains(part), "{part} is missing in {}", prompts[3]);
    }
    let reported = candidates(&document);
    let reason =
        |part: &str| reported.iter().filter(|(_, _, reason)| reason.contains(part)).count();
    assert_eq!(
        (reason("the same result as"), reason("but fewer statements agree")),
        (1, 1),
        "{reported:?}"
    );
    traced.assert_snapshot("beam.txt");
}

#[test]
fn a_tie_between_different_results_is_reported() {
    // Neither the broken statement nor its repair does, so that one result stands against one
    // other.
    let script = Script::new().on([&on("customers")], sql(BROKEN));
    let script = script.on([&on("orders")], sql(ON_ORDERS)).on([&on("products")], sql(ON_PRODUCTS));
    let endpoint = MockEndpoint::start(script);
    let document = Traced::new().ask(&endpoint, QUESTION, &["--strategy", "beam"]).document(0);
    let text = document.to_string();
    assert!(text.contains("another result, which fits as well as that of"), "{document:#}");
    let asked = Traced::new()
        .ask(&endpoint, QUESTION, &["--strategy", "beam", "-P", "clarifier.threshold=0"])
        .document(4);
    let question = asked["clarify"].to_string();
    assert!(question.contains("orders") && question.contains("products"), "{asked:#}");
    // 0.9, and half of an ambiguity of one half is taken off.
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() < 0.9 * 0.75, "{document:#}");
}

#[test]
fn exhaustive_asks_for_every_table() {
    let products = "SELECT COUNT(*) AS n FROM products JOIN orders ON product_id = products.id \
                    JOIN customers ON customers.id = customer_id WHERE country = 'France'";
    let endpoint = MockEndpoint::start(script(products));
    let flags = ["--strategy", "exhaustive", "-P", "solver.beam_width=1"];
    let traced = Traced::new();
    let document = traced.ask(&endpoint, QUESTION, &flags).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]));
    traced.assert_snapshot("exhaustive.txt");
    // The first table alone would do for the floor, and the second for the margin.
    let prompts: Vec<String> = endpoint.requests().iter().map(|request| request.prompt()).collect();
    assert_eq!(prompts.iter().filter(|prompt| prompt.contains(&on("products"))).count(), 1);
    assert_eq!(prompts.len(), 4);
}
