//! Logistic calibration: two parameters, for when answers are few.

use serde::{Deserialize, Serialize};

use super::Point;

/// Nearer to 0 or 1 no confidence counts: its logit would outweigh all others.
const SUREST: f64 = 1e-3;
/// Newton's steps at most; ten are usual.
const STEPS: u32 = 100;

/// σ(`slope` · logit(confidence) + `intercept`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Logistic {
    /// At least 0, so that the ranking stays. Under 1 claims are too far apart, over 1 too close
    /// together.
    pub slope: f64,
    /// Under 0 claims are too high, over 0 too low.
    pub intercept: f64,
}

/// The most likely curve, on the logit of the confidence.
///
/// J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
/// likelihood methods" (1999), with his targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) in place of 1 and
/// 0; Newton's method with halved steps after H.-T. Lin, C.-J. Lin and R. C. Weng, "A note on
/// Platt's probabilistic outputs for support vector machines", Machine Learning 68 (2007).
/// Confidences are clamped 0.001 away from 0 and 1. Where more confident answers are less often
/// right the slope is 0: such confidences carry no information.
#[must_use]
pub fn logistic(points: &[Point]) -> Logistic {
    let right = points.iter().filter(|point| point.right).count() as f64;
    let wrong = points.len() as f64 - right;
    let high = (right + 1.0) / (right + 2.0);
    let low = 1.0 / (wrong + 2.0);
    let sample = |point: &Point| Sample {
        x: logit(point.confidence),
        target: if point.right { high } else { low },
    };
    let samples: Vec<Sample> = points.iter().map(sample).collect();
    let found = newton(&samples);
    if found.slope > 0.0 || samples.is_empty() {
        return found;
    }
    // The likelihood has one summit: where the slope may not be negative, the best is at its edge.
    let mean = samples.iter().map(|sample| sample.target).sum::<f64>() / samples.len() as f64;
    Logistic { slope: 0.0, intercept: (mean / (1.0 - mean)).ln() }
}

struct Sample {
    x: f64,
    target: f64,
}

fn logit(confidence: f64) -> f64 {
    let confidence =
        if confidence.is_nan() { SUREST } else { confidence.clamp(SUREST, 1.0 - SUREST) };
    (confidence / (1.0 - confidence)).ln()
}

fn newton(samples: &[Sample]) -> Logistic {
    let mut at = Logistic { slope: 1.0, intercept: 0.0 };
    let mut loss = at.loss(samples);
    for _ in 0..STEPS {
        let (down, steepness) = at.step(samples);
        if steepness <= 1e-12 * samples.len() as f64 {
            break;
        }
        let mut share = 1.0;
        let better = loop {
            let next = Logistic {
                slope: at.slope + share * down.slope,
                intercept: at.intercept + share * down.intercept,
            };
            let there = next.loss(samples);
            if there < loss {
                break Some((next, there));
            }
            share /= 2.0;
            if share < 1e-10 {
                break None;
            }
        };
        let Some((next, there)) = better else { break };
        (at, loss) = (next, there);
    }
    at
}

impl Logistic {
    /// The curve's value at a confidence.
    #[must_use]
    pub fn apply(&self, confidence: f64) -> f64 {
        1.0 / (1.0 + (-self.at(logit(confidence))).exp())
    }

    fn at(&self, x: f64) -> f64 {
        self.slope * x + self.intercept
    }

    /// The negative logarithm of the likelihood, written so that nothing overflows.
    fn loss(&self, samples: &[Sample]) -> f64 {
        samples
            .iter()
            .map(|sample: &Sample| {
                let z = self.at(sample.x);
                let softplus = z.max(0.0) + (-z.abs()).exp().ln_1p();
                softplus - sample.target * z
            })
            .sum()
    }

    /// Newton's step from here, and how steep it is here: the gradient's length, in answers.
    fn step(&self, samples: &[Sample]) -> (Self, f64) {
        // A grain on the diagonal, for confidences that are all the same.
        let mut aa = 1e-12;
        let mut ab = 0.0;
        let mut bb = 1e-12;
        let mut a = 0.0;
        let mut b = 0.0;
        for sample in samples {
            let p = 1.0 / (1.0 + (-self.at(sample.x)).exp());
            let weight = p * (1.0 - p);
            let error = p - sample.target;
            aa += sample.x * sample.x * weight;
            ab += sample.x * weight;
            bb += weight;
            a += sample.x * error;
            b += error;
        }
        let determinant = aa * bb - ab * ab;
        let step = Self {
            slope: -(bb * a - ab * b) / determinant,
            intercept: -(aa * b - ab * a) / determinant,
        };
        (step, a.hypot(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: impl IntoIterator<Item = (f64, bool)>) -> Vec<Point> {
        all.into_iter()
            .map(|(confidence, right)| Point {
                database: "shop".to_owned(),
                confidence,
                printed: confidence,
                left: 1.0,
                right,
            })
            .collect()
    }

    #[test]
    fn overconfidence_is_taken_back() {
        // 60 % right where 0.9 is claimed, 30 % where 0.5 is.
        let all =
            (0..200).map(|at| if at % 2 == 0 { (0.9, at % 10 < 6) } else { (0.5, at % 20 < 6) });
        let curve = logistic(&points(all));
        assert!((curve.apply(0.9) - 0.6).abs() < 0.02, "{}", curve.apply(0.9));
        assert!((curve.apply(0.5) - 0.3).abs() < 0.02, "{}", curve.apply(0.5));
        assert!(curve.apply(0.0) < curve.apply(0.2) && curve.apply(0.99) < curve.apply(1.0));
    }

    #[test]
    fn one_confidence_gives_the_share() {
        let curve = logistic(&points((0..100).map(|at| (0.9, at % 4 > 0))));
        assert!((curve.apply(0.9) - 0.745).abs() < 0.02, "{}", curve.apply(0.9));
    }

    #[test]
    fn misleading_confidences_give_a_level() {
        let curve = logistic(&points((0..100).map(|at| (f64::from(at) / 100.0, at < 40))));
        assert_eq!(curve.slope, 0.0);
        assert!((curve.apply(0.1) - 0.4).abs() < 0.02);
    }

    #[test]
    fn nonsense_and_nothing_stay_in_range() {
        for all in
            [vec![], vec![(f64::NAN, true)], vec![(1.0, true); 5], vec![(-3.0, false), (7.0, true)]]
        {
            let curve = logistic(&points(all));
            assert!(
                [f64::NAN, 0.0, 0.5, 1.0]
                    .into_iter()
                    .all(|at| (0.0..=1.0).contains(&curve.apply(at))),
                "{curve:?}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn it_is_a_summit_that_never_falls(
            all in proptest::collection::vec((0.0_f64..=1.0, proptest::bool::ANY), 2..60)
        ) {
            let all = points(all);
            let curve = logistic(&all);
            proptest::prop_assert!(curve.slope >= 0.0 && curve.apply(0.2) <= curve.apply(0.7));
            let right = all.iter().filter(|point| point.right).count() as f64;
            let high = (right + 1.0) / (right + 2.0);
            let low = 1.0 / (all.len() as f64 - right + 2.0);
            let samples: Vec<Sample> = all
                .iter()
                .map(|point| {
                    let target = if point.right { high } else { low };
                    Sample { x: logit(point.confidence), target }
                })
                .collect();
            let loss = |slope: f64, intercept: f64| Logistic { slope, intercept }.loss(&samples);
            let here = loss(curve.slope, curve.intercept) - 1e-9;
            for (slope, intercept) in [(0.05, 0.0), (0.0, 0.05), (0.0, -0.05), (0.05, -0.05)] {
                proptest::prop_assert!(
                    here <= loss(curve.slope + slope, curve.intercept + intercept)
                );
            }
        }
    }
}
