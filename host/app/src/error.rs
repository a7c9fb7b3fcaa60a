//! Errors before, during and after a search, in the classes that callers distinguish.

use syrch_core::ledger::Exhausted;
use syrch_core::ports::{DatabaseError, LlmError, Obstacle, Preview, RowsGrant};
use syrch_core::roles::Role;
use syrch_core::{RoleError, SqlError};
use syrch_journal::JournalError;
use syrch_runtime::{LoadError, Toolchain};
use syrch_semantics::Unread;
use syrch_suites::run::RunError;
use syrch_suites::{MissingDatabases, SuiteError};

use crate::strategies::StrategyError;

/// An error of the library. `cli` gives each class its exit code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is wrong.
    #[error("{0}")]
    Config(String),
    /// The build lacks a part that can be left out.
    #[error("this build has no {what}; build with --features {feature}")]
    NotBuilt {
        /// The name of the part, for people.
        what: &'static str,
        /// The Cargo feature that builds it.
        feature: &'static str,
    },
    /// A budget in dollars is set, and a model that costs money has no price.
    #[error("the model `{model}` has no price, so money cannot be limited")]
    Unpriced {
        /// The model's name at its endpoint.
        model: String,
    },
    /// A strategy does not exist, or its file is wrong.
    #[error(transparent)]
    Definition(#[from] StrategyError),
    /// The database cannot be opened or read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The model endpoint cannot be used.
    #[error("model `{model}`: {message}")]
    Model {
        /// The name of the model at its endpoint.
        model: String,
        /// The message of the provider, without any key.
        message: String,
        /// The obstacle, if the endpoint works.
        obstacle: Option<Obstacle>,
    },
    /// No built-in plugin has this name.
    #[error("there is no built-in plugin `{name}`")]
    UnknownPlugin {
        /// The name asked for.
        name: String,
        /// The names of built-in plugins that resemble it, best first.
        similar: Vec<String>,
    },
    /// A plugin was refused when it was loaded.
    #[error("plugin `{plugin}`: {source}")]
    PluginRejected {
        /// The plugin's name or path.
        plugin: String,
        /// The toolchain that made the component.
        toolchain: Toolchain,
        /// The reason of the refusal.
        source: LoadError,
    },
    /// The component of an added plugin is not the one that was added.
    #[error("plugin `{name}`: `{path}` is not the component that was added")]
    ChangedPlugin {
        /// The name of the plugin in the lock.
        name: String,
        /// The file of the component.
        path: String,
    },
    /// The file that an added plugin came from holds another component now.
    #[error("`{path}`, from which the plugin `{name}` was added, holds another component now")]
    NotReviewed {
        /// The name of the plugin in the lock.
        name: String,
        /// The file of the component.
        path: String,
    },
    /// A document names a component that the user has neither added nor named.
    #[error("{document} names `{path}`, a plugin that was not added")]
    NotAdded {
        /// The document in words, such as ``the strategy file `own.yml` ``.
        document: String,
        /// The component.
        path: String,
    },
    /// A plugin trapped, hit a limit or returned nonsense.
    #[error(transparent)]
    PluginFailed(RoleError),
    /// A plugin was denied model calls: the user does not trust it with both the data and a model.
    #[error(
        "the {role} `{}` was denied model calls: {}", name.as_deref().unwrap_or(plugin),
        describe_denial(*rows, grant.as_deref())
    )]
    Untrusted {
        /// The role that the plugin implements in the strategy.
        role: Role,
        /// The source of the plugin.
        plugin: String,
        /// The setting of `--rows` under which it was denied.
        rows: RowsGrant,
        /// The grant in the lock under which it was denied, if there is one.
        grant: Option<String>,
        /// The name of the plugin in the lock, if it was added.
        name: Option<String>,
    },
    /// A plugin was denied a port that it is not granted, and nothing acceptable was found.
    #[error("the plugin `{plugin}` is not granted `{port}`, and nothing was found without it")]
    NotGranted {
        /// The name of the plugin in the lock.
        plugin: String,
        /// The port.
        port: String,
    },
    /// A plugin used up what it is granted in one search or call, and nothing acceptable was found.
    #[error("the plugin `{plugin}` used up what it is granted: {grant}")]
    GrantUsedUp {
        /// The name of the plugin in the lock.
        plugin: String,
        /// The grant, such as `model-calls=5`.
        grant: String,
    },
    /// The lock of plugins was changed by another command at the same time.
    #[error("`{path}`: {why}")]
    LockRace {
        /// The path of the lock.
        path: String,
        /// The change that was not made, in words.
        why: String,
    },
    /// Something would be sent to a model, and the user has not agreed to it.
    #[error(
        "the rewriter would send {} to a model, and nobody has agreed to that", requests(.0.len())
    )]
    Consent(
        /// The exact requests, without secrets.
        Vec<Preview>,
    ),
    /// A question changes the one before it in a way that has no meaning.
    #[error("the question does not go with the one before it: {0}")]
    FollowUp(#[from] Unread),
    /// A plugin returned a failure of its own.
    #[error("{role} {message}")]
    Strategy {
        /// The name of the plugin's role.
        role: String,
        /// The message that the plugin returned.
        message: String,
    },
    /// The user's policy forbids it, or the database could not be read while the search ran and
    /// nothing acceptable was found.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// A budget is used up and nothing acceptable was found within it.
    #[error("the budget is used up: {0}")]
    Budget(Exhausted),
    /// A key would go to another machine without encryption;
    /// [`crate::settings::ModelSettings::insecure_endpoint`] allows it.
    #[error("{0}")]
    Exposed(String),
    /// The search's deadline passed and nothing acceptable was found within it.
    #[error("the deadline of {0} s passed before an acceptable answer was found")]
    Deadline(f64),
    /// The user stopped it before there was an answer.
    #[error("interrupted")]
    Interrupted,
    /// A journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A suite cannot be read.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// Databases of a suite are missing.
    #[error(transparent)]
    Databases(#[from] MissingDatabases),
    /// A run over a suite cannot be written, read or gone on with.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A journal does not fit what it is to be used for now.
    #[error("{0}")]
    Unfit(String),
    /// A replay departs from its journal, or asks for what was not recorded.
    #[error("{0}")]
    Replay(String),
    /// An error that is no fault of the caller, such as a thread that cannot be started.
    #[error("{0}")]
    Internal(String),
}

/// The reason why a model could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outage {
    pub(crate) message: String,
    /// The obstacle, if the endpoint works.
    pub(crate) obstacle: Option<Obstacle>,
}

impl Outage {
    pub(crate) fn from_error(error: &LlmError) -> Self {
        let obstacle = match error {
            LlmError::Declined { obstacle, .. } => Some(*obstacle),
            _ => None,
        };
        Self { message: error.to_string(), obstacle }
    }

    pub(crate) fn into_error(self, model: &str) -> Error {
        let Self { message, obstacle } = self;
        Error::Model { model: model.to_owned(), message, obstacle }
    }
}

impl Error {
    /// Returns its class, by the names that errors have on the command line and in the reports of
    /// graded runs.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            Self::Config(_)
            | Self::NotBuilt { .. }
            | Self::Unpriced { .. }
            | Self::Definition(_)
            | Self::Exposed(_)
            | Self::LockRace { .. }
            | Self::Unfit(_) => "configuration",
            Self::PluginRejected { source: LoadError::Config(_), .. } => "configuration",
            Self::Journal(JournalError::Unknown { .. } | JournalError::Several { .. }) => "usage",
            Self::Run(RunError::Unknown { .. } | RunError::Several { .. }) => "usage",
            Self::Journal(_) | Self::Run(_) | Self::Suite(_) => "configuration",
            Self::Database(_) | Self::Databases(_) => "database",
            Self::Model { .. } => "model",
            Self::UnknownPlugin { .. }
            | Self::PluginRejected { .. }
            | Self::ChangedPlugin { .. } => "plugin-rejected",
            Self::PluginFailed(error) => role_class(error),
            Self::Untrusted { .. }
            | Self::NotGranted { .. }
            | Self::NotAdded { .. }
            | Self::NotReviewed { .. }
            | Self::Consent(_) => "denied",
            Self::Strategy { .. } | Self::FollowUp(_) => "no-answer",
            Self::Sql(error) if error.kind.is_refusal() => "denied",
            Self::Sql(_) => "database",
            Self::Budget(_) | Self::GrantUsedUp { .. } | Self::Deadline(_) => "budget",
            Self::Interrupted => "interrupted",
            Self::Replay(_) => "replay-miss",
            Self::Internal(_) => "unexpected",
        }
    }
}

fn describe_denial(rows: RowsGrant, grant: Option<&str>) -> String {
    match grant {
        Some(grant) => format!(
            "it is granted {grant}, and so calls no model once it may know something of the \
             data"
        ),
        None => format!(
            "it is not built in, and under --rows {rows} no such plugin calls a model once one of \
             them may know something of the data (--trust allows it)"
        ),
    }
}

fn requests(count: usize) -> String {
    syrch_core::text::count(count, "request")
}

fn role_class(error: &RoleError) -> &'static str {
    match error {
        error if error.is_fault() => "plugin-failed",
        RoleError::Failure { .. } => "no-answer",
        RoleError::Trap { .. } | RoleError::Limit { .. } | RoleError::Invalid { .. } => {
            "plugin-failed"
        }
        RoleError::Unavailable { .. } => "unexpected",
        RoleError::Deadline => "budget",
        RoleError::Cancelled => "interrupted",
    }
}
