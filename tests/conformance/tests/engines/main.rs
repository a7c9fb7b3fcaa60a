//! The engines that pass the cases, and one for each fault that a case must find.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

mod broken;
mod duckdb;
mod memory;
mod metrics;
#[cfg(unix)]
mod spark;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Connection;
use syrch_conformance::{Capabilities, Engine, FIXTURE, Outcome, run, run_case};
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{Dialect, Equality, Limits};
#[cfg(unix)]
use syrch_kit::postgres::Server;
#[cfg(unix)]
use syrch_postgres::PostgresConfig;
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
        Arc::new(
            SqliteDatabase::open(SqliteConfig { limits, ..SqliteConfig::new(self.path()) })
                .unwrap(),
        )
    }

    async fn change(&self) {
        Connection::open(self.path())
            .unwrap()
            .execute("INSERT INTO orders VALUES (13, 3, 9)", [])
            .unwrap();
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
        let config =
            PostgresConfig { limits, ..PostgresConfig::new(self.0.url("admin", "fixture")) };
        Arc::new(syrch_postgres::open(config).await.unwrap())
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
    assert_eq!((report.failures(), report.names_of_skipped()), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_passes() {
    let report = run(&Sqlite::new()).await;
    assert_eq!((report.failures(), report.names_of_skipped()), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_on_sqlite_are_those_of_statements_by_hand() {
    syrch_sqlite::count_memory();
    let engine = Sqlite(tempfile::tempdir().unwrap());
    let script = metrics::script(&Dialect::Sqlite).join(";");
    Connection::open(engine.path()).unwrap().execute_batch(&script).unwrap();
    metrics::check(&engine.open(Limits::default()).await).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn metrics_on_postgres_are_those_of_statements_by_hand() {
    let Some(server) = Server::start() else { return };
    server.database("fixture", &metrics::script(&Dialect::Postgres).join(";"));
    metrics::check(&Postgres(server).open(Limits::default()).await).await;
}

/// Numbers count by their value, times by their text, whatever types an engine has for them.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn equal_bags_have_equal_fingerprints_on_all_engines() {
    const TYPED: &str = "SELECT 1, 1.50, 12345678901234567890.5, DATE '2024-02-29', TIMESTAMP \
                         '2024-02-29 12:00:00.5', TIME '12:34:56', INTERVAL '1 month 2 days', 'é', \
                         NULL, 1 = 1 UNION ALL SELECT 2, 0.25, -12345678901234567890.5, DATE \
                         '0001-01-01', TIMESTAMP '1970-01-01 00:00:00', TIME '23:59:59.999999', \
                         INTERVAL '-1 day', '', 'x', 1 = 2";
    let fingerprint = async |engine: &dyn Engine, sql: &str| {
        let database = engine.open(Limits::default()).await;
        let result = database
            .run(&SqlQuery::new(sql))
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        (result.rows(0, 9), result.fingerprint(&Equality::Bag, 7).unwrap())
    };
    let Some(server) = Server::start() else { return };
    server.database("fixture", FIXTURE);
    let postgres = Postgres(server);
    let (rows, expected) = fingerprint(&postgres, TYPED).await;
    assert_eq!(rows.len(), 2);
    if let Some(library) = syrch_kit::duckdb::library() {
        let (other, found) = fingerprint(&duckdb::Duckdb::new(library), TYPED).await;
        assert_eq!(found, expected, "{rows:?}\n{other:?}");
    }
    // SQLite has texts for times, and no exact numbers of that many digits.
    fn few(sql: &str) -> String {
        sql.replace("12345678901234567890.5", "0.5")
    }
    let untyped = ["DATE '", "TIMESTAMP '", "TIME '", "INTERVAL '"]
        .iter()
        .fold(few(TYPED), |sql, name| sql.replace(name, "'"));
    let untyped =
        untyped.replace("'1 month 2 days'", "'1 mon 2 days'").replace("'-1 day'", "'-1 days'");
    let (_, expected) = fingerprint(&postgres, &few(TYPED)).await;
    assert_eq!(fingerprint(&Sqlite::new(), &untyped).await.1, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_in_memory_passes_what_it_declares() {
    let report = run(&MemoryEngine).await;
    assert_eq!(report.failures(), Vec::<String>::new());
    assert_eq!(report.names_of_skipped(), ["keys", "plans", "short_beside_long", "statistics"]);
    assert_eq!(report.0["keys"], Outcome::Skipped("has_keys"));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_is_found_by_its_case() {
    for (fault, case) in Fault::ALL {
        let outcome = run_case(&Broken { engine: Sqlite::new(), fault }, case).await;
        assert!(matches!(outcome, Some(Outcome::Failed(_))), "{fault:?} in `{case}`: {outcome:?}");
    }
}
