//! Tests of the verdict of a comparison, of its wording, and of the gates that it fails.

use super::documents::two;
use super::made::{answer, header};
use crate::Verdict::{Right, Wrong};
use crate::report::{CompareOptions, CompareReport, Decision, FailOn, all_failed, fail_on};
use crate::run::{Graded, Header};

fn compare_arms(b: u64, c: u64, questions: u64) -> CompareReport {
    let (header, graded) = two(b, c, questions);
    CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default())
}

fn fails(report: &CompareReport) -> [bool; 5] {
    ["regression", "difference", "not-better", "below:0", "below:-5"]
        .map(|text| fail_on(report, text.parse::<FailOn>().unwrap()))
}

#[test]
fn a_real_difference() {
    let report = compare_arms(8, 28, 310);
    assert_eq!(report.pairs[0].decision, Decision::Better);
    assert_eq!(
        report.pairs[0].verdict,
        "`b` answers 6.5 points more questions right than `a` (95 % interval 4.5 to 8.4 over 12 \
         databases; right alone: `b` 28, `a` 8; p = 0.001): the difference is real"
    );
    assert_eq!(fails(&report), [false, true, false, false, false]);
    let report = compare_arms(28, 8, 310);
    assert_eq!(report.pairs[0].decision, Decision::Worse);
    assert!(
        report.pairs[0]
            .verdict
            .starts_with("`b` answers 6.5 points fewer questions right than `a` (95 % interval ")
    );
    assert!(
        report.pairs[0]
            .verdict
            .ends_with("; right alone: `b` 8, `a` 28; p = 0.001): the difference is real")
    );
    assert_eq!(fails(&report), [true, true, true, true, true]);
}

#[test]
fn no_difference() {
    let report = compare_arms(18, 21, 325);
    assert_eq!(report.pairs[0].decision, Decision::None);
    let verdict = &report.pairs[0].verdict;
    assert!(
        verdict.starts_with(
            "no difference was found between `a` and `b` (`b` minus `a`: +0.9 points, \
             95 % interval −"
        ),
        "{verdict}"
    );
    assert!(
        verdict.contains(
            "right alone: `b` 21, `a` 18; p = 0.75): with 325 questions of which 12 % differ, only "
        ),
        "{verdict}"
    );
    assert!(verdict.ends_with(" points or more would have been seen"), "{verdict}");
    assert_eq!(fails(&report), [false, false, true, false, false]);
    let same = compare_arms(0, 0, 30);
    assert_eq!(
        same.pairs[0].verdict,
        "no difference was found: `a` and `b` agree on all of 30 questions"
    );
    assert!(
        compare_arms(1, 2, 4).pairs[0].verdict.ends_with(
            "): with 4 questions of which 75 % differ, even the largest possible difference would \
             be missed in more than 1 of 5 such runs; it takes 9 questions"
        ),
        "{:?}",
        compare_arms(1, 2, 4).pairs[0]
    );
}

#[test]
fn where_databases_disagree_nothing_is_sure() {
    let mut graded = Vec::new();
    for place in 0..240 {
        // All that the second gains it gains on one database.
        let second = if place % 12 == 0 { Right } else { Wrong };
        graded.extend([answer("a", place, Wrong), answer("b", place, second)]);
    }
    let report = CompareReport::new(
        &header(&["a", "b"], 240),
        &graded,
        "bag-v1",
        &CompareOptions::default(),
    );
    let pair = &report.pairs[0];
    assert!(pair.mcnemar < 0.0001 && pair.decision == Decision::Unsure);
    assert!(
        pair.verdict.ends_with("but the databases disagree: not sure for others"),
        "{}",
        pair.verdict
    );
    assert_eq!(fails(&report), [false, false, true, false, false]);
}

#[test]
fn one_database_is_said_to_be_one() {
    let (header, mut graded) = two(2, 20, 100);
    graded.iter_mut().for_each(|one| one.db = "shop".into());
    let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
    assert!(
        report.pairs[0]
            .verdict
            .contains(" over the questions of one database; right alone: `b` 20, `a` 2; "),
        "{}",
        report.pairs[0].verdict
    );
    assert_eq!(
        report.basis.warnings,
        ["all questions are of one database: the results may not hold for others"]
    );
    assert_eq!(report.pairs[0].decision, Decision::Better);
}

#[test]
fn several_arms_are_adjusted() {
    let (header, mut graded) = two(8, 21, 310);
    graded.extend((0..310).map(|place| answer("c", place, Right)));
    let header =
        Header { arms: [header.arms, super::made::header(&["c"], 0).arms].concat(), ..header };
    let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
    assert_eq!(report.pairs.len(), 3);
    assert!(
        report.pairs[0].holm > 0.024 && report.pairs.iter().all(|pair| pair.holm >= pair.mcnemar)
    );
    assert!(report.pairs[0].verdict.contains(" after Holm"), "{}", report.pairs[0].verdict);
}

#[test]
fn stopping_early_is_decided_by_the_e_process() {
    let early = CompareOptions::default();
    let (mut header, graded) = two(0, 30, 300);
    header.stop_early = true;
    let seen: Vec<Graded> = graded.into_iter().filter(|one| one.place < 90).collect();
    let report = CompareReport::new(&header, &seen, "bag-v1", &early);
    let pair = &report.pairs[0];
    // Eight flips one way have E = 2^8 / 9 = 28.4, seven 16.
    assert!(pair.c >= 8 && pair.decision == Decision::Better && pair.e_process.decides);
    let eighth = pair.flipped[7].id.trim_start_matches('q').parse::<u64>().unwrap() + 1;
    assert_eq!(pair.e_process.stopped_at, Some(eighth));
    assert!(
        pair.verdict.contains(&format!(
            "(at least 20 after {eighth} questions); the interval is that of a fixed number of \
             questions, and without stopping early it would be p "
        )),
        "{}",
        pair.verdict
    );
    assert!(pair.verdict.ends_with("; the run ended after 180 of 600 answers"), "{}", pair.verdict);
    assert_eq!(
        report.basis.partial.unwrap().why,
        "stopped early, as requested: the e-process had decided"
    );
    let (mut header, graded) = two(0, 7, 300);
    header.stop_early = true;
    let pair = CompareReport::new(&header, &graded, "bag-v1", &early).pairs.remove(0);
    assert!(pair.mcnemar < 0.05 && pair.decision == Decision::None);
    assert!((pair.e_process.value - 16.0).abs() < 1e-9);
    assert!(pair.verdict.contains("E = 16.00 (never 20)"), "{}", pair.verdict);
}

#[test]
fn a_simulated_model_is_named() {
    let (header, graded) = two(8, 28, 310);
    let header = Header { simulated: Some("simulated/1".into()), ..header };
    let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
    assert!(
        report.pairs[0]
            .verdict
            .starts_with("with simulated answers (simulated/1), `b` answers 6.5 points more")
    );
    assert_eq!(report.basis.simulated.as_deref(), Some("simulated/1"));
}

#[test]
fn a_simulation_that_is_too_good_is_flagged() {
    // Three arms of independent samples, no two of whose wrong answers are the same.
    let skills = [("a", 0.8), ("b", 0.8), ("c", 0.8)].map(|(name, right)| super::made::Skill {
        name,
        right,
        calls: 1,
    });
    let (mut header, mut graded) = super::made::run(&skills, 500);
    for one in &mut graded {
        let alone = format!("{} {}", one.arm, one.place);
        for judged in one.verdicts.values_mut().filter(|judged| judged.fingerprint.is_some()) {
            judged.fingerprint =
                Some(if judged.verdict == Right { "right".into() } else { alone.clone() });
        }
    }
    fn flag(header: &Header, graded: &[Graded]) -> usize {
        let report = CompareReport::new(
            header,
            graded,
            "bag-v1",
            &CompareOptions { resamples: 10, ..CompareOptions::default() },
        );
        report
            .basis
            .warnings
            .into_iter()
            .filter(|note| note.starts_with("too good for a real model: "))
            .count()
    }
    assert_eq!(flag(&header, &graded), 0, "real answers are what they are");
    header.simulated = Some("naive".into());
    assert!(flag(&header, &graded) > 0);
    let perfect: Vec<Graded> = (0..500).map(|place| answer("a", place, Right)).collect();
    let benchmark = crate::report::BenchmarkReport::new(&header, &perfect, "bag-v1");
    assert!(
        benchmark.basis.warnings[0]
            .starts_with("too good for a real model: of `a`, 500 of 500 answers are right"),
        "{:?}",
        benchmark.basis.warnings
    );
    for one in &mut graded {
        for judged in one.verdicts.values_mut().filter(|judged| judged.verdict == Wrong) {
            judged.fingerprint = Some("the mistake that all make".into());
        }
    }
    assert_eq!(flag(&header, &graded), 0, "mistakes are alike");
}

#[test]
fn nothing_compared_shows_nothing() {
    let report = CompareReport::new(
        &header(&["a", "b"], 5),
        &[answer("a", 0, Right)],
        "bag-v1",
        &CompareOptions::default(),
    );
    assert!(
        report.pairs[0]
            .verdict
            .starts_with("no comparison is possible: no question counts for both `a` and `b`")
    );
    assert_eq!(fails(&report), [false, false, true, true, true]);
    let alone = CompareReport::new(&header(&["a"], 5), &[], "bag-v1", &CompareOptions::default());
    assert_eq!(fails(&alone), [false, false, true, true, true]);
}

#[test]
fn where_searches_failed_nothing_is_said_and_no_gate_passes() {
    let (header, mut graded) = two(0, 0, 48);
    graded
        .iter_mut()
        .for_each(|one| super::made::fail(one, crate::run::End::Failed, "replay-miss"));
    fn compare(header: &Header, graded: &[Graded]) -> CompareReport {
        CompareReport::new(header, graded, "bag-v1", &CompareOptions::default())
    }
    let report = compare(&header, &graded);
    assert_eq!(
        report.pairs[0].verdict,
        "48 of 48 searches of `a` failed (replay-miss): the figures mean nothing; 48 of 48 \
         searches of `b` failed (replay-miss): the figures mean nothing"
    );
    assert_eq!(
        (report.pairs[0].decision, all_failed(&graded).map(|all| all.class)),
        (Decision::Unsure, Some("replay-miss"))
    );
    assert_eq!(fails(&report), [true; 5]);
    // Five of 48 are a tenth, four are not.
    let (_, mut some) = two(0, 0, 48);
    some.iter_mut()
        .filter(|one| one.arm == "b" && one.place < 4)
        .for_each(|one| one.end = crate::run::End::Failed);
    assert!(!fail_on(&compare(&header, &some), FailOn::Regression));
    some[9].end = crate::run::End::Failed;
    let report = compare(&header, &some);
    assert_eq!((fails(&report), all_failed(&some)), ([true; 5], None));
}

#[test]
fn what_fails_a_gate_is_warned_of() {
    let (header, mut graded) = two(0, 0, 50);
    fn warns(header: &Header, graded: &[Graded]) -> (bool, bool) {
        let report = CompareReport::new(header, graded, "bag-v1", &CompareOptions::default());
        let warnings = &report.basis.warnings;
        (
            warnings.iter().any(|one| one.contains(" searches of `b` failed")),
            fail_on(&report, FailOn::Regression),
        )
    }
    // A tenth is where both begin.
    for place in 0..5 {
        assert_eq!(warns(&header, &graded), (false, false), "{place}");
        graded[place * 2 + 1].end = crate::run::End::Failed;
    }
    assert_eq!(warns(&header, &graded), (true, true));
}

#[test]
fn of_equally_frequent_failures_the_first_by_name_is_reported() {
    let (_, mut graded) = two(0, 0, 3);
    for (one, class) in graded.iter_mut().zip(["sql", "model", "sql", "model", "budget", "sql"]) {
        super::made::fail(one, crate::run::End::Failed, class);
    }
    fn report(graded: &[Graded]) -> Option<(String, u64)> {
        all_failed(graded).map(|all| (all.class.to_owned(), all.count))
    }
    assert_eq!(report(&graded), Some(("sql".to_owned(), 3)));
    assert_eq!(report(&graded[..4]), Some(("model".to_owned(), 2)));
    assert_eq!(
        all_failed(&graded[..4]).and_then(|all| all.message),
        Some("the model did not answer")
    );
    graded.iter_mut().for_each(|one| one.fault = None);
    assert_eq!(report(&graded), Some(("unknown".to_owned(), 6)));
    assert_eq!(report(&[]), None);
}

#[test]
fn the_last_arms_are_held_against_the_first() {
    let (header, mut graded) = two(0, 0, 60);
    graded.extend((0..60).map(|place| answer("c", place, Wrong)));
    let header =
        Header { arms: [header.arms, super::made::header(&["c"], 0).arms].concat(), ..header };
    let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
    assert!(fail_on(&report, FailOn::Regression) && fail_on(&report, FailOn::Below(-50.0)));
}
