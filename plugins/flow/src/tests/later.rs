//! Flows that continue after other plugins, by how these ended.

use syrch_flows::ROUNDS;
use syrch_plugin::requirements::Requirements;

use super::edges::{pairs, visits};
use super::*;

fn call(plugin: &str, edges: Json) -> Json {
    let mut node = json!({ "do": "solver", "settings": { "plugin": plugin } });
    node.as_object_mut().unwrap().extend(edges.as_object().unwrap().clone());
    node
}

/// A draft, a plugin where it fails, and a judge, another plugin or a draft after that.
fn flow() -> Settings {
    settings(&json!({ "start": "draft", "nodes": {
        "draft": { "next": "run" },
        "run": { "on": { "error": "help" } },
        "help": call("consistency", json!({
            "next": "judge", "on": { "none": "again", "unsure": "more" },
        })),
        "more": call("beam", json!({})),
        "again": { "do": "repair", "next": "run", "max_visits": 1 },
        "judge": {},
    } }))
}

fn task() -> Task {
    let context = json!({ "requirements": { "tables": ["orders"] } });
    Task { context: Some(context.to_string()), ..Task::new("A", "How much was sold?") }
}

fn go_on(
    host: &FakeHost,
    settings: Settings,
    task: &Task,
    parents: &[Parent],
) -> Result<Outcome, Failure> {
    let problem = Problem::new("How much was sold?");
    FlowSolver::new(settings).solve(host, &problem, &catalog(), task, parents)
}

fn find(host: &FakeHost, settings: Settings, task: &Task, parents: &[Parent]) -> Outcome {
    go_on(host, settings, task, parents).unwrap()
}

/// The tasks of the plugins and the task that continues after them, as the scheduler names them.
fn place(outcome: &Outcome) -> (Vec<Task>, Task) {
    let mut tasks = outcome.subtasks.clone();
    for task in &mut tasks {
        task.id = format!("A.{}", task.id);
    }
    let last = tasks.pop().unwrap();
    (tasks, last)
}

/// A dependency that a statement solved with that confidence.
fn solve(task: &Task, sql: &str, n: i64, confidence: f64) -> Parent {
    let candidate = Candidate {
        id: format!("{}.1", task.id),
        sql: sql.to_owned(),
        raw_confidence: Some(0.8),
        confidence: Some(confidence),
        ..Candidate::default()
    };
    let results = numbers(&[n]).handle();
    let relation = Relation { name: "help".to_owned(), candidate, results };
    let output = Output::Relation(Box::new(relation));
    Parent { task: task.clone(), output, memo: None }
}

fn fail(task: &Task, kind: FailureKind) -> Parent {
    let output = Output::Failed(failure(kind, "it found nothing"));
    Parent { task: task.clone(), output, memo: None }
}

/// A host whose first statement fails.
fn make_host() -> FakeHost {
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["BAD 1"]);
    says(&mut host, &Purpose::Repair, &["SELECT 2"]);
    host.model
        .script(&Purpose::Judge, Ok(reply("", Some(&json!({ "score": 9, "verdict": "PASS" })))));
    database(&mut host);
    host
}

#[test]
fn a_flow_continues_in_a_task_after_that_of_the_plugin() {
    let host = make_host();
    let outcome = find(&host, flow(), &task(), &[]);
    let (plugins, last) = place(&outcome);
    let operations: Vec<&Operation> = plugins.iter().map(|task| &task.operation).collect();
    assert_eq!(operations, [&Operation::Other("solver/help".to_owned())]);
    assert_eq!((&last.operation, last.tolerant), (&Operation::Solve, true));
    assert_eq!(outcome.subtasks[1].depends_on, ["S1"]);
    // The plugin gets the planner's context as it is.
    assert_eq!(plugins[0].context, task().context);
    assert!(Requirements::from_task(&last).is_some());

    let parents = [solve(&plugins[0], "SELECT 1", 1, 0.9)];
    let found = find(&host, flow(), &last, &parents);
    assert_eq!(
        (ids(&found.candidates), found.candidates[0].sql.as_str()),
        (vec!["A.then.1"], "SELECT 1")
    );
    assert_eq!(found.candidates[0].parents, ["A.S1.1"]);
    assert_eq!(
        visits(&host)[2..],
        pairs(&[("help", "handed"), ("help", "default"), ("judge", "default")])
    );
}

#[test]
fn the_edges_of_a_plugin_follow_how_it_ended() {
    // It found nothing: what was tried before is repaired.
    let host = make_host();
    let (plugins, last) = place(&find(&host, flow(), &task(), &[]));
    let parents = [fail(&plugins[0], FailureKind::Other("no-candidate".to_owned()))];
    let found = find(&host, flow(), &last, &parents);
    assert_eq!(found.candidates[0].sql, "SELECT 2");
    assert!(host.model.prompt(1).contains("no such column: c1"));
    assert_eq!(
        visits(&host)[3..],
        pairs(&[("help", "none"), ("again", "default"), ("run", "default")])
    );

    // It is not sure: another plugin follows, and gets the context of the planner alone.
    let host = make_host();
    let (plugins, last) = place(&find(&host, flow(), &task(), &[]));
    let unsure = find(&host, flow(), &last, &[solve(&plugins[0], "SELECT 1", 1, 0.3)]);
    let (more, then) = place(&unsure);
    assert_eq!(more[0].operation, Operation::Other("solver/more".to_owned()));
    assert_eq!((more.len(), &more[0].context), (1, &task().context));
    // What the second one found counts, and without it that of the first.
    let found = find(&host, flow(), &then, &[solve(&more[0], "SELECT 3", 3, 0.2)]);
    assert_eq!(found.candidates[0].sql, "SELECT 3");
    let none = FailureKind::Other("no-candidate".to_owned());
    let found = find(&host, flow(), &then, &[fail(&more[0], none)]);
    assert_eq!(found.candidates[0].sql, "SELECT 1");
}

#[test]
fn a_plugin_whose_model_cannot_be_reached_is_no_plugin_that_found_nothing() {
    let edges = settings(&json!({ "start": "help", "nodes": {
        "help": call("consistency", json!({ "next": "judge" })), "judge": {},
    } }));
    let host = make_host();
    let (plugins, last) = place(&find(&host, edges.clone(), &task(), &[]));
    let outage = [fail(&plugins[0], FailureKind::Model)];
    let failure = go_on(&host, edges.clone(), &last, &outage).unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Model, "it found nothing"));
    let none = [fail(&plugins[0], FailureKind::Other("no-candidate".to_owned()))];
    assert!(go_on(&host, edges, &last, &none).unwrap().candidates.is_empty());
}

#[test]
fn plugins_side_by_side_vote_with_what_the_flow_found() {
    let flow = settings(&json!({ "start": "plan", "nodes": {
        "plan": { "do": "draft", "next": ["run", "one", "two"] },
        "run": { "next": "vote" },
        "one": call("consistency", json!({ "next": "vote", "on": { "none": "vote" } })),
        "two": call("beam", json!({ "next": "vote", "on": { "none": "vote" } })),
        "vote": {},
    } }));
    let mut host = FakeHost::default();
    says(&mut host, &Purpose::Generate, &["SELECT 1"]);
    database(&mut host);
    let (plugins, last) = place(&find(&host, flow.clone(), &task(), &[]));
    assert_eq!(plugins.len(), 2);
    let parents = [solve(&plugins[0], "SELECT 2", 2, 0.9), solve(&plugins[1], "SELECT 2", 2, 0.4)];
    let found = find(&host, flow.clone(), &last, &parents);
    assert_eq!(found.candidates[0].sql, "SELECT 2");
    let signals = &found.candidates[0].signals;
    assert_eq!((signals.samples, signals.agreeing), (3, 2));
    assert_eq!(found.candidates[1].sql, "SELECT 1");
    // One that found nothing has no vote for it.
    let parents = [
        fail(&plugins[0], FailureKind::Other("no-candidate".to_owned())),
        solve(&plugins[1], "SELECT 1", 1, 0.4),
    ];
    let found = find(&host, flow, &last, &parents);
    assert_eq!(found.candidates[0].signals.agreeing, 2);
}

#[test]
fn branches_that_come_to_one_plugin_do_not_vote_twice() {
    let inner = json!({ "start": "help", "nodes": { "help": call("beam", json!({})) } });
    let flow = settings(&json!({ "start": "tries", "nodes": {
        "tries": { "do": "flow", "flow": inner, "times": 3, "next": "vote" }, "vote": {},
    } }));
    let host = make_host();
    let (plugins, last) = place(&find(&host, flow.clone(), &task(), &[]));
    assert_eq!(plugins.len(), 1);
    assert_eq!(plugins[0].operation, Operation::Other("solver/tries/help".to_owned()));
    let found = find(&host, flow, &last, &[solve(&plugins[0], "SELECT 1", 1, 0.6)]);
    assert_eq!(found.candidates[0].signals.samples, 0);
}

#[test]
fn visits_of_a_plugin_are_bounded_over_all_tasks() {
    let flow = |visits: u32| {
        settings(&json!({ "start": "help", "nodes": {
            "help": call("beam", json!({ "on": { "none": "help" }, "max_visits": visits })),
        } }))
    };
    for (most, rounds) in [(3, 3), (100, ROUNDS)] {
        let host = make_host();
        let mut task = task();
        let mut parents = Vec::new();
        let mut tasks = 0;
        loop {
            let outcome = find(&host, flow(most), &task, &parents);
            if outcome.subtasks.is_empty() {
                assert!(outcome.candidates.is_empty());
                break;
            }
            tasks += 1;
            let (plugins, last) = place(&outcome);
            parents = vec![fail(&plugins[0], FailureKind::Other("no-candidate".to_owned()))];
            task = last;
        }
        assert_eq!(tasks, rounds);
    }
}

#[test]
fn what_a_task_depends_on_stays_with_it() {
    let host = make_host();
    let earlier = Task::new("Z", "Which customers are French?");
    let parents = [solve(&earlier, "SELECT 4", 4, 0.9)];
    let outcome = find(&host, flow(), &task(), &parents);
    assert_eq!(outcome.subtasks[0].depends_on, ["Z"]);
    assert_eq!(outcome.subtasks[1].depends_on, ["Z", "S1"]);
    let (plugins, last) = place(&outcome);
    let none = FailureKind::Other("no-candidate".to_owned());
    let parents = [solve(&earlier, "SELECT 4", 4, 0.9), fail(&plugins[0], none)];
    find(&host, flow(), &last, &parents);
    let repair = host.model.prompt(1);
    assert!(repair.contains("Which customers are French?") && !repair.contains("it found nothing"));
}

#[test]
fn a_context_of_another_flow_is_refused() {
    let host = make_host();
    let (plugins, last) = place(&find(&host, flow(), &task(), &[]));
    let parents = [solve(&plugins[0], "SELECT 1", 1, 0.9)];
    let other = settings(&json!({ "start": "run", "nodes": {
        "run": { "do": "draft", "next": "x" }, "x": { "do": "run" },
    } }));
    assert!(go_on(&host, other, &last, &parents).is_err());
    for context in [
        "{\"flow\": 3}",
        "{\"flow\": {\"branches\": [], \"visits\": 0, \"forks\": 0, \"rounds\": 0}}",
    ] {
        let task = Task { context: Some(context.to_owned()), ..last.clone() };
        assert!(go_on(&host, flow(), &task, &parents).is_err(), "{context}");
    }
}
