//! How a role call can fail.

use serde::{Deserialize, Serialize};

use crate::Failure;

/// A role call's failure. Whatever it is, the plugin's store is gone and the host goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "lowercase")]
pub enum RoleError {
    /// The plugin says honestly that it failed.
    #[error("{plugin}: {failure}")]
    Failure {
        /// Which plugin.
        plugin: String,
        /// What it says.
        failure: Failure,
    },
    /// The guest trapped.
    #[error("{plugin} trapped in `{export}`: {reason}")]
    Trap {
        /// Which plugin.
        plugin: String,
        /// In which function.
        export: String,
        /// Why; the engine's words, cut to a line and not the guest's data.
        reason: String,
    },
    /// The guest hit a limit.
    #[error("{plugin} hit the limit `{limit}` in `{export}`: {detail}")]
    Limit {
        /// Which plugin.
        plugin: String,
        /// In which function.
        export: String,
        /// The limit's name, such as `cpu-per-call` or `memory`.
        limit: String,
        /// The limit's value and what was asked.
        detail: String,
    },
    /// The guest returned a value that the contract forbids.
    #[error("{plugin} returned an invalid value from `{export}`: {detail}")]
    Invalid {
        /// Which plugin.
        plugin: String,
        /// From which function.
        export: String,
        /// Which field and what is wrong with it.
        detail: String,
    },
    /// The host had no room for the call, through no fault of the plugin.
    #[error("the host has no room for {plugin}: {reason}")]
    Unavailable {
        /// Which plugin.
        plugin: String,
        /// What was missing.
        reason: String,
    },
    /// The search's deadline passed.
    #[error("the search's deadline passed")]
    Deadline,
    /// Somebody cancelled it.
    #[error("cancelled")]
    Cancelled,
}

impl RoleError {
    /// Whether the plugin is to blame, rather than the world or the user.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Trap { .. } | Self::Limit { .. } | Self::Invalid { .. })
    }
}
