//! The index of values that all calls on a database share. A thread of its own reads it from the
//! user's cache or builds it when it is first asked for, so that no statement waits for it and none
//! is charged for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use syrch_core::ports::PortError;
use syrch_core::{SqlError, SqlErrorKind};
use syrch_guard::values::Values;
use tokio::sync::watch;

use super::index;
use crate::database::Inner;
use crate::deadline::{Allowance, Cancel};
use crate::state::{self, FileState};
use crate::threads;
use crate::watch::{SchemaVersion, Snapshot};

/// Time to build the index, or to add to it; half of a statement's deadline when that is shorter.
const INDEXING: Duration = Duration::from_secs(5);
/// The time by which a single step of building may take longer, and by which a call waits longer
/// than that.
const SPARE: Duration = Duration::from_millis(500);
/// The time between two tries to add to an index if the first found nothing to add.
const AGAIN: Duration = Duration::from_secs(10);

/// The index of one database.
#[derive(Default)]
pub(crate) struct ValueIndex(Mutex<State>);

#[derive(Default)]
struct State {
    built: Option<Built>,
    work: Option<Work>,
}

/// An index with what it was built of.
struct Built {
    version: SchemaVersion,
    values: Arc<Values>,
    /// The time at which it was last added to.
    at: Instant,
    /// The number of tables that were read then: none if it was in the user's cache.
    read: usize,
}

/// A thread that builds.
struct Work {
    version: SchemaVersion,
    cancel: Arc<Cancel>,
    /// Closed when it has ended.
    done: watch::Receiver<()>,
}

impl ValueIndex {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if there is an index that lacks nothing.
    pub(crate) fn is_whole(&self) -> bool {
        self.state().built.as_ref().is_some_and(|built| !built.values.is_partial)
    }

    /// Returns the number of tables that the last try read to build it; `None` without an index.
    #[cfg(test)]
    pub(crate) fn read(&self) -> Option<usize> {
        self.state().built.as_ref().map(|built| built.read)
    }

    /// Puts an index in place of another, unless one of a later state is wanted meanwhile.
    fn put(&self, built: Built) {
        let mut state = self.state();
        if state.work.as_ref().is_none_or(|work| work.version == built.version) {
            state.built = Some(built);
        }
    }

    /// Ends the work of the thread that builds.
    pub(crate) fn cancel(&self) {
        if let Some(work) = &self.state().work {
            work.cancel.cancel();
        }
    }
}

impl Inner {
    /// The index of this state of the database. A call waits for the first, which may lack tables
    /// if the time is not enough; these are added later, without a wait.
    ///
    /// # Errors
    /// When there is none in time, which says nothing about statements.
    pub(crate) async fn values(
        self: &Arc<Self>,
        snapshot: Arc<Snapshot>,
    ) -> Result<Arc<Values>, PortError> {
        let version = snapshot.version;
        let time = self.config.limits.sql_deadline.min(INDEXING * 2) / 2;
        let (values, done) = self.begin(snapshot, time);
        if let Some(values) = values {
            return Ok(values);
        }
        fn no_index() -> PortError {
            PortError::Unavailable("there is no index of values yet".to_owned())
        }
        let mut done = done.ok_or_else(no_index)?;
        // Nothing is sent: the sender is dropped at the end.
        let _ = tokio::time::timeout(time + SPARE * 2, done.changed()).await;
        let state = self.index.state();
        let built = state.built.as_ref().filter(|built| built.version == version);
        built.map(|built| Arc::clone(&built.values)).ok_or_else(no_index)
    }

    /// The index if there is one, and otherwise the end of the work on it, which is begun unless it
    /// is in progress.
    fn begin(
        self: &Arc<Self>,
        snapshot: Arc<Snapshot>,
        time: Duration,
    ) -> (Option<Arc<Values>>, Option<watch::Receiver<()>>) {
        let mut state = self.index.state();
        let version = snapshot.version;
        let built = state.built.as_ref().filter(|built| built.version == version);
        let (values, is_due) = match built {
            Some(built) => {
                let is_due =
                    built.values.is_partial && (built.read > 0 || built.at.elapsed() > AGAIN);
                (Some(Arc::clone(&built.values)), is_due)
            }
            None => (None, true),
        };
        if let Some(work) = state
            .work
            .as_ref()
            .filter(|work| work.version == version && work.done.has_changed().is_ok())
        {
            return (values, Some(work.done.clone()));
        }
        if !is_due {
            return (values, None);
        }
        let cancel = Arc::new(Cancel::default());
        let (end, done) = watch::channel(());
        let inner = Arc::clone(self);
        let resumed = values.clone();
        let cancelled = Arc::clone(&cancel);
        let begun = threads::spawn(move || {
            let built = threads::for_all(|| inner.build(&snapshot, resumed, time, &cancelled));
            match built {
                Ok(built) => inner.index.put(built),
                Err(error) => tracing::warn!(%error, "the index of values was not built"),
            }
            drop(end);
        });
        if begun.is_err() {
            return (values, None);
        }
        state.work = Some(Work { version, cancel, done: done.clone() });
        (values, Some(done))
    }

    /// Reads the index from the user's cache, or builds what is missing.
    fn build(
        &self,
        snapshot: &Snapshot,
        resumed: Option<Arc<Values>>,
        time: Duration,
        cancel: &Arc<Cancel>,
    ) -> Result<Built, SqlError> {
        fn unavailable(reason: String) -> SqlError {
            SqlError::new(SqlErrorKind::Unavailable, reason)
        }
        let version = snapshot.version;
        let identity = || {
            state::identity(&self.path, &self.config)
                .map_err(|error| unavailable(error.to_string()))
        };
        let store = self.config.values.as_ref();
        let grant = self.config.tables.join(",");
        let state = identity()?;
        let draft = match resumed {
            Some(values) => values.resume(time),
            None => match store.and_then(|store| store.load(&self.path, &grant, &state)) {
                Some(values) if !values.is_partial => {
                    return Ok(Built {
                        version,
                        values: Arc::new(values),
                        at: Instant::now(),
                        read: 0,
                    });
                }
                Some(values) => values.resume(time),
                None => Values::new(time),
            },
        };
        let mut session = self.session(snapshot).map_err(|error| crate::error::running(&error))?;
        let allowance = Allowance { deadline: time + SPARE, memory: self.config.memory };
        let (values, read) = session
            .within(allowance, cancel, |session| Ok(index::build(session, snapshot, draft)))?;
        self.give_back(session);
        if cancel.is_cancelled() {
            return Err(SqlError::new(SqlErrorKind::Cancelled, "cancelled"));
        }
        let is_same = identity()? == state;
        // Only a file at rest is read without locks.
        let file = version.file;
        if file.is_at_rest()
            && !(is_same && FileState::read(&self.path, &self.config).is_ok_and(|now| now == file))
        {
            return Err(unavailable("the file changes all the time".to_owned()));
        }
        if let Some(store) = store.filter(|_| is_same && read > 0)
            && let Err(error) = store.save(&self.path, &grant, &state, &values)
        {
            tracing::warn!(%error, "the index of values is not stored");
        }
        Ok(Built { version, values: Arc::new(values), at: Instant::now(), read })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;
    use syrch_core::ports::{CellIndex, Database, Match, SqlQuery};

    use super::*;
    use crate::config::SqliteConfig;
    use crate::database::SqliteDatabase;
    use crate::value_store::ValueStore;

    /// Three tables, of which the last of the catalog is the smallest.
    const SCRIPT: &str = "
        CREATE TABLE a(name TEXT); INSERT INTO a VALUES ('Anna'), ('Ben'), ('Cleo');
        CREATE TABLE b(name TEXT); INSERT INTO b VALUES ('Dora'), ('Anna');
        CREATE TABLE c(name TEXT); INSERT INTO c VALUES ('Anna');";

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        fn new() -> Self {
            crate::memory::count_memory();
            let fixture = Self(tempfile::tempdir().unwrap());
            fixture.change(SCRIPT);
            fixture
        }

        fn change(&self, script: &str) {
            Connection::open(self.0.path().join("t.sqlite"))
                .unwrap()
                .execute_batch(script)
                .unwrap();
        }

        fn files(&self) -> Vec<std::path::PathBuf> {
            let listed = std::fs::read_dir(self.0.path().join("values"));
            listed.map(|files| files.map(|file| file.unwrap().path()).collect()).unwrap_or_default()
        }

        fn open(&self, tables: &[&str]) -> SqliteDatabase {
            let retained = Duration::from_secs(3_600);
            let retained_bytes = 1 << 30;
            let mut config = SqliteConfig::new(self.0.path().join("t.sqlite"));
            config.values =
                Some(ValueStore { folder: self.0.path().join("values"), retained, retained_bytes });
            config.tables = tables.iter().map(|&table| table.to_owned()).collect();
            config.limits.sql_deadline = Duration::from_secs(120);
            SqliteDatabase::open(config).unwrap()
        }
    }

    async fn find(database: &SqliteDatabase, phrase: &str) -> Vec<String> {
        let mut found = database.find(&[phrase.to_owned()], Match::Exact, 5).await.unwrap();
        found.remove(0).into_iter().map(|hit| hit.path).collect()
    }

    fn read(database: &SqliteDatabase) -> Option<usize> {
        database.inner().index.read()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_index_is_built_once_for_a_state_of_the_file() {
        let fixture = Fixture::new();
        let first = fixture.open(&[]);
        // Nothing else needs it.
        first.run(&SqlQuery::new("SELECT count(*) FROM a")).await.unwrap();
        assert_eq!((read(&first), fixture.files().len()), (None, 0));
        assert_eq!(find(&first, "anna").await, ["a.name", "b.name", "c.name"]);
        assert_eq!(
            (read(&first), first.is_repeatable(), fixture.files().len()),
            (Some(3), true, 1)
        );
        let second = fixture.open(&[]);
        assert_eq!(find(&second, "anna").await, ["a.name", "b.name", "c.name"]);
        assert_eq!(read(&second), Some(0), "it was there");
        // Another grant has an index of its own.
        let granted = fixture.open(&["b"]);
        assert_eq!(find(&granted, "anna").await, ["b.name"]);
        assert_eq!((read(&granted), fixture.files().len()), (Some(1), 2));
        // A change of the file is seen by an open database and by another.
        fixture.change("INSERT INTO c VALUES ('Emil')");
        for database in [second, fixture.open(&[])] {
            assert_eq!(find(&database, "emil").await, ["c.name"]);
        }
        assert_eq!(fixture.files().len(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_stored_index_that_is_damaged_is_made_again() {
        let fixture = Fixture::new();
        find(&fixture.open(&[]), "anna").await;
        let [file] = &fixture.files()[..] else { panic!("one file") };
        for bytes in [&b""[..], b"no index"] {
            std::fs::write(file, bytes).unwrap();
            let database = fixture.open(&[]);
            assert_eq!(
                (find(&database, "dora").await, read(&database)),
                (vec!["b.name".to_owned()], Some(3))
            );
        }
        assert_eq!(read(&fixture.open(&[])), None);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn without_a_folder_that_can_be_written_there_is_an_index_all_the_same() {
        let fixture = Fixture::new();
        std::fs::write(fixture.0.path().join("values"), "a file").unwrap();
        assert_eq!(find(&fixture.open(&[]), "dora").await, ["b.name"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_index_whose_time_is_up_is_used_and_added_to() {
        let fixture = Fixture::new();
        let database = fixture.open(&[]);
        let inner = database.inner();
        // Each of these has a table more, the smallest first, of which the time is enough for one
        // row.
        for tables in [1, 2] {
            let (_, done) = inner.begin(inner.snapshot().unwrap(), Duration::ZERO);
            assert!(done.unwrap().changed().await.is_err());
            assert_eq!(read(&database), Some(1));
            assert!(!database.is_repeatable());
            // No statement is in its way.
            assert_eq!(database.run(&SqlQuery::new("SELECT 1")).await.unwrap().row_count(), 1);
            // Another process begins with what is there.
            let other = fixture.open(&[]);
            let stored = other.inner().config.values.clone().unwrap();
            let state = state::identity(&other.inner().path, &other.inner().config).unwrap();
            let values = stored.load(&other.inner().path, "", &state).unwrap();
            assert_eq!(
                ["a", "b", "c"].iter().filter(|table| values.is_complete(table)).count(),
                tables
            );
        }
        // What is there is used without a wait, and the rest is added meanwhile.
        let found =
            database.find(&["dora".to_owned(), "cleo".to_owned()], Match::Exact, 5).await.unwrap();
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0]);
        let (_, done) = inner.begin(inner.snapshot().unwrap(), Duration::from_secs(60));
        if let Some(mut done) = done {
            drop(done.changed().await);
        }
        assert_eq!(find(&database, "anna").await, ["a.name", "c.name"]);
        assert!(database.is_repeatable());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_waits_for_an_index_that_is_cancelled() {
        let fixture = Fixture::new();
        let database = fixture.open(&[]);
        let inner = Arc::clone(database.inner());
        let snapshot = inner.snapshot().unwrap();
        let cancel = Arc::new(Cancel::default());
        cancel.cancel();
        let error = inner.build(&snapshot, None, Duration::from_secs(60), &cancel).err().unwrap();
        assert_eq!(error.kind, SqlErrorKind::Cancelled);
        assert!(fixture.files().is_empty());
        let built = inner.build(&snapshot, None, Duration::from_secs(60), &Arc::default()).unwrap();
        assert_eq!((built.read, built.values.is_partial), (3, false));
        assert!(Path::new(&fixture.files()[0]).is_file());
    }
}
