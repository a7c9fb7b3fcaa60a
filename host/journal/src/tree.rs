//! The search tree: a run in a form for people, read from its journal, whether the run ended, was
//! killed or is in progress.
//!
//! Edges are those of the journal; nothing is guessed. What the journal lacks, such as the end of a
//! task that was running when the process was killed, is absent. No cell and no prompt is shown
//! unless [`Shown`] allows it.

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
use syrch_core::{Access, Edit, Ending, Join, Signals, Stated, TaskId, Verdict};

use crate::read::Journal;
use crate::record::{CallId, PluginRecord};

pub use call::{CallEnd, ModelNode, Note, PortCall, RoleCall, What};
pub use summary::Summary;

/// The value of [`SearchTree::schema`].
pub const TRACE_SCHEMA: &str = "syrch.trace/2";

/// The selection of what may quote cells, for a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// The most rows of the answer; `None` hides the rows and the sentence, which quotes them.
    pub rows: Option<usize>,
    /// True if prompts and replies are included.
    pub prompts: bool,
}

/// A run in a form for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchTree {
    /// The document's schema, always [`TRACE_SCHEMA`].
    pub schema: String,
    /// The id of the run.
    pub run: String,
    /// The time at which the run started, in milliseconds since 1970.
    pub began_ms: u64,
    /// Microseconds from the start to the last record of the journal.
    pub took_us: u64,
    /// The time at which the run was resumed after it was killed, in milliseconds since 1970.
    pub resumed_ms: Vec<u64>,
    /// The version of the host.
    pub host: String,
    /// The question as the user asked it.
    pub question: String,
    /// The user's explanation of terms.
    pub evidence: Option<String>,
    /// The user's answers to the questions of earlier searches for it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answered>,
    /// The name of the database.
    pub database: String,
    /// The SQL dialect of the statements.
    pub dialect: String,
    /// The provider of model calls.
    pub provider: String,
    /// The names that a request could hold, the default first.
    pub models: Vec<String>,
    /// The plugins of the strategy.
    pub plugins: Vec<PluginRecord>,
    /// The use that plugins which are not built in made of their grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// All other settings of the search.
    pub settings: serde_json::Value,
    /// The ending of the run.
    pub outcome: OutcomeNode,
    /// The answer; `None` when the run has none.
    pub answer: Option<AnswerNode>,
    /// The searches, one for each wording of the problem.
    pub rounds: Vec<Round>,
    /// The role calls, in the order in which they started.
    pub role_calls: Vec<RoleCall>,
    /// The port calls that took time, in the order in which they were made.
    pub calls: Vec<PortCall>,
    /// The cost of the run.
    pub cost: Cost,
    /// Remarks for the reader.
    pub warnings: Vec<String>,
}

/// The user's answer to a question of an earlier search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The question of the search.
    pub question: String,
    /// The user's answer.
    pub answer: String,
}

impl From<(String, String)> for Answered {
    fn from((question, answer): (String, String)) -> Self {
        Self { question, answer }
    }
}

/// The ending of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OutcomeNode {
    /// `answered`, `no-answer`, `clarification-needed` or `failed`; `unfinished` when the journal
    /// has no end.
    pub kind: String,
    /// The reason why the run failed.
    pub reason: Option<String>,
    /// True if the user stopped the run.
    pub interrupted: bool,
}

/// The answer of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerNode {
    /// The answer in words; `None` when it is hidden, since it quotes rows.
    pub text: Option<String>,
    /// The statement whose rows are the answer.
    pub sql: Option<String>,
    /// Column names, by position.
    pub columns: Vec<String>,
    /// The rows, as many as may be shown.
    pub rows: Vec<Vec<serde_json::Value>>,
    /// The number of rows.
    pub row_count: u64,
    /// True if a cap cut them in the search.
    pub truncated: bool,
    /// The confidence that the model claimed, 0 to 1.
    pub claimed: Option<f64>,
    /// The confidence after calibrator and aggregator, 0 to 1.
    pub confidence: Option<f64>,
    /// Equal for equal rows in any order; `None` when the document lacks the rows. It is not
    /// serialised, since few rows can be guessed from it.
    #[serde(skip)]
    pub digest: Option<String>,
}

/// The search over one wording of the problem.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Round {
    /// The number of the wording, from 0.
    pub number: u32,
    /// The time at which the search started, in microseconds since the run did.
    pub began_us: u64,
    /// The linker's choice; `None` when there was no linker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<LinkedNode>,
    /// The task whose result answers the question.
    pub answer: Option<TaskId>,
    /// The tasks, in the order in which they were added.
    pub tasks: Vec<TaskNode>,
    /// Candidates that belong to no task of the graph.
    pub candidates: Vec<CandidateNode>,
    /// The planner's changes of the graph.
    pub changes: Vec<Change>,
    /// The questions to the user at the end of the round.
    pub questions: Vec<Asked>,
}

/// The part of the catalog that a linker selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkedNode {
    /// The tables that roles saw from then on, most relevant first; an empty list means all.
    pub tables: Vec<Relevant>,
    /// The number of tables of the catalog.
    pub of: usize,
    /// The number of the linker's hints.
    pub hints: usize,
}

/// The origin of a task in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskOrigin {
    /// Added by the planner's first graph.
    #[default]
    Graph,
    /// Added by an edit of the planner.
    Edit,
    /// Added by a solver, in the place of another task.
    Subtask,
}

/// A task of the graph.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TaskNode {
    /// Unique within the round.
    pub id: TaskId,
    /// The description of what the task finds out.
    pub text: String,
    /// The origin of the task in the graph.
    pub from: TaskOrigin,
    /// The operation that carries it out: `solve`, `retrieve`, `choose`, or another name.
    pub operation: String,
    /// The tasks whose results it needs.
    pub depends_on: Vec<TaskId>,
    /// The number of these that must have succeeded.
    pub join: Join,
    /// True if it runs even if dependencies failed.
    pub tolerant: bool,
    /// The task that it was made from.
    pub parent: Option<TaskId>,
    /// The planner's confidence in the task, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// A description of the expected result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The plan, the parts and the requirements that the planner states.
    #[serde(flatten)]
    pub stated: Stated,
    /// The tasks that its solver put in its place; the last gives its result.
    pub subtasks: Vec<TaskId>,
    /// The time at which it started, in microseconds since the run did.
    pub started_us: Option<u64>,
    /// The time at which it ended, in microseconds since the run started.
    pub ended_us: Option<u64>,
    /// The ending of the task; `None` when it did not end, or never started.
    pub ending: Option<Ending>,
    /// Its candidates, in the order in which they were proposed.
    pub candidates: Vec<CandidateNode>,
    /// The nodes of a flow that its solver visited, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<Visit>,
    /// The number of different statements that were run for it.
    pub statements: u32,
    /// The number of statements that failed, when they were checked or when they ran, by
    /// [`syrch_core::SqlErrorKind::name`].
    pub errors: BTreeMap<String, u32>,
}

/// A visit of a node in a flow, as its solver logs it by the event `visit`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Visit {
    /// The names of the nodes that lead to it, the node's own last, with `/` between them.
    pub node: String,
    /// The word that the node ended with, which decides what follows.
    pub action: String,
    /// The number of the branch of the flow.
    pub branch: u64,
    /// The candidate that the branch had then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
}

/// The status of a candidate at the end of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The candidate's rows are the answer.
    Answer,
    /// The candidate solved its task.
    Kept,
    /// The candidate was not used.
    Dropped,
    /// The journal ends before a decision.
    #[default]
    Open,
}

impl Status {
    /// The status as one word.
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

/// A candidate of a task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CandidateNode {
    /// The candidate's id, by which other candidates name it as their parent.
    pub id: String,
    /// The candidates that it was made from.
    pub parents: Vec<String>,
    /// The step that made it.
    pub origin: String,
    /// The statement as the strategy wrote it.
    pub sql: String,
    /// The status of the candidate.
    pub status: Status,
    /// A number that candidates of one task with equal results share; `None` without a result.
    pub cluster: Option<u32>,
    /// The confidence that the model claimed, 0 to 1.
    pub claimed: Option<f64>,
    /// The calibrated confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The reason why it was accepted or dropped.
    pub reason: Option<String>,
    /// The strategy's reason why it should be right.
    pub rationale: Option<String>,
    /// The counts over the attempts before it was found.
    pub signals: Signals,
    /// The verdict of the reward plugin; `None` without one.
    pub verdict: Option<Verdict>,
    /// The number of rows of its result.
    pub rows: Option<u64>,
    /// Equal for equal results in any order of rows; `None` when the result is unknown. It is not
    /// serialised, since few rows can be guessed from it.
    #[serde(skip)]
    pub digest: Option<String>,
}

/// A step of the planner while the graph ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The time at which it was made, in microseconds since the run started.
    pub at_us: u64,
    /// The changes of the graph.
    pub edits: Vec<Edit>,
    /// The reason why the step was refused; `None` when it was applied.
    pub refused: Option<String>,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The time at which it was answered, in microseconds since the run started.
    pub at_us: u64,
    /// The text that the user was shown.
    pub text: String,
    /// The answers to choose from.
    pub choices: Vec<String>,
    /// The user's answer; `None` when there was none.
    pub answer: Option<String>,
}

/// The cost of a run, from its ledger entries.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Model calls that were sent.
    pub calls: u32,
    /// Model calls that a cache answered.
    pub cached: u32,
    /// Model calls that were sent and whose end is not in the journal; they stay charged.
    pub in_flight: u32,
    /// Tokens of the prompts of settled calls.
    pub input_tokens: u64,
    /// Tokens of the replies of settled calls.
    pub output_tokens: u64,
    /// The tokens and the cost of the calls that a cache answered, had they been sent.
    #[serde(default, skip_serializing_if = "Saved::is_nothing")]
    pub saved: Saved,
    /// Tokens charged to the budget, those of calls in flight and of calls that a cache answered
    /// included.
    pub tokens_charged: u64,
    /// Statements that were run or explained.
    pub sql_runs: u32,
    /// The cost in dollars; `None` when it is unknown.
    pub usd: Option<f64>,
    /// Calls and tokens by purpose.
    pub by_purpose: BTreeMap<String, PurposeCost>,
    /// The budgets that refused something.
    pub refused: Vec<String>,
}

/// The tokens and the cost of calls that a cache answered, had they been sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Saved {
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens of the replies.
    pub output_tokens: u64,
    /// The cost in dollars; `None` when it is unknown.
    pub usd: Option<f64>,
}

impl Saved {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl SearchTree {
    /// Reads the tree from a journal.
    #[must_use]
    pub fn from_journal(journal: &Journal, shown: Shown) -> Self {
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
        place
            .filter(|known| known.call == call)
            .or_else(|| self.role_calls.iter().find(|known| known.call == call))
    }
}

impl Round {
    /// The task of that id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<&TaskNode> {
        self.tasks.iter().find(|task| task.id == id)
    }
}
