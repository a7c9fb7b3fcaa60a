//! The errors of a cache, and how the engine's errors are classified.

use rusqlite::ErrorCode;

/// The reason why a cache cannot be used now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// The folder cannot be made or opened, or others may write to it.
    #[error("the cache folder `{path}` cannot be used: {reason}")]
    Folder {
        /// The path of the folder.
        path: String,
        /// The reason why it cannot be used.
        reason: String,
    },
    /// Another process holds a lock for too long.
    #[error("the cache `{path}` is locked by another process")]
    Locked {
        /// The path of the file.
        path: String,
    },
    /// The disk is full.
    #[error("there is no space for the cache `{path}`: {reason}")]
    Full {
        /// The path of the file.
        path: String,
        /// The message of the engine.
        reason: String,
    },
    /// The file is damaged, and could not be set aside or was damaged again at once.
    #[error("the cache `{path}` is damaged: {reason}")]
    Damaged {
        /// The path of the file.
        path: String,
        /// The message of the engine.
        reason: String,
    },
    /// The cache cannot be used for another reason.
    #[error("the cache `{path}` cannot be used: {reason}")]
    Unavailable {
        /// The file or the folder.
        path: String,
        /// The message of the engine or the system.
        reason: String,
    },
}

/// The reason why an operation on the file failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreError {
    /// The file is not a cache, or is damaged.
    Damaged(String),
    Locked,
    Full(String),
    Other(String),
}

impl StoreError {
    /// The error for callers, with the path.
    pub(crate) fn at(self, path: &std::path::Path) -> CacheError {
        let path = path.display().to_string();
        match self {
            Self::Damaged(reason) => CacheError::Damaged { path, reason },
            Self::Locked => CacheError::Locked { path },
            Self::Full(reason) => CacheError::Full { path, reason },
            Self::Other(reason) => CacheError::Unavailable { path, reason },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Locked,
            Some(ErrorCode::DiskFull) => Self::Full(reason),
            // In a file with our application id, a missing table or a value of the wrong type is
            // damage.
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::TypeMismatch
                | ErrorCode::ConstraintViolation
                | ErrorCode::Unknown,
            )
            | None => Self::Damaged(reason),
            Some(_) => Self::Other(reason),
        }
    }
}
