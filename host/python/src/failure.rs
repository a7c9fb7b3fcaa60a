//! Exceptions of the program's databases and models, as the host's errors.

use pyo3::exceptions::{PyConnectionError, PyTimeoutError};
use pyo3::prelude::*;
use syrch::syrch_core::text::escape::clip_with_remark;
use syrch::syrch_core::{SqlError, SqlErrorKind};

use crate::causes::Causes;

/// The characters of an exception's text that are shown.
const SHOWN: usize = 400;
/// The characters from which on the message of a statement that ran may quote cells.
const BEFORE_CELLS: [char; 5] = ['\'', '"', '`', ':', '('];

/// The beginnings of messages of database engines, with what they mean.
const KNOWN: [(&str, SqlErrorKind); 12] = [
    ("no such table", SqlErrorKind::UnknownTable),
    ("no such column", SqlErrorKind::UnknownColumn),
    ("unknown column", SqlErrorKind::UnknownColumn),
    ("unknown table", SqlErrorKind::UnknownTable),
    ("undefined column", SqlErrorKind::UnknownColumn),
    ("undefined table", SqlErrorKind::UnknownTable),
    ("ambiguous column", SqlErrorKind::AmbiguousName),
    ("syntax error", SqlErrorKind::Syntax),
    ("error in your sql syntax", SqlErrorKind::Syntax),
    ("statement timeout", SqlErrorKind::Timeout),
    ("max_statement_time exceeded", SqlErrorKind::Timeout),
    ("maximum statement execution time exceeded", SqlErrorKind::Timeout),
];

/// The first line of an exception's text, with the name of its type. `causes` retains the
/// exception.
pub(crate) fn describe(py: Python<'_>, error: &PyErr, causes: &Causes) -> String {
    let text = describe_line(py, error);
    causes.retain(py, &text, error);
    text
}

fn describe_line(py: Python<'_>, error: &PyErr) -> String {
    let name = error.get_type(py).name().map(|name| name.to_string()).unwrap_or_default();
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    clip_with_remark(&format!("{name}: {line}"), SHOWN).into_owned()
}

/// The error of a statement that was compiled, whose message speaks of names and of its own text.
pub(crate) fn compiling(py: Python<'_>, error: &PyErr, causes: &Causes) -> SqlError {
    let text = describe(py, error, causes);
    SqlError::new(classify(py, error, &text), text)
}

/// The error of a statement that ran. What its message says after a quote or a colon may be a cell.
pub(crate) fn running(py: Python<'_>, error: &PyErr, causes: &Causes) -> SqlError {
    let text = describe_line(py, error);
    let kind = classify(py, error, &text);
    let (name, rest) = text.split_once(": ").unwrap_or(("", &text));
    let beginning = rest.split(BEFORE_CELLS).next().unwrap_or_default().trim();
    let shown = format!("{name}: {beginning}").trim_end_matches([':', ' ']).to_owned();
    causes.retain(py, &shown, error);
    SqlError::new(kind, shown)
}

fn classify(py: Python<'_>, error: &PyErr, text: &str) -> SqlErrorKind {
    if error.is_instance_of::<PyTimeoutError>(py) {
        return SqlErrorKind::Timeout;
    }
    if error.is_instance_of::<PyConnectionError>(py) {
        return SqlErrorKind::Unavailable;
    }
    let text = text.to_lowercase();
    let known = KNOWN.iter().find(|(beginning, _)| text.contains(beginning));
    known.map_or(SqlErrorKind::Other, |(_, kind)| *kind)
}
