//! Checks whether figures are as good as real ones can be. Real systems' mistakes are alike: a
//! question is hard for all samples of it, and two wrong answers are often the same wrong answer,
//! so that votes go wrong too. A model that was simulated without this makes every search look
//! perfect; its figures are recognised here.

use serde::Serialize;

use crate::stats::wilson;

/// The share of pairs of wrong results to the same question that are the same result, among 16
/// recorded systems of different families; it is 0.70 within a family.
pub const SAME_WRONG: f64 = 0.54;
/// The share of questions that at least one of 16 recorded systems answered rightly, over 522 of
/// Spider's questions (0.958 over 919): no way to choose among answers gets beyond it.
pub const SOLVED: f64 = 0.975;
/// The share of right ones among the results that so many of 15 recorded systems agreed on, over
/// 919 of Spider's questions; up to 5 of them, 0.38.
pub const RIGHT_BY_AGREEMENT: [f64; 11] =
    [0.38, 0.46, 0.55, 0.68, 0.69, 0.76, 0.73, 0.87, 0.95, 0.94, 0.99];

/// The least number of pairs of wrong results for a finding about them.
const PAIRS: u64 = 30;
/// The least number of questions for a finding about majorities.
const QUESTIONS: u64 = 30;
/// The tolerance on the share of right majorities, above that of the recorded systems.
const MARGIN: f64 = 0.05;
/// Results of a question below which there is no majority.
const VOTERS: usize = 3;

/// One result among several to the same question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampled<'a> {
    /// The result's fingerprint; `None` if there is none, since the statement failed.
    pub result: Option<&'a str>,
    /// True if it was graded right.
    pub is_right: bool,
}

/// Measures of whether figures are too good to be real.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Plausibility {
    /// Pairs of wrong results to the same question.
    pub wrong_pairs: u64,
    /// The share of them that are the same result; `None` if there is no pair.
    pub same_wrong: Option<f64>,
    /// Questions with at least three results.
    pub voted: u64,
    /// The share of questions whose most frequent result is right.
    pub majority_right: Option<f64>,
    /// The share that would be expected if it were as for the recorded systems with as much
    /// agreement.
    pub majority_expected: Option<f64>,
    /// The reasons why the figures are too good to be those of a real system, a sentence each.
    /// Empty if they are plausible.
    pub too_good: Vec<String>,
}

/// Measures several results for each question: those of several arms, seeds or samples. They must
/// be independent: two arms that share a cache give the same sample twice.
#[must_use]
pub fn plausible<'a>(questions: impl IntoIterator<Item = &'a [Sampled<'a>]>) -> Plausibility {
    let mut tally = Tally::default();
    questions.into_iter().for_each(|results| tally.add(results));
    tally.end()
}

/// The reason why a share of right answers is more than anybody could reach by choosing among
/// recorded answers; `None` if it is not.
#[must_use]
pub fn beyond_reach(right: u64, of: u64) -> Option<String> {
    let low = wilson(right, of).low;
    (of > 0 && low > SOLVED).then(|| {
        format!(
            "{right} of {of} answers are right (at least {:.1} %), where one of 16 recorded \
             systems or more was right for {:.1} %",
            low * 100.0,
            SOLVED * 100.0
        )
    })
}

/// The share that is expected of a result that so large a part of the results agrees on, between
/// the measured points by straight lines.
fn interpolate_share(part: f64) -> f64 {
    let place = (part.clamp(0.0, 1.0) * 15.0 - 5.0).max(0.0);
    let below = place.floor();
    fn right_share_at(index: f64) -> f64 {
        RIGHT_BY_AGREEMENT[(index as usize).min(RIGHT_BY_AGREEMENT.len() - 1)]
    }
    right_share_at(below) + (right_share_at(below + 1.0) - right_share_at(below)) * (place - below)
}

#[derive(Default)]
struct Tally {
    pairs: u64,
    same: u64,
    voted: u64,
    right: u64,
    expected: f64,
}

impl Tally {
    fn add(&mut self, results: &[Sampled<'_>]) {
        let mut groups: Vec<(&str, bool, u64)> = Vec::new();
        for one in results {
            let Some(result) = one.result else { continue };
            match groups
                .iter_mut()
                .find(|(known, is_right, _)| *known == result && *is_right == one.is_right)
            {
                Some((.., count)) => *count += 1,
                None => groups.push((result, one.is_right, 1)),
            }
        }
        let wrong = groups.iter().filter(|(_, is_right, _)| !is_right).map(|(.., count)| *count);
        let all: u64 = wrong.clone().sum();
        self.pairs += all * all.saturating_sub(1) / 2;
        self.same += wrong.map(|count| count * (count - 1) / 2).sum::<u64>();
        if results.len() < VOTERS {
            return;
        }
        // Of equally large groups the one that came first wins.
        let largest = groups.iter().rev().max_by_key(|(.., count)| *count);
        if let Some((_, is_right, count)) = largest {
            self.voted += 1;
            self.right += u64::from(*is_right);
            self.expected += interpolate_share(*count as f64 / results.len() as f64);
        }
    }

    fn end(self) -> Plausibility {
        fn share(part: f64, of: u64) -> Option<f64> {
            (of > 0).then(|| part / of as f64)
        }
        let mut found = Plausibility {
            wrong_pairs: self.pairs,
            same_wrong: share(self.same as f64, self.pairs),
            voted: self.voted,
            majority_right: share(self.right as f64, self.voted),
            majority_expected: share(self.expected, self.voted),
            too_good: Vec::new(),
        };
        found.too_good =
            found.unlike_mistakes().into_iter().chain(found.right_majorities(self.right)).collect();
        found
    }
}

impl Plausibility {
    /// That wrong answers are too seldom the same.
    fn unlike_mistakes(&self) -> Option<String> {
        let same =
            self.same_wrong.filter(|same| self.wrong_pairs >= PAIRS && *same < SAME_WRONG / 2.0)?;
        Some(format!(
            "of {} pairs of wrong answers to one question {:.0} % are the same, and {:.0} % for \
             recorded systems",
            self.wrong_pairs,
            same * 100.0,
            SAME_WRONG * 100.0
        ))
    }

    /// That majorities, of which so many are right, are right too often.
    fn right_majorities(&self, right: u64) -> Option<String> {
        let (share, expected) = self.majority_right.zip(self.majority_expected)?;
        let low = wilson(right, self.voted).low;
        (self.voted >= QUESTIONS && low > expected + MARGIN).then(|| {
            format!(
                "what most results agree on is right for {:.1} % of {} questions (at least {:.1} \
                 %), and for {:.1} % of them where recorded systems agreed as much",
                share * 100.0,
                self.voted,
                low * 100.0,
                expected * 100.0
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_pcg::Pcg64;
    use syrch_kit::recorded::{Execution, questions};

    use super::*;

    type Owned = Vec<Vec<(Option<String>, bool)>>;

    fn measure(owned: &Owned) -> Plausibility {
        let groups: Vec<Vec<Sampled<'_>>> = owned
            .iter()
            .map(|group| {
                group
                    .iter()
                    .map(|(result, is_right)| Sampled {
                        result: result.as_deref(),
                        is_right: *is_right,
                    })
                    .collect()
            })
            .collect();
        plausible(groups.iter().map(Vec::as_slice))
    }

    /// Returns the results of `samples` of the recorded systems, in the order of a seed, for each
    /// question.
    fn read_recordings(samples: usize, seed: u64) -> Option<Owned> {
        let data = syrch_kit::data_root()?;
        fn result(came: &Execution) -> Option<String> {
            match came {
                Execution::Failed => None,
                Execution::Empty => Some("empty".to_owned()),
                Execution::Rows(rows) => Some(syrch_core::text::hex(rows)),
            }
        }
        Some(
            questions(&data.join("spider"))
                .iter()
                .map(|question: &syrch_kit::recorded::Question| {
                    question
                        .order(seed)
                        .into_iter()
                        .take(samples)
                        .map(|answer| (result(&answer.outcome), answer.is_right))
                        .collect()
                })
                .collect(),
        )
    }

    /// Independent samples, no two wrong answers alike.
    fn naive(samples: u32, rng: &mut impl Rng) -> Owned {
        let mut one = |at: u32| {
            if rng.random_bool(0.82) {
                (Some("right".to_owned()), true)
            } else {
                (Some(at.to_string()), false)
            }
        };
        (0..522).map(|_| (0..samples).map(&mut one).collect()).collect()
    }

    #[test]
    fn recorded_systems_are_plausible() {
        for (samples, seed) in [(16, 0), (5, 0), (5, 1), (3, 2)] {
            let Some(owned) = read_recordings(samples, seed) else { return };
            let found = measure(&owned);
            println!("{samples} recorded: {found:?}");
            assert_eq!(found.too_good, Vec::<String>::new());
            assert!((0.5..0.75).contains(&found.same_wrong.unwrap()));
        }
    }

    #[test]
    fn independent_samples_are_too_good() {
        let mut rng = Pcg64::seed_from_u64(1);
        for samples in [3, 5, 16] {
            let found = measure(&naive(samples, &mut rng));
            println!("{samples} naive: {found:?}");
            assert_eq!(found.too_good.len(), 2, "{found:?}");
            assert_eq!(found.same_wrong, Some(0.0));
            // The sentences contain the figures.
            let pairs = format!(
                "of {} pairs of wrong answers to one question 0 % are the same",
                found.wrong_pairs
            );
            let majorities = format!(
                "is right for {:.1} % of {} questions",
                found.majority_right.unwrap() * 100.0,
                found.voted
            );
            assert!(found.too_good[0].starts_with(&pairs), "{found:?}");
            assert!(found.too_good[1].contains(&majorities), "{found:?}");
        }
    }

    #[test]
    fn few_results_are_no_finding() {
        assert_eq!(plausible(std::iter::empty()), Plausibility::default());
        let right = Sampled { result: Some("a"), is_right: true };
        let wrong = |result| Sampled { result, is_right: false };
        let found = plausible([
            [right, wrong(Some("b")), wrong(None)].as_slice(),
            [wrong(Some("b")), wrong(Some("b"))].as_slice(),
        ]);
        assert_eq!((found.wrong_pairs, found.same_wrong, found.voted), (1, Some(1.0), 1));
        assert_eq!((found.majority_right, found.too_good.len()), (Some(1.0), 0));
        assert_eq!(beyond_reach(5, 5), None);
        assert_eq!(beyond_reach(0, 0), None);
    }

    #[test]
    fn more_right_answers_than_anybody_could_choose_are_too_good() {
        // The naive model's vote of five over 522 questions, and the best result of votes over
        // recorded answers.
        assert!(beyond_reach(520, 522).unwrap().contains("520 of 522"));
        assert_eq!((beyond_reach(475, 522), beyond_reach(509, 522)), (None, None));
    }

    #[test]
    fn agreement_lies_between_the_measured_points() {
        for (part, right) in
            [(0.0, 0.38), (5.0 / 15.0, 0.38), (0.4, 0.46), (1.0, 0.99), (12.5 / 15.0, 0.91)]
        {
            assert!(
                (interpolate_share(part) - right).abs() < 1e-9,
                "{part}: {}",
                interpolate_share(part)
            );
        }
    }
}
