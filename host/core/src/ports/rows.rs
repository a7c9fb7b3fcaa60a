//! Cells of a result, and the grant that they need.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;
use crate::{ResultSet, Value};

/// The amount of cell text that roles may see: the user's `--rows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowsGrant {
    /// No cells, and nothing computed from them.
    None,
    /// Counts, minimum and maximum of columns, and no cells.
    Aggregates,
    /// The first rows of a result, as many as this number.
    Sample(u32),
    /// All rows of a result.
    Full,
}

impl RowsGrant {
    /// Returns true if it shows any cell as it stands.
    #[must_use]
    pub fn shows_cells(self) -> bool {
        matches!(self, Self::Sample(_) | Self::Full)
    }

    /// Returns the grant that shows less.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Aggregates, _) | (_, Self::Aggregates) => Self::Aggregates,
            (Self::Full, grant) | (grant, Self::Full) => grant,
            (Self::Sample(one), Self::Sample(other)) => Self::Sample(one.min(other)),
        }
    }
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
                .ok_or_else(|| {
                    format!(
                        "`{text}` is not one of none, aggregates, sample:N (N at least 1), full"
                    )
                }),
        }
    }
}

/// A part of the rows of a result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Page {
    /// The names of the columns, by position.
    pub columns: Vec<String>,
    /// The cells of each row, by position.
    pub rows: Vec<Vec<Value>>,
    /// True if the grant or the size of a page cut the rows that were requested.
    pub clipped: bool,
}

/// The port `rows` of one role call.
#[async_trait]
pub trait RowsPort: Send + Sync {
    /// Called when a guest reads rows of a result that it holds. Returns the rows from `offset`, at
    /// most `limit` and at most as many as the grant allows.
    ///
    /// # Errors
    /// [`PortError::Denied`] without the grant.
    async fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError>;
}
