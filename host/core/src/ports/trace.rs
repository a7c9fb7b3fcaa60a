//! The events of a search that people see while it runs and in its trace.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Candidate, Json};

/// The importance of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The note is for the strategy's author.
    Debug,
    /// The note is shown on request.
    Info,
    /// The note is shown to everybody.
    Warn,
}

/// The port `trace` of one role call. Nothing here fails; what exceeds the quota is dropped and
/// counted.
#[async_trait]
pub trait TracePort: Send + Sync {
    /// Called when a guest makes a remark.
    async fn note(&self, level: Level, message: &str);
    /// Called when a guest has a new candidate.
    async fn propose(&self, candidate: &Candidate);
    /// Called when a guest accepts a candidate.
    async fn keep(&self, candidate: &str, reason: &str);
    /// Called when a guest drops a candidate.
    async fn discard(&self, candidate: &str, reason: &str);
    /// Called at a step of the strategy's own.
    async fn event(&self, candidate: Option<&str>, name: &str, data: &Json);
    /// Called for each line that the guest printed, after its role call.
    fn print_line(&self, line: &str);
}
