//! Places in the text of a statement, and the errors that name them.

use sqlparser::ast::Ident;
use sqlparser::tokenizer::Location;
use syrch_core::text::clip;
use syrch_core::{SqlError, SqlErrorKind};

/// Turns the parser's lines and columns, counted in characters from 1, into bytes.
pub(crate) struct Places<'t> {
    text: &'t str,
    lines: Vec<usize>,
    /// Each character is one byte.
    is_ascii: bool,
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let lines =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, lines, is_ascii: text.is_ascii() }
    }

    pub(crate) fn byte(&self, at: Location) -> Option<u32> {
        self.byte_offset(at.line, at.column)
    }

    fn byte_offset(&self, line: u64, column: u64) -> Option<u32> {
        let start = *self.lines.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let column = usize::try_from(column).ok()?.checked_sub(1)?;
        let line = &self.text[start..];
        let offset = if self.is_ascii {
            column.min(line.len())
        } else {
            line.char_indices().nth(column).map_or(line.len(), |(offset, _)| offset)
        };
        u32::try_from(start + offset).ok()
    }

    /// The place that the parser's message ends with, as `Line: 1, Column: 8`.
    pub(super) fn in_message(&self, message: &str) -> Option<u32> {
        let (_, place) = message.rsplit_once("Line: ")?;
        let (line, column) = place.split_once(", Column: ")?;
        let digits: String = column.chars().take_while(char::is_ascii_digit).collect();
        self.byte_offset(line.parse().ok()?, digits.parse().ok()?)
    }
}

pub(crate) fn write_refused(verb: &str) -> SqlError {
    let message =
        format!("`{verb}` is refused: only queries may run (SELECT, VALUES, WITH … SELECT)");
    SqlError::new(SqlErrorKind::WriteRefused, message).rule("read-only")
}

pub(super) fn unknown_table(
    name: &Ident,
    shown: &str,
    near: Vec<String>,
    places: &Places<'_>,
) -> SqlError {
    let mut error =
        SqlError::new(SqlErrorKind::UnknownTable, format!("no such table `{shown}`")).suggest(near);
    error.position = places.byte(name.span.start);
    error
}

/// `elsewhere` are columns of that very name in tables that do not stand in FROM, as
/// `table.column`.
pub(super) fn unknown_column(
    name: &Ident,
    shown: &str,
    near: Vec<String>,
    elsewhere: Vec<String>,
    places: &Places<'_>,
) -> SqlError {
    let mut message = format!("no such column `{shown}`");
    if !elsewhere.is_empty() {
        message.push_str(&format!(" in the tables of FROM; there is {}", elsewhere.join(", ")));
    }
    let mut error =
        SqlError::new(SqlErrorKind::UnknownColumn, message).suggest([elsewhere, near].concat());
    error.position = places.byte(name.span.start);
    error
}

/// The error of a name in double quotes that stands where a text would.
pub(super) fn hint_at_text(mut error: SqlError, name: &str) -> SqlError {
    let text = clip(name, 64).replace('\'', "''");
    error.message.push_str(&format!("; a text is written in single quotes: '{text}'"));
    error
}

pub(super) fn ambiguous(name: &Ident, choices: Vec<String>, places: &Places<'_>) -> SqlError {
    let message = format!("`{}` is ambiguous: say which of {}", name.value, choices.join(", "));
    let mut error = SqlError::new(SqlErrorKind::AmbiguousName, message).suggest(choices);
    error.position = places.byte(name.span.start);
    error
}
