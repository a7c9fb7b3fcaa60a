//! DuckDB by ADBC, where `tests/databases/install.sh` has installed its library.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use syrch_adbc::{AdbcConfig, AdbcDatabase, digest};
use syrch_conformance::{Capabilities, Engine, FIXTURE, run};
use syrch_core::ports::Database;
use syrch_core::{Dialect, Limits};
use syrch_kit::duckdb::{library, script};
use tempfile::TempDir;

use crate::metrics;

pub(crate) struct Duckdb {
    folder: TempDir,
    library: PathBuf,
}

impl Duckdb {
    pub(crate) fn new(library: PathBuf) -> Self {
        Self::with_script(library, &[FIXTURE, "CHECKPOINT"])
    }

    fn with_script(library: PathBuf, statements: &[&str]) -> Self {
        let engine = Self { folder: tempfile::tempdir().unwrap(), library };
        script(&engine.library, &engine.file(), statements);
        engine
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("fixture.duckdb")
    }
}

#[async_trait]
impl Engine for Duckdb {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all(Dialect::Duckdb)
    }

    async fn open(&self, limits: Limits) -> Arc<dyn Database> {
        let sha256 = Some(digest(&self.library).unwrap());
        let config =
            AdbcConfig { sha256, limits, ..AdbcConfig::duckdb(&self.library, self.file()) };
        Arc::new(AdbcDatabase::open(config).await.unwrap())
    }

    /// By a changed copy that takes the file's place: DuckDB lets nobody write a file that is open.
    async fn change(&self) {
        let copy = self.folder.path().join("copy");
        std::fs::copy(self.file(), &copy).unwrap();
        script(&self.library, &copy, &["INSERT INTO orders VALUES (13, 3, 9)", "CHECKPOINT"]);
        std::fs::rename(copy, self.file()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn duckdb_passes() {
    let Some(library) = library() else { return };
    let report = run(&Duckdb::new(library)).await;
    assert_eq!((report.failures(), report.names_of_skipped()), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_on_duckdb_are_those_of_statements_by_hand() {
    let Some(library) = library() else { return };
    let mut statements = metrics::script(&Dialect::Duckdb);
    statements.push("CHECKPOINT".to_owned());
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let engine = Duckdb::with_script(library, &statements);
    metrics::check(&engine.open(Limits::default()).await).await;
}
