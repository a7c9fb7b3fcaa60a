//! Cells of a result, and the grant that they need.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;
use crate::{ResultSet, Value};

/// How much cell text a role may see: the user's `--rows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowsGrant {
    /// Nothing.
    None,
    /// Counts, minimum and maximum.
    Aggregates,
    /// That many rows of a result.
    Sample(u32),
    /// All.
    Full,
}

impl Default for RowsGrant {
    fn default() -> Self {
        Self::Sample(3)
    }
}

impl std::fmt::Display for RowsGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Aggregates => f.write_str("aggregates"),
            Self::Sample(rows) => write!(f, "sample:{rows}"),
            Self::Full => f.write_str("full"),
        }
    }
}

impl std::str::FromStr for RowsGrant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "aggregates" => Ok(Self::Aggregates),
            "full" => Ok(Self::Full),
            _ => text
                .strip_prefix("sample:")
                .and_then(|rows| rows.parse().ok())
                .filter(|rows| *rows > 0)
                .map(Self::Sample)
                .ok_or_else(|| format!("`{text}` is not one of none, aggregates, sample:N (N at least 1), full")),
        }
    }
}

/// Some rows of a result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Page {
    /// Column names, by position.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// Whether the grant or the page's size cut it.
    pub clipped: bool,
}

/// The port `rows` of one role call.
#[async_trait]
pub trait RowsPort: Send + Sync {
    /// Rows from `offset`, at most `limit` and at most what the grant shows.
    ///
    /// # Errors
    /// [`PortError::Denied`] without the grant.
    async fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError>;
}
