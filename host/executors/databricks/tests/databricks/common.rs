//! Helpers of the tests: a workspace with a small shop, and its answers.

use std::time::{Duration, Instant};

use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError, Value};
use syrch_databricks::{DatabricksConfig, DatabricksDatabase};
use syrch_kit::databricks::{TOKEN, Workspace};
use tempfile::TempDir;

/// A workspace, with the folder of its database.
pub(crate) struct Mock {
    pub(crate) workspace: Workspace,
    _folder: TempDir,
}

/// A shop with 2,500 numbers beside its tables.
pub(crate) fn mock() -> Mock {
    let folder = syrch_kit::scratch();
    let workspace = Workspace::start(&syrch_kit::shop(folder.path()));
    workspace.change(
        "CREATE TABLE shop.numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 \
         FROM n WHERE i < 2500) SELECT i, i / 2.0 AS half FROM n;
         INSERT INTO information_schema.tables VALUES ('main', 'shop', 'numbers', 'MANAGED', \
           'From 1 on');
         INSERT INTO information_schema.columns VALUES ('main', 'shop', 'numbers', 'i', 0, 'YES', \
           'bigint', 'The number'), ('main', 'shop', 'numbers', 'half', 1, 'YES', 'double', NULL);",
    );
    Mock { workspace, _folder: folder }
}

/// Returns the configuration with which a user opens it with a personal access token.
pub(crate) fn config(mock: &Mock) -> DatabricksConfig {
    let mut config = DatabricksConfig::new(mock.workspace.url());
    config.variables.insert("DATABRICKS_TOKEN".into(), TOKEN.into());
    config
}

pub(crate) async fn open_database(mock: &Mock) -> DatabricksDatabase {
    syrch_databricks::open(config(mock)).await.unwrap()
}

pub(crate) async fn run(database: &DatabricksDatabase, text: &str) -> Result<ResultSet, SqlError> {
    database.run(&SqlQuery::new(text)).await
}

pub(crate) async fn rows(database: &DatabricksDatabase, text: &str) -> Vec<Vec<Value>> {
    match run(database, text).await {
        Ok(result) => result.rows(0, u64::MAX),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

pub(crate) async fn refusal(database: &DatabricksDatabase, text: &str) -> SqlError {
    match run(database, text).await {
        Ok(result) => panic!("{text}: {:?}", result.rows(0, 3)),
        Err(error) => error,
    }
}

/// Waits until the only statement with this text is in a state.
pub(crate) async fn becomes(mock: &Mock, text: &str, state: &str) {
    let begun = Instant::now();
    while mock.workspace.states(text) != [state] {
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", mock.workspace.states(text));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
