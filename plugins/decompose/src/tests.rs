//! The planner against scripted models; among them every bug of syrch 0.1.2 that concerns planning.

use serde_json::{Value as JsonValue, json};
use syrch_plugin::fakes::FakeHost;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::join_keys_of;
use syrch_plugin::requirements::Requirements;

use crate::{Decompose, Settings};

fn catalog() -> Catalog {
    let table = |name: &str| Table {
        name: name.into(),
        columns: vec![Column { name: "id".into(), ..Column::default() }],
        ..Table::default()
    };
    Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: vec![table("orders"), table("select")],
        ..Catalog::default()
    }
}

fn problem() -> Problem {
    Problem {
        answers: vec![("Which year?".into(), "2024".into())],
        ..Problem::new("Who buys most?")
    }
}

fn plan_with(host: &FakeHost) -> Graph {
    Decompose::new(Settings::default()).plan(host, &problem(), &catalog()).unwrap()
}

fn plan_with_replies(plans: &[JsonValue]) -> (Graph, FakeHost) {
    let mut host = FakeHost::default();
    for plan in plans {
        host.model.reply_plan(plan);
    }
    (plan_with(&host), host)
}

fn ids(graph: &Graph) -> Vec<&str> {
    graph.tasks.iter().map(|task| task.id.as_str()).collect()
}

fn depends<'a>(graph: &'a Graph, id: &str) -> &'a [String] {
    &graph.task(id).unwrap().depends_on
}

fn atom(id: &str, on: &[&str]) -> JsonValue {
    json!({ "id": id, "description": format!("find {id}"), "depends_on": on, "is_atomic": true })
}

fn compound(id: &str, on: &[&str]) -> JsonValue {
    json!({ "id": id, "description": format!("find {id}"), "depends_on": on, "is_atomic": false })
}

fn subtasks(list: &[JsonValue]) -> JsonValue {
    json!({ "subtasks": list })
}

fn assert_is_direct(graph: &Graph) {
    assert_eq!(graph.tasks.len(), 1);
    assert_eq!(graph.tasks[0].text, "Who buys most?");
    assert_eq!(graph.answer, graph.tasks[0].id);
}

#[test]
fn the_prompt_shows_all_tables_the_question_and_what_was_clarified() {
    let (_, host) = plan_with_replies(&[subtasks(&[atom("A", &[])])]);
    let prompt = host.model.prompt(0);
    for part in [
        "Table orders",
        "Table \"select\"",
        "Who buys most?",
        "Clarified: Which year? Answer: 2024",
        "join_keys",
    ] {
        assert!(prompt.contains(part), "{part} is missing in {prompt}");
    }
    assert!(matches!(
        &host.model.requests()[0].expect,
        Shape::Json(schema) if schema.contains("\"title\":\"syrch-plan\"")
    ));
}

#[test]
fn a_chain_ends_in_its_last_task() {
    let (graph, _) = plan_with_replies(&[subtasks(&[atom("A", &[]), atom("B", &["A"])])]);
    assert_eq!(ids(&graph), ["A", "B"]);
    assert_eq!(graph.answer, "B");
    assert_eq!(depends(&graph, "B"), ["A"]);
}

#[test]
fn several_leaves_meet_in_a_tolerant_choice_that_carries_the_join_keys() {
    let key = json!({
        "left": "answer", "left_col": "id", "right": "B", "right_col": "customer_id", "how": "left"
    });
    let mut first = atom("answer", &[]);
    first["join_keys"] = json!([key]);
    let (graph, _) = plan_with_replies(&[subtasks(&[first, atom("B", &[])])]);
    assert_eq!(graph.answer, "answer2");
    let choice = graph.task("answer2").unwrap();
    assert_eq!(choice.operation, Operation::Choose);
    assert_eq!(choice.join, Join::AllOf);
    assert!(choice.tolerant);
    assert_eq!(choice.depends_on, ["answer", "B"]);
    assert_eq!(join_keys_of(choice)[0].right_col, "customer_id");
}

// syrch 0.1.2, bug 12: because of a dependency named twice its task never ran.
#[test]
fn a_dependency_named_twice_counts_once() {
    let (graph, _) = plan_with_replies(&[subtasks(&[atom("A", &[]), atom("B", &["A", "A"])])]);
    assert_eq!(depends(&graph, "B"), ["A"]);
}

// syrch 0.1.2, bug 11: expanded tasks lost the parent's dependencies, and sub-tasks listed before
// their dependency were dropped.
#[test]
fn a_sub_plan_inherits_dependencies_and_may_list_its_tasks_in_any_order() {
    let top = subtasks(&[atom("A", &[]), compound("B", &["A"]), atom("C", &["B"])]);
    let sub = subtasks(&[atom("Y", &["X"]), atom("X", &[]), atom("Z", &["X"])]);
    let (graph, _) = plan_with_replies(&[top, sub]);
    assert_eq!(ids(&graph), ["A", "B.Y", "B.X", "B.Z", "C"]);
    assert_eq!(depends(&graph, "B.X"), ["A"]);
    assert_eq!(depends(&graph, "B.Y"), ["B.X"]);
    assert_eq!(depends(&graph, "C"), ["B.Y", "B.Z"]);
    assert_eq!(graph.answer, "C");
}

#[test]
fn join_keys_follow_a_task_to_its_only_leaf() {
    let key =
        json!([{ "left": "A", "left_col": "id", "right": "B", "right_col": "id", "how": "inner" }]);
    let mut top = vec![compound("A", &[]), atom("B", &[])];
    top[1]["join_keys"] = key;
    let (graph, _) =
        plan_with_replies(&[subtasks(&top), subtasks(&[atom("X", &[]), atom("Y", &["X"])])]);
    let keys = join_keys_of(graph.task(&graph.answer).unwrap());
    assert_eq!((keys[0].left.as_str(), keys[0].right.as_str()), ("A.Y", "B"));
}

#[test]
fn recursion_ends_at_the_depth_that_the_user_allows() {
    let deep = subtasks(&[compound("X", &[]), atom("Y", &["X"])]);
    let mut host = FakeHost::default();
    (0..9).for_each(|_| {
        host.model.reply_plan(&deep);
    });
    let graph = plan_with(&host);
    assert_eq!(ids(&graph), ["X.X.X", "X.X.Y", "X.Y", "Y"]);
    assert_eq!(host.model.requests().len(), 3);

    let mut host = FakeHost::default();
    host.policy.max_depth = 1;
    host.model.reply_plan(&deep);
    assert_eq!(ids(&plan_with(&host)), ["X", "Y"]);
}

#[test]
fn a_graph_never_grows_beyond_its_limits() {
    let wide: Vec<JsonValue> =
        ["A", "B", "C", "D", "E", "F", "G", "H"].iter().map(|id| compound(id, &[])).collect();
    let mut host = FakeHost::default();
    (0..20).for_each(|_| {
        host.model.reply_plan(&subtasks(&wide));
    });
    let graph = plan_with(&host);
    assert_eq!(graph.tasks.len(), 12);
    assert!(graph.tasks.iter().any(|task| task.id == "A.F"));
    assert!(graph.tasks.iter().all(|task| !task.id.contains('G')));
}

#[test]
fn a_sub_plan_of_one_task_changes_nothing() {
    let (graph, _) =
        plan_with_replies(&[subtasks(&[compound("A", &[])]), subtasks(&[atom("X", &[])])]);
    assert_eq!(ids(&graph), ["A"]);
}

#[test]
fn a_broken_sub_plan_leaves_the_task_whole() {
    let (graph, host) = plan_with_replies(&[
        subtasks(&[compound("A", &[]), atom("B", &["A"])]),
        subtasks(&[atom("X", &["Q"])]),
    ]);
    assert_eq!(ids(&graph), ["A", "B"]);
    assert_eq!(
        host.trace.notes(),
        ["A is not divided: `X` depends on `Q`, which is not a subtask"]
    );
}

// syrch 0.1.2, bug 25: a plan with a circle or an unknown dependency was a traceback.
#[test]
fn a_plan_that_contradicts_itself_is_asked_for_once_more() {
    let circle = subtasks(&[atom("A", &["B"]), atom("B", &["A"])]);
    let (graph, host) =
        plan_with_replies(&[circle.clone(), subtasks(&[atom("A", &[]), atom("B", &["A"])])]);
    assert_eq!(graph.answer, "B");
    assert!(
        host.model
            .prompt(1)
            .contains("cannot be used: these subtasks depend on each other in a circle: A, B")
    );

    let (graph, host) = plan_with_replies(&[circle.clone(), circle]);
    assert_is_direct(&graph);
    assert_eq!(host.model.requests().len(), 2);
}

// syrch 0.1.2, bug 25: `"subtasks": null`, a dict or a list were tracebacks.
#[test]
fn nonsense_becomes_one_task() {
    for nonsense in [json!({ "subtasks": null }), json!({ "subtasks": {} }), json!([]), json!("x")]
    {
        let (graph, _) = plan_with_replies(&[nonsense]);
        assert_is_direct(&graph);
    }
}

#[test]
fn a_model_that_abstains_or_mumbles_gives_one_task() {
    for error in [
        LlmError::Refused("no model".into()),
        LlmError::Unsupported("plan".into()),
        LlmError::Malformed("Sure!".into()),
        LlmError::TooLarge,
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Plan, Err(error));
        assert_is_direct(&plan_with(&host));
    }
}

#[test]
fn an_outage_and_a_spent_budget_reach_the_user() {
    for (error, kind) in [
        (LlmError::Unavailable("connection refused".into()), FailureKind::Model),
        (LlmError::Budget, FailureKind::Budget),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Plan, Err(error));
        let failure =
            Decompose::new(Settings::default()).plan(&host, &problem(), &catalog()).unwrap_err();
        assert_eq!(failure.kind, kind);
    }
}

fn failure_ending(kind: FailureKind) -> Ending {
    Ending::Failed(failure(kind, "no"))
}

fn next(settings: Settings, graph: &Graph, seen: &[Observation]) -> Step {
    let host = FakeHost::default();
    Decompose::new(settings).next(&host, &problem(), &catalog(), graph, seen, 0).unwrap()
}

#[test]
fn a_plan_that_came_to_nothing_falls_back_to_the_question_once() {
    let (mut graph, _) = plan_with_replies(&[subtasks(&[atom("A", &[]), atom("B", &["A"])])]);
    let lost = [
        Observation::ended("A", failure_ending(FailureKind::Model)),
        Observation::ended("B", Ending::Skipped("A".into())),
    ];
    assert!(next(Settings::default(), &graph, &lost[..1]).edits.is_empty());

    let step = next(Settings::default(), &graph, &lost);
    assert!(matches!(
        &step.edits[0], Edit::Add(task) if task.id == "direct" && task.text == "Who buys most?"
    ));
    assert_eq!(step.edits[1], Edit::Answer("direct".into()));

    let off = Settings { fallback: false, ..Settings::default() };
    assert!(next(off, &graph, &lost).edits.is_empty());

    graph.memo = step.memo;
    assert!(next(Settings::default(), &graph, &lost).edits.is_empty());
}

#[test]
fn nothing_is_added_when_it_could_not_run_or_would_be_the_same() {
    let (graph, _) = plan_with_replies(&[subtasks(&[atom("A", &[]), atom("B", &["A"])])]);
    let spent = [
        Observation::ended("A", failure_ending(FailureKind::Budget)),
        Observation::ended("B", Ending::Skipped("A".into())),
    ];
    assert!(next(Settings::default(), &graph, &spent).edits.is_empty());
    assert!(
        next(Settings::default(), &graph, &[Observation::ended("B", Ending::Empty)])
            .edits
            .is_empty()
    );

    let (single, _) = plan_with_replies(&[subtasks(&[atom("A", &[])])]);
    assert!(
        next(
            Settings::default(),
            &single,
            &[Observation::ended("A", failure_ending(FailureKind::Input))]
        )
        .edits
        .is_empty()
    );
}

fn stating(id: &str, on: &[&str], tables: &[&str], requirements: JsonValue) -> JsonValue {
    let mut subtask = atom(id, on);
    subtask["tables"] = json!(tables);
    subtask["requirements"] = requirements;
    subtask
}

fn requirements_of(graph: &Graph, id: &str) -> Requirements {
    Requirements::from_task(graph.task(id).unwrap()).unwrap_or_default()
}

#[test]
fn tasks_carry_what_their_plan_requires() {
    let mut first =
        stating("A", &[], &["orders"], json!({ "filters": ["year = 2014"], "metrics": "none" }));
    first["expected_output"] = json!("one row");
    let second = stating("B", &["A"], &[], json!({ "grain": "per month" }));
    let (graph, host) =
        plan_with_replies(&[subtasks(&[first, second, stating("C", &[], &[], json!(["odd"]))])]);
    assert_eq!(requirements_of(&graph, "A").filters, ["year = 2014"]);
    assert_eq!(requirements_of(&graph, "A").tables, ["orders"]);
    assert_eq!(
        graph.task("A").unwrap().expected.as_deref(),
        Some("one row; with the filter `year = 2014`")
    );
    assert_eq!(graph.task("B").unwrap().expected.as_deref(), Some("with one row for each month"));
    assert_eq!(requirements_of(&graph, "C").unread, ["[\"odd\"]"]);
    let odd = graph.task("C").unwrap();
    assert_eq!(odd.expected.as_deref(), Some("with what `[\"odd\"]` says"));
    assert!(host.model.prompt(0).contains("\"requirements\""));
}

#[test]
fn a_plan_of_another_form_is_asked_for_once_more_in_any_form() {
    let mut host = FakeHost::default();
    let other = LlmError::Malformed("{\"subtasks\":[{\"id\":\"A\",\"requirements\":7".into());
    host.model.script(&Purpose::Plan, Err(other));
    let first = stating("A", &[], &[], json!({ "filters": "year = 2014", "then": 1 }));
    host.model.reply_plan(&subtasks(&[first]));
    let graph = plan_with(&host);
    assert_eq!(requirements_of(&graph, "A").filters, ["year = 2014"]);
    assert_eq!(requirements_of(&graph, "A").unread, ["then: 1"]);
    assert_eq!(host.trace.notes(), ["a requirement of `A` cannot be read: then: 1"]);
    fn requirements(host: &FakeHost, at: usize) -> JsonValue {
        let Shape::Json(schema) = host.model.requests()[at].expect.clone() else { panic!() };
        let schema: JsonValue = syrch_plugin::serde_json::from_str(&schema).unwrap();
        schema["properties"]["subtasks"]["items"]["properties"]["requirements"].clone()
    }
    assert_eq!(
        requirements(&host, 0)["properties"]["filters"]["items"],
        json!({ "type": "string" })
    );
    assert_eq!(requirements(&host, 1), json!({}));
}

#[test]
fn requirements_beside_their_key_count_as_well() {
    let mut first = atom("A", &[]);
    first["filters"] = json!([{ "column": "country", "operator": "=", "value": "Spain" }]);
    first["aggregations"] = json!(["count"]);
    let (graph, _) = plan_with_replies(&[subtasks(&[first])]);
    let required = requirements_of(&graph, "A");
    assert_eq!(required.filters, ["country = 'Spain'"]);
    assert_eq!(required.aggregation.as_deref(), Some("count"));
}

#[test]
fn requirements_follow_a_task_into_its_sub_plan() {
    let sub =
        subtasks(&[stating("X", &[], &[], json!({ "filters": ["a = 1"] })), atom("Y", &["X"])]);
    let (graph, _) = plan_with_replies(&[subtasks(&[compound("A", &[]), atom("B", &["A"])]), sub]);
    assert_eq!(requirements_of(&graph, "A.X").filters, ["a = 1"]);
}

/// A catalog in which two further tables speak of customers.
fn wide_catalog() -> Catalog {
    let table = |name: &str, columns: &[&str]| Table {
        name: name.into(),
        columns: columns
            .iter()
            .map(|name| Column { name: (*name).into(), ..Column::default() })
            .collect(),
        ..Table::default()
    };
    let tables = vec![
        table("orders", &["id"]),
        table("weather", &["rain"]),
        table("visits", &["customer_id"]),
        table("customers", &["id", "name"]),
    ];
    Catalog { tables, ..catalog() }
}

fn no_candidate() -> Ending {
    failure_ending(FailureKind::Other("no-candidate".into()))
}

fn next_over(catalog: &Catalog, graph: &Graph, seen: &[Observation]) -> Step {
    let host = FakeHost::default();
    Decompose::new(Settings::default())
        .next(&host, &problem(), catalog, graph, seen, seen.len() - 1)
        .unwrap()
}

#[test]
fn a_task_without_a_statement_is_planned_again_over_other_tables_once() {
    let mut first = stating("A", &[], &["orders"], json!({ "filters": ["year = 2014"] }));
    first["description"] = json!("find the best customers");
    let key = json!([{ "left": "A", "left_col": "id", "right": "B", "right_col": "id" }]);
    let mut last = atom("B", &["A"]);
    last["join_keys"] = key;
    let (mut graph, _) = plan_with_replies(&[subtasks(&[first, last])]);
    let mut seen = vec![Observation::ended("A", no_candidate())];
    let step = next_over(&wide_catalog(), &graph, &seen);
    let [Edit::Add(again), Edit::Update(last)] = step.edits.as_slice() else {
        panic!("{:?}", step.edits)
    };
    assert_eq!((again.id.as_str(), again.text.as_str()), ("A-again", "find the best customers"));
    let stated = Requirements::from_task(again).unwrap();
    assert_eq!(
        (stated.tables.join(" ").as_str(), stated.filters.as_slice()),
        ("orders customers visits", &["year = 2014".to_owned()][..])
    );
    assert!(again.expected.as_ref().unwrap().ends_with(
        "an earlier try over orders came to nothing (no); read customers, visits where they fit"
    ));
    assert_eq!(
        (last.depends_on[0].as_str(), join_keys_of(last)[0].left.as_str()),
        ("A-again", "A-again")
    );

    // What was planned again is not planned a third time: the whole question is left.
    (graph.tasks, graph.memo) = (vec![again.clone(), last.clone()], step.memo);
    seen.push(Observation::ended("A-again", no_candidate()));
    assert!(next_over(&wide_catalog(), &graph, &seen).edits.is_empty());
    seen.push(Observation::ended("B", Ending::Skipped("A-again".into())));
    let step = next_over(&wide_catalog(), &graph, &seen);
    let Edit::Add(direct) = &step.edits[0] else { panic!("{:?}", step.edits) };
    let wished = Requirements::from_task(direct).unwrap();
    assert!(wished.lenient && wished.filters == ["year = 2014"] && wished.tables.is_empty());
    graph.memo = step.memo;
    assert!(next_over(&wide_catalog(), &graph, &seen).edits.is_empty());
}

#[test]
fn the_whole_question_keeps_what_the_plan_required_as_a_wish() {
    let required = json!({
        "metrics": [{ "name": "revenue", "aggregation": "sum" }], "aggregation": "avg",
        "dimensions": ["country"], "filters": ["year = 2014"], "time_range": ["2014", "2015"],
    });
    let (graph, _) =
        plan_with_replies(&[subtasks(&[stating("A", &[], &["orders"], required.clone())])]);
    let graph =
        Graph { memo: Some(json!({ "again": ["A"], "fallback": false }).to_string()), ..graph };
    let step = next_over(&wide_catalog(), &graph, &[Observation::ended("A", no_candidate())]);
    let Edit::Add(direct) = &step.edits[0] else { panic!("{:?}", step.edits) };
    let wished =
        Requirements { dimensions: Vec::new(), lenient: true, ..Requirements::read(&required) };
    assert_eq!(Requirements::from_task(direct), Some(wished));
}

#[test]
fn the_answer_moves_to_the_task_that_is_planned_again() {
    let (graph, _) = plan_with_replies(&[subtasks(&[stating(
        "A",
        &[],
        &["orders"],
        json!({ "metrics": ["customers"] }),
    )])]);
    let step = next_over(&wide_catalog(), &graph, &[Observation::ended("A", no_candidate())]);
    assert_eq!(step.edits[1], Edit::Answer("A-again".into()));
}

#[test]
fn nothing_is_planned_again_without_other_tables_or_for_another_reason() {
    let plan = |tables: &[&str]| {
        plan_with_replies(&[subtasks(&[stating("A", &[], tables, json!({})), atom("B", &["A"])])]).0
    };
    let graph = plan(&["orders"]);
    // No other table speaks of `find A`.
    assert!(
        next_over(&wide_catalog(), &graph, &[Observation::ended("A", no_candidate())])
            .edits
            .is_empty()
    );
    let mut graph = plan(&[]);
    graph.tasks[0].text = "customers".into();
    assert!(
        next_over(&wide_catalog(), &graph, &[Observation::ended("A", no_candidate())])
            .edits
            .is_empty()
    );
    let mut graph = plan(&["orders"]);
    graph.tasks[0].text = "customers".into();
    for ending in
        [failure_ending(FailureKind::Model), failure_ending(FailureKind::Budget), Ending::Empty]
    {
        assert!(
            next_over(&wide_catalog(), &graph, &[Observation::ended("A", ending)]).edits.is_empty()
        );
    }
    let host = FakeHost::default();
    let off = Decompose::new(Settings { replan: false, ..Settings::default() });
    let seen = [Observation::ended("A", no_candidate())];
    assert!(
        off.next(&host, &problem(), &wide_catalog(), &graph, &seen, 0).unwrap().edits.is_empty()
    );
}

fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// Everything that the host refuses a graph for.
fn assert_is_sound(graph: &Graph) {
    assert!((1..=12).contains(&graph.tasks.len()));
    assert!(graph.task(&graph.answer).is_some());
    let mut ended: Vec<&str> = Vec::new();
    for task in &graph.tasks {
        assert!(is_id(&task.id), "{}", task.id);
        assert_eq!(
            graph.tasks.iter().filter(|other| other.id == task.id).count(),
            1,
            "{} is there twice",
            task.id
        );
        for (index, id) in task.depends_on.iter().enumerate() {
            assert!(graph.task(id).is_some(), "{} depends on {id}", task.id);
            assert!(!task.depends_on[..index].contains(id), "{} depends on {id} twice", task.id);
        }
    }
    while ended.len() < graph.tasks.len() {
        let ready: Vec<&str> = graph
            .tasks
            .iter()
            .filter(|task: &&Task| {
                !ended.contains(&task.id.as_str())
                    && task.depends_on.iter().all(|id| ended.contains(&id.as_str()))
            })
            .map(|task| task.id.as_str())
            .collect();
        assert!(!ready.is_empty(), "a circle among {:?}", graph.tasks);
        ended.extend(ready);
    }
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn any_plan() -> impl Strategy<Value = JsonValue> {
        let id = prop_oneof![
            Just("A"),
            Just("B"),
            Just("a"),
            Just("B-1"),
            Just("B.1"),
            Just("answer"),
            Just("größe 7!")
        ];
        let subtask = (id.clone(), proptest::collection::vec(id.clone(), 0..3), any::<bool>(), id)
            .prop_map(|(id, on, is_atomic, other)| {
                let key = json!({ "left": id, "left_col": "x", "right": other, "right_col": "y" });
                json!({
                    "id": id, "description": "d", "depends_on": on, "is_atomic": is_atomic,
                    "join_keys": [key]
                })
            });
        proptest::collection::vec(subtask, 0..8).prop_map(|list| subtasks(&list))
    }

    proptest! {
        #[test]
        fn whatever_the_model_plans_the_graph_is_sound(
            plans in proptest::collection::vec(any_plan(), 1..8), max_depth in 1_u32..6
        ) {
            let mut host = FakeHost::default();
            host.policy.max_depth = max_depth;
            for plan in &plans {
                host.model.reply_plan(plan);
            }
            assert_is_sound(&plan_with(&host));
        }

        #[test]
        fn plans_without_contradiction_too(
            edges in proptest::collection::vec(any::<u16>(), 1..9), nested in any::<u16>()
        ) {
            let plan = |edges: &[u16]| {
                let list: Vec<JsonValue> = edges.iter().enumerate().map(|(index, mask)| {
                    let on: Vec<String> = (0..index)
                        .filter(|bit| mask >> bit & 1 == 1)
                        .map(|bit| format!("T{bit}"))
                        .collect();
                    json!({
                        "id": format!("T{index}"), "description": "d", "depends_on": on,
                        "is_atomic": mask >> 15 == 0
                    })
                }).rev().collect();
                subtasks(&list)
            };
            let mut host = FakeHost::default();
            host.model.reply_plan(&plan(&edges));
            for shift in 0..12 {
                host.model.reply_plan(
                    &plan(&[nested, nested.rotate_left(shift), nested.rotate_left(2 * shift)])
                );
            }
            assert_is_sound(&plan_with(&host));
        }
    }
}
