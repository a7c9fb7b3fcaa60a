//! The engines that pass the cases, and one for each fault that a case must find.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod broken;
mod duckdb;
mod memory;
#[cfg(unix)]
mod spark;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Connection;
use syrch_conformance::{Capabilities, Engine, FIXTURE, Outcome, run, run_case};
use syrch_core::ports::Database;
use syrch_core::{Dialect, Limits};
#[cfg(unix)]
use syrch_kit::postgres::Server;
#[cfg(unix)]
use syrch_postgres::{PostgresConfig, PostgresDatabase};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};
use tempfile::TempDir;

use broken::{Broken, Fault};
use memory::MemoryEngine;

struct Sqlite(TempDir);

impl Sqlite {
    fn new() -> Self {
        syrch_sqlite::count_memory();
        let engine = Self(tempfile::tempdir().unwrap());
        Connection::open(engine.path()).unwrap().execute_batch(FIXTURE).unwrap();
        engine
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("fixture.sqlite")
    }
}

#[async_trait]
impl Engine for Sqlite {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all(Dialect::Sqlite)
    }

    async fn open(&self, limits: Limits) -> Arc<dyn Database> {
        Arc::new(SqliteDatabase::open(SqliteConfig { limits, ..SqliteConfig::new(self.path()) }).unwrap())
    }

    async fn change(&self) {
        Connection::open(self.path()).unwrap().execute("INSERT INTO orders VALUES (13, 3, 9)", []).unwrap();
    }
}

#[cfg(unix)]
struct Postgres(Server);

#[cfg(unix)]
#[async_trait]
impl Engine for Postgres {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all(Dialect::Postgres)
    }

    async fn open(&self, limits: Limits) -> Arc<dyn Database> {
        let config = PostgresConfig { limits, ..PostgresConfig::new(self.0.url("admin", "fixture")) };
        Arc::new(PostgresDatabase::open(config).await.unwrap())
    }

    async fn change(&self) {
        self.0.psql("fixture", "INSERT INTO orders VALUES (13, 3, 9)").unwrap();
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_passes() {
    let Some(server) = Server::start() else { return };
    server.database("fixture", FIXTURE);
    let report = run(&Postgres(server)).await;
    assert_eq!((report.failures(), report.skipped()), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_passes() {
    let report = run(&Sqlite::new()).await;
    assert_eq!((report.failures(), report.skipped()), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_in_memory_passes_what_it_declares() {
    let report = run(&MemoryEngine).await;
    assert_eq!(report.failures(), Vec::<String>::new());
    assert_eq!(report.skipped(), ["keys", "plans", "short_beside_long", "statistics"]);
    assert_eq!(report.0["keys"], Outcome::Skipped("has_keys"));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_is_found_by_its_case() {
    for (fault, case) in Fault::ALL {
        let outcome = run_case(&Broken { engine: Sqlite::new(), fault }, case).await;
        assert!(matches!(outcome, Some(Outcome::Failed(_))), "{fault:?} in `{case}`: {outcome:?}");
    }
}
