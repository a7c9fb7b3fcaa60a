//! Candidates: SQL statements that may solve a task, and what is known about each.

use serde::{Deserialize, Serialize};

use super::{CandidateId, Extras};

/// The counts over the attempts that were made for a candidate's task, up to and including it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// Attempts so far, this one included.
    pub attempts: u32,
    /// The most attempts that are allowed.
    pub max_attempts: u32,
    /// Attempts that did not parse.
    pub syntax_errors: u32,
    /// Attempts that named what the catalog lacks.
    pub schema_errors: u32,
    /// Attempts that failed while running.
    pub execution_errors: u32,
    /// The result has no rows.
    pub empty_result: bool,
    /// Columns of the result that are NULL throughout.
    pub null_columns: u32,
    /// The result is larger than the strategy expects.
    pub overflow: bool,
    /// The number of samples that were compared.
    pub samples: u32,
    /// The number of these samples that have this result.
    pub agreeing: u32,
    /// The sum of log probabilities over the reply's tokens.
    pub logprob: Option<f64>,
    /// The reward's score, 0 to 1.
    pub reward: Option<f64>,
    /// Further numbers by name.
    pub extra: Vec<(String, f64)>,
}

/// One SQL statement that may solve a task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Candidate {
    /// Unique within the search.
    pub id: CandidateId,
    /// The candidates that it was made from.
    pub parents: Vec<CandidateId>,
    /// The strategy's step that made it.
    pub origin: String,
    /// The statement as the strategy wrote it, with finished tasks by their names.
    pub sql: String,
    /// The confidence that the model claimed, 0 to 1.
    pub raw_confidence: Option<f64>,
    /// The calibrated confidence, 0 to 1; only the host sets it.
    pub confidence: Option<f64>,
    /// The strategy's own ranking.
    pub score: Option<f64>,
    /// The strategy's reason why the statement should be right.
    pub rationale: Option<String>,
    /// The counts over the attempts before the candidate was found.
    pub signals: Signals,
    /// Further properties, for versions to come.
    pub extra: Extras,
}

/// A judge's opinion of a candidate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Opinion {
    /// The quality, 0 to 1.
    pub score: f64,
    /// The reason for the score.
    pub reason: String,
    /// Single checks by name, and whether each passed.
    pub checks: Vec<(String, bool)>,
}

/// A judge's verdict. [`Self::Unavailable`] counts neither as a yes nor as a no.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The candidate is good enough.
    Accepted(Opinion),
    /// The candidate is not good enough.
    Rejected(Opinion),
    /// The judge could not judge, for this reason.
    Unavailable(String),
}
