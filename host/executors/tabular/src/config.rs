//! The configuration with which files are read.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use syrch_core::Limits;

use crate::notes::Note;
use crate::options::ReadOptions;

/// The configuration with which files are read into a database.
#[derive(Clone)]
pub struct TabularConfig {
    /// A file, a folder of files, or a pattern such as `sales/*.csv`.
    pub path: PathBuf,
    /// The name of the database.
    pub name: String,
    /// Patterns of the tables that may be seen. If there are none, all may be seen.
    pub tables: Vec<String>,
    /// Deadline, caps and concurrency of statements.
    pub limits: Limits,
    /// The limits on what is read.
    pub caps: ImportCaps,
    /// The user's knowledge of the files.
    pub options: ReadOptions,
    /// The folder of private databases. `None` if the database is temporary and removed when it is
    /// closed.
    pub folder: Option<PathBuf>,
    /// Bytes of all private databases at most, but for those in use.
    pub retained_bytes: u64,
    /// The time for which a private database is retained that nobody uses.
    pub retained: Duration,
    /// Called with the progress of reading.
    pub progress: Option<OnProgress>,
}

/// Receives the progress of reading, possibly on another thread.
pub type OnProgress = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

/// The limits on what is read, of all files of a database together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportCaps {
    /// Bytes, unpacked where a file is compressed.
    pub bytes: u64,
    /// Rows of all tables.
    pub rows: u64,
}

impl Default for ImportCaps {
    /// 4 GB and 50 million rows.
    fn default() -> Self {
        Self { bytes: 4_000_000_000, rows: 50_000_000 }
    }
}

/// An event while files are read.
#[derive(Debug)]
pub enum Progress<'a> {
    /// More rows of a file were read; sent every 100,000 rows.
    Reading {
        /// The name of the file, without its folder.
        file: &'a str,
        /// Its rows so far.
        rows: u64,
    },
    /// A file has become a table.
    Read(&'a Imported),
}

/// A table that a file has become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The name of the file, without its folder.
    pub file: String,
    /// The name of the table.
    pub table: String,
    /// The columns with their types, in the order of the file.
    pub columns: Vec<(String, &'static str)>,
    /// The number of rows.
    pub rows: u64,
    /// Columns of the file that the table lacks, since their values are lists or structures.
    pub nested: Vec<String>,
    /// Notes about what reading changed, those about the table first.
    pub notes: Vec<Note>,
}
