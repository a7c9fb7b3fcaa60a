//! The database as the rest of the host sees it: each call takes a permit and a pooled connection,
//! works on a thread that may block, and is interrupted when its future is dropped.

use std::any::Any;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use syrch_core::ports::{
    Bench, BenchLimits, CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, OVERRUN,
    Plan, PortError, Sample, SqlQuery, current_search,
};
use syrch_core::{Catalog, Dialect, Hit, ResultSet, SqlError, SqlErrorKind, blocking};
use syrch_guard::Guard;
use syrch_guard::cells::{port_error, resolve};
use syrch_guard::values::Phrase;

use crate::bench::SqliteBench;
use crate::cells::{self, ValueIndex};
use crate::config::SqliteConfig;
use crate::connect;
use crate::deadline::{self, Allowance, Cancel, LeaveOnDrop};
use crate::error::CROWDED;
use crate::execute::Composed;
use crate::guard::Authorizer;
use crate::memory;
use crate::session::Session;
use crate::slots::{NoSlot, Occupied, Slots};
use crate::state::{self, FileState};
use crate::threads;
use crate::watch::{Snapshot, Watch};

/// The time that a statement may take beyond its deadline before its thread is left to itself.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The number of times that a statement is run again because the file changed under it.
const RETRIES: usize = 3;

/// The number of columns of the widest table that the engine can make.
const COLUMNS: usize = 32_767;

/// A SQLite database, opened read-only.
pub struct SqliteDatabase(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) config: SqliteConfig,
    pub(crate) path: PathBuf,
    name: String,
    /// The engine's authorizer admits what it composes.
    guard: Guard,
    watch: Mutex<Watch>,
    idle: Mutex<Vec<Session>>,
    slots: Slots,
    pub(crate) index: ValueIndex,
    /// An object that has to live as long as the database, such as a file that is removed after it.
    /// It is dropped after all connections.
    _held: Box<dyn Any + Send + Sync>,
}

impl SqliteDatabase {
    /// Opens a file and reads its catalog. Nothing is created, whatever the path.
    ///
    /// # Errors
    /// Every [`DatabaseError`].
    pub fn open(config: SqliteConfig) -> Result<Self, DatabaseError> {
        Self::open_holding(config, Box::new(()))
    }

    /// [`Self::open`] with something that is dropped when the database and all work on it have
    /// ended.
    ///
    /// # Errors
    /// Every [`DatabaseError`].
    pub fn open_holding(
        config: SqliteConfig,
        held: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, DatabaseError> {
        let path = connect::locate(&config)?;
        let name = config.name.clone().unwrap_or_else(|| {
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
        });
        let mut watch = Watch::open(&path, &config)?;
        watch.snapshot(&path, &name, &config)?;
        let slots = Slots::new(config.limits.sql_in_flight);
        let guard = Guard::new(Dialect::Sqlite, config.limits.sql_bytes);
        let watch = Mutex::new(watch);
        let idle = Mutex::new(Vec::new());
        let index = ValueIndex::default();
        Ok(Self(Arc::new(Inner {
            config,
            path,
            name,
            guard,
            watch,
            idle,
            slots,
            index,
            _held: held,
        })))
    }

    /// A digest of the file's place and state: equal, in every process, as long as the content
    /// cannot have changed.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn identity(&self) -> Result<String, DatabaseError> {
        state::identity(&self.0.path, &self.0.config)
    }

    #[cfg(test)]
    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// Works with a connection, off the async threads. Waiting for its turn may take as long as a
    /// statement may run. One for which others leave no memory is tried once more when some of them
    /// have ended, within its deadline.
    async fn with_session<T: Send + 'static>(
        &self,
        work: impl Fn(&Inner, &Session, &Snapshot) -> Result<T, SqlError> + Send + Sync + 'static,
    ) -> Result<T, SqlError> {
        let work = Arc::new(work);
        let started = Instant::now();
        let deadline = self.0.config.limits.sql_deadline;
        let result = blocking::await_work(self.attempt(&work, deadline)).await;
        if !result.as_ref().is_err_and(|error| error.rule.as_deref() == Some(CROWDED)) {
            return result;
        }
        memory::wait_for_space(
            self.0.config.memory,
            deadline.saturating_sub(started.elapsed()) / 2,
        )
        .await;
        match deadline.saturating_sub(started.elapsed()) {
            Duration::ZERO => result,
            left => blocking::await_work(self.attempt(&work, left)).await,
        }
    }

    async fn attempt<T: Send + 'static>(
        &self,
        work: &Arc<
            impl Fn(&Inner, &Session, &Snapshot) -> Result<T, SqlError> + Send + Sync + 'static,
        >,
        deadline: Duration,
    ) -> Result<T, SqlError> {
        let slot = match self.0.slots.take(current_search(), deadline).await {
            Ok(slot) => Arc::new(slot),
            Err(NoSlot::Stuck(count)) => {
                return Err(unavailable(format!(
                    "{count} statements of this process have not ended although their time is \
                     over; no other starts until one of them ends"
                )));
            }
            Err(NoSlot::Busy) => {
                return Err(unavailable("the database is busy with other statements".to_owned()));
            }
        };
        let inner = Arc::clone(&self.0);
        let cancel = Arc::new(Cancel::for_slot(&slot));
        let work = Arc::clone(work);
        let guard = LeaveOnDrop::new(&cancel, &slot);
        // Made here: where there is no thread, the place is given back at once.
        let occupied = Occupied::new(Arc::clone(&slot));
        let started = Instant::now();
        let job = threads::spawn(move || {
            let _occupied = occupied;
            let before = threads::cpu_time();
            let result = inner.work(&cancel, started, deadline, &*work);
            slot.charge(threads::cpu_time().saturating_sub(before));
            result
        });
        let job =
            job.map_err(|error| unavailable(format!("no thread for the statement: {error}")))?;
        let result = tokio::time::timeout(deadline + GRACE_PERIOD, job).await;
        drop(guard);
        match result {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(SqlError::new(SqlErrorKind::Other, "the statement's thread failed")),
            Err(_) => {
                tracing::warn!(
                    database = self.0.name,
                    "a statement has not ended although its time is over"
                );
                let message = format!(
                    "the statement did not end {} s after its deadline",
                    GRACE_PERIOD.as_secs()
                );
                Err(SqlError::new(SqlErrorKind::Timeout, message).rule(OVERRUN))
            }
        }
    }

    /// Does the same as [`Self::with_session`], for the ports that have errors of their own. Each
    /// column is worked on once, however often it is named.
    async fn with_table<T: Send + 'static>(
        &self,
        table: &str,
        columns: &[String],
        work: impl Fn(&Session, &Snapshot, &str, &[String]) -> Result<T, SqlError>
        + Send
        + Sync
        + 'static,
    ) -> Result<T, PortError> {
        let table = table.to_owned();
        let wanted = spellings(columns)?;
        self.with_session(move |_, session, snapshot| {
            let (found, columns) = match resolve(&snapshot.catalog, &table, &wanted) {
                Ok(found) => found,
                Err(error) => return Ok(Err(error)),
            };
            work(session, snapshot, &found.name, &columns).map(Ok)
        })
        .await
        .map_err(port_error)?
    }

    /// Returns cached samples of the state that the file has now, if all are there.
    async fn find_samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Option<Vec<Sample>> {
        let wanted = spellings(columns).ok()?;
        let snapshot = self.snapshot().await.ok()?;
        let (found, columns) = resolve(&snapshot.catalog, table, &wanted).ok()?;
        snapshot.samples.find_all(&found.name, &columns, limit)
    }

    async fn snapshot(&self) -> Result<Arc<Snapshot>, DatabaseError> {
        let inner = Arc::clone(&self.0);
        let failed = self.0.config.unavailable("the thread that reads the catalog failed");
        blocking::await_work(tokio::task::spawn_blocking(move || inner.snapshot()))
            .await
            .unwrap_or(Err(failed))
    }
}

/// The different ones of a list of columns, in order.
fn spellings(columns: &[String]) -> Result<Vec<String>, PortError> {
    let mut seen = HashSet::new();
    let different = columns.iter().filter(|column| seen.insert(column.as_str())).take(COLUMNS + 1);
    let different: Vec<String> = different.cloned().collect();
    if different.len() > COLUMNS {
        return Err(PortError::Other(format!("more than {COLUMNS} columns, which no table has")));
    }
    Ok(different)
}

fn unavailable(reason: String) -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, reason)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, DatabaseError> {
        lock(&self.watch).snapshot(&self.path, &self.name, &self.config)
    }

    /// Works until the result is one of a file that stayed as it was. All of it is within the
    /// deadline, the schema's reading too.
    fn work<T>(
        &self,
        cancel: &Arc<Cancel>,
        started: Instant,
        deadline: Duration,
        work: &impl Fn(&Self, &Session, &Snapshot) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        for _ in 0..RETRIES {
            if started.elapsed() >= deadline {
                return Err(deadline::deadline_error(deadline));
            }
            let snapshot = self.snapshot().map_err(|error| unavailable(error.to_string()))?;
            let mut session =
                self.session(&snapshot).map_err(|error| crate::error::running(&error))?;
            let allowance = Allowance {
                deadline: deadline.saturating_sub(started.elapsed()),
                memory: self.config.memory,
            };
            let result =
                session.within(allowance, cancel, |session| work(self, session, &snapshot));
            // The error names the whole time, not what was left of it.
            fn is_timeout(error: &SqlError) -> bool {
                error.kind == SqlErrorKind::Timeout
            }
            let result = result.map_err(|error| {
                if is_timeout(&error) { deadline::deadline_error(deadline) } else { error }
            });
            self.give_back(session);
            let file = snapshot.version.file;
            // Only a file at rest is read without locks.
            if !file.is_at_rest()
                || FileState::read(&self.path, &self.config).is_ok_and(|now| now == file)
            {
                return result;
            }
        }
        Err(unavailable("the file changes all the time".to_owned()))
    }

    /// Leaves a connection to the next statement.
    pub(crate) fn give_back(&self, session: Session) {
        let mut idle = lock(&self.idle);
        if idle.len() < self.config.limits.sql_in_flight {
            idle.push(session);
        }
    }

    /// An idle connection that still fits the database, or a new one.
    pub(crate) fn session(&self, snapshot: &Snapshot) -> rusqlite::Result<Session> {
        let idle = {
            let mut idle = lock(&self.idle);
            idle.retain(|session| session.version.is_same_file(&snapshot.version));
            idle.pop()
        };
        let mut session = match idle {
            Some(session) => session,
            None => {
                let authorizer = Authorizer::new();
                let connection = connect::connect(
                    &self.path,
                    &snapshot.version.file,
                    &self.config,
                    snapshot.columns,
                    &authorizer,
                )?;
                return Ok(Session { connection, authorizer, version: snapshot.version });
            }
        };
        if !session.version.is_same_schema(&snapshot.version) {
            connect::read_schema(&mut session.connection, &session.authorizer, &self.config)?;
        }
        session.version = snapshot.version;
        Ok(session)
    }
}

impl Drop for SqliteDatabase {
    /// Nobody waits for the index of values any more.
    fn drop(&mut self) {
        self.0.index.cancel();
    }
}

#[async_trait]
impl Database for SqliteDatabase {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn identity(&self) -> Option<String> {
        let inner = Arc::clone(&self.0);
        // What a search may see is part of what it gets.
        let tables = inner.config.tables.join(",");
        let state =
            tokio::task::spawn_blocking(move || state::identity(&inner.path, &inner.config));
        let state = blocking::await_work(state).await.ok()?.ok()?;
        Some(format!("{state} {tables}"))
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::clone(&self.snapshot().await?.catalog))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.0.guard.compose(query).map(|spliced| spliced.text)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        let spliced = self.0.guard.compose(query)?;
        let query = query.clone();
        self.with_session(move |inner, session, snapshot| {
            let composed = Composed { query: &query, spliced: &spliced };
            // The engine's verdict counts; the guard's facts say more than the engine does.
            drop(composed.compile(session, snapshot)?);
            let seen = session.authorizer.take_seen();
            match inner.guard.facts(&query, &snapshot.catalog) {
                Ok(mut facts) => {
                    // Of finished tasks the engine reads the tables, too, which are not this
                    // statement's.
                    if query.relations.is_empty() {
                        seen.add_tables(&mut facts);
                    }
                    Ok(facts)
                }
                Err(_) => Ok(seen.facts(&query.text)),
            }
        })
        .await
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        let spliced = self.0.guard.compose(query)?;
        let query = query.clone();
        self.with_session(move |_, session, snapshot| {
            Composed { query: &query, spliced: &spliced }.plan(session, snapshot)
        })
        .await
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let spliced = self.0.guard.compose(query)?;
        let query = query.clone();
        self.with_session(move |inner, session, snapshot| {
            Composed { query: &query, spliced: &spliced }.run(
                session,
                snapshot,
                &inner.config.limits,
            )
        })
        .await
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        self.with_table(table, columns, cells::column_stats).await
    }

    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        Ok(Box::new(SqliteBench::new(Arc::clone(&self.0), limits)))
    }
}

#[async_trait]
impl CellIndex for SqliteDatabase {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        if let Some(cached) = self.find_samples(table, columns, limit).await {
            return Ok(cached);
        }
        self.with_table(table, columns, move |session, snapshot, table, columns| {
            cells::samples(session, snapshot, table, columns, limit)
        })
        .await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        if !matches!(how, Match::Exact | Match::Ngram | Match::Fuzzy) {
            return Err(PortError::Unsupported);
        }
        let phrases = Phrase::all(phrases)?;
        let snapshot =
            self.snapshot().await.map_err(|error| PortError::Unavailable(error.to_string()))?;
        let index = blocking::await_work(self.0.values(snapshot)).await?;
        self.with_session(move |_, session, _| {
            index.find(&phrases, &how, limit as usize, || session.check_deadline())
        })
        .await
        .map_err(port_error)
    }

    fn is_repeatable(&self) -> bool {
        self.0.index.is_whole()
    }
}

#[cfg(test)]
mod tests {
    use syrch_guard::values::Values;

    use super::*;

    fn small(folder: &tempfile::TempDir) -> PathBuf {
        memory::count_memory();
        let path = folder.path().join("t.sqlite");
        let script = "CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('Anna');";
        rusqlite::Connection::open(&path).unwrap().execute_batch(script).unwrap();
        path
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_statement_that_does_not_end_is_distinguished_and_blocks_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = SqliteConfig::new(small(&folder));
        config.limits.sql_in_flight = 1;
        config.limits.sql_deadline = Duration::from_millis(100);
        let database = SqliteDatabase::open(config).unwrap();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Mutex::new(ended);
        let stuck = database.with_session(move |_, _, _| {
            let _ = lock(&ended).recv();
            Ok(())
        });
        let error = stuck.await.unwrap_err();
        assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Timeout, Some(OVERRUN)));
        assert_eq!(port_error(error), PortError::Budget);
        assert_eq!(database.run(&SqlQuery::new("SELECT 1")).await.unwrap().row_count(), 1);
        drop(end);
    }

    #[test]
    fn what_is_done_before_a_statement_and_for_a_file_that_changes_is_within_its_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let path = small(&folder);
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        drop(writer);
        let database = SqliteDatabase::open(SqliteConfig::new(path.clone())).unwrap();
        let inner = database.inner();
        let cancel = Arc::new(Cancel::default());
        let deadline = Duration::from_secs(2);
        let rounds = Mutex::new(0);
        let started = Instant::now();
        for _ in 0..2 {
            let error = inner
                .work(&cancel, started, deadline, &|_: &Inner, _: &Session, _: &Snapshot| {
                    *lock(&rounds) += 1;
                    rusqlite::Connection::open(&path)
                        .unwrap()
                        .execute_batch("INSERT INTO t VALUES ('Ben')")
                        .unwrap();
                    std::thread::sleep(deadline);
                    Ok(())
                })
                .unwrap_err();
            assert_eq!(error, deadline::deadline_error(deadline));
            assert!(*lock(&rounds) <= 1);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_statement_without_memory_because_of_others_is_tried_once_more() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = SqliteConfig::new(small(&folder));
        config.limits.sql_deadline = Duration::from_secs(60);
        let database = SqliteDatabase::open(config).unwrap();
        let tries = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for (failures, is_ok) in [(1, true), (2, false)] {
            tries.store(0, std::sync::atomic::Ordering::Relaxed);
            let counted = Arc::clone(&tries);
            let result = database
                .with_session(move |_, _, _| {
                    match counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < failures {
                        true => Err(unavailable("crowded".to_owned()).rule(CROWDED)),
                        false => Ok(()),
                    }
                })
                .await;
            assert_eq!(
                (result.is_ok(), tries.load(std::sync::atomic::Ordering::Relaxed)),
                (is_ok, 2)
            );
        }
    }

    /// As `cp` does, by a file whose counters are the same.
    #[tokio::test]
    async fn a_file_that_is_written_over_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = small(&folder);
        let other = folder.path().join("other.sqlite");
        let script = "CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('Zora');";
        rusqlite::Connection::open(&other).unwrap().execute_batch(script).unwrap();
        let database = SqliteDatabase::open(SqliteConfig::new(path.clone())).unwrap();
        let columns = ["a".to_owned()];
        let query = SqlQuery::new("SELECT a FROM t");
        let before = database.run(&query).await.unwrap();
        let samples = database.samples("t", &columns, 5).await.unwrap();
        // The clock by which the system dates files is a coarse one.
        std::thread::sleep(Duration::from_millis(50));
        std::fs::write(&path, std::fs::read(&other).unwrap()).unwrap();
        let after = database.run(&query).await.unwrap();
        assert_ne!(before.rows(0, 5), after.rows(0, 5));
        assert_ne!(database.samples("t", &columns, 5).await.unwrap(), samples);
    }

    #[tokio::test]
    async fn samples_are_cached_until_the_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = small(&folder);
        let database = SqliteDatabase::open(SqliteConfig::new(path.clone())).unwrap();
        let columns = ["A".to_owned()];
        let before = database.samples("T", &columns, 5).await.unwrap();
        let snapshot = database.inner().snapshot().unwrap();
        assert_eq!(snapshot.samples.find("t", "a", 5).as_ref(), before.first());
        assert_eq!(database.samples("T", &columns, 5).await.unwrap(), before);
        let writer = rusqlite::Connection::open(path).unwrap();
        writer.execute("UPDATE t SET a = 'Zoe'", []).unwrap();
        let after = database.samples("T", &columns, 5).await.unwrap();
        assert_eq!(after[0].greatest, syrch_core::Value::Text("Zoe".to_owned()));
        assert_ne!(after, before);
    }

    #[test]
    fn a_call_that_nobody_waits_for_ends_between_its_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = small(&folder);
        let database = SqliteDatabase::open(SqliteConfig::new(path)).unwrap();
        let inner = database.inner();
        let snapshot = inner.snapshot().unwrap();
        let mut session = inner.session(&snapshot).unwrap();
        let allowance = Allowance { deadline: Duration::from_secs(3_600), memory: usize::MAX };
        let columns = ["a".to_owned()];
        let phrases = Phrase::all(&["Anna".to_owned()]).unwrap();
        let (index, _) = cells::build(&session, &snapshot, Values::new(Duration::from_secs(60)));
        for is_cancelled in [false, true] {
            let cancel = Arc::new(Cancel::default());
            let both = |session: &Session| {
                if is_cancelled {
                    cancel.cancel();
                }
                let found = index
                    .find(&phrases, &Match::Exact, 5, || session.check_deadline())
                    .map(|found| found[0].len());
                let samples = cells::samples(session, &snapshot, "t", &columns, 5)
                    .map(|samples| samples.len());
                assert_eq!((found.is_err(), samples.is_err()), (is_cancelled, is_cancelled));
                found
            };
            let found = session.within(allowance, &cancel, both).map_err(|error| error.kind);
            assert_eq!(found, if is_cancelled { Err(SqlErrorKind::Cancelled) } else { Ok(1) });
        }
    }
}
