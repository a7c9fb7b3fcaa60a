//! Comma-separated values after RFC 4180 with LF line ends: one line a question and arm, safe to open in a spreadsheet.

use serde_json::Value;

use super::escape;
use super::rows::{COLUMNS, Column, rules};
use crate::report::ResultRow;

/// The answers as CSV, with a line of column names; the verdicts of the other rules are columns named after them, `verdict:spider-ex`.
#[must_use]
pub fn csv(rows: &[ResultRow]) -> String {
    let rules = rules(rows);
    let mut out = String::new();
    let names = COLUMNS.iter().map(|column| column.name.to_owned());
    line(&mut out, names.chain(rules.iter().map(|rule| escape::spreadsheet(&format!("verdict:{rule}")))));
    for row in rows {
        let own = COLUMNS.iter().map(|column| cell(column, row));
        let by_rule = rules.iter().map(|rule| {
            row.verdicts.get(*rule).map(|verdict| super::rows::verdict(*verdict).to_owned()).unwrap_or_default()
        });
        line(&mut out, own.chain(by_rule));
    }
    out
}

fn cell(column: &Column, row: &ResultRow) -> String {
    match (column.value)(row) {
        Value::Null => String::new(),
        Value::String(text) => escape::spreadsheet(&text),
        other => other.to_string(),
    }
}

fn line(out: &mut String, fields: impl Iterator<Item = String>) {
    for (place, field) in fields.enumerate() {
        if place > 0 {
            out.push(',');
        }
        if field.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&field);
        }
    }
    out.push('\n');
}
