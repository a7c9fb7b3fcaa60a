//! Comparisons that stop when they are decided: always at the same question.

use super::*;

/// Decided when one arm is ahead by so many.
fn ahead_by(lead: u64, first: usize, second: usize) -> StopEarly {
    StopEarly { first, second, decides: Arc::new(move |b, c| b.abs_diff(c) >= lead) }
}

fn options(workers: usize, early: StopEarly) -> Options {
    Options { stop_early: Some(early), ..with_workers(workers) }
}

/// The question at which a run stops, computed from all of its answers.
fn compute_stop(whole: &RunRecord, arms: [&str; 2], lead: u64) -> Early {
    fn verdict(whole: &RunRecord, place: u64, arm: &str) -> Option<crate::rules::Verdict> {
        whole
            .graded
            .iter()
            .find(|graded| graded.place == place && graded.arm == arm)
            .unwrap()
            .verdict("bag-v1")
    }
    let mut b = 0;
    let mut c = 0;
    for at in 0.. {
        match arms.map(|arm| verdict(whole, at, arm)) {
            [Some(Verdict::Right), Some(Verdict::Wrong)] => b += 1,
            [Some(Verdict::Wrong), Some(Verdict::Right)] => c += 1,
            _ => {}
        }
        if u64::abs_diff(b, c) >= lead {
            let [first, second] = arms.map(str::to_owned);
            return Early { at, first, second, rule: "bag-v1".to_owned(), b, c };
        }
    }
    unreachable!()
}

fn shaky(seed: &'static str) -> Arc<Pretender> {
    Arc::new(Pretender::new().slow(move |item| {
        Duration::from_millis(chance(&item.arm_name, &item.question.id, seed) % 900)
    }))
}

#[tokio::test(start_paused = true)]
async fn it_stops_at_the_same_question_whatever_ends_first() {
    let header = header(&["a", "b", "c"], 200);
    let whole = run_undisturbed(&header).await;
    let early = compute_stop(&whole, ["a", "c"], 4);
    assert!(early.at > 10 && early.at < 150, "{early:?}");
    let counting: Vec<Graded> =
        whole.graded.iter().filter(|graded| graded.place <= early.at).cloned().collect();
    for (seed, workers) in [("1", 1), ("2", 3), ("3", 8), ("4", 16)] {
        let place = tempfile::tempdir().unwrap();
        let system = shaky(seed);
        let options = options(workers, ahead_by(4, 0, 2));
        let finished = run(place.path(), &header, Arc::clone(&system), &options).await.unwrap();
        assert!(
            matches!(&finished.stopped, Some(Stopped::Early(reported)) if *reported == early),
            "{:?}",
            finished.stopped
        );
        let record = without_times(read(place.path()).unwrap());
        assert_eq!(
            (&record.graded, record.stopped.as_ref(), record.is_whole()),
            (&counting, Some(&early), true)
        );
        assert_eq!(counting.len() as u64 + record.ahead, finished.progress.done);
        assert!(workers == 1 || record.ahead > 0, "nothing ran ahead with {workers}");
        assert!((system.questions_asked().len() as u64) <= finished.progress.done + workers as u64);
        // Going on changes nothing.
        let before = std::fs::read(place.path().join("results.jsonl")).unwrap();
        let again = shaky(seed);
        let finished = run(place.path(), &header, Arc::clone(&again), &options).await.unwrap();
        assert!(matches!(finished.stopped, Some(Stopped::Early(reported)) if reported == early));
        assert!(
            again.questions_asked().is_empty()
                && std::fs::read(place.path().join("results.jsonl")).unwrap() == before
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_killed_comparison_stops_where_an_unkilled_one_does() {
    let header = header(&["a", "b"], 120);
    let whole = run_undisturbed(&header).await;
    let early = compute_stop(&whole, ["b", "a"], 3);
    let place = tempfile::tempdir().unwrap();
    let options = options(6, ahead_by(3, 1, 0));
    run(place.path(), &header, shaky("5"), &options).await.unwrap();
    let record = without_times(read(place.path()).unwrap());
    let log = std::fs::read(place.path().join("results.jsonl")).unwrap();
    for end in (0..=log.len()).step_by(211).chain([log.len()]) {
        let cut = tempfile::tempdir().unwrap();
        drop(RunFolder::create(cut.path(), &header).unwrap());
        std::fs::write(cut.path().join("results.jsonl"), &log[..end]).unwrap();
        let finished = run(cut.path(), &header, shaky("6"), &options).await.unwrap();
        assert!(matches!(finished.stopped, Some(Stopped::Early(reported)) if reported == early));
        let again = without_times(read(cut.path()).unwrap());
        assert_eq!((&again.graded, &again.stopped), (&record.graded, &record.stopped));
        let listed = Runs::new(cut.path().parent().unwrap().into())
            .find(cut.path().to_str().unwrap())
            .unwrap();
        assert_eq!(listed.summary().unwrap().stopped, record.stopped);
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_rule_it_goes_on_to_the_end() {
    let header = header(&["a", "b"], 60);
    let place = tempfile::tempdir().unwrap();
    run(place.path(), &header, shaky("7"), &options(4, ahead_by(2, 0, 1))).await.unwrap();
    assert!(read(place.path()).unwrap().stopped.is_some());
    let finished = run(place.path(), &header, shaky("8"), &with_workers(4)).await.unwrap();
    assert!(finished.stopped.is_none());
    assert_eq!(without_times(read(place.path()).unwrap()), run_undisturbed(&header).await);
    // A comparison that is never decided ends as well.
    let place = tempfile::tempdir().unwrap();
    let finished =
        run(place.path(), &header, shaky("9"), &options(4, ahead_by(500, 0, 1))).await.unwrap();
    assert!(finished.stopped.is_none() && read(place.path()).unwrap().is_whole());
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_rested_on_failures_is_taken_back_when_they_are_made_again() {
    let header = header(&["a", "b"], 40);
    let place = tempfile::tempdir().unwrap();
    let right = |item: &Item| {
        let right = Judged { verdict: Verdict::Right, fingerprint: None };
        let verdicts = BTreeMap::from([("bag-v1".to_owned(), right)]);
        Graded { end: End::Answered, fault: None, gold_fault: None, verdicts, ..answer_of(item) }
    };
    let options = options(2, ahead_by(5, 0, 1));
    let finished = run(
        place.path(),
        &header,
        Arc::new(Pretender::acting(move |item: &Item| {
            let graded = right(item);
            let wrong = Judged { verdict: Verdict::Wrong, fingerprint: None };
            let verdicts = BTreeMap::from([("bag-v1".to_owned(), wrong)]);
            let failed = Graded { end: End::Failed, verdicts, ..graded.clone() };
            Answered::Graded(Box::new(if item.arm == 1 { failed } else { graded }))
        })),
        &options,
    )
    .await
    .unwrap();
    assert!(matches!(finished.stopped, Some(Stopped::Early(Early { at: 4, b: 5, c: 0, .. }))));
    let plan = Plan::new(&header, questions(40)).retry_failed(true);
    let healed = Arc::new(Pretender::acting(move |item| Answered::Graded(Box::new(right(item)))));
    let mut folder = open(place.path(), &header);
    let finished =
        execute(&plan, &mut folder, healed, &options, &Silent, &Stop::new()).await.unwrap();
    assert!(finished.stopped.is_none());
    let record = read(place.path()).unwrap();
    assert!(record.stopped.is_none() && record.is_whole() && record.graded.len() == 80);
}

#[tokio::test]
async fn what_cannot_stop_early_says_so() {
    let two = header(&["a", "b"], 10);
    let message = async |header: &Header, early: StopEarly| {
        let place = tempfile::tempdir().unwrap();
        run(place.path(), header, Arc::new(Pretender::new()), &options(1, early))
            .await
            .unwrap_err()
            .to_string()
    };
    let begin = "the run `00112233445566ff` cannot be resumed: ";
    let arms = format!("{begin}stopping early takes two different arms of the run");
    assert_eq!(message(&two, ahead_by(1, 0, 2)).await, arms);
    assert_eq!(message(&two, ahead_by(1, 1, 1)).await, arms);
    let shard = Header { shard: Some(Shard::new(1, 2).unwrap()), ..two };
    let shards =
        format!("{begin}a shard cannot stop early, because it does not see what the others find");
    assert_eq!(message(&shard, ahead_by(1, 0, 1)).await, shards);
}
