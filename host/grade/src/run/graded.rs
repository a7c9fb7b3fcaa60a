//! A graded answer: a line of a run's `results.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syrch_core::Access;
use syrch_suites::run::Fault;

use super::Item;
use crate::Verdict;

/// One arm's answer to one question, graded under every rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graded {
    /// The name of the arm that answered.
    pub arm: String,
    /// The question's id. With the arm it is the key: no run holds it twice, unless
    /// [`Graded::retried`].
    pub id: String,
    /// The question's place in the suite, from 0. Reports are in this order, whatever ended first.
    pub place: u64,
    /// The database as the suite names it: the cluster of the bootstrap.
    pub db: String,
    /// The text of the question.
    pub question: String,
    /// The fields of the question by which results can be sliced.
    pub fields: BTreeMap<String, String>,
    /// The place of the question in a conversation; `None` if it stands by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnOf>,
    /// The end of the search. A refusal that the suite expects is `no-answer`, with its fault.
    pub end: End,
    /// The origin of the answer's statement: `metric`, `verified` or `generated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The error that left the question without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The statement of the answer.
    pub sql: Option<String>,
    /// The expected statement, or the first of several. `None` if rows or a text are expected.
    pub gold_sql: Option<String>,
    /// The verdict of each rule, by its name. Empty only when the expected answer is not available:
    /// then [`Graded::gold_fault`] has the reason, and the question does not count.
    pub verdicts: BTreeMap<String, Judged>,
    /// The reason why the expected answer is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold_fault: Option<String>,
    /// The soft-F1 of the answer's cells against the expected ones, 0 to 1 (BIRD mini-dev); `None`
    /// if there is no result.
    pub soft_f1: Option<f64>,
    /// Rows of the answer.
    pub rows: Option<u64>,
    /// Rows of the first expected answer that is available.
    pub gold_rows: Option<u64>,
    /// The confidence of the answer, 0 to 1.
    pub confidence: Option<f64>,
    /// The calibrated confidence of the answer's candidate, 0 to 1, before the aggregator:
    /// calibrators are fitted on it. Not `confidence.calibrated` of `syrch.answer/1`, which is
    /// [`Graded::confidence`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_confidence: Option<f64>,
    /// The statements that a judge of the search judged and that ran, with what the rules say of
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judgements: Vec<Judgement>,
    /// The use that plugins which are not built in made of their grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// The cost of the search.
    pub cost: Cost,
    /// From the question to the answer, in milliseconds. Not compared between runs.
    pub time_ms: f64,
    /// True if this try repeats an earlier one of the same key that failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retried: bool,
    /// The journal of the search, where it was retained, as a path in the folder of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// The error of a line whose key has a line already.
pub(crate) fn twice(graded: &Graded) -> String {
    format!("it holds the answer of `{}` to `{}` a second time", graded.arm, graded.id)
}

/// The place of a question in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnOf {
    /// The id of the conversation.
    pub conversation: String,
    /// The number of turns of the conversation.
    pub of: u64,
}

/// A statement that a judge of the search judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The statement.
    pub sql: String,
    /// True if the reward accepted it; `None` without a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<bool>,
    /// True if the model calls that judge statements or choose among them said yes to it; `None` if
    /// there was none, or they were in balance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<bool>,
    /// The verdict of each rule on its result.
    pub verdicts: BTreeMap<String, Verdict>,
}

/// The end of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The search gave an answer.
    Answered,
    /// The search found no acceptable answer.
    NoAnswer,
    /// The search ended with a question to the user.
    Clarify,
    /// The search ended with an error.
    Failed,
}

/// The verdict of a rule, with the fingerprint of the compared result, so that a report under
/// another rule needs no second run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The verdict: the best over all expected answers.
    pub verdict: Verdict,
    /// The fingerprint of the answer's result under this rule: equal results have equal
    /// fingerprints. `None` if there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// The cost of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Model calls that were sent.
    pub calls: u32,
    /// Model calls that a cache answered. An arm's cost is both together: which arm of a comparison
    /// pays for a shared call is chance.
    pub cached: u32,
    /// Tokens of prompts, of all calls as if each had been sent.
    pub input_tokens: u64,
    /// Tokens of replies, of all calls.
    pub output_tokens: u64,
    /// Money in dollars, of all calls; `None` if it is unknown.
    pub usd: Option<f64>,
    /// Statements that were run.
    pub sql_runs: u32,
}

impl Graded {
    /// A line without an answer, a verdict and a cost: of a question that was not asked, or whose
    /// search did not end in order.
    #[must_use]
    pub fn without_answer(item: &Item, end: End) -> Self {
        let question = &item.question;
        Self {
            arm: item.arm_name.to_string(),
            id: question.id.clone(),
            place: item.place,
            db: question.db.clone(),
            question: question.question.clone(),
            fields: question.fields.clone(),
            turn: question
                .conversation
                .as_ref()
                .map(|turn| TurnOf { conversation: turn.id.clone(), of: turn.of as u64 }),
            end,
            origin: None,
            fault: None,
            sql: None,
            gold_sql: question.statements().first().map(|sql| (*sql).to_owned()),
            verdicts: BTreeMap::new(),
            gold_fault: None,
            soft_f1: None,
            rows: None,
            gold_rows: None,
            confidence: None,
            candidate_confidence: None,
            judgements: Vec::new(),
            access: Vec::new(),
            cost: Cost::default(),
            time_ms: 0.0,
            retried: item.retried,
            run: None,
        }
    }

    /// Returns true if the search failed before the expected answer was read, as when the host
    /// panics, so that it was not graded.
    pub(crate) fn is_unjudged(&self) -> bool {
        self.end == End::Failed && self.gold_rows.is_none() && self.gold_fault.is_none()
    }

    /// The verdict of a rule. `None` if the expected answer is not available or the rule is not
    /// among the verdicts.
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
