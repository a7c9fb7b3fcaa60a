//! The ports that the host lends to a plugin. Each file has the name of the WIT interface that it
//! mirrors, and holds its values and the trait behind it. Backends implement [`Database`] and
//! [`ModelProvider`]; the port traits are what one role call sees of them.

mod bench;
mod cells;
mod current_search;
mod evaluate;
mod inspect;
mod llm;
mod retrieval;
mod rows;
mod run;
mod sql;
mod trace;
mod wait;

use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use bench::{
    Admitted, Bench, BenchLimits, CANDIDATE, Compared, ResultSize, TOO_MANY_ROWS, Timing,
    UNSUPPORTED_TYPE,
};
pub use cells::{CellIndex, CellsPort, Match, Sample};
pub use current_search::{NO_SEARCH, current_search, in_search};
pub use evaluate::EvaluatePort;
pub use inspect::{
    ColumnName, ColumnStats, Comparison, CompiledMetric, Cut, Definitions, Facts, InspectPort,
    Literal, OrderKey, Outline, Plan, Repeated, Selected, Use, UseKind,
};
pub(crate) use llm::is_zero;
pub use llm::{
    Estimate, LlmError, LlmPort, Message, ModelCall, ModelLayer, ModelOutcome, ModelProvider,
    Obstacle, Preview, Purpose, Reply, Request, RequestKey, Retry, Shape, Speaker, SqlReply, Usage,
    WrittenStatement,
};
pub use retrieval::{
    Embedder, MAX_EMBEDDED, MAX_EMBEDDED_TEXT, MAX_HITS, MAX_QUERIES, MAX_QUERY_TEXT, RetrievalPort,
};
pub use rows::{Page, RowsGrant, RowsPort};
pub use run::{Budget, Policy, RunPort, TimeLeft};
pub use sql::{Database, DatabaseError, OVERRUN, Relation, STARTING, SqlPort, SqlQuery};
pub use trace::{Level, TracePort};
pub use wait::{Unrecorded, WaitPort};

/// The number of a call in flight, unique within its role call: 1, 2, … in the order in which the
/// guest made the calls.
pub type Ticket = u32;

/// The ticket of calls that the host itself makes within a role call, one after another.
pub const HOST: Ticket = 0;

/// The future of a call in flight.
pub type Flight<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Errors of the ports `rows`, `cells`, `retrieval`, `inspect` and `evaluate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum PortError {
    /// The user does not grant it, or the role's world does not import the port.
    #[error("denied: {0}")]
    Denied(String),
    /// The engine or the strategy cannot do it.
    #[error("unsupported")]
    Unsupported,
    /// The catalog lacks this name.
    #[error("unknown name `{0}`")]
    UnknownName(String),
    /// The search's budget for it is used up.
    #[error("budget used up")]
    Budget,
    /// It cannot be used at the moment.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// A failure of another kind; the text explains it.
    #[error("{0}")]
    Other(String),
}

/// The ports of one role call. The runtime lends a guest only those that its role's world imports.
#[derive(Clone)]
pub struct Ports {
    /// The port `run`: the run's settings and budget.
    pub run: Arc<dyn RunPort>,
    /// The port `llm`: model calls.
    pub llm: Arc<dyn LlmPort>,
    /// The port `inspect`: syntax, catalog facts, plans and statistics.
    pub inspect: Arc<dyn InspectPort>,
    /// The port `sql`: statements.
    pub sql: Arc<dyn SqlPort>,
    /// The port `rows`: cells of results.
    pub rows: Arc<dyn RowsPort>,
    /// The port `cells`: cells of tables.
    pub cells: Arc<dyn CellsPort>,
    /// The port `evaluate`: calibrator and reward.
    pub evaluate: Arc<dyn EvaluatePort>,
    /// The port `retrieval`: retrieval and embeddings.
    pub retrieval: Arc<dyn RetrievalPort>,
    /// The port `trace`: what people see of the search.
    pub trace: Arc<dyn TracePort>,
    /// The port `wait`: which calls have ended.
    pub wait: Arc<dyn WaitPort>,
}
