//! The trait that an engine implements to become a database, and what it reports of its schema.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch_core::ports::{
    Bench, BenchLimits, ColumnStats, DatabaseError, OVERRUN, Plan, PortError, SqlQuery,
};
use syrch_core::text::nearest;
use syrch_core::{Catalog, Dialect, SqlError, SqlErrorKind, Table};
use syrch_guard::Unresolved;
use tokio::time::Instant;

use crate::{BatchSink, Snapshot};

/// The tables and views that a database offers at one time, and how their names are searched.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The tables and views that the connected user may read, each with its schema.
    pub tables: Vec<Table>,
    /// The schemas in which names without one are searched first, in order.
    pub path: Vec<String>,
    /// The catalog in which the schemas lie, where statements may name it before the schema.
    pub catalog: Option<String>,
    /// Tables and views that cannot be offered.
    pub left_out: Vec<LeftOut>,
    /// The names of all tables and views, if `tables` has only those that `--tables` names.
    pub names: Vec<String>,
}

/// A table or view that cannot be offered, such as a view that calls what the guard refuses.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// The schema that it lies in.
    pub schema: String,
    /// Its name without the schema.
    pub name: String,
    /// The reason, as the end of "`name` cannot be read: …".
    pub reason: String,
}

/// An engine whose results are Arrow record batches. Every statement that it gets was admitted by
/// the guard and written again in its dialect. Methods may be called from several tasks at the same
/// time.
#[async_trait]
pub trait ArrowEngine: Send + Sync + 'static {
    /// The name of the database for plugins and people; never a path, an address or a secret.
    fn name(&self) -> &str;
    /// The SQL that its statements are written in.
    fn dialect(&self) -> Dialect;
    /// The address for messages, without secrets.
    fn display_address(&self) -> String;
    /// Called once the database is open. Returns what its user should know of the connection.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// Called before and after a statement whose result may be cached. As `Database::identity`:
    /// `None` where the engine cannot detect changes.
    async fn identity(&self) -> Option<String> {
        None
    }
    /// Returns the time for which a schema that was read is used.
    fn schema_lifetime(&self) -> Duration {
        Duration::from_secs(10)
    }
    /// Called when the database is opened, and again after
    /// [`schema_lifetime`](Self::schema_lifetime). Returns all that the user may read, within 64
    /// MiB; the caller leaves out what `--tables` does not name.
    ///
    /// # Errors
    /// When the database cannot be read.
    async fn schema(&self) -> Result<Schema, DatabaseError>;
    /// Called to compile a statement without running it. Engines that cannot do that cheaply return
    /// `Ok`.
    ///
    /// # Errors
    /// When the engine refuses the statement.
    async fn prepare(&self, sql: &str, deadline: Instant) -> Result<(), SqlError>;
    /// Called for the engine's plan of a statement, which does not run.
    ///
    /// # Errors
    /// When the engine refuses the statement.
    async fn explain(&self, sql: &str, deadline: Instant) -> Result<Plan, SqlError>;
    /// Runs a statement and hands its schema and its batches to `sink`, until it has all or `sink`
    /// breaks. Dropping the future cancels the statement. At `deadline` the engine cancels it and
    /// returns [`deadline_error`]; within 750 ms more it returns [`overrun_error`] if the statement
    /// still runs on this machine. Messages of errors that happen while the statement runs quote no
    /// cells.
    ///
    /// # Errors
    /// When the engine refuses or ends the statement, and those of `sink`.
    async fn execute(
        &self,
        sql: &str,
        deadline: Instant,
        sink: &mut BatchSink,
    ) -> Result<(), SqlError>;
    /// Called with each error of a statement, to add what the catalog shows, such as the nearest
    /// names. Some engines only say that a statement failed: then a name in it may be unknown.
    fn explain_error(&self, error: SqlError, query: &SqlQuery, catalog: &Catalog) -> SqlError {
        if error.kind != SqlErrorKind::Other {
            return with_nearest(error, catalog);
        }
        match syrch_guard::facts(&query.text, &query.relations, catalog) {
            Err(Unresolved::Refused(found)) => found,
            _ => error,
        }
    }
    /// Called for the statistics that the engine itself keeps of these columns of a table, in the
    /// same order. `None` where it keeps none: then they are counted by statements.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    async fn column_stats(
        &self,
        table: &Table,
        columns: &[String],
        deadline: Instant,
    ) -> Result<Option<Vec<ColumnStats>>, SqlError> {
        let _ = (table, columns, deadline);
        Ok(None)
    }
    /// Called by the verified optimizer, as `Database::bench`. `snapshot` admits the statements of
    /// the bench.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] when the engine cannot compare statements exactly;
    /// [`PortError::Unavailable`] when there is no connection.
    async fn bench(
        &self,
        snapshot: Arc<Snapshot>,
        limits: BenchLimits,
    ) -> Result<Box<dyn Bench>, PortError> {
        let _ = (snapshot, limits);
        Err(PortError::Unsupported)
    }
}

/// An error with the nearest names, where it is about a column.
fn with_nearest(error: SqlError, catalog: &Catalog) -> SqlError {
    if error.kind != SqlErrorKind::UnknownColumn || !error.suggestions.is_empty() {
        return error;
    }
    // Engines quote the name first: `Referenced column "nme" not found`, `[UNRESOLVED_COLUMN] …
    // with name `nme``.
    let name = error.message.split(['"', '`']).nth(1).unwrap_or_default();
    let columns = catalog.tables.iter().flat_map(|table| &table.columns);
    let near = nearest(name, columns.map(|column| column.name.as_str()));
    error.suggest(near)
}

/// The error of a database that cannot be asked at present.
#[must_use]
pub fn unavailable(reason: impl Into<String>) -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, reason)
}

/// The error of a statement whose time is over.
#[must_use]
pub fn deadline_error(limit: Duration) -> SqlError {
    let message = format!("the statement ran longer than {} s", limit.as_secs_f64());
    SqlError::new(SqlErrorKind::Timeout, message).rule("deadline")
}

/// The error of a statement that still runs on this machine after its deadline.
#[must_use]
pub fn overrun_error() -> SqlError {
    SqlError::new(SqlErrorKind::Timeout, "the statement did not end 1 s after its deadline")
        .rule(OVERRUN)
}
