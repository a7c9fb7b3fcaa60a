//! Role calls and port calls, as people look at them.

use serde::{Deserialize, Serialize};
use syrch_core::TaskId;
use syrch_core::ports::{Level, Message};
use syrch_core::roles::Role;

use crate::record::CallId;

/// A role call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleCall {
    /// Its number.
    pub call: CallId,
    /// The round.
    pub round: u32,
    /// The role.
    pub role: Role,
    /// The task that it works on; empty for none.
    pub task: TaskId,
    /// The role call that waits for it.
    pub within: Option<CallId>,
    /// When it began, in microseconds since the run did.
    pub began_us: u64,
    /// When it ended; none: it did not.
    pub ended_us: Option<u64>,
    /// Why it failed.
    pub error: Option<String>,
    /// What its plugin remarked.
    pub notes: Vec<Note>,
    /// The names of its strategy's own steps.
    pub steps: Vec<String>,
}

/// A plugin's remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// When, in microseconds since the run began.
    pub at_us: u64,
    /// How loud.
    pub level: Level,
    /// What.
    pub message: String,
}

/// How a port call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallEnd {
    /// Well.
    Done,
    /// With an error.
    Failed,
    /// The plugin no longer waited for it.
    GivenUp,
    /// The journal does not say.
    #[default]
    Open,
}

impl CallEnd {
    /// The end in a word or two.
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
    /// Whose.
    pub call: CallId,
    /// Its number within that; 0: the host's own.
    pub ticket: u32,
    /// The port's function.
    pub port: String,
    /// Its place in the order in which calls were made, from 1.
    pub issued: u32,
    /// Its place in the order in which calls ended, from 1.
    pub completed: Option<u32>,
    /// When it was made, in microseconds since the run began.
    pub issued_us: u64,
    /// When it ended.
    pub done_us: Option<u64>,
    /// How it ended.
    pub end: CallEnd,
    /// Why it failed.
    pub error: Option<String>,
    /// What it was.
    pub what: What,
}

/// What a port call was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum What {
    /// A model call.
    Model(ModelNode),
    /// A statement that was run, checked or explained.
    Statement {
        /// The statement as the strategy wrote it.
        sql: String,
        /// Rows of its result.
        rows: Option<u64>,
        /// The error's kind.
        error_kind: Option<String>,
    },
    /// Anything else.
    Other,
}

/// A model call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelNode {
    /// Why it was made.
    pub purpose: String,
    /// The model that answered, or that was asked for.
    pub model: Option<String>,
    /// Which of several samples of the same prompt.
    pub sample: u32,
    /// Tokens of the prompt.
    pub input_tokens: u32,
    /// Tokens of the reply.
    pub output_tokens: u32,
    /// Price in millionths; none: unknown.
    pub cost_micros: Option<u64>,
    /// Whether a cache answered. The books name purpose and tokens of what a cache answered; of equal calls at the same time, either may be
    /// the one.
    pub cached: bool,
    /// The prompt; empty: left out.
    pub prompt: Vec<Message>,
    /// The reply; none: left out, or there was none.
    pub reply: Option<String>,
}
