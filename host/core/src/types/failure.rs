//! A failure that a plugin returns.

use serde::{Deserialize, Serialize};

/// The cause of a plugin's failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// An argument of the call is unusable.
    Input,
    /// A model call failed.
    Model,
    /// A statement or another call of the database failed.
    Database,
    /// A budget is used up.
    Budget,
    /// The plugin does not support the request.
    Unsupported,
    /// The call was cancelled.
    Cancelled,
    /// The plugin itself is at fault.
    Internal,
    /// Another cause, by name.
    Other(String),
}

/// A plugin's typed failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of the cause.
    pub kind: FailureKind,
    /// The plugin's own message.
    pub message: String,
    /// True if another try may succeed.
    pub retryable: bool,
}

impl Failure {
    /// A failure for which another try is useless.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false }
    }
}
