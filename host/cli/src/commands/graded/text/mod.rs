//! Reports for people at a terminal: one renderer for all commands that show one.

mod benchmark;
mod compare;

use serde_json::Value;
use syrch::grade::report::Basis;
use syrch::grade::report::render::text::Table;

use super::Document;
use crate::commands::trace::words::count;
use crate::sink::{Grid, table, terminal};

/// The report; `slices` are the fields of the suite whose values are shown one by one.
pub(crate) fn document(document: &Document, slices: &[String], width: Option<u16>) -> String {
    match document {
        Document::Benchmark(report) => benchmark::benchmark(report, slices, width),
        Document::Compare(report) => compare::compare(report, slices, width),
    }
}

/// What there is of a run that is not whole, on a line.
pub(crate) fn partial(basis: &Basis) -> String {
    let Some(partial) = &basis.partial else { return String::new() };
    line(&format!("{} of {}: {}", partial.done, count(partial.of, "answer"), partial.why))
}

fn line(text: &str) -> String {
    format!("{}\n", terminal::line(text))
}

/// A table under its title.
fn drawn(shown: &Table, width: Option<u16>) -> String {
    let grid = Grid { columns: shown.columns.clone(), rows: shown.rows.clone() };
    format!("\n{}{}", line(&shown.title), table::render(&grid, width))
}

/// Of a table of slices the rows of these fields; none: there are none.
fn of_fields(mut table: Table, fields: &[String]) -> Option<Table> {
    let is_asked = |row: &Vec<Value>| {
        row.first().and_then(Value::as_str).is_some_and(|name| fields.iter().any(|field| field == name))
    };
    table.rows.retain(is_asked);
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use syrch::grade::report::Partial;

    use super::*;

    #[test]
    fn what_is_missing_is_told_of_one_answer_and_of_many() {
        let told = |of| {
            let partial = Some(Partial { done: 0, of, why: "it was interrupted".into() });
            partial_of(partial)
        };
        assert_eq!(told(1), "0 of 1 answer: it was interrupted\n");
        assert_eq!(told(9), "0 of 9 answers: it was interrupted\n");
        assert_eq!(partial_of(None), "");
    }

    fn partial_of(partial: Option<Partial>) -> String {
        super::partial(&Basis { rule: "bag-v1".into(), simulated: None, partial, warnings: Vec::new() })
    }
}
