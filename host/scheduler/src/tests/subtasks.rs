//! Solvers that answer with smaller tasks.

use super::*;

fn split(subtasks: Vec<Task>) -> Act {
    Act::Split(1, subtasks)
}

fn failure<'a>(finished: &'a Finished, id: &str) -> &'a str {
    match finished.ending(id) {
        Ending::Failed(failure) => &failure.message,
        other => panic!("{id} is {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn subtasks_take_the_place_of_their_task() {
    // Listed before what they depend on, and named like tasks of the graph.
    let parts = vec![task("b", &["a"]), task("a", &[]), task("end", &["b", "a"])];
    let tasks = vec![task("a", &[]), task("big", &["a"]), task("z", &["big"])];
    let finished =
        Scene::new(tasks).act("big", split(parts)).act("end", Act::Solve(7, Some(0.9))).run().await;
    assert_eq!(finished.log.entries_with("expand"), [(2, "big>big.b,big.a,big.end".to_owned())]);
    assert_eq!(
        ["big.b", "big.a", "big.end"].map(|id| finished.parents(id)),
        ["big.a", "a", "big.b,big.a"]
    );
    assert_eq!(finished.run.graph.task("big.a").unwrap().parent.as_deref(), Some("big"));
    let big = &finished.run.ended["big"];
    assert_eq!(big.observation.best().unwrap(), "big.end.c");
    assert_eq!(big.observation.subtasks.len(), 3);
    assert_eq!(big.output, finished.run.ended["big.end"].output);
    assert_eq!((finished.end_time("big"), finished.start_time("z")), (Some(11), Some(11)));
    // It started once and ended once.
    assert_eq!(finished.log.entries_with("start").iter().filter(|(_, id)| id == "big").count(), 1);
    assert_eq!(finished.run.seen.iter().filter(|seen| seen.task == "big").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn subtasks_nest_until_a_limit_and_then_their_task_fails() {
    let again = Act::Split(1, vec![task("x", &[])]);
    let finished = Scene::new(vec![task("x", &[])]).act("x", again).run().await;
    let depth = Limits::default().depth;
    assert_eq!(finished.run.graph.tasks.len(), depth);
    let deepest = vec!["x"; depth].join(".");
    assert!(
        failure(&finished, &deepest).contains("has 17 tasks, over the limit of 16"),
        "{}",
        failure(&finished, &deepest)
    );
    assert!(
        finished.skip_reason("x").starts_with("`x.x` was skipped, since `x.x."),
        "{}",
        finished.skip_reason("x")
    );
}

#[tokio::test(start_paused = true)]
async fn unsound_subtasks_fail_their_task_alone() {
    let bad: Vec<(Vec<Task>, &str)> = vec![
        (vec![task("p", &["z"])], "`p` depends on `z`, which is not a task of the graph"),
        (vec![task("p", &[]), task("p", &[])], "task id `p` is used twice"),
        (
            vec![task("p", &["q"]), task("q", &["p"])],
            "tasks depend on each other in a cycle: big.p -> big.q -> big.p",
        ),
        (vec![task("p", &["p"])], "`big.p` depends on itself"),
        (vec![task(&"p".repeat(64), &[])], "is not 1 to 64 of A-Z a-z 0-9 _ . -"),
        (
            vec![Task { priority: f64::NAN, ..task("p", &[]) }],
            "`big.p` has the priority NaN, which is not finite",
        ),
        (
            vec![Task { operation: Operation::Other("fly".into()), ..task("p", &[]) }],
            "`big.p` has the unknown operation `fly`",
        ),
        (
            (0..254).map(|number| task(&format!("p{number}"), &[])).collect(),
            "the graph has 257 tasks, over the limit of 256",
        ),
    ];
    for (subtasks, reason) in bad {
        let tasks = vec![
            task("a", &[]),
            task("big", &["a"]),
            Task { tolerant: true, ..task("z", &["big"]) },
        ];
        let finished = Scene::new(tasks.clone()).act("big", split(subtasks)).run().await;
        assert!(
            failure(&finished, "big").starts_with("its subtasks are refused: "),
            "{}",
            failure(&finished, "big")
        );
        assert!(failure(&finished, "big").contains(reason), "{}", failure(&finished, "big"));
        assert_eq!(finished.run.graph, graph(tasks));
        assert_eq!(*finished.ending("z"), Ending::Solved);
    }
}

#[tokio::test(start_paused = true)]
async fn subtasks_may_depend_on_what_their_task_depends_on() {
    let calling = |id: &str, dependencies: &[&str]| Task {
        operation: Operation::Other("solver/x".into()),
        ..task(id, dependencies)
    };
    let tasks = vec![task("a", &[]), task("big", &["a"])];
    let finished = Scene::new(tasks)
        .act("big", split(vec![calling("p", &["a"]), task("then", &["a", "p"])]))
        .act("then", split(vec![calling("q", &[]), task("end", &["q"])]))
        .run()
        .await;
    assert_eq!(["big.p", "big.then"].map(|id| finished.parents(id)), ["a", "a,big.p"]);
    // A plugin does not get what another one found.
    assert_eq!(["big.then.q", "big.then.end"].map(|id| finished.parents(id)), ["a", "big.then.q"]);
    assert_eq!(*finished.ending("big"), Ending::Solved);
}

#[tokio::test(start_paused = true)]
async fn a_taken_name_is_numbered() {
    let tasks = vec![task("big.p", &[]), task("big", &["big.p"])];
    let finished =
        Scene::new(tasks).act("big", split(vec![task("p", &[]), task("p-2", &["p"])])).run().await;
    assert_eq!(finished.log.entries_with("expand")[0].1, "big>big.p-2,big.p-2-2");
    assert_eq!(finished.parents("big.p-2-2"), "big.p-2");
    assert_eq!(*finished.ending("big"), Ending::Solved);
}

#[tokio::test(start_paused = true)]
async fn subtasks_start_under_the_join_that_their_task_started_under() {
    let big = |join, tolerant| Task { tolerant, ..join_task(join, "big", &["a", "b"]) };
    let scene = |big| {
        Scene::new(vec![task("a", &[]), task("b", &[]), big])
            .act("b", Act::Fail(5))
            .act("big", split(vec![task("p", &[])]))
    };
    let any = scene(big(Join::AnyOf, false)).run().await;
    assert_eq!((any.parents("big.p").as_str(), any.ending("big")), ("a", &Ending::Solved));
    let tolerant = scene(big(Join::AllOf, true)).run().await;
    assert_eq!(
        (tolerant.parents("big.p").as_str(), tolerant.ending("big")),
        ("a,b", &Ending::Solved)
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_last_subtask_is_the_task_s_end() {
    let parts = vec![task("p", &[]), task("q", &["p"])];
    let finished = Scene::new(vec![task("big", &[])])
        .act("big", split(parts))
        .act("q", Act::Fail(1))
        .run()
        .await;
    assert_eq!(finished.skip_reason("big"), "`big.q` failed: no such table");
}
