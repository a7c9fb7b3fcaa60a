//! Drawn tables, for people.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

use crate::{Grid, plain};

/// Characters of one cell at most; the other formats write all of them.
const CELL: usize = 500;

/// The table; at most `width` columns wide where that is known.
#[must_use]
pub fn render(grid: &Grid, width: Option<u16>) -> String {
    render_amounts(grid, width, &[])
}

/// The table, in which the texts of some columns stand right as numbers do.
#[must_use]
pub fn render_amounts(grid: &Grid, width: Option<u16>, amounts: &[usize]) -> String {
    if grid.columns.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    match width {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(40))
        }
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    table.set_header(grid.columns.iter().map(|name| super::line(name).into_owned()));
    for row in &grid.rows {
        let cells = row.iter().enumerate();
        table.add_row(cells.map(|(place, value)| cell(value, amounts.contains(&place))));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

fn cell(value: &Value, is_amount: bool) -> Cell {
    let text = plain(value);
    let clipped: String = match text.char_indices().nth(CELL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let cell = Cell::new(super::line(&clipped));
    if value.is_number() || is_amount { cell.set_alignment(CellAlignment::Right) } else { cell }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_stand_right_and_escapes_are_shown() {
        let grid = Grid {
            columns: vec!["name".into(), "total".into()],
            rows: vec![vec![json!("A\u{1b}[2J\nB"), json!(5)], vec![json!(null), json!(1234)]],
        };
        let text = render(&grid, None);
        assert!(text.contains("A\\u{1b}[2J\\nB"), "{text}");
        assert!(text.contains("┆     5 │") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn a_narrow_terminal_wraps_cells() {
        let grid =
            Grid { columns: vec!["text".into()], rows: vec![vec![json!("word ".repeat(30))]] };
        assert!(render(&grid, Some(40)).lines().all(|line| line.chars().count() <= 40));
        let long =
            Grid { columns: vec!["text".into()], rows: vec![vec![json!("é".repeat(1_000))]] };
        assert!(render(&long, None).contains(&format!("{}…", "é".repeat(CELL))));
    }
}
