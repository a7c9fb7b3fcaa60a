//! The bench of the verified optimizer: one connection, on which statements are checked by what the
//! engine made of them, compared and measured.
//!
//! The first check reads the text (`syrch_guard::deterministic`). The second is the authorizer's
//! view of that text, as it was written again: it sees through common table expressions and reports
//! the tables behind them.

mod rows;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rusqlite::StatementStatus;
use syrch_core::ports::{
    Admitted, Bench, BenchLimits, CANDIDATE, Compared, DatabaseError, OVERRUN, Plan, ResultSize,
    SqlQuery, TOO_MANY_ROWS, Timing,
};
use syrch_core::{Column, Dialect, SqlError, SqlErrorKind};
use syrch_guard::deterministic::{Checked, RealSums};
use syrch_guard::{Guard, deterministic};

use crate::connect;
use crate::database::{GRACE_PERIOD, Inner};
use crate::deadline::{Allowance, Cancel};
use crate::error;
use crate::execute::Composed;
use crate::guard::Authorizer;
use crate::session::Session;
use crate::state::{self, FileState};
use crate::threads;
use crate::watch::Snapshot;
use rows::{Counted, Rows};

/// Time from which on the engine's count of its steps, of 32 bits, may have overflowed.
const COUNTED: Duration = Duration::from_secs(10);

/// A connection of its own. Between two calls it holds the read transaction of the present
/// snapshot.
pub(crate) struct SqliteBench {
    inner: Arc<Inner>,
    limits: BenchLimits,
    /// `None` while a call uses it, and after a call that did not return it: the next call opens
    /// another.
    pinned: Option<Pinned>,
    /// The number of snapshots that were taken.
    snapshots: u64,
}

/// The connection with the catalog of its snapshot.
struct Pinned {
    session: Session,
    snapshot: Arc<Snapshot>,
}

impl SqliteBench {
    /// A bench that opens its connection with the first call.
    pub(crate) fn new(inner: Arc<Inner>, limits: BenchLimits) -> Self {
        Self { inner, limits, pinned: None, snapshots: 0 }
    }

    fn deadline(&self) -> Duration {
        Duration::from_millis(self.limits.statement_ms)
    }

    /// Works with the connection on a thread that may block. After an error the next call takes a
    /// fresh snapshot, unless the statement was refused before it ran.
    async fn work<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Session, &Snapshot) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let inner = Arc::clone(&self.inner);
        let limits = self.limits;
        let deadline = self.deadline();
        let cancel = Arc::new(Cancel::default());
        let guard = CancelOnDrop(Arc::clone(&cancel));
        let is_fresh = self.pinned.is_none();
        let pinned = self.pinned.take();
        let job = threads::spawn(move || {
            let mut pinned = match pinned {
                Some(pinned) => pinned,
                None => Pinned::open(&inner, limits)?,
            };
            let allowance = Allowance { deadline, memory: inner.config.memory };
            let snapshot = Arc::clone(&pinned.snapshot);
            let result =
                pinned.session.within(allowance, &cancel, |session| work(session, &snapshot));
            let file = pinned.snapshot.version.file;
            // Only a file at rest is read without locks.
            if file.is_at_rest() && FileState::read(&inner.path, &inner.config).ok() != Some(file) {
                return Err(unavailable("the file was changed while statements were compared"));
            }
            Ok((pinned, result))
        });
        let job =
            job.map_err(|error| unavailable(&format!("no thread for the statement: {error}")))?;
        let ended = tokio::time::timeout(deadline + GRACE_PERIOD, job).await;
        drop(guard);
        let (pinned, result) = match ended {
            Ok(Ok(ended)) => ended?,
            Ok(Err(_)) => {
                return Err(SqlError::new(SqlErrorKind::Other, "the statement's thread failed"));
            }
            Err(_) => {
                let message = format!(
                    "the statement did not end {} s after its deadline",
                    GRACE_PERIOD.as_secs()
                );
                return Err(SqlError::new(SqlErrorKind::Timeout, message).rule(OVERRUN));
            }
        };
        self.snapshots += u64::from(is_fresh);
        self.pinned = Some(pinned);
        result
    }

    /// Runs a statement, whose rows are counted and, for a comparison, retained.
    async fn count_rows(
        &mut self,
        admitted: &Admitted,
        is_retained: bool,
    ) -> Result<Counted, SqlError> {
        let statement = Statement::new(&admitted.sql)?;
        let limits = self.limits;
        self.work(move |session, snapshot| {
            let mut compiled = statement.compile(session, snapshot)?;
            let mut counted = Counted::new(limits, is_retained);
            let width = compiled.column_count();
            let mut rows = compiled.raw_query();
            while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
                counted.take(row, width, session)?;
            }
            Ok(counted)
        })
        .await
    }

    async fn rows(&mut self, admitted: &Admitted) -> Result<Rows, SqlError> {
        Ok(self.count_rows(admitted, true).await?.rows())
    }
}

/// Interrupts the statement of a call that nobody waits for.
struct CancelOnDrop(Arc<Cancel>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn unavailable(reason: &str) -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, reason)
}

impl Pinned {
    /// A connection in a read transaction.
    fn open(inner: &Inner, limits: BenchLimits) -> Result<Self, SqlError> {
        let opening = |error: DatabaseError| unavailable(&error.to_string());
        let snapshot = inner.snapshot().map_err(opening)?;
        let authorizer = Authorizer::new();
        let version = snapshot.version;
        let failed =
            |error: rusqlite::Error| opening(connect::opening_error(&error, &inner.config));
        let connection = connect::connect(
            &inner.path,
            &version.file,
            &inner.config,
            snapshot.columns,
            &authorizer,
        );
        let connection = connection.map_err(failed)?;
        connection.busy_timeout(Duration::from_millis(limits.lock_ms)).map_err(failed)?;
        let begin = "BEGIN; SELECT count(*) FROM sqlite_schema WHERE 0;";
        connection.execute_batch(begin).map_err(failed)?;
        let now =
            connection.query_row("PRAGMA schema_version", [], |row| row.get(0)).map_err(failed)?;
        if !version.has_schema(now) {
            return Err(unavailable("the schema was changed at this moment; start again"));
        }
        Ok(Self { session: Session { connection, authorizer, version }, snapshot })
    }
}

/// A statement of ours that the pre-lexer let through.
struct Statement {
    query: SqlQuery,
    spliced: syrch_guard::Spliced,
}

impl Statement {
    fn new(sql: &str) -> Result<Self, SqlError> {
        let query = SqlQuery::new(sql);
        // What the check wrote again has a quote around each name, and may be longer than what the
        // user may send.
        let spliced = Guard::new(Dialect::Sqlite, connect::SQL_LENGTH).compose(&query)?;
        Ok(Self { query, spliced })
    }

    fn as_composed(&self) -> Composed<'_> {
        Composed { query: &self.query, spliced: &self.spliced }
    }

    fn compile<'s>(
        &self,
        session: &'s Session,
        snapshot: &Snapshot,
    ) -> Result<rusqlite::Statement<'s>, SqlError> {
        self.as_composed().compile(session, snapshot)
    }
}

/// The tables that the engine reads for a statement, spelled as the catalog spells them, where all
/// of them are ordinary ones, their columns are compared byte by byte, and the engine calls no
/// function that the text does not show, as a computed column would.
fn tables(
    statement: &Statement,
    session: &Session,
    snapshot: &Snapshot,
) -> Result<Vec<String>, SqlError> {
    drop(statement.compile(session, snapshot)?);
    let seen = session.authorizer.take_seen();
    session.authorizer.own();
    if let Some(function) = seen.functions().find(|function| !deterministic::is_listed(function)) {
        return Err(refuse(
            "function",
            function,
            "its result may depend on more than its arguments",
        ));
    }
    let mut tables = Vec::new();
    for table in seen.tables() {
        let known =
            snapshot.catalog.tables.iter().find(|known| known.name.eq_ignore_ascii_case(table));
        let Some(known) = known.filter(|known| !known.is_view()) else {
            return Err(refuse("ordinary-table", table, "only ordinary tables are compared"));
        };
        tables.push(known.name.clone());
    }
    for (table, column) in seen.columns() {
        let described = session.connection.column_metadata(Some("main"), table, column);
        let (_, collation, ..) = described.map_err(|error| error::running(&error))?;
        if collation.is_some_and(|name| !name.to_bytes().eq_ignore_ascii_case(b"BINARY")) {
            let shown = format!("{table}.{column}");
            return Err(refuse(
                "collation",
                &shown,
                "texts of another collation than BINARY may be equal and differ",
            ));
        }
    }
    tables.sort();
    tables.dedup();
    Ok(tables)
}

fn refuse(rule: &str, token: &str, why: &str) -> SqlError {
    SqlError::new(
        SqlErrorKind::Denied,
        format!("`{}` is refused: {why}", syrch_core::text::clip(token, 100)),
    )
    .rule(rule)
}

#[async_trait]
impl Bench for SqliteBench {
    async fn admit(&mut self, text: &str, within: Option<&[String]>) -> Result<Admitted, SqlError> {
        let text = text.to_owned();
        let sums = RealSums::from_flag(self.limits.real_sums);
        let admitted = self.work(move |session, snapshot| {
            let checked =
                deterministic::admit_with(&text, &snapshot.catalog, &Dialect::Sqlite, sums)?;
            let statement = Statement::new(&checked.sql)?;
            let tables = tables(&statement, session, snapshot)
                .map_err(|error: SqlError| SqlError { position: None, ..error })?;
            match tables.iter().find(|table| !checked.tables.contains(table)) {
                Some(table) => Err(refuse(
                    "tables",
                    table,
                    "the engine reads it, and the text does not name it",
                )),
                None => {
                    let Checked { sql, tables, is_ordered, unnamed } = checked;
                    Ok(Admitted { sql, tables, is_ordered, unnamed })
                }
            }
        });
        let admitted = admitted.await?;
        match within.and_then(|within| admitted.tables.iter().find(|table| !within.contains(table)))
        {
            Some(table) => Err(refuse("within", table, "the original does not read it")),
            None => Ok(admitted),
        }
    }

    async fn snapshot(&mut self) -> Result<(), SqlError> {
        self.pinned = None;
        self.work(|_, _| Ok(())).await
    }

    /// The columns have no types: in SQLite each value has its own, which is compared with it.
    async fn columns(&mut self, admitted: &Admitted) -> Result<Vec<Column>, SqlError> {
        let statement = Statement::new(&admitted.sql)?;
        self.work(move |session, snapshot| {
            let compiled = statement.compile(session, snapshot)?;
            Ok(compiled
                .columns()
                .map(|column: rusqlite::Column<'_>| Column {
                    name: column.name().to_owned(),
                    ..Column::default()
                })
                .collect())
        })
        .await
    }

    async fn size(&mut self, admitted: &Admitted) -> Result<ResultSize, SqlError> {
        Ok(self.count_rows(admitted, false).await?.size())
    }

    async fn compare(
        &mut self,
        original: &Admitted,
        candidate: &Admitted,
    ) -> Result<Compared, SqlError> {
        let expected = self.rows(original).await?;
        let snapshots = self.snapshots;
        let found = match self.rows(candidate).await {
            Ok(found) => found,
            Err(error) if error.rule.as_deref() == Some(TOO_MANY_ROWS) => {
                return Ok(Compared::TooLarge);
            }
            Err(mut error) => {
                let rule = error.rule.take().map(|rule| format!(": {rule}")).unwrap_or_default();
                return Err(error.rule(format!("{CANDIDATE}{rule}")));
            }
        };
        if self.snapshots != snapshots {
            return Err(unavailable("the snapshot of a comparison has ended"));
        }
        Ok(expected.compare(found, original.is_ordered))
    }

    async fn time(&mut self, admitted: &Admitted) -> Result<Timing, SqlError> {
        let statement = Statement::new(&admitted.sql)?;
        self.work(move |session, snapshot| {
            let mut compiled = statement.compile(session, snapshot)?;
            let started = Instant::now();
            let cpu = threads::cpu_time();
            let mut count = 0;
            let mut rows = compiled.raw_query();
            while rows.next().map_err(|error| session.step_error(&error))?.is_some() {
                count += 1;
            }
            let wall = started.elapsed();
            let cpu = threads::cpu_time().saturating_sub(cpu);
            drop(rows);
            let steps = compiled.get_status(StatementStatus::VmStep).cast_unsigned();
            let work = (wall < COUNTED).then_some(u64::from(steps));
            Ok(Timing {
                wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
                cpu_ns: Some(u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX)),
                work,
                rows: count,
            })
        })
        .await
    }

    async fn explain(&mut self, admitted: &Admitted) -> Result<Plan, SqlError> {
        let statement = Statement::new(&admitted.sql)?;
        self.work(move |session, snapshot| statement.as_composed().plan(session, snapshot)).await
    }

    async fn version(&mut self) -> Result<Option<String>, SqlError> {
        let inner = Arc::clone(&self.inner);
        let read = tokio::task::spawn_blocking(move || {
            let counters = inner.snapshot()?.version.counters();
            // Neither sees every write by itself: the file system's clock is coarse, and the
            // engine's counter begins anew with a connection.
            Ok::<_, DatabaseError>(format!(
                "{} {counters}",
                state::identity(&inner.path, &inner.config)?
            ))
        });
        let read = read.await;
        let read =
            read.map_err(|_| unavailable("the thread that reads the file's state failed"))?;
        read.map(Some).map_err(|error| unavailable(&error.to_string()))
    }
}

#[cfg(test)]
mod tests;
