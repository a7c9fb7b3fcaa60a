//! The output of a search: the document `syrch.answer/1`, and the events on the way.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use syrch_core::ledger::PurposeCost;
use syrch_core::ports::Level;
use syrch_core::roles::Role;
use syrch_core::{Access, Graph, Question, ResultSet, StatedPart, Value};
use syrch_semantics::Request;

pub use syrch_core::ports::Preview;

use crate::Error;
pub use crate::json_value::json_value;

/// The schema's name in [`AnswerDocument::schema`].
pub const ANSWER_SCHEMA: &str = "syrch.answer/1";

/// The outcome of a search that no error ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There is an answer.
    Answered,
    /// A budget or the time ended while parts of the question were open: what was found answers the
    /// others.
    Partial,
    /// No candidate was acceptable.
    NoAnswer,
    /// The user must be asked.
    ClarificationNeeded,
}

/// The outcome of a finished search, with its document and its rows.
#[derive(Debug, Clone)]
pub struct SearchReport {
    /// The outcome: an answer, a question to the user, or neither.
    pub outcome: Outcome,
    /// True if the user stopped it early; the answer is then the best so far.
    pub interrupted: bool,
    /// The document that `--format json` prints.
    pub document: AnswerDocument,
    /// The rows of the answer; `None` without an answer.
    pub data: Option<Arc<ResultSet>>,
    /// The search graph as it stood at the end.
    pub graph: Graph,
    /// The request for a metric of which the search compiled the answer's statement.
    pub(crate) request: Option<Request>,
}

/// The ending of a search, and its cost, which is known beside an error as well.
#[derive(Debug)]
pub struct Searched {
    /// The report, or the error that ended the search.
    pub report: Result<SearchReport, Error>,
    /// The cost of the search, also when it ended with an error.
    pub cost: CostReport,
    /// The use that plugins which are not built in made of their grants. Of a search that was
    /// resumed it is that from where it was resumed.
    pub access: Vec<Access>,
}

/// `syrch.answer/1`: what `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerDocument {
    /// The name of the document's format, always [`ANSWER_SCHEMA`].
    pub schema: String,
    /// The id of the run, which also names its journal.
    pub run: String,
    /// The question as asked.
    pub question: String,
    /// The answer; `None` if no candidate was acceptable.
    pub answer: Option<AnswerBody>,
    /// The one self-contained statement whose rows are the answer.
    pub sql: Option<String>,
    /// The SQL dialect of the statement.
    pub dialect: String,
    /// The confidence in the answer; `None` without an answer.
    pub confidence: Option<Confidence>,
    /// The origin of the answer; `None` without an answer, and where metrics are defined and a
    /// recording replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginReport>,
    /// The tasks of the search graph, with what their planner states of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskReport>,
    /// Every candidate of every task, in the order in which they were proposed.
    pub candidates: Vec<CandidateReport>,
    /// The steps that the strategy reported, such as branches; of each task in order, 128 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
    /// The question that the user should be asked.
    pub clarify: Option<ClarifyReport>,
    /// The cost of the search, by the purposes of its model calls.
    pub cost: CostReport,
    /// The time that the search took, in milliseconds.
    pub time_ms: TimeReport,
    /// The plugins of the strategy, one for each role that it fills.
    pub plugins: Vec<PluginReport>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// The part of the document that holds the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerBody {
    /// The answer in a sentence.
    pub text: String,
    /// Column names, by position.
    pub columns: Vec<String>,
    /// The rows; bytes as `{"bytes": "<hex>"}`, numbers that JSON lacks as text.
    pub rows: Vec<Vec<serde_json::Value>>,
    /// The number of rows in the result.
    pub row_count: u64,
    /// True if a cap cut them.
    pub truncated: bool,
    /// The steps that led to the answer.
    pub basis: Vec<String>,
}

/// The origin of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OriginReport {
    /// Its statement is compiled from the definitions of metrics.
    Metric(MetricReport),
    /// A person confirmed its statement for the same question.
    Verified {
        /// The question as it was confirmed.
        question: String,
        /// The person.
        by: String,
        /// The day, as `2026-11-02`.
        at: String,
    },
    /// A model or rules wrote its statement for the question.
    Generated,
}

/// The definitions and conditions that a statement applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricReport {
    /// The metrics that take part.
    pub metrics: Vec<DefinedMetric>,
    /// The request in words.
    pub request: String,
    /// The request with everything that the statement applies, in words, as terminal and page show
    /// it.
    #[serde(default)]
    pub words: String,
    /// Every condition in words: those of the question, of metrics and of tables.
    pub filters: Vec<String>,
    /// The dimensions that date the rows.
    #[serde(default)]
    pub time: Vec<String>,
    /// The first day that counts, where there is a bound.
    pub from: Option<String>,
    /// The day after the last that counts, where there is a bound.
    pub until: Option<String>,
    /// The unit of time that is grouped by.
    pub grain: Option<String>,
    /// Remarks on the values for a reader.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The columns that hold values of metrics, in order.
    #[serde(default)]
    pub values: Vec<MetricColumn>,
}

/// A column that holds values of a metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricColumn {
    /// Its name in the result.
    pub name: String,
    /// `number`, `percent` for a share of one, or `currency`.
    pub format: String,
    /// The unit in words, or the currency.
    pub unit: Option<String>,
}

impl MetricColumn {
    /// Returns a value as people write it: a share as a percentage, with two decimals as amounts of
    /// money have, and with the unit.
    #[must_use]
    pub fn show(&self, value: &Value) -> String {
        let number = match value {
            Value::Real(number) => Some(*number),
            Value::Integer(number) => Some(*number as f64),
            Value::Decimal(text) => text.parse().ok(),
            _ => None,
        };
        let shown = match (number, self.format.as_str()) {
            (Some(share), "percent") => return format!("{:.2} %", share * 100.0),
            (Some(amount), "currency") => format!("{amount:.2}"),
            (Some(number), _) if number.fract() != 0.0 => format!("{number:.2}"),
            // Without the decimal of `25000.0`.
            (Some(number), _) if matches!(value, Value::Real(_)) && number.abs() < 1e15 => {
                number.to_string()
            }
            _ => match json_value(value) {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            },
        };
        self.unit.as_ref().map_or(shown.clone(), |unit| format!("{shown} {unit}"))
    }
}

/// A metric with the file that defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinedMetric {
    /// The metric.
    pub name: String,
    /// The file.
    pub file: String,
}

/// The confidence in an answer, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// The confidence that the model claimed for the candidate.
    pub raw: Option<f64>,
    /// The confidence after calibrator and aggregator.
    pub calibrated: f64,
    /// The share of right answers among those of about this confidence, where the calibrator was
    /// fitted on graded answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests_on: Option<RestsOn>,
}

/// The share of right answers among those of about the same confidence in a graded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestsOn {
    /// The least confidence of these answers.
    pub low: f64,
    /// The confidence that they are below; those of 1 are among them if this is 1.
    pub high: f64,
    /// The number of these answers.
    pub answers: u64,
    /// The number of right answers among them.
    pub right: u64,
    /// The name of this database if they were over it alone; `None` if they were over all databases
    /// of the run.
    pub database: Option<String>,
    /// The number of databases of the run.
    pub databases: u64,
    /// True if this database was not among them.
    #[serde(default)]
    pub elsewhere: bool,
    /// The id of the graded run.
    pub run: String,
    /// The comparison rule by which they were right.
    pub rule: String,
    /// The model source of that run: the name of a model, or what stood in its place.
    pub model: String,
}

/// A task of the search graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskReport {
    /// The id of the task, unique in the graph.
    pub id: String,
    /// The task that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The description of what the task was to find out.
    pub text: String,
    /// The operation that carried it out: `solve`, `retrieve`, `choose`, or another name.
    pub operation: String,
    /// The tasks whose results it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// True if its result answers the question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answer: bool,
    /// The planner's confidence in the task, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// A description of the expected result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The steps of the planner's plan for its statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<String>,
    /// The operations that its statement consists of, with the planner's confidence in each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<StatedPart>,
    /// The requirements on its statement, as the planner wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<serde_json::Value>,
    /// The ending of the task: `solved`, `empty` (without rows), `failed`, `skipped`, `cancelled`,
    /// `other`, or `not-ended`.
    pub ending: String,
    /// The reason for the ending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tasks that its solver put in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<String>,
}

/// The word of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictWord {
    /// The reward accepts the candidate.
    Accepted,
    /// The reward rejects the candidate.
    Rejected,
    /// The reward could not judge.
    Unavailable,
}

/// The verdict of the reward on a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewardReport {
    /// The verdict on the candidate.
    pub verdict: VerdictWord,
    /// The quality, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The reason for the verdict.
    pub reason: String,
    /// The names of its checks that did not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// True if it judged the statement as a step towards the one that solves the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_step: bool,
}

/// The judgements of a statement by model calls that judge or choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JudgedReport {
    /// The number of calls that said yes to it, or chose it.
    pub yes: u32,
    /// The number of calls that said no, or chose another.
    pub no: u32,
}

impl JudgedReport {
    /// Returns what most of the calls said; `None` if as many said yes as no.
    #[must_use]
    pub fn word(self) -> Option<bool> {
        (self.yes != self.no).then_some(self.yes > self.no)
    }
}

/// A step that a strategy reported while it worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The task that was worked on; empty for a planner or a linker.
    pub task: String,
    /// The candidate that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
    /// The strategy's name of it.
    pub name: String,
    /// The data that the strategy reported with the step; absent above 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

/// The status of a candidate at the end of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateStatus {
    /// Its rows are the answer.
    Answer,
    /// It solved its task.
    Kept,
    /// Its task does not use it.
    Dropped,
    /// It would be the answer, but its confidence is below
    /// [`Settings::min_confidence`](crate::Settings::min_confidence).
    NotAccepted,
}

/// A statement that a strategy proposed, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateReport {
    /// The id of the candidate, unique in its search.
    pub id: String,
    /// The task that it was made for.
    pub task: String,
    /// The statement as the strategy wrote it.
    pub sql: String,
    /// The status of the candidate.
    pub status: CandidateStatus,
    /// The number of its group of equal results within the task; `None` if it has no result.
    pub cluster: Option<u32>,
    /// The calibrated confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The reason why its task uses it, or does not.
    pub reason: String,
    /// The strategy's remark; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The candidates that it was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// The strategy's step that made it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// The confidence that the model claimed, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<f64>,
    /// The verdict of the reward; `None` if it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<RewardReport>,
    /// The judgements of its statement by model calls that judge or choose; `None` if there were
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedReport>,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClarifyReport {
    /// The text of the question, for people.
    pub question: String,
    /// Answers to choose from. If there are none, any text is an answer.
    pub choices: Vec<String>,
    /// The ambiguity of the problem, 0 to 1.
    pub ambiguity: f64,
}

/// The cost of a search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CostReport {
    /// The number of model calls that were sent.
    pub calls: u32,
    /// The number of tokens in the prompts that were sent.
    pub input_tokens: u64,
    /// The number of tokens in the replies.
    pub output_tokens: u64,
    /// The price in dollars; `None` if a model has no price.
    pub usd: Option<f64>,
    /// The number of statements that the database ran.
    pub sql_runs: u32,
    /// Model calls by purpose.
    pub by_purpose: BTreeMap<String, PurposeCost>,
    /// Replies that were cut off before they held what was expected, and were not used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_off: u32,
    /// The cost of the calls that a cache answered, had they been sent.
    #[serde(default, skip_serializing_if = "SavedReport::is_nothing")]
    pub saved: SavedReport,
}

/// The cost of calls that a cache answered, had they been sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SavedReport {
    /// The number of tokens in the prompts that were not sent.
    pub input_tokens: u64,
    /// The number of tokens in the replies that a cache had.
    pub output_tokens: u64,
    /// The price in dollars that was saved; `None` if a model has no price.
    pub usd: Option<f64>,
}

impl SavedReport {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns whether a count is 0 and need not be written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl CostReport {
    /// Model calls whose tokens are estimated, since the endpoint did not report them.
    #[must_use]
    pub fn count_estimates(&self) -> u32 {
        self.by_purpose.values().map(|purpose| purpose.estimated).sum()
    }

    /// Model calls that a cache answered.
    #[must_use]
    pub fn count_cache_hits(&self) -> u32 {
        self.by_purpose.values().map(|purpose| purpose.cached).sum()
    }

    /// The price of all calls, sent or from a cache, as if each had been sent; `None` if a model
    /// has no price.
    #[must_use]
    pub fn usd_of_all(&self) -> Option<f64> {
        let part = |calls: u32, usd: Option<f64>| if calls == 0 { Some(0.0) } else { usd };
        Some(part(self.calls, self.usd)? + part(self.count_cache_hits(), self.saved.usd)?)
    }
}

/// The time that a search took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TimeReport {
    /// The time from the question to the answer.
    pub total: f64,
    /// The time until the planner has made a search graph.
    pub plan: f64,
    /// While the tasks of the graph were solved.
    pub solve: f64,
    /// The time from the end of the last task to the answer.
    pub aggregate: f64,
}

/// One plugin of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PluginReport {
    /// The role in which it was called.
    pub role: Role,
    /// The name that the plugin gives itself.
    pub name: String,
    /// The version that the plugin gives itself.
    pub version: String,
    /// The sha256 of its bytes, in hex: its identity.
    pub digest: String,
    /// CPU time over all its calls, in milliseconds, to 10 ms.
    pub cpu_ms: u64,
    /// The most linear memory that one call had, in bytes.
    pub memory_peak: u64,
}

/// Something that happened in a search, as it happens.
#[derive(Debug, Clone)]
pub enum SearchEvent {
    /// A plugin is being compiled, once.
    Compiling {
        /// Its name or path.
        plugin: String,
    },
    /// The linker has selected tables.
    Linked {
        /// The number of tables that other roles see from now on.
        selected: usize,
        /// The number of tables in the whole catalog.
        of: usize,
    },
    /// The question became that many tasks.
    Planned {
        /// The number of tasks in the planner's first graph.
        tasks: usize,
    },
    /// The solver of a task was called.
    TaskStarted {
        /// The id of the task.
        id: String,
        /// The description of what it is to find out.
        text: String,
    },
    /// A task has a result, or failed.
    TaskEnded {
        /// The id of the task.
        id: String,
        /// The ending, in a word or a sentence.
        ending: String,
        /// The confidence of its best candidate.
        confidence: Option<f64>,
    },
    /// A plugin remarked something.
    Note {
        /// The label of the role call, such as `solver(A)`.
        call: String,
        /// The importance of the remark.
        level: Level,
        /// The remark, within the limit of a log line.
        message: String,
    },
    /// A clarification starts the search over.
    Refined {
        /// The number of clarifications so far.
        round: u32,
    },
}

/// Receives the events of a search. It is called from the search's own tasks, which wait for it.
pub trait Observer: Send + Sync {
    /// Called with each event, in the order in which they happen.
    fn event(&self, event: &SearchEvent);

    /// Called when a task is put into the search graph, or in the place of one with the same id.
    /// The task has not ended.
    fn task(&self, _: &TaskReport) {}

    /// Called when a candidate is proposed, and again when more is known about it. Its status and
    /// its group are those of the end of the search once its task has ended; until then they may
    /// be missing. It must not wait for the search.
    fn candidate(&self, _: &CandidateReport) {}

    /// Called with each step that the strategy reports, such as a branch, as far as the search's
    /// report may hold it. It must not wait for the search.
    fn step(&self, _: &StepReport) {}
}

/// The observer of a search that nobody watches.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: &SearchEvent) {}
}

/// Answers the questions of a search to its user.
#[async_trait]
pub trait Ask: Send + Sync {
    /// The user's answer; `None` if the user would not say.
    async fn ask(&self, question: &Question) -> Option<String>;
}
