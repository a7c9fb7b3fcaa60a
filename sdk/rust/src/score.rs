//! The ambiguity score of the default strategy, which the clarifier asks by and the aggregator
//! discounts by.

use crate::bindings::types::{Ending, Observation};
use crate::text::clamp01;

/// The weights of the score's four parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AmbiguityWeights {
    /// The weight of the distance between the best confidence and certainty.
    pub doubt: f64,
    /// The weight of the population variance of the confidences, if there are at least two.
    pub variance: f64,
    /// The weight of an error, which counts 0.5.
    pub error: f64,
    /// The weight of an empty result without an error, which counts 0.3.
    pub empty: f64,
}

impl Default for AmbiguityWeights {
    fn default() -> Self {
        Self { doubt: 0.35, variance: 0.15, error: 0.30, empty: 0.20 }
    }
}

/// Returns how ambiguous a task is after its attempts, 0 to 1; 1 if nothing was found at all.
#[must_use]
pub fn ambiguity(weights: &AmbiguityWeights, confidences: &[f64], error: bool, empty: bool) -> f64 {
    if confidences.is_empty() {
        return 1.0;
    }
    let best = confidences.iter().copied().map(clamp01).fold(0.0, f64::max);
    let mut score = weights.doubt * (1.0 - best);
    if confidences.len() >= 2 {
        score += weights.variance * population_variance(confidences).min(1.0);
    }
    if error {
        score += weights.error * 0.5;
    } else if empty {
        score += weights.empty * 0.3;
    }
    clamp01(score)
}

/// The score of an observed task. `None` if it never ran because of another one, or was cancelled:
/// then it is not unclear itself.
#[must_use]
pub fn ambiguity_of(weights: &AmbiguityWeights, seen: &Observation) -> Option<f64> {
    let confidences: Vec<f64> =
        seen.candidates.iter().map(|candidate| candidate.sureness()).collect();
    match &seen.ending {
        Ending::Solved | Ending::Other(_) => {
            Some(ambiguity(weights, &confidences, false, is_empty(seen)))
        }
        Ending::Empty => Some(ambiguity(weights, &confidences, false, true)),
        Ending::Failed(_) => Some(ambiguity(weights, &confidences, true, false)),
        Ending::Skipped(_) | Ending::Cancelled => None,
    }
}

/// Returns true if a task ended with a result that has no rows.
#[must_use]
pub fn is_empty(seen: &Observation) -> bool {
    matches!(seen.ending, Ending::Empty)
        || seen.profile.as_ref().is_some_and(|profile| profile.rows == 0)
}

fn population_variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().copied().map(clamp01).sum::<f64>() / count;
    values.iter().copied().map(|value| (clamp01(value) - mean).powi(2)).sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(confidences: &[f64], error: bool, empty: bool) -> f64 {
        (ambiguity(&AmbiguityWeights::default(), confidences, error, empty) * 1e6).round() / 1e6
    }

    #[test]
    fn follows_the_formula_of_syrch_0_1_2() {
        assert_eq!(score(&[], false, false), 1.0);
        assert_eq!(score(&[0.9], false, false), 0.035);
        assert_eq!(score(&[0.0], true, false), 0.5);
        assert_eq!(score(&[0.5], false, true), 0.235);
        // An error outweighs an empty result; they never add up.
        assert_eq!(score(&[0.5], true, true), 0.325);
        // Two paths: 0.35 × 0.2 + 0.15 × 0.09.
        assert_eq!(score(&[0.2, 0.8], false, false), 0.0835);
    }

    #[test]
    fn nonsense_counts_as_no_confidence() {
        assert_eq!(score(&[f64::NAN], false, false), 0.35);
    }
}
