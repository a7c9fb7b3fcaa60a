//! Helpers of the cases: the tables, and the engine's answers.

use std::time::Duration;

use syrch_arrow_engine::{ArrowEngine, BatchSink};
use syrch_core::{Limits, ResultSet, SqlError, Value};
use syrch_kit::spark::Server;
use syrch_spark::{SparkConfig, SparkEngine};
use tokio::time::Instant;

/// A statement that would take days, in small steps and little memory.
pub(crate) const ENDLESS: &str =
    "SELECT count(*) FROM range(1000) a JOIN range(1000000000000) b ON a.id <> b.id";

pub(crate) fn make_tables(server: &Server) {
    server
        .script(&[
            "CREATE DATABASE shop COMMENT 'what is sold'",
            "CREATE TABLE shop.items (id INT COMMENT 'the number', name STRING, price \
             DECIMAL(10,2)) USING parquet COMMENT 'all items'",
            "INSERT INTO shop.items VALUES (1, 'Zoë 🦆', 1.50), (2, 'It\\'s', NULL), \
             (3, NULL, 2.25)",
            "CREATE TABLE shop.`Mixed_Case` (`Odd Name` STRING, `select` INT) USING parquet",
            "INSERT INTO shop.`Mixed_Case` VALUES ('a', 1)",
            "CREATE VIEW shop.cheap AS SELECT id, name FROM shop.items WHERE price < 2",
            "CREATE TABLE shop.gone (x INT) USING parquet",
            "CREATE VIEW shop.broken AS SELECT x FROM shop.gone",
            "DROP TABLE shop.gone",
            "CREATE TABLE secrets (word STRING) USING parquet",
            "INSERT INTO secrets VALUES ('sk-canary')",
        ])
        .unwrap();
}

pub(crate) async fn engine(server: &Server, limits: Limits) -> SparkEngine {
    SparkEngine::connect(&SparkConfig { limits, ..SparkConfig::new(server.address()) })
        .await
        .unwrap()
}

pub(crate) async fn usual(server: &Server) -> SparkEngine {
    engine(server, Limits::default()).await
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Runs a statement under the limits, until the deadline.
pub(crate) async fn run_until(
    engine: &SparkEngine,
    limits: Limits,
    sql: &str,
    deadline: Instant,
) -> Result<ResultSet, SqlError> {
    let mut sink = BatchSink::new(limits);
    engine.execute(sql, deadline, &mut sink).await?;
    sink.finish(sql.to_owned())
}

pub(crate) async fn run(engine: &SparkEngine, sql: &str) -> Result<ResultSet, SqlError> {
    run_until(engine, Limits::default(), sql, soon()).await
}

pub(crate) async fn rows(engine: &SparkEngine, sql: &str) -> Vec<Vec<Value>> {
    match run(engine, sql).await {
        Ok(result) => result.rows(0, u64::MAX),
        Err(error) => panic!("{sql}: {error:?}"),
    }
}

pub(crate) async fn refusal(engine: &SparkEngine, sql: &str) -> SqlError {
    match run(engine, sql).await {
        Ok(result) => panic!("{sql}: {:?}", result.rows(0, 3)),
        Err(error) => error,
    }
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
