//! The errors of a corpus of statements.

use std::path::PathBuf;

/// The reason why a corpus cannot be read, or differs from its manifest.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The manifest, or a statement's file that is added, cannot be read or written.
    #[error("`{path}`: {source}")]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not a manifest of a corpus.
    #[error(
        "the manifest `{path}`{place}: {reason}",
        place = .line.map(|line| format!(", line {line}")).unwrap_or_default()
    )]
    Malformed {
        /// The path of the manifest.
        path: PathBuf,
        /// The line of the mistake, from 1, where it has one.
        line: Option<usize>,
        /// The reason why it is not a manifest.
        reason: String,
    },
    /// A file cannot be added.
    #[error("`{file}` cannot be added: {reason}")]
    Refused {
        /// The path that was given.
        file: String,
        /// The reason why it cannot be added.
        reason: String,
    },
    /// Files are missing or were changed, so that nothing is measured.
    #[error(
        "{changed} of {of} statements are not what the manifest `{path}` says, the first of them \
         `{first}`"
    )]
    Unlocked {
        /// The path of the manifest.
        path: PathBuf,
        /// The file of the first such statement.
        first: String,
        /// The number of such statements.
        changed: usize,
        /// The number of statements in the corpus.
        of: usize,
    },
}
