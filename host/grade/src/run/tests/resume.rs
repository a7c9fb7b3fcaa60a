//! Tests of killed runs that are resumed: nothing lost, nothing twice, the same record in the end.

use proptest::prelude::*;

use super::*;

const RESULTS: &str = "results.jsonl";

/// A folder that holds a run's header and this much of its log.
fn cut(header: &Header, log: &[u8]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    drop(RunFolder::create(place.path(), header).unwrap());
    std::fs::write(place.path().join(RESULTS), log).unwrap();
    place
}

async fn log_of(header: &Header, workers: usize) -> Vec<u8> {
    let place = tempfile::tempdir().unwrap();
    let system = Pretender::new()
        .slow(|item| Duration::from_millis(chance("", &item.question.id, "slow") % 40));
    run(place.path(), header, Arc::new(system), &with_workers(workers)).await.unwrap();
    std::fs::read(place.path().join(RESULTS)).unwrap()
}

/// Resumes a run with the beginning of a log, checks that its record is that of the undisturbed
/// run, and returns the number of questions that are asked again.
async fn goes_on(header: &Header, log: &[u8], whole: &RunRecord) -> usize {
    let place = cut(header, log);
    let complete = log.iter().filter(|byte| **byte == b'\n').count();
    let system = Arc::new(Pretender::new());
    let listener = Listener::default();
    let mut folder = open(place.path(), header);
    let plan = Plan::new(header, questions(header.suite.questions));
    let options = with_workers(3);
    let asking = Arc::clone(&system);
    let finished =
        execute(&plan, &mut folder, asking, &options, &listener, &Stop::new()).await.unwrap();
    assert!(finished.stopped.is_none());
    let torn = log.len() - log.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let resumed = Resumed { done: complete as u64, again: 0, torn: torn as u64 };
    assert_eq!(*listener.resumed.lock().unwrap(), [resumed]);
    assert_eq!(without_times(read(place.path()).unwrap()), *whole);
    let text = std::fs::read(place.path().join(RESULTS)).unwrap();
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), whole.graded.len());
    let asked = system.questions_asked();
    assert_eq!(asked.len(), plan.items() as usize - complete);
    asked.len()
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_from_any_line_and_any_byte_of_the_last() {
    let header = header(&["a", "b"], 12);
    let whole = run_undisturbed(&header).await;
    let log = log_of(&header, 4).await;
    let ends: Vec<usize> = (0..log.len()).filter(|at| log[*at] == b'\n').map(|at| at + 1).collect();
    assert_eq!((ends.len(), goes_on(&header, b"", &whole).await), (24, 24));
    for (done, end) in ends.iter().enumerate() {
        assert_eq!(goes_on(&header, &log[..*end], &whole).await, 23 - done);
    }
    for end in ends[22] + 1..log.len() {
        assert_eq!(goes_on(&header, &log[..end], &whole).await, 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_run_that_is_cut_anywhere_any_number_of_times_ends_as_if_it_never_was(
        arms in 1_usize..4, number in 1_u64..14, workers in 1_usize..6,
        cuts in prop::collection::vec(0.0..1.0_f64, 0..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let header = header(&["a", "b", "c"][..arms], number);
            let whole = run_undisturbed(&header).await;
            let mut log = log_of(&header, workers).await;
            for part in cuts {
                log.truncate((log.len() as f64 * part) as usize);
                let place = cut(&header, &log);
                run(
                    place.path(), &header, Arc::new(Pretender::new()), &with_workers(workers)
                ).await.unwrap();
                assert_eq!(without_times(read(place.path()).unwrap()), whole);
                log = std::fs::read(place.path().join(RESULTS)).unwrap();
            }
        });
    }

    #[test]
    fn no_byte_of_the_log_changes_unnoticed(at in 0.0..1.0_f64, to in any::<u8>()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let header = header(&["a"], 4);
        let mut log = runtime.block_on(log_of(&header, 1));
        let at = (log.len() as f64 * at) as usize;
        let line = log[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let changed = std::mem::replace(&mut log[at], to) != to;
        let is_last_end = at + 1 == log.len();
        let place = cut(&header, &log);
        match read(place.path()) {
            Ok(record) => assert!(!changed || (is_last_end && record.graded.len() == 3)),
            Err(RunError::Malformed { line: reported, .. }) => assert!(changed && reported == line),
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_damaged_line_is_named_and_nothing_is_written_over_it() {
    let header = header(&["a"], 6);
    let log = String::from_utf8(log_of(&header, 1).await).unwrap();
    let damaged = log.replacen("How many are 2?", "How many are 3?", 1);
    let place = cut(&header, damaged.as_bytes());
    let error =
        run(place.path(), &header, Arc::new(Pretender::new()), &with_workers(2)).await.unwrap_err();
    let message = error.to_string();
    let why = "line 3: its checksum is another: it was damaged; without this line the run can be \
               resumed, and repeats its item";
    assert!(message.ends_with(why), "{message}");
    assert_eq!(std::fs::read_to_string(place.path().join(RESULTS)).unwrap(), damaged);
    assert_eq!(read(place.path()).unwrap_err().to_string(), message);
    // What the message advises is right.
    let without: String = damaged
        .split_inclusive('\n')
        .enumerate()
        .filter(|(at, _)| *at != 2)
        .map(|(_, line)| line)
        .collect();
    assert_eq!(goes_on(&header, without.as_bytes(), &run_undisturbed(&header).await).await, 1);
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_not_the_runs_are_refused() {
    let two = header(&["a", "b"], 3);
    let log = log_of(&two, 1).await;
    let refused = async |header: &Header, log: &[u8]| {
        let place = cut(header, log);
        run(place.path(), header, Arc::new(Pretender::new()), &with_workers(1))
            .await
            .unwrap_err()
            .to_string()
    };
    let message = refused(&header(&["a"], 3), &log).await;
    assert!(
        message.ends_with("line 2: the suite has no question `q0` at place 0 for `b`"),
        "{message}"
    );
    let message = refused(&header(&["a", "b"], 2), &log).await;
    assert!(
        message.ends_with("line 5: the suite has no question `q2` at place 2 for `a`"),
        "{message}"
    );
    let twice = [log.as_slice(), &log].concat();
    let message = refused(&two, &twice).await;
    assert!(
        message.ends_with("line 7: it holds the answer of `a` to `q0` a second time"),
        "{message}"
    );
    assert!(read(cut(&two, &twice).path()).unwrap_err().to_string().contains("a second time"));
}

#[tokio::test(start_paused = true)]
async fn the_order_in_which_items_end_changes_nothing() {
    let header = header(&["a", "b", "c"], 40);
    let whole = run_undisturbed(&header).await;
    for seed in ["1", "2", "3"] {
        let place = tempfile::tempdir().unwrap();
        let system = Arc::new(Pretender::new().slow(move |item: &Item| {
            Duration::from_millis(chance(&item.arm_name, &item.question.id, seed) % 500)
        }));
        run(place.path(), &header, Arc::clone(&system), &with_workers(8)).await.unwrap();
        let log = std::fs::read_to_string(place.path().join(RESULTS)).unwrap();
        fn place_of(line: &str) -> Option<u64> {
            line.split("\"place\":").nth(1)?.split(',').next()?.parse::<u64>().ok()
        }
        assert!(
            !log.lines().map(|line| place_of(line).unwrap()).is_sorted(),
            "nothing overtook anything"
        );
        assert_eq!(without_times(read(place.path()).unwrap()), whole);
        assert_eq!(system.most.load(Ordering::SeqCst), 8);
        // Question by question, and in each one arm after the other.
        let asked = system.questions_asked();
        let expected =
            (0..40_u64).flat_map(|place| ["a", "b", "c"].map(|arm| (arm.to_owned(), place)));
        assert_eq!(asked, expected.collect::<Vec<_>>());
    }
}

#[tokio::test(start_paused = true)]
async fn resume_is_not_retry() {
    let header = header(&["a", "b"], 60);
    let place = tempfile::tempdir().unwrap();
    run(place.path(), &header, Arc::new(Pretender::new()), &with_workers(4)).await.unwrap();
    let first = read(place.path()).unwrap();
    let failed: Vec<(String, u64)> = {
        let failed = first.graded.iter().filter(|graded| graded.end == End::Failed);
        failed.map(|graded| (graded.arm.clone(), graded.place)).collect()
    };
    assert!(failed.len() > 2 && failed.len() < 20, "{failed:?}");
    // Going on does nothing: all is done.
    let again = Arc::new(Pretender::new());
    let finished = run(place.path(), &header, Arc::clone(&again), &with_workers(4)).await.unwrap();
    assert_eq!((again.questions_asked(), finished.progress.failed), (vec![], failed.len() as u64));
    let before = finished.progress;
    // Trying again does those that failed, and marks them.
    let mended = Arc::new(Pretender::acting(|item| {
        let answered = Graded { end: End::Answered, fault: None, ..answer_of(item) };
        Answered::Graded(Box::new(answered))
    }));
    let mut folder = open(place.path(), &header);
    let listener = Listener::default();
    let plan = Plan::new(&header, questions(60)).retry_failed(true);
    let asking = Arc::clone(&mended);
    let finished = execute(&plan, &mut folder, asking, &with_workers(1), &listener, &Stop::new())
        .await
        .unwrap();
    assert_eq!(mended.questions_asked(), failed);
    let resumed = Resumed { done: 120, again: failed.len() as u64, torn: 0 };
    assert_eq!(*listener.resumed.lock().unwrap(), [resumed]);
    let last = read(place.path()).unwrap();
    assert_eq!(last.graded.len(), 120);
    for (old, new) in first.graded.iter().zip(&last.graded) {
        let was_failed = old.end == End::Failed;
        assert_eq!(
            (new.retried, new.end),
            (was_failed, if was_failed { End::Answered } else { old.end })
        );
    }
    // The answers count once, the costs of both tries.
    fn calls(record: &RunRecord) -> u64 {
        record.graded.iter().map(|graded| u64::from(graded.calls())).sum::<u64>()
    }
    let paid_twice: u64 = first
        .graded
        .iter()
        .filter(|graded| graded.end == End::Failed)
        .map(|graded| u64::from(graded.calls()))
        .sum();
    assert_eq!((before.calls, finished.progress.calls), (calls(&first), calls(&last) + paid_twice));
    assert_eq!(last.earlier.values().map(|tries| tries.calls).sum::<u64>(), paid_twice);
    assert_eq!(last.earlier.values().map(|tries| tries.tries).sum::<u64>(), failed.len() as u64);
    let arms = &finished.progress.arms;
    let failures = finished.progress.failed;
    assert_eq!((arms == &before.arms, finished.progress.done, failures), (true, 120, 0));
    // Once they are answered there is nothing to try again.
    drop(folder);
    let mut folder = open(place.path(), &header);
    let nothing = Arc::new(Pretender::new());
    execute(&plan, &mut folder, Arc::clone(&nothing), &with_workers(1), &Silent, &Stop::new())
        .await
        .unwrap();
    assert!(nothing.questions_asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_of_a_retry_was_not_done_is_done_by_the_next() {
    let header = header(&["a"], 80);
    let place = tempfile::tempdir().unwrap();
    run(place.path(), &header, Arc::new(Pretender::new()), &with_workers(4)).await.unwrap();
    let first = std::fs::read(place.path().join(RESULTS)).unwrap();
    fn mend() -> std::sync::Arc<crate::run::tests::Pretender> {
        Arc::new(Pretender::acting(|item| {
            Answered::Graded(Box::new(Graded {
                end: End::Answered,
                fault: None,
                ..answer_of(item)
            }))
        }))
    }
    let plan = Plan::new(&header, questions(80)).retry_failed(true);
    execute(
        &plan,
        &mut open(place.path(), &header),
        mend(),
        &with_workers(2),
        &Silent,
        &Stop::new(),
    )
    .await
    .unwrap();
    let whole = without_times(read(place.path()).unwrap());
    let log = std::fs::read(place.path().join(RESULTS)).unwrap();
    assert!(log.len() > first.len() + 1_000);
    for end in (first.len()..log.len()).step_by(37) {
        let cut = cut(&header, &log[..end]);
        let mut folder = open(cut.path(), &header);
        execute(&plan, &mut folder, mend(), &with_workers(2), &Silent, &Stop::new()).await.unwrap();
        assert_eq!(without_times(read(cut.path()).unwrap()), whole);
    }
}

#[tokio::test(start_paused = true)]
async fn a_search_that_was_cut_off_keeps_its_journal_and_one_that_ended_does_not() {
    let header = header(&["a"], 6);
    let log = log_of(&header, 1).await;
    let place = cut(&header, &log[..log.iter().position(|byte| *byte == b'\n').unwrap() + 1]);
    let mut folder = open(place.path(), &header);
    // Killed after the line of the first was written and before its journal was removed, while the
    // second was under way.
    let ended = folder.item_journal("a", "q0");
    let under_way = folder.item_journal("a", "q1");
    std::fs::write(&ended, "a search that ended").unwrap();
    std::fs::write(&under_way, "a search that was cut off").unwrap();
    let journal = under_way.clone();
    let plan = Plan::new(&header, questions(6));
    let system = Arc::new(Pretender::acting(move |item: &Item| {
        assert_eq!(journal.exists(), item.place == 1);
        Answered::Graded(Box::new(answer_of(item)))
    }));
    execute(&plan, &mut folder, Arc::clone(&system), &with_workers(1), &Silent, &Stop::new())
        .await
        .unwrap();
    assert_eq!(
        (ended.exists(), under_way.exists(), system.questions_asked().len()),
        (false, false, 5)
    );
    assert!(
        read(place.path())
            .unwrap()
            .graded
            .iter()
            .all(|graded| graded.fault.as_ref().is_none_or(|fault| fault.class != "unexpected"))
    );
}
