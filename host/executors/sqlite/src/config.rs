//! What a database is opened with.

use std::path::PathBuf;
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use syrch_core::Limits;
use syrch_core::ports::DatabaseError;

/// How to open a SQLite database.
#[derive(Debug, Clone, PartialEq)]
pub struct SqliteConfig {
    /// The path of the database file.
    pub path: PathBuf,
    /// What messages call it in place of the path.
    pub shown_as: Option<String>,
    /// What it is called; otherwise as its file, without the ending.
    pub name: Option<String>,
    /// Patterns of the tables and views that may be seen, letter case aside. If there are none, all may be seen.
    pub tables: Vec<String>,
    /// Deadline, caps and concurrency of statements.
    pub limits: Limits,
    /// Bytes of memory that the engine may take while a statement runs.
    pub memory: usize,
    /// How long to wait for somebody else's lock.
    pub busy: Duration,
}

impl SqliteConfig {
    /// A database with all of its tables and the default limits.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            shown_as: None,
            name: None,
            tables: Vec::new(),
            limits: Limits::default(),
            memory: 256 << 20,
            busy: Duration::from_secs(1),
        }
    }

    /// The database as messages call it.
    pub(crate) fn shown(&self) -> String {
        self.shown_as.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// The patterns, compiled; `None` if all tables are granted.
    pub(crate) fn globs(&self) -> Result<Option<GlobSet>, DatabaseError> {
        if self.tables.is_empty() {
            return Ok(None);
        }
        let mut set = GlobSetBuilder::new();
        for pattern in &self.tables {
            let glob = GlobBuilder::new(pattern).case_insensitive(true).literal_separator(false).build();
            set.add(
                glob.map_err(|error| self.unavailable(format!("pattern `{pattern}` for tables: {}", error.kind())))?,
            );
        }
        set.build().map(Some).map_err(|error| self.unavailable(error.to_string()))
    }

    pub(crate) fn unavailable(&self, reason: impl Into<String>) -> DatabaseError {
        DatabaseError::Unavailable { path: self.shown(), reason: reason.into() }
    }
}
