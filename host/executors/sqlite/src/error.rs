//! The engine's errors in the contract's kinds, with what a model needs to repair the statement and
//! without text of cells.

use rusqlite::{Error, ErrorCode};
use syrch_core::ports::SqlQuery;
use syrch_core::text::nearest;
use syrch_core::{Catalog, SqlError, SqlErrorKind};
use syrch_guard::{Spliced, Unresolved};

use crate::memory::{self, Refused};
use crate::{deadline, functions};

/// A statement that failed, with its spliced text and the catalog.
pub(crate) struct Context<'a> {
    pub(crate) query: &'a SqlQuery,
    pub(crate) spliced: &'a Spliced,
    pub(crate) catalog: &'a Catalog,
}

/// The engine's own words.
pub(crate) fn message(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

/// Returns true if a program is too long, which the engine calls a lack of memory.
pub(crate) fn is_program(error: &rusqlite::Error) -> bool {
    code(error) == Some(ErrorCode::OutOfMemory) && !memory::was_refused()
}

/// The engine's code, whichever way the error came.
pub(crate) fn code(error: &Error) -> Option<ErrorCode> {
    match error {
        Error::SqliteFailure(error, _) | Error::SqlInputError { error, .. } => Some(error.code),
        _ => None,
    }
}

/// Errors of limits while a statement is compiled, by a part of the engine's message.
const LIMITS: [(&str, &str); 13] = [
    ("Expression tree is too large", "expression-depth"),
    ("too many terms in compound SELECT", "compound-select"),
    ("too many columns", "columns"),
    ("at most 64 tables in a join", "joined-tables"),
    ("too many FROM clause terms", "joined-tables"),
    ("too many arguments on function", "function-arguments"),
    ("parser stack overflow", "expression-depth"),
    ("Recursion limit", "expression-depth"),
    ("nested too deep", "expression-depth"),
    ("LIKE or GLOB pattern too complex", "like-pattern"),
    ("string or blob too big", "length"),
    ("too many terms in", "columns"),
    ("query aborted", "statement-size"),
];

/// The end of the engine's message about a name in double quotes that nothing has, and that it
/// would otherwise take for a text.
const NO_TEXT: &str = " - should this be a string literal in single-quotes?";

/// Returns true if the error may be about a name in double quotes within a view: the engine knows
/// no place of it in the statement.
pub(crate) fn may_be_text_in_view(error: &Error) -> bool {
    matches!(error, Error::SqliteFailure(_, Some(message)) if message.ends_with(NO_TEXT))
}

/// Converts an error while a statement is compiled.
pub(crate) fn compiling(error: &Error, context: &Context<'_>) -> SqlError {
    let mut classified = classify(error);
    if let Error::SqlInputError { offset, .. } = error {
        classified.position =
            usize::try_from(*offset).ok().and_then(|offset| context.spliced.original(offset));
    }
    let is_name = |kind| {
        matches!(
            kind,
            SqlErrorKind::UnknownTable | SqlErrorKind::UnknownColumn | SqlErrorKind::AmbiguousName
        )
    };
    if !is_name(classified.kind) {
        return classified;
    }
    // The guard knows the scopes, so its suggestions are better wherever it found the same fault.
    match syrch_guard::facts(&context.query.text, &context.query.relations, context.catalog) {
        Err(Unresolved::Refused(better)) if better.kind == classified.kind => better,
        _ => with_nearest(classified, context.catalog),
    }
}

/// The beginnings of the engine's messages at run time, where that is more specific than their
/// code. What follows may quote cells and is dropped.
const WORDS: [&str; 24] = [
    "malformed JSON",
    "bad JSON path",
    "JSON cannot hold BLOB values",
    "integer overflow",
    "ESCAPE expression must be a single character",
    "LIKE or GLOB pattern too complex",
    "wrong number of arguments",
    "sub-select returns",
    "argument of ntile must be a positive integer",
    "second argument to nth_value must be a positive integer",
    "frame starting offset must be",
    "frame ending offset must be",
    "fts5: syntax error",
    "malformed MATCH expression",
    "unterminated string",
    "unable to use function",
    "the fraction argument to",
    "input to median() is not numeric",
    "input to percentile() is not numeric",
    "input to percentile_cont() is not numeric",
    "input to percentile_disc() is not numeric",
    "the pattern of REGEXP is not a regular expression",
    "the pattern of REGEXP is longer than 200 bytes",
    "the pattern of REGEXP is too large once compiled",
];

/// An error while it runs. The engine's messages may quote the arguments of functions, which are
/// cells: every text is a fixed one.
pub(crate) fn running(error: &Error) -> SqlError {
    use SqlErrorKind::{Denied, Other, TooLarge, TypeMismatch, Unavailable, WriteRefused};
    let Some(code) = self::code(error) else {
        return SqlError::new(Other, "a cell cannot be read");
    };
    match code {
        ErrorCode::TooBig => {
            SqlError::new(TooLarge, "a text or blob grew over the engine's limit").rule("length")
        }
        ErrorCode::OutOfMemory => out_of_memory(),
        ErrorCode::AuthorizationForStatementDenied => {
            SqlError::new(Denied, "the statement would do what is not granted").rule("read-only")
        }
        ErrorCode::ReadOnly => {
            SqlError::new(WriteRefused, "the statement would change something").rule("read-only")
        }
        ErrorCode::TypeMismatch => SqlError::new(TypeMismatch, "a value has the wrong type"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => lock_error(),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            SqlError::new(Unavailable, "the database is damaged")
        }
        ErrorCode::SchemaChanged => SqlError::new(Unavailable, "the schema changes all the time"),
        ErrorCode::Unknown | ErrorCode::ConstraintViolation => {
            let text = message(error);
            let words = WORDS.iter().find(|words| text.starts_with(**words));
            SqlError::new(Other, words.map_or("the statement failed while it ran", |words| words))
        }
        _ => SqlError::new(Unavailable, "the database cannot be read now"),
    }
}

/// The rule of a statement that got no memory because of others.
pub(crate) const CROWDED: &str = "memory-of-all";

fn out_of_memory() -> SqlError {
    match memory::take_refusal() {
        Some(Refused::Own(most)) => deadline::memory_error(most),
        Some(Refused::Crowded) => {
            let message = format!(
                "the statements that run now hold nearly all of the {} MiB that the engine may \
                 take in this process",
                memory::HEAP >> 20
            );
            SqlError::new(SqlErrorKind::Unavailable, message).rule(CROWDED)
        }
        Some(Refused::Places(most)) => places_error(most),
        None => {
            SqlError::new(SqlErrorKind::TooLarge, "the engine ran out of memory").rule("memory")
        }
    }
}

/// The error of a full-text search that finds too much in one row.
pub(crate) fn places_error(most: usize) -> SqlError {
    let message =
        format!("a row has more than {most} places where the words of the full-text search stand");
    SqlError::new(SqlErrorKind::TooLarge, message).rule("full-text")
}

fn lock_error() -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, "the database is locked by somebody else")
}

fn classify(error: &Error) -> SqlError {
    use SqlErrorKind::{Denied, Other, TooLarge, Unavailable, WriteRefused};
    let text = message(error);
    let Some(code) = self::code(error) else {
        return SqlError::new(Other, text);
    };
    if let Some((_, rule)) = LIMITS.iter().find(|(part, _)| text.contains(part)) {
        return SqlError::new(TooLarge, text).rule(*rule);
    }
    match code {
        ErrorCode::TooBig => SqlError::new(TooLarge, text).rule("length"),
        ErrorCode::OutOfMemory => out_of_memory(),
        ErrorCode::AuthorizationForStatementDenied => SqlError::new(Denied, text).rule("read-only"),
        ErrorCode::ReadOnly => SqlError::new(WriteRefused, text).rule("read-only"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => lock_error(),
        ErrorCode::DatabaseCorrupt => {
            SqlError::new(Unavailable, format!("the database is damaged: {text}"))
        }
        ErrorCode::Unknown => by_message(text),
        _ => SqlError::new(Unavailable, text),
    }
}

/// The engine's messages for a text that does not parse.
const SYNTAX: [&str; 3] = ["syntax error", "incomplete input", "unrecognized token"];

/// Errors that differ only in their text.
fn by_message(text: String) -> SqlError {
    let text = text.trim_end_matches(NO_TEXT).to_owned();
    let kind = if text.starts_with("no such table")
        || text.starts_with("no such module")
        || text.contains("is not a function")
    {
        SqlErrorKind::UnknownTable
    } else if text.starts_with("no such column") || text.starts_with("cannot join using column") {
        SqlErrorKind::UnknownColumn
    } else if text.starts_with("ambiguous column name") {
        SqlErrorKind::AmbiguousName
    } else if let Some(name) = text.strip_prefix("no such function: ") {
        let near = nearest(name, functions::LISTED.words().iter().copied());
        return SqlError::new(SqlErrorKind::FunctionRefused, text).suggest(near).rule("function");
    } else if text.starts_with("unsafe use of") {
        return SqlError::new(SqlErrorKind::Denied, text).rule("trusted-schema");
    } else if SYNTAX.iter().any(|part| text.contains(part)) {
        SqlErrorKind::Syntax
    } else {
        // It parses: an aggregate in the wrong place, a sub-select that is too wide, and the like.
        SqlErrorKind::Other
    };
    SqlError::new(kind, text)
}

fn with_nearest(error: SqlError, catalog: &Catalog) -> SqlError {
    let name = match error.message.split_once('"') {
        Some((_, name)) => name.trim_end_matches('"'),
        None => {
            error.message.rsplit([' ', '.']).next().unwrap_or_default().trim_matches(['\'', '`'])
        }
    };
    let near = match error.kind {
        SqlErrorKind::UnknownTable => {
            nearest(name, catalog.tables.iter().map(|table| table.name.as_str()))
        }
        _ => {
            let columns = catalog.tables.iter().flat_map(|table| &table.columns);
            nearest(name, columns.map(|column| column.name.as_str()))
        }
    };
    error.suggest(near)
}
