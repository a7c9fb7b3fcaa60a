//! The engine behind an ADBC driver: opening it, and statements in a bounded number of places.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch_arrow_engine::{
    ArrowDatabase, ArrowEngine, BatchSink, Schema, read_estimates, unavailable,
};
use syrch_core::ports::{DatabaseError, Plan};
use syrch_core::{Dialect, SqlError, SqlErrorKind, blocking};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout_at};

use crate::connect::Connector;
use crate::execute::{Job, Part, Work};
use crate::{AdbcConfig, introspect};

/// The time limit for reading the catalog.
const CATALOG: Duration = Duration::from_secs(60);
/// The size limit of a plan, in bytes.
const PLAN: usize = 1 << 20;

/// An engine behind an ADBC driver.
pub struct AdbcEngine {
    connector: Arc<Connector>,
    /// Bounds how many statements run at once.
    places: Arc<Semaphore>,
    /// The place for reading the catalog, which does not wait for statements.
    catalog: Arc<Semaphore>,
}

/// Opens databases of ADBC drivers.
#[derive(Debug)]
pub struct AdbcDatabase;

impl AdbcDatabase {
    /// Loads the driver, opens the database and reads its catalog.
    ///
    /// # Errors
    /// When the driver is not the one that the configuration names, the database does not open, or
    /// `tables` leaves none.
    pub async fn open(config: AdbcConfig) -> Result<ArrowDatabase<AdbcEngine>, DatabaseError> {
        let tables = config.tables.clone();
        let limits = config.limits.clone();
        ArrowDatabase::open(AdbcEngine::open(config).await?, tables, limits).await
    }
}

impl AdbcEngine {
    /// Loads the driver and opens the database.
    ///
    /// # Errors
    /// When the driver is not the one that the configuration names, or the database does not open.
    pub async fn open(config: AdbcConfig) -> Result<Self, DatabaseError> {
        let in_flight = config.limits.sql_in_flight;
        let path = config.display_address();
        let opened =
            tokio::time::timeout(CATALOG, tokio::task::spawn_blocking(|| Connector::open(config)));
        let failed = |reason: String| DatabaseError::Unreachable { path: path.clone(), reason };
        let opened = blocking::await_work(opened)
            .await
            .map_err(|_| failed("it does not answer in time".to_owned()))?;
        let connector = Arc::new(opened.map_err(|error| failed(error.to_string()))??);
        let [places, catalog] = [in_flight, 1].map(|number| Arc::new(Semaphore::new(number)));
        Ok(Self { connector, places, catalog })
    }

    /// Starts work on a thread once there is a place.
    async fn start<T: Send + 'static>(
        &self,
        places: &Arc<Semaphore>,
        deadline: Instant,
        work: impl FnOnce(&mut Work<'_>) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<Job<T>, SqlError> {
        let Ok(Ok(permit)) = timeout_at(deadline, Arc::clone(places).acquire_owned()).await else {
            return Err(unavailable("the database is busy with other statements"));
        };
        // The path of schemas is that of a connection which is not set up yet.
        let is_plain = Arc::ptr_eq(places, &self.catalog);
        Job::start(&self.connector, permit, is_plain, work)
    }
}

#[async_trait]
impl ArrowEngine for AdbcEngine {
    fn name(&self) -> &str {
        &self.connector.config.name
    }

    fn dialect(&self) -> Dialect {
        self.connector.config.dialect.clone()
    }

    fn display_address(&self) -> String {
        self.connector.config.display_address()
    }

    fn warnings(&self) -> Vec<String> {
        match self.connector.only_reads() {
            true => Vec::new(),
            false => vec![
                "the driver has no connections that only read: connect as a user who may read and \
                 nothing else"
                    .to_owned(),
            ],
        }
    }

    /// The state of an embedded database's file; other engines do not say whether they changed.
    async fn identity(&self) -> Option<String> {
        let connector = Arc::clone(&self.connector);
        blocking::await_work(tokio::task::spawn_blocking(move || {
            Some(connector.file_stamp().ok()??.digest(connector.file.as_deref()?))
        }))
        .await
        .ok()?
    }

    /// Returns a longer time for a server whose catalog takes long to read.
    fn schema_lifetime(&self) -> Duration {
        match self.connector.config.dialect {
            Dialect::Duckdb | Dialect::Sqlite | Dialect::Postgres => Duration::from_secs(10),
            _ => Duration::from_secs(300),
        }
    }

    async fn schema(&self) -> Result<Schema, DatabaseError> {
        let deadline = Instant::now() + CATALOG;
        let read = async {
            self.start(&self.catalog, deadline, introspect::read).await?.result(deadline).await
        };
        blocking::await_work(read).await.map_err(|error: SqlError| DatabaseError::Unavailable {
            path: self.display_address(),
            reason: error.to_string(),
        })
    }

    async fn prepare(&self, sql: &str, deadline: Instant) -> Result<(), SqlError> {
        let sql = sql.to_owned();
        let prepared = async {
            self.start(&self.places, deadline, move |work| work.prepare(&sql))
                .await?
                .result(deadline)
                .await
        };
        blocking::await_work(prepared).await
    }

    async fn explain(&self, sql: &str, deadline: Instant) -> Result<Plan, SqlError> {
        let dialect = &self.connector.config.dialect;
        let (explain, format) = match dialect {
            Dialect::Sqlite => ("EXPLAIN QUERY PLAN", "sqlite-eqp".to_owned()),
            dialect => ("EXPLAIN", format!("{}-explain", dialect.name())),
        };
        let sql = format!("{explain} {sql}");
        let rows = async {
            self.start(&self.places, deadline, move |work: &mut Work<'_>| {
                work.rows(&sql, &mut PLAN.clone())
            })
            .await?
            .result(deadline)
            .await
        };
        let rows = blocking::await_work(rows).await?;
        // The last text of a row: DuckDB and SQLite have further columns before it.
        let lines: Vec<String> =
            rows.into_iter().filter_map(|row| row.into_iter().rev().flatten().next()).collect();
        if lines.is_empty() {
            return Err(SqlError::new(SqlErrorKind::Other, "the engine returned no plan"));
        }
        let text = lines.join("\n");
        let (cost, rows) =
            if *dialect == Dialect::Postgres { read_estimates(&text) } else { (None, None) };
        Ok(Plan { format, text, cost, rows })
    }

    async fn execute(
        &self,
        sql: &str,
        deadline: Instant,
        sink: &mut BatchSink,
    ) -> Result<(), SqlError> {
        blocking::await_work(self.run(sql.to_owned(), deadline, sink)).await
    }
}

impl AdbcEngine {
    async fn run(
        &self,
        sql: String,
        deadline: Instant,
        sink: &mut BatchSink,
    ) -> Result<(), SqlError> {
        // One batch waits while one is read and one is taken: memory does not grow with the result.
        let (sender, mut parts) = mpsc::channel(1);
        let work = move |work: &mut Work<'_>| work.stream(&sql, &sender);
        let mut job = self.start(&self.places, deadline, work).await?;
        let taken = timeout_at(deadline, async {
            while let Some(part) = parts.recv().await {
                match part {
                    Part::Schema(schema) => sink.begin(&schema)?,
                    Part::Batch(batch) if sink.push(&batch)?.is_break() => return Ok(false),
                    Part::Batch(_) => {}
                }
            }
            Ok(true)
        });
        let taken = taken.await;
        drop(parts);
        match taken {
            Ok(Ok(true)) => job.result(deadline).await,
            // The result is complete, or there is none; the statement keeps its place until it has
            // ended.
            Ok(other) => {
                if !job.stop().await {
                    tracing::warn!(
                        database = self.name(),
                        "a statement has not ended although its result is not wanted"
                    );
                }
                other.map(drop)
            }
            Err(_) => Err(job.end_late().await),
        }
    }
}
