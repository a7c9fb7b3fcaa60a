//! Helpers of the tests: a database at the server of this process, and its answers.

use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError, Value};
use syrch_kit::postgres::Server;
use syrch_postgres::{PostgresConfig, PostgresDatabase};

/// Returns the configuration with which a user opens a database through the socket.
pub(crate) fn config(server: &Server, user: &str, database: &str) -> PostgresConfig {
    PostgresConfig::new(server.url(user, database))
}

pub(crate) async fn run(database: &PostgresDatabase, text: &str) -> Result<ResultSet, SqlError> {
    database.run(&SqlQuery::new(text)).await
}

pub(crate) async fn rows(database: &PostgresDatabase, text: &str) -> Vec<Vec<Value>> {
    match run(database, text).await {
        Ok(result) => result.rows(0, u64::MAX),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

pub(crate) async fn refusal(database: &PostgresDatabase, text: &str) -> SqlError {
    match run(database, text).await {
        Ok(result) => panic!("{text}: {:?}", result.rows(0, 3)),
        Err(error) => error,
    }
}
