//! Comma-separated values: one line a question and arm.

use syrch_report::Grid;

use super::rows::{COLUMNS, rules};
use crate::report::ResultRow;

/// The answers as CSV, with a line of column names; the verdicts of the other rules are columns
/// named after them, `verdict:spider-ex`.
#[must_use]
pub fn csv(rows: &[ResultRow]) -> String {
    let rules = rules(rows);
    let mut grid = Grid::default();
    grid.columns.extend(COLUMNS.iter().map(|column| column.name.to_owned()));
    grid.columns.extend(rules.iter().map(|rule| format!("verdict:{rule}")));
    for row in rows {
        let own = COLUMNS.iter().map(|column| (column.value)(row));
        let by_rule = rules
            .iter()
            .map(|rule| row.verdicts.get(*rule).map(|one| super::rows::verdict(*one)).into());
        grid.rows.push(own.chain(by_rule).collect());
    }
    syrch_report::csv::render(&grid)
}
