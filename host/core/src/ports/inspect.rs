//! What can be found out about a statement or a column without running a statement of the guest's: syntax, names, plans, statistics.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;
use crate::SqlError;

/// A literal of a statement, with the column that it is compared with where that is clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Literal {
    /// The table of that column.
    pub table: Option<String>,
    /// The name of that column.
    pub column: Option<String>,
    /// The literal's text without quotes.
    pub text: String,
}

/// The names and parts of one statement, spelled as the catalog spells them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The tables and views that it reads.
    pub tables: Vec<String>,
    /// The columns that it reads, as `table.column`.
    pub columns: Vec<String>,
    /// The functions that it calls, in lower case.
    pub functions: Vec<String>,
    /// The literals that it holds.
    pub literals: Vec<Literal>,
    /// Its subqueries as text.
    pub subqueries: Vec<String>,
    /// The names of the finished tasks that stand in its FROM.
    pub tasks: Vec<String>,
    /// Whether the outermost query has ORDER BY.
    pub ordered: bool,
    /// The statement in canonical spelling.
    pub normalized: String,
    /// The statement in canonical spelling, with `?` for each literal.
    pub skeleton: String,
}

/// The plan by which an engine would run a statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The format of `text`, such as `sqlite-eqp`.
    pub format: String,
    /// The plan as the engine writes it.
    pub text: String,
    /// The expected cost in the engine's own unit.
    pub cost: Option<f64>,
    /// The expected number of rows.
    pub rows: Option<f64>,
}

/// Statistics of one column; `None` where the engine has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnStats {
    /// The column's name as the catalog spells it.
    pub column: String,
    /// The number of different values.
    pub distinct: Option<f64>,
    /// The share of NULL, 0 to 1.
    pub null_fraction: Option<f64>,
    /// The correlation of the order of values and the order of rows, -1 to 1.
    pub correlation: Option<f64>,
    /// The average size of a value, in bytes.
    pub average_width: Option<u32>,
}

/// The port `inspect` of one role call.
#[async_trait]
pub trait InspectPort: Send + Sync {
    /// Called to parse and resolve one statement without running it. It reads the catalog alone.
    ///
    /// # Errors
    /// When the guard refuses the statement, or the catalog lacks a name.
    async fn check(&self, text: &str) -> Result<Facts, SqlError>;
    /// Called for the engine's plan of one statement; it counts as a statement.
    ///
    /// # Errors
    /// When the guard or the engine refuses the statement.
    async fn explain(&self, text: &str) -> Result<Plan, SqlError>;
    /// Called for the statistics of these columns; returns them in the same order.
    ///
    /// # Errors
    /// [`PortError::UnknownName`] for a table or column that the catalog lacks.
    async fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError>;
}
