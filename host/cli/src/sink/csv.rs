//! Comma-separated values after RFC 4180, with LF line ends, safe to open in a spreadsheet.
//!
//! A text cell (or a column name) that begins with `=`, `+`, `-`, `@`, a tab or a line break, or with the full-width form of one of the
//! signs, gets a leading `'`, unless it is a plain number such as `-5`: a spreadsheet would take the rest for a formula. Number cells
//! stay as they are. Characters that a terminal would obey, and those that turn or hide the text around them, are shown as on a
//! terminal, but for tab and line breaks, which CSV can hold. JSON keeps every value unchanged.

use std::borrow::Cow;

use serde_json::Value;

use super::{Grid, plain, terminal};

/// The header and the rows.
pub(crate) fn render(grid: &Grid) -> String {
    let mut out = String::new();
    record(&mut out, grid.columns.iter().map(|name| text(name)));
    for row in &grid.rows {
        record(&mut out, row.iter().map(cell));
    }
    out
}

fn record(out: &mut String, fields: impl ExactSizeIterator<Item = String>) {
    let alone = fields.len() == 1;
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.push(',');
        }
        // A lone empty field must be quoted, else it is an empty line, which readers skip.
        if (alone && field.is_empty()) || field.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&field);
        }
    }
    out.push('\n');
}

fn cell(value: &Value) -> String {
    match value {
        Value::Number(_) | Value::Bool(_) | Value::Null => plain(value),
        Value::String(_) | Value::Array(_) | Value::Object(_) => text(&plain(value)),
    }
}

fn text(text: &str) -> String {
    let shown = visible(text);
    if is_formula(text) { format!("'{shown}") } else { shown.into_owned() }
}

fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) && !is_number(text)
}

fn is_number(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        && text.parse::<f64>().is_ok()
}

fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| terminal::is_dangerous(c) && !matches!(c, '\t' | '\n' | '\r');
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::new(), |mut out, c| {
        if hidden(c) {
            out.push_str(&terminal::line(&c.to_string()))
        } else {
            out.push(c)
        }
        out
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn one(value: Value) -> String {
        let grid = Grid { columns: vec!["a".into()], rows: vec![vec![value]] };
        render(&grid).strip_prefix("a\n").unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        assert_eq!(one(json!("=1+1")), "'=1+1");
        assert_eq!(one(json!("@SUM(A1)")), "'@SUM(A1)");
        assert_eq!(one(json!("\t=1")), "'\t=1");
        assert_eq!(one(json!("-2+3+cmd|' /C calc'!A0")), "'-2+3+cmd|' /C calc'!A0");
        assert_eq!(one(json!(-5)), "-5");
        assert_eq!(one(json!("-5.25")), "-5.25");
        assert_eq!(one(json!("+49 30")), "'+49 30");
    }

    #[test]
    fn quotes_commas_and_empty_lines() {
        assert_eq!(one(json!("say \"hi\", you")), "\"say \"\"hi\"\", you\"");
        assert_eq!(one(json!(null)), "\"\"");
        assert_eq!(one(json!("a\0b\u{1b}c")), "a\\u{0}b\\u{1b}c");
        assert_eq!(one(json!("abc\u{202e}txt\u{200b}")), "abc\\u{202e}txt\\u{200b}");
    }

    /// A reader of RFC 4180, to read back what was written.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
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
        fn every_cell_reads_back_and_none_is_a_formula(cells in prop::collection::vec(any::<String>(), 1..4)) {
            let grid = Grid { columns: vec!["c".to_owned(); cells.len()], rows: vec![cells.iter().map(|c| json!(c)).collect()] };
            let rows = parse(&render(&grid));
            prop_assert_eq!(rows.len(), 2);
            for (cell, read) in cells.iter().zip(&rows[1]) {
                prop_assert!(!is_formula(read));
                prop_assert!(!read.chars().any(|c| terminal::is_dangerous(c) && !"\t\n\r".contains(c)));
                let bare = read.strip_prefix('\'').filter(|_| is_formula(cell)).unwrap_or(read);
                prop_assert_eq!(bare, visible(cell));
            }
        }
    }
}
