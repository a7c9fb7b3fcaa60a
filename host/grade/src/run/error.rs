//! What may be wrong with a run's folder.

use std::path::{Path, PathBuf};

/// Why a run cannot be written, read or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file or folder of it.
    #[error("the run's `{path}`: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The header is damaged, or none.
    #[error("`{path}` is not what a run was begun with: {reason}")]
    Header {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The header has another format.
    #[error("the run `{path}` has the format `{found}`; this host reads `{known}`")]
    Format {
        /// Which file.
        path: PathBuf,
        /// What it has.
        found: String,
        /// What this host knows.
        known: &'static str,
    },
    /// A line of the results.
    #[error("the results `{path}`, line {line}: {reason}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Where, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// Another process works on it.
    #[error("the run `{run}` is still going on in another process")]
    Busy {
        /// Its id.
        run: String,
    },
    /// There is one with that id already.
    #[error("there is a run `{run}` already")]
    Exists {
        /// Its id.
        run: String,
    },
    /// No run has that id.
    #[error("there is no run `{run}`")]
    Unknown {
        /// What was asked for.
        run: String,
        /// Ids that nearly match.
        similar: Vec<String>,
    },
    /// Several runs have ids that begin so.
    #[error("several runs begin with `{run}`: {}", matches.join(", "))]
    Several {
        /// What was asked for.
        run: String,
        /// Which.
        matches: Vec<String>,
    },
    /// What is to be done does not fit the run.
    #[error("the run `{run}` cannot go on: {reason}")]
    Unfit {
        /// Its id.
        run: String,
        /// Why.
        reason: String,
    },
}

impl RunError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
