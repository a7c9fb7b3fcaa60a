//! Failures of exchanges and of statements in the contract's kinds, with what a model needs to
//! repair a statement and without text of cells.

use std::error::Error as _;
use std::time::Duration;

use syrch_arrow_engine::deadline_error;
use syrch_core::ports::{DatabaseError, STARTING};
use syrch_core::text::clip;
use syrch_core::{SqlError, SqlErrorKind};

use crate::wire::{ServiceError, Status};

/// Bytes of a server's own text that are shown.
const TEXT: usize = 400;

/// The message about a statement that is still in the state `PENDING` when its time is over.
const NOT_BEGUN: &str = "the warehouse has not begun with a statement, since it is starting \
                         (seconds to minutes) or busy";

/// The reason why an exchange or a statement failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server refuses the credentials, or there are none for it.
    Login(String),
    /// The server lacks the warehouse.
    Missing(String),
    /// No server answers, or the connection broke off.
    Unreachable(String),
    /// The server's certificate is not accepted.
    Encryption(String),
    /// The server answers and does not do what was asked.
    Unavailable(String),
    /// A reply has more bytes than it may have.
    TooLarge(String),
    /// The time is over.
    Deadline,
    /// The time is over, and the warehouse has not begun with the statement.
    Waiting,
    /// The statement was refused or failed.
    Statement(SqlError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Statement(error)
    }
}

impl Failure {
    /// Converts the error of an exchange that got no reply.
    pub(crate) fn from_exchange(error: &reqwest::Error) -> Self {
        let reason = line(&syrch_http::root_cause(error));
        match error {
            error if is_encryption(error) => Self::Encryption(reason),
            error if error.is_timeout() && !error.is_connect() => {
                Self::Unreachable("no reply came in time".to_owned())
            }
            _ => Self::Unreachable(reason),
        }
    }

    /// The failure of opening a database, or of reading its catalog.
    pub(crate) fn opening(self, path: String) -> DatabaseError {
        match self {
            Self::Login(reason) => DatabaseError::LoginRefused { path, reason },
            Self::Missing(_) => DatabaseError::Missing { path, similar: Vec::new() },
            Self::Unreachable(reason) => DatabaseError::Unreachable { path, reason },
            Self::Encryption(reason) => DatabaseError::Encryption { path, reason },
            Self::Unavailable(reason) | Self::TooLarge(reason) => {
                DatabaseError::Unavailable { path, reason }
            }
            Self::Deadline => DatabaseError::Unavailable {
                path,
                reason: "its catalog was not read in time".to_owned(),
            },
            Self::Waiting => DatabaseError::Starting { path, reason: NOT_BEGUN.to_owned() },
            Self::Statement(error) => DatabaseError::Unavailable { path, reason: error.message },
        }
    }

    /// The failure of a statement, which may take `limit`.
    pub(crate) fn statement(self, limit: Duration) -> SqlError {
        fn unavailable(reason: String) -> SqlError {
            SqlError::new(SqlErrorKind::Unavailable, reason)
        }
        match self {
            Self::Login(reason) => unavailable(format!("the server refuses the user: {reason}")),
            Self::Missing(reason) | Self::Unavailable(reason) => unavailable(reason),
            Self::Unreachable(reason) => {
                unavailable(format!("the server cannot be reached: {reason}"))
            }
            Self::Encryption(reason) => {
                unavailable(format!("the connection cannot be encrypted: {reason}"))
            }
            Self::TooLarge(reason) => {
                SqlError::new(SqlErrorKind::TooLarge, reason).rule("result-bytes")
            }
            Self::Deadline => deadline_error(limit),
            Self::Waiting => unavailable(format!("{NOT_BEGUN} (waited {} s)", limit.as_secs_f64()))
                .rule(STARTING),
            Self::Statement(error) => error,
        }
    }
}

/// Returns true if an exchange failed by TLS.
fn is_encryption(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if error.is::<rustls::Error>() || inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A server's text in one line, shortened, without characters that steer a terminal.
pub(crate) fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: String = words.chars().filter(|c| !c.is_control()).collect();
    clip(&words, TEXT).to_owned()
}

/// The error of a statement that ended in the state `FAILED`.
pub(crate) fn status_error(status: &Status) -> SqlError {
    let ServiceError { error_code, message } = status.error.clone().unwrap_or_default();
    let code = error_code.unwrap_or_default();
    let message = message.unwrap_or_default();
    message_error(&message, status.sql_state.as_deref(), &code)
}

/// The error that a message of the engine describes: `[CLASS.SUBCLASS] text SQLSTATE: 42P01; line 1
/// pos 14`.
pub(crate) fn message_error(message: &str, sql_state: Option<&str>, code: &str) -> SqlError {
    // An exception's name may stand before, and the statement with its plan after.
    let lines = || message.lines().map(str::trim).filter(|line| !line.is_empty());
    let described =
        lines().find_map(|line| Some((&line[line.find('[')?..], class(&line[line.find('[')?..])?)));
    let (text, class) = described.unwrap_or_else(|| (lines().next().unwrap_or_default(), ""));
    let in_text = text.split_once("SQLSTATE: ").and_then(|(_, rest)| rest.get(..5));
    let state = sql_state.or(in_text).unwrap_or_default();
    let text = text.split("SQLSTATE:").next().unwrap_or_default().trim_end_matches([' ', '(']);
    let (kind, rule) = kind(class, state, code);
    // Only messages about the statement itself may quote: those of other classes quote cells.
    let is_about_statement = state.starts_with("42") || class.starts_with("PARSE_");
    let text = if is_about_statement { text } else { part_before_quotes(text) };
    let text = if text.is_empty() {
        "the statement failed, and the server does not say why"
    } else {
        text
    };
    let error = SqlError::new(kind, line(text));
    match rule {
        Some(rule) => error.rule(rule),
        None => error,
    }
}

/// The error class at the beginning of a message.
fn class(text: &str) -> Option<&str> {
    let (class, _) = text.strip_prefix('[')?.split_once(']')?;
    let is_class = class
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_' || b == b'.');
    (is_class && !class.is_empty()).then_some(class)
}

/// Returns the part of a message that stands before anything that it quotes: its last whole
/// sentence there, or what there is of the first one.
fn part_before_quotes(message: &str) -> &str {
    let start = class(message).map_or(0, |class| class.len() + 2);
    let end = message[start..]
        .find(['"', '\'', '`', ':', '(', '[', '<'])
        .map_or(message.len(), |end| start + end);
    let text = &message[..end];
    let is_cut = end < message.len();
    let sentence = text[start..].rfind(". ").filter(|_| is_cut).map(|at| &text[..=start + at]);
    sentence.unwrap_or(text).trim_end()
}

/// The kind of an error by its class, its SQLSTATE or the service's code, and the rule or limit
/// that it names.
fn kind(class: &str, state: &str, code: &str) -> (SqlErrorKind, Option<&'static str>) {
    use SqlErrorKind as K;
    let main = class.split('.').next().unwrap_or_default();
    match main {
        "TABLE_OR_VIEW_NOT_FOUND" | "SCHEMA_NOT_FOUND" | "CATALOG_NOT_FOUND" => {
            return (K::UnknownTable, None);
        }
        "UNRESOLVED_COLUMN" | "UNRESOLVED_FIELD" => return (K::UnknownColumn, None),
        "AMBIGUOUS_REFERENCE" | "AMBIGUOUS_COLUMN_OR_FIELD" => return (K::AmbiguousName, None),
        "INSUFFICIENT_PERMISSIONS" | "PERMISSION_DENIED" => {
            return (K::Denied, Some("granted-tables"));
        }
        "CAST_INVALID_INPUT" | "DATATYPE_MISMATCH" | "UNRESOLVED_ROUTINE" => {
            return (K::TypeMismatch, None);
        }
        _ if main.starts_with("PARSE_") => return (K::Syntax, None),
        _ => {}
    }
    match state {
        "42601" | "42617" => (K::Syntax, None),
        "42P01" | "42P08" => (K::UnknownTable, None),
        "42703" => (K::UnknownColumn, None),
        "42702" | "42725" => (K::AmbiguousName, None),
        "42883" | "42804" | "42846" | "42K09" | "22018" | "22007" | "22008" => {
            (K::TypeMismatch, None)
        }
        "42501" => (K::Denied, Some("granted-tables")),
        "25006" => (K::WriteRefused, Some("read-only")),
        "HY008" => (K::Cancelled, None),
        _ if state.starts_with("54") || state.starts_with("53") => {
            (K::TooLarge, Some("statement-size"))
        }
        _ if state.starts_with("08") || state.starts_with("57") => (K::Unavailable, None),
        _ => match code {
            "DEADLINE_EXCEEDED" => (K::Timeout, Some("deadline")),
            "CANCELLED" => (K::Cancelled, None),
            "RESOURCE_EXHAUSTED"
            | "TEMPORARILY_UNAVAILABLE"
            | "WORKSPACE_TEMPORARILY_UNAVAILABLE"
            | "SERVICE_UNDER_MAINTENANCE"
            | "UNAUTHENTICATED"
            | "ABORTED" => (K::Unavailable, None),
            _ => (K::Other, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_kinds_and_quote_no_cells() {
        use SqlErrorKind as K;
        for (message, state, code, expected, shown) in [
            (
                "[TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`ordres` cannot be found. \
                 Verify the spelling. SQLSTATE: 42P01; line 1 pos 14;\n'Project [*]\n",
                None,
                "BAD_REQUEST",
                K::UnknownTable,
                "[TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`ordres` cannot be found. \
                 Verify the spelling.",
            ),
            (
                "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `nam` cannot be resolved. \
                 Did you mean one of the following? [`name`]. SQLSTATE: 42703",
                Some("42703"),
                "BAD_REQUEST",
                K::UnknownColumn,
                "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `nam` cannot be resolved. \
                 Did you mean one of the following? [`name`].",
            ),
            (
                "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'FORM'. SQLSTATE: 42601 (line 1, \
                 pos 9)\n\n== SQL ==\nSELECT 1 FORM t",
                None,
                "BAD_REQUEST",
                K::Syntax,
                "[PARSE_SYNTAX_ERROR] Syntax error at or near 'FORM'.",
            ),
            (
                "org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value \
                 'sesame' of the type \"STRING\" cannot be cast to \"INT\". SQLSTATE: 22018",
                None,
                "",
                K::TypeMismatch,
                "[CAST_INVALID_INPUT] The value",
            ),
            (
                "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate sesame. \
                 SQLSTATE: 22012",
                Some("22012"),
                "",
                K::Other,
                "[DIVIDE_BY_ZERO] Division by zero.",
            ),
            (
                "[USER_RAISED_EXCEPTION] sesame",
                Some("P0001"),
                "",
                K::Other,
                "[USER_RAISED_EXCEPTION] sesame",
            ),
            ("Job aborted: sesame", None, "INTERNAL_ERROR", K::Other, "Job aborted"),
            ("quota (sesame)", None, "RESOURCE_EXHAUSTED", K::Unavailable, "quota"),
            (
                "[INSUFFICIENT_PERMISSIONS] User does not have SELECT. SQLSTATE: 42501",
                None,
                "",
                K::Denied,
                "[INSUFFICIENT_PERMISSIONS] User does not have SELECT.",
            ),
            ("", None, "", K::Other, "the statement failed, and the server does not say why"),
        ] {
            let error = message_error(message, state, code);
            assert_eq!((error.kind, error.message.as_str()), (expected, shown), "{message}");
        }
    }

    #[test]
    fn texts_of_servers_are_one_short_line() {
        let shown = line(&format!("a\n\x1b[31mb {}", "é".repeat(600)));
        assert!(shown.starts_with("a [31mb é") && shown.len() <= TEXT, "{shown}");
    }
}
