//! Comma-separated values after RFC 4180, with LF line ends, safe to open in a spreadsheet.
//!
//! A text cell (or a column name) that begins with `=`, `+`, `-`, `@`, a tab or a line break, or
//! with the full-width form of one of the signs, gets a leading `'`, unless it is a plain number
//! such as `-5` or `-inf`: a spreadsheet would take the rest for a formula. Number cells stay as
//! they are. Cells with a semicolon or a tab are quoted as those with a comma are. Control
//! characters, and those that reverse or hide the text around them, are shown as on a terminal,
//! except tabs and line breaks, which CSV can hold. JSON holds every value unchanged.

use serde_json::Value;
use syrch_core::text::escape::{record, spreadsheet};

use super::{Grid, plain};

/// The header and the rows.
#[must_use]
pub fn render(grid: &Grid) -> String {
    let mut out = record(grid.columns.iter().map(|name| spreadsheet(name)));
    out.extend(grid.rows.iter().map(|row| record(row.iter().map(cell))));
    out
}

fn cell(value: &Value) -> String {
    match value {
        Value::Number(_) | Value::Bool(_) | Value::Null => plain(value),
        Value::String(_) | Value::Array(_) | Value::Object(_) => spreadsheet(&plain(value)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use syrch_core::text::escape::{escape_dangerous, is_formula};

    use super::*;

    fn one(value: Value) -> String {
        let grid = Grid { columns: vec!["a".into()], rows: vec![vec![value]] };
        render(&grid).strip_prefix("a\n").unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        assert_eq!(one(json!("=1+1")), "'=1+1");
        assert_eq!(one(json!("@SUM(A1)")), "'@SUM(A1)");
        assert_eq!(one(json!("\t=1")), "\"'\t=1\"");
        assert_eq!(one(json!("-2+3+cmd|' /C calc'!A0")), "'-2+3+cmd|' /C calc'!A0");
        assert_eq!(one(json!(-5)), "-5");
        assert_eq!(one(json!("-5.25")), "-5.25");
        assert_eq!(one(json!("+49 30")), "'+49 30");
        assert_eq!((one(json!("-inf")), one(json!("inf"))), ("-inf".to_owned(), "inf".to_owned()));
        assert_eq!(
            (one(json!("-Infinity")), one(json!("NaN"))),
            ("-Infinity".to_owned(), "NaN".to_owned())
        );
        assert_eq!(
            (one(json!("-infinite")), one(json!("-inf()"))),
            ("'-infinite".to_owned(), "'-inf()".to_owned())
        );
    }

    #[test]
    fn quotes_commas_and_empty_lines() {
        assert_eq!(
            (one(json!("1;2")), one(json!("a\tb"))),
            ("\"1;2\"".to_owned(), "\"a\tb\"".to_owned())
        );
        assert_eq!(one(json!("say \"hi\", you")), "\"say \"\"hi\"\", you\"");
        assert_eq!(one(json!(null)), "\"\"");
        assert_eq!(one(json!("a\0b\u{1b}c")), "a\\u{0}b\\u{1b}c");
        assert_eq!(one(json!("abc\u{202e}txt\u{200b}")), "abc\\u{202e}txt\\u{200b}");
    }

    /// A reader of RFC 4180, to read back what was written.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        let mut row = Vec::new();
        let mut field = String::new();
        let mut quoted = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (quoted, c) {
                (true, '"') if chars.peek() == Some(&'"') => field.push(chars.next().unwrap()),
                (_, '"') => quoted = !quoted,
                (false, ',') => row.push(std::mem::take(&mut field)),
                (false, '\n') => {
                    row.push(std::mem::take(&mut field));
                    rows.push(std::mem::take(&mut row));
                }
                (_, c) => field.push(c),
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn every_cell_reads_back_and_none_is_a_formula(
            cells in prop::collection::vec(any::<String>(), 1..4)
        ) {
            let grid = Grid {
                columns: vec!["c".to_owned(); cells.len()],
                rows: vec![cells.iter().map(|c| json!(c)).collect()]
            };
            let rows = parse(&render(&grid));
            prop_assert_eq!(rows.len(), 2);
            for (cell, read) in cells.iter().zip(&rows[1]) {
                prop_assert!(!is_formula(read));
                prop_assert!(
                    !read
                        .chars()
                        .any(|c| syrch_core::text::escape::is_dangerous(c) && !"\t\n\r".contains(c))
                );
                let bare = read.strip_prefix('\'').filter(|_| is_formula(cell)).unwrap_or(read);
                prop_assert_eq!(bare, escape_dangerous(cell, &['\n', '\r', '\t']));
            }
        }
    }
}
