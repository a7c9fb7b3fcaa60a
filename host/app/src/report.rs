//! What comes out of a search: the document `syrch.answer/1`, and the events on the way.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use syrch_core::ledger::PurposeCost;
use syrch_core::ports::Level;
use syrch_core::roles::Role;
use syrch_core::{Graph, Question, ResultSet};

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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// What the model claimed for the candidate.
    pub raw: Option<f64>,
    /// What calibrator and aggregator made of it.
    pub calibrated: f64,
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
