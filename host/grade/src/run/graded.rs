//! What is kept of one graded answer: a line of a run's `results.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Verdict;

/// One arm's answer to one question, graded under every rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graded {
    /// The arm's name.
    pub arm: String,
    /// The question's id. With the arm it is the key: no run holds it twice, unless [`Graded::retried`].
    pub id: String,
    /// The question's place in the suite, from 0. Reports are in this order, whatever ended first.
    pub place: u64,
    /// The database as the suite names it: the cluster of the bootstrap.
    pub db: String,
    /// The question.
    pub question: String,
    /// By what results can be sliced.
    pub fields: BTreeMap<String, String>,
    /// How the search ended.
    pub end: End,
    /// What went wrong, when nothing could be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The statement that was answered with.
    pub sql: Option<String>,
    /// The expected one, or the first of several; none: rows or a text are expected.
    pub gold_sql: Option<String>,
    /// What each rule says, by the rule's name. Empty only when the expected answer itself could not be had: then [`Graded::gold_fault`] says
    /// why, and the question counts for nobody.
    pub verdicts: BTreeMap<String, Judged>,
    /// Why the expected answer could not be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold_fault: Option<String>,
    /// How much of the expected cells the answer holds, 0 to 1: soft-F1 (BIRD mini-dev); none without a result.
    pub soft_f1: Option<f64>,
    /// Rows of the answer.
    pub rows: Option<u64>,
    /// Rows of the expected answer, the first that could be had.
    pub gold_rows: Option<u64>,
    /// How sure the answer is, 0 to 1.
    pub confidence: Option<f64>,
    /// What the calibrator made of the answer's candidate, 0 to 1, before the aggregator had its say: what calibrators are fitted on. Not
    /// `confidence.calibrated` of `syrch.answer/1`, which is [`Graded::confidence`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_confidence: Option<f64>,
    /// What it cost.
    pub cost: Cost,
    /// From the question to the answer, in milliseconds. Not compared between runs.
    pub time_ms: f64,
    /// Whether an earlier try of this key had failed and was made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retried: bool,
    /// The journal of the search, where one was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// With an answer.
    Answered,
    /// With nothing acceptable.
    NoAnswer,
    /// With a question to the user.
    Clarify,
    /// With an error.
    Failed,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its class, by the names of the exit codes: `model`, `database`, `budget`, `plugin-failed` ….
    pub class: String,
    /// What happened.
    pub message: String,
}

/// What a rule says of an answer, with what it compared, so that a report under another rule needs no second run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The verdict: the best over all expected answers.
    pub verdict: Verdict,
    /// What tells the answer's result from others under this rule: equal results have equal ones; none without a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// What an answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Model calls that were sent.
    pub calls: u32,
    /// Model calls that a cache answered. An arm's cost is both together: which arm of a comparison pays for a shared call is chance.
    pub cached: u32,
    /// Tokens of prompts, of all calls as if each had been sent.
    pub input_tokens: u64,
    /// Tokens of replies, of all calls.
    pub output_tokens: u64,
    /// Money in dollars, of all calls; none: unknown.
    pub usd: Option<f64>,
    /// Statements run.
    pub sql_runs: u32,
}

impl Graded {
    /// Whether it failed before anybody had the expected answer, as where the host panics: nobody came to judge it.
    pub(crate) fn is_unjudged(&self) -> bool {
        self.end == End::Failed && self.gold_rows.is_none() && self.gold_fault.is_none()
    }

    /// Whether a rule calls it right; none when the expected answer could not be had or the rule is not among the verdicts.
    #[must_use]
    pub fn verdict(&self, rule: &str) -> Option<Verdict> {
        self.verdicts.get(rule).map(|judged| judged.verdict)
    }

    /// Model calls, sent or from a cache.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.cost.calls.saturating_add(self.cost.cached)
    }
}
