//! Making a role's failure of what a port said.

use crate::bindings::llm::LlmError;
use crate::bindings::types::{Failure, FailureKind, PortError, SqlError, SqlErrorKind};

/// A failure that trying again does not mend.
#[must_use]
pub fn failure(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, message: message.into(), retryable: false }
}

/// The failure of a role whose own work went wrong, with the error's words:
/// `serde_json::from_str(text).map_err(internal)?`.
#[must_use]
pub fn internal(error: impl std::fmt::Display) -> Failure {
    failure(FailureKind::Internal, error.to_string())
}

/// A model error in words.
#[must_use]
pub fn llm_words(error: &LlmError) -> String {
    match error {
        LlmError::Budget => "the model budget is used up".to_owned(),
        LlmError::Denied(why) => format!("the model call was denied: {why}"),
        LlmError::Refused(why) => format!("the model provider gave no answer: {why}"),
        LlmError::TooLarge => "the prompt or the reply is over the limit".to_owned(),
        LlmError::Malformed(start) => {
            format!(
                "the model's reply has another shape than asked for: {}",
                crate::text::line(start, 120)
            )
        }
        LlmError::Unsupported(what) => format!("the model provider cannot do this: {what}"),
        LlmError::Cancelled => "the model call was cancelled".to_owned(),
        LlmError::Unavailable(why) => format!("the model cannot be reached: {why}"),
        LlmError::Other(why) => why.clone(),
    }
}

/// The failure of a role that cannot go on without the model. An outage is of kind `model` and may
/// pass.
#[must_use]
pub fn llm_failure(error: &LlmError) -> Failure {
    let kind = match error {
        LlmError::Budget => FailureKind::Budget,
        LlmError::Cancelled => FailureKind::Cancelled,
        LlmError::Unsupported(_) => FailureKind::Unsupported,
        _ => FailureKind::Model,
    };
    Failure {
        kind,
        message: llm_words(error),
        retryable: matches!(error, LlmError::Unavailable(_)),
    }
}

/// The failure of a role that cannot go on after a statement's failure.
#[must_use]
pub fn sql_failure(error: &SqlError) -> Failure {
    let kind = match error.kind {
        SqlErrorKind::Budget => FailureKind::Budget,
        SqlErrorKind::Cancelled => FailureKind::Cancelled,
        _ => FailureKind::Database,
    };
    Failure {
        kind,
        message: error.message.clone(),
        retryable: error.kind == SqlErrorKind::Unavailable,
    }
}

/// The failure of a role that cannot go on without that port.
#[must_use]
pub fn port_failure(error: &PortError) -> Failure {
    let (kind, message) = match error {
        PortError::Denied(why) => (FailureKind::Unsupported, format!("denied: {why}")),
        PortError::Unsupported => (FailureKind::Unsupported, "not supported here".to_owned()),
        PortError::UnknownName(name) => (FailureKind::Input, format!("unknown name `{name}`")),
        PortError::Budget => (FailureKind::Budget, "the budget is used up".to_owned()),
        PortError::Unavailable(why) => (FailureKind::Database, why.clone()),
        PortError::Other(why) => (FailureKind::Internal, why.clone()),
    };
    failure(kind, message)
}
