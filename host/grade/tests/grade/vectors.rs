//! The statistics and the calibration against scipy, statsmodels and scikit-learn:
//! `tests/vectors/statistics.json`, which `statistics.py` beside it made.
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use syrch_grade::calibrate::{Point, isotonic, logistic};
use syrch_grade::stats::{
    auroc, brier, e_value, expected_calibration_error, holm, log_loss, mcnemar, minimum_detectable,
    power, reliability, wilson,
};

/// The tolerance of the values, as a part of the greater, or of 1 for those under it.
const NEAR: f64 = 1e-9;

fn vectors<T: DeserializeOwned>(name: &str) -> T {
    let all: Value =
        serde_json::from_str(include_str!("../../../../tests/vectors/statistics.json")).unwrap();
    serde_json::from_value(all[name].clone()).unwrap()
}

#[track_caller]
fn assert_near(ours: f64, theirs: f64, near: f64, what: &str) {
    let scale = theirs.abs().max(1.0);
    assert!((ours - theirs).abs() <= near * scale, "{what}: {ours}, and it should be {theirs}");
}

#[derive(Deserialize)]
struct OfWilson {
    right: u64,
    of: u64,
    interval: [f64; 2],
}

#[test]
fn wilson_is_that_of_statsmodels() {
    for OfWilson { right, of, interval: [low, high] } in vectors::<Vec<OfWilson>>("wilson") {
        let ours = wilson(right, of);
        assert_near(ours.low, low, NEAR, &format!("low end of {right} of {of}"));
        assert_near(ours.high, high, NEAR, &format!("high end of {right} of {of}"));
    }
}

#[derive(Deserialize)]
struct OfFlips {
    b: u64,
    c: u64,
    #[serde(default)]
    p: f64,
    #[serde(default)]
    log_e: f64,
}

#[test]
fn mcnemar_is_that_of_statsmodels() {
    for OfFlips { b, c, p, .. } in vectors::<Vec<OfFlips>>("mcnemar") {
        assert_near(mcnemar(b, c), p, NEAR, &format!("p of {b} to {c}"));
        // Tiny ones have to be near as a part of themselves.
        assert_near(mcnemar(b, c) / p, 1.0, 1e-8, &format!("p of {b} to {c}, relative"));
    }
}

#[test]
fn e_values_are_those_of_scipy() {
    for OfFlips { b, c, log_e, .. } in vectors::<Vec<OfFlips>>("e_value") {
        assert_near(e_value(b, c).ln(), log_e, NEAR, &format!("log E of {b} to {c}"));
    }
}

#[derive(Deserialize)]
struct OfHolm {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

#[test]
fn holm_is_that_of_statsmodels() {
    for OfHolm { p, adjusted } in vectors::<Vec<OfHolm>>("holm") {
        for (ours, theirs) in holm(&p).into_iter().zip(adjusted) {
            assert_near(ours, theirs, NEAR, &format!("{p:?}"));
        }
    }
}

#[derive(Deserialize)]
struct OfPower {
    questions: u64,
    discordance: f64,
    difference: f64,
    #[serde(default)]
    power: f64,
}

#[test]
fn power_is_that_summed_by_scipy() {
    for of in vectors::<Vec<OfPower>>("power") {
        let ours = power(of.questions, of.discordance, of.difference);
        assert_near(ours, of.power, NEAR, &format!("power of {} questions", of.questions));
    }
    for of in vectors::<Vec<OfPower>>("minimum_detectable") {
        let ours = minimum_detectable(of.questions, of.discordance).unwrap();
        // Ours is halved down to 1e-7.
        assert_near(
            ours,
            of.difference,
            2e-7,
            &format!("least difference of {} questions", of.questions),
        );
    }
}

#[derive(Deserialize)]
struct OfCalibration {
    confidence: Vec<f64>,
    right: Vec<bool>,
    auroc: f64,
    brier: f64,
    log_loss: f64,
    reliability: OfReliability,
    isotonic: OfIsotonic,
    logistic: OfLogistic,
}

#[derive(Deserialize)]
struct OfReliability {
    accuracy: Vec<f64>,
    mean_confidence: Vec<f64>,
}

#[derive(Deserialize)]
struct OfIsotonic {
    thresholds: Vec<f64>,
    values: Vec<f64>,
    at: Vec<f64>,
    predicted: Vec<f64>,
}

#[derive(Deserialize)]
struct OfLogistic {
    slope: f64,
    intercept: f64,
}

impl OfCalibration {
    fn scores(&self) -> Vec<(f64, bool)> {
        self.confidence.iter().copied().zip(self.right.iter().copied()).collect()
    }

    fn points(&self) -> Vec<Point> {
        self.scores()
            .into_iter()
            .map(|(confidence, right)| Point {
                database: String::new(),
                confidence,
                printed: confidence,
                left: 1.0,
                right,
            })
            .collect()
    }
}

#[test]
fn rankings_and_scores_are_those_of_scikit_learn() {
    for of in vectors::<Vec<OfCalibration>>("calibration") {
        let scored = of.scores();
        assert_near(auroc(&scored).unwrap(), of.auroc, NEAR, "area under the curve");
        assert_near(brier(&scored).unwrap(), of.brier, NEAR, "Brier score");
        assert_near(log_loss(&scored).unwrap(), of.log_loss, NEAR, "log loss");
        let bins = reliability(
            &scored
                .into_iter()
                .filter(|(confidence, _): &(f64, bool)| {
                    (confidence * 10.0 - (confidence * 10.0).round()).abs() > 1e-9
                })
                .collect::<Vec<_>>(),
            10,
        );
        assert_eq!(bins.len(), of.reliability.accuracy.len());
        for (place, bin) in bins.iter().enumerate() {
            assert_near(bin.accuracy(), of.reliability.accuracy[place], NEAR, "accuracy of a bin");
            assert_near(
                bin.mean_confidence,
                of.reliability.mean_confidence[place],
                NEAR,
                "mean confidence of a bin",
            );
        }
        fn gap(of: &OfCalibration, place: usize) -> f64 {
            (of.reliability.accuracy[place] - of.reliability.mean_confidence[place]).abs()
        }
        let answers: u64 = bins.iter().map(|bin| bin.answers).sum();
        let theirs: f64 = (0..bins.len())
            .map(|place| gap(&of, place) * bins[place].answers as f64 / answers as f64)
            .sum();
        assert_near(expected_calibration_error(&bins), theirs, NEAR, "calibration error");
    }
}

#[test]
fn isotonic_is_that_of_scikit_learn() {
    for of in vectors::<Vec<OfCalibration>>("calibration") {
        let curve = isotonic(&of.points());
        assert_eq!(curve.thresholds.len(), of.isotonic.thresholds.len());
        for place in 0..curve.thresholds.len() {
            assert_near(curve.thresholds[place], of.isotonic.thresholds[place], NEAR, "threshold");
            // All right and all wrong are not promised: those steps are ours.
            match of.isotonic.values[place] {
                0.0 => assert!(curve.values[place] > 0.0 && curve.values[place] < 0.5),
                1.0 => assert!(curve.values[place] < 1.0 && curve.values[place] > 0.5),
                value => assert_near(curve.values[place], value, NEAR, "value"),
            }
        }
        let inner = of.isotonic.values.iter().copied().filter(|value| *value > 0.0 && *value < 1.0);
        let low = inner.clone().fold(1.0, f64::min);
        let high = inner.fold(0.0, f64::max);
        for (at, predicted) in of.isotonic.at.iter().zip(of.isotonic.predicted) {
            if (low..=high).contains(&predicted) {
                assert_near(curve.apply(*at), predicted, NEAR, &format!("prediction at {at}"));
            }
        }
    }
}

#[test]
fn logistic_is_the_same_summit_as_that_of_scikit_learn() {
    for of in vectors::<Vec<OfCalibration>>("calibration") {
        let curve = logistic(&of.points());
        assert_near(curve.slope, of.logistic.slope, 1e-7, "slope");
        assert_near(curve.intercept, of.logistic.intercept, 1e-7, "intercept");
    }
}
