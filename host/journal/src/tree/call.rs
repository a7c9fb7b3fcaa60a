//! Role calls and port calls of a search tree.

use serde::{Deserialize, Serialize};
use syrch_core::TaskId;
use syrch_core::ports::{Level, Message};
use syrch_core::roles::Role;

use crate::record::CallId;

/// A role call of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleCall {
    /// The number of the role call.
    pub call: CallId,
    /// The number of the round.
    pub round: u32,
    /// The role that was called.
    pub role: Role,
    /// The task that it works on; empty when it works on none.
    pub task: TaskId,
    /// The role call that waits for it.
    pub within: Option<CallId>,
    /// The time at which it started, in microseconds since the run did.
    pub began_us: u64,
    /// The time at which it ended; `None` when it did not.
    pub ended_us: Option<u64>,
    /// The reason why it failed; `None` when it did not.
    pub error: Option<String>,
    /// The plugin's remarks, in order.
    pub notes: Vec<Note>,
    /// The names of the strategy's own steps.
    pub steps: Vec<String>,
}

/// A remark of a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The time at which it was made, in microseconds since the run started.
    pub at_us: u64,
    /// The importance of the remark.
    pub level: Level,
    /// The text of the remark.
    pub message: String,
}

/// The ending of a port call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallEnd {
    /// The call returned a result.
    Done,
    /// The call failed with an error.
    Failed,
    /// The plugin cancelled the call, or ended without it.
    GivenUp,
    /// The end is not in the journal.
    #[default]
    Open,
}

impl CallEnd {
    /// The end in one or two words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::GivenUp => "given up",
            Self::Open => "open",
        }
    }
}

/// A port call that took time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortCall {
    /// The role call that made it.
    pub call: CallId,
    /// Its ticket within the role call; 0 for the host's own.
    pub ticket: u32,
    /// The name of the port's function.
    pub port: String,
    /// Its position in the order in which calls were made, from 1.
    pub issued: u32,
    /// Its position in the order in which calls ended, from 1.
    pub completed: Option<u32>,
    /// The time at which it was made, in microseconds since the run started.
    pub issued_us: u64,
    /// The time at which it ended, in microseconds since the run started.
    pub done_us: Option<u64>,
    /// The ending of the call.
    pub end: CallEnd,
    /// The reason why the call failed; `None` when it did not.
    pub error: Option<String>,
    /// The work of the call.
    pub what: What,
}

/// The work of a port call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum What {
    /// It called a model.
    Model(ModelNode),
    /// It ran, checked or explained a statement.
    Statement {
        /// The statement as the strategy wrote it.
        sql: String,
        /// The number of rows of the result.
        rows: Option<u64>,
        /// The kind of the statement's error.
        error_kind: Option<String>,
    },
    /// It did something else.
    Other,
}

/// A model call of the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelNode {
    /// The name of the call's purpose.
    pub purpose: String,
    /// The model that answered, or that was requested.
    pub model: Option<String>,
    /// The number of this sample among several of the same prompt.
    pub sample: u32,
    /// Tokens of the prompt.
    pub input_tokens: u32,
    /// Tokens of the reply.
    pub output_tokens: u32,
    /// The price in millionths; `None` when it is unknown.
    pub cost_micros: Option<u64>,
    /// True if a cache answered. Ledger entries name purpose and tokens of what a cache answered;
    /// of equal calls at the same time, either may be meant.
    pub cached: bool,
    /// The prompt; empty when it is hidden.
    pub prompt: Vec<Message>,
    /// The reply; `None` when it is hidden or there was none.
    pub reply: Option<String>,
    /// The reasons for which the request was sent again, and the remark which of several
    /// statements of the reply is used; `None` without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}
