//! Tests of the order of starts. Virtual time makes every moment exact.

use super::*;

const AT_MOST: [(Join, usize); 3] = [(Join::AllOf, 3), (Join::AnyOf, 1), (Join::AtLeast(2), 2)];

#[tokio::test(start_paused = true)]
async fn two_chains_do_not_wait_for_each_other() {
    let tasks = vec![
        task("a1", &[]),
        task("a2", &["a1"]),
        task("b1", &[]),
        task("b2", &["b1"]),
        task("z", &["a2", "b2"]),
    ];
    let finished = Scene::new(tasks)
        .takes(&[("a1", 10), ("a2", 50), ("b1", 50), ("b2", 10), ("z", 5)])
        .run()
        .await;
    assert_eq!(finished.start_time("a2"), Some(10));
    assert_eq!(finished.start_time("b2"), Some(50));
    // By layers it would be 50 + 50 + 5.
    assert_eq!(finished.end_time("z"), Some(65));
    assert_eq!(
        finished.observation_order(),
        ["a1", "b1", "a2", "b2", "z"].iter().collect::<Vec<_>>()
    );
    assert_eq!(finished.run.end, crate::End::Complete);
}

#[tokio::test(start_paused = true)]
async fn a_straggler_holds_up_only_who_needs_it() {
    let tasks = vec![
        task("slow", &[]),
        task("a", &[]),
        task("b", &["a"]),
        task("c", &["b"]),
        task("z", &["slow", "c"]),
    ];
    let finished = Scene::new(tasks)
        .takes(&[("slow", 100), ("a", 10), ("b", 10), ("c", 10), ("z", 1)])
        .run()
        .await;
    assert_eq!(["a", "b", "c", "z"].map(|id| finished.start_time(id).unwrap()), [0, 10, 20, 100]);
    assert_eq!(finished.end_time("z"), Some(101));
}

#[tokio::test(start_paused = true)]
async fn a_zigzag_follows_its_critical_path() {
    // Long and short tasks alternate between two chains that cross.
    let tasks = vec![
        task("a1", &[]),
        task("b1", &[]),
        task("a2", &["a1"]),
        task("b2", &["b1", "a1"]),
        task("a3", &["a2", "b1"]),
        task("b3", &["b2"]),
        task("z", &["a3", "b3"]),
    ];
    let times = [("a1", 1), ("b1", 20), ("a2", 30), ("b2", 2), ("a3", 3), ("b3", 40), ("z", 1)];
    let finished = Scene::new(tasks).takes(&times).run().await;
    assert_eq!(finished.start_time("a3"), Some(31));
    assert_eq!(finished.start_time("b3"), Some(22));
    assert_eq!(finished.end_time("z"), Some(63));
}

#[tokio::test(start_paused = true)]
async fn a_diamond_meets_at_its_slower_side() {
    let tasks = vec![task("a", &[]), task("l", &["a"]), task("r", &["a"]), task("z", &["l", "r"])];
    let finished = Scene::new(tasks).takes(&[("a", 5), ("l", 10), ("r", 25), ("z", 1)]).run().await;
    assert_eq!(finished.end_time("z"), Some(31));
    assert_eq!(finished.parents("z"), "l,r");
}

#[tokio::test(start_paused = true)]
async fn the_greatest_priority_goes_first() {
    let ranked = |id: &str, priority| Task { priority, ..task(id, &[]) };
    let tasks = vec![
        ranked("a", 0.0),
        ranked("b", 2.0),
        ranked("c", -0.0),
        ranked("d", -1.0),
        ranked("e", 2.0),
        task("z", &["a", "b", "c", "d", "e"]),
    ];
    let finished = Scene::new(tasks).parallel(1).run().await;
    let order: Vec<String> =
        finished.log.entries_with("enter").into_iter().map(|(_, id)| id).collect();
    assert_eq!(order, ["b", "e", "a", "c", "d", "z"]);
    assert_eq!(finished.end_time("z"), Some(6));
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_limit_is_under_way() {
    let names: Vec<String> = (0..10).map(|number| format!("t{number}")).collect();
    let ids: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut tasks: Vec<Task> = ids.iter().map(|id| task(id, &[])).collect();
    tasks.push(task("z", &ids));
    let finished = Scene::new(tasks).parallel(3).run().await;
    // Ten tasks of one millisecond by threes, then the answer.
    assert_eq!(finished.end_time("z"), Some(5));
}

#[tokio::test(start_paused = true)]
async fn a_join_starts_at_its_count_and_cancels_the_losers() {
    for (join, started) in AT_MOST {
        let tasks = vec![
            task("a", &[]),
            task("b", &[]),
            task("c", &[]),
            join_task(join, "z", &["c", "b", "a"]),
        ];
        let finished =
            Scene::new(tasks).takes(&[("a", 10), ("b", 20), ("c", 30), ("z", 50)]).run().await;
        let started = 10 * started as u64;
        assert_eq!(finished.start_time("z"), Some(started), "{join:?}");
        for (id, after) in [("a", 10), ("b", 20), ("c", 30)] {
            let lost = after > started;
            assert_eq!(*finished.ending(id) == Ending::Cancelled, lost, "{join:?} {id}");
            assert_eq!(finished.log.when("drop", id), lost.then_some(started), "{join:?} {id}");
        }
        assert_eq!(finished.end_time("z"), Some(started + 50));
    }
}

#[tokio::test(start_paused = true)]
async fn an_any_of_gets_its_winner_alone() {
    let tasks = vec![task("a", &[]), task("b", &[]), join_task(Join::AnyOf, "z", &["a", "b"])];
    let finished = Scene::new(tasks).act("a", Act::Fail(1)).takes(&[("b", 10)]).run().await;
    assert_eq!(finished.parents("z"), "b");
    assert_eq!(*finished.ending("z"), Ending::Solved);
}

#[tokio::test(start_paused = true)]
async fn a_loser_does_not_keep_the_place_that_the_winner_s_dependent_needs() {
    let tasks = vec![
        task("a", &[]),
        task("b", &[]),
        task("c", &[]),
        join_task(Join::AnyOf, "z", &["a", "b", "c"]),
    ];
    let finished =
        Scene::new(tasks).takes(&[("a", 10), ("b", 1000), ("z", 1)]).parallel(2).run().await;
    assert_eq!(finished.start_time("z"), Some(10));
    // The one that had not started never does.
    assert_eq!(finished.start_time("c"), None);
    assert_eq!(*finished.ending("c"), Ending::Cancelled);
    let alone = vec![task("a", &[]), task("b", &[]), join_task(Join::AnyOf, "z", &["a", "b"])];
    let finished =
        Scene::new(alone).takes(&[("a", 10), ("b", 1000), ("z", 1)]).parallel(1).run().await;
    assert_eq!((finished.start_time("b"), finished.end_time("z")), (None, Some(11)));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_feeds_only_a_loser_is_cancelled_too() {
    let tasks = vec![
        task("quick", &[]),
        task("deep", &[]),
        task("slow", &["deep"]),
        join_task(Join::AnyOf, "z", &["quick", "slow"]),
    ];
    let finished = Scene::new(tasks).takes(&[("quick", 5), ("deep", 100)]).run().await;
    assert_eq!(finished.log.when("drop", "deep"), Some(5));
    assert_eq!(*finished.ending("slow"), Ending::Cancelled);
    assert_eq!(finished.start_time("slow"), None);
}

#[tokio::test(start_paused = true)]
async fn dependents_of_a_failed_task_are_skipped_and_say_why() {
    let tasks = vec![
        task("a", &[]),
        task("b", &["a"]),
        task("c", &["b"]),
        task("d", &[]),
        task("z", &["d", "c"]),
    ];
    let finished = Scene::new(tasks).act("a", Act::Fail(5)).takes(&[("d", 100)]).run().await;
    assert_eq!(finished.skip_reason("b"), "`a` failed: no such table");
    assert_eq!(finished.skip_reason("c"), "`b` was skipped, since `a` failed: no such table");
    assert_eq!(finished.skip_reason("z"), "`c` was skipped, since `a` failed: no such table");
    assert_eq!(finished.end_time("z"), Some(5));
    // Nobody waits for it any more.
    assert_eq!(*finished.ending("d"), Ending::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn joins_are_skipped_as_soon_as_they_cannot_be_satisfied() {
    fn leaves() -> Vec<syrch_core::Task> {
        vec![task("a", &[]), task("b", &[]), task("c", &[])]
    }
    let scene = |join| {
        let tasks = leaves().into_iter().chain([join_task(join, "z", &["a", "b", "c"])]).collect();
        Scene::new(tasks).act("a", Act::Fail(1)).act("b", Act::Fail(2)).act("c", Act::Fail(3))
    };
    let any = scene(Join::AnyOf).run().await;
    let all = "`a` failed: no such table; `b` failed: no such table; `c` failed: no such table";
    assert_eq!(any.skip_reason("z"), format!("no dependency ended well: {all}"));
    let two = scene(Join::AtLeast(2)).run().await;
    assert_eq!(two.end_time("z"), Some(2));
    assert!(
        two.skip_reason("z").starts_with("fewer than 2 dependencies can end well: `a` failed"),
        "{}",
        two.skip_reason("z")
    );
}

#[tokio::test(start_paused = true)]
async fn a_tolerant_task_runs_with_what_there_is() {
    fn leaves() -> Vec<syrch_core::Task> {
        vec![task("a", &[]), task("b", &[]), task("c", &["a"])]
    }
    let scene = |last| {
        let tasks = leaves().into_iter().chain([last]).collect();
        Scene::new(tasks).act("a", Act::Fail(1)).takes(&[("b", 20)])
    };
    let finished =
        scene(Task { tolerant: true, ..join_task(Join::AllOf, "z", &["a", "b", "c"]) }).run().await;
    assert_eq!(finished.start_time("z"), Some(20));
    assert_eq!(finished.parents("z"), "a,b,c");
    assert_eq!(*finished.ending("z"), Ending::Solved);
    let finished =
        scene(Task { tolerant: true, ..join_task(Join::AnyOf, "z", &["a", "c"]) }).run().await;
    assert_eq!((finished.start_time("z"), finished.parents("z").as_str()), (Some(1), "a,c"));
}

#[tokio::test(start_paused = true)]
async fn a_choice_takes_the_most_confident_and_the_first_of_equals() {
    let pick = async |confidences: [Option<f64>; 3]| {
        let mut scene = Scene::new(vec![
            task("a", &[]),
            task("b", &[]),
            task("c", &[]),
            choice("z", &["c", "a", "b"]),
        ]);
        for (id, confidence) in ["a", "b", "c"].into_iter().zip(confidences) {
            scene = scene.act(id, Act::Solve(1, confidence));
        }
        let finished = scene.run().await;
        assert_eq!(
            finished.log.entries_with("enter").len(),
            3,
            "a choice never reaches the runner"
        );
        assert_eq!(finished.run.ended["z"].observation.task, "z");
        let best = finished.run.ended["z"].observation.best().unwrap().clone();
        let from = finished.run.ended[best.strip_suffix(".c").unwrap()].output.clone();
        assert_eq!(finished.run.ended["z"].output, from);
        best
    };
    assert_eq!(pick([Some(0.2), Some(0.9), Some(0.5)]).await, "b.c");
    assert_eq!(pick([Some(0.5), Some(0.5), Some(0.5)]).await, "c.c");
    assert_eq!(pick([Some(f64::NAN), Some(0.0), None]).await, "b.c");
    assert_eq!(pick([None, Some(f64::NAN), None]).await, "c.c");
    assert_eq!(pick([Some(0.1), None, None]).await, "a.c");
}

#[tokio::test(start_paused = true)]
async fn a_choice_among_failures_is_skipped() {
    let last = Task { tolerant: true, ..choice("z", &["a", "b"]) };
    let finished = Scene::new(vec![task("a", &[]), task("b", &[]), last])
        .act("a", Act::Fail(1))
        .act("b", Act::Fail(1))
        .run()
        .await;
    assert_eq!(finished.skip_reason("z"), "`a` failed: no such table");
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_and_no_more() {
    let last = Task { tolerant: true, ..task("z", &["a", "b"]) };
    let finished =
        Scene::new(vec![task("a", &[]), task("b", &[]), last]).act("a", Act::Panic).run().await;
    assert!(matches!(
        finished.ending("a"), Ending::Failed(failure) if failure.kind == FailureKind::Internal
    ));
    assert_eq!(*finished.ending("z"), Ending::Solved);
}
