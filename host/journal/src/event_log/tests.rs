//! The guarantees of the event log: the order of the journal, and no event after a call or task has
//! ended.

use std::path::{Path, PathBuf};
use std::sync::Mutex as StdMutex;

use futures::future::join_all;
use proptest::prelude::*;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{Estimate, HOST, LlmError, Purpose, Reply, Request, Shape, Usage};
use syrch_core::roles::Role;
use syrch_core::{Catalog, Dialect, Problem, Question};

use super::*;
use crate::record::{Ask, FORMAT, Fact, Got, Header, RunKind, VERSION};

fn header() -> Header {
    Header {
        format: FORMAT.into(),
        version: VERSION,
        run: "r".into(),
        began_ms: 0,
        host: "0".into(),
        problem: Problem::new("q"),
        catalog: Arc::new(Catalog {
            database: "d".into(),
            dialect: Dialect::Sqlite,
            tables: Vec::new(),
        }),
        database_identity: None,
        models: vec!["m".into()],
        provider: "p".into(),
        plugins: Vec::new(),
        rows: RowRetention::Full,
        settings: Arc::default(),
        kind: RunKind::Search,
        verified: None,
        defined: crate::Defined::default(),
    }
}

fn record_log(path: &Path) -> Arc<EventLog> {
    let writer = Writer::create(path, &header()).unwrap();
    EventLog::new(
        Mode::Record(Some(writer), RowRetention::Full),
        Ledger::new(Budgets::default()),
        None,
    )
}

fn replay_log(path: &Path) -> Arc<EventLog> {
    EventLog::new(Mode::Replay(Journal::read(path).unwrap()), Ledger::new(Budgets::default()), None)
}

fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("r.jsonl")
}

fn ask(text: &str) -> Ask {
    Ask::Llm(Box::new(Request {
        model: Some(text.to_owned()),
        ..Request::new(Purpose::Generate, Vec::new(), Shape::Text)
    }))
}

fn reply(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        parsed: None,
        truncated: false,
        logprob: None,
        usage: Usage::default(),
    }
}

/// Yields to other tasks that many times.
async fn yields(times: u8) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

/// One actor: a role call with some port calls, each after a pause. It writes to a common log at
/// its sequence points.
async fn act(
    event_log: Arc<EventLog>,
    task: usize,
    pauses: Vec<u8>,
    log: Arc<StdMutex<Vec<String>>>,
) {
    let task = format!("t{task}");
    let call = event_log.open(Role::Solver, &task, None, || ()).await;
    for (number, pause) in pauses.into_iter().enumerate() {
        yields(pause).await;
        let ticket = u32::try_from(number).unwrap() + 1;
        event_log.issue(call, ticket, ask(&task), |_| ()).await;
        let answered = event_log.reply(call, ticket, async {
            yields(pause).await;
            Ok(reply(&format!("{task}.{number}")))
        });
        let text = answered.await.unwrap().text;
        let log = Arc::clone(&log);
        event_log
            .port(call, Ask::Remaining, |_| {
                log.lock().unwrap().push(text);
                Got::Nothing
            })
            .await;
    }
    event_log.end(call, None, || ()).await;
}

fn run(event_log: &Arc<EventLog>, pauses: &[Vec<u8>]) -> Vec<String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let log = Arc::<StdMutex<Vec<String>>>::default();
    runtime.block_on(async {
        let actors = pauses.iter().cloned().enumerate();
        let actors = actors.map(|(task, pauses)| {
            tokio::spawn(act(Arc::clone(event_log), task, pauses, Arc::clone(&log)))
        });
        let all = join_all(actors.collect::<Vec<_>>());
        tokio::select! {
            ended = all => ended.into_iter().for_each(|ended| ended.unwrap()),
            diverged = event_log.wait_for_divergence() => panic!("{diverged}"),
        }
    });
    Arc::try_unwrap(log).unwrap().into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_has_the_order_of_the_journal(
        pauses in prop::collection::vec(prop::collection::vec(0_u8..6, 1..4), 1..6),
        turned in prop::collection::vec(0_u8..6, 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let first = run(&record_log(&file(&folder)), &pauses);
        // As many calls as before, after other pauses.
        let other: Vec<Vec<u8>> = pauses
            .iter()
            .map(
                |pauses| pauses
                    .iter()
                    .zip(turned.iter().cycle())
                    .map(|(a, b)| a.wrapping_add(*b) % 7)
                    .collect()
            )
            .collect();
        prop_assert_eq!(run(&replay_log(&file(&folder)), &other), first);
    }
}

#[test]
fn what_a_process_left_that_was_killed_while_it_began_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let part = path.with_extension("part");
    std::fs::write(&part, "{\"format\":\"syr").unwrap();
    let writer = Writer::create(&path, &header()).unwrap();
    assert!(!part.exists() && Journal::read(&path).unwrap().records.is_empty());
    drop(writer);
    // Killed between the two names, a journal is not begun again, and nothing of it is lost.
    std::fs::hard_link(&path, &part).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(Writer::create(&path, &header()).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // What another process is writing stays.
    let other = std::fs::File::create(&part).unwrap();
    other.lock().unwrap();
    assert!(Writer::create(&path.with_file_name("r.jsonl"), &header()).is_err());
    assert!(part.exists());
}

#[tokio::test]
async fn another_request_diverges_and_nothing_continues() {
    let folder = tempfile::tempdir().unwrap();
    let event_log = record_log(&file(&folder));
    let call = event_log.open(Role::Planner, "", None, || ()).await;
    event_log.issue(call, 1, ask("a"), |_| ()).await;
    drop(event_log);
    let event_log = replay_log(&file(&folder));
    let call = event_log.open(Role::Planner, "", None, || ()).await;
    event_log.issue(call, 1, ask("b"), |_| ()).await;
    let diverged = event_log.wait_for_divergence().await;
    assert!(diverged.expected.contains("\"a\"") && diverged.found.contains("\"b\""), "{diverged}");
    let mut more = std::pin::pin!(event_log.reply(call, 1, async { Ok(reply("x")) }));
    assert!(futures::poll!(more.as_mut()).is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_nothing_more_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let event_log = record_log(&file(&folder));
    let call = event_log.open(Role::Planner, "", None, || ()).await;
    event_log.end(call, None, || ()).await;
    drop(event_log);
    let event_log = replay_log(&file(&folder));
    event_log.open(Role::Planner, "", None, || ()).await;
    let stalled = event_log.wait_for_stall(Duration::from_secs(30)).await;
    assert!(stalled.expected.contains("End") && stalled.record == 2, "{stalled}");
}

#[tokio::test]
async fn nothing_happens_after_a_call_was_cancelled_left_or_closed() {
    let event_log = EventLog::new(
        Mode::Record(None, RowRetention::Full),
        Ledger::new(Budgets::default()),
        None,
    );
    let call = event_log.open(Role::Solver, "A", None, || ()).await;
    for ticket in 1..4 {
        event_log.issue(call, ticket, ask("a"), |_| ()).await;
    }
    let pending = async |ticket: u32| {
        let mut flight = Box::pin(event_log.reply(call, ticket, async { Ok(reply("late")) }));
        futures::poll!(flight.as_mut()).is_pending()
    };
    assert!(!pending(1).await);
    event_log.port(call, Ask::GiveUp(2), |_| Got::GaveUp(false)).await;
    assert!(pending(2).await && !pending(1).await);
    event_log.left(call).await;
    assert!(pending(3).await);
    // The host itself continues with the call until it ends, or its task is closed; so do the calls
    // that it waits for.
    assert!(!pending(HOST).await);
    let nested = event_log.open(Role::Reward, "A", Some((call, HOST)), || ()).await;
    event_log.close_task("A").await;
    assert!(pending(HOST).await);
    let mut ends = Box::pin(event_log.end(nested, None, || ()));
    assert!(futures::poll!(ends.as_mut()).is_pending());
    let mut opens = Box::pin(event_log.open(Role::Solver, "A", None, || ()));
    assert!(futures::poll!(opens.as_mut()).is_pending());
    // Another wording of the problem may have a task of the same name.
    event_log.restart();
    assert!(
        futures::poll!(Box::pin(event_log.open(Role::Solver, "A", None, || ())).as_mut())
            .is_ready()
    );
}

#[tokio::test]
async fn a_killed_run_is_recorded_from_the_end_of_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let event_log = record_log(&path);
    let ledger = Ledger::new(Budgets::default());
    let call = event_log.open(Role::Solver, "A", None, || ()).await;
    event_log.issue(call, 1, ask("a"), |_| ()).await;
    assert_eq!(
        event_log.reply(call, 1, async { Err(LlmError::Cancelled) }).await,
        Err(LlmError::Cancelled)
    );
    event_log.fact(Fact::Round { number: 0 });
    event_log.issue(call, 2, ask("b"), |_| ()).await;
    drop(event_log);
    // A line was being written.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [whole.as_slice(), b"{\"record\":\"eve"].concat()).unwrap();

    let (writer, journal) = Writer::resume(&path).unwrap();
    assert!(!journal.is_finished());
    assert!(matches!(Writer::resume(&path), Err(crate::JournalError::Busy { .. })));
    let event_log = EventLog::new(Mode::Resume(writer, journal), Arc::clone(&ledger), None);
    assert!(event_log.is_replaying());
    assert_eq!(event_log.open(Role::Solver, "A", None, || ()).await, call);
    event_log.issue(call, 1, ask("a"), |_| ()).await;
    let first = event_log.reply(call, 1, async { panic!("the call has been made") }).await;
    assert_eq!(first, Err(LlmError::Cancelled));
    event_log.fact(Fact::Round { number: 0 });
    event_log.issue(call, 2, ask("b"), |_| ()).await;
    assert!(!event_log.is_replaying());
    assert_eq!(event_log.reply(call, 2, async { Ok(reply("again")) }).await.unwrap().text, "again");
    drop(
        ledger.reserve_call(&Purpose::Judge, &Estimate { input_tokens: 5, ..Estimate::default() }),
    );
    event_log.end(call, None, || ()).await;
    drop(event_log);
    let journal = Journal::read(&path).unwrap();
    let rounds =
        journal.records.iter().filter(|record| matches!(record, Record::Fact { .. })).count();
    assert_eq!(rounds, 1);
    let entries =
        journal.records.iter().filter(|record| matches!(record, Record::Ledger { .. })).count();
    assert_eq!(entries, 2);
    // A replay restores what was charged.
    let again = Ledger::new(Budgets::default());
    let event_log = EventLog::new(Mode::Replay(journal), Arc::clone(&again), None);
    event_log.open(Role::Solver, "A", None, || ()).await;
    event_log.issue(call, 1, ask("a"), |_| ()).await;
    assert!(event_log.reply(call, 1, std::future::pending()).await.is_err());
    event_log.issue(call, 2, ask("b"), |_| ()).await;
    assert!(event_log.reply(call, 2, std::future::pending()).await.is_ok());
    assert_eq!(again.spending().tokens_charged, 5);
}

#[tokio::test]
async fn answers_of_the_user_and_decisions_by_time_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let question = Question { text: "Which?".into(), choices: Vec::new(), ambiguity: 0.5 };
    let event_log = record_log(&file(&folder));
    assert!(event_log.decide_by_time("late", || true).await);
    assert_eq!(
        event_log.user(&question, async { Some("this".to_owned()) }).await,
        Some("this".into())
    );
    event_log.over(Role::Aggregator, async {}).await;
    drop(event_log);
    let event_log = replay_log(&file(&folder));
    assert!(event_log.decide_by_time("late", || false).await);
    assert_eq!(event_log.user(&question, async { None }).await, Some("this".into()));
    event_log.over(Role::Aggregator, std::future::pending()).await;
}

#[tokio::test]
async fn a_call_of_the_rewriter_is_recorded_and_replayed_as_one_of_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let recording = record_log(&file(&folder));
    let call = recording.open(Role::Rewriter, "", None, || ()).await;
    recording.issue(call, 1, ask("a"), |_| ()).await;
    recording.reply(call, 1, async { Ok(reply("SELECT 1")) }).await.unwrap();
    recording.end(call, None, || ()).await;
    drop(recording);
    assert!(std::fs::read_to_string(file(&folder)).unwrap().contains("\"rewriter\""));
    let replaying = replay_log(&file(&folder));
    assert_eq!(replaying.open(Role::Rewriter, "", None, || ()).await, call);
    replaying.issue(call, 1, ask("a"), |_| ()).await;
    assert_eq!(replaying.reply(call, 1, std::future::pending()).await.unwrap().text, "SELECT 1");
    replaying.end(call, None, || ()).await;
}
