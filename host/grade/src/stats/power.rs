//! The power of the exact McNemar test: the differences that a suite can find at all, before or
//! after it is run.

use statrs::distribution::{Binomial, Discrete};

use super::Z_95;
use super::mcnemar::lower_tail;

/// The power that is wanted of a test, for [`minimum_detectable`] and [`questions_needed`].
const WANTED: f64 = 0.8;
/// The test's level, two-sided.
const LEVEL: f64 = 0.05;
/// The most questions that a suite is thought to have, for [`questions_needed`].
const MOST_QUESTIONS: u64 = 100_000;
/// Beyond how many standard deviations (and ten more) a count of flips has no weight: under 1e-15
/// in all.
const REACH: f64 = 9.0;

/// The chance that exact McNemar at two-sided 5 % finds a difference. `discordance`: the share of
/// questions that one arm has right and the other wrong; `difference`: by how much of all questions
/// the arms differ, at most the discordance.
///
/// Exact and unconditional: the number of flips is binomial in the questions, their direction
/// binomial in the flips, and the rejected tails are summed over both (S. W. Duffy, "Asymptotic and
/// exact power for the McNemar test and its analogue with R controls per case", Biometrics 40
/// (1984), 1005–1015). It is the power of the very test that is reported. The normal approximation
/// (R. J. Connor, "Sample size for testing differences in proportions for the paired-sample
/// design", Biometrics 43 (1987), 207–211) promises more with few flips, since the exact test
/// seldom uses its whole 5 %: at 12 % discordance and 5 points it gives 30 % for 100 questions
/// where this gives 21 %, and 71 % for 300 where this gives 66 %.
#[must_use]
pub fn power(questions: u64, discordance: f64, difference: f64) -> f64 {
    Flips::new(questions, discordance).power(difference)
}

/// The smallest difference, as a share of all questions, that exact McNemar at two-sided 5 % finds
/// with 80 % power; `None` if even flips that all go one way would not suffice.
#[must_use]
pub fn minimum_detectable(questions: u64, discordance: f64) -> Option<f64> {
    let flips = Flips::new(questions, discordance);
    let mut low = 0.0;
    let mut high = flips.discordance;
    if flips.power(high) < WANTED {
        return None;
    }
    // Power grows with the difference: halve down to a millionth of a share.
    while high - low > 1e-7 {
        let middle = f64::midpoint(low, high);
        if flips.power(middle) < WANTED { low = middle } else { high = middle }
    }
    Some(high)
}

/// The number of questions with which exact McNemar at two-sided 5 % finds this difference with
/// 80 % power; `None` if 100,000 do not suffice. This is the inverse of [`power`], whose arguments
/// it takes.
#[must_use]
pub fn questions_needed(discordance: f64, difference: f64) -> Option<u64> {
    let mut few = 0;
    let mut enough = 1;
    while power(enough, discordance, difference) < WANTED {
        few = enough;
        enough *= 2;
        if enough > MOST_QUESTIONS {
            return None;
        }
    }
    while enough - few > 1 {
        let middle = u64::midpoint(few, enough);
        if power(middle, discordance, difference) < WANTED {
            few = middle;
        } else {
            enough = middle;
        }
    }
    Some(enough)
}

/// Each likely number of flips, with its chance and the size of the rejected tails.
struct Flips {
    discordance: f64,
    counts: Vec<Count>,
}

struct Count {
    flips: u64,
    chance: f64,
    /// Rejected are at most so many flips in either direction.
    tail: u64,
}

impl Flips {
    fn new(questions: u64, discordance: f64) -> Self {
        let discordance = if discordance.is_nan() { 0.0 } else { discordance.clamp(0.0, 1.0) };
        let mean = questions as f64 * discordance;
        let reach = REACH * (mean * (1.0 - discordance)).sqrt() + 10.0;
        let first = (mean - reach).max(0.0) as u64;
        let last = ((mean + reach).ceil() as u64).min(questions);
        let Ok(binomial) = Binomial::new(discordance, questions) else {
            return Self { discordance, counts: Vec::new() };
        };
        Self {
            discordance,
            counts: (first..=last)
                .filter_map(|flips| {
                    Some(Count {
                        flips,
                        chance: binomial.pmf(flips),
                        tail: rejection_limit(flips)?,
                    })
                })
                .collect(),
        }
    }

    fn power(&self, difference: f64) -> f64 {
        if self.discordance == 0.0 || difference.is_nan() {
            return 0.0;
        }
        let share = (0.5 + 0.5 * difference.abs() / self.discordance).min(1.0);
        self.counts
            .iter()
            .map(|count: &Count| {
                let tails = lower_tail(count.tail, count.flips, share)
                    + lower_tail(count.tail, count.flips, 1.0 - share);
                count.chance * tails
            })
            .sum::<f64>()
            .min(1.0)
    }
}

/// The most flips in one direction, of `flips` in both, at which the test rejects; `None` if it
/// never does.
fn rejection_limit(flips: u64) -> Option<u64> {
    fn rejects(flips: u64, fewer: u64) -> bool {
        2.0 * lower_tail(fewer, flips, 0.5) <= LEVEL
    }
    let near = (flips as f64 / 2.0 - Z_95 / 2.0 * (flips as f64).sqrt()).max(0.0) as u64;
    let mut fewer = (near + 2).min(flips / 2);
    while !rejects(flips, fewer) {
        fewer = fewer.checked_sub(1)?;
    }
    Some(fewer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(share: f64) -> f64 {
        (share * 100.0).round()
    }

    /// The design's figures, from measured flips, are 20, 70 and 75 %; the exact test's own are
    /// within 4 points of them.
    #[test]
    fn the_powers_of_common_suites() {
        let found = [power(100, 0.12, 0.05), power(300, 0.12, 0.05), power(930, 0.12, 0.03)];
        assert_eq!(found.map(percent), [21.0, 66.0, 73.0]);
        for (found, published) in found.into_iter().zip([0.20, 0.70, 0.75]) {
            assert!((found - published).abs() <= 0.0405, "{found} for {published}");
        }
    }

    #[test]
    fn tails_are_those_that_the_test_rejects() {
        for flips in 0..400 {
            let by_test = (0..=flips / 2)
                .rfind(|fewer| super::super::mcnemar(*fewer, flips - fewer) <= LEVEL);
            assert_eq!(rejection_limit(flips), by_test, "{flips} flips");
        }
    }

    #[test]
    fn without_a_difference_the_power_is_at_most_the_level() {
        for questions in [10, 50, 200, 1_000] {
            assert!(power(questions, 0.12, 0.0) <= LEVEL);
        }
    }

    #[test]
    fn the_least_difference_is_found_with_the_wanted_power() {
        let least = minimum_detectable(300, 0.12).unwrap();
        assert!((power(300, 0.12, least) - WANTED).abs() < 1e-4);
        assert!((0.05..0.07).contains(&least), "{least}");
        assert!(minimum_detectable(1_000, 0.12).unwrap() < least);
    }

    #[test]
    fn the_needed_questions_are_the_fewest_with_the_wanted_power() {
        let needed = [(0.12, 0.12), (0.12, 0.05), (0.0625, 0.0625), (0.75, 0.75)];
        let found = needed.map(|(discordance, difference)| {
            let questions = questions_needed(discordance, difference).unwrap();
            assert!(power(questions, discordance, difference) >= WANTED);
            assert!(power(questions - 1, discordance, difference) < WANTED);
            questions
        });
        assert_eq!(found, [65, 398, 126, 9]);
        assert_eq!(minimum_detectable(64, 0.12), None);
        assert!(minimum_detectable(65, 0.12).is_some());
        assert_eq!(questions_needed(0.0, 0.0), None);
        assert_eq!(questions_needed(0.12, 0.0001), None);
    }

    #[test]
    fn what_cannot_be_found_is_said_so() {
        assert_eq!(minimum_detectable(0, 0.12), None);
        assert_eq!(minimum_detectable(20, 0.1), None);
        assert_eq!(minimum_detectable(500, 0.0), None);
        assert_eq!(power(0, 0.5, 0.5), 0.0);
        assert_eq!(power(100, f64::NAN, 0.1), 0.0);
        assert_eq!(power(100, 0.1, f64::NAN), 0.0);
        assert_eq!(
            power(100, 0.1, 0.7),
            power(100, 0.1, 0.1),
            "arms cannot differ by more than they flip"
        );
        assert_eq!(power(100, 0.1, -0.05), power(100, 0.1, 0.05));
    }
}
