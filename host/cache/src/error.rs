//! What can go wrong with a cache, and how the engine's errors are told apart.

use rusqlite::ErrorCode;

/// Why a cache cannot be used now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// The folder cannot be made or opened, or others may write to it.
    #[error("the cache folder `{path}` cannot be used: {reason}")]
    Folder {
        /// The folder.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process holds a lock for too long.
    #[error("the cache `{path}` is locked by another process")]
    Locked {
        /// The file.
        path: String,
    },
    /// The disk is full.
    #[error("there is no room for the cache `{path}`: {reason}")]
    Full {
        /// The file.
        path: String,
        /// What the engine says.
        reason: String,
    },
    /// The file is damaged, and could not be set aside or was damaged again at once.
    #[error("the cache `{path}` is damaged: {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// What the engine says.
        reason: String,
    },
    /// Anything else.
    #[error("the cache `{path}` cannot be used: {reason}")]
    Unavailable {
        /// The file or the folder.
        path: String,
        /// What the engine or the system says.
        reason: String,
    },
}

/// What an operation on the file ran into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The file is not one of ours, or not whole.
    Damaged(String),
    Locked,
    Full(String),
    Other(String),
}

impl Trouble {
    /// The error for callers.
    pub(crate) fn about(self, path: &std::path::Path) -> CacheError {
        let path = path.display().to_string();
        match self {
            Self::Damaged(reason) => CacheError::Damaged { path, reason },
            Self::Locked => CacheError::Locked { path },
            Self::Full(reason) => CacheError::Full { path, reason },
            Self::Other(reason) => CacheError::Unavailable { path, reason },
        }
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Self::Locked
            }
            Some(ErrorCode::DiskFull) => Self::Full(reason),
            // Of a file that says it is ours, a missing table or a value of the wrong type is damage.
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
