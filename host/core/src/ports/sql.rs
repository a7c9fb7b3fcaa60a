//! Running statements: what one role call sees, and what an executor implements.

use std::sync::Arc;

use async_trait::async_trait;

use serde::{Deserialize, Serialize};

use super::{
    Bench, BenchLimits, CellIndex, ColumnStats, Facts, Flight, HOST, Plan, PortError, Ticket,
};
use crate::{Catalog, Column, Dialect, ResultSet, SqlError};

/// A finished task that may stand in FROM by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// The name in FROM, which no table of the catalog has.
    pub name: String,
    /// The task's own statement; it may name earlier relations of the same list.
    pub sql: String,
    /// The columns of its result.
    pub columns: Vec<Column>,
}

/// A statement with the relations that it may name, each after those that it uses itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SqlQuery {
    /// The SQL text of one statement.
    pub text: String,
    /// The finished tasks that may stand in its FROM.
    pub relations: Vec<Relation>,
}

impl SqlQuery {
    /// A statement without relations.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), relations: Vec::new() }
    }

    /// Returns the text that identifies a statement in caches and memos: the self-contained
    /// statement that the database makes of it. The same text over another task's result is another
    /// statement.
    ///
    /// # Errors
    /// As [`Database::compose`].
    pub fn key(&self, database: &dyn Database) -> Result<String, SqlError> {
        // Both are part of the composed statement; a new field has to be, too, or has to stand
        // beside it in the key.
        let Self { text: _, relations: _ } = self;
        database.compose(self)
    }
}

/// The rule of an error which says that a statement still runs although its deadline has passed. A
/// search that caused one runs no more statements.
pub const OVERRUN: &str = "overrun";

/// The rule of an error of the kind `unavailable` which says that the server did not begin with the
/// statement, since it is starting or busy: the statement itself may be as good as any.
pub const STARTING: &str = "starting";

/// The reason why a database cannot be opened or read. `path` is always what the user asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// There is no such file or server.
    #[error("database `{path}` does not exist")]
    Missing {
        /// The name that was given.
        path: String,
        /// Names beside it that nearly match.
        similar: Vec<String>,
    },
    /// The path is something else, such as a folder or a file of another format.
    #[error("`{path}` is not a database: {reason}")]
    NotADatabase {
        /// The name that was given.
        path: String,
        /// A description of what the path is instead.
        reason: String,
    },
    /// The database's content is damaged.
    #[error("database `{path}` is damaged: {reason}")]
    Corrupt {
        /// The name that was given.
        path: String,
        /// The message of the engine.
        reason: String,
    },
    /// A file of rows cannot be read from some line on.
    #[error("`{path}` cannot be read: {reason}")]
    Malformed {
        /// The name that was given.
        path: String,
        /// The file, the line and what is wrong there.
        reason: String,
    },
    /// Another process holds the database.
    #[error("database `{path}` is locked")]
    Locked {
        /// The name that was given.
        path: String,
    },
    /// The address of a server cannot be read, or asks for what is not supported.
    #[error("the address of the database is wrong: {reason}")]
    Address {
        /// The error in the address; never with a password.
        reason: String,
    },
    /// The server cannot be reached, or does not answer in time.
    #[error("database `{path}` cannot be reached: {reason}")]
    Unreachable {
        /// The name that was given, without a password.
        path: String,
        /// The error of the connection.
        reason: String,
    },
    /// The server answers and does not begin with a statement in time, since it is starting or
    /// busy.
    #[error("database `{path}` is not ready: {reason}")]
    Starting {
        /// The name that was given, without a password.
        path: String,
        /// The length of the wait, and what was waited for.
        reason: String,
    },
    /// The server refuses the user or the password.
    #[error("database `{path}` refuses the user: {reason}")]
    LoginRefused {
        /// The name that was given, without a password.
        path: String,
        /// The message of the server, without any password.
        reason: String,
    },
    /// The connection cannot be encrypted as it was asked for.
    #[error("the connection to `{path}` cannot be encrypted: {reason}")]
    Encryption {
        /// The name that was given, without a password.
        path: String,
        /// The error in the server's certificate or its encryption.
        reason: String,
    },
    /// The user may not read the database, or the engine failed for another reason.
    #[error("database `{path}` cannot be opened: {reason}")]
    Unavailable {
        /// The name that was given.
        path: String,
        /// The message of the engine.
        reason: String,
    },
    /// The user's grant leaves no table.
    #[error("no table of `{path}` matches {patterns:?}")]
    NothingGranted {
        /// The name that was given.
        path: String,
        /// The patterns of `--tables`.
        patterns: Vec<String>,
        /// The tables of the database.
        tables: Vec<String>,
    },
}

/// A backend for statements, or a layer around one. Every statement runs under the engine's guard,
/// its deadline and its caps, and none can change the database. Methods may be called from several
/// tasks at the same time.
#[async_trait]
pub trait Database: CellIndex {
    /// The host's name of the database, such as the stem of its file; never a path or an address,
    /// since plugins see it.
    fn name(&self) -> &str;
    /// The SQL dialect of its statements.
    fn dialect(&self) -> Dialect;
    /// Called once the database is open. Returns what its user should know of the connection, such
    /// as that others can read what is sent.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// Called before and after a statement whose result may be cached. Returns a digest of where
    /// the data are and of their state: another file, another server or any change of the data
    /// gives another digest, on this machine. `None` when the engine cannot detect changes; then
    /// results do not outlive the search.
    async fn identity(&self) -> Option<String>;
    /// Called when the database is opened, and before a result is cached. Returns the granted
    /// tables.
    ///
    /// # Errors
    /// When the database cannot be read.
    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError>;
    /// The names of the layers that a statement passes before it reaches the engine, the outermost
    /// first. Called by tests and for display.
    fn layers(&self) -> Vec<&'static str> {
        Vec::new()
    }
    /// Called for every statement, to make its cache key and before it runs. Returns one
    /// self-contained statement, in which the relations that the query uses precede it as common
    /// table expressions. Equal queries give equal statements.
    ///
    /// # Errors
    /// When the text does not parse, or the statement exceeds its size limit.
    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError>;
    /// Called to parse and resolve a statement without running it.
    ///
    /// # Errors
    /// When the guard refuses the statement, or the catalog lacks a name.
    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError>;
    /// Called for the engine's plan of a statement.
    ///
    /// # Errors
    /// When the guard or the engine refuses the statement.
    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError>;
    /// Runs a statement and returns its rows within the caps. Dropping the future interrupts the
    /// statement.
    ///
    /// # Errors
    /// When the guard, a limit or the engine refuses or ends the statement. An error with the rule
    /// [`OVERRUN`] says that the statement still runs.
    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError>;
    /// Called for the statistics of columns; returns them in the same order.
    ///
    /// # Errors
    /// [`PortError::UnknownName`] for a table or column that the catalog lacks;
    /// [`PortError::Unsupported`] without statistics; [`PortError::Budget`] when the call still
    /// runs after its deadline.
    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError>;
    /// Called by the verified optimizer. Opens a connection of its own on which statements are
    /// compared and measured.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] when the engine cannot compare statements exactly;
    /// [`PortError::Unavailable`] when there is no connection.
    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        let _ = limits;
        Err(PortError::Unsupported)
    }
}

/// The port `sql` of one role call. It knows the relations of the finished tasks that the call may
/// name.
#[async_trait]
pub trait SqlPort: Send + Sync {
    /// Called when a guest runs a statement, in the order in which it runs them; returns when the
    /// statement is registered. The returned future resolves to the rows, or to why the guard, a
    /// limit, the budget or the engine refused the statement. `ticket` is the call's number in its
    /// role call; dropping the future interrupts the statement.
    async fn issue(&self, ticket: Ticket, text: String)
    -> Flight<Result<Arc<ResultSet>, SqlError>>;
    /// Called when the host itself runs a statement within a role call, one after another.
    ///
    /// # Errors
    /// When the guard, a limit, the budget or the engine refuses or ends the statement.
    async fn run(&self, text: &str) -> Result<Arc<ResultSet>, SqlError> {
        self.issue(HOST, text.to_owned()).await.await
    }
    /// Called when a guest reads a fingerprint of a result. Returns the run's salt, under which all
    /// fingerprints of the run are made.
    fn salt(&self) -> u64;
}
