//! A curve of either kind, as the calibrator `fitted` applies it.

use serde::{Deserialize, Serialize};

use super::{Isotonic, Logistic, Point, isotonic, logistic};

/// The weight of the uncalibrated confidence in the curve: enough to keep the order where a curve
/// is level, too little to be seen.
const GRAIN: f64 = 1e-6;

/// A way to calibrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Confidences stay as they are.
    None,
    /// Fits a monotone, piecewise linear curve: [`isotonic`].
    Isotonic,
    /// Fits a sigmoid with two parameters: [`logistic`].
    Logistic,
}

impl Method {
    /// All methods, the simplest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Isotonic, Self::Logistic];

    /// The name as strategy files and reports spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Isotonic => "isotonic",
            Self::Logistic => "logistic",
        }
    }
}

/// A curve that maps printed confidences to calibrated ones.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    /// Confidences stay as they are.
    None,
    /// The curve that [`isotonic`] fitted.
    Isotonic(Isotonic),
    /// The curve that [`logistic`] fitted.
    Logistic(Logistic),
}

impl Curve {
    /// Fits a curve on answers.
    #[must_use]
    pub fn fit(method: Method, points: &[Point]) -> Self {
        match method {
            Method::None => Self::None,
            Method::Isotonic => Self::Isotonic(isotonic(points)),
            Method::Logistic => Self::Logistic(logistic(points)),
        }
    }

    /// The calibrated confidence, 0 to 1. A millionth of the confidence itself is mixed in, so that
    /// a greater confidence always stays the greater one: the curve changes how sure an answer is,
    /// never which answer is the surest.
    #[must_use]
    pub fn apply(&self, confidence: f64) -> f64 {
        let confidence = if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) };
        let there = match self {
            Self::None => return confidence,
            Self::Isotonic(curve) => curve.apply(confidence),
            Self::Logistic(curve) => curve.apply(confidence),
        };
        (1.0 - GRAIN) * there + GRAIN * confidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<Point> {
        (0..90)
            .map(|at: u32| {
                let confidence = f64::from(at % 10) / 10.0;
                let right = at.is_multiple_of(3) || at % 10 > 7;
                Point {
                    database: "shop".to_owned(),
                    confidence,
                    printed: confidence,
                    left: 1.0,
                    right,
                }
            })
            .collect()
    }

    #[test]
    fn every_curve_keeps_the_order_and_the_range() {
        for method in Method::ALL {
            let curve = Curve::fit(method, &points());
            let values: Vec<f64> =
                (0..=1_000).map(|at| curve.apply(f64::from(at) / 1_000.0)).collect();
            assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{method:?}");
            assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{method:?}");
            assert!((0.0..=1.0).contains(&curve.apply(f64::NAN)));
        }
    }

    #[test]
    fn without_a_curve_nothing_changes() {
        assert_eq!(Curve::fit(Method::None, &points()).apply(0.37), 0.37);
    }
}
