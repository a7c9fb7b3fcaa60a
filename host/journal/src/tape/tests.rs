//! What the tape promises: the order of the journal, and nothing after the end of anything.

use std::path::{Path, PathBuf};
use std::sync::Mutex as StdMutex;

use futures::future::join_all;
use proptest::prelude::*;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{Estimate, HOST, LlmError, Purpose, Reply, Request, Shape, Usage};
use syrch_core::roles::Role;
use syrch_core::{Catalog, Dialect, Problem, Question};

use super::*;
use crate::record::{Ask, FORMAT, Fact, Got, Header, VERSION};

fn header() -> Header {
    Header {
        format: FORMAT.into(),
        version: VERSION,
        run: "r".into(),
        began_ms: 0,
        host: "0".into(),
        problem: Problem::new("q"),
        catalog: Arc::new(Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables: Vec::new() }),
        database_identity: None,
        models: vec!["m".into()],
        provider: "p".into(),
        plugins: Vec::new(),
        kept: Kept::Full,
        settings: Arc::default(),
    }
}

fn live(path: &Path) -> Arc<Tape> {
    let writer = Writer::create(path, &header()).unwrap();
    Tape::new(Mode::Live(Some(writer), Kept::Full), Ledger::new(Budgets::default()), None)
}

fn strict(path: &Path) -> Arc<Tape> {
    Tape::new(Mode::Strict(Journal::read(path).unwrap()), Ledger::new(Budgets::default()), None)
}

fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("r.jsonl")
}

fn ask(text: &str) -> Ask {
    Ask::Llm(Box::new(Request {
        purpose: Purpose::Generate,
        messages: Vec::new(),
        expect: Shape::Text,
        model: Some(text.to_owned()),
        subjects: Vec::new(),
        temperature: None,
        top_p: None,
        max_tokens: None,
        stop: Vec::new(),
        logprobs: false,
        sample: 0,
    }))
}

fn reply(text: &str) -> Reply {
    Reply { text: text.to_owned(), parsed: None, truncated: false, logprob: None, usage: Usage::default() }
}

/// Lets others go first, so often.
async fn yields(times: u8) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

/// One actor: a role call with some port calls, each after a pause; what it does stands in the common log in the order of the tape.
async fn act(tape: Arc<Tape>, task: usize, pauses: Vec<u8>, log: Arc<StdMutex<Vec<String>>>) {
    let task = format!("t{task}");
    let call = tape.open(Role::Solver, &task, None, || ()).await;
    for (number, pause) in pauses.into_iter().enumerate() {
        yields(pause).await;
        let ticket = u32::try_from(number).unwrap() + 1;
        tape.issue(call, ticket, ask(&task), |_| ()).await;
        let answered = tape.reply(call, ticket, async {
            yields(pause).await;
            Ok(reply(&format!("{task}.{number}")))
        });
        let text = answered.await.unwrap().text;
        let log = Arc::clone(&log);
        tape.port(call, Ask::Remaining, |_| {
            log.lock().unwrap().push(text);
            Got::Nothing
        })
        .await;
    }
    tape.end(call, None, || ()).await;
}

fn run(tape: &Arc<Tape>, pauses: &[Vec<u8>]) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let log = Arc::<StdMutex<Vec<String>>>::default();
    runtime.block_on(async {
        let actors = pauses.iter().cloned().enumerate();
        let actors = actors.map(|(task, pauses)| tokio::spawn(act(Arc::clone(tape), task, pauses, Arc::clone(&log))));
        let all = join_all(actors.collect::<Vec<_>>());
        tokio::select! {
            ended = all => ended.into_iter().for_each(|ended| ended.unwrap()),
            departed = tape.departed() => panic!("{departed}"),
        }
    });
    Arc::try_unwrap(log).unwrap().into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_quicker_the_order_is_the_journals(
        pauses in prop::collection::vec(prop::collection::vec(0_u8..6, 1..4), 1..6),
        turned in prop::collection::vec(0_u8..6, 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let first = run(&live(&file(&folder)), &pauses);
        // As many calls as before, after other pauses.
        let other: Vec<Vec<u8>> = pauses
            .iter()
            .map(|pauses| pauses.iter().zip(turned.iter().cycle()).map(|(a, b)| a.wrapping_add(*b) % 7).collect())
            .collect();
        prop_assert_eq!(run(&strict(&file(&folder)), &other), first);
    }
}

#[tokio::test]
async fn another_request_departs_and_nothing_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let tape = live(&file(&folder));
    let call = tape.open(Role::Planner, "", None, || ()).await;
    tape.issue(call, 1, ask("a"), |_| ()).await;
    drop(tape);
    let tape = strict(&file(&folder));
    let call = tape.open(Role::Planner, "", None, || ()).await;
    tape.issue(call, 1, ask("b"), |_| ()).await;
    let departed = tape.departed().await;
    assert!(departed.expected.contains("\"a\"") && departed.found.contains("\"b\""), "{departed}");
    let mut more = std::pin::pin!(tape.reply(call, 1, async { Ok(reply("x")) }));
    assert!(futures::poll!(more.as_mut()).is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_nothing_more_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let tape = live(&file(&folder));
    let call = tape.open(Role::Planner, "", None, || ()).await;
    tape.end(call, None, || ()).await;
    drop(tape);
    let tape = strict(&file(&folder));
    tape.open(Role::Planner, "", None, || ()).await;
    let stalled = tape.stalled(Duration::from_secs(30)).await;
    assert!(stalled.expected.contains("End") && stalled.record == 2, "{stalled}");
}

#[tokio::test]
async fn nothing_comes_after_what_was_given_up_left_or_closed() {
    let tape = Tape::new(Mode::Live(None, Kept::Full), Ledger::new(Budgets::default()), None);
    let call = tape.open(Role::Solver, "A", None, || ()).await;
    for ticket in 1..4 {
        tape.issue(call, ticket, ask("a"), |_| ()).await;
    }
    let pending = async |ticket: u32| {
        let mut flight = Box::pin(tape.reply(call, ticket, async { Ok(reply("late")) }));
        futures::poll!(flight.as_mut()).is_pending()
    };
    assert!(!pending(1).await);
    tape.port(call, Ask::GiveUp(2), |_| Got::GaveUp(false)).await;
    assert!(pending(2).await && !pending(1).await);
    tape.left(call).await;
    assert!(pending(3).await);
    // The host itself goes on with the call until it ends, or its task is closed; so do the calls that it waits for.
    assert!(!pending(HOST).await);
    let nested = tape.open(Role::Reward, "A", Some((call, HOST)), || ()).await;
    tape.close_task("A").await;
    assert!(pending(HOST).await);
    let mut ends = Box::pin(tape.end(nested, None, || ()));
    assert!(futures::poll!(ends.as_mut()).is_pending());
    let mut opens = Box::pin(tape.open(Role::Solver, "A", None, || ()));
    assert!(futures::poll!(opens.as_mut()).is_pending());
    // Another wording of the problem may have a task of the same name.
    tape.restart();
    assert!(futures::poll!(Box::pin(tape.open(Role::Solver, "A", None, || ())).as_mut()).is_ready());
}

#[tokio::test]
async fn a_killed_run_goes_on_where_its_journal_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let tape = live(&path);
    let ledger = Ledger::new(Budgets::default());
    let call = tape.open(Role::Solver, "A", None, || ()).await;
    tape.issue(call, 1, ask("a"), |_| ()).await;
    assert_eq!(tape.reply(call, 1, async { Err(LlmError::Cancelled) }).await, Err(LlmError::Cancelled));
    tape.fact(Fact::Round { number: 0 });
    tape.issue(call, 2, ask("b"), |_| ()).await;
    drop(tape);
    // A line was being written.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [whole.as_slice(), b"{\"record\":\"eve"].concat()).unwrap();

    let (writer, journal) = Writer::resume(&path).unwrap();
    assert!(!journal.is_finished());
    assert!(matches!(Writer::resume(&path), Err(crate::JournalError::Busy { .. })));
    let tape = Tape::new(Mode::Resume(writer, journal), Arc::clone(&ledger), None);
    assert!(tape.is_playing());
    assert_eq!(tape.open(Role::Solver, "A", None, || ()).await, call);
    tape.issue(call, 1, ask("a"), |_| ()).await;
    let first = tape.reply(call, 1, async { panic!("it has been made") }).await;
    assert_eq!(first, Err(LlmError::Cancelled));
    tape.fact(Fact::Round { number: 0 });
    tape.issue(call, 2, ask("b"), |_| ()).await;
    assert!(!tape.is_playing());
    assert_eq!(tape.reply(call, 2, async { Ok(reply("again")) }).await.unwrap().text, "again");
    drop(ledger.reserve_call(&Purpose::Judge, &Estimate { input_tokens: 5, ..Estimate::default() }));
    tape.end(call, None, || ()).await;
    drop(tape);
    let journal = Journal::read(&path).unwrap();
    let rounds = journal.records.iter().filter(|record| matches!(record, Record::Fact { .. })).count();
    assert_eq!(rounds, 1);
    let books = journal.records.iter().filter(|record| matches!(record, Record::Books { .. })).count();
    assert_eq!(books, 2);
    // What a strict tape books on the way is what was charged.
    let again = Ledger::new(Budgets::default());
    let tape = Tape::new(Mode::Strict(journal), Arc::clone(&again), None);
    tape.open(Role::Solver, "A", None, || ()).await;
    tape.issue(call, 1, ask("a"), |_| ()).await;
    assert!(tape.reply(call, 1, std::future::pending()).await.is_err());
    tape.issue(call, 2, ask("b"), |_| ()).await;
    assert!(tape.reply(call, 2, std::future::pending()).await.is_ok());
    assert_eq!(again.spent().tokens_charged, 5);
}

#[tokio::test]
async fn the_user_and_the_clock_are_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let question = Question { text: "Which?".into(), choices: Vec::new(), ambiguity: 0.5 };
    let tape = live(&file(&folder));
    assert!(tape.known("late", || true).await);
    assert_eq!(tape.user(&question, async { Some("this".to_owned()) }).await, Some("this".into()));
    tape.over(Role::Aggregator, async {}).await;
    drop(tape);
    let tape = strict(&file(&folder));
    assert!(tape.known("late", || false).await);
    assert_eq!(tape.user(&question, async { None }).await, Some("this".into()));
    tape.over(Role::Aggregator, std::future::pending()).await;
}
