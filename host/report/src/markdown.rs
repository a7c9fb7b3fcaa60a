//! GitHub's Markdown, for reports and issues. Nothing in a cell becomes a link, an image, HTML or a
//! new row.

use serde_json::Value;
use syrch_core::text::escape::html;
pub use syrch_core::text::escape::{fence_code as code, markdown as text};

use super::{Grid, plain};

/// The rows as a Markdown table; columns of numbers are aligned to the right.
#[must_use]
pub fn table(grid: &Grid) -> String {
    if grid.columns.is_empty() {
        return String::new();
    }
    let aligned = (0..grid.columns.len())
        .map(|column| if grid.is_numeric(column) { "---:" } else { "---" }.to_owned());
    let mut out = row(grid.columns.iter().map(|name| text(name))) + &row(aligned);
    out.extend(grid.rows.iter().map(|cells| row(cells.iter().map(cell))));
    out
}

/// A line of a table, of cells that are Markdown.
#[must_use]
pub fn row(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |\n", cells.into_iter().collect::<Vec<_>>().join(" | "))
}

/// Content that the reader sees after a click on its title.
#[must_use]
pub fn fold(title: &str, body: &str) -> String {
    let title = html(title).replace('\n', " ");
    format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n\n")
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
