//! Cells of the tables, from an index of values.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;
use crate::{Hit, Value};

/// How phrases are compared with cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// Equal, letter case aside.
    Exact,
    /// By shared groups of three characters.
    Ngram,
    /// By edit distance.
    Fuzzy,
    /// By vectors.
    Vector,
    /// Another match, by name.
    Other(String),
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The column.
    pub column: String,
    /// Its least value.
    pub least: Value,
    /// Its greatest value.
    pub greatest: Value,
    /// Its most frequent values and how often each occurs, most frequent first.
    pub frequent: Vec<(Value, u64)>,
}

/// An index over the granted cells of a database; what the host itself (the offline provider) and the port `cells` read. A call that still
/// runs after its deadline ends with [`PortError::Budget`], as one that breaks the rule [`OVERRUN`](super::OVERRUN) does.
#[async_trait]
pub trait CellIndex: Send + Sync {
    /// What columns hold; at most `limit` frequent values for each.
    ///
    /// # Errors
    /// Unknown names.
    async fn samples(&self, table: &str, columns: &[String], limit: u32) -> Result<Vec<Sample>, PortError>;
    /// Cells that match each phrase, best first; the hit's `snippet` is the cell's exact text, `table` and `column` its place.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] for a match that this index lacks.
    async fn find(&self, phrases: &[String], how: Match, limit: u32) -> Result<Vec<Vec<Hit>>, PortError>;
    /// Whether [`find`](Self::find) would find the same at another time in the same data: not where its index ends because time was up.
    fn is_repeatable(&self) -> bool {
        true
    }
}

/// The port `cells` of one role call.
#[async_trait]
pub trait CellsPort: Send + Sync {
    /// As [`CellIndex::samples`], under the grant.
    ///
    /// # Errors
    /// [`PortError::Denied`] without the grant.
    async fn samples(&self, table: &str, columns: &[String], limit: u32) -> Result<Vec<Sample>, PortError>;
    /// As [`CellIndex::find`], under the grant.
    ///
    /// # Errors
    /// [`PortError::Denied`] without the grant.
    async fn find(&self, phrases: &[String], how: Match, limit: u32) -> Result<Vec<Vec<Hit>>, PortError>;
}
