//! The server's errors in the contract's kinds, by their SQLSTATE, with what a model needs to
//! repair the statement and without text of cells.

use syrch_arrow_engine::deadline_error;
use syrch_core::ports::DatabaseError;
use syrch_core::text::nearest;
use syrch_core::{Catalog, Column, SqlError, SqlErrorKind};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, ErrorPosition};

/// An error in one line, without the server's detail, which quotes rows.
pub(crate) fn plain(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => {
            let cause = std::error::Error::source(error)
                .map(|cause| format!(": {cause}"))
                .unwrap_or_default();
            format!("{error}{cause}")
        }
    }
}

/// Converts the error of a connection that was not opened.
pub(crate) fn opening(error: &Error, path: String) -> DatabaseError {
    let reason = plain(error);
    match error.as_db_error().map(|error| error.code().code()) {
        Some("3D000") => DatabaseError::Missing { path, similar: Vec::new() },
        Some(code) if code.starts_with("28") => DatabaseError::LoginRefused { path, reason },
        // It is starting, stopping, or has no place for a further connection; or it ended the
        // connection.
        Some(code) if code.starts_with("57") || code.starts_with("53") => {
            DatabaseError::Unreachable { path, reason }
        }
        Some(_) => DatabaseError::Unavailable { path, reason },
        None => DatabaseError::Unreachable { path, reason },
    }
}

/// The beginning of the message about a label that an enumeration does not have; the name of the
/// enumeration follows, and then the label.
const WRONG_LABEL: &str = "invalid input value for enum ";

/// The error of a statement while it is prepared (`is_running` false: messages speak of names and
/// of its own text) or runs (they may quote cells, and all but their beginning is dropped).
pub(crate) fn statement(
    error: &Error,
    sql: &str,
    is_running: bool,
    limit: std::time::Duration,
) -> SqlError {
    let Some(error) = error.as_db_error() else {
        return SqlError::new(
            SqlErrorKind::Unavailable,
            format!("the connection to the server was lost: {}", plain(error)),
        );
    };
    let code = error.code().code();
    let text = match error.message().split_once(": ") {
        Some((text, _)) if text.starts_with(WRONG_LABEL) => text,
        _ if is_running || code.starts_with("22") => part_before_quotes(error.message()),
        _ => error.message(),
    };
    let (kind, rule) = kind(code);
    if code == "57014" {
        return deadline_error(limit);
    }
    let mut result = SqlError::new(kind, text);
    if let Some(hint) = error.hint().filter(|_| !is_running && code.starts_with("42")) {
        result.message = format!("{text} ({hint})");
    }
    if let Some(token) = token(error, sql).filter(|_| !is_running) {
        result.message = format!("{} at `{token}`", result.message);
    }
    match rule {
        Some(rule) => result.rule(rule),
        None => result,
    }
}

/// Returns the part of a message that stands before anything that it quotes.
fn part_before_quotes(message: &str) -> &str {
    let end = message.find(['"', '\'', ':', '(']).unwrap_or(message.len());
    message[..end].trim_end()
}

/// The word of the statement where the server noticed the error, where that is a name or an
/// operator.
fn token<'t>(error: &DbError, sql: &'t str) -> Option<&'t str> {
    let Some(ErrorPosition::Original(position)) = error.position() else {
        return None;
    };
    let (start, _) = sql.char_indices().nth(usize::try_from(*position).ok()?.checked_sub(1)?)?;
    let rest = &sql[start..];
    let first = rest.chars().next()?;
    // A literal may be long, and is not shown.
    if first == '\'' || first.is_ascii_digit() || rest.starts_with("E'") {
        return None;
    }
    let end = rest
        .find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','))
        .unwrap_or(rest.len());
    Some(syrch_core::text::clip(&rest[..end], 64)).filter(|token| !token.is_empty())
}

/// The kind of an SQLSTATE, and the rule or limit that it names.
fn kind(code: &str) -> (SqlErrorKind, Option<&'static str>) {
    use SqlErrorKind as K;
    match code {
        "42601" => (K::Syntax, None),
        "42P01" => (K::UnknownTable, None),
        "42703" => (K::UnknownColumn, None),
        "42702" | "42725" | "42P09" => (K::AmbiguousName, None),
        "42883" | "42804" | "42846" | "42P18" | "22P02" | "22007" | "22008" => {
            (K::TypeMismatch, None)
        }
        "42501" => (K::Denied, Some("granted-tables")),
        "25006" => (K::WriteRefused, Some("read-only")),
        "53400" | "53100" | "53200" => (K::TooLarge, Some("memory")),
        _ if code.starts_with("54") => (K::TooLarge, Some("statement-size")),
        _ if code.starts_with("08")
            || code.starts_with("57")
            || code.starts_with("53")
            || code.starts_with("55") =>
        {
            (K::Unavailable, None)
        }
        _ => (K::Other, None),
    }
}

/// An error with the nearest names, where it is about a name, or with the labels, where it is about
/// one.
pub(crate) fn with_nearest(error: SqlError, catalog: &Catalog) -> SqlError {
    if let Some(enumeration) = error.message.strip_prefix(WRONG_LABEL) {
        let mut columns = catalog.tables.iter().flat_map(|table| &table.columns);
        let labels = columns
            .find(|column| column.is_of_enumeration(enumeration))
            .and_then(Column::values_in_words);
        let labels = labels.map(|labels| format!(": {labels}")).unwrap_or_default();
        return SqlError { message: format!("{}{labels}", error.message), ..error };
    }
    if error.kind != SqlErrorKind::UnknownColumn {
        return error;
    }
    let name = error
        .message
        .split('"')
        .nth(1)
        .or_else(|| error.message.split_whitespace().nth(1))
        .unwrap_or_default();
    let plain = name.rsplit('.').next().unwrap_or_default();
    let columns = catalog.tables.iter().flat_map(|table| &table.columns);
    let near = nearest(plain, columns.map(|column| column.name.as_str()));
    error.suggest(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_at_run_time_end_before_they_quote() {
        for (message, expected) in [
            (
                "invalid input syntax for type integer: \"sk-SECRET\"",
                "invalid input syntax for type integer",
            ),
            ("division by zero", "division by zero"),
            ("value \"x\" is out of range", "value"),
        ] {
            assert_eq!(part_before_quotes(message), expected);
        }
    }

    #[test]
    fn states_have_kinds() {
        for (code, expected) in [
            ("42P01", SqlErrorKind::UnknownTable),
            ("25006", SqlErrorKind::WriteRefused),
            ("54000", SqlErrorKind::TooLarge),
            ("57P01", SqlErrorKind::Unavailable),
            ("XX000", SqlErrorKind::Other),
        ] {
            assert_eq!(kind(code).0, expected);
        }
    }
}
