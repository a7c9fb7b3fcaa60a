//! A database of the program behind the guard: an adapter in Python, which the package makes of an
//! object with `execute`, a connection or an engine of SQLAlchemy.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pyo3::prelude::*;
use syrch::own::engine::{
    ArrowDatabase, ArrowEngine, BatchSink, Schema, deadline_error, overrun_error,
};
use syrch::syrch_core::ports::{DatabaseError, Plan};
use syrch::syrch_core::{Dialect, Limits, SqlError, SqlErrorKind};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use crate::causes::Causes;
use crate::statement::Running;
use crate::{catalog, failure, rows};

/// The time limit for reading the catalog.
const CATALOG: Duration = Duration::from_secs(60);
/// The time that a cancelled statement has to end.
const CANCELLED: Duration = Duration::from_millis(600);

/// An adapter as an engine.
pub(crate) struct PythonEngine {
    adapter: Arc<Py<PyAny>>,
    name: String,
    address: String,
    dialect: Dialect,
    warnings: Vec<String>,
    causes: Causes,
    /// Bounds the statements whose thread has not ended.
    places: Arc<Semaphore>,
}

/// Opens a database of an adapter and reads its catalog.
///
/// # Errors
/// When the adapter lacks something, or the catalog cannot be read.
pub(crate) async fn open(
    adapter: Py<PyAny>,
    tables: Vec<String>,
    limits: Limits,
    causes: Causes,
) -> Result<ArrowDatabase<PythonEngine>, DatabaseError> {
    let own = limits.clone();
    let described = tokio::task::spawn_blocking(move || {
        Python::try_attach(|py| {
            let described = describe(adapter, py, own, causes.clone());
            described.map_err(|error| failure::describe(py, &error, &causes))
        })
    });
    let engine = match described.await {
        Ok(Some(engine)) => engine.map_err(|reason| unavailable("python", reason))?,
        Ok(None) => return Err(unavailable("python", "the program ends")),
        Err(error) => return Err(unavailable("python", error.to_string())),
    };
    ArrowDatabase::open(engine, tables, limits).await
}

fn unavailable(path: &str, reason: impl Into<String>) -> DatabaseError {
    DatabaseError::Unavailable { path: path.to_owned(), reason: reason.into() }
}

/// The engine of an adapter, as it describes itself.
fn describe(
    adapter: Py<PyAny>,
    py: Python<'_>,
    limits: Limits,
    causes: Causes,
) -> PyResult<PythonEngine> {
    let bound = adapter.bind(py);
    let dialect: String = bound.getattr("dialect")?.extract()?;
    let places: usize = bound.getattr("places")?.extract()?;
    Ok(PythonEngine {
        name: bound.getattr("name")?.extract()?,
        address: bound.getattr("address")?.extract()?,
        warnings: bound.getattr("warnings")?.extract()?,
        dialect: Dialect::from_name(&dialect),
        places: Arc::new(Semaphore::new(places.clamp(1, limits.sql_in_flight.max(1)))),
        causes,
        adapter: Arc::new(adapter),
    })
}

impl PythonEngine {
    /// Runs `work` with a new statement of the adapter, until it ends or its time is over.
    async fn run<T: Send + 'static>(
        &self,
        sql: &str,
        deadline: Instant,
        work: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        // Statements of the host's own have less time than those of a search.
        let limit = deadline.saturating_duration_since(Instant::now());
        let limit = Duration::from_millis((limit.as_secs_f64() * 1e3).round() as u64);
        let place = timeout_at(deadline, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            let message = "the database is busy with statements that have not ended";
            return Err(SqlError::new(SqlErrorKind::Unavailable, message));
        };
        let adapter = Arc::clone(&self.adapter);
        let sql = sql.to_owned();
        let seconds = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let causes = self.causes.clone();
        let made = tokio::task::spawn_blocking(move || {
            Python::try_attach(|py| {
                let made = adapter.bind(py).call_method1("statement", (sql, seconds));
                made.map(Bound::unbind).map_err(|error| failure::compiling(py, &error, &causes))
            })
        });
        let Ok(Some(statement)) = made.await else {
            return Err(SqlError::new(SqlErrorKind::Unavailable, "the program ends"));
        };
        let mut running = Running::start(statement?, place, work);
        if let Ok(done) = timeout_at(deadline, running.end()).await {
            return done;
        }
        running.cancel();
        match timeout(CANCELLED, running.end()).await {
            Ok(_) => Err(deadline_error(limit)),
            Err(_) => Err(overrun_error()),
        }
    }

    /// The plan of a statement; `None` where the adapter has none. An error is that of compiling.
    async fn plan(&self, sql: &str, deadline: Instant) -> Result<Option<String>, SqlError> {
        let causes = self.causes.clone();
        self.run(sql, deadline, move |statement| {
            let plan = statement.call_method0("plan").and_then(|plan| plan.extract());
            plan.map_err(|error| failure::compiling(statement.py(), &error, &causes))
        })
        .await
    }
}

#[async_trait]
impl ArrowEngine for PythonEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        self.dialect.clone()
    }

    fn display_address(&self) -> String {
        self.address.clone()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn schema_lifetime(&self) -> Duration {
        CATALOG
    }

    async fn schema(&self) -> Result<Schema, DatabaseError> {
        let adapter = Arc::clone(&self.adapter);
        let causes = self.causes.clone();
        let read = tokio::task::spawn_blocking(move || {
            Python::try_attach(|py| {
                let written = adapter.bind(py).call_method0("schema");
                let written = written.and_then(|written| written.extract::<String>());
                written.map_err(|error| failure::describe(py, &error, &causes))
            })
        });
        let path = &self.address;
        match timeout(CATALOG, read).await {
            Ok(Ok(Some(Ok(written)))) => catalog::read(&written)
                .map_err(|error| unavailable(path, format!("schema(): {error}"))),
            Ok(Ok(Some(Err(error)))) => Err(unavailable(path, error)),
            Ok(_) => Err(unavailable(path, "the program ends")),
            Err(_) => Err(unavailable(path, "its schema was not read in time")),
        }
    }

    async fn prepare(&self, sql: &str, deadline: Instant) -> Result<(), SqlError> {
        self.plan(sql, deadline).await.map(drop)
    }

    async fn explain(&self, sql: &str, deadline: Instant) -> Result<Plan, SqlError> {
        let Some(text) = self.plan(sql, deadline).await? else {
            return Err(SqlError::new(SqlErrorKind::Other, "this database has no plans"));
        };
        let format = format!("{}-explain", self.dialect.name());
        Ok(Plan { format, text, cost: None, rows: None })
    }

    async fn execute(
        &self,
        sql: &str,
        deadline: Instant,
        sink: &mut BatchSink,
    ) -> Result<(), SqlError> {
        let limits = sink.limits().clone();
        let causes = self.causes.clone();
        let read = self.run(sql, deadline, move |statement| {
            let most = limits.rows.saturating_add(1);
            let read = statement.call_method1("run", (most,));
            let read = read.and_then(|answer| rows::read(&answer, &limits));
            read.map_err(|error| failure::running(statement.py(), &error, &causes))
        });
        let read = match read.await {
            // Its message may quote cells, unless it is compiling that fails, which reads none.
            Err(error) if error.kind == SqlErrorKind::Other => {
                self.prepare(sql, deadline).await?;
                return Err(error);
            }
            read => read?,
        };
        sink.begin(&read.schema)?;
        for batch in &read.batches {
            if sink.push(batch)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
