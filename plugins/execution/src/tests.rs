//! The reward with fake ports.

use syrch_plugin::fakes::{FakeHost, FakeRows};
use syrch_plugin::prelude::*;

use crate::{ExecutionReward, Settings};

fn judge(settings: Settings, signals: Signals, rows: &FakeRows) -> Verdict {
    let catalog = Catalog { database: "db".into(), dialect: Dialect::Sqlite, tables: Vec::new() };
    let rival = Rival { candidate: Candidate { signals, ..Candidate::default() }, results: rows.handle() };
    let verdicts = ExecutionReward::new(settings)
        .judge(&FakeHost::default(), &Problem::new("q"), &catalog, &Task::new("A", "q"), &[rival])
        .unwrap();
    verdicts.into_iter().next().unwrap()
}

fn score(signals: Signals, rows: &FakeRows) -> f64 {
    match judge(Settings::default(), signals, rows) {
        Verdict::Accepted(opinion) => (opinion.score * 1e9).round() / 1e9,
        other => panic!("not accepted: {other:?}"),
    }
}

fn one_row() -> FakeRows {
    FakeRows::new(&["n"], vec![vec![Value::Integer(7)]])
}

#[test]
fn a_smooth_run_scores_one() {
    assert_eq!(score(Signals { attempts: 1, ..Signals::default() }, &one_row()), 1.0);
}

#[test]
fn each_loss_counts_half() {
    assert_eq!(score(Signals { syntax_errors: 2, ..Signals::default() }, &one_row()), 0.9);
    assert_eq!(score(Signals { schema_errors: 1, ..Signals::default() }, &one_row()), 0.975);
    assert_eq!(score(Signals { execution_errors: 9, ..Signals::default() }, &one_row()), 0.85);
    assert_eq!(score(Signals::default(), &FakeRows::new(&["n"], vec![])), 0.925);
    assert_eq!(score(Signals::default(), &FakeRows::new(&["n"], vec![vec![Value::Null]])), 0.975);
}

// syrch 0.1.2, bug 5: "0 rows" was searched for in "Query returned 1010 rows", and an overflow only in counts with the digits 1000.
#[test]
fn rows_are_counted_and_not_read_from_a_text() {
    assert_eq!(score(Signals::default(), &one_row().counted(1010)), 0.975);
    assert_eq!(score(Signals::default(), &one_row().counted(5234)), 0.975);
    assert_eq!(score(Signals::default(), &one_row().counted(1000)), 1.0);
}

#[test]
fn an_empty_result_is_rejected_on_request() {
    let strict = Settings { reject_empty: true, ..Settings::default() };
    let verdict = judge(strict, Signals::default(), &FakeRows::new(&["n"], vec![]));
    assert!(matches!(verdict, Verdict::Rejected(opinion) if opinion.reason == "ran with 0 rows"));
}

#[test]
fn the_checks_are_listed() {
    let signals = Signals { syntax_errors: 1, ..Signals::default() };
    let Verdict::Accepted(opinion) = judge(Settings::default(), signals, &one_row()) else { panic!("not accepted") };
    let failed: Vec<&str> =
        opinion.checks.iter().filter(|(_, passed)| !passed).map(|(name, _)| name.as_str()).collect();
    assert_eq!(failed, ["no attempt failed to parse"]);
    assert_eq!(opinion.reason, "ran with 1 row, after 1 failed attempt");
}
