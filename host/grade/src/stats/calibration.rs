//! Measures of the distance between confidences and shares of right answers.

use serde::{Deserialize, Serialize};

use super::{Interval, wilson};

/// Nearer to 0 or 1 no confidence counts in [`log_loss`]: one that was sure and wrong must not
/// outweigh all others.
const SUREST: f64 = 1e-6;

/// The answers of one range of confidences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The least confidence of the bin, 0 to 1.
    pub low: f64,
    /// The upper end of the bin, where the next one begins; the last one holds 1 too.
    pub high: f64,
    /// Answers in it, never none.
    pub answers: u64,
    /// The number of them that are right.
    pub right: u64,
    /// The mean of their confidences.
    pub mean_confidence: f64,
    /// Wilson's interval of the share of right ones.
    pub interval: Interval,
}

impl Bin {
    /// The share of right answers.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.answers as f64
    }
}

/// The points of a reliability diagram: `bins` ranges of equal width from 0 to 1, those without an
/// answer left out.
///
/// A. Niculescu-Mizil and R. Caruana, "Predicting good probabilities with supervised learning",
/// ICML 2005.
#[must_use]
pub fn reliability(scored: &[(f64, bool)], bins: u32) -> Vec<Bin> {
    let bins = bins.max(1);
    let mut found: Vec<(u64, u64, f64)> = vec![(0, 0, 0.0); bins as usize];
    for (confidence, right) in scored {
        let confidence = unit(*confidence);
        let at = ((confidence * f64::from(bins)) as usize).min(found.len() - 1);
        found[at].0 += 1;
        found[at].1 += u64::from(*right);
        found[at].2 += confidence;
    }
    let edge = |at: usize| at as f64 / f64::from(bins);
    found
        .into_iter()
        .enumerate()
        .filter(|(_, (answers, ..))| *answers > 0)
        .map(|(at, (answers, right, sum)): (usize, (u64, u64, f64))| {
            let mean_confidence = sum / answers as f64;
            Bin {
                low: edge(at),
                high: edge(at + 1),
                answers,
                right,
                mean_confidence,
                interval: wilson(right, answers),
            }
        })
        .collect()
}

/// By how much confidence and accuracy differ, on average over the answers: the expected
/// calibration error; 0 without bins.
///
/// M. Pakdaman Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated probabilities
/// using Bayesian binning", AAAI 2015.
#[must_use]
pub fn expected_calibration_error(bins: &[Bin]) -> f64 {
    let answers: u64 = bins.iter().map(|bin| bin.answers).sum();
    if answers == 0 {
        0.0
    } else {
        bins.iter()
            .map(|bin: &Bin| bin.answers as f64 * (bin.accuracy() - bin.mean_confidence).abs())
            .sum::<f64>()
            / answers as f64
    }
}

/// The mean squared distance of confidences from what came true, 0 to 1, the lower the better;
/// `None` if there are no answers.
///
/// G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather
/// Review 78 (1950), 1–3.
#[must_use]
pub fn brier(scored: &[(f64, bool)]) -> Option<f64> {
    mean(scored, |confidence, right| (confidence - f64::from(u8::from(right))).powi(2))
}

/// The mean negative logarithm of the probability that was given to what came true, the lower the
/// better, with confidences clamped a millionth away from 0 and 1; `None` if there are no answers.
///
/// I. J. Good, "Rational decisions", Journal of the Royal Statistical Society B 14 (1952), 107–114.
#[must_use]
pub fn log_loss(scored: &[(f64, bool)]) -> Option<f64> {
    mean(scored, |confidence, right| {
        let confidence = confidence.clamp(SUREST, 1.0 - SUREST);
        if right { -confidence.ln() } else { -(-confidence).ln_1p() }
    })
}

fn mean(scored: &[(f64, bool)], loss: impl Fn(f64, bool) -> f64) -> Option<f64> {
    let sum: f64 = scored.iter().map(|(confidence, right)| loss(unit(*confidence), *right)).sum();
    (!scored.is_empty()).then(|| sum / scored.len() as f64)
}

fn unit(confidence: f64) -> f64 {
    if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_their_lower_edge_and_the_last_one_both() {
        let bins = reliability(&[(0.0, false), (0.1, true), (0.95, true), (1.0, false)], 10);
        let reported: Vec<(f64, f64, u64, u64)> =
            bins.iter().map(|bin| (bin.low, bin.high, bin.answers, bin.right)).collect();
        assert_eq!(reported, [(0.0, 0.1, 1, 0), (0.1, 0.2, 1, 1), (0.9, 1.0, 2, 1)]);
        assert_eq!(bins[2].mean_confidence, 0.975);
        assert_eq!(bins[2].interval, wilson(1, 2));
        assert_eq!(reliability(&[], 10), []);
        assert_eq!(reliability(&[(0.3, true)], 0).len(), 1);
    }

    #[test]
    fn the_calibration_error_is_the_mean_gap() {
        let scored = [(0.8, true), (0.8, true), (0.8, false), (0.8, false), (0.25, false)];
        let error = expected_calibration_error(&reliability(&scored, 10));
        assert!((error - (4.0 * 0.3 + 0.25) / 5.0).abs() < 1e-12);
        assert_eq!(expected_calibration_error(&[]), 0.0);
    }

    #[test]
    fn brier_and_log_loss_by_hand() {
        assert_eq!(brier(&[(1.0, true), (0.5, false)]), Some(0.125));
        assert_eq!(brier(&[]), None);
        assert_eq!(brier(&[(f64::NAN, true)]), Some(1.0));
        let half = log_loss(&[(0.5, true), (0.5, false)]).unwrap();
        assert!((half - 2.0_f64.ln()).abs() < 1e-12);
        let sure_and_wrong = log_loss(&[(1.0, false)]).unwrap();
        assert!((sure_and_wrong - 1e6_f64.ln()).abs() < 1e-6);
        assert_eq!(log_loss(&[]), None);
    }

    proptest::proptest! {
        #[test]
        fn every_answer_is_in_one_bin(
            scored in proptest::collection::vec((0.0_f64..=1.0, proptest::bool::ANY), 0..60),
            bins in 1_u32..25
        ) {
            let found = reliability(&scored, bins);
            proptest::prop_assert_eq!(
                found.iter().map(|bin| bin.answers).sum::<u64>(), scored.len() as u64
            );
            for bin in &found {
                let held = scored.iter().filter(
                    |(confidence, _)| bin.low <= *confidence && (
                        *confidence < bin.high || bin.high == 1.0
                    )
                );
                // An edge that is no exact double may fall to its neighbour.
                proptest::prop_assert!(held.count().abs_diff(bin.answers as usize) <= 1);
                proptest::prop_assert!(
                    bin.mean_confidence >= bin.low - 1e-9 && bin.mean_confidence <= bin.high + 1e-9
                );
            }
        }
    }
}
