//! Journals of the optimizer: replayed without a database, resumed wherever the run was killed,
//! without anything of the data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use syrch::journal::{Event, Journal, Record, SearchTree, Shown};
use syrch::{Error, Host, Silent};
use syrch_optimizing::{Optimized, Optimizes, Outcome};

use crate::fake::{FakeDatabase, ORIGINAL, Scripted, builder};
use crate::runs::script;

const STATEMENTS: [&str; 3] =
    ["SELECT wrong FROM t", "SELECT fast FROM t", "SELECT a FROM t LIMIT 1"];

fn rewriter() -> Arc<Scripted> {
    Arc::new(Scripted(STATEMENTS.to_vec()))
}

/// Returns one finished run, its journal, and the number of statements that were timed.
async fn finish_run(folder: &Path) -> (Optimized, PathBuf, usize) {
    let database = FakeDatabase::new(script());
    let host = builder(&database).open().await.unwrap();
    let path = folder.join("run.jsonl");
    let optimize = host.optimize(ORIGINAL).rewriter(rewriter());
    let optimized = optimize.run_as("0123456789abcdef", Some(path.clone())).await.unwrap();
    assert_eq!(optimized.report.outcome, Outcome::Optimized);
    (optimized, path, database.list_timed().len())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_needs_no_database_and_gives_the_same_report() {
    let folder = syrch_kit::scratch();
    let (optimized, path, _) = finish_run(folder.path()).await;
    let journal = Journal::read(&path).unwrap();
    // A host whose database cannot even be asked for a bench.
    let host =
        Host::of_journal(&journal.header, &syrch::Settings::default(), &Silent).await.unwrap();
    let replayed = host.optimize("").rewriter(rewriter()).replay(journal.clone()).await.unwrap();
    assert_eq!(replayed.report, optimized.report);
    assert_eq!(Optimized::from_journal(&journal).unwrap().unwrap().report, optimized.report);
    // Another rewriter departs from it.
    let other = Arc::new(Scripted(vec![STATEMENTS[1]]));
    let error = host.optimize("").rewriter(other).replay(journal.clone()).await.unwrap_err();
    assert!(matches!(error, Error::Replay(_)), "{error}");
    // It is no search, and it can be shown.
    assert!(matches!(host.replay(journal.clone(), Arc::new(Silent)).await, Err(Error::Unfit(_))));
    let tree = SearchTree::from_journal(&journal, Shown::default());
    assert_eq!((tree.outcome.kind.as_str(), tree.role_calls.len()), ("OPTIMIZED", 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_follows_the_recorded_times_and_no_others() {
    let folder = syrch_kit::scratch();
    let (_, path, _) = finish_run(folder.path()).await;
    let mut journal = Journal::read(&path).unwrap();
    for record in &mut journal.records {
        if let Record::Event { event: Event::Bench { got, .. }, .. } = record
            && let Some(time) = got.pointer_mut("/fed/is/Ok/wall_ns")
        {
            *time = 1_000_000_000u64.into();
        }
    }
    let host =
        Host::of_journal(&journal.header, &syrch::Settings::default(), &Silent).await.unwrap();
    // With equal times nothing is accepted, so that the run ends elsewhere.
    let error = host.optimize("").rewriter(rewriter()).replay(journal).await.unwrap_err();
    assert!(matches!(error, Error::Replay(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_resumes_wherever_it_was_and_measures_nothing_twice() {
    let folder = syrch_kit::scratch();
    let (optimized, path, timed) = finish_run(folder.path()).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let timed_in =
        |lines: &[&str]| lines.iter().filter(|line| line.contains("\"step\":\"time\"")).count();
    assert_eq!(timed_in(&lines), timed);
    // Every second record, so that all kinds are among them; the last is the end.
    for cut in (1..lines.len() - 1).step_by(2) {
        let killed = folder.path().join(format!("killed-{cut}.jsonl"));
        // The record that was being written when it was killed is cut off.
        let half = &lines[cut][..lines[cut].len() / 2];
        std::fs::write(&killed, format!("{}\n{half}", lines[..cut].join("\n"))).unwrap();
        let database = FakeDatabase::new(script());
        let host = builder(&database).open().await.unwrap();
        let resumed = host.optimize("").rewriter(rewriter()).resume(&killed).await.unwrap();
        assert_eq!(resumed.report, optimized.report, "cut at {cut}: {}", lines[cut]);
        let left = timed - timed_in(&lines[..cut]);
        // On a new connection both statements are run once before a measurement continues.
        assert!((left..=left + 2).contains(&database.list_timed().len()), "cut at {cut}: {left}");
        let again = Journal::read(&killed).unwrap();
        let host =
            Host::of_journal(&again.header, &syrch::Settings::default(), &Silent).await.unwrap();
        assert_eq!(
            host.optimize("").rewriter(rewriter()).replay(again).await.unwrap().report,
            optimized.report
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_somebody_put_into_a_journal_is_checked_before_it_runs() {
    let folder = syrch_kit::scratch();
    let (_, path, _) = finish_run(folder.path()).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let admitted = lines.iter().position(|line| line.contains("\"fed\":\"admitted\"")).unwrap();
    let forged = lines[..=admitted]
        .join("\n")
        .replace("\"sql\":\"SELECT a FROM t\"", "\"sql\":\"SELECT a FROM secret\"");
    assert_ne!(forged, lines[..=admitted].join("\n"));
    let killed = folder.path().join("forged.jsonl");
    std::fs::write(&killed, forged + "\n").unwrap();
    let database = FakeDatabase::new(script());
    let host = builder(&database).open().await.unwrap();
    let error = host.optimize("").rewriter(rewriter()).resume(&killed).await.unwrap_err();
    assert!(matches!(error, Error::Unfit(_)) && database.list_timed().is_empty(), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_grants_no_more_rows_bytes_or_time() {
    let folder = syrch_kit::scratch();
    let (_, path, _) = finish_run(folder.path()).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let half: Vec<&str> = text.lines().take(text.lines().count() / 2).collect();
    for (limit, more) in [
        ("\"rows\":10000,", "\"rows\":99999999999,"),
        ("\"statement_ms\":120000,", "\"statement_ms\":9999999999,"),
    ] {
        // What the optimizer's part of the header says; the settings beside it are compared anyway.
        let half = half.join("\n");
        let (before, of_optimizer) =
            half.split_at(half.find("\"optimize\":{\"settings\":").unwrap());
        let forged = format!("{before}{}", of_optimizer.replacen(limit, more, 1));
        assert_ne!(forged, half, "{limit}");
        let killed = folder.path().join("forged.jsonl");
        std::fs::write(&killed, forged + "\n").unwrap();
        let database = FakeDatabase::new(script());
        let host = builder(&database).open().await.unwrap();
        let error = host.optimize("").rewriter(rewriter()).resume(&killed).await.unwrap_err();
        assert!(matches!(&error, Error::Unfit(message) if message.contains("bounds")), "{error}");
        assert_eq!(database.calls(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_holds_no_row_and_no_place_of_the_data() {
    let folder = syrch_kit::scratch();
    let (_, path, _) = finish_run(folder.path()).await;
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("/secret/place") && !text.contains("[1,2,3]"));
    assert!(!text.contains("\"record\":\"rows\""));
}
