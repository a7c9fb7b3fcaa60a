//! Settings for reading files of rows, such as `sales.csv`, into a private database, and for the
//! storage of indexes of values.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use syrch_core::imports::{
    DateOrder, Decimal, Encoding, ImportCaps, Imported, Note, OnProgress, Progress, ReadOptions,
    Stored, UnknownWord,
};

pub use crate::executors::{clear, store_size};

/// Settings for reading files of rows into a private database. Journals hold the options alone:
/// they decide what the tables are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportSettings {
    /// The folder of private databases and of indexes of values, which are used again while the
    /// files are unchanged. `None` if each is removed when it is closed.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// The time for which a private database is retained that nobody uses.
    #[serde(skip)]
    pub retained: Duration,
    /// The limit on the size of all private databases that are not in use, in bytes.
    #[serde(skip)]
    pub retained_bytes: u64,
    /// The limits on what is read.
    #[serde(skip)]
    pub caps: ImportCaps,
    /// The user's options for reading the files.
    pub options: ReadOptions,
    /// Receives the progress of reading files.
    #[serde(skip)]
    pub progress: Option<ImportProgress>,
}

impl ImportSettings {
    /// These settings with the options of others, such as those of a run that is repeated.
    #[must_use]
    pub fn with_options_of(&self, other: &Self) -> Self {
        Self { options: other.options.clone(), ..self.clone() }
    }

    pub(crate) fn is_default(&self) -> bool {
        self.options == ReadOptions::default()
    }
}

impl Default for ImportSettings {
    /// Returns settings under which nothing is retained, and what is read is bounded by
    /// [`ImportCaps::default`].
    fn default() -> Self {
        let syrch_cache::Options { ttl: retained, bytes: retained_bytes, .. } =
            syrch_cache::Options::default();
        Self {
            folder: None,
            retained,
            retained_bytes,
            caps: ImportCaps::default(),
            options: ReadOptions::default(),
            progress: None,
        }
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
