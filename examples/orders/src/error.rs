//! Why the database was not made.

use std::path::PathBuf;

/// The reason why the database was not made.
#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    /// Something else is there, and nobody said that it may go.
    #[error("`{path}` is there and was not made by this program")]
    Foreign {
        /// The path of that file.
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
        /// The path of the database.
        path: PathBuf,
    },
    /// SQLite cannot write the database.
    #[error("`{path}`: {source}")]
    Sqlite {
        /// The file that was written.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file cannot be made, replaced or moved.
    #[error("`{path}`: {source}")]
    File {
        /// The file that was written.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}
