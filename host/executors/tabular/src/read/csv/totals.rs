//! Rows of totals below a table.

use csv::ByteRecord;
use syrch_core::imports::ReadOptions;

use crate::cell::{Cell, ColumnType, integer, real};
use crate::column::{Column, Decision, read_number};

/// Words with which a row of totals begins.
const LABELS: [&str; 25] = [
    "total",
    "totals",
    "grand total",
    "sum",
    "overall total",
    "summe",
    "gesamt",
    "gesamtsumme",
    "insgesamt",
    "summe gesamt",
    "total général",
    "somme",
    "totale",
    "suma",
    "suma total",
    "total general",
    "total geral",
    "totaal",
    "summa",
    "celkem",
    "razem",
    "итого",
    "всего",
    "toplam",
    "合計",
];
/// The distance that a total may have from the sum, as a share of it: floating-point numbers are
/// rounded.
const NEAR: f64 = 1e-9;

/// Returns true if the first value of a row that is not empty is a word for a total.
pub(super) fn is_labelled(row: &ByteRecord) -> bool {
    let first = row.iter().map(|value| std::str::from_utf8(value).unwrap_or_default().trim());
    let label = first.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
    let label = label.trim_end_matches(':').trim_end().to_lowercase();
    LABELS.contains(&label.as_str())
}

/// The sums of the columns of numbers.
pub(super) struct Sums<'d> {
    decisions: &'d [Decision],
    columns: &'d [Column],
    options: &'d ReadOptions,
    /// The sums of each column: a second one where its numbers can be read in two ways.
    sums: Vec<[f64; 2]>,
}

impl<'d> Sums<'d> {
    pub(super) fn new(
        decisions: &'d [Decision],
        columns: &'d [Column],
        options: &'d ReadOptions,
    ) -> Self {
        Self { decisions, columns, options, sums: vec![[0.0; 2]; decisions.len()] }
    }

    pub(super) fn add(&mut self, row: &ByteRecord) {
        for (at, value) in row.iter().enumerate().take(self.sums.len()) {
            let [one, other] = self.numbers(at, value).map(Option::unwrap_or_default);
            let [sum, second] = &mut self.sums[at];
            *sum += one;
            *second += other;
        }
    }

    /// Returns true if a row has the sum of a column.
    pub(super) fn are_in(&self, row: &ByteRecord) -> bool {
        row.iter().enumerate().take(self.sums.len()).any(|(at, value)| {
            let totals = self.numbers(at, value).into_iter().zip(self.sums[at]);
            fn is_near(total: f64, sum: f64) -> bool {
                // A sum beyond all numbers is near to nothing.
                sum.is_finite() && total != 0.0 && (total - sum).abs() <= NEAR * sum.abs()
            }
            totals.into_iter().any(|(total, sum)| total.is_some_and(|total| is_near(total, sum)))
        })
    }

    /// The number that a value is, or the two of a column that can be read in two ways.
    fn numbers(&self, at: usize, value: &[u8]) -> [Option<f64>; 2] {
        let (Some(decision), Some(column)) = (self.decisions.get(at), self.columns.get(at)) else {
            return [None; 2];
        };
        let [one, other] = column.ambiguous_readings() else {
            return [number(decision, value, self.options), None];
        };
        let text = std::str::from_utf8(value).ok();
        [*one, *other].map(|decimal| float(&read_number(text?, decimal)?))
    }
}

/// The number that a value of a column of numbers is.
fn number(decision: &Decision, value: &[u8], options: &ReadOptions) -> Option<f64> {
    if !matches!(decision.kind, ColumnType::Integer | ColumnType::Real) {
        return None;
    }
    float(&decision.read(Cell::Untyped(std::str::from_utf8(value).ok()?), options))
}

fn float(cell: &Cell<'_>) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "sums are compared roughly")]
    fn float(whole: i64) -> f64 {
        whole as f64
    }
    match cell {
        Cell::Integer(number) => Some(float(*number)),
        Cell::Real(number) => Some(*number),
        Cell::Untyped(text) => integer(text).map(float).or_else(|| real(text)),
        _ => None,
    }
}
