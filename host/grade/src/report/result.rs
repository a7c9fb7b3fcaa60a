//! One line of a report's results: what one arm answered to one question. The CSV and Parquet files
//! are these lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::run::{End, Graded, Header};

/// One arm's answer to one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The name of the arm.
    pub arm: String,
    /// The question's id, unique within the suite.
    pub id: String,
    /// Its place in the suite, from 0.
    pub place: u64,
    /// The question's database as the suite names it.
    pub db: String,
    /// The text of the question.
    pub question: String,
    /// The suite's fields of it.
    pub fields: BTreeMap<String, String>,
    /// The end of the search.
    pub end: End,
    /// The origin of the answer's statement: `metric`, `verified` or `generated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The verdict of the report's rule; `None` if the expected answer could not be had.
    pub verdict: Option<Verdict>,
    /// The verdict of every rule, by its name.
    pub verdicts: BTreeMap<String, Verdict>,
    /// The names that syrch 0.1.2 has for it.
    pub metrics: Metrics,
    /// The confidence of the answer, 0 to 1.
    pub confidence: Option<f64>,
    /// The confidence that the calibrator gave the answer's candidate, 0 to 1, before the
    /// aggregator had its say.
    pub candidate_confidence: Option<f64>,
    /// Rows of the answer.
    pub rows: Option<u64>,
    /// Rows of the expected answer.
    pub gold_rows: Option<u64>,
    /// Model calls, sent or from a cache. Left out by `without_times`, as are all costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Those of them that a cache answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Seconds from the question to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Tokens of the prompts. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the models' replies. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Money in dollars; `None` if it is not known.
    pub usd: Option<f64>,
    /// The number of executed statements. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql_runs: Option<u64>,
    /// The statement that was answered with.
    pub sql: Option<String>,
    /// The expected statement, or the first of several. `None` if rows or a text are expected.
    pub gold_sql: Option<String>,
    /// The error, when nothing could be answered.
    pub error: Option<String>,
    /// The class of the error, by the names of the exit codes.
    pub error_class: Option<String>,
    /// The reason why the expected answer could not be had.
    pub gold_fault: Option<String>,
    /// True if an earlier try failed and was repeated.
    pub retried: bool,
    /// The run's id. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The rule of `verdict`.
    #[serde(default)]
    pub rule: String,
    /// The simulated model that the answer comes from; `None` means a real one.
    #[serde(default)]
    pub simulated: Option<String>,
    /// The journal of the search. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// The closeness of the answer to the expected one, with the names that the benchmark of syrch
/// 0.1.2 has for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// True if it is right under the report's rule; `None` if the rule excludes it or the expected
    /// answer is not available.
    pub exact_match: Option<bool>,
    /// True if it has as many rows as expected; `None` if either is not known.
    pub row_count_match: Option<bool>,
    /// The soft-F1 of its cells against the expected ones, 0 to 1.
    pub soft_f1: Option<f64>,
}

impl ResultRow {
    /// The line of one graded answer.
    #[must_use]
    pub fn new(graded: &Graded, rule: &str, header: &Header) -> Self {
        let verdict = graded.verdict(rule);
        let cost = &graded.cost;
        let row_counts = graded.rows.zip(graded.gold_rows);
        Self {
            arm: graded.arm.clone(),
            id: graded.id.clone(),
            place: graded.place,
            db: graded.db.clone(),
            question: graded.question.clone(),
            fields: graded.fields.clone(),
            end: graded.end,
            origin: graded.origin.clone(),
            verdict,
            verdicts: graded
                .verdicts
                .iter()
                .map(|(rule, judged)| (rule.clone(), judged.verdict))
                .collect(),
            metrics: Metrics {
                exact_match: verdict
                    .filter(|verdict| *verdict != Verdict::Excluded)
                    .map(Verdict::is_right),
                row_count_match: row_counts.map(|(rows, expected)| rows == expected),
                soft_f1: graded.soft_f1,
            },
            confidence: graded.confidence,
            candidate_confidence: graded.candidate_confidence,
            rows: graded.rows,
            gold_rows: graded.gold_rows,
            calls: Some(u64::from(graded.calls())),
            cached: Some(u64::from(cost.cached)),
            duration: Some(graded.time_ms / 1000.0).filter(|seconds| seconds.is_finite()),
            input_tokens: Some(cost.input_tokens),
            output_tokens: Some(cost.output_tokens),
            usd: cost.usd.filter(|usd| usd.is_finite()),
            sql_runs: Some(u64::from(cost.sql_runs)),
            sql: graded.sql.clone(),
            gold_sql: graded.gold_sql.clone(),
            error: graded.fault.as_ref().map(|fault| fault.message.clone()),
            error_class: graded.fault.as_ref().map(|fault| fault.class.clone()),
            gold_fault: graded.gold_fault.clone(),
            retried: graded.retried,
            run_id: Some(header.id.clone()),
            rule: rule.to_owned(),
            simulated: header.simulated.clone(),
            run: graded.run.clone(),
        }
    }

    pub(crate) fn without_times(&mut self) {
        (self.calls, self.cached, self.duration, self.run, self.run_id) =
            (None, None, None, None, None);
        (self.input_tokens, self.output_tokens, self.usd, self.sql_runs) = (None, None, None, None);
    }

    /// Tokens of the prompts and replies; `None` after `without_times`.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        Some(self.input_tokens?.saturating_add(self.output_tokens?))
    }
}

/// One arm's answers in the order of the suite, each question once: of a question that was tried
/// again, the last try.
pub(crate) fn arm_answers<'a>(graded: &'a [Graded], arm: &str) -> Vec<&'a Graded> {
    let mut last: BTreeMap<(u64, &str), &Graded> = BTreeMap::new();
    for one in graded.iter().filter(|one| one.arm == arm) {
        last.insert((one.place, &one.id), one);
    }
    last.into_values().collect()
}
