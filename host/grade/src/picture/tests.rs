//! Pictures of constructed runs: their numbers are those of the documents, and they equal the
//! snapshots.

use std::collections::BTreeMap;

use syrch_kit::markup;
use syrch_report::picture::{Picture, width};

use super::*;
use crate::Verdict;
use crate::report::tests::made::{self, SKILLS};
use crate::report::{BenchmarkReport, CompareOptions, CompareReport, Figures};

struct Made {
    benchmark: BenchmarkReport,
    compare: CompareReport,
}

impl Made {
    fn new(questions: u64) -> Self {
        let (header, graded) = made::run(&SKILLS, questions);
        let options = CompareOptions { resamples: 500, ..CompareOptions::default() };
        Self {
            benchmark: BenchmarkReport::new(&header, &graded, "bag-v1"),
            compare: CompareReport::new(&header, &graded, "bag-v1", &options),
        }
    }

    fn figures(&self) -> Vec<(&str, &Figures)> {
        self.compare.arms.iter().map(|arm| (arm.arm.name.as_str(), &arm.figures)).collect()
    }

    fn reliability(&self) -> Picture {
        reliability("one-sample", self.compare.arms[0].figures.calibration.as_ref().unwrap())
    }

    fn risk(&self) -> Picture {
        let all: Vec<_> = self
            .figures()
            .into_iter()
            .map(|(name, one)| (name, one.calibration.as_ref()))
            .collect();
        risk(&all).unwrap()
    }

    fn budget(&self) -> Picture {
        let all: Vec<_> = self
            .figures()
            .into_iter()
            .map(|(name, one)| (name, one.budget_curve.as_slice()))
            .collect();
        budget(&all).unwrap()
    }
}

/// The marks of a picture: what of the document each of them carries.
fn marks(picture: &Picture, attribute: &str) -> Vec<BTreeMap<String, String>> {
    markup::with(&markup::elements(&picture.file()), attribute)
}

fn number(mark: &BTreeMap<String, String>, name: &str) -> Option<f64> {
    mark.get(name).map(|text| text.parse().unwrap())
}

#[test]
fn pictures_look_as_they_did() {
    let made = Made::new(48);
    let pair = &made.compare.pairs[0];
    let costs = cost(&made.compare);
    let all = [
        (differences(pair), include_str!("snapshots/differences.svg")),
        (shares(&made.benchmark), include_str!("snapshots/shares.svg")),
        (strip(pair, &made.compare.results), include_str!("snapshots/strip.svg")),
        (costs[0].clone(), include_str!("snapshots/cost.svg")),
        (made.reliability(), include_str!("snapshots/reliability.svg")),
        (made.risk(), include_str!("snapshots/risk.svg")),
        (errors(&made.figures()).unwrap(), include_str!("snapshots/errors.svg")),
        (made.budget(), include_str!("snapshots/budget.svg")),
    ];
    for (picture, snapshot) in all {
        let file = picture.file();
        assert_eq!(file, snapshot, "{}\n{file}", picture.title);
    }
}

#[test]
fn the_forest_has_the_differences() {
    let made = Made::new(200);
    let pair = &made.compare.pairs[0];
    let mut expected =
        vec![("all questions".to_owned(), pair.questions, pair.difference, pair.interval)];
    expected.extend(
        pair.rules
            .iter()
            .map(|one| (one.rule.clone(), one.questions, one.difference, one.interval)),
    );
    expected.extend(
        pair.slices
            .iter()
            .map(|one| (one.value.clone().unwrap(), one.questions, one.difference, one.interval)),
    );
    let drawn = marks(&differences(pair), "data-value");
    assert_eq!(drawn.len(), expected.len());
    for (mark, (label, questions, difference, interval)) in drawn.iter().zip(expected) {
        assert_eq!(
            (mark["data-label"].as_str(), mark["data-questions"].as_str()),
            (label.as_str(), questions.to_string().as_str())
        );
        assert_eq!(number(mark, "data-value"), difference);
        assert_eq!(
            (number(mark, "data-low"), number(mark, "data-high")),
            (interval.map(|one| one.low), interval.map(|one| one.high))
        );
    }
}

#[test]
fn the_forest_of_shares_has_the_shares() {
    let made = Made::new(200);
    let figures = &made.benchmark.figures;
    let shares_of = figures
        .rules
        .iter()
        .map(|one| &one.share)
        .chain(figures.slices.iter().map(|one| &one.share));
    let expected: Vec<_> = std::iter::once(&figures.share)
        .chain(shares_of)
        .map(|share| (share.share, Some(share.interval.low)))
        .collect();
    let drawn: Vec<_> = marks(&shares(&made.benchmark), "data-value")
        .iter()
        .map(|mark| (number(mark, "data-value"), number(mark, "data-low")))
        .collect();
    assert_eq!(drawn, expected);
}

#[test]
fn the_strip_has_every_question() {
    let made = Made::new(200);
    for pair in &made.compare.pairs {
        let cells = marks(&strip(pair, &made.compare.results), "data-outcome");
        let counts = ["first", "second", "both", "neither"].map(|outcome: &str| {
            cells.iter().filter(|cell| cell["data-outcome"] == outcome).count() as u64
        });
        assert_eq!(counts, [pair.b, pair.c, pair.both_right, pair.both_wrong]);
        let flipped: BTreeMap<&str, &str> = cells
            .iter()
            .map(|cell| (cell["data-id"].as_str(), cell["data-outcome"].as_str()))
            .collect();
        for one in &pair.flipped {
            let right = serde_json::to_value(one.right).unwrap();
            assert_eq!(right, flipped[one.id.as_str()], "{}", one.id);
        }
    }
}

#[test]
fn a_strip_of_many_questions_is_cut_and_says_so() {
    let (header, graded) = made::run(&SKILLS[..2], 3_000);
    let options = CompareOptions { resamples: 10, ..CompareOptions::default() };
    let compare = CompareReport::new(&header, &graded, "bag-v1", &options);
    let picture = strip(&compare.pairs[0], &compare.results);
    assert_eq!(marks(&picture, "data-outcome").len(), 2_000);
    let counting = compare.pairs[0].questions;
    assert!(
        picture.description.ends_with(&format!(" The first 2000 of {counting} are shown.")),
        "{}",
        picture.description
    );
}

#[test]
fn costs_have_the_means_and_the_edge() {
    let mut made = Made::new(200);
    // Times that are partly those of a cache are not drawn.
    assert_eq!(cost(&made.compare).len(), 2);
    made.compare.pareto.p50_ms.clone_from(&made.compare.pareto.calls);
    let pictures = cost(&made.compare);
    assert_eq!(pictures.len(), 3);
    let edge = made.compare.pareto.calls.as_ref().unwrap();
    for (mark, arm) in marks(&pictures[0], "data-cost").iter().zip(&made.compare.arms) {
        assert_eq!(mark["data-arm"], arm.arm.name);
        assert_eq!(
            (number(mark, "data-cost"), number(mark, "data-share")),
            (arm.figures.costs.calls_mean, arm.figures.share.share)
        );
        assert_eq!(mark["data-pareto"] == "yes", edge.contains(&arm.arm.name));
    }
    for (mark, arm) in marks(&pictures[2], "data-cost").iter().zip(&made.compare.arms) {
        assert_eq!(
            number(mark, "data-cost"),
            arm.figures.costs.latency.map(|latency| latency.p50_ms)
        );
    }
}

#[test]
fn reliability_has_the_bins() {
    let made = Made::new(200);
    let bins = &made.compare.arms[0].figures.calibration.as_ref().unwrap().bins;
    let drawn = marks(&made.reliability(), "data-confidence");
    assert_eq!(drawn.len(), bins.len());
    for (mark, bin) in drawn.iter().zip(bins) {
        let of = [
            "data-from",
            "data-to",
            "data-confidence",
            "data-share",
            "data-low",
            "data-high",
            "data-answers",
            "data-right",
        ];
        let expected = [
            bin.low,
            bin.high,
            bin.mean_confidence,
            bin.share,
            bin.interval.low,
            bin.interval.high,
            bin.answers as f64,
            bin.right as f64,
        ];
        assert_eq!(of.map(|name| number(mark, name).unwrap()), expected);
    }
}

#[test]
fn risk_has_every_point() {
    let made = Made::new(200);
    let drawn = marks(&made.risk(), "data-points");
    for (mark, (name, figures)) in drawn.iter().zip(made.figures()) {
        let points: Vec<(f64, f64)> = mark["data-points"]
            .split(' ')
            .filter_map(|text: &str| {
                text.split_once(',')
                    .map(|(coverage, risk)| (coverage.parse().unwrap(), risk.parse().unwrap()))
            })
            .collect();
        let expected: Vec<_> = figures
            .calibration
            .as_ref()
            .unwrap()
            .risk_coverage
            .iter()
            .map(|one| (one.coverage, one.risk))
            .collect();
        assert_eq!((mark["data-arm"].as_str(), points), (name, expected));
    }
    assert_eq!((drawn.len(), risk(&[("a", None)])), (3, None));
}

#[test]
fn errors_have_every_outcome() {
    let made = Made::new(200);
    let drawn = marks(&errors(&made.figures()).unwrap(), "data-class");
    for (name, figures) in made.figures() {
        fn count(drawn: &[BTreeMap<String, String>], name: &str, class: &str) -> Option<u64> {
            drawn
                .iter()
                .find(|bar| bar["data-arm"] == name && bar["data-class"] == class)
                .map(|bar| number(bar, "data-count").unwrap() as u64)
        }
        let outcomes = &figures.outcomes;
        assert_eq!(
            (
                count(&drawn, name, "right"),
                count(&drawn, name, "wrong"),
                count(&drawn, name, "failed")
            ),
            (Some(outcomes.right), Some(outcomes.wrong), Some(outcomes.failed))
        );
        for (class, expected) in &figures.errors {
            assert_eq!(count(&drawn, name, &format!("error: {class}")), Some(*expected));
        }
        let own = drawn
            .iter()
            .filter(|bar| bar["data-arm"] == name && !bar["data-class"].starts_with("error: "));
        assert_eq!(own.map(|bar| number(bar, "data-count").unwrap()).sum::<f64>(), 200.0);
    }
}

#[test]
fn budgets_have_every_point() {
    let made = Made::new(200);
    let drawn = marks(&made.budget(), "data-calls");
    let expected: Vec<_> = made
        .figures()
        .iter()
        .flat_map(|(name, figures)| {
            figures
                .budget_curve
                .iter()
                .map(|one| ((*name).to_owned(), Some(one.calls as f64), one.share))
        })
        .collect();
    let marks: Vec<_> = drawn
        .iter()
        .map(|mark| {
            (mark["data-arm"].clone(), number(mark, "data-calls"), number(mark, "data-share"))
        })
        .collect();
    assert_eq!(marks, expected);
}

#[test]
fn pictures_say_what_they_are_and_hold_their_marks() {
    let made = Made::new(522);
    let pair = &made.compare.pairs[0];
    let mut all = cost(&made.compare);
    all.extend([
        differences(pair),
        shares(&made.benchmark),
        strip(pair, &made.compare.results),
        made.reliability(),
    ]);
    all.extend([made.risk(), errors(&made.figures()).unwrap(), made.budget()]);
    for picture in all {
        let elements = markup::elements(&picture.file());
        let (name, svg) = &elements[0];
        assert_eq!(
            (name.as_str(), svg["role"].as_str(), svg["aria-labelledby"].as_str()),
            ("svg", "img", "picture-t picture-d")
        );
        assert!(elements.iter().any(|(name, _)| name == "desc") && !picture.description.is_empty());
        let size: Vec<f64> = svg["viewBox"].split(' ').map(|part| part.parse().unwrap()).collect();
        for (_, attributes) in &elements[1..] {
            for (x, y) in [("x", "y"), ("cx", "cy"), ("x1", "y1"), ("x2", "y2")] {
                let (Some(x), Some(y)) = (number(attributes, x), number(attributes, y)) else {
                    continue;
                };
                assert!(
                    (0.0..=size[2]).contains(&x) && (0.0..=size[3]).contains(&y),
                    "{}: {attributes:?}",
                    picture.title
                );
            }
        }
    }
}

#[test]
fn texts_end_inside_their_picture() {
    let made = Made::new(522);
    let pair = &made.compare.pairs[0];
    for picture in [
        differences(pair),
        shares(&made.benchmark),
        strip(pair, &made.compare.results),
        made.risk(),
        made.budget(),
    ] {
        let file = picture.file();
        let size: f64 = markup::elements(&file)[0].1["width"].parse().unwrap();
        for line in file.lines().filter(|line| line.starts_with("<text")) {
            let elements = markup::elements(line);
            let text =
                line.split_once('>').and_then(|(_, rest)| rest.strip_suffix("</text>")).unwrap();
            let x = number(&elements[0].1, "x").unwrap();
            let wide = width(&markup::unescape(text));
            let class = elements[0].1.get("class").map_or("", String::as_str);
            let (left, right) = match class {
                class if class.contains("right") => (x - wide, x),
                class if class.contains("middle") => (x - wide / 2.0, x + wide / 2.0),
                _ => (x, x + wide),
            };
            assert!(
                left >= -1.0 && right <= size + 1.0,
                "{}: {line} from {left:.0} to {right:.0} of {size}",
                picture.title
            );
        }
    }
}

#[test]
fn nothing_is_drawn_of_nothing() {
    let (header, _) = made::run(&SKILLS, 0);
    let compare = CompareReport::new(&header, &[], "bag-v1", &CompareOptions::default());
    let figures: Vec<_> =
        compare.arms.iter().map(|arm| (arm.arm.name.as_str(), &arm.figures)).collect();
    assert_eq!((errors(&figures), cost(&compare).len(), budget(&[("a", &[])])), (None, 0, None));
    let forest = differences(&compare.pairs[0]);
    assert!(
        marks(&forest, "data-value").is_empty()
            && marks(&strip(&compare.pairs[0], &[]), "data-outcome").is_empty()
    );
    fn counts(compare: &CompareReport, verdict: Verdict) -> usize {
        compare.results.iter().filter(|row| row.verdict == Some(verdict)).count()
    }
    assert_eq!(counts(&compare, Verdict::Right), 0);
}
