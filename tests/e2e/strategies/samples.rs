//! The default strategy and those that sample one question (`single`, `retry3`, `vote5`, the gates)
//! in whole searches: how many calls they make, in which order, and what they keep.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};

use super::traced::Traced;
use crate::endpoint::{PLAN, REPAIR, WRITE, plan, subtask};

const QUESTION: &str = "How many orders did the French place?";
/// Three orders: two ways to say it.
const RIGHT: &str = "SELECT COUNT(*) AS n FROM orders JOIN customers ON customers.id = customer_id \
                     WHERE country = 'France'";
const ALSO: &str = "SELECT COUNT(*) AS total FROM orders WHERE customer_id IN (SELECT id \
                    FROM customers WHERE country = 'France')";
/// Four orders and two customers: wrong.
const ALL: &str = "SELECT COUNT(*) AS n FROM orders";
const PEOPLE: &str = "SELECT COUNT(*) AS n FROM customers WHERE country = 'France'";
const BROKEN: &str = "SELECT COUNT(*) AS n FROM orders WHERE country = 'France'";
const NOBODY: &str = "SELECT id FROM customers WHERE country = 'Frankreich'";

/// A model that writes these statements, one for each sample.
fn samples(statements: &'static [&'static str]) -> Script {
    Script::new().with(|request, _| {
        let place = usize::try_from(request.body["seed"].as_u64()?).ok()?;
        let is_fresh = request.prompt().contains(WRITE) && !request.prompt().contains(REPAIR);
        is_fresh.then(|| reply_with(statements[place]))
    })
}

fn reply_with(statement: &str) -> Reply {
    Reply::sql(statement, 0.9).usage(Usage::Tokens(1000, 50))
}

/// Returns the document of a search with that strategy, and the requests that it made. Its `trace
/// show` is compared.
fn run_search(strategy: &str, script: Script) -> (Value, Vec<Recorded>) {
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let document = traced.ask(&endpoint, QUESTION, &["--strategy", strategy]).document(0);
    traced.assert_snapshot(&format!("{strategy}.txt"));
    let requests = endpoint.requests();
    for request in requests.iter().filter(|request| request.prompt().contains(WRITE)) {
        for part in
            [QUESTION, "Table orders", "country TEXT", "customer_id INTEGER -> customers.id"]
        {
            assert!(request.prompt().contains(part), "{part} is missing in {}", request.prompt());
        }
    }
    assert_eq!(document["cost"]["calls"], json!(requests.len()));
    (document, requests)
}

/// The samples that were asked for, in the order in which they came.
fn seeds(requests: &[Recorded]) -> Vec<u64> {
    requests.iter().map(|request| request.body["seed"].as_u64().unwrap()).collect()
}

fn statuses(document: &Value) -> Vec<(&str, &str)> {
    let all = document["candidates"].as_array().unwrap();
    all.iter()
        .map(|known| (known["sql"].as_str().unwrap(), known["status"].as_str().unwrap()))
        .collect()
}

#[test]
fn single_makes_one_call() {
    let (document, requests) = run_search("single", samples(&[ALL]));
    assert_eq!((requests.len(), &document["answer"]["rows"]), (1, &json!([[4]])));
    assert_eq!(statuses(&document), [(ALL, "answer")]);
}

#[test]
fn retry3_repairs_what_fails_or_is_empty_and_stops_at_rows() {
    let script = Script::new()
        .on([REPAIR, BROKEN, NOBODY], reply_with(RIGHT))
        .on([REPAIR, BROKEN], reply_with(NOBODY))
        .on([WRITE], reply_with(BROKEN));
    let (document, requests) = run_search("retry3", script);
    assert_eq!((requests.len(), &document["answer"]["rows"]), (3, &json!([[3]])), "{document:#}");
    assert!(requests[1].prompt().contains("no such column `country`"), "{}", requests[1].prompt());
    assert!(requests[2].prompt().contains("the result has no rows"), "{}", requests[2].prompt());
    assert_eq!(document["sql"], json!(RIGHT));
}

#[test]
fn vote5_always_asks_five_times() {
    let (document, requests) = run_search("vote5", samples(&[ALL, RIGHT, PEOPLE, ALSO, BROKEN]));
    let mut drawn = seeds(&requests);
    drawn.sort_unstable();
    assert_eq!(drawn, [0, 1, 2, 3, 4]);
    // Two statements, one result: the largest group, and its earliest member stands for it.
    assert_eq!((&document["answer"]["rows"], &document["sql"]), (&json!([[3]]), &json!(RIGHT)));
}

#[test]
fn gate2of5_stops_when_two_agree() {
    let (document, requests) = run_search("gate2of5", samples(&[ALL, RIGHT, ALSO, ALL, ALL]));
    let mut drawn = seeds(&requests);
    drawn.sort_unstable();
    assert_eq!(drawn, [0, 1, 2]);
    assert_eq!(document["answer"]["rows"], json!([[3]]));
}

#[test]
fn gate3of9_stops_when_three_agree_and_asks_no_more_than_could_be_needed() {
    let statements: &[&str] = &[ALL, BROKEN, RIGHT, ALSO, NOBODY, RIGHT, ALL, ALL, ALL];
    let (document, requests) = run_search("gate3of9", samples(statements));
    let mut drawn = seeds(&requests);
    drawn.sort_unstable();
    assert_eq!(drawn, [0, 1, 2, 3, 4, 5]);
    assert_eq!(document["answer"]["rows"], json!([[3]]));
}

#[test]
fn repair3of9_repairs_what_is_not_sound_until_three_agree() {
    let script = samples(&[ALL, RIGHT, BROKEN]).on([REPAIR, BROKEN], reply_with(ALSO));
    let (document, requests) = run_search("repair3of9", script);
    assert_eq!((requests.len(), &document["answer"]["rows"]), (5, &json!([[3]])), "{document:#}");
    let repairs = requests.iter().filter(|request| request.prompt().contains(REPAIR));
    assert_eq!(repairs.count(), 2);
    assert_eq!(document["sql"], json!(RIGHT));
}

#[test]
fn discern_weighs_what_a_popular_mistake_shows() {
    // The country is written in no cell so, but the count has a row all the same.
    const MISTAKE: &str = "SELECT COUNT(*) AS n FROM customers WHERE country = 'Frankreich'";
    const AGAIN: &str = "SELECT COUNT(id) AS n FROM customers WHERE country = 'Frankreich'";
    const SAID: &[&str] =
        &[MISTAKE, RIGHT, AGAIN, MISTAKE, ALSO, RIGHT, RIGHT, ALSO, RIGHT, RIGHT, RIGHT, RIGHT];
    let script = samples(SAID).on([REPAIR], reply_with(RIGHT));
    let (document, requests) = run_search("discern", script);
    assert_eq!(
        (&document["answer"]["rows"], &document["sql"]),
        (&json!([[3]]), &json!(RIGHT)),
        "{document:#}"
    );
    assert!((5..=12).contains(&requests.len()), "{}", requests.len());
    let endpoint = MockEndpoint::start(samples(SAID));
    let counted = Traced::new().ask(&endpoint, QUESTION, &["--strategy", "vote5"]).document(0);
    assert_eq!(counted["answer"]["rows"], json!([[0]]), "a vote of five takes the mistake");
}

#[test]
fn decompose_divides_refines_and_joins() {
    let script = Script::new()
        .on(
            [PLAN],
            plan(&[
                subtask("A", "the French customers", &[]),
                subtask("B", "their orders, counted", &["A"]),
            ])
            .usage(Usage::Tokens(1000, 100)),
        )
        .on(
            ["part of it: the French customers", REPAIR],
            Reply::sql("SELECT id FROM customers WHERE country = 'France'", 0.98)
                .usage(Usage::Tokens(1000, 50)),
        )
        .on(
            ["part of it: the French customers"],
            reply_with("SELECT id FROM customers WHERE land = 'France'"),
        )
        .on(
            ["part of it: their orders, counted"],
            reply_with(
                "SELECT COUNT(*) AS n FROM orders WHERE customer_id IN (SELECT id FROM task_A)",
            ),
        );
    let (document, requests) = run_search("decompose", script);
    assert_eq!((requests.len(), &document["answer"]["rows"]), (4, &json!([[3]])), "{document:#}");
    assert!(
        requests[3].prompt().contains("can stand in FROM as task_A (id), 2 rows"),
        "{}",
        requests[3].prompt()
    );
    assert!(document["sql"].as_str().unwrap().contains("WITH"), "{document:#}");
}
