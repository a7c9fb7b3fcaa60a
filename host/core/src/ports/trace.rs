//! What people see of a search.

use crate::{Candidate, Json};

/// How loud a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For the strategy's author.
    Debug,
    /// For the curious.
    Info,
    /// For everybody.
    Warn,
}

/// The port `trace` of one role call. Nothing here fails; what goes over the quota is dropped and counted.
pub trait TracePort: Send + Sync {
    /// A remark.
    fn note(&self, level: Level, message: &str);
    /// A candidate exists.
    fn propose(&self, candidate: &Candidate);
    /// A candidate is kept.
    fn keep(&self, candidate: &str, reason: &str);
    /// A candidate is dropped.
    fn discard(&self, candidate: &str, reason: &str);
    /// A step of the strategy's own.
    fn event(&self, candidate: Option<&str>, name: &str, data: &Json);
}
