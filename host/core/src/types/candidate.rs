//! Candidates: SQL statements that may solve a task, and what is known about each.

use serde::{Deserialize, Serialize};

use super::{CandidateId, Extras};

/// What happened on the way to a candidate: counts over the attempts made for its task, up to and including it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// Attempts made so far, this one included.
    pub attempts: u32,
    /// Attempts allowed.
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
    /// How many samples were compared.
    pub samples: u32,
    /// How many of them gave this result.
    pub agreeing: u32,
    /// The sum over the reply's tokens.
    pub logprob: Option<f64>,
    /// A reward's score, 0 to 1.
    pub reward: Option<f64>,
    /// Further numbers by name.
    pub extra: Vec<(String, f64)>,
}

/// One SQL statement that may solve a task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Candidate {
    /// Unique within the search.
    pub id: CandidateId,
    /// The candidates it was made from.
    pub parents: Vec<CandidateId>,
    /// The step that made it.
    pub origin: String,
    /// The statement, as the strategy wrote it: finished tasks stand in it by name.
    pub sql: String,
    /// What the model claimed, 0 to 1.
    pub raw_confidence: Option<f64>,
    /// What the calibrator made of it, 0 to 1; set by the host alone.
    pub confidence: Option<f64>,
    /// The strategy's own ranking.
    pub score: Option<f64>,
    /// Why it should be right.
    pub rationale: Option<String>,
    /// What happened on the way.
    pub signals: Signals,
    /// Room to grow.
    pub extra: Extras,
}

/// A judge's opinion; `score` is 0 to 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Opinion {
    /// How good, 0 to 1.
    pub score: f64,
    /// Why.
    pub reason: String,
    /// Single checks and how they went.
    pub checks: Vec<(String, bool)>,
}

/// A judge's verdict. A judge that cannot judge never counts as a yes or as a no.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Good enough.
    Accepted(Opinion),
    /// Not good enough.
    Rejected(Opinion),
    /// The judge could not judge, and why.
    Unavailable(String),
}
