//! The share of right answers among those that count.

use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::run::Graded;
use crate::stats::{Interval, wilson};

/// The share of right answers under one rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The number of right answers.
    pub right: u64,
    /// Answers that count: right and wrong ones. Searches that ended without an answer are wrong.
    pub of: u64,
    /// Answers that the rule excludes, because the expected result does not distinguish right from
    /// wrong ones.
    pub excluded: u64,
    /// `right` by `of`, 0 to 1; `None` if nothing counts.
    pub share: Option<f64>,
    /// Its 95 % interval after Wilson, 0 to 1; from 0 to 1 when nothing counts.
    pub interval: Interval,
}

impl Share {
    /// Counts the verdicts of one rule. Questions without a verdict, whose expected answer could
    /// not be had, are not among them.
    pub(crate) fn from_answers<'a>(
        graded: impl IntoIterator<Item = &'a Graded>,
        rule: &str,
    ) -> Self {
        let mut right = 0;
        let mut wrong = 0;
        let mut excluded = 0;
        for verdict in graded.into_iter().filter_map(|one| one.verdict(rule)) {
            match verdict {
                Verdict::Right => right += 1,
                Verdict::Wrong => wrong += 1,
                Verdict::Excluded => excluded += 1,
            }
        }
        Self { excluded, ..Self::from_counts(right, right + wrong) }
    }

    /// So many right of so many.
    pub(crate) fn from_counts(right: u64, of: u64) -> Self {
        let share = (of > 0).then(|| right as f64 / of as f64);
        Self { right, of, excluded: 0, share, interval: wilson(right, of) }
    }
}

/// The mean; `None` if there are no values.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) =
        values.into_iter().fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// At most `most` of the items, evenly spread, always with the first and the last.
pub(crate) fn thin_out<T: Clone>(items: &[T], most: usize) -> Vec<T> {
    if items.len() <= most || most < 2 {
        return items.to_vec();
    }
    let last = items.len() - 1;
    (0..most).filter_map(|at| items.get(at * last / (most - 1))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_share() {
        let share = Share::from_counts(0, 0);
        assert_eq!((share.share, share.interval.low, share.interval.high), (None, 0.0, 1.0));
        assert_eq!(mean([]), None);
        assert_eq!(mean([1.0, 2.0]), Some(1.5));
    }

    #[test]
    fn thinning_keeps_both_ends() {
        let all: Vec<u32> = (0..1000).collect();
        let some = thin_out(&all, 50);
        assert_eq!((some.len(), some[0], some[49]), (50, 0, 999));
        assert_eq!(thin_out(&all[..3], 50), [0, 1, 2]);
    }
}
