//! The server's errors in the contract's kinds, by Spark's error classes and SQLSTATE, without text
//! of cells.

use prost::Message;
use syrch_core::ports::DatabaseError;
use syrch_core::text::clip;
use syrch_core::{SqlError, SqlErrorKind};
use tonic::{Code, Status};

use crate::proto::google_rpc;

/// Bytes of a server's message that are shown.
const MESSAGE: usize = 1_000;

/// The reason why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    /// The first line of the server's message, without its error class and its SQLSTATE.
    message: String,
    /// Spark's error class, such as `UNRESOLVED_COLUMN.WITH_SUGGESTION`.
    class: Option<String>,
    state: Option<String>,
    /// The classes of the exception, the most specific first; empty when the call failed on its
    /// way.
    exceptions: Vec<String>,
}

impl Failure {
    pub(crate) fn from_status(status: &Status) -> Self {
        let mut failure = Self {
            code: status.code(),
            message: line(status.message()),
            class: class(status.message()).map(str::to_owned),
            state: None,
            exceptions: Vec::new(),
        };
        let details = google_rpc::Status::decode(status.details()).unwrap_or_default().details;
        let info =
            details.into_iter().find(|detail| detail.type_url.ends_with("/google.rpc.ErrorInfo"));
        if let Some(info) =
            info.and_then(|info| google_rpc::ErrorInfo::decode(info.value.as_slice()).ok())
        {
            let value =
                |name: &str| info.metadata.get(name).filter(|value| !value.is_empty()).cloned();
            failure.class = value("errorClass").or(failure.class);
            failure.state = value("sqlState");
            let list = value("classes").unwrap_or_default();
            failure.exceptions = serde_json::from_str(&list).unwrap_or_default();
            if failure.exceptions.is_empty() {
                failure.exceptions.push(info.reason);
            }
        }
        failure
    }

    /// Returns true if the server answered, as against a connection that is gone.
    pub(crate) fn is_answer(&self) -> bool {
        !self.exceptions.is_empty()
    }

    /// Returns true if the server may mean that the session is gone: it was idle for too long, or
    /// the server was started again. Servers other than Spark name no error class, so theirs may
    /// mean that.
    pub(crate) fn may_be_lost_session(&self) -> bool {
        self.is_answer()
            && self.class.as_ref().is_none_or(|class| class.starts_with("INVALID_HANDLE"))
    }

    /// Returns true if the message speaks of names and of the statement's own text alone.
    fn is_analysis(&self) -> bool {
        self.state.is_some()
            && self.class.is_some()
            && self.exceptions.iter().any(|name: &String| {
                name.ends_with(".AnalysisException") || name.ends_with(".ParseException")
            })
    }

    /// Returns true if a statement failed while it ran for a reason that the server did not name by
    /// a class.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.is_answer() && self.state.is_none()
    }

    /// The error of a statement while it is analysed, without reading a table.
    pub(crate) fn analysing(&self) -> SqlError {
        self.error(self.message.clone())
    }

    /// The error of a statement while it runs, when messages may quote cells.
    pub(crate) fn running(&self) -> SqlError {
        if self.is_analysis() || !self.is_answer() {
            return self.analysing();
        }
        let exception =
            self.exceptions.first().map(|name| name.rsplit('.').next().unwrap_or_default());
        let name = self.class.as_deref().or(exception).unwrap_or("an error");
        self.error(format!("the statement failed while it ran: {}", clip(name, 128)))
    }

    fn error(&self, message: String) -> SqlError {
        use SqlErrorKind as K;
        let (kind, rule) = self.kind();
        let message = match kind {
            K::Unavailable if !self.is_answer() => {
                format!("the connection to the server was lost: {message}")
            }
            K::TooLarge if !self.is_answer() => {
                "a batch of rows is too large: select fewer columns, or shorten their values"
                    .to_owned()
            }
            _ => message,
        };
        let error = SqlError::new(kind, message);
        match rule {
            Some(rule) => error.rule(rule),
            None => error,
        }
    }

    fn kind(&self) -> (SqlErrorKind, Option<&'static str>) {
        use SqlErrorKind as K;
        let class = self.class.as_deref().unwrap_or_default();
        let state = self.state.as_deref().unwrap_or_default();
        match class.split('.').next().unwrap_or_default() {
            "TABLE_OR_VIEW_NOT_FOUND" | "SCHEMA_NOT_FOUND" => return (K::UnknownTable, None),
            "UNRESOLVED_COLUMN" | "UNRESOLVED_FIELD" | "FIELD_NOT_FOUND" => {
                return (K::UnknownColumn, None);
            }
            "AMBIGUOUS_REFERENCE" | "AMBIGUOUS_COLUMN_OR_FIELD" => return (K::AmbiguousName, None),
            "OPERATION_CANCELED" => return (K::Cancelled, None),
            _ => {}
        }
        match state {
            "42601" => (K::Syntax, None),
            "42501" => (K::Denied, Some("granted-tables")),
            "42K09" | "42804" | "42846" | "22018" | "22007" | "22008" => (K::TypeMismatch, None),
            _ if state.starts_with("54") || state == "53200" => (K::TooLarge, Some("memory")),
            _ if state.starts_with("08") || state.starts_with("57") || state.starts_with("53") => {
                (K::Unavailable, None)
            }
            _ if self.is_answer() => (K::Other, None),
            _ => match self.code {
                Code::OutOfRange => (K::TooLarge, Some("result-bytes")),
                Code::Unauthenticated | Code::PermissionDenied => (K::Denied, None),
                _ => (K::Unavailable, None),
            },
        }
    }

    /// The failure of reading the catalog or of opening.
    pub(crate) fn opening(&self, path: String) -> DatabaseError {
        let reason = self.message.clone();
        match self.code {
            Code::Unauthenticated | Code::PermissionDenied => {
                DatabaseError::LoginRefused { path, reason }
            }
            Code::Unimplemented => {
                let reason = "what answers there does not speak Spark Connect".to_owned();
                DatabaseError::NotADatabase { path, reason }
            }
            _ if self.is_answer() => DatabaseError::Unavailable { path, reason },
            _ => DatabaseError::Unreachable { path, reason },
        }
    }
}

/// The error class in brackets of a message: capital letters, digits, dots and underscores.
fn class(message: &str) -> Option<&str> {
    message.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0)).find(
        |text: &&str| {
            text.len() > 4
                && text.starts_with(|c: char| c.is_ascii_uppercase())
                && text.bytes().all(|c| {
                    c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, b'_' | b'.')
                })
        },
    )
}

/// The first line of a message, without error class, SQLSTATE and place: `[CLASS] Text. SQLSTATE:
/// 42P01; line 1 pos 14;`.
fn line(message: &str) -> String {
    let message = message.trim_start();
    let line = message.lines().next().unwrap_or_default();
    let line = line.split(" SQLSTATE: ").next().unwrap_or_default();
    let text = match class(line) {
        Some(class) => line.split_once(&format!("[{class}] ")).map_or(line, |(_, text)| text),
        None => line,
    };
    clip(text.trim().trim_end_matches('.'), MESSAGE).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn status(message: &str, metadata: &[(&str, &str)]) -> Status {
        let metadata: HashMap<String, String> = metadata
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let info = google_rpc::ErrorInfo { reason: "x".into(), domain: String::new(), metadata };
        let any = google_rpc::Any {
            type_url: "type.googleapis.com/google.rpc.ErrorInfo".into(),
            value: info.encode_to_vec(),
        };
        let details = google_rpc::Status { code: 13, message: String::new(), details: vec![any] };
        Status::with_details(Code::Internal, message, details.encode_to_vec().into())
    }

    fn spark(class: &str, state: &str, exception: &str, message: &str) -> Failure {
        let exceptions = format!("[\"{exception}\",\"java.lang.Object\"]");
        let message =
            format!("[{class}] {message} SQLSTATE: {state}; line 1 pos 14;\n'Project [*]");
        Failure::from_status(&status(
            &message,
            &[("errorClass", class), ("sqlState", state), ("classes", &exceptions)],
        ))
    }

    const ANALYSIS: &str = "org.apache.spark.sql.AnalysisException";

    #[test]
    fn error_classes_have_kinds() {
        for (class, state, kind) in [
            ("TABLE_OR_VIEW_NOT_FOUND", "42P01", SqlErrorKind::UnknownTable),
            ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703", SqlErrorKind::UnknownColumn),
            ("AMBIGUOUS_REFERENCE", "42704", SqlErrorKind::AmbiguousName),
            ("PARSE_SYNTAX_ERROR", "42601", SqlErrorKind::Syntax),
            ("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09", SqlErrorKind::TypeMismatch),
            ("OPERATION_CANCELED", "HY008", SqlErrorKind::Cancelled),
            ("INVALID_HANDLE.SESSION_CLOSED", "08003", SqlErrorKind::Unavailable),
            ("INSUFFICIENT_PERMISSIONS", "42501", SqlErrorKind::Denied),
            ("INTERNAL_ERROR", "XX000", SqlErrorKind::Other),
        ] {
            assert_eq!(spark(class, state, ANALYSIS, "x").analysing().kind, kind, "{class}");
        }
        assert!(spark("INVALID_HANDLE.SESSION_CLOSED", "08003", "x", "x").may_be_lost_session());
        assert!(!spark("PARSE_SYNTAX_ERROR", "42601", "x", "x").may_be_lost_session());
    }

    #[test]
    fn messages_are_one_line_without_plans() {
        let failure = spark(
            "TABLE_OR_VIEW_NOT_FOUND",
            "42P01",
            ANALYSIS,
            "The table `nope` cannot be found.",
        );
        assert_eq!(failure.running().message, "The table `nope` cannot be found");
        let other = "Table not found: [TABLE_OR_VIEW_NOT_FOUND] Table or view not found: nope";
        let other = Failure::from_status(&status(
            other,
            &[("classes", "[\"org.apache.spark.sql.AnalysisException\"]")],
        ));
        let error = other.analysing();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (SqlErrorKind::UnknownTable, "Table or view not found: nope")
        );
        assert!(
            Failure::from_status(&Status::internal("x".repeat(100_000))).message.len() <= MESSAGE
        );
    }

    #[test]
    fn messages_at_run_time_quote_nothing() {
        let failure = spark(
            "CAST_INVALID_INPUT",
            "22018",
            "org.apache.spark.SparkNumberFormatException",
            "The value 'sk-1'",
        );
        let error = failure.running();
        assert_eq!(error.kind, SqlErrorKind::TypeMismatch);
        assert_eq!(error.message, "the statement failed while it ran: CAST_INVALID_INPUT");
        let raised = spark(
            "USER_RAISED_EXCEPTION",
            "P0001",
            "org.apache.spark.SparkRuntimeException",
            "sk-1",
        );
        assert!(!raised.running().message.contains("sk-1"));
        let plain = Failure::from_status(&status(
            "Cannot cast 'sk-1'",
            &[("classes", "[\"org.apache.spark.sql.AnalysisException\"]")],
        ));
        assert_eq!(plain.running().message, "the statement failed while it ran: AnalysisException");
        assert!(plain.is_unnamed() && !failure.is_unnamed());
        for list in ["", "not json", "[]"] {
            let odd = Failure::from_status(&status("sk-1", &[("classes", list)]));
            assert!(!odd.running().message.contains("sk-1"), "{list}");
        }
    }

    #[test]
    fn failures_on_the_way_are_told_from_the_servers() {
        let lost = Failure::from_status(&Status::unknown("h2 protocol error")).running();
        assert_eq!(lost.kind, SqlErrorKind::Unavailable);
        let large = Failure::from_status(&Status::out_of_range("decoded message length too large"))
            .running();
        assert_eq!(
            (large.kind, large.rule.as_deref()),
            (SqlErrorKind::TooLarge, Some("result-bytes"))
        );
        let refused = Failure::from_status(&Status::unauthenticated("no")).opening("sc://h".into());
        assert!(matches!(refused, DatabaseError::LoginRefused { .. }), "{refused:?}");
    }
}
