//! The sinks: a file for each format of rows, with its own escape. Whatever reaches them comes from
//! a database, a model or a plugin and is not trusted.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod table;
pub(crate) mod terminal;

use clap::ValueEnum;
use serde_json::Value;

use crate::scrub::Scrubber;

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people: the same as `table`
    #[default]
    Auto,
    /// A drawn table
    Table,
    /// One JSON document, also for errors
    Json,
    /// One JSON object a row
    Jsonl,
    /// Comma-separated values; text that a spreadsheet would compute gets a leading '
    Csv,
    /// GitHub's Markdown
    Markdown,
}

impl Format {
    /// Returns true if programs read it as JSON, so that errors are documents too.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }
}

/// Columns and rows, as every sink takes them. Text cells are JSON strings, numbers are numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Grid {
    /// Column names, by position; they may repeat.
    pub(crate) columns: Vec<String>,
    /// Rows as wide as `columns`.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Grid {
    /// An empty grid of these columns.
    pub(crate) fn new<const N: usize>(columns: [&str; N]) -> Self {
        Self { columns: columns.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Takes secrets out of every cell.
    pub(crate) fn scrub(&mut self, scrubber: &Scrubber) {
        self.columns.iter_mut().for_each(|name| *name = scrubber.text(name).into_owned());
        self.rows.iter_mut().flatten().for_each(|cell| scrubber.value(cell));
    }

    /// The grid in a format of rows; `None` for [`Format::Json`], whose documents differ by
    /// command.
    pub(crate) fn render(&self, format: Format, width: Option<u16>) -> Option<String> {
        match format {
            Format::Auto | Format::Table => Some(table::render(self, width)),
            Format::Jsonl => Some(json::lines(self)),
            Format::Csv => Some(csv::render(self)),
            Format::Markdown => Some(markdown::table(self)),
            Format::Json => None,
        }
    }
}

/// A cell as plain text, before any escape. NULL is empty; bytes are `0x…`; an array is its items,
/// a document its JSON.
pub(crate) fn plain(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(map) if map.len() == 1 => match map.get("bytes") {
            Some(Value::String(hex)) => format!("0x{hex}"),
            _ => cell.to_string(),
        },
        Value::Object(_) | Value::Bool(_) | Value::Number(_) => cell.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_have_a_plain_text() {
        assert_eq!(plain(&json!(null)), "");
        assert_eq!(plain(&json!({"bytes": "00ff"})), "0x00ff");
        assert_eq!(plain(&json!(-1.5)), "-1.5");
        assert_eq!(plain(&json!(["a", 1])), "a, 1");
        assert_eq!(plain(&json!({"a": 1, "b": 2})), r#"{"a":1,"b":2}"#);
    }

    #[test]
    fn secrets_leave_every_cell() {
        let mut grid =
            Grid { columns: vec!["key-canary".into()], rows: vec![vec![json!("is key-canary")]] };
        grid.scrub(&Scrubber::new(["key-canary".to_owned().into()]));
        assert_eq!(grid, Grid { columns: vec!["***".into()], rows: vec![vec![json!("is ***")]] });
    }
}
