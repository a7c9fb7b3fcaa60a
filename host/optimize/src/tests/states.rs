//! The state of each proposal, the outcome that is reported to the rewriter, the acceptance rule
//! and early stop.

use syrch_core::ports::{CANDIDATE, UNSUPPORTED_TYPE};
use syrch_core::roles::Trial;

use super::*;
use crate::{EARLY_STOP, IterationState as State, Outcome, Purpose, is_faster};

fn one(tried: Tried) -> (State, Trial, Outcome) {
    let report = Script::new(vec![tried]).run(Settings::default());
    let iteration = &report.iterations[0];
    (iteration.state, iteration.trial.clone(), report.outcome)
}

/// AR-D11: the reported speed-up is that of the last measurement, in pairs of the same moment.
#[test]
fn an_equal_and_faster_statement_is_accepted() {
    let report = Script::new(vec![takes("SELECT fast", 250)]).run(Settings::default());
    let iteration = &report.iterations[0];
    assert_eq!((iteration.state, &iteration.trial), (State::Kept, &Trial::Accepted(4.0)));
    assert_eq!((iteration.rows, iteration.copies), (Some(7), 6));
    assert_eq!((report.outcome, report.best.as_str()), (Outcome::Optimized, "SELECT fast"));
    let plans = report.plans.as_ref().unwrap();
    assert_eq!(
        (plans.before.text.as_str(), plans.after.as_ref().unwrap().text.as_str()),
        ("SELECT original", "SELECT fast")
    );
    let confirmation = report.confirmation.as_ref().unwrap();
    assert!(confirmation.confirmed);
    assert_eq!((confirmation.pairs.len(), confirmation.won), (8, 8));
    assert_eq!((confirmation.ratio, confirmation.interval), (4.0, Some((4.0, 4.0))));
}

/// AR-23, AR-27.
#[test]
fn each_failure_has_its_state() {
    let refused = Tried { admitted: Err(error(SqlErrorKind::Denied, "limit")), ..takes("x", 1) };
    assert_eq!(
        one(refused),
        (
            State::FailedSafety,
            Trial::Refused("limit: the message".into()),
            Outcome::NoVerifiedCandidate
        )
    );

    let syntax =
        Tried { admitted: Err(SqlError::new(SqlErrorKind::Syntax, "no")), ..takes("x", 1) };
    assert_eq!(
        one(syntax),
        (State::CandidateError, Trial::Failed("no".into()), Outcome::NoValidCandidate)
    );

    let unknown =
        Tried { admitted: Err(SqlError::new(SqlErrorKind::UnknownColumn, "no")), ..takes("x", 1) };
    assert_eq!(
        one(unknown),
        (State::CandidateError, Trial::Failed("no".into()), Outcome::NoVerifiedCandidate)
    );

    let schema = Tried { columns: Ok(columns(&["b"])), ..takes("x", 1) };
    assert_eq!(
        one(schema),
        (State::FailedSchema, Trial::OtherColumns, Outcome::NoVerifiedCandidate)
    );

    let types =
        Tried { columns: Err(error(SqlErrorKind::Denied, UNSUPPORTED_TYPE)), ..takes("x", 1) };
    assert_eq!(
        one(types),
        (State::FailedSchema, Trial::OtherColumns, Outcome::NoVerifiedCandidate)
    );

    let other = Tried { compared: Ok(Compared::Different), ..takes("x", 1) };
    assert_eq!(one(other), (State::FailedMismatch, Trial::Mismatch, Outcome::VerificationFailed));

    let tie = Tried { compared: Ok(Compared::Reordered), ..takes("x", 1) };
    assert_eq!(one(tie), (State::FailedTieReorder, Trial::Reordered, Outcome::VerificationTie));

    let large = Tried { compared: Ok(Compared::TooLarge), ..takes("x", 1) };
    assert_eq!(
        one(large),
        (State::CandidateTooLarge, Trial::TooLarge, Outcome::NoVerifiedCandidate)
    );

    let rule = format!("{CANDIDATE}: deadline");
    let failed = Tried { compared: Err(error(SqlErrorKind::Timeout, &rule)), ..takes("x", 1) };
    let trial = Trial::Failed("deadline: the message".into());
    assert_eq!(one(failed), (State::CandidateError, trial, Outcome::NoVerifiedCandidate));

    let slow = Tried { time: Err(error(SqlErrorKind::Timeout, "deadline")), ..takes("x", 1) };
    assert_eq!(one(slow).0, State::CandidateError);

    let broken = Tried { proposed: Proposed::Failed("the model is away".into()), ..takes("x", 1) };
    assert_eq!(
        one(broken),
        (
            State::CandidateError,
            Trial::Failed("the model is away".into()),
            Outcome::NoValidCandidate
        )
    );
}

#[test]
fn a_statement_that_reads_another_table_is_refused_even_where_the_engine_admits_it() {
    let other = Admitted { tables: vec!["t".into(), "secret".into()], ..make_admitted("x") };
    let (state, trial, _) = one(Tried { admitted: Ok(other), ..takes("x", 1) });
    assert_eq!(state, State::FailedSafety);
    assert!(matches!(trial, Trial::Refused(reason) if reason.contains("secret")));
}

#[test]
fn the_original_itself_and_an_accepted_statement_are_not_measured_again() {
    let mut script = Script::new(vec![
        takes("SELECT original", 1),
        takes("SELECT fast", 100),
        takes("SELECT fast", 1),
    ]);
    let report = script.run(Settings::default());
    let states: Vec<State> = report.iterations.iter().map(|iteration| iteration.state).collect();
    assert_eq!(states, [State::DiscardedSlower, State::Kept, State::DiscardedSlower]);
    assert!(report.iterations[0].round.is_none() && report.iterations[2].round.is_none());
}

#[test]
fn other_rows_on_a_changed_copy_are_a_mismatch_whose_copy_is_named() {
    for (found, state) in [
        (Compared::Different, State::FailedMismatch),
        (Compared::TooLarge, State::FailedMismatch),
        (Compared::Reordered, State::FailedTieReorder),
    ] {
        let equal = Some(Ok(Compared::Equal(1)));
        // The second copy is one on which the original fails, and the third is not there.
        let gone = Some(Err(error(SqlErrorKind::TooLarge, "result-size")));
        let tried = Tried { copies: vec![equal, gone, None, Some(Ok(found))], ..takes("x", 1) };
        let report = Script::new(vec![tried]).run(Settings::default());
        assert_eq!((report.iterations[0].state, report.iterations[0].copies), (state, 1));
        assert_eq!(
            report.iterations[0].detail.as_deref(),
            Some("on the changed copy 4 of the database")
        );
    }
}

/// AR-25.
#[test]
fn a_candidate_is_measured_in_both_orders_after_both_are_warm() {
    let mut script = Script::new(vec![takes("x", 1_000)]);
    let report = script.run(Settings { copies: 0, ..Settings::default() });
    assert_eq!(
        script
            .steps
            .iter()
            .filter_map(|step: &Step| match step {
                Step::Time(Which::Best, Purpose::Round) => Some('B'),
                Step::Time(Which::Candidate, Purpose::Round) => Some('C'),
                Step::Time(Which::Best, Purpose::Warm) => Some('b'),
                Step::Time(Which::Candidate, Purpose::Warm) => Some('c'),
                _ => None,
            })
            .collect::<String>(),
        "bcBCCBBC"
    );
    assert_eq!(report.iterations[0].trial, Trial::Slower(1.0));
    assert!(!script.steps.iter().any(|step| matches!(step, Step::CompareOnCopy(_))));
}

/// AR-25.
#[test]
fn a_candidate_must_save_the_share_and_the_time() {
    let settings = Settings::default();
    fn ms(value: u64) -> u64 {
        value * 1_000_000
    }
    assert!(is_faster(ms(1_000), ms(900), &settings), "exactly 10 %");
    assert!(!is_faster(ms(1_000), ms(901), &settings));
    assert!(is_faster(ms(100), ms(50), &settings), "exactly 50 ms");
    assert!(!is_faster(ms(100), ms(51), &settings));
    assert!(!is_faster(0, 0, &settings), "a baseline of zero never improves");
    let none = Settings { min_gain: 0.0, min_gain_ms: 0, ..settings };
    assert!(!is_faster(0, 0, &none) && !is_faster(5, 5, &none) && is_faster(5, 4, &none));
}

/// AR-26.
#[test]
fn a_candidate_competes_with_the_best_so_far() {
    let mut script = Script::new(vec![takes("a", 500), takes("b", 480), takes("c", 200)]);
    let report = script.run(Settings::default());
    let states: Vec<State> = report.iterations.iter().map(|iteration| iteration.state).collect();
    assert_eq!(states, [State::Kept, State::DiscardedSlower, State::Kept]);
    assert_eq!(report.iterations[2].trial, Trial::Accepted(2.5));
    assert_eq!(report.best, "c");
    assert_eq!(report.confirmation.unwrap().ratio, 5.0);
}

/// AR-26.
#[test]
fn two_in_a_row_end_the_loop_and_an_accepted_one_starts_the_count_again() {
    fn slower() -> crate::tests::Tried {
        takes("slow", 2_000)
    }
    fn refuse() -> crate::tests::Tried {
        Tried { admitted: Err(error(SqlErrorKind::Denied, "limit")), ..takes("x", 1) }
    }
    fn other() -> crate::tests::Tried {
        Tried { compared: Ok(Compared::Different), ..takes("x", 1) }
    }
    let count = |tried: Vec<Tried>, settings| Script::new(tried).run(settings).iterations.len();
    let settings = Settings { early_stop: EARLY_STOP, ..Settings::default() };
    assert_eq!(count(vec![slower(), other(), slower(), slower(), slower()], settings), 2);
    assert_eq!(count(vec![slower(), takes("a", 500), slower(), other(), slower()], settings), 4);
    assert_eq!(
        count(vec![slower(), refuse(), refuse(), slower(), slower()], settings),
        4,
        "safety does not count"
    );
    assert_eq!(
        count(vec![refuse(), refuse(), refuse(), refuse(), refuse(), refuse()], settings),
        5
    );
    assert_eq!(
        count((0..7).map(|_| slower()).collect(), Settings::default()),
        5,
        "only where it is asked for"
    );
}
