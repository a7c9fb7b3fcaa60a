//! The errors of the folder of a run.

use std::path::{Path, PathBuf};

/// The reason why a run cannot be written, read or resumed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file or folder of the run cannot be read or written.
    #[error("the run's `{path}`: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The header is damaged, or there is none.
    #[error("`{path}` is not what a run was started with: {reason}")]
    Header {
        /// The path of the file.
        path: PathBuf,
        /// The mistake in it.
        reason: String,
    },
    /// The header has another format.
    #[error("the run `{path}` has the format `{found}`; this host reads `{known}`")]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// The format that it names.
        found: String,
        /// The format of this host.
        known: &'static str,
    },
    /// A line of the results is damaged or not of this run.
    #[error("the results `{path}`, line {line}: {reason}")]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The mistake in it.
        reason: String,
    },
    /// Another process executes the run.
    #[error("the run `{run}` is still running in another process")]
    Busy {
        /// The id of the run.
        run: String,
    },
    /// There is one with that id already.
    #[error("there is a run `{run}` already")]
    Exists {
        /// The id of the run.
        run: String,
    },
    /// No run has that id.
    #[error("there is no run `{run}`")]
    Unknown {
        /// The id that was given.
        run: String,
        /// Ids that nearly match.
        similar: Vec<String>,
    },
    /// Several runs have ids that begin so.
    #[error("several runs begin with `{run}`: {}", matches.join(", "))]
    Several {
        /// The id that was given.
        run: String,
        /// The ids of the runs that begin so.
        matches: Vec<String>,
    },
    /// The current settings do not fit the recorded run.
    #[error("the run `{run}` cannot be resumed: {reason}")]
    Unfit {
        /// The id of the run.
        run: String,
        /// The difference to the recorded run.
        reason: String,
    },
}

impl RunError {
    /// A file or folder of the run that cannot be read or written.
    #[must_use]
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
