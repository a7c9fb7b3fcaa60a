//! GitHub's Markdown, for reports and issues. Nothing in a cell becomes a link, an image, HTML or a
//! new row.

use serde_json::Value;
pub(crate) use syrch::syrch_core::text::escape::{fence_code as code, markdown as text};

use super::{Grid, plain};

/// The rows as a Markdown table; columns of numbers are aligned to the right.
pub(crate) fn table(grid: &Grid) -> String {
    if grid.columns.is_empty() {
        return String::new();
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = row(grid.columns.iter().map(|name| text(name)).collect());
    let numeric = |column: usize| {
        let mut cells = grid
            .rows
            .iter()
            .filter_map(|row| row.get(column))
            .filter(|cell| !cell.is_null())
            .peekable();
        cells.peek().is_some() && cells.all(Value::is_number)
    };
    out += &row((0..grid.columns.len())
        .map(|column| if numeric(column) { "---:" } else { "---" }.to_owned())
        .collect());
    for cells in &grid.rows {
        out += &row(cells.iter().map(cell).collect());
    }
    out
}

/// A number has no character of Markdown's that would mean something there, and is read by
/// programs, too.
fn cell(value: &Value) -> String {
    if value.is_number() { plain(value) } else { text(&plain(value)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_of_numbers_stand_right() {
        let grid = Grid {
            columns: vec!["a".into(), "n".into()],
            rows: vec![vec![json!("x"), json!(1)], vec![json!("y"), json!(null)]],
        };
        assert_eq!(table(&grid), "| a | n |\n| --- | ---: |\n| x | 1 |\n| y |  |\n");
    }

    #[test]
    fn numbers_stay_bare() {
        let grid = Grid {
            columns: vec!["n".into(); 3],
            rows: vec![vec![json!(315.0), json!(-5), json!("-5")]],
        };
        assert!(table(&grid).ends_with("| 315.0 | -5 | \\-5 |\n"));
    }
}
