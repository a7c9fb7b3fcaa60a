//! What the host lends to a plugin. Each file has the name of the WIT interface that it mirrors: its values, and the trait
//! behind it. [`Database`] and [`ModelProvider`] are what backends implement; the port traits are what one role call sees of them.

mod cells;
mod evaluate;
mod inspect;
mod llm;
mod rows;
mod run;
mod sql;
mod trace;

use std::sync::Arc;

pub use cells::{CellIndex, CellsPort, Match, Sample};
pub use evaluate::EvaluatePort;
pub use inspect::{ColumnStats, Facts, InspectPort, Literal, Plan};
pub use llm::{
    LlmError, LlmPort, Message, ModelCall, ModelOutcome, ModelProvider, Purpose, Reply, Request, Shape, Speaker, Usage,
};
pub use rows::{Page, RowsGrant, RowsPort};
pub use run::{Budget, Policy, RunPort, TimeLeft};
pub use sql::{Database, DatabaseError, Query, Relation, SqlPort};
pub use trace::{Level, TracePort};

/// Errors of the ports `rows`, `cells`, `inspect` and `evaluate`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// What people see.
    pub trace: Arc<dyn TracePort>,
}
