//! Errors of drivers in the contract's kinds: by their SQLSTATE where the driver gives one, else by
//! the words with which DuckDB and SQLite begin their messages, else by the status of the standard.
//! No message quotes cells.

use adbc_core::error::{Error, Status};
use arrow_schema::ArrowError;
use syrch_core::ports::DatabaseError;
use syrch_core::text::clip;
use syrch_core::{Dialect, SqlError, SqlErrorKind};

use crate::AdbcConfig;

/// Bytes of a driver's message.
const MESSAGE: usize = 400;

/// The stage at which a statement failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It was compiled: messages speak of names and of its own text.
    Compiling,
    /// It ran: messages may quote cells, and all but their beginning is dropped.
    Running,
}

/// Converts the error of a database that was not opened.
pub(crate) fn opening(error: &Error, config: &AdbcConfig) -> DatabaseError {
    let path = config.display_address();
    let reason = config.remove_secrets(&message(&error.message, &config.dialect));
    fn message_contains(error: &Error, text: &str) -> bool {
        error.message.contains(text)
    }
    if config.dialect == Dialect::Duckdb {
        // DuckDB takes a file of SQLite for one that an extension reads.
        if message_contains(error, "not a valid DuckDB database file")
            || message_contains(error, "Loading external extensions is disabled")
        {
            return DatabaseError::NotADatabase {
                path,
                reason: "it is not a file of DuckDB".to_owned(),
            };
        }
        if message_contains(error, "Could not set lock on file") {
            return DatabaseError::Locked { path };
        }
        if message_contains(error, "checksum")
            || message_contains(error, "Serialization Error")
            || message_contains(error, "Corrupt")
        {
            return DatabaseError::Corrupt { path, reason };
        }
    }
    if config.dialect == Dialect::Sqlite && message_contains(error, "file is not a database") {
        return DatabaseError::NotADatabase {
            path,
            reason: "it is not a file of SQLite".to_owned(),
        };
    }
    match error.status {
        Status::Unauthenticated | Status::Unauthorized => {
            DatabaseError::LoginRefused { path, reason }
        }
        Status::IO | Status::Timeout if config.location().is_none() => {
            DatabaseError::Unreachable { path, reason }
        }
        _ => DatabaseError::Unavailable { path, reason },
    }
}

/// The error of a statement.
pub(crate) fn statement(error: &Error, stage: Stage, config: &AdbcConfig) -> SqlError {
    let state: String =
        error.sqlstate.iter().map(|byte| char::from(byte.cast_unsigned())).collect();
    let text = config.remove_secrets(&message(&error.message, &config.dialect));
    classify(&text, Some(&state), error.status, stage)
}

/// The error of a result under way, of which the standard hands over no more than a message.
pub(crate) fn stream(error: &ArrowError, config: &AdbcConfig) -> SqlError {
    let text = match error {
        ArrowError::CDataInterface(text) => text.clone(),
        other => other.to_string(),
    };
    classify(
        &config.remove_secrets(&message(&text, &config.dialect)),
        None,
        Status::Unknown,
        Stage::Running,
    )
}

/// Shortens a driver's message: without the driver's name, the statement that it repeats, and
/// hints. The engines whose messages are known say all of it in one line.
fn message(text: &str, dialect: &Dialect) -> String {
    // `[libpq] Failed to execute query 'SELECT …': ERROR:  relation "a" does not exist` with
    // further lines.
    let text = text.rsplit_once("ERROR: ").map_or(text, |(_, rest)| rest);
    // `[SQLite] Failed to prepare query: no such table: a` and the query in a second line.
    let text = text.trim_start();
    let text = match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((_, rest)) => rest,
        None => text,
    };
    let text = text.strip_prefix("Failed to prepare query: ").unwrap_or(text);
    let has_one_line = matches!(dialect, Dialect::Duckdb | Dialect::Sqlite | Dialect::Postgres);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.take(if has_one_line { 1 } else { usize::MAX }).collect();
    match lines.iter().position(|line| diagnostic(line).is_some()) {
        // What failed, as the driver calls it, says nothing to a user where the records of ODBC say
        // why.
        Some(first) => {
            let records: Vec<&str> =
                lines[first..].iter().map(|line| diagnostic(line).unwrap_or(line)).collect();
            clip(&records.join("; "), MESSAGE).to_owned()
        }
        None => clip(&lines.join(" "), MESSAGE).to_owned(),
    }
}

/// The text of a record of ODBC,
/// `[42S22] (1054) [driver][server]Unknown column 'a'. Vendor code: 1054. SQLSTATE: 42S22`; `None`
/// if a line is none.
fn diagnostic(line: &str) -> Option<&str> {
    let (state, mut rest) = line.strip_prefix('[')?.split_once(']')?;
    if state.len() != 5
        || !state.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    {
        return None;
    }
    rest = rest.trim_start();
    if let Some((_, after)) = rest.strip_prefix('(').and_then(|code| code.split_once(')')) {
        rest = after.trim_start();
    }
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|source| source.split_once(']')) {
        rest = after.trim_start();
    }
    let end = [". Vendor code: ", ". SQLSTATE: "].iter().filter_map(|tail| rest.find(tail)).min();
    Some(&rest[..end.unwrap_or(rest.len())])
}

fn classify(text: &str, state: Option<&str>, status: Status, stage: Stage) -> SqlError {
    let by_state = state.and_then(self::state);
    let by_text = by_words(text);
    let Class { kind, rule, is_about_text } =
        by_state.or(by_text).unwrap_or_else(|| by_status(status));
    let is_whole = is_about_text || stage == Stage::Compiling;
    // DuckDB evaluates constants when it compiles: there the kind counts.
    let text = if is_whole && kind != SqlErrorKind::TypeMismatch {
        text
    } else {
        part_before_quotes(text)
    };
    let text = strip_kind(text);
    let error = SqlError::new(kind, text);
    match rule {
        Some(rule) => error.rule(rule),
        None => error,
    }
}

/// A message of DuckDB without its kind, `Binder Error: …`.
fn strip_kind(text: &str) -> &str {
    match text.split_once(" Error: ") {
        Some((kind, rest))
            if kind.len() <= 24 && kind.chars().all(|c| c.is_ascii_alphabetic() || c == ' ') =>
        {
            rest
        }
        _ => text,
    }
}

/// DuckDB's messages about a value that a function does not take; the rest of such a message may be
/// a cell from its first letter on.
const INVALID: [&str; 4] = [
    "More than one row returned by a subquery used as an expression",
    "Could not parse string",
    "Failed to parse",
    "Failed to cast",
];

/// Returns the part of a message that stands before anything that it quotes.
fn part_before_quotes(message: &str) -> &str {
    if let Some(rest) = message.strip_prefix("Invalid Input Error: ") {
        let known = INVALID.iter().find(|known| rest.starts_with(**known));
        return known.copied().unwrap_or("a function does not take a value that it is given");
    }
    let message = strip_kind(message);
    let is_quote = |at: usize, mark: &str| {
        mark != "'" || !message[..at].ends_with('n') || !message[at..].starts_with("'t ")
    };
    let marks = message.match_indices(['"', '\'', ':', '(', '`', '[', '{']);
    let end = marks
        .map(|(at, mark)| (at, is_quote(at, mark)))
        .find(|(_, is_quote)| *is_quote)
        .map(|(at, _)| at);
    let end = end.unwrap_or(message.len());
    let end = message[..end].find(" with value ").unwrap_or(end);
    message[..end].trim_end()
}

struct Class {
    kind: SqlErrorKind,
    rule: Option<&'static str>,
    /// True if the message is about the statement's text or a limit, so that it quotes no cells.
    is_about_text: bool,
}

impl Class {
    const fn text(kind: SqlErrorKind) -> Self {
        Self { kind, rule: None, is_about_text: true }
    }

    const fn data(kind: SqlErrorKind) -> Self {
        Self { kind, rule: None, is_about_text: false }
    }

    const fn with_rule(kind: SqlErrorKind, rule: &'static str) -> Self {
        Self { kind, rule: Some(rule), is_about_text: true }
    }
}

/// The class of an SQLSTATE, of which those of ODBC are used by several drivers; `None` for none
/// and for an unknown one.
fn state(state: &str) -> Option<Class> {
    use SqlErrorKind as K;
    Some(match state {
        "42601" | "42000" => Class::text(K::Syntax),
        "42P01" | "42S02" => Class::text(K::UnknownTable),
        "42703" | "42S22" => Class::text(K::UnknownColumn),
        "42702" | "42725" | "42P09" => Class::text(K::AmbiguousName),
        "42883" | "42804" | "42846" | "42P18" => Class::text(K::TypeMismatch),
        "22P02" | "22007" | "22008" => Class::data(K::TypeMismatch),
        "42501" => Class::with_rule(K::Denied, "granted-tables"),
        "25006" => Class::with_rule(K::WriteRefused, "read-only"),
        "53400" | "53100" | "53200" => Class::with_rule(K::TooLarge, "memory"),
        "57014" => Class::with_rule(K::Timeout, "deadline"),
        _ if state.starts_with("54") => Class::with_rule(K::TooLarge, "statement-size"),
        _ if ["08", "53", "55", "57"].iter().any(|class| state.starts_with(class)) => {
            Class::data(K::Unavailable)
        }
        _ if state.starts_with("42") => Class::text(K::Other),
        _ if state.starts_with("22") => Class::data(K::Other),
        _ => return None,
    })
}

/// The class by the words of DuckDB and of SQLite.
fn by_words(text: &str) -> Option<Class> {
    use SqlErrorKind as K;
    Some(
        if text.starts_with("Parser Error")
            || text.starts_with("Syntax Error")
            || text.ends_with(": syntax error")
            || text.contains("incomplete input")
        {
            Class::text(K::Syntax)
        } else if text.contains("read-only mode") || text.contains("readonly database") {
            Class::with_rule(K::WriteRefused, "read-only")
        } else if text.starts_with("Permission Error")
            || text.contains("configuration has been locked")
            || text.contains("disabled through configuration")
        {
            Class::with_rule(K::Denied, "engine")
        } else if text.starts_with("Out of Memory Error")
            || text.contains("string or blob too big")
            || text.contains("out of memory")
        {
            Class::with_rule(K::TooLarge, "memory")
        } else if text.starts_with("INTERRUPT Error")
            || text.starts_with("interrupted")
            || text.contains("canceling statement")
        {
            Class::with_rule(K::Timeout, "deadline")
        } else if text.starts_with("Conversion Error")
            || text.starts_with("Mismatch Type Error")
            || text.starts_with("Invalid type Error")
        {
            Class::data(K::TypeMismatch)
        } else if text.contains("mbiguous reference")
            || text.starts_with("ambiguous column name")
            || (text.starts_with("Column '") && text.ends_with("is ambiguous"))
        {
            Class::text(K::AmbiguousName)
        } else if text.starts_with("Catalog Error") {
            Class::text(if text.contains("Function with name") {
                K::Other
            } else {
                K::UnknownTable
            })
        } else if text.starts_with("Binder Error") {
            Class::text(duckdb_binder(text))
        } else if text.starts_with("no such table") {
            Class::text(K::UnknownTable)
        } else if text.starts_with("no such column") {
            Class::text(K::UnknownColumn)
        } else if text.starts_with("no such function")
            || text.starts_with("wrong number of arguments")
        {
            Class::text(K::Other)
        } else {
            return None;
        },
    )
}

fn duckdb_binder(text: &str) -> SqlErrorKind {
    if text.contains("not found in FROM clause")
        || text.contains("does not have a column")
        || text.contains("Referenced column")
    {
        SqlErrorKind::UnknownColumn
    } else if text.contains("Referenced table") {
        SqlErrorKind::UnknownTable
    } else if text.contains("type casts")
        || text.contains("argument types")
        || text.contains("Cannot compare")
        || text.contains("Cannot mix")
    {
        SqlErrorKind::TypeMismatch
    } else {
        SqlErrorKind::Other
    }
}

fn by_status(status: Status) -> Class {
    use SqlErrorKind as K;
    match status {
        Status::NotFound => Class::text(K::UnknownTable),
        Status::Unauthorized => Class::with_rule(K::Denied, "granted-tables"),
        Status::Unauthenticated | Status::IO => Class::data(K::Unavailable),
        Status::Timeout | Status::Cancelled => Class::with_rule(K::Timeout, "deadline"),
        _ => Class::data(K::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors as the drivers make them, with what is left of their message.
    #[test]
    fn messages_of_drivers_have_kinds_and_quote_no_cells() {
        use SqlErrorKind as K;
        let cases = [
            (
                "Parser Error: syntax error at or near \"selec\"\n\nLINE 1: selec 1",
                K::Syntax,
                "syntax error at or near \"selec\"",
            ),
            (
                "Catalog Error: Table with name nope does not exist!\nDid you mean \"secret\"?",
                K::UnknownTable,
                "Table with name nope does not exist!",
            ),
            (
                "Catalog Error: Scalar Function with name getenv does not exist!",
                K::Other,
                "Scalar Function with name getenv does not exist!",
            ),
            (
                "Binder Error: Referenced column \"nope\" not found in FROM clause!\n\
                 Candidate bindings: \"z\"",
                K::UnknownColumn,
                "Referenced column \"nope\" not found in FROM clause!",
            ),
            (
                "Binder Error: Ambiguous reference to column name \"id\" (use: \"a.id\" \
                 or \"b.id\")",
                K::AmbiguousName,
                "Ambiguous reference to column name \"id\" (use: \"a.id\" or \"b.id\")",
            ),
            (
                "Conversion Error: Could not convert string 'sk-SECRET' to INT32",
                K::TypeMismatch,
                "Could not convert string",
            ),
            (
                "Conversion Error: Type INT64 with value 99999999999 can't be cast because",
                K::TypeMismatch,
                "Type INT64",
            ),
            (
                "Invalid Input Error: Could not parse string \"sk-SECRET\" according to",
                K::Other,
                "Could not parse string",
            ),
            (
                "Out of Memory Error: failed to allocate data of size 16.0 MiB (943.0 MiB used)",
                K::TooLarge,
                "failed to allocate data of size 16.0 MiB (943.0 MiB used)",
            ),
            (
                "Permission Error: Cannot access file \"/etc/passwd\" - file system operations are \
                 disabled by configuration",
                K::Denied,
                "Cannot access file \"/etc/passwd\" - file system operations are disabled by \
                 configuration",
            ),
            (
                "[SQLite] Failed to prepare query: no such table: nope\nquery: SELECT",
                K::UnknownTable,
                "no such table: nope",
            ),
            (
                "[SQLite] Failed to prepare query: near \"selec\": syntax error\nquery: selec",
                K::Syntax,
                "near \"selec\": syntax error",
            ),
            (
                "[libpq] Execution error [PGRES_FATAL_ERROR]: ERROR:  canceling statement due to \
                 user request\n",
                K::Timeout,
                "canceling statement due to user request",
            ),
            (
                "[libpq] ERROR:  invalid input syntax for type integer: \"sk-SECRET\"\n",
                K::Other,
                "invalid input syntax for type integer",
            ),
        ];
        for (text, kind, expected) in cases {
            let error =
                classify(&message(text, &Dialect::Duckdb), None, Status::Internal, Stage::Running);
            assert_eq!((error.kind, error.message.as_str()), (kind, expected), "{text}");
        }
    }

    /// Drivers of which no more is known than that they are drivers.
    #[test]
    fn a_message_of_several_lines_has_all_of_them() {
        fn odbc(record: &str) -> String {
            format!("[ODBC] SQLExecDirect failed\n  {record}")
        }
        for (text, expected) in [
            (
                odbc(
                    "[42S22] (1054) [ma-3.1.15][10.11.14-MariaDB]Unknown column 'a' in 'SELECT'. \
                     Vendor code: 1054. SQLSTATE: 42S22",
                ),
                "Unknown column 'a' in 'SELECT'",
            ),
            (
                odbc(
                    "[IM002] (0) [unixODBC][Driver Manager]Data source name not found. \
                     SQLSTATE: IM002",
                ),
                "Data source name not found",
            ),
            (odbc("[42000] [Microsoft][SQL Server]One\n  [42000] Two"), "One; Two"),
            ("[ODBC] SQLExecDirect failed".to_owned(), "SQLExecDirect failed"),
            (
                "[Snowflake] 904 (42000): SQL compilation error: error line 1\n\
                 invalid identifier 'A'"
                    .to_owned(),
                "904 (42000): SQL compilation error: error line 1 invalid identifier 'A'",
            ),
        ] {
            assert_eq!(message(&text, &Dialect::Mysql), expected);
        }
        fn error(text: &str, state: &str) -> SqlError {
            classify(
                &message(&odbc(text), &Dialect::Mysql),
                Some(state),
                Status::Unknown,
                Stage::Running,
            )
        }
        let unknown = error("[42S02] (1146) [ma][m]Table 'shop.nope' doesn't exist", "42S02");
        assert_eq!(
            (unknown.kind, unknown.message.as_str()),
            (SqlErrorKind::UnknownTable, "Table 'shop.nope' doesn't exist")
        );
        // Of what may quote a cell no more is kept than before; an apostrophe quotes nothing.
        assert_eq!(
            error("[22007] (1292) [ma][m]Truncated incorrect DOUBLE value: 'sk-SECRET'", "22007")
                .message,
            "Truncated incorrect DOUBLE value"
        );
        assert_eq!(
            error("[HY000] (1) [ma][m]It can't compute 'sk-SECRET'", "HY000").message,
            "It can't compute"
        );
    }

    #[test]
    fn states_come_before_words() {
        let error = |state: &str, stage| {
            classify("relation \"a\" does not exist", Some(state), Status::Internal, stage)
        };
        assert_eq!(error("42P01", Stage::Running).kind, SqlErrorKind::UnknownTable);
        assert_eq!(error("42P01", Stage::Running).message, "relation \"a\" does not exist");
        assert_eq!(error("25006", Stage::Running).kind, SqlErrorKind::WriteRefused);
        assert_eq!(error("\0\0\0\0\0", Stage::Running).message, "relation");
        assert_eq!(error("22P02", Stage::Compiling).message, "relation");
    }

    #[test]
    fn a_status_is_better_than_nothing() {
        for (status, kind) in [
            (Status::Unauthorized, SqlErrorKind::Denied),
            (Status::IO, SqlErrorKind::Unavailable),
            (Status::Cancelled, SqlErrorKind::Timeout),
            (Status::Internal, SqlErrorKind::Other),
        ] {
            assert_eq!(classify("it failed", None, status, Stage::Running).kind, kind);
        }
    }

    #[test]
    fn files_that_are_none_of_duckdbs_are_said_to_be_so() {
        let config = AdbcConfig::duckdb("/opt/libduckdb.so", "shop.duckdb");
        fn error(config: &AdbcConfig, text: &str) -> DatabaseError {
            opening(&Error::with_message_and_status(text, Status::Internal), config)
        }
        let path = "duckdb:shop.duckdb".to_owned();
        let lock = "IO Error: Could not set lock on file \"/x\": Conflicting lock is held in \
                    python (PID 1)";
        assert_eq!(error(&config, lock), DatabaseError::Locked { path });
        for text in [
            "IO Error: The file \"/x\" exists, but it is not a valid DuckDB database file!",
            "Permission Error: Loading external extensions is disabled through configuration",
        ] {
            assert!(matches!(error(&config, text), DatabaseError::NotADatabase { .. }), "{text}");
        }
    }
}
