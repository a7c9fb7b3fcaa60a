//! Columns and rows, as every format takes them: not yet escaped or laid out.

use serde_json::Value;

/// Columns and rows. Texts are JSON strings, numbers are numbers, and a null is an empty cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    /// Column names, by position; they may repeat.
    pub columns: Vec<String>,
    /// Rows as wide as `columns`.
    pub rows: Vec<Vec<Value>>,
}

impl Grid {
    /// An empty grid of these columns.
    #[must_use]
    pub fn new<const N: usize>(columns: [&str; N]) -> Self {
        Self { columns: columns.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Returns true if all cells of a column that are not empty are numbers, and there are some.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let mut known = cells.filter(|cell| !cell.is_null()).peekable();
        known.peek().is_some() && known.all(Value::is_number)
    }
}

/// A grid with a heading.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The heading, which names what the rows are.
    pub title: String,
    /// The columns and rows.
    pub grid: Grid,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new<const N: usize>(title: impl Into<String>, columns: [&str; N]) -> Self {
        Self { title: title.into(), grid: Grid::new(columns) }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [Value; N]) {
        self.grid.rows.push(cells.to_vec());
    }

    /// The table; `None` if it has no row.
    #[must_use]
    pub fn non_empty(self) -> Option<Self> {
        (!self.grid.rows.is_empty()).then_some(self)
    }
}

/// A cell as plain text, before any escape. NULL is empty; bytes are `0x…`; an array is its items,
/// a document its JSON.
#[must_use]
pub fn plain(cell: &Value) -> String {
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
}
