//! Tests of the requirements of the default strategy's planner: told to the model, checked by the
//! reward, repaired by name, and planned again.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::traced::Traced;
use crate::endpoint::{PLAN, REPAIR, Said, WRITE, candidates, plan, subtask};
use crate::host;

const QUESTION: &str = "How many orders did the French place?";
const RIGHT: &str = "SELECT COUNT(*) AS n FROM orders JOIN customers ON customers.id = customer_id \
                     WHERE country = 'France'";
const ALL: &str = "SELECT COUNT(*) AS n FROM orders";
const PRODUCTS: &str = "SELECT COUNT(*) AS n FROM products";
const FILTER: &str = "country = 'France'";

fn sql(statement: &str) -> Reply {
    Reply::sql(statement, 0.95)
}

/// The plan of one task over these tables with these requirements.
fn make_plan(tables: &[&str], requirements: Value) -> Reply {
    let mut task = subtask("A", QUESTION, &[]);
    (task["tables"], task["requirements"]) = (json!(tables), requirements);
    plan(&[task])
}

fn show(traced: &Traced, words: &[&str]) -> String {
    let mut command = host();
    command
        .env("SYRCH_STATE_DIR", traced.folder.path().join("state"))
        .args(["trace", "show", "last"])
        .args(words);
    let said = Said::from_output(command.output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    said.stdout
}

#[test]
fn a_statement_without_the_filter_is_repaired_by_its_name() {
    let required =
        json!({ "filters": [FILTER], "metrics": [{ "name": "orders", "aggregation": "count" }] });
    let script = Script::new()
        .once([PLAN], make_plan(&["orders"], required.clone()))
        .on([WRITE, REPAIR], sql(RIGHT))
        .on([WRITE], sql(ALL));
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let document = traced.ask(&endpoint, QUESTION, &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");
    let prompts: Vec<String> = endpoint.requests().iter().map(|request| request.prompt()).collect();
    assert_eq!(prompts.len(), 3, "{prompts:#?}");
    assert!(
        prompts[1].contains("with the metric orders (count), the filter `country = 'France'`"),
        "{}",
        prompts[1]
    );
    assert!(prompts[2].contains("it lacks the filter `country = 'France'`"), "{}", prompts[2]);

    let task = &document["tasks"][0];
    assert_eq!(
        (&task["id"], &task["is_answer"], &task["ending"]),
        (&json!("A"), &json!(true), &json!("solved"))
    );
    let stated =
        json!({ "filters": [FILTER], "metrics": required["metrics"], "tables": ["orders"] });
    assert_eq!(task["requirements"], stated);
    let rewards: Vec<&Value> =
        document["candidates"].as_array().unwrap().iter().map(|known| &known["reward"]).collect();
    assert_eq!((&rewards[0]["verdict"], &rewards[0]["score"]), (&json!("rejected"), &json!(0.25)));
    assert_eq!(rewards[0]["failed"], json!(["has the filter `country = 'France'`"]));
    assert_eq!((&rewards[1]["verdict"], &rewards[1]["score"]), (&json!("accepted"), &json!(1.0)));
    assert_eq!(document["candidates"][1]["parents"], json!(["A.1"]));

    let shown = show(&traced, &[]);
    for part in [
        "required: metrics orders (count); filters country = 'France'; tables orders",
        "reward 0.25",
        "reward 1.00",
    ] {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    let again = show(&traced, &["--format", "json"]);
    let tree: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(tree["rounds"][0]["tasks"][0]["requirements"], stated);
}

/// A requirement in another form than the prompt's is held to the statement as well. If the form is
/// not that of the schema, the plan is asked for once more.
#[test]
fn a_filter_of_another_form_is_repaired_by_its_name() {
    for (required, plans) in [
        (json!({ "filters": FILTER }), 2),
        (json!({ "filters": [{ "column": "country", "op": "=", "value": "France" }] }), 2),
        (json!({ "filters": { "country": "France" } }), 2),
        (json!({ "filters": [FILTER] }), 1),
        (json!({ "where": FILTER }), 1),
    ] {
        let script = Script::new()
            .on([PLAN], make_plan(&["orders"], required.clone()))
            .on([WRITE, REPAIR], sql(RIGHT))
            .on([WRITE], sql(ALL));
        let endpoint = MockEndpoint::start(script);
        let document = Traced::new().ask(&endpoint, QUESTION, &[]).document(0);
        assert_eq!(document["answer"]["rows"], json!([[3]]), "{required}: {document:#}");
        assert_eq!(document["tasks"][0]["requirements"]["filters"], json!([FILTER]), "{required}");
        assert_eq!(endpoint.count(), plans + 2, "{required}");
        let plan = endpoint.requests()[0].body["response_format"].to_string();
        assert!(plan.contains("\"filters\":{\"type\":[\"array\""), "{plan}");
    }
}

/// It is shown to the model as it stands, and lowers the confidence in whatever statement comes.
#[test]
fn a_requirement_that_cannot_be_read_is_warned_of_and_doubted() {
    let flags = ["-P", "clarifier.threshold=1"];
    for (required, unread) in [
        (json!({ "nation": "French" }), "nation: \"French\""),
        (json!({ "filters": 7 }), "filters: 7"),
        (json!({ "metrics": [[1]] }), "metrics: [1]"),
        (json!({ "grain": 3 }), "grain: 3"),
        (json!({ "time_range": true }), "time_range: true"),
        (json!("the French alone"), "\"the French alone\""),
    ] {
        let script =
            Script::new().on([PLAN], make_plan(&["orders"], required)).on([WRITE], sql(RIGHT));
        let endpoint = MockEndpoint::start(script);
        let said = Traced::new().ask(&endpoint, QUESTION, &flags);
        let note = format!("a requirement of `A` cannot be read: {unread}");
        assert!(said.stderr.contains(&note), "{}", said.stderr);
        let document = said.document(0);
        assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");
        let confidence = document["confidence"]["calibrated"].as_f64().unwrap();
        assert!(confidence <= 0.5, "{unread}: {document:#}");
        assert_eq!(document["tasks"][0]["requirements"]["unread"], json!([unread]));
        let warnings = document["warnings"].to_string();
        assert!(warnings.contains("is unknown"), "{warnings}");
        let is_shown = endpoint.requests().into_iter().any(|request| {
            let prompt = request.prompt();
            prompt.contains(WRITE) && prompt.contains(&format!("what `{unread}` says"))
        });
        assert!(is_shown, "{unread}");
    }
    let readable = Script::new()
        .on([PLAN], make_plan(&["orders"], json!({ "filters": [FILTER] })))
        .on([WRITE], sql(RIGHT));
    let endpoint = MockEndpoint::start(readable);
    let document = Traced::new().ask(&endpoint, QUESTION, &flags).document(0);
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() > 0.5, "{document:#}");
}

#[test]
fn a_failed_task_is_planned_again_over_other_tables() {
    let required = json!({ "metrics": [{ "name": "orders", "aggregation": "count" }] });
    let script = Script::new()
        .once([PLAN], make_plan(&["products"], required))
        .on(["an earlier try over products"], sql(RIGHT))
        .on([WRITE], sql(PRODUCTS));
    let endpoint = MockEndpoint::start(script);
    let document = Traced::new().ask(&endpoint, QUESTION, &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");
    let tasks: Vec<(&str, &str)> = document["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (task["id"].as_str().unwrap(), task["ending"].as_str().unwrap()))
        .collect();
    assert_eq!(tasks, [("A", "failed"), ("A-again", "solved")]);
    let reason = document["tasks"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("it lacks the metric `orders`"), "{reason}");
    assert_eq!(document["tasks"][1]["requirements"]["tables"], json!(["products", "orders"]));
    // A plan, three attempts over the wrong table, and one over the other.
    assert_eq!(endpoint.count(), 5);
}

/// A planner may be wrong: what it requires in vain lowers the confidence, and does not cost the
/// answer.
#[test]
fn a_wrong_requirement_does_not_turn_an_answer_into_none() {
    let script = Script::new()
        .once([PLAN], make_plan(&[], json!({ "filters": ["country = 'Atlantis'"] })))
        .on([WRITE], sql(RIGHT));
    let endpoint = MockEndpoint::start(script);
    let flags = ["-P", "clarifier.threshold=1"];
    let document = Traced::new().ask(&endpoint, QUESTION, &flags).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");
    let answer = document["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|known| known["status"] == "answer")
        .unwrap();
    assert_eq!(
        (&answer["task"], &answer["confidence"]),
        (&json!("direct"), &json!(0.5)),
        "{document:#}"
    );
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("it lacks the filter `country = 'Atlantis'`"), "{reason}");
    let rejected =
        candidates(&document).iter().filter(|(_, _, reason)| reason.contains("rejected: ")).count();
    assert_eq!(rejected, 3);
    assert_eq!(endpoint.count(), 5);
}

/// A metric and an aggregation are held to the statement of the whole question as well, and the
/// answer says what it lacks.
#[test]
fn a_metric_that_no_statement_has_is_doubted_in_the_end() {
    for (required, lack) in [
        (json!({ "name": "price", "aggregation": "count" }), "the metric `price`"),
        (json!({ "name": "orders", "aggregation": "avg" }), "the aggregation `avg`"),
    ] {
        let script = Script::new()
            .once([PLAN], make_plan(&[], json!({ "metrics": [required] })))
            .on([WRITE], sql(RIGHT));
        let endpoint = MockEndpoint::start(script);
        let flags = ["-P", "clarifier.threshold=1"];
        let document = Traced::new().ask(&endpoint, QUESTION, &flags).document(0);
        assert!(document["confidence"]["calibrated"].as_f64().unwrap() <= 0.5, "{document:#}");
        let direct = document["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|task| task["is_answer"] == json!(true))
            .unwrap();
        assert!(direct["requirements"]["metrics"].is_array(), "{direct:#}");
        let warnings = document["warnings"].to_string();
        assert!(
            warnings.contains("the reward doubts the answer") && warnings.contains(lack),
            "{warnings}"
        );
    }
}

#[test]
fn hostile_requirements_are_bounded_and_escaped() {
    let markup = "<script>alert(1)</script>\u{1b}[2J";
    let filters: Vec<String> =
        (0..40).map(|number| format!("{markup} {number} {}", "x".repeat(400))).collect();
    let required = json!({
        "filters": filters, "dimensions": [markup], "grain": markup, "metrics": [[], 7, null]
    });
    let script = Script::new().on([PLAN], make_plan(&[markup], required)).on([WRITE], sql(RIGHT));
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let said = traced.ask(&endpoint, QUESTION, &["-P", "clarifier.threshold=1"]);
    let document = said.document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");
    assert!(
        said.stdout.len() < 40_000 && !said.stdout.contains('\u{1b}'),
        "{} bytes",
        said.stdout.len()
    );
    let page = show(&traced, &["--html"]);
    assert!(page.contains("\\u003cscript\\u003e"), "{page}");
    assert_eq!(page.matches("<script").count(), 2, "{page}");
    assert!(!show(&traced, &[]).contains('\u{1b}'));
}

/// A metric that no column holds is computed, and a question that one task answers is not asked
/// back because another task failed.
#[test]
fn a_metric_that_is_computed_is_no_reason_to_ask() {
    let revenue = "SELECT SUM(quantity * price) AS n FROM orders JOIN products \
                   ON products.id = product_id";
    let required = json!({ "metrics": [{ "name": "revenue", "aggregation": "sum" }] });
    let script = Script::new()
        .on([PLAN], make_plan(&["orders", "products"], required))
        .on([""], sql(revenue));
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let document = traced.ask(&endpoint, "What is the revenue?", &["--no-interactive"]).document(0);
    assert_eq!(document["sql"], revenue, "{document:#}");

    // The plan asks for what no statement has: the whole question is answered, in doubt.
    let required = json!({ "filters": ["country = 'Atlantis'"] });
    let script = Script::new()
        .on([PLAN], make_plan(&["orders"], required))
        .on([""], sql("SELECT COUNT(*) AS n FROM orders"));
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let document = traced.ask(&endpoint, "How many orders are there?", &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]), "{document:#}");
    let sure = document["confidence"]["calibrated"].as_f64().unwrap();
    let warnings = document["warnings"].to_string();
    assert!(sure <= 0.5 && warnings.contains("Atlantis"), "{document:#}");
}
