//! The strategy `mcts` in a whole search: drafts, revisions that see the others, a repair, and the
//! stop by agreement.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};

use super::traced::Traced;
use crate::endpoint::{REPAIR, Said, WRITE, search};
use crate::{host, shop};

const QUESTION: &str = "How many orders did the French place?";
/// Texts that are only in a revision, and only in one that sees others.
const REVISE: &str = "A statement for this task that runs";
const OTHERS: &str = "give something else";

const RIGHT: &str = "SELECT COUNT(*) AS n FROM orders JOIN customers ON customers.id = customer_id \
                     WHERE country = 'France'";
const ALSO_RIGHT: &str = "SELECT COUNT(*) AS n FROM orders WHERE customer_id IN (SELECT id \
                          FROM customers WHERE country = 'France')";
const REPAIRED: &str = "SELECT SUM(country = 'France') AS n FROM orders \
                        JOIN customers ON customers.id = orders.customer_id";
const BROKEN: &str = "SELECT COUNT(*) AS n FROM orders WHERE land = 'France'";
const ALL: &str = "SELECT COUNT(*) AS n FROM orders";

fn sql(statement: &str) -> Reply {
    Reply::sql(statement, 0.9).usage(Usage::Tokens(200, 30))
}

/// The drafts go out at once: the sample, which is sent as the seed, tells them apart.
fn draft(request: &Recorded, _before: usize) -> Option<Reply> {
    let statement = if request.body["seed"] == 0 { BROKEN } else { ALL };
    request.prompt().contains(WRITE).then(|| sql(statement))
}

fn endpoint() -> MockEndpoint {
    let script = Script::new()
        .on([REVISE, OTHERS], sql(ALSO_RIGHT))
        .on([REVISE], sql(RIGHT))
        .on([REPAIR, BROKEN], sql(REPAIRED))
        .with(draft);
    MockEndpoint::start(script)
}

#[test]
fn a_tree_of_statements_comes_to_agree() {
    let endpoint = endpoint();
    let traced = Traced::new();
    let flags = ["--strategy", "mcts", "-P", "solver.width=2"];
    let document = traced.ask(&endpoint, QUESTION, &flags).document(0);
    assert_eq!(
        (&document["answer"]["rows"], &document["sql"]),
        (&json!([[3]]), &json!(RIGHT)),
        "{document:#}"
    );

    let requests = endpoint.requests();
    let prompts: Vec<String> = requests.iter().map(Recorded::prompt).collect();
    // Two drafts, two revisions of the one that ran, the repair of the other: then three agree.
    assert_eq!(prompts.len(), 5, "{prompts:#?}");
    assert!(prompts[..2].iter().all(|prompt| !prompt.contains(REVISE) && !prompt.contains(REPAIR)));
    assert!(
        prompts[2].contains(&format!(
            "{REVISE}:\n{ALL}\nIt returns 1 row of n. 1 of 1 statements agree."
        ))
    );
    assert!(
        prompts[3].contains(&format!(
            "{OTHERS}:\n{RIGHT}\nIt returns 1 row of n. 1 of 2 statements agree."
        ))
    );
    assert!(
        prompts[4].contains(&format!("Attempt 1:\n{BROKEN}\nWhat was wrong: "))
            && !prompts[4].contains(REVISE)
    );
    assert!(
        requests.iter().all(|request| request.body["temperature"] == 0.7),
        "{:?}",
        requests[0].body
    );

    traced.assert_snapshot("mcts.txt");
}

#[test]
fn the_trace_tells_every_step_of_the_tree() {
    let endpoint = endpoint();
    let folder = syrch_kit::scratch();
    let state = folder.path().join("state");
    let mut command = search(&endpoint.url(), &shop(folder.path()));
    command.env("SYRCH_STATE_DIR", &state).args([
        "--strategy",
        "mcts",
        "-P",
        "solver.width=2",
        "-q",
        QUESTION,
    ]);
    assert_eq!(Said::from_output(command.output().unwrap()).code, 0);
    let mut command = host();
    command.env("SYRCH_STATE_DIR", &state).args(["trace", "show", "last", "--format", "json"]);
    let tree = Said::from_output(command.output().unwrap()).document(0);
    let calls = tree["role_calls"].as_array().unwrap().iter();
    let steps: Vec<&str> = calls
        .filter_map(|call| call["steps"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let rollout = ["select", "expand", "evaluate", "back-up"];
    let drafts = ["expand", "expand", "evaluate", "back-up", "evaluate", "back-up"];
    assert_eq!(steps, [&drafts[..], &rollout, &rollout, &rollout].concat());
}
