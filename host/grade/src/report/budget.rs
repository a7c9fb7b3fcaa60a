//! The budget curve: what would be right if no question could take more than so many model calls.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::share::{Share, thin_out};
use crate::Verdict;
use crate::run::Graded;
use crate::stats::Interval;

/// Points of a curve at most.
const POINTS: usize = 50;

/// The number of right answers within a budget. A question that took more calls counts as wrong:
/// stopped there, it would have had no answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BudgetPoint {
    /// Model calls that a question may take, sent or from a cache.
    pub calls: u64,
    /// Right answers that took no more.
    pub right: u64,
    /// The number of answers that count under the rule.
    pub of: u64,
    /// `right` by `of`; `None` if nothing counts.
    pub share: Option<f64>,
    /// Its 95 % interval after Wilson.
    pub interval: Interval,
}

/// The curve: a point for every number of calls that a question took, at most 50 of them.
pub(crate) fn curve(graded: &[&Graded], rule: &str) -> Vec<BudgetPoint> {
    budgets(graded).into_iter().map(|calls| point(graded, rule, calls)).collect()
}

/// Every number of calls that a question took; of more than 50, an even choice.
pub(crate) fn budgets(graded: &[&Graded]) -> Vec<u64> {
    let all: BTreeSet<u64> = graded.iter().map(|one| u64::from(one.calls())).collect();
    thin_out(&all.into_iter().collect::<Vec<_>>(), POINTS)
}

/// Counts the right answers within one budget.
pub(crate) fn point(graded: &[&Graded], rule: &str, calls: u64) -> BudgetPoint {
    let mut right = 0;
    let mut of = 0;
    for one in graded {
        match one.verdict(rule) {
            Some(Verdict::Right) => {
                of += 1;
                right += u64::from(u64::from(one.calls()) <= calls);
            }
            Some(Verdict::Wrong) => of += 1,
            Some(Verdict::Excluded) | None => {}
        }
    }
    let Share { share, interval, .. } = Share::from_counts(right, of);
    BudgetPoint { calls, right, of, share, interval }
}
