//! Running statements: what one role call sees, and what an executor implements.

use std::sync::Arc;

use async_trait::async_trait;

use serde::{Deserialize, Serialize};

use super::{CellIndex, ColumnStats, Facts, Flight, HOST, Plan, PortError, Ticket};
use crate::{Catalog, Column, Dialect, ResultSet, SqlError};

/// A finished task that may stand in FROM by `name`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// The name in FROM; no table of the catalog has it.
    pub name: String,
    /// The task's own statement; it may name earlier relations of the same list.
    pub sql: String,
    /// The columns of its result.
    pub columns: Vec<Column>,
}

/// A statement with the relations that it may name, each after those that it uses itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// The statement.
    pub text: String,
    /// Finished tasks.
    pub relations: Vec<Relation>,
}

impl Query {
    /// A statement that stands alone.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), relations: Vec::new() }
    }
}

/// The rule of an error that says that a statement did not even end when its deadline had passed, and still runs. A search that caused one
/// runs no more statements.
pub const OVERRUN: &str = "overrun";

/// Why a database cannot be opened or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// There is no such file or server; `similar` are names that nearly match.
    #[error("database `{path}` does not exist")]
    Missing {
        /// What was asked for.
        path: String,
        /// Names beside it that nearly match.
        similar: Vec<String>,
    },
    /// It is something else, such as a folder or another format.
    #[error("`{path}` is not a database: {reason}")]
    NotADatabase {
        /// What was asked for.
        path: String,
        /// What it is.
        reason: String,
    },
    /// Its content is damaged.
    #[error("database `{path}` is damaged: {reason}")]
    Corrupt {
        /// What was asked for.
        path: String,
        /// What the engine says.
        reason: String,
    },
    /// Somebody else holds it.
    #[error("database `{path}` is locked")]
    Locked {
        /// What was asked for.
        path: String,
    },
    /// The user may not read it, or anything else.
    #[error("database `{path}` cannot be opened: {reason}")]
    Unavailable {
        /// What was asked for.
        path: String,
        /// What the engine says.
        reason: String,
    },
    /// The grant leaves no table over.
    #[error("no table of `{path}` matches {patterns:?}")]
    NothingGranted {
        /// What was asked for.
        path: String,
        /// The patterns of `--tables`.
        patterns: Vec<String>,
        /// The tables that there are.
        tables: Vec<String>,
    },
}

/// A backend for statements. Everything runs under the engine's guard, its deadline and its caps.
#[async_trait]
pub trait Database: CellIndex {
    /// The host's name of it, such as the file's stem; never a path.
    fn name(&self) -> &str;
    /// What it speaks.
    fn dialect(&self) -> Dialect;
    /// A digest of where the data lie and what they are: another file, another server or any change gives another one, on this machine.
    /// None: it cannot be told, so results must not outlive the search.
    async fn identity(&self) -> Option<String>;
    /// The granted tables.
    ///
    /// # Errors
    /// When the database cannot be read.
    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError>;
    /// The layers that a statement passes before it comes to the engine, outermost first.
    fn layers(&self) -> Vec<&'static str> {
        Vec::new()
    }
    /// The one self-contained statement that a query comes to: relations that it uses stand before it as common table expressions.
    ///
    /// # Errors
    /// When the text does not parse or grows over the limit.
    fn compose(&self, query: &Query) -> Result<String, SqlError>;
    /// Parses and resolves without running.
    ///
    /// # Errors
    /// What the guard or the catalog has against it.
    async fn check(&self, query: &Query) -> Result<Facts, SqlError>;
    /// The engine's plan.
    ///
    /// # Errors
    /// What the guard or the engine has against it.
    async fn explain(&self, query: &Query) -> Result<Plan, SqlError>;
    /// Runs it. Dropping the future interrupts the statement.
    ///
    /// # Errors
    /// What the guard, a limit or the engine has against it.
    async fn run(&self, query: &Query) -> Result<ResultSet, SqlError>;
    /// Statistics of columns.
    ///
    /// # Errors
    /// Unknown names; [`PortError::Budget`] when the call still runs after its deadline.
    async fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError>;
}

/// The port `sql` of one role call; the relations of the call's finished tasks are already known to it.
#[async_trait]
pub trait SqlPort: Send + Sync {
    /// Starts one statement; what comes back waits for its rows, or for what the guard, a limit, the budget or the engine has against
    /// it. `ticket` is the call's number in its role call; dropping the flight interrupts the statement.
    async fn issue(&self, ticket: Ticket, text: String) -> Flight<Result<Arc<ResultSet>, SqlError>>;
    /// Runs one statement for the host itself, which does one thing after another in a role call.
    ///
    /// # Errors
    /// What the guard, a limit, the budget or the engine has against it.
    async fn run(&self, text: &str) -> Result<Arc<ResultSet>, SqlError> {
        self.issue(HOST, text.to_owned()).await.await
    }
    /// The salt under which this run's fingerprints are made.
    fn salt(&self) -> u64;
}
