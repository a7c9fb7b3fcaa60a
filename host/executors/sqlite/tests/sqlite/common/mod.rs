//! Helpers of the tests: databases made on the spot and a small runtime.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError, Value};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};
use tempfile::TempDir;

/// The folder of shared test data, when it is there.
pub(crate) fn data() -> Option<PathBuf> {
    syrch_kit::data_root()
}

/// A database file made by a script, in a folder of its own.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Fixture {
    pub(crate) fn new(script: &str) -> Self {
        // Before the engine's first use.
        syrch_sqlite::count_memory();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        Connection::open(&path).unwrap().execute_batch(script).unwrap();
        Self { folder, path }
    }

    pub(crate) fn config(&self) -> SqliteConfig {
        SqliteConfig::new(&self.path)
    }

    pub(crate) fn open(&self) -> SqliteDatabase {
        SqliteDatabase::open(self.config()).unwrap()
    }

    pub(crate) fn writer(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    /// Names beside the database.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// A runtime as the host has one.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

pub(crate) fn run(database: &SqliteDatabase, text: &str) -> Result<ResultSet, SqlError> {
    runtime().block_on(database.run(&SqlQuery::new(text)))
}

pub(crate) fn rows(database: &SqliteDatabase, text: &str) -> Vec<Vec<Value>> {
    match run(database, text) {
        Ok(result) => result.rows(0, u64::MAX),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

pub(crate) fn refusal(database: &SqliteDatabase, text: &str) -> SqlError {
    match run(database, text) {
        Ok(result) => panic!("{text}: {:?}", result.rows(0, 3)),
        Err(error) => error,
    }
}

/// A config with a short deadline.
pub(crate) fn hasty(fixture: &Fixture) -> SqliteConfig {
    let mut config = fixture.config();
    config.limits.sql_deadline = Duration::from_secs(1);
    config
}
