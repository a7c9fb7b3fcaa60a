//! The planner: three steps, or a task without a plan.

use syrch_plugin::brief::{Brief, PromptSize};
use syrch_plugin::replies::plan_of;

use super::*;

fn step(kind: &str, description: &str, entities: &[&str]) -> JsonValue {
    json!({ "step_type": kind, "description": description, "entities": entities })
}

fn three() -> JsonValue {
    json!({ "steps": [
        step("find_tables", "orders joined to their\ncustomers", &["orders", "customers"]),
        step("perform_operations", "sum the totals", &[]),
        step("select_columns", "the sum alone", &["orders.total"]),
    ] })
}

fn plan(host: &FakeHost, settings: Settings) -> Result<Graph, Failure> {
    let problem = Problem {
        evidence: Some("sold means ordered".into()),
        ..Problem::new("How much was sold?")
    };
    Chase::new(settings).plan(host, &problem, &catalog())
}

fn without_plan(host: &FakeHost) {
    let graph = plan(host, Settings::default()).unwrap();
    assert_eq!((graph.tasks.len(), graph.tasks[0].text.as_str()), (1, "How much was sold?"));
    assert_eq!((graph.answer.as_str(), &graph.tasks[0].context), ("A", &None));
    let notes = host.trace.notes();
    assert!(
        notes.len() == 1 && notes[0].ends_with("the question is one task without a plan"),
        "{notes:?}"
    );
    assert_eq!(host.model.requests().len(), 1);
}

#[test]
fn one_call_gives_one_task_that_carries_the_three_steps() {
    let mut host = FakeHost::default();
    host.model.reply_plan(&three());
    let graph = plan(&host, Settings::default()).unwrap();
    assert_eq!((graph.tasks.len(), graph.answer.as_str()), (1, "A"));
    let steps = [
        "Find the relevant tables: orders joined to their customers (orders, customers)",
        "Perform the operations: sum the totals",
        "Select the columns: the sum alone (orders.total)",
    ];
    assert_eq!(plan_of(&graph.tasks[0]), steps);
    assert_eq!(events(&host, "plan"), [(None, json!({ "steps": steps }))]);
    assert!(host.trace.notes().is_empty());

    let requests = host.model.requests();
    assert_eq!((requests.len(), &requests[0].purpose), (1, &Purpose::Plan));
    let Shape::Json(schema) = &requests[0].expect else { panic!("{:?}", requests[0].expect) };
    assert_parts(
        schema,
        &["\"chase-query-plan\"", "\"minItems\":3", "\"maxItems\":3", "perform_operations"],
    );
    let parts = [
        "Table orders",
        "sold means ordered",
        "How much was sold?",
        "1. `find_tables`",
        "3. `select_columns`",
    ];
    assert_parts(&host.model.prompt(0), &parts);
}

#[test]
fn any_solver_that_shows_a_tasks_plan_shows_this_one() {
    let mut host = FakeHost::default();
    host.model.reply_plan(&three());
    let graph = plan(&host, Settings::default()).unwrap();
    let catalog = catalog();
    let size = PromptSize { catalog_bytes: 4000, parent_rows: 0 };
    let brief = Brief::new(
        &host,
        size,
        &Problem::new("How much was sold?"),
        &catalog,
        &graph.tasks[0],
        &[],
    );
    assert_parts(
        &brief.setting(),
        &["1. Find the relevant tables: orders joined", "3. Select the columns: the sum"],
    );
}

#[test]
fn steps_out_of_order_are_put_in_order() {
    let mut host = FakeHost::default();
    let mut steps = three();
    steps["steps"].as_array_mut().unwrap().reverse();
    host.model.reply_plan(&steps);
    let graph = plan(&host, Settings::default()).unwrap();
    assert!(plan_of(&graph.tasks[0])[0].starts_with("Find the relevant tables"));
}

#[test]
fn a_reply_that_cannot_be_used_leaves_the_question_without_a_plan() {
    let twice = json!({
        "steps": [
            step("find_tables", "a", &[]), step("find_tables", "b", &[]),
            step("select_columns", "c", &[])
        ]
    });
    let mut silent = three();
    silent["steps"][1]["description"] = json!(" ");
    let mut four = three();
    four["steps"].as_array_mut().unwrap().push(step("select_columns", "d", &[]));
    for useless in [twice, silent, four, json!({}), json!({ "steps": null })] {
        let mut host = FakeHost::default();
        host.model.reply_plan(&useless);
        without_plan(&host);
    }
}

#[test]
fn a_provider_that_cannot_plan_leaves_the_question_without_a_plan() {
    without_plan(&FakeHost::default());
    for error in
        [LlmError::Refused("no".into()), LlmError::Malformed("Sure!".into()), LlmError::TooLarge]
    {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Plan, Err(error));
        without_plan(&host);
    }
}

#[test]
fn a_model_that_cannot_be_reached_or_paid_is_a_failure() {
    for (error, kind) in [
        (LlmError::Budget, FailureKind::Budget),
        (LlmError::Unavailable("refused".into()), FailureKind::Model),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Plan, Err(error));
        assert_eq!(plan(&host, Settings::default()).unwrap_err().kind, kind);
    }
}

#[test]
fn the_catalogs_room_is_a_setting() {
    let mut host = FakeHost::default();
    host.model.reply_plan(&three());
    let many = Catalog { tables: (0..40).flat_map(|_| catalog().tables).collect(), ..catalog() };
    let planner = Chase::new(Settings { catalog_bytes: 500, ..Settings::default() });
    planner.plan(&host, &Problem::new("q"), &many).unwrap();
    assert_parts(&host.model.prompt(0), &["more not shown"]);
}
