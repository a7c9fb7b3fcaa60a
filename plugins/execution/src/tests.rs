//! The reward with fake ports.

use syrch_plugin::fakes::{FakeHost, FakeRows, facts};
use syrch_plugin::prelude::*;
use syrch_plugin::requirements::{Requirements, task_context};

use crate::{ExecutionReward, Settings};

fn judge(settings: Settings, signals: Signals, rows: &FakeRows) -> Verdict {
    let catalog = Catalog {
        database: "db".into(),
        dialect: Dialect::Sqlite,
        tables: Vec::new(),
        ..Catalog::default()
    };
    let rival =
        Rival { candidate: Candidate { signals, ..Candidate::default() }, results: rows.handle() };
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

// syrch 0.1.2, bug 5: "0 rows" was searched for in "Query returned 1010 rows", and an overflow only
// in counts with the digits 1000.
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
    let Verdict::Accepted(opinion) = judge(Settings::default(), signals, &one_row()) else {
        panic!("not accepted")
    };
    let failed: Vec<&str> = opinion
        .checks
        .iter()
        .filter(|(_, passed)| !passed)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(failed, ["no attempt failed to parse"]);
    assert_eq!(opinion.reason, "ran with 1 row, after 1 failed attempt");
}

fn require(settings: Settings, required: &Requirements) -> Verdict {
    let sql = "SELECT SUM(total) FROM orders";
    let rows = one_row();
    let mut host = FakeHost::default();
    host.database.answer_with(sql, facts(sql, &["orders"]), one_row());
    let catalog = Catalog {
        database: "db".into(),
        dialect: Dialect::Sqlite,
        tables: Vec::new(),
        ..Catalog::default()
    };
    let rival = Rival {
        candidate: Candidate { sql: sql.into(), ..Candidate::default() },
        results: rows.handle(),
    };
    let task = Task { context: task_context(&[], required), ..Task::new("A", "q") };
    let verdicts = ExecutionReward::new(settings)
        .judge(&host, &Problem::new("q"), &catalog, &task, &[rival])
        .unwrap();
    verdicts.into_iter().next().unwrap()
}

#[test]
fn a_statement_that_lacks_a_filter_is_rejected_by_its_name() {
    let required = Requirements {
        filters: vec!["year = 2014".into()],
        dimensions: vec!["country".into()],
        ..Requirements::default()
    };
    let Verdict::Rejected(opinion) = require(Settings::default(), &required) else {
        panic!("not rejected")
    };
    assert_eq!(
        opinion.reason,
        "ran with 1 row; it lacks the filter `year = 2014` and the dimension `country`"
    );
    assert_eq!(opinion.score, 0.25);
    let failed: Vec<&str> = opinion
        .checks
        .iter()
        .filter(|(_, passed)| !passed)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(failed, ["has the filter `year = 2014`", "has the dimension `country`"]);
    // What others were tried for in vain is doubted.
    for (settings, lenient) in [
        (Settings::default(), true),
        (Settings { reject_missing: false, ..Settings::default() }, false),
    ] {
        let required = Requirements { lenient, ..required.clone() };
        assert!(matches!(
            require(settings, &required), Verdict::Accepted(opinion) if opinion.score == 0.25
        ));
    }
}

#[test]
fn what_cannot_be_read_is_doubted_and_not_refused() {
    let required =
        Requirements { unread: vec!["nation: French".into()], ..Requirements::default() };
    let Verdict::Accepted(opinion) = require(Settings::default(), &required) else {
        panic!("not accepted")
    };
    assert_eq!(opinion.score, 0.25);
    assert_eq!(
        opinion.reason,
        "ran with 1 row; whether it has what `nation: French` requires is unknown"
    );
}

#[test]
fn what_is_not_grave_lowers_the_score_alone() {
    let required = Requirements {
        dimensions: vec!["country".into(), "city".into()],
        ..Requirements::default()
    };
    let Verdict::Accepted(opinion) = require(Settings::default(), &required) else {
        panic!("not accepted")
    };
    assert_eq!((opinion.score * 1e9).round() / 1e9, 0.9);
    let many = Requirements {
        dimensions: (b'a'..=b'l').map(|c| format!("x{}", c as char)).collect(),
        ..required
    };
    assert!(matches!(
        require(Settings::default(), &many), Verdict::Accepted(opinion) if opinion.score == 0.5
    ));
}
