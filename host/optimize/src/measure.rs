//! The measurement of a candidate against the best statement, and the rule by which a candidate is
//! accepted.

use serde::{Deserialize, Serialize};
use syrch_core::ports::Timing;

use crate::{Settings, Which};

/// The order in which statements are measured: each is once the first and once the second of a
/// pair, and a drift of the machine's speed that is even meets both alike.
pub(crate) const ORDER: [Which; 6] =
    [Which::Best, Which::Candidate, Which::Candidate, Which::Best, Which::Best, Which::Candidate];

/// Three times of the best statement and three of a candidate, each in the order in which they were
/// measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Round {
    /// The times of the statement that was the best until then.
    pub best: Vec<Timing>,
    /// The times of the candidate.
    pub candidate: Vec<Timing>,
}

impl Round {
    /// The statement that is measured next; `None` when all are measured.
    pub(crate) fn next(&self) -> Option<Which> {
        ORDER.get(self.best.len() + self.candidate.len()).copied()
    }

    pub(crate) fn add(&mut self, timing: Timing) {
        match self.next() {
            Some(Which::Candidate) => self.candidate.push(timing),
            Some(_) => self.best.push(timing),
            None => {}
        }
    }

    /// The median of the best statement's wall times, in nanoseconds; 0 before the first.
    #[must_use]
    pub fn best_ns(&self) -> u64 {
        median(&self.best)
    }

    /// The same of the candidate's.
    #[must_use]
    pub fn candidate_ns(&self) -> u64 {
        median(&self.candidate)
    }

    /// Returns how many times as fast as the best the candidate is, to two digits: 2.0 is twice as
    /// fast.
    #[must_use]
    pub fn speed(&self) -> f64 {
        two_digits(ratio(self.best_ns(), self.candidate_ns()))
    }
}

/// The median of the wall times, in nanoseconds: of an even number the lower one of the middle; 0
/// of none.
#[must_use]
pub fn median(timings: &[Timing]) -> u64 {
    let mut sorted: Vec<u64> = timings.iter().map(|timing| timing.wall_ns).collect();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Returns true if a candidate's time is so much less than the best one's that it is accepted: by
/// both the share and the absolute time that the settings ask for. A time of zero cannot be
/// improved.
#[must_use]
pub fn is_faster(best_ns: u64, candidate_ns: u64, settings: &Settings) -> bool {
    let saved = best_ns.saturating_sub(candidate_ns);
    best_ns > 0
        && saved > 0
        && (candidate_ns as f64) <= (1.0 - settings.min_gain) * (best_ns as f64)
        && saved >= settings.min_gain_ms.saturating_mul(1_000_000)
}

/// Returns how many times as fast the second is. Times of zero count as one nanosecond.
pub(crate) fn ratio(slow_ns: u64, fast_ns: u64) -> f64 {
    slow_ns.max(1) as f64 / fast_ns.max(1) as f64
}

/// A positive number to its two leading digits, which is what a rewriter learns of a measurement.
pub(crate) fn two_digits(number: f64) -> f64 {
    let scale = 10f64.powi(1 - number.log10().floor() as i32);
    let rounded = (number * scale).round() / scale;
    if rounded.is_finite() { rounded } else { number }
}
