//! Ends from outside: a stop, a deadline, and a run that is dropped.

use super::*;
use crate::End;

fn chain() -> Scene {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &[]), task("z", &["b", "c"])];
    Scene::new(tasks).takes(&[("a", 10), ("b", 10), ("c", 100)])
}

fn assert_halted(finished: &Finished, end: End, at: u64) {
    assert_eq!(finished.run.end, end);
    assert_eq!(*finished.ending("a"), Ending::Solved);
    for id in ["b", "c", "z"] {
        assert_eq!(*finished.ending(id), Ending::Cancelled, "{id}");
        assert_eq!(finished.end_time(id), Some(at), "{id}");
    }
    assert_eq!(finished.start_time("z"), None);
    // Running work is dropped before the run ends.
    let last: Vec<_> = finished
        .log
        .all()
        .into_iter()
        .filter(|(_, what)| what.starts_with("drop") || what == "over")
        .collect();
    assert_eq!(last.len(), 3, "{last:?}");
    assert_eq!(last[2], (at, "over".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_stop_returns_what_is_done() {
    let scene = chain();
    let stop = scene.stop.clone();
    let trigger = async {
        sleep(Duration::from_millis(15)).await;
        stop.trigger();
    };
    let (finished, ()) = futures::future::join(scene.run(), trigger).await;
    assert_halted(&finished, End::Stopped, 15);
    assert!(stop.is_triggered());
    stop.wait_until_triggered().await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_returns_what_is_done() {
    let mut scene = chain();
    scene.options.deadline = Some(Instant::now() + Duration::from_millis(15));
    assert_halted(&scene.run().await, End::Deadline, 15);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_before_it_begins_starts_nothing() {
    let scene = chain();
    scene.stop.trigger();
    let finished = scene.run().await;
    assert_eq!(finished.run.end, End::Stopped);
    assert_eq!(finished.log.entries_with("start"), []);
    assert_eq!(finished.observation_order().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_the_planner() {
    let scene = chain().plan(1_000_000, |_, _, _| edits(vec![Edit::Finish]));
    let stop = scene.stop.clone();
    let trigger = async {
        sleep(Duration::from_millis(15)).await;
        stop.trigger();
    };
    let (finished, ()) = futures::future::join(scene.run(), trigger).await;
    assert_eq!(finished.log.entries_with("next"), [(10, "0+a".to_owned())]);
    assert_halted(&finished, End::Stopped, 15);
}

/// A result within the grace period counts; nothing starts in it, and it is not longer than needed.
#[tokio::test(start_paused = true)]
async fn running_tasks_have_the_grace_period_to_end() {
    for (grace, late, ends_at) in [(30, 100, 45), (90, 95, 95), (90, 12, 20)] {
        let tasks = vec![
            task("a", &[]),
            task("b", &["a"]),
            task("x", &["b"]),
            task("c", &[]),
            task("z", &["x", "c"]),
        ];
        let mut scene = Scene::new(tasks).takes(&[("a", 10), ("b", 10), ("c", late)]);
        scene.options.deadline = Some(Instant::now() + Duration::from_millis(15));
        scene.options.grace = Duration::from_millis(grace);
        let finished = scene.run().await;
        assert_eq!(finished.run.end, End::Deadline);
        assert_eq!(*finished.ending("b"), Ending::Solved);
        assert_eq!(*finished.ending("x"), Ending::Cancelled);
        assert_eq!(finished.start_time("x"), None);
        assert_eq!(finished.end_time("z"), Some(ends_at));
    }
}

/// The planner, which might want more, is not asked any more.
#[tokio::test(start_paused = true)]
async fn no_planner_is_asked_within_the_grace_period() {
    let mut scene = Scene::new(vec![task("a", &[])])
        .takes(&[("a", 20)])
        .plan(1_000, |_, _, _| edits(vec![Edit::Finish]));
    scene.options.grace = Duration::from_millis(30);
    let stop = scene.stop.clone();
    let trigger = async {
        sleep(Duration::from_millis(15)).await;
        stop.trigger();
    };
    let (finished, ()) = futures::future::join(scene.run(), trigger).await;
    assert_eq!((finished.run.end, finished.log.entries_with("next").len()), (End::Stopped, 0));
    assert_eq!(*finished.ending("a"), Ending::Solved);
    assert_eq!(finished.end_time("a"), Some(20));
}

#[tokio::test]
async fn a_run_may_be_spawned() {
    let finished = tokio::spawn(chain().plan(0, |_, _, _| edits(vec![])).run()).await.unwrap();
    assert_eq!(*finished.ending("z"), Ending::Solved);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_drops_what_is_under_way() {
    let scene = chain();
    let log = scene.log.clone();
    assert!(tokio::time::timeout(Duration::from_millis(15), scene.run()).await.is_err());
    sleep(Duration::from_millis(1)).await;
    let dropped: Vec<String> = log.entries_with("drop").into_iter().map(|(_, id)| id).collect();
    assert_eq!(dropped.len(), 2, "{dropped:?}");
    sleep(Duration::from_millis(1_000)).await;
    assert_eq!(log.entries_with("enter").len(), 3);
}
