//! Syntax, catalog facts, plans and statistics.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;
use crate::SqlError;

/// A literal of a statement, and the column it is compared with where that is clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Literal {
    /// The column's table.
    pub table: Option<String>,
    /// The column.
    pub column: Option<String>,
    /// The literal's text, without quotes.
    pub text: String,
}

/// What one statement speaks of, in the catalog's spelling.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Tables and views.
    pub tables: Vec<String>,
    /// Columns as `table.column`.
    pub columns: Vec<String>,
    /// Functions, lower case.
    pub functions: Vec<String>,
    /// Literals.
    pub literals: Vec<Literal>,
    /// Subqueries as text.
    pub subqueries: Vec<String>,
    /// Finished tasks that stand in FROM.
    pub tasks: Vec<String>,
    /// Whether the outermost query has ORDER BY.
    pub ordered: bool,
    /// The statement in canonical spelling.
    pub normalized: String,
    /// That, with literals replaced by `?`.
    pub skeleton: String,
}

/// An engine's plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How `text` is to be read, such as `sqlite-eqp`.
    pub format: String,
    /// The plan.
    pub text: String,
    /// The engine's own cost unit.
    pub cost: Option<f64>,
    /// Rows expected.
    pub rows: Option<f64>,
}

/// Statistics of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnStats {
    /// The column.
    pub column: String,
    /// Different values.
    pub distinct: Option<f64>,
    /// Share of NULL, 0 to 1.
    pub null_fraction: Option<f64>,
    /// Correlation of value order and row order.
    pub correlation: Option<f64>,
    /// Bytes.
    pub average_width: Option<u32>,
}

/// The port `inspect` of one role call.
#[async_trait]
pub trait InspectPort: Send + Sync {
    /// Parses and resolves one statement without running it.
    ///
    /// # Errors
    /// What the guard or the catalog has against it.
    async fn check(&self, text: &str) -> Result<Facts, SqlError>;
    /// The engine's plan.
    ///
    /// # Errors
    /// What the guard or the engine has against it.
    async fn explain(&self, text: &str) -> Result<Plan, SqlError>;
    /// Statistics of columns.
    ///
    /// # Errors
    /// Unknown names.
    async fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError>;
}
