//! Statements of suites that have texts in double quotes, as SQLite once took them.

use syrch_core::ports::Database;

use crate::executors;

/// Writes the texts of a statement in single quotes where it has them in double quotes and they can
/// be nothing else, as suites of questions over SQLite do. Any other statement stays as it is.
pub async fn with_single_quotes(sql: &str, database: &dyn Database) -> String {
    let catalog = database.catalog().await.ok();
    catalog
        .and_then(|catalog| executors::with_single_quotes(sql, &catalog))
        .unwrap_or_else(|| sql.to_owned())
}
