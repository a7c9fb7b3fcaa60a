//! The counts and shares of many optimizations, and the bounds that they must meet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{IterationState, Outcome, Report};

/// The least share of statements that are supported, of a corpus and of what is checked.
pub const SUPPORT: f64 = 0.60;
/// The least share of supported statements that are optimized.
const WIN: f64 = 0.30;
/// The share of errors must be less than this.
const ERROR: f64 = 0.20;
/// The share of proposals with other rows must be less than this.
const MISMATCH: f64 = 0.20;
/// With a smaller share of optimized statements it is not worth going on.
const STOP: f64 = 0.10;

/// The counts and shares of many optimizations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gates {
    /// The number of all statements.
    pub total: u64,
    /// The number of statements that are not supported.
    pub unsupported: u64,
    /// The number of statements whose outcome is an error.
    pub errored: u64,
    /// The number of all other statements.
    pub supported: u64,
    /// The number of supported statements that were optimized.
    pub optimized: u64,
    /// The number of optimized statements that the final measurement confirmed.
    pub confirmed: u64,
    /// The number of proposals for all statements.
    pub iterations: u64,
    /// The number of proposals that gave other rows.
    pub mismatches: u64,
    /// The number of statements with each outcome that occurred.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// The number of proposals with each state that occurred.
    pub states: BTreeMap<IterationState, u64>,
    /// The bounds, each with its share.
    pub gates: Vec<Gate>,
    /// True if every bound is met.
    pub passed: bool,
    /// The advice that follows from the shares.
    pub advice: Option<Advice>,
}

/// A share of statements or proposals with the bound that it must meet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// `support`, `win`, `error` or `mismatch`.
    pub name: String,
    /// The share, 0 to 1; 0 of nothing.
    pub share: f64,
    /// The value with which the share is compared, 0 to 1.
    pub bound: f64,
    /// True if the share must be at least the bound; otherwise it must be less.
    pub is_least: bool,
    /// True if the bound is met.
    pub passed: bool,
}

/// The advice that follows from the shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// So few statements are optimized that it is not worth going on.
    Stop,
    /// Widen the scope: supported statements are optimized often, but too few are supported.
    WidenScope,
}

/// Counts the outcomes and compares the shares with their bounds. Without any statement no bound is
/// met.
#[must_use]
pub fn gates<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Gates {
    let mut counts = Gates {
        total: 0,
        unsupported: 0,
        errored: 0,
        supported: 0,
        optimized: 0,
        confirmed: 0,
        iterations: 0,
        mismatches: 0,
        outcomes: BTreeMap::new(),
        states: BTreeMap::new(),
        gates: Vec::new(),
        passed: false,
        advice: None,
    };
    for report in reports {
        counts.total += 1;
        *counts.outcomes.entry(report.outcome).or_default() += 1;
        for iteration in &report.iterations {
            *counts.states.entry(iteration.state).or_default() += 1;
        }
        counts.unsupported += u64::from(report.outcome.is_unsupported());
        counts.errored += u64::from(report.outcome == Outcome::Error);
        counts.optimized += u64::from(report.outcome == Outcome::Optimized);
        counts.confirmed +=
            u64::from(report.outcome == Outcome::Optimized && report.is_confirmed());
        counts.iterations += report.iterations.len() as u64;
        counts.mismatches += report
            .iterations
            .iter()
            .filter(|iteration: &&crate::Iteration| {
                iteration.state == IterationState::FailedMismatch
            })
            .count() as u64;
    }
    counts.supported = counts.total - counts.unsupported - counts.errored;
    counts.judge();
    counts
}

impl Gates {
    fn judge(&mut self) {
        let support = share(self.supported, self.total);
        let win = share(self.optimized, self.supported);
        let some = self.total > 0;
        fn require_at_least(name: &str, share: f64, bound: f64) -> Gate {
            Gate { name: name.to_owned(), share, bound, is_least: true, passed: share >= bound }
        }
        fn require_less(some: bool, name: &str, share: f64, bound: f64) -> Gate {
            Gate {
                name: name.to_owned(),
                share,
                bound,
                is_least: false,
                passed: some && share < bound,
            }
        }
        self.gates = vec![
            require_at_least("support", support, SUPPORT),
            require_at_least("win", win, WIN),
            require_less(some, "error", share(self.errored, self.total), ERROR),
            require_less(some, "mismatch", share(self.mismatches, self.iterations), MISMATCH),
        ];
        self.passed = self.gates.iter().all(|gate| gate.passed);
        self.advice = match () {
            () if self.supported > 0 && win < STOP => Some(Advice::Stop),
            () if support < SUPPORT && win >= WIN => Some(Advice::WidenScope),
            () => None,
        };
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
