//! Measures of ranking: how well confidences put right answers above wrong ones.

use serde::{Deserialize, Serialize};

/// The chance that a right answer has a higher confidence than a wrong one, ties counted half: the
/// area under the ROC curve. `None` unless there are both right and wrong answers.
///
/// By ranks: J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver
/// operating characteristic (ROC) curve", Radiology 143 (1982), 29–36.
#[must_use]
pub fn auroc(scored: &[(f64, bool)]) -> Option<f64> {
    let right = scored.iter().filter(|(_, right)| *right).count() as f64;
    let wrong = scored.len() as f64 - right;
    if right == 0.0 || wrong == 0.0 {
        return None;
    }
    let mut below = 0.0;
    let mut pairs = 0.0;
    for tie in surest_first(scored).chunk_by(|one, other| one.0 == other.0).rev() {
        let right = tie.iter().filter(|(_, right)| *right).count() as f64;
        let wrong = tie.len() as f64 - right;
        pairs += right * (below + wrong / 2.0);
        below += wrong;
    }
    Some(pairs / (right * wrong))
}

/// The risk when only answers from a threshold upwards are given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiskPoint {
    /// The share of questions that are answered then.
    pub coverage: f64,
    /// The share of wrong answers among these.
    pub risk: f64,
    /// The least confidence that is still answered with.
    pub threshold: f64,
}

/// The risk–coverage curve, from the surest answers to all; answers of the same confidence enter
/// together.
///
/// R. El-Yaniv and Y. Wiener, "On the foundations of noise-free selective classification", JMLR 11
/// (2010), 1605–1641.
#[must_use]
pub fn risk_coverage(scored: &[(f64, bool)]) -> Vec<RiskPoint> {
    let mut answered = 0_usize;
    let mut wrong = 0_usize;
    surest_first(scored)
        .chunk_by(|one, other| one.0 == other.0)
        .map(|tie: &[(f64, bool)]| {
            answered += tie.len();
            wrong += tie.iter().filter(|(_, right)| !right).count();
            RiskPoint {
                coverage: answered as f64 / scored.len() as f64,
                risk: wrong as f64 / answered as f64,
                threshold: tie[0].0,
            }
        })
        .collect()
}

fn surest_first(scored: &[(f64, bool)]) -> Vec<(f64, bool)> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|one, other| other.0.total_cmp(&one.0));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfect_reversed_and_useless_rankings() {
        assert_eq!(auroc(&[(0.9, true), (0.8, true), (0.2, false)]), Some(1.0));
        assert_eq!(auroc(&[(0.1, true), (0.8, false)]), Some(0.0));
        assert_eq!(auroc(&[(0.5, true), (0.5, false), (0.5, false)]), Some(0.5));
        assert_eq!(auroc(&[(0.9, true)]), None);
        assert_eq!(auroc(&[]), None);
    }

    #[test]
    fn risk_grows_as_less_sure_answers_enter() {
        let curve = risk_coverage(&[(0.5, false), (0.9, true), (0.7, true), (0.7, false)]);
        let reported: Vec<(f64, f64, f64)> =
            curve.iter().map(|at| (at.coverage, at.risk, at.threshold)).collect();
        assert_eq!(reported, [(0.25, 0.0, 0.9), (0.75, 1.0 / 3.0, 0.7), (1.0, 0.5, 0.5)]);
        assert_eq!(risk_coverage(&[]), []);
    }

    proptest::proptest! {
        #[test]
        fn it_is_the_share_of_pairs_in_order(
            scored in proptest::collection::vec((0_u8..6, proptest::bool::ANY), 1..40)
        ) {
            let scored: Vec<(f64, bool)> =
                scored.into_iter().map(|(step, right)| (f64::from(step) / 5.0, right)).collect();
            let mut pairs = Vec::new();
            for (above, _) in scored.iter().filter(|(_, right)| *right) {
                for (below, _) in scored.iter().filter(|(_, right)| !right) {
                    pairs.push(
                        if above > below { 1.0 } else if above == below { 0.5 } else { 0.0 }
                    );
                }
            }
            match auroc(&scored) {
                None => proptest::prop_assert!(pairs.is_empty()),
                Some(area) => proptest::prop_assert!(
                    (area - pairs.iter().sum::<f64>() / pairs.len() as f64).abs() < 1e-12
                ),
            }
        }

        #[test]
        fn the_last_point_answers_everything(
            scored in proptest::collection::vec((0.0_f64..=1.0, proptest::bool::ANY), 1..40)
        ) {
            let curve = risk_coverage(&scored);
            let wrong = scored.iter().filter(|(_, right)| !right).count() as f64;
            let last = curve.last().unwrap();
            proptest::prop_assert_eq!(
                (last.coverage, last.risk), (1.0, wrong / scored.len() as f64)
            );
            proptest::prop_assert!(
                curve.windows(2).all(|pair| pair[0].threshold > pair[1].threshold)
            );
        }
    }
}
