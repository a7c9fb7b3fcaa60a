//! Tests of the reasons that stop a run before its end; finished items stay in the log.

use super::*;

/// An answer of that class of failure.
fn failing(item: &Item, class: &str) -> Answered<String> {
    let fault =
        Some(Fault { class: class.to_owned(), message: format!("{class} at {}", item.place) });
    Answered::Graded(Box::new(Graded { end: End::Failed, fault, ..answer_of(item) }))
}

fn make_answer(item: &Item) -> Answered<String> {
    Answered::Graded(Box::new(Graded { end: End::Answered, fault: None, ..answer_of(item) }))
}

#[tokio::test(start_paused = true)]
async fn a_dead_endpoint_stops_the_run_and_a_retry_heals_it() {
    let header = header(&["a"], 60);
    let place = tempfile::tempdir().unwrap();
    // Nine failures in a row are borne, and so are failures of another kind; from place 30 on the
    // endpoint is dead.
    let dying = Arc::new(Pretender::acting(|item: &Item| match item.place {
        3..12 | 30.. => failing(item, "model"),
        15..28 => failing(item, "database"),
        _ => make_answer(item),
    }));
    let finished = run(place.path(), &header, Arc::clone(&dying), &with_workers(1)).await.unwrap();
    let Some(Stopped::Outage { items: 10, message }) = finished.stopped else {
        panic!("{finished:?}")
    };
    assert_eq!((message.as_str(), dying.questions_asked().len()), ("model at 39", 40));
    assert_eq!((finished.progress.done, finished.progress.failed), (40, 9 + 13 + 10));
    let plan = Plan::new(&header, questions(60)).retry_failed(true);
    let healed = Arc::new(Pretender::acting(make_answer));
    let mut folder = open(place.path(), &header);
    let asking = Arc::clone(&healed);
    let finished =
        execute(&plan, &mut folder, asking, &with_workers(4), &Silent, &Stop::new()).await.unwrap();
    assert!(finished.stopped.is_none());
    assert_eq!(
        (healed.questions_asked().len(), read(place.path()).unwrap().is_whole()),
        (20 + 32, true)
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_ends_what_is_under_way() {
    let header = header(&["a"], 50);
    let place = tempfile::tempdir().unwrap();
    let system = Pretender::acting(|item| Answered::Graded(Box::new(answer_of(item))));
    let system = Arc::new(system.slow(|_| Duration::from_secs(60)));
    let budgets = RunBudgets { time: Some(Duration::from_secs(100)), ..RunBudgets::default() };
    let options = Options { budgets, ..with_workers(2) };
    let began = tokio::time::Instant::now();
    let finished = run(place.path(), &header, Arc::clone(&system), &options).await.unwrap();
    assert!(matches!(finished.stopped, Some(Stopped::Budget(UsedUp::Time))));
    assert_eq!(
        (finished.progress.done, system.questions_asked().len(), began.elapsed()),
        (2, 4, Duration::from_secs(100))
    );
    assert_eq!(finished.dropped, Dropped { unknown: 2, ..Dropped::default() });
}

#[tokio::test(start_paused = true)]
async fn what_dropped_items_cost_counts_and_is_not_logged() {
    let header = header(&["a"], 50);
    let place = tempfile::tempdir().unwrap();
    let cost = Cost { calls: 2, input_tokens: 90, usd: Some(0.5), ..Cost::default() };
    let system = Pretender::acting(|item| Answered::Graded(Box::new(answer_of(item))));
    let system = system.slow(|_| Duration::from_secs(60));
    let system = Arc::new(Pretender { dropped: Some(cost), ..system });
    let budgets = RunBudgets { time: Some(Duration::from_secs(50)), ..RunBudgets::default() };
    let options = Options { budgets, ..with_workers(2) };
    let finished = run(place.path(), &header, system, &options).await.unwrap();
    let dropped = EarlierTries { tries: 2, calls: 4, tokens: 180, usd: Some(1.0) };
    assert_eq!(finished.dropped, Dropped { cost: dropped, unknown: 0 });
    let progress = &finished.progress;
    assert_eq!((progress.done, progress.calls, progress.usd), (0, 4, Some(1.0)));
    assert!(read(place.path()).unwrap().earlier.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_under_way_when_the_endpoint_dies_is_begun_again() {
    let header = header(&["a"], 40);
    let place = tempfile::tempdir().unwrap();
    let dying = Pretender::acting(|item| failing(item, "model"))
        .slow(|item| Duration::from_millis(item.place));
    let options = Options { max_outages: 2, ..with_workers(4) };
    let finished = run(place.path(), &header, Arc::new(dying), &options).await.unwrap();
    assert!(matches!(finished.stopped, Some(Stopped::Outage { items: 2, .. })));
    let again = Arc::new(Pretender::acting(make_answer));
    run(place.path(), &header, Arc::clone(&again), &options).await.unwrap();
    assert_eq!(again.questions_asked().len(), 38);
    // No bound: all of them fail.
    let place = tempfile::tempdir().unwrap();
    let options = Options { max_outages: 0, ..with_workers(4) };
    let dead = Arc::new(Pretender::acting(|item| failing(item, "model")));
    let finished = run(place.path(), &header, dead, &options).await.unwrap();
    assert!(finished.stopped.is_none() && finished.progress.failed == 40);
}

#[tokio::test(start_paused = true)]
async fn each_budget_stops_the_run_and_counts_what_the_log_holds() {
    let header = header(&["a"], 50);
    let cost = Cost {
        calls: 2,
        cached: 1,
        input_tokens: 90,
        output_tokens: 10,
        usd: Some(0.5),
        sql_runs: 0,
    };
    let none = RunBudgets::default();
    let cases = [
        (
            RunBudgets { calls: Some(30), ..none },
            RunBudgets { calls: Some(31), ..none },
            UsedUp::Calls,
        ),
        (
            RunBudgets { tokens: Some(1_000), ..none },
            RunBudgets { tokens: Some(1_001), ..none },
            UsedUp::Tokens,
        ),
        (RunBudgets { usd: Some(5.0), ..none }, RunBudgets { usd: Some(5.1), ..none }, UsedUp::Usd),
    ];
    for (ten, eleven, used_up) in cases {
        let place = tempfile::tempdir().unwrap();
        let pretender = || {
            Arc::new(
                Pretender::acting(move |item: &Item| {
                    Answered::Graded(Box::new(Graded { cost, ..answer_of(item) }))
                })
                .slow(|_: &Item| Duration::from_secs(1)),
            )
        };
        let go = async |budgets: RunBudgets, workers: usize| {
            let system = pretender();
            let options = Options { budgets, ..with_workers(workers) };
            let finished = run(place.path(), &header, Arc::clone(&system), &options).await.unwrap();
            (system.questions_asked().len(), finished.progress.done, finished.stopped)
        };
        assert!(matches!(
            go(ten, 1).await, (10, 10, Some(Stopped::Budget(reported))) if reported == used_up
        ));
        // The log holds ten: nothing begins, and with a little more one does.
        assert!(matches!(
            go(ten, 1).await, (0, 10, Some(Stopped::Budget(reported))) if reported == used_up
        ));
        assert!(matches!(
            go(eleven, 1).await, (1, 11, Some(Stopped::Budget(reported))) if reported == used_up
        ));
        // Without it the rest is done, and when all is done no budget stops anything.
        assert!(matches!(go(none, 4).await, (39, 50, None)));
        assert!(matches!(go(ten, 4).await, (0, 50, None)));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_under_way_when_a_budget_is_used_up_comes_to_its_end() {
    let header = header(&["a"], 50);
    let place = tempfile::tempdir().unwrap();
    let cost = Cost { calls: 1, ..Cost::default() };
    let system = Pretender::acting(move |item| {
        Answered::Graded(Box::new(Graded { cost, ..answer_of(item) }))
    });
    let system = Arc::new(system.slow(|item| Duration::from_millis(10 + item.place % 4)));
    let budgets = RunBudgets { calls: Some(10), ..RunBudgets::default() };
    let options = Options { budgets, ..with_workers(4) };
    let finished = run(place.path(), &header, Arc::clone(&system), &options).await.unwrap();
    assert!(matches!(finished.stopped, Some(Stopped::Budget(UsedUp::Calls))));
    assert_eq!((finished.progress.done, system.questions_asked().len()), (13, 13));
}

#[tokio::test(start_paused = true)]
async fn an_item_that_a_budget_cuts_off_is_paid_for_and_asked_again() {
    let header = header(&["a"], 5);
    let place = tempfile::tempdir().unwrap();
    let cost = Cost { calls: 2, ..Cost::default() };
    let with = |cuts_off: bool| {
        Arc::new(Pretender::acting(move |item| match item.place {
            3 if cuts_off => Answered::CutOff(UsedUp::Calls, cost),
            _ => Answered::Graded(Box::new(Graded { cost, ..answer_of(item) })),
        }))
    };
    let budgets = RunBudgets { calls: Some(9), ..RunBudgets::default() };
    let options = Options { budgets, ..with_workers(1) };
    let finished = run(place.path(), &header, with(true), &options).await.unwrap();
    assert!(matches!(finished.stopped, Some(Stopped::Budget(UsedUp::Calls))));
    assert_eq!((finished.progress.done, finished.progress.calls), (3, 8));
    let record = read(place.path()).unwrap();
    assert_eq!((record.graded.len(), record.earlier["a"].calls), (3, 2));

    let system = with(false);
    let finished = run(place.path(), &header, Arc::clone(&system), &with_workers(1)).await.unwrap();
    assert!(finished.stopped.is_none());
    assert_eq!((finished.progress.done, finished.progress.calls), (5, 12));
    assert_eq!(system.questions_asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_keeps_what_is_done_and_begins_the_rest_again() {
    let header = header(&["a", "b"], 30);
    let place = tempfile::tempdir().unwrap();
    let stop = Stop::new();
    let hand = stop.clone();
    // The 21st item to end presses Ctrl-C; the others hang.
    let system = Arc::new(
        Pretender::acting(move |item: &Item| {
            if item.place == 10 && item.arm == 0 {
                hand.trigger();
            }
            Answered::Graded(Box::new(answer_of(item)))
        })
        .slow(|item: &Item| {
            Duration::from_secs(if item.place > 10 || item.arm == 1 && item.place == 10 {
                900
            } else {
                1
            })
        }),
    );
    let plan = Plan::new(&header, questions(30));
    let mut folder = open(place.path(), &header);
    let journals: Vec<_> =
        (0..30).map(|place| folder.item_journal("a", &format!("q{place}"))).collect();
    std::fs::write(&journals[5], "done").unwrap();
    std::fs::write(&journals[11], "under way").unwrap();
    let asking = Arc::clone(&system);
    let finished =
        execute(&plan, &mut folder, asking, &with_workers(4), &Silent, &stop).await.unwrap();
    assert!(matches!(finished.stopped, Some(Stopped::Interrupted)));
    assert_eq!((finished.progress.done, system.questions_asked().len()), (21, 24));
    assert_eq!((journals[5].exists(), journals[11].exists()), (false, true));
    // Triggered before the first item, it begins none.
    let idle = Arc::new(Pretender::new());
    execute(&plan, &mut folder, Arc::clone(&idle), &with_workers(4), &Silent, &stop).await.unwrap();
    assert!(idle.questions_asked().is_empty() && journals[11].exists());
    drop(folder);
    let again = Arc::new(Pretender::new());
    run(place.path(), &header, Arc::clone(&again), &with_workers(4)).await.unwrap();
    assert_eq!((again.questions_asked().len(), journals[11].exists()), (39, false));
    assert_eq!(without_times(read(place.path()).unwrap()), run_undisturbed(&header).await);
}

#[tokio::test(start_paused = true)]
async fn what_no_item_would_survive_stops_the_run_and_is_no_result() {
    let header = header(&["a"], 30);
    let place = tempfile::tempdir().unwrap();
    let finished = run(
        place.path(),
        &header,
        Arc::new(Pretender::acting(|item: &Item| match item.place {
            7 => Answered::Fatal("the database is gone".to_owned()),
            _ => Answered::Graded(Box::new(answer_of(item))),
        })),
        &with_workers(1),
    )
    .await
    .unwrap();
    assert!(matches!(
        finished.stopped, Some(Stopped::Fatal(message)) if message == "the database is gone"
    ));
    assert_eq!(read(place.path()).unwrap().graded.len(), 7);
    run(place.path(), &header, Arc::new(Pretender::new()), &with_workers(1)).await.unwrap();
    assert_eq!(without_times(read(place.path()).unwrap()), run_undisturbed(&header).await);
}

#[tokio::test(start_paused = true)]
async fn a_panic_counts_where_the_question_counts() {
    let header = header(&["a", "b"], 4);
    let place = tempfile::tempdir().unwrap();
    run(
        place.path(),
        &header,
        Arc::new(Pretender::acting(|item: &Item| {
            assert_ne!(item.arm, 0, "all searches of the first arm panic");
            let judged =
                |verdict| [("bag-v1".to_owned(), Judged { verdict, fingerprint: None })].into();
            let (verdicts, gold_fault) = match item.place {
                0 => (judged(Verdict::Excluded), None),
                1 => (std::collections::BTreeMap::new(), Some("it does not run".to_owned())),
                _ => (judged(Verdict::Right), None),
            };
            Answered::Graded(Box::new(Graded {
                end: End::Answered,
                verdicts,
                gold_fault,
                ..answer_of(item)
            }))
        })),
        &with_workers(1),
    )
    .await
    .unwrap();
    let record = read(place.path()).unwrap();
    let reported = |arm: usize| -> Vec<(Option<Verdict>, bool)> {
        let of_arm = record.graded.iter().skip(arm).step_by(2);
        of_arm.map(|one| (one.verdict("bag-v1"), one.gold_fault.is_some())).collect()
    };
    let blank = (Some(Verdict::Excluded), false);
    let faulty = (None, true);
    assert_eq!(
        reported(0),
        [blank, faulty, (Some(Verdict::Wrong), false), (Some(Verdict::Wrong), false)]
    );
    assert_eq!(
        reported(1),
        [blank, faulty, (Some(Verdict::Right), false), (Some(Verdict::Right), false)]
    );
    // Of what the other answer was not judged by nothing is known.
    assert_eq!(record.graded[0].verdict("strict"), Some(Verdict::Wrong));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_one_items_failure() {
    let header = header(&["a", "b"], 10);
    let place = tempfile::tempdir().unwrap();
    let finished = run(
        place.path(),
        &header,
        Arc::new(Pretender::acting(|item: &Item| match (item.place, item.arm) {
            (3, 0) => panic!("no such {}", "thing"),
            (4, 1) => std::panic::panic_any(7),
            _ => Answered::Graded(Box::new(answer_of(item))),
        })),
        &with_workers(3),
    )
    .await
    .unwrap();
    assert!(finished.stopped.is_none());
    let record = read(place.path()).unwrap();
    assert!(record.is_whole());
    let fault = |at: usize| record.graded[at].fault.clone().unwrap();
    assert_eq!(
        (fault(6).class.as_str(), fault(6).message.as_str()),
        ("unexpected", "the host panicked: no such thing")
    );
    assert_eq!(fault(9).message, "the host panicked: no reason given");
    let panicked = &record.graded[6];
    assert_eq!(
        (panicked.arm.as_str(), panicked.id.as_str(), panicked.place, panicked.end),
        ("a", "q3", 3, End::Failed)
    );
    assert_eq!(
        (panicked.gold_sql.as_deref(), panicked.verdict("bag-v1")),
        (Some("SELECT 3"), Some(Verdict::Wrong))
    );
    assert_eq!(panicked.verdicts.len(), crate::rules::Rule::all().len());
    // The others are what they are without it.
    let whole = run_undisturbed(&header).await;
    fn others(record: &RunRecord) -> Vec<Graded> {
        let all = without_times(record.clone()).graded.into_iter().enumerate();
        all.filter(|(at, _)| *at != 6 && *at != 9).map(|(_, graded)| graded).collect()
    }
    assert_eq!(others(&record), others(&whole));
}

#[tokio::test(start_paused = true)]
async fn progress_tells_how_the_run_stands() {
    let header = header(&["a", "b"], 20);
    let place = tempfile::tempdir().unwrap();
    let listener = Listener::default();
    let plan = Plan::new(&header, questions(20));
    let mut folder = open(place.path(), &header);
    let system = Arc::new(Pretender::new().slow(|_| Duration::from_secs(2)));
    execute(&plan, &mut folder, system, &with_workers(4), &listener, &Stop::new()).await.unwrap();
    let reported = listener.progress.lock().unwrap();
    assert_eq!(
        reported.iter().map(|progress| progress.done).collect::<Vec<_>>(),
        (1..=40).collect::<Vec<_>>()
    );
    // 39 left, then none, two seconds each, four at once.
    assert_eq!(
        (reported[0].left, reported[39].left),
        (Some(Duration::from_millis(19_500)), Some(Duration::ZERO))
    );
    let last = &reported[39];
    let record = read(place.path()).unwrap();
    for (arm, name) in last.arms.iter().zip(["a", "b"]) {
        let count = |verdicts: &[Verdict]| {
            record
                .graded
                .iter()
                .filter(|graded: &&Graded| graded.arm == name)
                .filter(|graded: &&Graded| {
                    graded.verdict("bag-v1").is_some_and(|verdict| verdicts.contains(&verdict))
                })
                .count() as u64
        };
        assert_eq!(
            (arm.right, arm.of),
            (count(&[Verdict::Right]), count(&[Verdict::Right, Verdict::Wrong]))
        );
        assert!(arm.arm == name && arm.right > 0 && arm.right < arm.of && arm.of < 20);
    }
    let failed = record.graded.iter().filter(|graded| graded.end == End::Failed).count() as u64;
    let calls = record.graded.iter().map(|graded| u64::from(graded.calls())).sum::<u64>();
    assert_eq!(
        (last.failed, last.calls, last.tokens, last.usd),
        (failed, calls, 4_400, Some(10.0))
    );
    assert_eq!((last.of, last.resumed, last.elapsed), (40, 0, Duration::from_secs(20)));
    assert_eq!(record.elapsed, Duration::from_secs(20));
}
