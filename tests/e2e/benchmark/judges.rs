//! Judges against the truth: the words of rewards and of model calls that judge, in the lines of a
//! run and in its reports.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script};

use super::Bench;
use crate::endpoint::{PLAN, REPAIR, Said, WRITE, plan, subtask};

const QUESTION: &str = "How many orders did the French place?";
const RIGHT: &str = "SELECT COUNT(*) AS n FROM orders JOIN customers ON customers.id = customer_id \
                     WHERE country = 'France'";
const ALL: &str = "SELECT COUNT(*) AS n FROM orders";

fn bench() -> Bench {
    let bench = Bench::new();
    let line = json!({ "id": "a", "db": "shop", "question": QUESTION, "gold_sql": RIGHT });
    bench.place.file("suite.jsonl", format!("{line}\n"));
    bench
}

/// The lines of the last run's results.
fn lines(bench: &Bench) -> Vec<Value> {
    let run = bench.state().join("suites").join(&bench.runs()[0]).join("results.jsonl");
    std::fs::read_to_string(run)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_rewards_words_are_compared_with_the_truth() {
    let bench = bench();
    let mut task = subtask("A", QUESTION, &[]);
    task["requirements"] = json!({ "filters": ["country = 'France'"] });
    let script = Script::new()
        .on([PLAN], plan(&[task]))
        .on([WRITE, REPAIR], Reply::sql(RIGHT, 0.95))
        .on([WRITE], Reply::sql(ALL, 0.95));
    let endpoint = MockEndpoint::start(script);
    let said = Said::from_output(bench.asks(&endpoint, "--format json").output().unwrap());
    let document = said.document(0);
    let judge = &document["judges"][0];
    assert_eq!(
        (document["judges"].as_array().unwrap().len(), &judge["judge"]),
        (1, &json!("reward"))
    );
    let counts =
        ["yes_right", "yes_wrong", "no_right", "no_wrong"].map(|key| judge[key].as_u64().unwrap());
    assert_eq!(counts, [1, 0, 0, 1]);
    assert_eq!((&judge["passed"]["share"], &judge["refused"]["share"]), (&json!(0.0), &json!(0.0)));
    assert!(judge["passed"]["interval"]["high"].as_f64().unwrap() > 0.5);

    let judgements = &lines(&bench)[0]["graded"]["judgements"];
    let words = |at: usize| {
        (&judgements[at]["reward"], &judgements[at]["verdicts"]["bag-v1"], &judgements[at]["sql"])
    };
    assert_eq!(words(0), (&json!(true), &json!("right"), &json!(RIGHT)));
    assert_eq!(words(1), (&json!(false), &json!("wrong"), &json!(ALL)));

    let markdown = bench.say("report --format markdown").stdout;
    assert!(
        markdown.contains("Judge against truth") && markdown.contains("| reward | 1 | 0 | 0 | 1 |"),
        "{markdown}"
    );
    assert_eq!(bench.say("report --report page.html").code, 0);
    let page = std::fs::read_to_string(bench.place.path().join("page.html")).unwrap();
    assert!(
        page.contains("\"title\":\"Judge against truth\"") && page.contains("wrong let pass"),
        "{page}"
    );
}

/// Prefers the wrong statement of two.
fn choose_wrong(request: &Recorded) -> Option<Reply> {
    let prompt = request.prompt();
    let place = prompt
        .find(&format!(":\n{ALL}\n"))
        .filter(|_| prompt.contains("You decide which of two"))?;
    Some(Reply::text(if prompt[..place].ends_with("Statement A") { "A" } else { "B" }))
}

#[test]
fn a_models_choice_is_compared_with_the_truth() {
    let bench = bench();
    let steps = ["find_tables", "perform_operations", "select_columns"].map(|kind| {
        json!({ "step_type": kind, "description": "orders", "reasoning": "", "entities": [] })
    });
    let script = Script::new()
        .on(["You plan one SELECT statement"], Reply::json(&json!({ "steps": steps })))
        .on(["Work along the plan"], Reply::sql(ALL, 0.9))
        .on(["Divide and conquer"], Reply::sql(RIGHT, 0.9))
        .on(["make up 3 questions"], Reply::sql(RIGHT, 0.9))
        .with(|request, _| choose_wrong(request));
    let endpoint = MockEndpoint::start(script);
    let flags = "--strategy chase -P solver.clear_lead=1 --format json";
    let document = Said::from_output(bench.asks(&endpoint, flags).output().unwrap()).document(0);
    let judges = document["judges"].as_array().unwrap();
    let model = judges
        .iter()
        .find(|judge| judge["judge"] == "model")
        .unwrap_or_else(|| panic!("{document:#}"));
    let counts =
        ["yes_right", "yes_wrong", "no_right", "no_wrong"].map(|key| model[key].as_u64().unwrap());
    assert_eq!(counts, [0, 1, 1, 0], "{document:#}");
    assert_eq!((&model["passed"]["share"], &model["refused"]["share"]), (&json!(1.0), &json!(1.0)));
}
