//! Why the database was not made.

use std::path::PathBuf;

/// Why the database was not made.
#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    /// Something else is there, and nobody said that it may go.
    #[error("`{path}` is there and was not made by this program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another program uses the database, or died while it did.
    #[error("`{beside}` shows that another program writes to the database")]
    InUse {
        /// The journal beside it.
        beside: PathBuf,
    },
    /// Another run writes the same database.
    #[error("another run is making `{path}`")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// SQLite's word.
    #[error("`{path}`: {source}")]
    Sqlite {
        /// The file that was written.
        path: PathBuf,
        /// What happened.
        source: rusqlite::Error,
    },
    /// The system's word.
    #[error("`{path}`: {source}")]
    File {
        /// The file that was written.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}
