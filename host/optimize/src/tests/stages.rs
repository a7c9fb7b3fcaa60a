//! Writers, outages, stops and answers out of turn, at every step.

use super::*;
use crate::Outcome;

fn whole() -> Script {
    let other = Tried { compared: Ok(Compared::Different), ..takes("x", 1) };
    Script::new(vec![takes("fast", 100), other])
}

#[test]
fn a_writer_at_any_time_ends_with_an_error_and_no_verdict() {
    let mut undisturbed = whole();
    assert_eq!(undisturbed.run(Settings::default()).outcome, Outcome::Optimized);
    assert!(undisturbed.versions >= 4);
    for at in 1..undisturbed.versions {
        let report = Script { written_at: Some(at), ..whole() }.run(Settings::default());
        assert_eq!(report.outcome, Outcome::Error, "after {at}");
        assert!(report.reason.unwrap().contains("written to"));
        assert_eq!((report.best.as_str(), report.confirmation), ("SELECT original", None));
    }
}

#[test]
fn an_outage_at_any_step_ends_with_an_error() {
    let mut undisturbed = whole();
    undisturbed.run(Settings::default());
    let mut errors = 0;
    for (number, step) in undisturbed.steps.iter().enumerate() {
        // The rewriter is no part of the database, a copy is another one, and a plan is not needed
        // once the statement has run.
        let is_soft =
            matches!(step, Step::Propose | Step::CompareOnCopy(_) | Step::Explain(Which::Best));
        let report = Script { outage_at: Some(number), ..whole() }.run(Settings::default());
        assert_eq!(report.outcome == Outcome::Error, !is_soft, "{number}: {step:?}");
        errors += usize::from(!is_soft);
    }
    assert!(errors > 30);
}

#[test]
fn a_stop_reports_what_was_verified_until_then() {
    let mut script = whole();
    script.run(Settings::default());
    for stop_at in 0..script.steps.len() {
        let mut machine = Optimization::new("select original", Settings::default()).unwrap();
        let mut again = whole();
        for _ in 0..stop_at {
            let step = machine.step();
            let fed = again.answer(&machine, &step, false);
            machine.feed(fed).unwrap();
        }
        let judged = machine.iterations().len();
        let is_probed = machine.plan().is_some();
        machine.stop("the user stopped it");
        assert_eq!(machine.step(), Step::Done);
        let report = machine.report();
        assert!(report.interrupted.is_some());
        assert_eq!(report.iterations.len(), judged);
        match (is_probed, judged) {
            (false, _) => assert_eq!(report.outcome, Outcome::Error),
            (true, 0) => assert_eq!(report.outcome, Outcome::Unchanged),
            _ => assert_eq!((report.outcome, report.best.as_str()), (Outcome::Optimized, "fast")),
        }
    }
}

#[test]
fn an_answer_out_of_turn_changes_nothing() {
    let mut machine = Optimization::new("select original", Settings::default()).unwrap();
    let error = machine.feed(Fed::Snapshot(Ok(()))).unwrap_err();
    assert_eq!((error.step, machine.step()), (Step::AdmitOriginal, Step::AdmitOriginal));
    machine.stop("enough");
    assert!(machine.feed(Fed::Admitted(Ok(make_admitted("x")))).is_err());
}

#[test]
fn settings_out_of_their_range_are_refused() {
    let default = Settings::default();
    default.check().unwrap();
    for (name, settings) in [
        ("iterations", Settings { iterations: 0, ..default }),
        ("min_gain", Settings { min_gain: 1.0, ..default }),
        ("min_gain", Settings { min_gain: f64::NAN, ..default }),
        ("copies", Settings { copies: 101, ..default }),
        ("pairs", Settings { pairs: 2, ..default }),
        ("pairs", Settings { pairs: 201, ..default }),
        ("min_pairs", Settings { min_pairs: 0, ..default }),
        ("min_pairs", Settings { min_pairs: 201, ..default }),
    ] {
        assert_eq!(Optimization::new("x", settings).unwrap_err().name, name);
    }
}

#[test]
fn the_final_measurement_ends_when_its_time_is_over() {
    // Each pair takes 1,100 ms.
    let pairs = |final_ms, min_pairs| {
        let settings = Settings { final_ms, min_pairs, ..Settings::default() };
        whole().run(settings).confirmation.unwrap()
    };
    assert_eq!(pairs(0, 3).pairs.len(), 3, "three pairs however long they take");
    assert_eq!(pairs(5_000, 3).pairs.len(), 5);
    assert!(!pairs(5_000, 3).confirmed && pairs(5_000, 3).interval.is_none(), "too few to be sure");
    assert_eq!(pairs(300_000, 3).pairs.len(), 8, "and no more than are needed");
    // By default a statement that takes minutes can be confirmed as well.
    let slow = pairs(0, Settings::default().min_pairs);
    assert!(slow.pairs.len() == 7 && slow.confirmed && slow.interval.is_none(), "{slow:?}");
    let few = whole().run(Settings { pairs: 3, ..Settings::default() }).confirmation.unwrap();
    assert!(few.pairs.len() == 3 && !few.confirmed);
}
