//! What people see of a search.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Candidate, Json};

/// How loud a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For the strategy's author.
    Debug,
    /// For the curious.
    Info,
    /// For everybody.
    Warn,
}

/// The port `trace` of one role call. Nothing here fails; what goes over the quota is dropped and counted.
#[async_trait]
pub trait TracePort: Send + Sync {
    /// A remark.
    async fn note(&self, level: Level, message: &str);
    /// A candidate exists.
    async fn propose(&self, candidate: &Candidate);
    /// A candidate is kept.
    async fn keep(&self, candidate: &str, reason: &str);
    /// A candidate is dropped.
    async fn discard(&self, candidate: &str, reason: &str);
    /// A step of the strategy's own.
    async fn event(&self, candidate: Option<&str>, name: &str, data: &Json);
    /// A line that the guest printed; its role call is over.
    fn printed(&self, line: &str);
}
