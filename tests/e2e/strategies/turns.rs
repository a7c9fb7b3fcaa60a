//! The planner `turns` in a whole search: every action once, and each decided from what the turn
//! before found.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};

use super::traced::Traced;
use crate::endpoint::{PLAN, WRITE, for_task};

const QUESTION: &str = "How many orders did a French customer place on average?";
const CUSTOMERS: &str = "SELECT COUNT(*) AS n FROM customers WHERE country = 'France'";
const ORDERS: &str = "SELECT COUNT(*) AS n FROM orders \
                      JOIN customers ON customers.id = customer_id WHERE country = 'France'";
const AVERAGE: &str = "SELECT 1.0 * task_t2.n / task_t1.n AS orders_each FROM task_t1, task_t2";

fn turn(decisions: &[Value]) -> Reply {
    Reply::json(&json!({ "decisions": decisions })).usage(Usage::Tokens(2000, 300))
}

fn sql(statement: &str) -> Reply {
    Reply::sql(statement, 0.9).usage(Usage::Tokens(200, 30))
}

fn search() -> Value {
    json!({
        "action": "search", "branch": "main", "target_node": "s1", "query": "customer country",
        "corpus": "columns",
        "retriever": "lexical", "rationale": "where customers live is not clear"
    })
}

fn go_on() -> Value {
    json!({
        "action": "continue", "branch": "main", "target_node": "t1",
        "text": "count the customers in France",
        "rationale": "the country stands with the customers"
    })
}

fn fork(branch: &str, node: &str, text: &str, priority: f64) -> Value {
    json!({
        "action": "fork", "branch": "main", "node": "t1", "target_branch": branch,
        "target_node": node,
        "edge": format!("to-{node}"), "edge_kind": "sibling", "frontier": format!("f-{branch}"),
        "text": text,
        "priority": priority, "rationale": "the orders are missing"
    })
}

fn select() -> Value {
    json!({
        "action": "select", "branch": "b2", "node": "t2", "frontier": "f-b2",
        "rationale": "the plain reading first"
    })
}

fn merge() -> Value {
    json!({
        "action": "merge", "branch": "main", "target_branch": "b2", "target_node": "t3",
        "text": "divide the orders by the customers", "expected": "one number",
        "rationale": "both counts are there"
    })
}

/// A model that decides by what the prompt says was found. A turn whose result is not shown gets
/// status 418.
fn agent() -> MockEndpoint {
    let readings = [
        fork("b2", "t2", "count their orders", 0.2),
        fork("b3", "t9", "count their items", 0.8),
        select(),
    ];
    let prune =
        json!({"action": "prune", "branch": "b3", "rationale": "orders are asked for, not items"});
    let end = json!({
        "action": "terminate", "node": "t3", "stop_reason": "goal-satisfied",
        "rationale": "one number"
    });
    let script = Script::new()
        .on([PLAN, "This is turn 1 of 6.", "Nothing has been done yet"], turn(&[search()]))
        .on(
            [PLAN, "This is turn 2 of 6.", "NEW s1: search of columns", "customers.country"],
            turn(&[go_on()]),
        )
        .on(
            [PLAN, "This is turn 3 of 6.", "NEW t1:", "1 row of (n), confidence 0.", CUSTOMERS],
            turn(&readings),
        )
        .on(
            [PLAN, "This is turn 4 of 6.", "NEW t2:", "waits in the frontier as f-b3", ORDERS],
            turn(&[prune, merge()]),
        )
        .on(
            [
                PLAN,
                "This is turn 5 of 6.",
                "NEW t3:",
                "1 row of (orders_each)",
                "Branch b2 (merged)",
            ],
            turn(&[end]),
        )
        .on(
            [WRITE, &for_task("count the customers in France"), "customers.country"],
            sql(CUSTOMERS),
        )
        .on([WRITE, &for_task("count their orders"), "customers.country"], sql(ORDERS))
        .on(
            [
                WRITE,
                &for_task("divide the orders by the customers"),
                "task_t1 (n), 1 row",
                "task_t2 (n), 1 row",
            ],
            sql(AVERAGE),
        );
    MockEndpoint::start(script)
}

fn kind(request: &Recorded) -> &'static str {
    let prompt = request.prompt();
    [(PLAN, "plan"), (WRITE, "write")]
        .into_iter()
        .find(|(words, _)| prompt.contains(words))
        .map_or("?", |(_, kind)| kind)
}

#[test]
fn each_turn_follows_from_what_the_one_before_found() {
    let endpoint = agent();
    let traced = Traced::new();
    let document =
        traced.ask(&endpoint, QUESTION, &["--strategy", "turns", "--rows", "full"]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[1.5]]), "{document:#}");
    assert_eq!(
        document["sql"],
        format!("WITH task_t1 AS ({CUSTOMERS}), task_t2 AS ({ORDERS}) {AVERAGE}")
    );
    let kinds: Vec<&str> = endpoint.requests().iter().map(kind).collect();
    assert_eq!(kinds, ["plan", "plan", "write", "plan", "write", "plan", "write", "plan"]);

    // What nobody has seen is in no prompt: neither a later task nor a cell.
    let plans: Vec<Recorded> =
        endpoint.requests().into_iter().filter(|request| kind(request) == "plan").collect();
    for (number, request) in plans.iter().enumerate() {
        let prompt = request.prompt();
        assert!(prompt.contains("Table orders") && prompt.contains(QUESTION), "{prompt}");
        assert_eq!(prompt.contains(CUSTOMERS), number >= 2, "{prompt}");
        assert_eq!(prompt.contains(ORDERS), number >= 3, "{prompt}");
        assert!(!prompt.contains("Cleo") && !prompt.contains("1.5"), "{prompt}");
        assert_eq!(
            request.body["response_format"]["json_schema"]["schema"]["title"], "syrch-turn",
            "{}",
            request.body
        );
    }
    // What was pruned before it was selected never ran.
    let text = document.to_string();
    assert!(!text.contains("\"t9\""), "{document:#}");
    traced.assert_snapshot("turns.txt");
}

#[test]
fn a_model_that_decides_wrong_twice_is_replaced_by_rules() {
    // The statement is asked for only with what the rules' own search has found.
    let script = Script::new()
        .on(
            [PLAN, "This is turn 1 of 6."],
            turn(&[json!({"action": "continue", "branch": "b7", "rationale": "?"})]),
        )
        .on([WRITE, "customers.country"], sql(CUSTOMERS));
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let said = traced.ask(
        &endpoint,
        "In which country does each customer live?",
        &["--strategy", "turns", "--structured", "never"],
    );
    let document = said.document(0);
    assert_eq!(document["sql"], CUSTOMERS, "{document:#}");
    let requests = endpoint.requests();
    let kinds: Vec<&str> = requests.iter().map(kind).collect();
    // A doubtful result is repaired once more.
    assert_eq!(kinds[..3], ["plan", "plan", "write"]);
    let again = requests[1].prompt();
    assert!(
        again.contains("decision 1 (continue): missing-branch: there is no branch `b7`"),
        "{again}"
    );
}
