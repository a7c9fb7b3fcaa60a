//! The plugin `chase` in a whole search: the plan, candidates of three generators, a repair, and
//! the tournament; and its plan in the hands of another solver.

use std::path::Path;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};

use super::traced::Traced;
use crate::endpoint::{REPAIR, Said, WRITE};
use crate::{host, shop};

const QUESTION: &str = "How many orders did the French place?";
/// Texts that are only in the prompts of one kind.
const PLAN: &str = "You plan one SELECT statement";
const ALONG: &str = "Work along the plan";
const DIVIDE: &str = "Divide and conquer";
const DIRECT: &str = "make up 3 questions";
const SELECT: &str = "You decide which of two";

const RIGHT: &str = "SELECT COUNT(*) AS n FROM orders JOIN customers ON customers.id = customer_id \
                     WHERE country = 'France'";
const CUSTOMERS: &str = "SELECT COUNT(DISTINCT customer_id) AS n FROM orders JOIN customers ON \
                         customers.id = customer_id WHERE country = 'France'";
const BROKEN: &str = "SELECT COUNT(*) AS n FROM orders WHERE land = 'France'";
const ALL: &str = "SELECT COUNT(*) AS n FROM orders";

fn plan() -> Reply {
    let step = |kind: &str, reported: &str| {
        json!({
            "step_type": kind, "description": reported, "reasoning": "", "entities": ["orders"]
        })
    };
    Reply::json(&json!({"steps": [
        step("find_tables", "orders with their customers"),
        step("perform_operations", "keep the customers in France and count"),
        step("select_columns", "the count alone"),
    ]}))
    .usage(Usage::Tokens(1000, 100))
}

fn sql(statement: &str) -> Reply {
    Reply::sql(statement, 0.9).usage(Usage::Tokens(1000, 50))
}

/// Of two statements the right one, and without it that about customers.
fn choose_statement(request: &Recorded) -> Option<Reply> {
    let prompt = request.prompt();
    let place = |sql: &str| prompt.find(&format!(":\n{sql}\n"));
    let best = place(RIGHT).or_else(|| place(CUSTOMERS)).filter(|_| prompt.contains(SELECT))?;
    let is_first = prompt[..best].ends_with("Statement A");
    Some(Reply::text(if is_first { "A" } else { "B" }).usage(Usage::Tokens(1000, 1)))
}

fn kind(request: &Recorded) -> &'static str {
    let prompt = request.prompt();
    let kinds = [
        (PLAN, "plan"),
        (REPAIR, "repair"),
        (ALONG, "along"),
        (DIVIDE, "divide"),
        (DIRECT, "direct"),
        (SELECT, "select"),
    ];
    kinds.into_iter().find(|(words, _)| prompt.contains(words)).map_or("?", |(_, kind)| kind)
}

fn candidate<'a>(document: &'a Value, sql: &str) -> &'a Value {
    let all = document["candidates"].as_array().unwrap();
    all.iter()
        .find(|known| known["sql"] == sql)
        .unwrap_or_else(|| panic!("no {sql} in {document:#}"))
}

#[test]
fn candidates_of_three_generators_compete() {
    let script = Script::new()
        .on([PLAN], plan())
        .on([REPAIR, BROKEN], sql(ALL))
        .on([ALONG], sql(RIGHT))
        .on([DIVIDE], sql(CUSTOMERS))
        .on([DIRECT], sql(BROKEN))
        .with(|request, _| choose_statement(request));
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let document =
        traced.ask(&endpoint, QUESTION, &["--strategy", "chase", "--rows", "full"]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");

    // One plan; five draws side by side; one repair; three pairs of three results.
    let requests = endpoint.requests();
    let mut kinds: Vec<&str> = requests.iter().map(kind).collect();
    kinds[1..6].sort_unstable();
    assert_eq!(
        kinds,
        [
            "plan", "along", "along", "direct", "divide", "divide", "repair", "select", "select",
            "select"
        ]
    );
    for request in &requests[1..6] {
        let prompt = request.prompt();
        assert!(prompt.contains("Table orders") && prompt.contains(QUESTION), "{prompt}");
        let has_plan = prompt
            .contains("Perform the operations: keep the customers in France and count (orders)");
        assert_eq!(has_plan, kind(request) == "along", "{prompt}");
    }
    let repair = requests[6].prompt();
    assert!(repair.contains(BROKEN) && repair.contains("land"), "{repair}");
    for request in &requests[7..] {
        let prompt = request.prompt();
        assert!(
            prompt.contains("Only A has: 1 row") && prompt.contains("1 row, 1 column: n"),
            "{prompt}"
        );
        assert!(!prompt.contains("Table products"), "{prompt}");
    }

    let right = candidate(&document, RIGHT);
    assert_eq!(
        (&right["status"], &right["reason"]),
        (&json!("answer"), &json!("2 of 5 candidates agree, 2 of 2 comparisons won"))
    );
    // Agreement of two of five with 0.9 stated, (1 + 1.8) / 6, and all comparisons won.
    let raw = document["confidence"]["raw"].as_f64().unwrap();
    assert_eq!(document["sql"], json!(RIGHT), "{document:#}");
    assert!((raw - f64::midpoint(2.8 / 6.0, 1.0)).abs() < 1e-3, "{document:#}");
    let all = candidate(&document, ALL);
    assert!(all["reason"].as_str().unwrap().contains("0 of 2 comparisons won"), "{all:#}");
    traced.assert_snapshot("chase.txt");
}

/// `--planner chase` with all other roles as they are: the default solver follows the plan.
#[test]
fn another_solver_follows_the_plan() {
    let endpoint = MockEndpoint::start(Script::new().on([PLAN], plan()).on([WRITE], sql(RIGHT)));
    let document = Traced::new().ask(&endpoint, QUESTION, &["--planner", "chase"]).document(0);
    assert_eq!((&document["answer"]["rows"], endpoint.count()), (&json!([[3]]), 2));
    let prompt = endpoint.requests()[1].prompt();
    let steps = [
        "1. Find the relevant tables: orders with their customers (orders)",
        "2. Perform the operations: keep the customers in France and count (orders)",
        "3. Select the columns: the count alone (orders)",
    ];
    assert!(steps.iter().all(|step| prompt.contains(step)), "{prompt}");
}

/// `--reward chase` beside a solver that asks about several candidates at once: the results of its
/// first round compete.
#[test]
fn candidates_of_another_solver_compete() {
    // The draws of a round have the same prompt and samples of their own.
    let drawn = |request: &Recorded| {
        let is_first = request.body["seed"] == 0;
        request.prompt().contains(WRITE).then(|| sql(if is_first { CUSTOMERS } else { RIGHT }))
    };
    let script = Script::new()
        .with(|request, _| choose_statement(request))
        .with(move |request, _| drawn(request));
    let endpoint = MockEndpoint::start(script);
    let flags = ["--strategy", "mcts", "--reward", "chase"];
    let document = Traced::new().ask(&endpoint, QUESTION, &flags).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");
    let lost = candidate(&document, CUSTOMERS);
    assert_eq!(lost["reason"], json!("rejected: its result won 0 of 1 comparison"), "{document:#}");
    assert_eq!(endpoint.count_of(SELECT), 1);
}

/// A provider without a model knows no plan of three steps and compares nothing.
#[test]
fn it_works_without_a_model() {
    let traced = Traced::new();
    let database = shop(Path::new(traced.folder.path()));
    let mut command = host();
    command.args([
        "--llm",
        "offline",
        "--strategy",
        "chase",
        "--format",
        "json",
        "-q",
        "How many customers are there?",
    ]);
    let document =
        Said::from_output(command.arg("--db").arg(database).output().unwrap()).document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]), "{document:#}");
}
