//! Why a case cannot be read or run.

use syrch_core::SqlError;
use syrch_core::ports::DatabaseError;

/// The reason why a case cannot be read: the place, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct CaseError {
    /// The file, with line and column where they are known.
    pub place: String,
    /// A message that says what is wrong.
    pub message: String,
}

/// Returns what is wrong with a script, without the name that the engine has for its file.
fn reason(error: &DatabaseError) -> String {
    match error {
        DatabaseError::Unavailable { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

/// The reason why a case could not be run. What the plugin did is no error: it is part of what the
/// case gives.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input does not have the arguments of the role.
    #[error("the input of the role {role}: {message}")]
    Input {
        /// The name of the role.
        role: &'static str,
        /// A message that says what is wrong.
        message: String,
    },
    /// The case's database cannot be made.
    #[error("the case's database: {}", reason(.0))]
    Database(#[from] DatabaseError),
    /// A statement of the input does not run on the case's database, so that it has no result.
    #[error("the statement of {of} does not run on the case's database: {source}")]
    Statement {
        /// Whose statement it is, such as "the rival `a`".
        of: String,
        /// The error of the database.
        source: SqlError,
    },
    /// The plugin was refused, or a setting is wrong.
    #[error(transparent)]
    Host(#[from] syrch::Error),
}
