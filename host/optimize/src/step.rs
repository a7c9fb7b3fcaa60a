//! The steps that the state machine asks for, and their results.

use serde::{Deserialize, Serialize};
use syrch_core::ports::{Admitted, Compared, Plan, ResultSize, Timing};
use syrch_core::roles::Proposal;
use syrch_core::{Column, SqlError};

/// One of the statements that are at hand;
/// [`Optimization::statement`](crate::Optimization::statement) returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The statement of the user.
    Original,
    /// The fastest statement that was verified so far; the original at first.
    Best,
    /// The statement that is tried.
    Candidate,
}

/// The reason why a statement is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The first time of the original.
    Probe,
    /// Twice the original, for the noise of the clock.
    Noise,
    /// So that no statement pays for a cold cache; the time counts for nothing.
    Warm,
    /// The candidate against the best.
    Round,
    /// The original against the best, when the rewriter has ended.
    Final,
}

/// The next step. But for [`Step::Propose`], [`Step::CompareOnCopy`] and [`Step::Done`] each is one
/// call of a [`Bench`](syrch_core::ports::Bench).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "step", content = "of")]
pub enum Step {
    /// Admit the user's statement.
    AdmitOriginal,
    /// Admit the text of [`Optimization::proposal`](crate::Optimization::proposal), which may read
    /// the tables of the original alone.
    AdmitCandidate,
    /// Read the version of the data.
    Version,
    /// Take a fresh snapshot of the database.
    Snapshot,
    /// Read the columns of a statement.
    Columns(Which),
    /// Count the rows of the original.
    Size,
    /// Execute a statement and measure its time.
    Time(Which, Purpose),
    /// Read the plan of a statement.
    Explain(Which),
    /// Ask the rewriter for its next proposal.
    Propose,
    /// Compare a statement with the original.
    Compare(Which),
    /// Compare the candidate with the original on that changed copy of the database, from 0.
    CompareOnCopy(u32),
    /// Nothing: [`Optimization::report`](crate::Optimization::report) is complete.
    Done,
}

/// The reply of the rewriter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "proposed", content = "is")]
pub enum Proposed {
    /// A statement that the optimizer is to check, compare and measure.
    Statement(Proposal),
    /// The rewriter has no further proposal.
    Nothing,
    /// No statement, but a failure, whose message holds no cells.
    Failed(String),
    /// The model's request was larger than may be sent.
    PromptTooLarge(String),
}

/// The result of a step; each variant is the result of the steps that it names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fed", content = "is")]
pub enum Fed {
    /// The result of [`Step::AdmitOriginal`] and [`Step::AdmitCandidate`].
    Admitted(Result<Admitted, SqlError>),
    /// The result of [`Step::Version`]; a digest of the bench's text serves as well.
    Version(Result<Option<String>, SqlError>),
    /// The result of [`Step::Snapshot`].
    Snapshot(Result<(), SqlError>),
    /// The result of [`Step::Columns`].
    Columns(Result<Vec<Column>, SqlError>),
    /// The result of [`Step::Size`].
    Size(Result<ResultSize, SqlError>),
    /// The result of [`Step::Time`].
    Time(Result<Timing, SqlError>),
    /// The result of [`Step::Explain`].
    Plan(Result<Plan, SqlError>),
    /// The result of [`Step::Propose`].
    Proposed(Proposed),
    /// The result of [`Step::Compare`].
    Compared(Result<Compared, SqlError>),
    /// The result of [`Step::CompareOnCopy`]; `None` where there is no such copy.
    OnCopy(Option<Result<Compared, SqlError>>),
}

/// The error that the value that was fed does not answer the present step; nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no answer to the step {step:?}")]
pub struct OutOfTurn {
    /// The step that waits for its answer.
    pub step: Step,
}
