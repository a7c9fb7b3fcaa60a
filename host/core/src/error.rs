//! The errors of role calls.

use serde::{Deserialize, Serialize};

use crate::{Failure, FailureKind};

/// The reason why a role call failed. After each of these the plugin's store is discarded, and the
/// host continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "lowercase")]
pub enum RoleError {
    /// The plugin returned a typed failure.
    #[error("{plugin}: {failure}")]
    Failure {
        /// The name by which the host loaded the plugin.
        plugin: String,
        /// The failure that it returned, with its texts clipped.
        failure: Failure,
    },
    /// The guest trapped, as on a panic or an invalid memory access.
    #[error("{plugin} trapped in `{export}`: {reason}")]
    Trap {
        /// The name by which the host loaded the plugin.
        plugin: String,
        /// The function that was called, such as `solver.solve`.
        export: String,
        /// The engine's message, cut to one line; it holds none of the guest's data but what the
        /// guest printed itself.
        reason: String,
    },
    /// The guest went over a limit.
    #[error("{plugin} hit the limit `{limit}` in `{export}`: {detail}")]
    Limit {
        /// The name by which the host loaded the plugin.
        plugin: String,
        /// The function that was called.
        export: String,
        /// The limit's name, such as `cpu-per-call` or `memory`.
        limit: String,
        /// The limit's value, and what the guest asked for.
        detail: String,
    },
    /// The guest returned a value that the contract forbids.
    #[error("{plugin} returned an invalid value from `{export}`: {detail}")]
    Invalid {
        /// The name by which the host loaded the plugin.
        plugin: String,
        /// The function that returned it.
        export: String,
        /// The field, and what is wrong with it.
        detail: String,
    },
    /// The host had no memory or no slot for the call, which is not the plugin's fault.
    #[error("the host has no capacity for {plugin}: {reason}")]
    Unavailable {
        /// The name by which the host loaded the plugin.
        plugin: String,
        /// The resource that was missing.
        reason: String,
    },
    /// The search's deadline passed.
    #[error("the search's deadline passed")]
    Deadline,
    /// The host or the user cancelled the call.
    #[error("cancelled")]
    Cancelled,
}

impl RoleError {
    /// Returns whether the plugin is to blame: it trapped, went over a limit, returned an invalid
    /// value, or failed by an error of its own, such as an exception that nobody caught.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Trap { .. } | Self::Limit { .. } | Self::Invalid { .. } => true,
            Self::Failure { failure, .. } => failure.kind == FailureKind::Internal,
            Self::Unavailable { .. } | Self::Deadline | Self::Cancelled => false,
        }
    }
}
