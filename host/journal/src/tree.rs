//! The search tree: what people want to know of a run, read from its journal, whether the run ended, was killed or still goes on.
//!
//! Edges are those that the journal holds; nothing is guessed. What the journal does not say, such as how a task ended that was under way
//! when the process was killed, is absent. Nothing here shows a cell or a prompt unless [`Shown`] allows it.

mod build;
mod call;
mod calls;
mod candidates;
mod end;
mod summary;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syrch_core::ledger::PurposeCost;
use syrch_core::roles::Relevant;
use syrch_core::{Edit, Ending, Join, Signals, TaskId, Verdict};

use crate::read::Journal;
use crate::record::{CallId, PluginRecord};

pub use call::{CallEnd, ModelNode, Note, PortCall, RoleCall, What};
pub use summary::Summary;

/// What [`SearchTree::schema`] says.
pub const TRACE_SCHEMA: &str = "syrch.trace/2";

/// How much of what may quote cells is taken over from the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// Rows of the answer at most; none: neither rows nor the sentence, which quotes them.
    pub rows: Option<usize>,
    /// Whether prompts and replies are taken over.
    pub prompts: bool,
}

/// A run, as people look at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchTree {
    /// Always [`TRACE_SCHEMA`].
    pub schema: String,
    /// The run's id.
    pub run: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// Microseconds from its begin to the last thing that its journal tells.
    pub took_us: u64,
    /// When it went on after it was killed, in milliseconds since 1970.
    pub resumed_ms: Vec<u64>,
    /// The host's version.
    pub host: String,
    /// The question as asked.
    pub question: String,
    /// What the user added to explain terms.
    pub evidence: Option<String>,
    /// The database's name.
    pub database: String,
    /// What its statements are written in.
    pub dialect: String,
    /// Who answered model calls.
    pub provider: String,
    /// The names of models that a request could hold, the default first.
    pub models: Vec<String>,
    /// The plugins.
    pub plugins: Vec<PluginRecord>,
    /// Everything else that the search was told.
    pub settings: serde_json::Value,
    /// How it ended.
    pub outcome: OutcomeNode,
    /// The answer; none when there is none.
    pub answer: Option<AnswerNode>,
    /// The searches over each wording of the problem.
    pub rounds: Vec<Round>,
    /// The role calls, in the order in which they began.
    pub role_calls: Vec<RoleCall>,
    /// The port calls that took time, in the order in which they were made.
    pub calls: Vec<PortCall>,
    /// What it cost.
    pub cost: Cost,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OutcomeNode {
    /// `answered`, `no-answer`, `clarification-needed`, `failed`; `unfinished` when the journal does not say.
    pub kind: String,
    /// Why it failed.
    pub reason: Option<String>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerNode {
    /// In words; none: left out, since it quotes rows.
    pub text: Option<String>,
    /// The statement whose rows are the answer.
    pub sql: Option<String>,
    /// Column names, by position.
    pub columns: Vec<String>,
    /// As many rows as may be shown.
    pub rows: Vec<Vec<serde_json::Value>>,
    /// How many there are.
    pub row_count: u64,
    /// Whether a cap cut them in the search.
    pub truncated: bool,
    /// What the model claimed, 0 to 1.
    pub claimed: Option<f64>,
    /// What calibrator and aggregator made of it, 0 to 1.
    pub confidence: Option<f64>,
    /// Equal for equal rows in any order; none: they were left out. Not written, since few rows can be guessed from it.
    #[serde(skip)]
    pub digest: Option<String>,
}

/// The search over one wording of the problem.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Round {
    /// Which, from 0.
    pub number: u32,
    /// When it began, in microseconds since the run did.
    pub began_us: u64,
    /// What the linker kept of the catalog; none: nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<LinkedNode>,
    /// The task whose result answers the question.
    pub answer: Option<TaskId>,
    /// The tasks, in the order in which they came to be.
    pub tasks: Vec<TaskNode>,
    /// Candidates that no task of the graph was made for.
    pub candidates: Vec<CandidateNode>,
    /// What the planner did on the way.
    pub changes: Vec<Change>,
    /// What the user was asked at the end.
    pub questions: Vec<Asked>,
}

/// What a linker kept of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkedNode {
    /// The tables that were shown from then on, most relevant first; none: all of them.
    pub tables: Vec<Relevant>,
    /// Of how many.
    pub of: usize,
    /// How many hints it gave.
    pub hints: usize,
}

/// Where a task came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskOrigin {
    /// The planner's first graph.
    #[default]
    Graph,
    /// An edit of the planner's.
    Edit,
    /// A solver put it in the place of another task.
    Subtask,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TaskNode {
    /// Its id, unique within the round.
    pub id: TaskId,
    /// What to find out.
    pub text: String,
    /// Where it came from.
    pub from: TaskOrigin,
    /// What it does: `solve`, `choose`, or another name.
    pub operation: String,
    /// The tasks whose results it needs.
    pub depends_on: Vec<TaskId>,
    /// How many of them.
    pub join: Join,
    /// Whether it runs although a dependency failed.
    pub tolerant: bool,
    /// The task it was made from.
    pub parent: Option<TaskId>,
    /// The tasks that its solver put in its place; the last gives its result.
    pub subtasks: Vec<TaskId>,
    /// When it started, in microseconds since the run began.
    pub started_us: Option<u64>,
    /// When it ended.
    pub ended_us: Option<u64>,
    /// How; none: it did not, or never started.
    pub ending: Option<Ending>,
    /// Its candidates, in the order in which they were proposed.
    pub candidates: Vec<CandidateNode>,
    /// Different statements that were run for it.
    pub statements: u32,
    /// How many statements failed, when they were checked or when they ran, by kind.
    pub errors: BTreeMap<String, u32>,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Its rows are the answer.
    Answer,
    /// It solved its task.
    Kept,
    /// It was not used.
    Dropped,
    /// Nobody had decided when the journal ends.
    #[default]
    Open,
}

impl Status {
    /// The status in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Kept => "kept",
            Self::Dropped => "dropped",
            Self::Open => "open",
        }
    }
}

/// A candidate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CandidateNode {
    /// Its id.
    pub id: String,
    /// The candidates that it was made from.
    pub parents: Vec<String>,
    /// The step that made it.
    pub origin: String,
    /// The statement as the strategy wrote it.
    pub sql: String,
    /// What became of it.
    pub status: Status,
    /// Candidates of one task with equal results share a number; none: it has no result.
    pub cluster: Option<u32>,
    /// What the model claimed, 0 to 1.
    pub claimed: Option<f64>,
    /// What the calibrator made of it, 0 to 1.
    pub confidence: Option<f64>,
    /// Why it was kept or dropped.
    pub reason: Option<String>,
    /// Why its strategy thinks that it is right.
    pub rationale: Option<String>,
    /// What happened on the way to it.
    pub signals: Signals,
    /// What a judge said.
    pub verdict: Option<Verdict>,
    /// Rows of its result.
    pub rows: Option<u64>,
    /// Equal for equal results in any order of rows; none: unknown. Not written, since few rows can be guessed from it.
    #[serde(skip)]
    pub digest: Option<String>,
}

/// What the planner did on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When, in microseconds since the run began.
    pub at_us: u64,
    /// What it changed.
    pub edits: Vec<Edit>,
    /// Why its step was refused; none: it was taken.
    pub refused: Option<String>,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// When it was answered, in microseconds since the run began.
    pub at_us: u64,
    /// The question.
    pub text: String,
    /// Answers to choose from.
    pub choices: Vec<String>,
    /// What the user said; none: nothing.
    pub answer: Option<String>,
}

/// What a run cost, by its books.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Model calls that were sent.
    pub calls: u32,
    /// Model calls that a cache answered.
    pub cached: u32,
    /// Model calls that were sent and whose end the journal does not tell; they stay charged.
    pub in_flight: u32,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
    /// What the calls that a cache answered would have used and cost.
    #[serde(default, skip_serializing_if = "Saved::is_nothing")]
    pub saved: Saved,
    /// Tokens charged to the budget, calls in flight and those that a cache answered included.
    pub tokens_charged: u64,
    /// Statements.
    pub sql_runs: u32,
    /// Money; none: unknown.
    pub usd: Option<f64>,
    /// By purpose.
    pub by_purpose: BTreeMap<String, PurposeCost>,
    /// The budgets that refused something.
    pub refused: Vec<String>,
}

/// What calls that a cache answered would have used and cost, had they been sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Saved {
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
    /// Money; none: unknown.
    pub usd: Option<f64>,
}

impl Saved {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl SearchTree {
    /// The tree of a journal.
    #[must_use]
    pub fn of(journal: &Journal, shown: Shown) -> Self {
        build::Builder::new(journal, shown).run()
    }

    /// The round whose result is the run's: the last.
    #[must_use]
    pub fn last_round(&self) -> Option<&Round> {
        self.rounds.last()
    }

    /// The role call of that number.
    #[must_use]
    pub fn role_call(&self, call: CallId) -> Option<&RoleCall> {
        // They are numbered as they come, but for a journal that was tampered with.
        let place = usize::try_from(call).ok().and_then(|place| self.role_calls.get(place));
        place.filter(|known| known.call == call).or_else(|| self.role_calls.iter().find(|known| known.call == call))
    }
}

impl Round {
    /// The task of that id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<&TaskNode> {
        self.tasks.iter().find(|task| task.id == id)
    }
}
