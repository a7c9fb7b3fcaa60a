//! DuckDB by ADBC, where `tests/databases/install.sh` has installed its library.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adbc_core::options::{AdbcVersion, OptionDatabase};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use adbc_driver_manager::ManagedDriver;
use async_trait::async_trait;
use syrch_adbc::{AdbcConfig, AdbcDatabase, DUCKDB_ENTRY, digest};
use syrch_conformance::{Capabilities, Engine, FIXTURE, run};
use syrch_core::ports::Database;
use syrch_core::{Dialect, Limits};
use tempfile::TempDir;

struct Duckdb {
    folder: TempDir,
    library: PathBuf,
}

impl Duckdb {
    fn new(library: PathBuf) -> Self {
        let engine = Self { folder: tempfile::tempdir().unwrap(), library };
        engine.script(&engine.file(), FIXTURE);
        engine
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("fixture.duckdb")
    }

    /// Runs a script; all of its statements but the last run when the text is set.
    fn script(&self, file: &Path, script: &str) {
        let entry = Some(DUCKDB_ENTRY.as_bytes());
        let mut driver = ManagedDriver::load_dynamic_from_filename(&self.library, entry, AdbcVersion::V110).unwrap();
        let options = [(OptionDatabase::from("path"), file.to_str().unwrap().into())];
        let mut connection = driver.new_database_with_opts(options).unwrap().new_connection().unwrap();
        let mut statement = connection.new_statement().unwrap();
        statement.set_sql_query(format!("{script}; CHECKPOINT")).unwrap();
        statement.execute_update().unwrap();
    }
}

#[async_trait]
impl Engine for Duckdb {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all(Dialect::Duckdb)
    }

    async fn open(&self, limits: Limits) -> Arc<dyn Database> {
        let sha256 = Some(digest(&self.library).unwrap());
        let config = AdbcConfig { sha256, limits, ..AdbcConfig::duckdb(&self.library, self.file()) };
        Arc::new(AdbcDatabase::open(config).await.unwrap())
    }

    /// By a changed copy that takes the file's place: DuckDB lets nobody write a file that is open.
    async fn change(&self) {
        let copy = self.folder.path().join("copy");
        std::fs::copy(self.file(), &copy).unwrap();
        self.script(&copy, "INSERT INTO orders VALUES (13, 3, 9)");
        std::fs::rename(copy, self.file()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn duckdb_passes() {
    let Some(library) = syrch_kit::installed("adbc/libduckdb.so") else { return };
    let report = run(&Duckdb::new(library.canonicalize().unwrap())).await;
    assert_eq!((report.failures(), report.skipped()), (vec![], vec![]));
}
