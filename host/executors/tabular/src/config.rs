//! The configuration with which files are read.

use std::path::PathBuf;
use std::time::Duration;

use syrch_core::Limits;
use syrch_core::imports::{ImportCaps, OnProgress, ReadOptions};

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
