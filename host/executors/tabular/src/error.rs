//! The errors of files that cannot be read.

use std::io;
use std::path::{Path, PathBuf};

use syrch_core::ports::DatabaseError;
use syrch_sqlite::bounded::similar;

/// The reason why files cannot be read into a database.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is nothing at the path.
    #[error("there is no file `{}`", .0.display())]
    Missing(PathBuf),
    /// No file has rows that can be read.
    #[error("`{}`: {reason}", path.display())]
    NoTables {
        /// The file, folder or pattern.
        path: PathBuf,
        /// The reason why there are no tables in it.
        reason: String,
    },
    /// A file's content is wrong.
    #[error("`{file}`{}: {reason}", place(*.line))]
    Content {
        /// The name of the file, without its folder; the given path where it may be any of its
        /// files.
        file: String,
        /// The line, from 1; `None` if it is a Parquet file.
        line: Option<u64>,
        /// The reason why the content cannot be read, as the message shows it.
        reason: String,
    },
    /// There is more than may be read.
    #[error("{what}: raise {knob} to read more")]
    TooMuch {
        /// The excess, as the message states it.
        what: String,
        /// The setting that allows more.
        knob: &'static str,
    },
    /// The private database cannot be written.
    #[error("the database that the files are read into cannot be written: {0}")]
    Write(String),
    /// Whoever asked for the database has left.
    #[error("reading was cancelled")]
    Cancelled,
}

fn place(line: Option<u64>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

impl ImportError {
    pub(crate) fn content(
        file: &str,
        line: impl Into<Option<u64>>,
        reason: impl Into<String>,
    ) -> Self {
        Self::Content { file: file.to_owned(), line: line.into(), reason: reason.into() }
    }

    pub(crate) fn io(file: &str, error: &io::Error) -> Self {
        Self::content(file, None, error.to_string())
    }

    /// The error of a database at this path.
    #[must_use]
    pub fn into_database_error(self, path: &Path) -> DatabaseError {
        let similar = similar(path);
        let path = path.display().to_string();
        match self {
            Self::Missing(_) => DatabaseError::Missing { path, similar },
            Self::NoTables { reason, .. } => DatabaseError::NotADatabase { path, reason },
            error @ Self::Content { line: Some(_), .. } => {
                DatabaseError::Malformed { path, reason: error.to_string() }
            }
            error => DatabaseError::Unavailable { path, reason: error.to_string() },
        }
    }
}
