//! Tests of the JSON documents, with expected ones written by hand.

use std::collections::BTreeMap;

use serde_json::Value;

use super::made::{self, SKILLS, answer, fail, header};
use crate::Verdict::{Excluded, Right, Wrong};
use crate::report::{
    BenchmarkReport, CompareOptions, CompareReport, GridReport, Share, SuiteOfReport,
};
use crate::run::{End, Graded, Header, Shard};

const QUICK: CompareOptions = CompareOptions { seed: None, resamples: 500 };

#[test]
fn a_benchmark_by_hand() {
    let mut graded: Vec<Graded> = [Right, Right, Wrong, Excluded, Wrong, Right]
        .iter()
        .zip(0..)
        .map(|(verdict, place)| answer("a", place, *verdict))
        .collect();
    fail(&mut graded[4], End::Failed, "model");
    graded[5].verdicts.clear();
    graded[5].gold_fault = Some("no such table: gold".into());
    graded[1].cost.calls = 4;
    graded[1].cost.cached = 2;
    let report = BenchmarkReport::new(&header(&["a"], 6), &graded, "bag-v1");
    let figures = &report.figures;
    let Share { right, of, excluded, share, .. } = figures.share;
    assert_eq!((right, of, excluded, share), (2, 4, 1, Some(0.5)));
    assert_eq!(
        figures.rules.iter().map(|rule| rule.rule.as_str()).collect::<Vec<_>>(),
        ["bag-v1", "spider-ex"]
    );
    // 1 + 1 + 0.25 + 0 over the four that count.
    assert_eq!(figures.soft_f1, Some(2.25 / 4.0));
    assert_eq!((figures.ends.answered, figures.ends.failed, figures.errors["model"]), (5, 1, 1));
    assert_eq!(
        (figures.outcomes.wrong, figures.outcomes.failed, figures.outcomes.not_graded),
        (1, 1, 1)
    );
    let costs = &figures.costs;
    assert_eq!(
        (costs.calls, costs.sent, costs.cached, costs.calls_mean),
        (Some(11), Some(9), Some(2), Some(11.0 / 6.0))
    );
    assert_eq!(
        (costs.input_tokens, costs.tokens(), costs.sql_runs, costs.usd_unknown),
        (Some(4800), Some(5160), Some(6), Some(0))
    );
    assert!((costs.usd.unwrap() - 0.006).abs() < 1e-12);
    assert_eq!(figures.calibration, None);
    let curve: Vec<_> =
        figures.budget_curve.iter().map(|point| (point.calls, point.right, point.of)).collect();
    assert_eq!(curve, [(1, 1, 4), (6, 2, 4)]);
    assert_eq!(
        (report.head.suite.asked, report.head.suite.gold_faults, report.basis.partial.is_none()),
        (6, 1, true)
    );
    assert_eq!(
        report.basis.warnings[0],
        "1 question does not count: the expected answer is not available"
    );
    assert_eq!(
        report.basis.warnings[1],
        "1 of 6 searches of `a` failed (model): they count as wrong, whatever the cause"
    );
}

#[test]
fn slices_are_of_short_fields_and_hold_every_question() {
    let mut graded: Vec<Graded> = (0..60).map(|place| answer("a", place, Right)).collect();
    for one in &mut graded {
        one.fields.insert("author".into(), format!("person {}", one.place));
    }
    graded[7].fields.clear();
    let report = BenchmarkReport::new(&header(&["a"], 60), &graded, "bag-v1");
    let fields: std::collections::BTreeSet<&str> =
        report.figures.slices.iter().map(|slice| slice.field.as_str()).collect();
    assert_eq!(fields.into_iter().collect::<Vec<_>>(), ["db", "difficulty"]);
    assert_eq!(report.figures.slices.iter().map(|slice| slice.share.of).sum::<u64>(), 120);
    assert!(
        report.figures.slices.iter().any(|slice| slice.field == "difficulty"
            && slice.value.is_none()
            && slice.share.of == 1)
    );
}

#[test]
fn confidence_is_of_answers_that_count() {
    let sure = [(Right, 0.95), (Right, 0.95), (Wrong, 0.15), (Excluded, 0.5), (Wrong, 2.0)];
    let mut graded: Vec<Graded> = Vec::new();
    for ((verdict, confidence), place) in sure.into_iter().zip(0..) {
        graded.push(Graded { confidence: Some(confidence), ..answer("a", place, verdict) });
    }
    graded.push(answer("a", 5, Right));
    let report = BenchmarkReport::new(&header(&["a"], 6), &graded, "bag-v1");
    let calibration = report.figures.calibration.unwrap();
    assert_eq!((calibration.answers, calibration.without_confidence), (4, 1));
    assert_eq!(
        calibration.bins.iter().map(|bin| (bin.answers, bin.right)).collect::<Vec<_>>(),
        [(1, 0), (3, 2)]
    );
    assert_eq!(
        calibration.risk_coverage.last().map(|point| (point.coverage, point.risk)),
        Some((1.0, 0.5))
    );
    // Two pairs of four are in order: the wrong 0.15 is below both right ones, the wrong 1.0 above
    // both.
    assert_eq!(calibration.auroc, Some(0.5));
}

#[test]
fn of_a_question_tried_again_the_last_try_counts() {
    let mut first = answer("a", 0, Wrong);
    fail(&mut first, End::Failed, "model");
    let again = Graded { retried: true, ..answer("a", 0, Right) };
    let report = BenchmarkReport::new(&header(&["a"], 1), &[first, again], "bag-v1");
    assert_eq!(
        (report.figures.share.right, report.results.len(), report.results[0].retried),
        (1, 1, true)
    );
}

#[test]
fn a_run_that_is_not_whole_says_so() {
    let graded = [answer("a", 0, Right), answer("a", 2, Wrong)];
    let mut header = Header { shard: Some(Shard { index: 1, of: 2 }), ..header(&["a"], 9) };
    let mut report = BenchmarkReport::new(&header, &graded, "bag-v1");
    report.basis.because("the budget of $1 is used up");
    let partial = report.basis.partial.unwrap();
    assert_eq!(
        (partial.done, partial.of, partial.why.as_str()),
        (2, 5, "the budget of $1 is used up")
    );
    assert_eq!(report.basis.warnings, ["this is shard 1/2 of the suite"]);
    header.shard = None;
    let other = BenchmarkReport::new(&header, &graded, "none-such");
    assert_eq!((other.basis.partial.unwrap().of, other.figures.share.of), (9, 0));
    assert_eq!(
        other.basis.warnings,
        ["no verdict under the rule `none-such` is stored; there are bag-v1, spider-ex"]
    );
}

#[test]
fn equal_runs_make_equal_documents() {
    let (header, graded) = made::run(&SKILLS, 60);
    let mut killed: Vec<Graded> = graded.iter().rev().cloned().collect();
    for one in &mut killed {
        // In flight when it was killed: made again, and slower.
        (one.time_ms, one.run) = (one.time_ms + 1000.0, None);
        one.cost.calls += 1;
        one.cost.cached += 1;
        one.cost.input_tokens += 800;
        one.cost.sql_runs += 1;
        one.cost.usd = one.cost.usd.map(|usd| usd + 0.001);
    }
    let other = Header { id: "another".into(), ..header.clone() };
    let texts = [(&header, &graded), (&other, &killed)].map(|(header, graded)| {
        let mut benchmark = BenchmarkReport::new(header, graded, "bag-v1");
        let mut compare = CompareReport::new(header, graded, "bag-v1", &QUICK);
        let whole = serde_json::to_string(&(&benchmark, &compare)).unwrap();
        benchmark.without_times();
        compare.without_times();
        (whole, serde_json::to_string(&(&benchmark, &compare)).unwrap())
    });
    assert_ne!(texts[0].0, texts[1].0);
    assert_eq!(texts[0].1, texts[1].1);
    for word in [
        "latency",
        "\"calls\"",
        "cached",
        "duration",
        "p50_ms",
        "tokens\"",
        "sql_runs\"",
        "budget_curve",
        "equal_budget",
        "run-",
    ] {
        assert!(!texts[0].1.contains(word), "{word}");
    }
}

#[test]
fn documents_are_read_back() {
    let (header, graded) = made::run(&SKILLS, 200);
    let benchmark = BenchmarkReport::new(&header, &graded, "bag-v1");
    let compare = CompareReport::new(&header, &graded, "bag-v1", &QUICK);
    let text = serde_json::to_string(&benchmark).unwrap();
    assert_eq!(serde_json::from_str::<BenchmarkReport>(&text).unwrap(), benchmark);
    let text = serde_json::to_string(&compare).unwrap();
    assert_eq!(serde_json::from_str::<CompareReport>(&text).unwrap(), compare);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&value["schema"], &value["arms"][1]["name"]),
        (&"syrch.compare/1".into(), &"vote-of-5".into())
    );
    for key in [
        "difference",
        "interval",
        "mcnemar",
        "holm",
        "minimum_detectable",
        "e_process",
        "flipped",
        "verdict",
        "b",
        "c",
    ] {
        assert!(!value["pairs"][0][key].is_null(), "{key}");
    }
    assert!(value["pairs"][0]["interval"]["low"].is_number() && value["arms"][0]["right"].is_u64());
}

#[test]
fn what_all_documents_begin_with_lies_flat_and_in_order() {
    let (header, graded) = made::run(&SKILLS, 24);
    let documents = [
        serde_json::to_value(BenchmarkReport::new(&header, &graded, "bag-v1")).unwrap(),
        serde_json::to_value(CompareReport::new(&header, &graded, "bag-v1", &QUICK)).unwrap(),
        serde_json::to_value(GridReport::new(&header, &graded, "bag-v1", &BTreeMap::new()))
            .unwrap(),
    ];
    let keys = documents
        .each_ref()
        .map(|one| one.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>());
    let head = ["schema", "host", "run", "suite"];
    let basis = ["rule", "simulated", "partial", "warnings"];
    assert_eq!(keys[0][..9], [head.as_slice(), &["arm"], &basis].concat());
    assert_eq!(keys[0].last(), Some(&"results"));
    assert_eq!(
        keys[1][..],
        [head.as_slice(), &basis, &["arms", "pairs", "pareto", "equal_budget", "results"]].concat()
    );
    assert_eq!(keys[2][..], [head.as_slice(), &basis, &["cells", "best", "ties"]].concat());
}

#[test]
fn arms_are_compared_in_pairs() {
    let names = ["a", "b", "c", "d", "e"];
    let graded: Vec<Graded> =
        names.iter().flat_map(|arm| (0..9).map(|place| answer(arm, place, Right))).collect();
    let pairs = |count: usize| {
        let report = CompareReport::new(&header(&names[..count], 9), &graded, "bag-v1", &QUICK);
        report.pairs.into_iter().map(|pair| pair.first + &pair.second).collect::<Vec<_>>()
    };
    assert_eq!(pairs(1), Vec::<String>::new());
    assert_eq!(pairs(3), ["ab", "ac", "bc"]);
    assert_eq!(pairs(4).len(), 6);
    assert_eq!(pairs(5), ["ab", "ac", "ad", "ae"]);
}

/// Two arms of which the first alone is right on `b` questions, the second alone on `c`, and both
/// on the others.
pub(super) fn two(b: u64, c: u64, questions: u64) -> (Header, Vec<Graded>) {
    let mut graded = Vec::new();
    for place in 0..questions {
        // Spread over the databases.
        let turn = place * 7 % questions;
        let (first, second) = if turn < b {
            (Right, Wrong)
        } else if turn < b + c {
            (Wrong, Right)
        } else {
            (Right, Right)
        };
        graded.extend([answer("a", place, first), answer("b", place, second)]);
    }
    (header(&["a", "b"], questions), graded)
}

#[test]
fn a_pair_by_hand() {
    let (header, mut graded) = two(8, 21, 310);
    for one in graded.iter_mut().filter(|one| one.arm == "b") {
        (one.cost.calls, one.cost.usd) = (3, Some(0.002));
    }
    let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
    let pair = &report.pairs[0];
    assert_eq!(
        (pair.questions, pair.b, pair.c, pair.both_right, pair.both_wrong),
        (310, 8, 21, 281, 0)
    );
    assert!((pair.mcnemar - 0.0241).abs() < 5e-5 && pair.holm == pair.mcnemar);
    assert!((pair.difference.unwrap() - 13.0 / 310.0).abs() < 1e-15);
    assert_eq!((pair.clusters.count, pair.flipped.len()), (12, 29));
    let cost = pair.cost_of_one_more_right.unwrap();
    assert_eq!((cost.right, cost.calls), (13, Some(310.0 * 2.0 / 13.0)));
    assert!((cost.usd.unwrap() - 310.0 * 0.001 / 13.0).abs() < 1e-12);
    assert_eq!(report.pareto.calls.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
    assert_eq!(report.equal_budget.iter().map(|row| row.calls).collect::<Vec<_>>(), [1, 3]);
    let shares: Vec<_> =
        report.equal_budget[0].arms.iter().map(|arm| (arm.arm.as_str(), arm.right)).collect();
    assert_eq!(shares, [("a", 289), ("b", 0)]);
}

#[test]
fn who_is_beaten_is_not_on_the_pareto_edge() {
    let mut graded = Vec::new();
    for place in 0..10 {
        let verdict = |right: u64| if place < right { Right } else { Wrong };
        graded.extend([
            answer("good", place, verdict(9)),
            answer("expensive", place, verdict(8)),
            answer("cheap", place, verdict(5)),
        ]);
        graded[place as usize * 3 + 1].cost.calls = 2;
        graded[place as usize * 3 + 2].cost.calls = 0;
        graded[place as usize * 3 + 2].cost.usd = None;
    }
    let report =
        CompareReport::new(&header(&["good", "expensive", "cheap"], 10), &graded, "bag-v1", &QUICK);
    assert_eq!(report.pareto.calls.unwrap(), ["good", "cheap"]);
    // Without a call nothing was paid, so the price is known.
    assert_eq!(report.pareto.usd.unwrap(), ["good", "cheap"]);
    assert_eq!(report.pairs[1].cost_of_one_more_right, None);
}

#[test]
fn unknown_prices_are_not_free() {
    let (header, mut graded) = two(2, 12, 60);
    graded[5].cost.usd = None;
    let report = CompareReport::new(&header, &graded, "bag-v1", &QUICK);
    assert_eq!(
        (report.arms[1].figures.costs.usd, report.arms[1].figures.costs.usd_unknown),
        (None, Some(1))
    );
    assert!(report.arms[0].figures.costs.usd.is_some());
    assert_eq!(
        (report.pareto.usd, report.pairs[0].cost_of_one_more_right.unwrap().usd),
        (None, None)
    );
}

#[test]
fn questions_are_counted_once_for_all_arms() {
    let (header, graded) = two(1, 1, 12);
    let suite: SuiteOfReport = CompareReport::new(&header, &graded, "bag-v1", &QUICK).head.suite;
    assert_eq!((suite.questions, suite.asked), (12, 12));
}
