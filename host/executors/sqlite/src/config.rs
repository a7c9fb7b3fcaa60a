//! The configuration with which a database is opened.

use std::path::PathBuf;
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use syrch_core::ports::DatabaseError;
use syrch_core::{Limits, Table};

use crate::value_store::ValueStore;

/// The configuration of a SQLite database.
#[derive(Debug, Clone, PartialEq)]
pub struct SqliteConfig {
    /// The path of the database file.
    pub path: PathBuf,
    /// The name that messages use in place of the path.
    pub shown_as: Option<String>,
    /// The name of the database; otherwise that of its file, without the ending.
    pub name: Option<String>,
    /// Patterns of the tables and views that may be seen, letter case aside. If there are none, all
    /// may be seen.
    pub tables: Vec<String>,
    /// Comments of the catalog, for which the engine has no place.
    pub comments: Vec<Comment>,
    /// Deadline, caps and concurrency of statements.
    pub limits: Limits,
    /// Bytes of memory that the engine may take while a statement runs.
    pub memory: usize,
    /// The time to wait for somebody else's lock.
    pub busy: Duration,
    /// The folder in which the index of values is stored. `None` if it is built anew by each
    /// process.
    pub values: Option<ValueStore>,
}

/// A comment about a table or one of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The name of the table.
    pub table: String,
    /// The name of the column; `None` if the comment is about the table.
    pub column: Option<String>,
    /// The comment.
    pub text: String,
}

impl Comment {
    /// Writes the comment into the catalog, if its table and column are there.
    pub(crate) fn write(&self, tables: &mut [Table]) {
        let Some(table) = tables.iter_mut().find(|table| table.name == self.table) else { return };
        match &self.column {
            None => table.comment = Some(self.text.clone()),
            Some(name) => {
                let column = table.columns.iter_mut().find(|column| column.name == *name);
                column.into_iter().for_each(|column| column.comment = Some(self.text.clone()));
            }
        }
    }
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
            comments: Vec::new(),
            limits: Limits::default(),
            memory: 256 << 20,
            busy: Duration::from_secs(1),
            values: None,
        }
    }

    /// The database as messages call it.
    pub(crate) fn display_name(&self) -> String {
        self.shown_as.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// The patterns, compiled; `None` if all tables are granted.
    pub(crate) fn globs(&self) -> Result<Option<GlobSet>, DatabaseError> {
        if self.tables.is_empty() {
            return Ok(None);
        }
        let mut set = GlobSetBuilder::new();
        for pattern in &self.tables {
            let glob =
                GlobBuilder::new(pattern).case_insensitive(true).literal_separator(false).build();
            set.add(glob.map_err(|error| {
                self.unavailable(format!("pattern `{pattern}` for tables: {}", error.kind()))
            })?);
        }
        set.build().map(Some).map_err(|error| self.unavailable(error.to_string()))
    }

    pub(crate) fn unavailable(&self, reason: impl Into<String>) -> DatabaseError {
        DatabaseError::Unavailable { path: self.display_name(), reason: reason.into() }
    }
}
