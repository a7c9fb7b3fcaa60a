//! The planner: EP-05, EP-07, and the models and limits of its two calls.

use syrch_plugin::replies::plan_of;

use super::*;
use crate::subtask::read_from_task;

fn subtasks() -> JsonValue {
    fn one(id: u32, on: &[u32]) -> serde_json::Value {
        json!({ "task_id": id, "operation": format!("do {id}"), "operation_type": "filter",
            "confidence": 0.9,
                "reasoning": "clear", "dependencies": on })
    }
    json!({ "subtasks": [one(1, &[]), one(2, &[1, 7])] })
}

fn steps() -> JsonValue {
    fn step(kind: &str, text: &str) -> serde_json::Value {
        json!({ "step_type": kind, "description": text, "entities": ["employees"] })
    }
    json!({ "steps": [step("select_columns", "all of them"), step("find_tables", "the staff"),
                      step("perform_operations", "two filters")] })
}

fn plan_with_replies(settings: Settings, replies: &[JsonValue]) -> (Graph, FakeHost) {
    let mut host = FakeHost::default();
    for plan in replies {
        host.model.reply_plan(plan);
    }
    let graph =
        Progressive::new(settings).plan(&host, &Problem::new(QUESTION), &catalog()).unwrap();
    (graph, host)
}

#[test]
fn two_calls_make_one_task_with_sub_tasks_and_three_steps() {
    let (graph, host) = plan_with_replies(Settings::default(), &[subtasks(), steps()]);
    let [task] = graph.tasks.as_slice() else { panic!("not one task") };
    assert_eq!((task.text.as_str(), graph.answer.as_str()), (QUESTION, "A"));
    assert_eq!(
        plan_of(task),
        [
            "Find the tables: the staff (employees)",
            "Perform the operations: two filters (employees)",
            "Select the columns: all of them (employees)"
        ]
    );
    let (list, _) = read_from_task(task, 16);
    assert_eq!(list.iter().map(|one| one.operation.as_str()).collect::<Vec<_>>(), ["do 1", "do 2"]);
    assert_eq!(
        (list[1].dependencies.as_slice(), list[1].confidence),
        (["1".to_owned()].as_slice(), 0.9)
    );
    assert_eq!(host.trace.notes(), ["sub-task 2 waits for 7, which there is not: dropped"]);

    let requests = host.model.requests();
    assert_eq!(
        requests.iter().map(|asked| &asked.purpose).collect::<Vec<_>>(),
        [&Purpose::Plan, &Purpose::Plan]
    );
    assert_eq!(
        requests.iter().map(|asked| asked.max_tokens).collect::<Vec<_>>(),
        [Some(2048), Some(2048)]
    );
    assert_eq!((requests[0].temperature, requests[0].model.as_ref()), (Some(0.0), None));
    assert_has(&host.model.prompt(0), &["confidence", "dependencies", "Table employees", QUESTION]);
    assert_has(
        &host.model.prompt(1),
        &["find_tables", "perform_operations", "select_columns", "Table employees", QUESTION],
    );
}

#[test]
fn settings_reach_their_calls() {
    let settings = Settings {
        max_subtasks: 1,
        subtask_max_tokens: 70,
        plan_max_tokens: 80,
        confidence_temperature: 0.3,
        model_subtasks: "thinker".into(),
        model_plan: " planner ".into(),
        catalog_bytes: 500,
        ..Settings::default()
    };
    let (graph, host) = plan_with_replies(settings, &[subtasks(), steps()]);
    assert_eq!(read_from_task(&graph.tasks[0], 16).0.len(), 1);
    assert!(host.trace.notes().contains(&"only the first 1 sub-tasks are used".to_owned()));
    let requests = host.model.requests();
    let reported = |place: usize| {
        (requests[place].model.as_deref(), requests[place].max_tokens, requests[place].temperature)
    };
    assert_eq!(reported(0), (Some("thinker"), Some(70), Some(0.3)));
    assert_eq!(reported(1), (Some("planner"), Some(80), Some(0.0)));

    let (graph, host) =
        plan_with_replies(Settings { plan: false, ..Settings::default() }, &[subtasks()]);
    assert_eq!((host.model.requests().len(), plan_of(&graph.tasks[0]).len()), (1, 0));
}

#[test]
fn the_catalog_has_as_many_bytes_as_it_is_given() {
    fn wide(bytes: u32) -> String {
        let mut long = catalog();
        long.tables[0].comment = Some("c".repeat(150));
        long.tables[0].columns.iter_mut().for_each(|column| column.comment = Some("d".repeat(150)));
        let host = FakeHost::default();
        let settings = Settings { catalog_bytes: bytes, ..Settings::default() };
        drop(Progressive::new(settings).plan(&host, &Problem::new(QUESTION), &long));
        host.model.prompt(0)
    }
    assert!(wide(48_000).contains("ddd") && !wide(500).contains("ddd"));
}

#[test]
fn replies_that_cannot_be_used_leave_one_task_and_are_reported() {
    for nothing in
        [json!({ "subtasks": [] }), json!({ "subtasks": [{}] }), json!({ "subtasks": "many" })]
    {
        let (graph, host) =
            plan_with_replies(Settings::default(), &[nothing, json!({ "steps": [] })]);
        assert_eq!((graph.tasks.len(), graph.tasks[0].context.as_ref()), (1, None));
        assert_has(
            &host.trace.notes().join("\n"),
            &["the question stays one step", "no step `find_tables`"],
        );
    }
    // A provider without a model.
    let (graph, host) = plan_with_replies(Settings::default(), &[]);
    assert_eq!((graph.tasks.len(), graph.tasks[0].context.as_ref()), (1, None));
    assert_has(
        &host.trace.notes().join("\n"),
        &["no sub-tasks: the model provider cannot do this", "no plan: "],
    );
}

#[test]
fn a_plan_in_more_than_three_steps_is_three() {
    let mut long = steps();
    long["steps"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "step_type": "perform_operations", "description": "an order" }));
    let (graph, _) = plan_with_replies(Settings::default(), &[subtasks(), long]);
    assert_eq!(plan_of(&graph.tasks[0]).len(), 3);
    assert_eq!(
        plan_of(&graph.tasks[0])[1],
        "Perform the operations: two filters (employees) an order"
    );
}

#[test]
fn an_outage_and_a_spent_budget_are_failures() {
    for (error, kind) in [
        (LlmError::Budget, FailureKind::Budget),
        (LlmError::Cancelled, FailureKind::Cancelled),
        (LlmError::Denied("the model `x` is not configured".into()), FailureKind::Model),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Plan, Err(error));
        let failed = Progressive::new(Settings::default())
            .plan(&host, &Problem::new(QUESTION), &catalog())
            .unwrap_err();
        assert_eq!(failed.kind, kind);
    }
}
