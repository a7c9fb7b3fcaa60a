//! A role's honest failure.

use serde::{Deserialize, Serialize};

/// What a role failed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The input.
    Input,
    /// The model.
    Model,
    /// The database.
    Database,
    /// A budget.
    Budget,
    /// It cannot do this.
    Unsupported,
    /// Somebody cancelled it.
    Cancelled,
    /// The role itself.
    Internal,
    /// Anything else, by name.
    Other(String),
}

/// A role's failure; `message` is the plugin's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What it failed over.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
}

impl Failure {
    /// A failure that trying again does not mend.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false }
    }
}
