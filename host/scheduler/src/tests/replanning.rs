//! Tests of what the planner may change during a run, and what it may not.

use super::*;
use crate::End;

fn has(seen: &[Observation], id: &str) -> bool {
    seen.iter().any(|seen| seen.task == id)
}

#[tokio::test(start_paused = true)]
async fn what_comes_in_while_the_planner_thinks_is_handed_over_together() {
    let tasks = vec![task("a", &[]), task("b", &[]), task("c", &[]), task("z", &["a", "b", "c"])];
    let finished = Scene::new(tasks)
        .takes(&[("a", 10), ("b", 12), ("c", 14), ("z", 100)])
        .plan(5, |_, _, _| edits(vec![]))
        .run()
        .await;
    let expected =
        [(10, "0+a"), (15, "1+b,c"), (114, "3+z")].map(|(at, what)| (at, what.to_owned()));
    assert_eq!(finished.log.entries_with("next"), expected);
    // The others went on meanwhile.
    assert_eq!(finished.start_time("z"), Some(14));
    assert_eq!(finished.run.end, End::Complete);
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_is_replaced_before_its_dependents_are_given_up() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("z", &["b"])];
    let finished = Scene::new(tasks)
        .act("a", Act::Fail(10))
        .plan(5, |_, seen, fresh| match seen[fresh].ending {
            Ending::Failed(_) => {
                edits(vec![Edit::Add(task("a2", &[])), Edit::Update(task("b", &["a2"]))])
            }
            _ => edits(vec![]),
        })
        .run()
        .await;
    assert_eq!(*finished.ending("b"), Ending::Solved);
    assert_eq!(*finished.ending("z"), Ending::Solved);
    assert_eq!(finished.start_time("a2"), Some(15));
    assert_eq!(finished.log.entries_with("edit"), [(15, "2".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn dependents_are_skipped_once_the_planner_lets_them_go() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("z", &["b"])];
    let finished =
        Scene::new(tasks).act("a", Act::Fail(10)).plan(5, |_, _, _| edits(vec![])).run().await;
    assert_eq!((finished.end_time("b"), finished.end_time("z")), (Some(15), Some(15)));
    let expected = [(10, "0+a"), (15, "1+b,z")].map(|(at, what)| (at, what.to_owned()));
    assert_eq!(finished.log.entries_with("next"), expected);
}

#[tokio::test(start_paused = true)]
async fn a_run_is_extended_after_its_answer() {
    let tasks = vec![task("a", &[]), task("z", &["a"])];
    let finished = Scene::new(tasks)
        .plan(0, |_, seen, _| {
            if has(seen, "z") && !has(seen, "y") {
                edits(vec![Edit::Add(task("y", &["z", "a"])), Edit::Answer("y".into())])
            } else {
                edits(vec![])
            }
        })
        .run()
        .await;
    assert_eq!(finished.run.graph.answer, "y");
    assert_eq!(finished.parents("y"), "z,a");
    assert_eq!(*finished.ending("y"), Ending::Solved);
}

#[tokio::test(start_paused = true)]
async fn a_task_under_way_is_cancelled_and_the_join_goes_on() {
    let tasks =
        vec![task("a", &[]), task("b", &[]), Task { tolerant: true, ..task("z", &["a", "b"]) }];
    let finished = Scene::new(tasks)
        .takes(&[("a", 10), ("b", 1000)])
        .plan(1, |_, seen, _| {
            edits(if has(seen, "b") { vec![] } else { vec![Edit::Cancel("b".into())] })
        })
        .run()
        .await;
    assert_eq!(finished.log.when("drop", "b"), Some(11));
    assert_eq!(finished.start_time("z"), Some(11));
    assert_eq!(finished.parents("z"), "a,b");
    // The planner gets its observation, and a cancellation of what has ended is no mistake.
    assert!(finished.run.refused.is_empty());
}

#[tokio::test(start_paused = true)]
async fn finish_ends_the_run() {
    let tasks = vec![task("a", &[]), task("b", &[]), task("z", &["a", "b"])];
    let finished = Scene::new(tasks)
        .takes(&[("a", 10), ("b", 1000)])
        .plan(1, |_, _, _| edits(vec![Edit::Finish]))
        .run()
        .await;
    assert_eq!(finished.run.end, End::Finished);
    assert_eq!(
        [finished.ending("b"), finished.ending("z")],
        [&Ending::Cancelled, &Ending::Cancelled]
    );
    assert_eq!(finished.end_time("z"), Some(11));
}

#[tokio::test(start_paused = true)]
async fn an_unsound_step_is_refused_as_a_whole() {
    fn add() -> syrch_core::Edit {
        Edit::Add(task("new", &["a"]))
    }
    let bad: Vec<(Edit, &str)> = vec![
        (Edit::Add(task("a", &[])), "task id `a` is used twice"),
        (
            Edit::Add(task("x", &["nobody"])),
            "`x` depends on `nobody`, which is not a task of the graph",
        ),
        (
            Edit::Add(task("\u{202e}", &[])),
            r"task id `\u{202e}` is not 1 to 64 of A-Z a-z 0-9 _ . -",
        ),
        (Edit::Update(task("y", &["z"])), "tasks depend on each other in a cycle: y -> z -> y"),
        (Edit::Update(task("b", &[])), "the update of `b` comes too late: it has started"),
        (Edit::Update(task("a", &[])), "the update of `a` comes too late: it has ended"),
        (Edit::Update(task("who", &[])), "`who` is not a task of the graph"),
        (Edit::Cancel("who".into()), "`who` is not a task of the graph"),
        (Edit::Cancel("z".into()), "the answer `z` would be cancelled"),
        (Edit::Answer("who".into()), "the answer `who` is not a task of the graph"),
        (Edit::Other("fly".into()), "the edit `fly` is unknown"),
    ];
    for (edit, reason) in bad {
        let tasks = vec![task("a", &[]), task("b", &[]), task("y", &["a", "b"]), task("z", &["y"])];
        let wrong = edit.clone();
        let finished = Scene::new(tasks.clone())
            .takes(&[("b", 50)])
            .plan(1, move |_, seen, _| match seen.len() {
                1 => Ok(Step {
                    edits: vec![add(), wrong.clone(), Edit::Finish],
                    memo: Some("1".into()),
                }),
                _ => edits(vec![]),
            })
            .run()
            .await;
        assert_eq!(finished.run.refused, [reason], "{edit:?}");
        assert_eq!(finished.log.entries_with("refuse"), [(2, reason.to_owned())]);
        assert_eq!(finished.run.graph, graph(tasks), "{edit:?}");
        assert_eq!(*finished.ending("z"), Ending::Solved);
        assert_eq!(finished.log.entries_with("edit"), []);
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_waits_for_is_not_started() {
    let tasks = vec![task("a", &[]), task("z", &["a"])];
    let finished = Scene::new(tasks)
        .plan(0, |_, seen, _| {
            edits(if seen.len() == 1 { vec![Edit::Add(task("idle", &[]))] } else { vec![] })
        })
        .run()
        .await;
    assert_eq!((finished.start_time("idle"), finished.ending("idle")), (None, &Ending::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn at_most_so_many_steps_change_the_graph() {
    for rounds in [0, 1, 3] {
        let mut scene = Scene::new(vec![task("t0", &[])]).plan(0, |graph, _, _| {
            let last = graph.answer.as_str();
            let next = format!("t{}", graph.tasks.len());
            edits(vec![Edit::Add(task(&next, &[last])), Edit::Answer(next)])
        });
        scene.options.max_rounds = rounds;
        let finished = scene.run().await;
        assert_eq!(finished.run.graph.tasks.len(), 1 + rounds as usize);
        assert_eq!(finished.log.entries_with("next").len(), rounds as usize);
        assert_eq!(*finished.ending(&finished.run.graph.answer), Ending::Solved);
    }
}

#[tokio::test(start_paused = true)]
async fn a_planner_that_fails_is_not_asked_again() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("z", &["b"])];
    let finished = Scene::new(tasks).plan(0, |_, _, _| Err(RoleError::Cancelled)).run().await;
    assert_eq!(finished.run.replan_errors, [RoleError::Cancelled]);
    assert_eq!(finished.log.entries_with("next").len(), 1);
    assert_eq!(*finished.ending("z"), Ending::Solved);
}

#[tokio::test(start_paused = true)]
async fn the_memo_travels_and_costs_no_round() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("z", &["b"])];
    let mut scene = Scene::new(tasks).plan(0, |graph, seen, _| {
        let before = graph.memo.as_ref().map_or(0, String::len);
        assert_eq!(before, seen.len() - 1);
        Ok(Step { edits: vec![], memo: Some("x".repeat(before + 1)) })
    });
    scene.options.max_rounds = 1;
    assert_eq!(scene.run().await.run.graph.memo.as_deref(), Some("xxx"));
}
