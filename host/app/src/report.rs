//! What comes out of a search: the document `syrch.answer/1`, and the events on the way.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use syrch_core::ledger::PurposeCost;
use syrch_core::ports::Level;
use syrch_core::roles::Role;
use syrch_core::{Graph, Question, ResultSet};

pub use syrch_core::ports::Preview;

pub use crate::answer::json_value;
pub use crate::run::Searched;

/// The schema's name in [`AnswerDocument::schema`].
pub const ANSWER_SCHEMA: &str = "syrch.answer/1";

/// How a search ended, when no error ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There is an answer.
    Answered,
    /// No candidate was acceptable.
    NoAnswer,
    /// The user must be asked.
    ClarificationNeeded,
}

/// A finished search.
#[derive(Debug, Clone)]
pub struct SearchReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the user stopped it early; the answer is then the best so far.
    pub interrupted: bool,
    /// The document.
    pub document: AnswerDocument,
    /// The answer's rows.
    pub data: Option<Arc<ResultSet>>,
    /// The search graph as it stood at the end.
    pub graph: Graph,
}

/// `syrch.answer/1`: what `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerDocument {
    /// Always [`ANSWER_SCHEMA`].
    pub schema: String,
    /// The run's id.
    pub run: String,
    /// The question as asked.
    pub question: String,
    /// The answer; none when nothing was acceptable.
    pub answer: Option<AnswerBody>,
    /// The one self-contained statement whose rows are the answer.
    pub sql: Option<String>,
    /// What the statement is written in.
    pub dialect: String,
    /// How sure.
    pub confidence: Option<Confidence>,
    /// Every candidate of every task, in the order in which they were proposed.
    pub candidates: Vec<CandidateReport>,
    /// What the user should be asked.
    pub clarify: Option<ClarifyReport>,
    /// What it cost.
    pub cost: CostReport,
    /// How long it took, in milliseconds.
    pub time_ms: TimeReport,
    /// Which plugins played.
    pub plugins: Vec<PluginReport>,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

/// The answer itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerBody {
    /// In words.
    pub text: String,
    /// Column names, by position.
    pub columns: Vec<String>,
    /// The rows; bytes as `{"bytes": "<hex>"}`, numbers that JSON lacks as text.
    pub rows: Vec<Vec<serde_json::Value>>,
    /// How many rows were kept.
    pub row_count: u64,
    /// Whether a cap cut them.
    pub truncated: bool,
    /// How it came about, step by step.
    pub basis: Vec<String>,
}

/// How sure an answer is, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// What the model claimed for the candidate.
    pub raw: Option<f64>,
    /// What calibrator and aggregator made of it.
    pub calibrated: f64,
    /// How often answers of about this confidence were right, where the calibrator was fitted on graded answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests_on: Option<RestsOn>,
}

/// How often answers of about the same confidence were right in a graded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestsOn {
    /// The least confidence of these answers.
    pub low: f64,
    /// Up to which it was; 1 is among them when this is 1.
    pub high: f64,
    /// How many they were.
    pub answers: u64,
    /// How many of them were right.
    pub right: u64,
    /// The database that they were over, this one; none: all databases of the run.
    pub database: Option<String>,
    /// How many databases the run was over.
    pub databases: u64,
    /// Whether this database is none of them.
    #[serde(default)]
    pub elsewhere: bool,
    /// The run's id.
    pub run: String,
    /// The comparison rule by which they were right.
    pub rule: String,
    /// Who answered in that run: a model's name, or what stood in its place.
    pub model: String,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateStatus {
    /// Its rows are the answer.
    Answer,
    /// It solved its task.
    Kept,
    /// It was not used.
    Dropped,
    /// It would be the answer, but its confidence is below [`Settings::min_confidence`](crate::Settings::min_confidence).
    NotAccepted,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateReport {
    /// Its id.
    pub id: String,
    /// The task that it was made for.
    pub task: String,
    /// The statement as the strategy wrote it.
    pub sql: String,
    /// What became of it.
    pub status: CandidateStatus,
    /// Candidates of one task with equal results share a number; none: it has no result.
    pub cluster: Option<u32>,
    /// 0 to 1.
    pub confidence: Option<f64>,
    /// Why it was kept or dropped.
    pub reason: String,
    /// The strategy's remark; empty if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClarifyReport {
    /// The question.
    pub question: String,
    /// Answers to choose from; empty: any text.
    pub choices: Vec<String>,
    /// How unclear the problem is, 0 to 1.
    pub ambiguity: f64,
}

/// What a search cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CostReport {
    /// Model calls.
    pub calls: u32,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
    /// Money; none: unknown.
    pub usd: Option<f64>,
    /// Statements run.
    pub sql_runs: u32,
    /// Model calls by purpose.
    pub by_purpose: BTreeMap<String, PurposeCost>,
    /// What calls that a cache answered would have cost.
    #[serde(default, skip_serializing_if = "SavedReport::is_nothing")]
    pub saved: SavedReport,
}

/// What calls that a cache answered would have cost, had they been sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SavedReport {
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
    /// Money; none: unknown.
    pub usd: Option<f64>,
}

impl SavedReport {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl CostReport {
    /// Model calls that a cache answered.
    #[must_use]
    pub fn cached(&self) -> u32 {
        self.by_purpose.values().map(|purpose| purpose.cached).sum()
    }

    /// The money of all calls, sent or from a cache, as if each had been sent; none: unknown.
    #[must_use]
    pub fn usd_of_all(&self) -> Option<f64> {
        let part = |calls: u32, usd: Option<f64>| if calls == 0 { Some(0.0) } else { usd };
        Some(part(self.calls, self.usd)? + part(self.cached(), self.saved.usd)?)
    }
}

/// How long a search took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TimeReport {
    /// From the question to the answer.
    pub total: f64,
    /// Planning.
    pub plan: f64,
    /// Solving tasks.
    pub solve: f64,
    /// Making the answer.
    pub aggregate: f64,
}

/// One plugin of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PluginReport {
    /// The role it played.
    pub role: Role,
    /// Its own name.
    pub name: String,
    /// Its own version.
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
    /// The linker has looked at the catalog.
    Linked {
        /// Tables that are shown from now on.
        kept: usize,
        /// Of how many.
        of: usize,
    },
    /// The question became that many tasks.
    Planned {
        /// How many.
        tasks: usize,
    },
    /// A task started.
    TaskStarted {
        /// Its id.
        id: String,
        /// What it is to find out.
        text: String,
    },
    /// A task ended.
    TaskEnded {
        /// Its id.
        id: String,
        /// How, in a word or a sentence.
        ending: String,
        /// Of its best candidate.
        confidence: Option<f64>,
    },
    /// A plugin remarked something.
    Note {
        /// Whose call.
        call: String,
        /// How loud.
        level: Level,
        /// What.
        message: String,
    },
    /// A clarification starts the search over.
    Refined {
        /// Which time.
        round: u32,
    },
}

/// Who watches a search. Called from the search's own tasks: be quick.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: &SearchEvent);
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: &SearchEvent) {}
}

/// Who answers the search's questions.
#[async_trait]
pub trait Ask: Send + Sync {
    /// The user's answer; none: the user would not say.
    async fn ask(&self, question: &Question) -> Option<String>;
}
