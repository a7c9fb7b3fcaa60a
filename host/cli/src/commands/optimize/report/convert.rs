//! From what the optimizer measured to what reports show.

use syrch::syrch_core::ports::Timing;
use syrch_optimizing::{Advice, Confirmation, Gates, Round};

use super::document::Gate;

/// Measurements of two statements in turn, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// The median time before.
    pub(crate) before_ms: f64,
    /// The median time after.
    pub(crate) after_ms: f64,
    /// The quotient of the times before and after: how many times as fast.
    pub(crate) ratio: f64,
    /// The 95 % interval of the ratio.
    pub(crate) interval: Option<(f64, f64)>,
    /// The times of each pair, before and after, in the order of the measurement.
    pub(crate) pairs: Vec<[f64; 2]>,
}

impl Measured {
    /// The measurement of a proposal; `None` where it did not come as far as that.
    pub(crate) fn from_round(round: Option<&Round>) -> Option<Self> {
        let round = round.filter(|round| !round.best.is_empty() && !round.candidate.is_empty())?;
        Some(Self {
            before_ms: ms_from_ns(round.best_ns()),
            after_ms: ms_from_ns(round.candidate_ns()),
            ratio: round.speed(),
            interval: None,
            pairs: round
                .best
                .iter()
                .zip(&round.candidate)
                .map(|(best, candidate)| pair(best, candidate))
                .collect(),
        })
    }

    /// Converts the final measurement, the original against the best statement.
    pub(crate) fn from_confirmation(last: &Confirmation) -> Self {
        Self {
            before_ms: ms_from_ns(last.original_ns),
            after_ms: ms_from_ns(last.best_ns),
            ratio: last.ratio,
            interval: last.interval,
            pairs: last.pairs.iter().map(|one| pair(&one.original, &one.best)).collect(),
        }
    }

    /// Pairs in which the second statement was the faster one.
    pub(crate) fn wins(&self) -> usize {
        self.pairs.iter().filter(|[before, after]| after < before).count()
    }
}

fn pair(before: &Timing, after: &Timing) -> [f64; 2] {
    [ms_from_ns(before.wall_ns), ms_from_ns(after.wall_ns)]
}

fn ms_from_ns(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// The gates of a run, and what they mean for it.
pub(crate) fn gates(gates: &Gates) -> (Vec<Gate>, Option<String>) {
    let counts = |name: &str| match name {
        "support" => [gates.supported, gates.total],
        "win" => [gates.optimized, gates.supported],
        "error" => [gates.errored, gates.total],
        _ => [gates.mismatches, gates.iterations],
    };
    let advice = gates.advice.map(|advice| match advice {
        Advice::Stop => {
            "so few statements are optimized that it is not worth going on with these statements"
        }
        Advice::WidenScope => {
            "what is supported is optimized often, and too little is supported: support for more \
             statements is what helps"
        }
    });
    (
        gates
            .gates
            .iter()
            .map(|gate: &syrch_optimizing::Gate| Gate {
                name: gate.name.clone(),
                counts: counts(&gate.name),
                share: (counts(&gate.name)[1] > 0).then_some(gate.share),
                bound: format!(
                    "{} {:.0} %",
                    if gate.is_least { "at least" } else { "below" },
                    gate.bound * 100.0
                ),
                passed: gate.passed,
            })
            .collect(),
        advice.map(str::to_owned),
    )
}
