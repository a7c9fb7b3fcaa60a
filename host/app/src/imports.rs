//! How files of rows, such as `sales.csv`, are read into a private database.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use syrch_tabular::{ImportCaps, Imported, OnProgress, Progress, Stored, clear, stored};

/// How files of rows are read into a private database.
#[derive(Debug, Clone)]
pub struct ImportSettings {
    /// The folder of private databases, which are used again while the files are unchanged. `None` if each is removed when it is closed.
    pub folder: Option<PathBuf>,
    /// How long one is retained that nobody uses.
    pub retained: Duration,
    /// Bytes of all of them at most, but for those in use.
    pub retained_bytes: u64,
    /// How much is read at most.
    pub caps: ImportCaps,
    /// Receives the progress of reading files.
    pub progress: Option<ImportProgress>,
}

impl Default for ImportSettings {
    /// Nothing is retained, and what is read is bounded by [`ImportCaps::default`].
    fn default() -> Self {
        let syrch_cache::Options { ttl: retained, bytes: retained_bytes, .. } = syrch_cache::Options::default();
        Self { folder: None, retained, retained_bytes, caps: ImportCaps::default(), progress: None }
    }
}

/// A receiver of the progress of reading files.
#[derive(Clone)]
pub struct ImportProgress(pub OnProgress);

impl fmt::Debug for ImportProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImportProgress")
    }
}
