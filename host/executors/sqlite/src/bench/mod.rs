//! One connection of its own on which the verified optimizer compares and measures statements. Its thread never gives way to others, and nothing
//! but the engine's own cache of pages is shared between two statements.

mod admission;
mod cells;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rusqlite::{Statement, StatementStatus};
use syrch_core::ports::{
    Admitted, Bench, BenchLimits, CANDIDATE, Compared, OVERRUN, Plan, PortError, ResultSize, SqlQuery, TOO_MANY_ROWS,
    Timing,
};
use syrch_core::{Column, Dialect, SqlError, SqlErrorKind, blocking};
use syrch_guard::{Bounds, splice};

use crate::connect;
use crate::database::{GRACE, Inner};
use crate::deadline::{Allowance, Cancel};
use crate::error;
use crate::execute::{Composed, names};
use crate::guard::Authorizer;
use crate::session::Session;
use crate::state::{self, FileState};
use crate::threads;
use crate::value::size;
use crate::watch::Snapshot;
use cells::Rows;

/// Time from which on the engine's count of its steps, of 32 bits, may have begun anew.
const COUNTED: Duration = Duration::from_secs(10);

/// A connection with the catalog that it was opened for.
struct Place {
    session: Session,
    snapshot: Arc<Snapshot>,
}

/// The bench of a SQLite database.
pub(crate) struct SqliteBench {
    inner: Arc<Inner>,
    limits: BenchLimits,
    /// `None` while a statement runs, and when one was not waited for.
    place: Option<Place>,
    /// Whether a statement did not end although its time was over: its thread still holds the connection.
    has_overrun: bool,
}

/// Interrupts the statement when nobody waits for it any more.
struct CancelOnDrop(Arc<Cancel>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl SqliteBench {
    /// Opens the connection.
    pub(crate) async fn open(inner: Arc<Inner>, limits: BenchLimits) -> Result<Self, PortError> {
        let mut bench = Self { inner, limits, place: None, has_overrun: false };
        let opened = bench.work(|_, _| Ok(())).await;
        opened.map_err(|error| PortError::Unavailable(error.message))?;
        Ok(bench)
    }

    /// Works with the connection on a thread of its own, within the limits of one statement.
    async fn work<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Session, &Snapshot) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        if self.has_overrun {
            return Err(unavailable("an earlier statement of this bench has not ended"));
        }
        let (inner, limits, place) = (Arc::clone(&self.inner), self.limits, self.place.take());
        let cancel = Arc::new(Cancel::default());
        let guard = CancelOnDrop(Arc::clone(&cancel));
        let job = threads::spawn(move || {
            let mut place = match place.map_or_else(|| open(&inner, &limits), Ok) {
                Ok(place) => place,
                Err(error) => return (None, Err(error)),
            };
            let Place { session, snapshot } = &mut place;
            let allowance =
                Allowance { deadline: Duration::from_millis(limits.statement_ms), memory: inner.config.memory };
            let result = session.within(allowance, &cancel, |session| work(session, snapshot));
            let file = session.version.file;
            // Only a file at rest is read without locks.
            if file.is_at_rest() && !FileState::read(&inner.path, &inner.config).is_ok_and(|now| now == file) {
                return (None, Err(unavailable("the file changed while it was read")));
            }
            (Some(place), result)
        });
        let job = job.map_err(|error| unavailable(&format!("no thread for the statement: {error}")))?;
        let patience = Duration::from_millis(limits.statement_ms.saturating_add(limits.lock_ms)) + GRACE;
        let result = blocking::awaited(tokio::time::timeout(patience, job)).await;
        drop(guard);
        match result {
            Ok(Ok((place, result))) => {
                self.place = place;
                result
            }
            Ok(Err(_)) => Err(SqlError::new(SqlErrorKind::Other, "the statement's thread failed")),
            Err(_) => {
                self.has_overrun = true;
                let message = format!("the statement did not end {} s after its deadline", GRACE.as_secs());
                Err(SqlError::new(SqlErrorKind::Timeout, message).rule(OVERRUN))
            }
        }
    }

    /// Works with an admitted statement.
    async fn with<T: Send + 'static>(
        &mut self,
        admitted: &Admitted,
        work: impl FnOnce(&Session, &mut Statement<'_>) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let sql = admitted.sql.clone();
        self.work(move |session, snapshot| {
            with_statement(&sql, session, snapshot, |statement| work(session, statement))
        })
        .await
    }
}

fn unavailable(message: &str) -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, message)
}

/// Compiles a statement under the authorizer, and works with it.
fn with_statement<T>(
    sql: &str,
    session: &Session,
    snapshot: &Snapshot,
    work: impl FnOnce(&mut Statement<'_>) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    let query = SqlQuery::new(sql);
    let spliced = splice(sql, &[], &Dialect::Sqlite, &Bounds::default())?;
    let mut statement = Composed { query: &query, spliced: &spliced }.compile(session, snapshot)?;
    work(&mut statement)
}

/// A new connection for the catalog as it is now.
fn open(inner: &Inner, limits: &BenchLimits) -> Result<Place, SqlError> {
    let snapshot = inner.snapshot().map_err(|error| unavailable(&error.to_string()))?;
    let mut config = inner.config.clone();
    config.busy = Duration::from_millis(limits.lock_ms);
    let authorizer = Authorizer::new();
    let connection = connect::connect(&inner.path, &snapshot.version.file, &config, snapshot.columns, &authorizer)
        .map_err(|error| error::running(&error))?;
    let session = Session { connection, authorizer, version: snapshot.version };
    Ok(Place { session, snapshot })
}

/// Whether a row more would be over a limit, with the bytes of all rows so far.
fn check_limits(limits: &BenchLimits, rows: u64, bytes: u64) -> Result<(), SqlError> {
    if rows <= limits.rows && bytes <= limits.bytes {
        return Ok(());
    }
    let message = format!("the result has more than {} rows or {} bytes", limits.rows, limits.bytes);
    Err(SqlError::new(SqlErrorKind::TooLarge, message).rule(TOO_MANY_ROWS))
}

fn count(session: &Session, statement: &mut Statement<'_>, limits: &BenchLimits) -> Result<ResultSize, SqlError> {
    let width = statement.column_count();
    let mut found = ResultSize::default();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
        found.rows += 1;
        for index in 0..width {
            let cell = row.get_ref(index).map_err(|error| session.step_error(&error))?;
            found.bytes = found.bytes.saturating_add(size(&cell) as u64);
        }
        check_limits(limits, found.rows, found.bytes)?;
    }
    Ok(found)
}

fn drain(session: &Session, statement: &mut Statement<'_>) -> Result<Timing, SqlError> {
    statement.reset_status(StatementStatus::VmStep);
    let (started, cpu, mut count) = (Instant::now(), threads::cpu_time(), 0_u64);
    let mut rows = statement.raw_query();
    while rows.next().map_err(|error| session.step_error(&error))?.is_some() {
        count += 1;
    }
    let (wall, cpu) = (started.elapsed(), threads::cpu_time().saturating_sub(cpu));
    drop(rows);
    // The wrapper's number has a sign, the engine's has none.
    let steps = u64::from(statement.get_status(StatementStatus::VmStep).cast_unsigned());
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Ok(Timing { wall_ns: nanos(wall), cpu_ns: Some(nanos(cpu)), work: (wall < COUNTED).then_some(steps), rows: count })
}

/// Begins a transaction that reads, so that all that follows reads the same state.
fn begin(session: &Session) -> Result<(), SqlError> {
    let failed = |error: rusqlite::Error| session.step_error(&error);
    // The engine takes the lock with the first page.
    session.connection.execute_batch("BEGIN").map_err(failed)?;
    session.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(failed)
}

#[async_trait]
impl Bench for SqliteBench {
    async fn admit(&mut self, text: &str, within: Option<&[String]>) -> Result<Admitted, SqlError> {
        let (text, within) = (text.to_owned(), within.map(<[String]>::to_vec));
        self.work(move |session, snapshot| admission::admit(&text, within.as_deref(), session, snapshot)).await
    }

    async fn snapshot(&mut self) -> Result<(), SqlError> {
        let inner = Arc::clone(&self.inner);
        if let Some(Place { session, snapshot }) = &mut self.place {
            // A rollback cannot fail for want of a lock.
            if !session.connection.is_autocommit() {
                session.connection.execute_batch("ROLLBACK").map_err(|error| error::running(&error))?;
            }
            let reading = blocking::awaited(tokio::task::spawn_blocking(move || inner.snapshot())).await;
            let now = reading.map_err(|_| unavailable("the thread that reads the catalog failed"))?;
            let now = now.map_err(|error| unavailable(&error.to_string()))?;
            match session.version.is_same_schema(&now.version) {
                true => {
                    session.version = now.version;
                    *snapshot = now;
                }
                false => self.place = None,
            }
        }
        self.work(|session, _| begin(session)).await
    }

    async fn columns(&mut self, admitted: &Admitted) -> Result<Vec<Column>, SqlError> {
        let read = |_: &Session, statement: &mut Statement<'_>| {
            let column = |(name, declared): (String, Option<String>)| Column {
                name,
                sql_type: declared.unwrap_or_default(),
                nullable: true,
                ..Column::default()
            };
            Ok(names(statement)?.into_iter().map(column).collect())
        };
        self.with(admitted, read).await
    }

    async fn size(&mut self, admitted: &Admitted) -> Result<ResultSize, SqlError> {
        let limits = self.limits;
        self.with(admitted, move |session, statement| count(session, statement, &limits)).await
    }

    async fn compare(&mut self, original: &Admitted, candidate: &Admitted) -> Result<Compared, SqlError> {
        let limits = self.limits;
        if self.place.as_ref().is_none_or(|place| place.session.connection.is_autocommit()) {
            self.snapshot().await?;
        }
        let wanted = self.with(original, move |session, statement| Rows::read(session, statement, &limits)).await?;
        let found = self.with(candidate, move |session, statement| Rows::read(session, statement, &limits)).await;
        match found {
            Ok(found) => Ok(wanted.compare(&found, original.is_ordered)),
            Err(error) if error.rule.as_deref() == Some(TOO_MANY_ROWS) => Ok(Compared::TooLarge),
            Err(error) => {
                let rule = error.rule.clone().unwrap_or_else(|| error.kind.name().to_owned());
                Err(error.rule(format!("{CANDIDATE}: {rule}")))
            }
        }
    }

    async fn time(&mut self, admitted: &Admitted) -> Result<Timing, SqlError> {
        self.with(admitted, drain).await
    }

    async fn explain(&mut self, admitted: &Admitted) -> Result<Plan, SqlError> {
        let sql = admitted.sql.clone();
        self.work(move |session, snapshot| {
            let query = SqlQuery::new(sql.as_str());
            let spliced = splice(&sql, &[], &Dialect::Sqlite, &Bounds::default())?;
            Composed { query: &query, spliced: &spliced }.plan(session, snapshot)
        })
        .await
    }

    async fn version(&mut self) -> Result<Option<String>, SqlError> {
        let inner = Arc::clone(&self.inner);
        let version = tokio::task::spawn_blocking(move || {
            let snapshot = inner.snapshot()?;
            // Neither sees every write by itself: the clock of the file system is coarse, and a counter begins anew with a connection.
            Ok(format!("{} {}", state::identity(&inner.path, &inner.config)?, snapshot.version.counters()))
        });
        let version = blocking::awaited(version).await;
        let version = version.map_err(|_| unavailable("the thread that reads the version failed"))?;
        version.map(Some).map_err(|error: syrch_core::ports::DatabaseError| unavailable(&error.to_string()))
    }
}
