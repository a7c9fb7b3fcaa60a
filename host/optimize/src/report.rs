//! The document about one optimization.

use serde::{Deserialize, Serialize};
use syrch_core::Column;
use syrch_core::ports::{Plan, ResultSize, Timing};
use syrch_core::roles::{Attempt, Trial};

use crate::{Confirmation, IterationState, Outcome, Round, Settings};

/// A share of noise from which on the reader is warned: two runs of one statement differ by so
/// much.
const NOISY: f64 = 0.2;

/// The report on one statement. It holds no row and no value of the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The outcome of the optimization.
    pub outcome: Outcome,
    /// The reason why it was an error, why the statement is unsupported, or why an accepted
    /// statement is not used.
    pub reason: Option<String>,
    /// The reason why it ended early, if the user or the deadline ended it: what is reported was
    /// verified all the same.
    pub interrupted: Option<String>,
    /// The statement as the user gave it.
    pub given: String,
    /// The statement of the user, as it was written again after the checks; as it was given when
    /// they refused it.
    pub original: String,
    /// The fastest verified statement: the original, unless the outcome is [`Outcome::Optimized`].
    pub best: String,
    /// The tables that the original reads.
    pub tables: Vec<String>,
    /// The columns of the result.
    pub columns: Vec<Column>,
    /// True if the order of rows counted.
    pub is_ordered: bool,
    /// The findings of the first runs of the original.
    pub probe: Option<Probe>,
    /// All proposals, in the order in which they were made.
    pub iterations: Vec<Iteration>,
    /// The final measurement; `None` when nothing was accepted, or when it ended early before a
    /// pair was measured.
    pub confirmation: Option<Confirmation>,
    /// The plans of the original and of the best statement.
    pub plans: Option<Plans>,
    /// The settings of the optimization.
    pub settings: Settings,
}

/// The findings of the first runs of the original.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The number of rows and bytes of the result.
    pub size: ResultSize,
    /// The time of the first run that was timed.
    pub baseline: Timing,
    /// By what share the slower of two more runs of the same statement took longer than the other:
    /// a difference that comes from the clock alone.
    pub noise: f64,
}

/// The plans before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plans {
    /// The plan of the original.
    pub before: Plan,
    /// The plan of the best statement; `None` when that is the original, or its plan could not be
    /// read.
    pub after: Option<Plan>,
}

/// One proposal, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The number of the proposal, from 1.
    pub n: u32,
    /// The family of rewrites that the rewriter named.
    pub family: String,
    /// The reason why it should be faster, in the rewriter's words.
    pub reason: String,
    /// The statement as it was run, or as it was proposed where it was refused; empty when there
    /// was none.
    pub sql: String,
    /// The outcome of the proposal.
    pub state: IterationState,
    /// More about that, for people: the rule and the token, the copy, the failure.
    pub detail: Option<String>,
    /// True if the proposal parsed, so that it was a statement.
    pub is_statement: bool,
    /// The number of rows on which it was equal to the original.
    pub rows: Option<u64>,
    /// On how many changed copies it was equal to the original.
    pub copies: u32,
    /// The measurement against the best statement, where it came as far as that.
    pub round: Option<Round>,
    /// The outcome that is reported to the rewriter.
    pub trial: Trial,
}

impl Iteration {
    /// This proposal as it is reported to the rewriter.
    #[must_use]
    pub fn attempt(&self) -> Attempt {
        Attempt { sql: self.sql.clone(), family: self.family.clone(), trial: self.trial.clone() }
    }
}

impl Report {
    /// The proposal whose statement is the best one; `None` when that is the original.
    #[must_use]
    pub fn best_iteration(&self) -> Option<&Iteration> {
        let mut kept = self
            .iterations
            .iter()
            .rev()
            .filter(|iteration| iteration.state == IterationState::Kept);
        kept.next().filter(|_| self.is_optimized())
    }

    /// Returns true if the best statement is another than the original.
    #[must_use]
    pub fn is_optimized(&self) -> bool {
        self.outcome == Outcome::Optimized
    }

    /// Returns true if the best statement is another than the original, and the final measurement
    /// confirmed that it is faster.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.confirmation.as_ref().is_some_and(|confirmation| confirmation.confirmed)
    }

    /// Returns what the reader should know about the measurement.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let ended = self.interrupted.as_ref().map(|why| format!("it ended early: {why}"));
        let noise = self.probe.map(|probe| probe.noise).filter(|noise| *noise >= NOISY);
        let noise = noise.map(|noise| {
            format!(
                "the clock is noisy: two runs of the statement itself differ by {:.0} %",
                noise * 100.0
            )
        });
        let unsure = match &self.confirmation {
            _ if !self.is_optimized() => None,
            None => Some(
                "the last measurement is missing: the speed-up is that of one iteration".to_owned(),
            ),
            Some(last) if last.confirmed => None,
            Some(last) => Some(format!(
                "the speed-up is not confirmed: the last measurement has {} pairs, and they are \
                 too few or too different to be sure",
                last.pairs.len()
            )),
        };
        ended.into_iter().chain(noise).chain(unsure).collect()
    }
}

/// A list of statements that are optimized together: `manifest.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The statements, in order.
    #[serde(default)]
    pub queries: Vec<Entry>,
}

/// One statement of a [`Manifest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The file of the statement, relative to the manifest.
    pub file: String,
    /// The sha256 of the file, in hex, so that a run measures what was added.
    pub sha256: String,
    /// The purpose of the statement, for people.
    #[serde(default)]
    pub description: String,
}
