//! Isotonic regression: the best curve that never falls.

use serde::{Deserialize, Serialize};

use super::Point;

/// A curve through points, straight between them and level beyond the first and the last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Isotonic {
    /// The confidences of its corners, ascending.
    pub thresholds: Vec<f64>,
    /// The curve's values there, never falling; as many.
    pub values: Vec<f64>,
}

/// The curve that never falls and is nearest to what came true, by pool adjacent violators.
///
/// M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid and E. Silverman, "An empirical distribution
/// function for sampling with incomplete information", Annals of Mathematical Statistics 26 (1955),
/// 641–647; for probabilities B. Zadrozny and C. Elkan, "Transforming classifier scores into
/// accurate multiclass probability estimates", KDD 2002. Answers of the same confidence are one
/// point with their mean, corners inside a level stretch are left out, and confidences beyond the
/// ends count as the ends: as scikit-learn's `IsotonicRegression(out_of_bounds="clip")` does. A
/// step whose answers are all right or all wrong does not promise 1 or 0, but by Laplace's rule of
/// succession (n + 1)/(n + 2) or 1/(n + 2) of its n answers (P.-S. Laplace, "Essai philosophique
/// sur les probabilités", 1814).
#[must_use]
pub fn isotonic(points: &[Point]) -> Isotonic {
    let at = distinct(points);
    let values = pool_ties(&at);
    fn is_corner(values: &[f64], place: usize) -> bool {
        place == 0
            || place + 1 == values.len()
            || values[place] != values[place - 1]
            || values[place] != values[place + 1]
    }
    let corners: Vec<usize> = (0..at.len()).filter(|place| is_corner(&values, *place)).collect();
    Isotonic {
        thresholds: corners.iter().map(|place| at[*place].confidence).collect(),
        values: corners.iter().map(|place| values[*place]).collect(),
    }
}

/// The answers of one confidence.
struct Tie {
    confidence: f64,
    right: f64,
    answers: f64,
}

fn distinct(points: &[Point]) -> Vec<Tie> {
    let mut sorted: Vec<(f64, bool)> =
        points.iter().map(|point| (point.confidence, point.right)).collect();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    sorted
        .chunk_by(|one, other| one.0 == other.0)
        .map(|same: &[(f64, bool)]| Tie {
            confidence: same[0].0,
            right: same.iter().filter(|(_, right)| *right).count() as f64,
            answers: same.len() as f64,
        })
        .collect()
}

/// The value of each tie: neighbours that fall are merged until none does.
fn pool_ties(at: &[Tie]) -> Vec<f64> {
    struct Block {
        right: f64,
        answers: f64,
        ties: usize,
    }
    let mut blocks: Vec<Block> = Vec::new();
    for tie in at {
        let mut block = Block { right: tie.right, answers: tie.answers, ties: 1 };
        // Counts are whole numbers: products compare shares exactly.
        while let Some(before) =
            blocks.pop_if(|before| before.right * block.answers >= block.right * before.answers)
        {
            block.right += before.right;
            block.answers += before.answers;
            block.ties += before.ties;
        }
        blocks.push(block);
    }
    let mut values: Vec<f64> =
        blocks.iter().map(|block| clamp_share(block.right, block.answers)).collect();
    // Shares rise from step to step, so that only the outer ones are all wrong or all right: few
    // answers must not take them over the next.
    if let ([wrong, ..], [first, next, ..]) = (blocks.as_slice(), values.as_mut_slice())
        && wrong.right == 0.0
    {
        *first = first.min(*next);
    }
    if let ([.., right], [.., before, last]) = (blocks.as_slice(), values.as_mut_slice())
        && right.right == right.answers
    {
        *last = last.max(*before);
    }
    blocks
        .iter()
        .zip(values)
        .flat_map(|(block, value)| std::iter::repeat_n(value, block.ties))
        .collect()
}

/// The share of right answers, as near to 0 and 1 as so many answers can show it.
fn clamp_share(right: f64, answers: f64) -> f64 {
    (right / answers).clamp(1.0 / (answers + 2.0), (answers + 1.0) / (answers + 2.0))
}

impl Isotonic {
    /// The curve's value at a confidence; the confidence itself on a curve without points.
    #[must_use]
    pub fn apply(&self, confidence: f64) -> f64 {
        let above = self.thresholds.partition_point(|threshold| *threshold <= confidence);
        let corner = |place: usize| Some((*self.thresholds.get(place)?, *self.values.get(place)?));
        match (above.checked_sub(1).and_then(corner), corner(above)) {
            (None, None) => confidence,
            (Some((_, value)), None) | (None, Some((_, value))) => value,
            (Some((from, low)), Some((to, high))) => {
                low + (high - low) * (confidence - from) / (to - from)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(f64, bool)]) -> Vec<Point> {
        all.iter()
            .map(|(confidence, right): &(f64, bool)| Point {
                database: "shop".to_owned(),
                confidence: *confidence,
                printed: *confidence,
                left: 1.0,
                right: *right,
            })
            .collect()
    }

    #[test]
    fn violators_are_pooled_and_the_rest_kept() {
        let curve =
            isotonic(&points(&[(0.2, false), (0.4, true), (0.6, false), (0.8, true), (0.9, true)]));
        assert_eq!(curve.thresholds, [0.2, 0.4, 0.6, 0.8, 0.9]);
        assert_eq!(curve.values, [1.0 / 3.0, 0.5, 0.5, 0.75, 0.75]);
        assert!((curve.apply(0.3) - 5.0 / 12.0).abs() < 1e-12);
        assert_eq!((curve.apply(0.0), curve.apply(1.0)), (1.0 / 3.0, 0.75));
    }

    #[test]
    fn few_answers_promise_neither_0_nor_1() {
        // One wrong answer is less evidence than the twenty above it, of which one is right: it is
        // no reason to be surer.
        let twenty = (0..20).map(|at| (0.5, at == 0));
        let curve =
            isotonic(&points(&[(0.2, false)].into_iter().chain(twenty).collect::<Vec<_>>()));
        assert_eq!(curve, Isotonic { thresholds: vec![0.2, 0.5], values: vec![0.05, 0.05] });
        let sure: Vec<(f64, bool)> = (0..18).map(|at| (0.9, at < 18)).collect();
        assert_eq!(isotonic(&points(&sure)).apply(1.0), 0.95);
    }

    #[test]
    fn one_confidence_is_a_level_and_none_changes_nothing() {
        let curve = isotonic(&points(&[(0.7, true), (0.7, true), (0.7, false), (0.7, false)]));
        assert_eq!((curve.apply(0.1), curve.apply(0.7), curve.apply(0.9)), (0.5, 0.5, 0.5));
        assert_eq!(isotonic(&[]).apply(0.4), 0.4);
    }

    #[test]
    fn confidences_that_mislead_give_a_level() {
        let curve = isotonic(&points(&[(0.1, true), (0.5, true), (0.6, false), (0.9, false)]));
        assert_eq!(curve, Isotonic { thresholds: vec![0.1, 0.9], values: vec![0.5, 0.5] });
    }

    #[test]
    fn a_step_of_few_answers_does_not_move_its_neighbour() {
        // Seven of eight are right, and the one above them is.
        let all =
            [(0.0, true); 7].into_iter().chain([(0.4, false), (1.0, true)]).collect::<Vec<_>>();
        let curve = isotonic(&points(&all));
        assert_eq!([0.0, 0.4, 1.0].map(|confidence| curve.apply(confidence)), [0.875; 3]);
        // One of eight is right, and the one below them is not.
        let all =
            [(0.6, true), (0.0, false)].into_iter().chain([(1.0, false); 7]).collect::<Vec<_>>();
        let curve = isotonic(&points(&all));
        assert_eq!([0.0, 0.6, 1.0].map(|confidence| curve.apply(confidence)), [0.125; 3]);
    }

    proptest::proptest! {
        #[test]
        fn it_never_falls_and_keeps_the_mean_within_its_bounds(
            all in proptest::collection::vec((0_u8..12, proptest::bool::ANY), 1..80)
        ) {
            let all: Vec<(f64, bool)> =
                all.into_iter().map(|(step, right)| (f64::from(step) / 11.0, right)).collect();
            let curve = isotonic(&points(&all));
            proptest::prop_assert!(curve.values.is_sorted() && curve.thresholds.is_sorted());
            let mean = all
                .iter()
                .map(|(confidence, _)| curve.apply(*confidence)).sum::<f64>() / all
                .len() as f64;
            let share = all.iter().filter(|(_, right)| *right).count() as f64 / all.len() as f64;
            // Of n answers that are all right, or all wrong, n/(n + 2) are given away: less than
            // one.
            proptest::prop_assert!((mean - share).abs() < 2.0 / all.len() as f64);
            proptest::prop_assert!(curve.values.iter().all(|value| *value > 0.0 && *value < 1.0));
            if curve.values.iter().all(|value| (0.34..0.66).contains(value)) {
                proptest::prop_assert!((mean - share).abs() < 1e-12);
            }
        }
    }
}
