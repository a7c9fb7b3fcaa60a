//! The plugin `progressive` in a whole search: sub-tasks and a plan, a statement that grows, a step
//! that is rejected and branches, and the whole judged once.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};

use super::traced::Traced;
use crate::endpoint::{REPAIR, WRITE};

const QUESTION: &str = "What are the names of the customers from France?";
/// Texts that are only in the prompts of one kind.
const SUBTASKS: &str = "You divide a question over an SQL database";
const PLAN: &str = "You plan the one SELECT statement";
const RECALCULATE: &str = "State anew how likely";
const JUDGE: &str = "You judge whether";

const ALL: &str = "SELECT * FROM customers";
const SPAIN: &str = "SELECT * FROM customers WHERE country = 'Spain'";
const FRANCE: &str = "SELECT * FROM customers WHERE country = 'France'";
const NOT_SPAIN: &str = "SELECT * FROM customers WHERE country <> 'Spain'";
const LIKE: &str = "SELECT * FROM customers WHERE country LIKE 'Fra%'";
const NAMES: &str = "SELECT name FROM customers WHERE country = 'France'";
const OTHER_NAMES: &str = "SELECT name FROM customers WHERE country <> 'Spain'";

fn with_usage(reply: Reply) -> Reply {
    reply.usage(Usage::Tokens(1000, 50))
}

fn write(sql: &str) -> Reply {
    with_usage(Reply::sql(sql, 0.9))
}

fn subtask(id: u32, operation: &str, confidence: f64, dependencies: &[u32]) -> Value {
    json!({ "task_id": id, "operation": operation, "operation_type": "filter",
        "confidence": confidence,
            "reasoning": "the question says it", "dependencies": dependencies })
}

fn plan() -> Value {
    let step = |kind: &str, text: &str| {
        json!({
            "step_type": kind, "description": text, "entities": ["customers"]
        })
    };
    json!({ "steps": [step("find_tables", "who buys"), step("perform_operations", "France alone"),
                      step("select_columns", "their names")] })
}

/// The second step is wrong at first; two of its three alternatives have different rows.
fn script() -> Script {
    let subtasks = json!({ "subtasks": [
        subtask(3, "return their names", 0.7, &[2]),
        subtask(1, "read the customers", 0.95, &[]),
        subtask(2, "keep those from France", 0.9, &[1]),
        subtask(4, "order them by a thing that is not there", 0.6, &[9]),
    ] });
    let yes = with_usage(Reply::text(
        "TABLES: YES\nFILTERS: YES\nCORRECT: YES\nREASONING: It does what was requested.",
    ));
    let no = with_usage(Reply::text(
        "TABLES: YES\nFILTERS: NO, another country\nCORRECT: NO\nREASONING: Spain is not France. \
         With France it would be CORRECT: YES",
    ));
    // Alternatives are samples of one prompt.
    Script::new()
        .on([SUBTASKS], with_usage(Reply::json(&subtasks)))
        .on([PLAN], with_usage(Reply::json(&plan())))
        .on(
            [RECALCULATE],
            with_usage(Reply::json(
                &json!({ "updated_confidences": { "2": 0.92, "3": 0.8, "4": 0.1 } }),
            )),
        )
        .on([JUDGE, &format!("Statement:\n{SPAIN}\n")], no)
        .on([JUDGE], yes)
        .with(|request: &Recorded, _: usize| {
            let prompt = request.prompt();
            let is_one = prompt.contains(REPAIR)
                && prompt.contains("Your step now, filter: keep those from France");
            is_one.then(|| {
                write([FRANCE, NOT_SPAIN, LIKE][request.body["seed"].as_u64().unwrap() as usize])
            })
        })
        .on([WRITE, "Your step now, filter: read the customers"], write(ALL))
        .on([WRITE, "Your step now, filter: keep those from France"], write(SPAIN))
        .on(
            [WRITE, "Your step now, filter: return their names", &format!("far:\n{FRANCE}\n")],
            write(NAMES),
        )
        .on(
            [WRITE, "Your step now, filter: return their names", &format!("far:\n{NOT_SPAIN}\n")],
            write(OTHER_NAMES),
        )
        .on(
            [WRITE, "Your step now, filter: order them", &format!("far:\n{NAMES}\n")],
            write(&format!("{NAMES} ORDER BY 1")),
        )
        .on(
            [WRITE, "Your step now, filter: order them", &format!("far:\n{OTHER_NAMES}\n")],
            write(&format!("{OTHER_NAMES} ORDER BY 1")),
        )
}

/// The candidate that gave the answer.
fn answer(document: &Value) -> &Value {
    let candidates = document["candidates"].as_array().unwrap();
    candidates
        .iter()
        .find(|candidate| candidate["status"] == "answer")
        .unwrap_or_else(|| panic!("{document:#}"))
}

fn kind(request: &Recorded) -> &'static str {
    let prompt = request.prompt();
    let is_step = prompt.contains("The request to judge is this step");
    match () {
        () if prompt.contains(SUBTASKS) => "sub-tasks",
        () if prompt.contains(PLAN) => "plan",
        () if prompt.contains(RECALCULATE) => "recalculate",
        () if prompt.contains(JUDGE) && is_step => "judge the step",
        () if prompt.contains(JUDGE) => "judge the whole",
        () if prompt.contains(REPAIR) => "alternative",
        () if prompt.contains(WRITE) => "write",
        () => "something else",
    }
}

#[test]
fn confident_steps_come_first_and_a_rejected_one_branches() {
    let endpoint = MockEndpoint::start(script());
    let traced = Traced::new();
    let document = traced.ask(&endpoint, QUESTION, &["--strategy", "progressive"]).document(0);
    assert_eq!(document["answer"]["rows"], json!([["Ada"], ["Cleo"]]), "{document:#}");
    assert_eq!(answer(&document)["sql"], format!("{NAMES} ORDER BY 1"));

    let requests = endpoint.requests();
    let mut kinds: Vec<&str> = requests.iter().map(kind).collect();
    // These two are asked at once.
    kinds[..2].sort_unstable();
    let branches =
        ["recalculate", "write", "judge the step", "recalculate", "write", "judge the step"];
    let expected = [
        &["plan", "sub-tasks", "write", "judge the step", "recalculate", "write", "judge the step"]
            [..],
        &["alternative"; 3],
        &["judge the step"; 3],
        &branches,
        &branches,
        &["judge the whole"],
    ]
    .concat();
    assert_eq!(kinds, expected);

    let prompts: Vec<String> = requests.iter().map(Recorded::prompt).collect();
    let has = |place: usize, parts: &[&str]| {
        for part in parts {
            assert!(prompts[place].contains(part), "{part} is missing in {}", prompts[place]);
        }
    };
    let steps = [
        "1. Find the tables: who buys (customers)",
        "3. Select the columns: their names (customers)",
    ];
    has(
        2,
        &[
            "Your step now, filter: read the customers",
            "Later steps, not yours: ",
            steps[0],
            steps[1],
        ],
    );
    has(
        3,
        &["this step: read the customers", "gave 4 rows of id, name, country", "Ada", "name TEXT"],
    );
    has(4, &["Done, step 1: read the customers (4 rows)", "2. [0.90] keep those from France"]);
    has(5, &[&format!("The statement so far:\n{ALL}\n"), "It reads the tables: customers"]);
    for place in 7..10 {
        has(
            place,
            &[SPAIN, "rejected: wrong_filter: Spain is not France.", "the value as it is stored"],
        );
    }
    has(prompts.len() - 1, &[QUESTION, "Statement:", "ORDER BY 1", "gave 2 rows of name"]);
    traced.assert_snapshot("progressive.txt");
}

#[test]
fn a_judge_that_cannot_judge_says_neither_yes_nor_no() {
    let script = Script::new()
        .on([SUBTASKS], Reply::json(&json!({ "subtasks": [] })))
        .on([PLAN], Reply::json(&plan()))
        .on([JUDGE], Reply::text("Yes, but wrong table"))
        .on([WRITE], Reply::sql(NAMES, 0.9));
    let endpoint = MockEndpoint::start(script);
    let flags = ["--planner", "progressive", "--solver", "progressive", "--reward", "progressive"];
    let document = Traced::new().ask(&endpoint, QUESTION, &flags).document(0);
    let candidate = answer(&document);
    assert_eq!(candidate["sql"], NAMES);
    let kinds: Vec<&str> = endpoint.requests().iter().map(kind).collect();
    assert_eq!(kinds[2..], ["write", "judge the whole"]);
    assert!(
        candidate["reason"].as_str().unwrap().contains("not judged as a whole"),
        "{candidate:#}"
    );
}
