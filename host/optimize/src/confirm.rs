//! The final measurement: the original against the best statement, in pairs.

use serde::{Deserialize, Serialize};
use syrch_basics::Random;
use syrch_core::ports::Timing;

use crate::evidence::{CONFIRMED, evidence, interval};
use crate::measure::ratio;
use crate::{Settings, Which, is_faster, median};

/// One pair of the final measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The time of the original.
    pub original: Timing,
    /// The time of the best statement.
    pub best: Timing,
    /// True if the best statement was measured before the original.
    pub best_first: bool,
}

impl Pair {
    /// Returns how many times as fast as the original the best statement was.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        ratio(self.original.wall_ns, self.best.wall_ns)
    }
}

/// The result of the final measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Confirmation {
    /// The measured pairs, in the order of the measurement.
    pub pairs: Vec<Pair>,
    /// In how many of them the best statement was faster.
    pub won: u32,
    /// The median wall time of the original, in nanoseconds.
    pub original_ns: u64,
    /// The median wall time of the best statement, in nanoseconds.
    pub best_ns: u64,
    /// The median of the pairs' ratios: 2.0 is twice as fast.
    pub ratio: f64,
    /// An interval of 95 % around the ratio; `None` after fewer than 8 pairs.
    pub interval: Option<(f64, f64)>,
    /// The most evidence at any time that the best statement is faster, see [`evidence`].
    pub evidence: f64,
    /// True if the evidence reached [`CONFIRMED`], and the best statement is faster by as much as
    /// the settings ask for.
    pub confirmed: bool,
}

impl Confirmation {
    /// Returns true if the best statement is the slower one, in the median of the pairs or of the
    /// times.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.ratio < 1.0 || self.best_ns > self.original_ns
    }
}

/// The final measurement under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs {
    result: Confirmation,
    /// The first time of a pair.
    first: Option<Timing>,
    lost: u32,
    spent_ns: u64,
}

impl Pairs {
    /// The statement that is measured next; `None` when enough pairs are measured.
    pub(crate) fn next(&self, settings: &Settings) -> Option<Which> {
        let count = self.result.pairs.len() as u64;
        let best_first = is_best_first(settings.seed, count);
        if self.first.is_some() {
            return Some(if best_first { Which::Original } else { Which::Best });
        }
        let is_clear = self.result.evidence >= CONFIRMED && self.result.interval.is_some();
        let is_late = self.spent_ns >= settings.final_ms.saturating_mul(1_000_000);
        let is_over = count >= u64::from(settings.pairs)
            || (count >= u64::from(settings.min_pairs) && (is_clear || is_late));
        (!is_over).then_some(if best_first { Which::Best } else { Which::Original })
    }

    pub(crate) fn add(&mut self, timing: Timing, settings: &Settings) {
        self.spent_ns = self.spent_ns.saturating_add(timing.wall_ns);
        let Some(first) = self.first.take() else {
            self.first = Some(timing);
            return;
        };
        let best_first = is_best_first(settings.seed, self.result.pairs.len() as u64);
        let (original, best) = if best_first { (timing, first) } else { (first, timing) };
        self.result.pairs.push(Pair { original, best, best_first });
        self.result.won += u32::from(best.wall_ns < original.wall_ns);
        self.lost += u32::from(best.wall_ns > original.wall_ns);
        self.update(settings);
    }

    fn update(&mut self, settings: &Settings) {
        let result = &mut self.result;
        let of =
            |time: fn(&Pair) -> Timing| median(&result.pairs.iter().map(time).collect::<Vec<_>>());
        (result.original_ns, result.best_ns) = (of(|pair| pair.original), of(|pair| pair.best));
        let mut ratios: Vec<f64> = result.pairs.iter().map(Pair::ratio).collect();
        result.interval = interval(&ratios);
        ratios.sort_unstable_by(f64::total_cmp);
        result.ratio = ratios.get(ratios.len().saturating_sub(1) / 2).copied().unwrap_or(1.0);
        result.evidence = result.evidence.max(evidence(result.won, self.lost));
        result.confirmed =
            result.evidence >= CONFIRMED && is_faster(result.original_ns, result.best_ns, settings);
    }

    /// The result so far; `None` without a whole pair.
    pub(crate) fn result(self) -> Option<Confirmation> {
        (!self.result.pairs.is_empty()).then_some(self.result)
    }

    pub(crate) fn count(&self) -> usize {
        self.result.pairs.len()
    }
}

/// Returns true if the best statement runs first in this pair: a random bit for each pair. An order
/// that followed from earlier pairs could favour one side.
fn is_best_first(seed: u64, pair: u64) -> bool {
    Random::nth(seed, pair).number() >> 63 == 1
}
