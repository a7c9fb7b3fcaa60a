//! Cells of tables, found by an index of values.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;
use crate::{Hit, Value};

/// The way in which phrases are compared with cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// The cell equals the phrase, letter case aside.
    Exact,
    /// The cell shares groups of three characters with the phrase.
    Ngram,
    /// The cell is within a small edit distance of the phrase.
    Fuzzy,
    /// The cell's embedding is near that of the phrase.
    Vector,
    /// Another comparison, by name; an index may refuse it.
    Other(String),
}

/// The values of one column, in summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The column's name as the catalog spells it.
    pub column: String,
    /// The least value in the engine's order.
    pub least: Value,
    /// The greatest value in the engine's order.
    pub greatest: Value,
    /// The most frequent values with their counts, the most frequent first.
    pub frequent: Vec<(Value, u64)>,
}

/// An index over the cells of the granted tables of a database. The port `cells` and the host
/// itself (the offline provider) read it. A call that still runs after its deadline fails with
/// [`PortError::Budget`].
#[async_trait]
pub trait CellIndex: Send + Sync {
    /// Called for the port `cells.samples`, and by the host for its own prompts. Returns one sample
    /// for each column, in order, with at most `limit` frequent values each.
    ///
    /// # Errors
    /// [`PortError::UnknownName`] for a table or column that the catalog lacks.
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError>;
    /// Called for the port `cells.find`, and by the host to find values that a question names.
    /// Returns at most `limit` hits for each phrase, in the order of the phrases, best first; a
    /// hit's `snippet` is the cell's exact text, `table` and `column` say where it is.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] for a comparison that this index lacks.
    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError>;
    /// Returns whether [`find`](Self::find) returns the same for the same data at any time. Called
    /// before its answer is cached. `false` for an index whose building ended early because its
    /// time was up.
    fn is_repeatable(&self) -> bool {
        true
    }
}

/// The port `cells` of one role call.
#[async_trait]
pub trait CellsPort: Send + Sync {
    /// Called when a guest reads samples. Returns those of [`CellIndex::samples`] under the grant.
    ///
    /// # Errors
    /// [`PortError::Denied`] without the grant.
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError>;
    /// Called when a guest searches cells. Returns the hits of [`CellIndex::find`] under the grant.
    ///
    /// # Errors
    /// [`PortError::Denied`] without the grant.
    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError>;
}
