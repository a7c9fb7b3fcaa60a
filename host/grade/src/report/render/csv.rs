//! Comma-separated values after RFC 4180 with LF line ends: one line a question and arm, safe to
//! open in a spreadsheet.

use serde_json::Value;
use syrch_core::text::escape::{record, spreadsheet};

use super::rows::{COLUMNS, Column, rules};
use crate::report::ResultRow;

/// The answers as CSV, with a line of column names; the verdicts of the other rules are columns
/// named after them, `verdict:spider-ex`.
#[must_use]
pub fn csv(rows: &[ResultRow]) -> String {
    let rules = rules(rows);
    let mut out = String::new();
    let names = COLUMNS.iter().map(|column| column.name.to_owned());
    out += &record(names.chain(rules.iter().map(|rule| spreadsheet(&format!("verdict:{rule}")))));
    for row in rows {
        let own = COLUMNS.iter().map(|column| cell(column, row));
        let by_rule = rules.iter().map(|rule| {
            row.verdicts
                .get(*rule)
                .map(|verdict| super::rows::verdict(*verdict).to_owned())
                .unwrap_or_default()
        });
        out += &record(own.chain(by_rule));
    }
    out
}

fn cell(column: &Column, row: &ResultRow) -> String {
    match (column.value)(row) {
        Value::Null => String::new(),
        Value::String(text) => spreadsheet(&text),
        other => other.to_string(),
    }
}
