//! What the host lends to a plugin. Each file has the name of the WIT interface that it mirrors: its values, and the trait
//! behind it. [`Database`] and [`ModelProvider`] are what backends implement; the port traits are what one role call sees of them.

mod asker;
mod cells;
mod evaluate;
mod inspect;
mod llm;
mod rows;
mod run;
mod search;
mod sql;
mod trace;
mod wait;

use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use asker::{NOBODY, asker, on_behalf_of};
pub use cells::{CellIndex, CellsPort, Match, Sample};
pub use evaluate::EvaluatePort;
pub use inspect::{ColumnStats, Facts, InspectPort, Literal, Plan};
pub use llm::{
    Estimate, LlmError, LlmPort, Message, ModelCall, ModelLayer, ModelOutcome, ModelProvider, Preview, Purpose, Reply,
    Request, Retry, Shape, Speaker, Usage,
};
pub use rows::{Page, RowsGrant, RowsPort};
pub use run::{Budget, Policy, RunPort, TimeLeft};
pub use search::{Embedder, MAX_EMBEDDED, MAX_EMBEDDED_TEXT, MAX_HITS, MAX_LOOKUP_TEXT, MAX_LOOKUPS, SearchPort};
pub use sql::{Database, DatabaseError, OVERRUN, Query, Relation, SqlPort};
pub use trace::{Level, TracePort};
pub use wait::{Unrecorded, WaitPort};

/// The number of a call that is under way, unique within its role call, in the order in which the guest made them, from 1.
pub type Ticket = u32;

/// The ticket of what the host itself does within a role call, one thing after another.
pub const HOST: Ticket = 0;

/// A call under way.
pub type Flight<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Errors of the ports `rows`, `cells`, `search`, `inspect` and `evaluate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum PortError {
    /// Not granted, or not for this role.
    #[error("denied: {0}")]
    Denied(String),
    /// This engine or this set of plugins cannot do it.
    #[error("unsupported")]
    Unsupported,
    /// A name that the catalog lacks.
    #[error("unknown name `{0}`")]
    UnknownName(String),
    /// The search may do no more of this.
    #[error("budget used up")]
    Budget,
    /// It cannot be used now.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// The ports of one role call. The runtime lends a guest only those that its role's world imports.
#[derive(Clone)]
pub struct Ports {
    /// The run's facts.
    pub run: Arc<dyn RunPort>,
    /// Models.
    pub llm: Arc<dyn LlmPort>,
    /// Syntax and catalog.
    pub inspect: Arc<dyn InspectPort>,
    /// Statements.
    pub sql: Arc<dyn SqlPort>,
    /// Cells of results.
    pub rows: Arc<dyn RowsPort>,
    /// Cells of tables.
    pub cells: Arc<dyn CellsPort>,
    /// The other roles.
    pub evaluate: Arc<dyn EvaluatePort>,
    /// Retrieval.
    pub search: Arc<dyn SearchPort>,
    /// What people see.
    pub trace: Arc<dyn TracePort>,
    /// What order could change.
    pub wait: Arc<dyn WaitPort>,
}
