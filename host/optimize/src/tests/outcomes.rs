//! The outcome by its precedence, and the gates over many.

use syrch_core::ports::{TOO_MANY_ROWS, UNSUPPORTED_TYPE};

use super::*;
use crate::{Advice, Outcome, gates};

/// One proposal for each way to end.
fn ways() -> Vec<(Outcome, Tried)> {
    vec![
        (Outcome::Optimized, takes("fast", 100)),
        (Outcome::Unchanged, takes("slow", 1_000)),
        (Outcome::VerificationFailed, Tried { compared: Ok(Compared::Different), ..takes("x", 1) }),
        (Outcome::VerificationTie, Tried { compared: Ok(Compared::Reordered), ..takes("x", 1) }),
        (Outcome::NoVerifiedCandidate, Tried { columns: Ok(columns(&[])), ..takes("x", 1) }),
    ]
}

/// AR-28.
#[test]
fn of_two_proposals_the_outcome_is_the_first_in_the_order() {
    let settings = Settings::default();
    let ways = ways();
    assert!(ways.is_sorted_by_key(|(outcome, _)| *outcome));
    for (first, a) in &ways {
        for (second, b) in &ways {
            let report = Script::new(vec![a.clone(), b.clone()]).run(settings);
            assert_eq!(report.outcome, *first.min(second), "{first:?} and {second:?}");
        }
    }
}

/// AR-28.
#[test]
fn five_that_do_not_parse_are_no_candidates_and_five_that_fail_are_not_verified() {
    fn syntax() -> crate::tests::Tried {
        Tried { admitted: Err(SqlError::new(SqlErrorKind::Syntax, "no")), ..takes("x", 1) }
    }
    fn failing() -> crate::tests::Tried {
        Tried { compared: Err(error(SqlErrorKind::Other, "candidate: overflow")), ..takes("x", 1) }
    }
    fn run(tried: Vec<Tried>) -> crate::report::Report {
        Script::new(tried).run(Settings::default())
    }
    let five = run((0..5).map(|_| syntax()).collect());
    assert_eq!((five.outcome, five.iterations.len()), (Outcome::NoValidCandidate, 5));
    let five = run((0..5).map(|_| failing()).collect());
    assert_eq!((five.outcome, five.iterations.len()), (Outcome::NoVerifiedCandidate, 5));
    assert_eq!(run(vec![syntax(), failing()]).outcome, Outcome::NoVerifiedCandidate);
}

#[test]
fn an_original_that_is_not_supported_ends_before_any_proposal() {
    fn admit(found: SqlError) -> crate::tests::Script {
        Script { original: Err(found), ..Script::new(Vec::new()) }
    }
    let mut cases = vec![
        (Outcome::UnsupportedSafety, admit(error(SqlErrorKind::Denied, "limit"))),
        (Outcome::UnsupportedSafety, admit(SqlError::new(SqlErrorKind::Syntax, "no"))),
        (Outcome::UnsupportedTypes, admit(error(SqlErrorKind::Denied, UNSUPPORTED_TYPE))),
        (Outcome::Error, admit(error(SqlErrorKind::Unavailable, "locked"))),
        (
            Outcome::UnsupportedTypes,
            Script {
                columns: Err(error(SqlErrorKind::Denied, UNSUPPORTED_TYPE)),
                ..Script::new(Vec::new())
            },
        ),
        (
            Outcome::UnsupportedTooLarge,
            Script {
                size: Err(error(SqlErrorKind::TooLarge, TOO_MANY_ROWS)),
                ..Script::new(Vec::new())
            },
        ),
        (
            Outcome::Error,
            Script {
                size: Err(error(SqlErrorKind::Timeout, "deadline")),
                ..Script::new(Vec::new())
            },
        ),
        (
            Outcome::UnsupportedPrompt,
            Script::new(vec![Tried {
                proposed: Proposed::PromptTooLarge("it is long".into()),
                ..takes("x", 1)
            }]),
        ),
    ];
    for (outcome, script) in &mut cases {
        let report = script.run(Settings::default());
        assert_eq!(report.outcome, *outcome);
        assert!(report.reason.is_some() && report.iterations.is_empty());
        assert_eq!(report.best, report.original);
    }
}

#[test]
fn a_rewriter_with_nothing_to_propose_leaves_the_statement_unchanged() {
    let report = Script::new(Vec::new()).run(Settings::default());
    assert_eq!((report.outcome, report.best.as_str()), (Outcome::Unchanged, "SELECT original"));
    assert!(report.probe.unwrap().noise.abs() < 1e-9);
}

fn reports(optimized: usize, unchanged: usize, refused: usize) -> Vec<Report> {
    fn run(mut script: Script) -> crate::report::Report {
        script.run(Settings::default())
    }
    let fast = run(Script::new(vec![takes("fast", 100)]));
    let none = run(Script::new(Vec::new()));
    let unsupported = run(Script {
        original: Err(error(SqlErrorKind::Denied, "limit")),
        ..Script::new(Vec::new())
    });
    let all = [(fast, optimized), (none, unchanged), (unsupported, refused)];
    all.into_iter().flat_map(|(report, count)| vec![report; count]).collect()
}

/// AR-34.
#[test]
fn the_gates_are_met_at_their_bounds_and_not_below() {
    let good = gates(&reports(18, 42, 40));
    assert!(good.passed, "{good:?}");
    assert_eq!((good.total, good.supported, good.optimized, good.confirmed), (100, 60, 18, 18));
    assert!(!gates(&reports(17, 43, 40)).passed, "win below 30 %");
    assert!(!gates(&reports(18, 41, 41)).passed, "support below 60 %");
    assert!(!gates(&[]).passed);
    assert_eq!(gates(&reports(5, 55, 40)).advice, Some(Advice::Stop));
    assert_eq!(gates(&reports(10, 10, 80)).advice, Some(Advice::WidenScope));
    assert_eq!(good.advice, None);
}

#[test]
fn errors_and_mismatches_have_gates_of_their_own() {
    let other = Tried { compared: Ok(Compared::Different), ..takes("x", 1) };
    let mismatch = Script::new(vec![other, takes("fast", 100)]).run(Settings::default());
    let failed = Script { outage_at: Some(1), ..Script::new(Vec::new()) }.run(Settings::default());
    assert_eq!(failed.outcome, Outcome::Error);
    fn share(found: &crate::Gates, name: &str) -> (f64, bool) {
        let gate = found.gates.iter().find(|gate| gate.name == name).unwrap();
        (gate.share, gate.passed)
    }
    let found = gates(&[mismatch.clone(), mismatch]);
    assert_eq!(share(&found, "mismatch"), (0.5, false));
    let mut five = reports(4, 0, 0);
    five.push(failed);
    assert_eq!(share(&gates(&five), "error"), (0.2, false));
}

#[test]
fn a_report_comes_back_from_its_document() {
    let report = Script::new(vec![takes("fast", 100)]).run(Settings::default());
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    assert!(text.contains("\"OPTIMIZED\"") && text.contains("\"KEPT\""));
}

#[test]
fn what_is_slower_in_the_last_measurement_is_not_used() {
    for (last_ms, outcome, best) in [
        (Some(1_200), Outcome::Unchanged, "SELECT original"),
        (Some(990), Outcome::Optimized, "SELECT fast"),
        (None, Outcome::Optimized, "SELECT fast"),
    ] {
        let mut script = Script { last_ms, ..Script::new(vec![takes("SELECT fast", 100)]) };
        let report = script.run(Settings::default());
        assert_eq!((report.outcome, report.best.as_str()), (outcome, best), "{last_ms:?}");
        assert_eq!(report.best_iteration().is_some(), report.is_optimized());
        assert_eq!(report.is_confirmed(), last_ms.is_none());
        let reason = report.reason.unwrap_or_default();
        assert_eq!(
            reason.contains("slower, at 0.83 times the speed"),
            outcome == Outcome::Unchanged,
            "{reason}"
        );
        assert!(
            report.confirmation.is_some_and(|last| last.pairs.len() >= 7),
            "the measurement stays in the report"
        );
        assert_eq!(report.iterations[0].state, IterationState::Kept);
    }
}

#[test]
fn labels_of_unnamed_columns_are_not_compared() {
    let unnamed = |names: &[&str]| {
        let unnamed = names.iter().map(|name| (*name).to_owned()).collect();
        let original = Ok(Admitted { unnamed, ..make_admitted("SELECT original") });
        let tried = Tried { columns: Ok(columns(&["a", "n"])), ..takes("SELECT fast", 100) };
        let mut script = Script {
            original,
            columns: Ok(columns(&["a", "count(*)"])),
            ..Script::new(vec![tried])
        };
        script.run(Settings::default()).iterations[0].state
    };
    assert_eq!(unnamed(&["count(*)"]), IterationState::Kept);
    assert_eq!(unnamed(&[]), IterationState::FailedSchema);
    assert_eq!(unnamed(&["a"]), IterationState::FailedSchema);
}
