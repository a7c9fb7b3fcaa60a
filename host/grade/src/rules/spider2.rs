//! `spider2`: how Spider 2.0 grades tables (Lei et al. 2024; `compare_pandas_table` of its
//! evaluation suites, with `ignore_order`): each expected column must be found among the predicted
//! ones, each column sorted on its own, numbers to 0.01, NULL counted as 0. More columns than
//! expected do no harm, and one may stand for several.
//!
//! The original sorts numbers by their spelling, and so misses a few columns that agree within the
//! tolerance; here they are sorted by value. Its condition columns belong to its suites' files and
//! not to the rule.

use super::cells::{Cell, Grid, Pair, Pool};
use super::fingerprint;
use super::{Facts, RuleDef, Verdict};

/// The greatest difference of two equal numbers.
const ABSOLUTE: f64 = 1e-2;
/// The same as a part of the greater: what Python's `math.isclose` adds unasked.
const RELATIVE: f64 = 1e-9;

pub(super) const SPIDER2: RuleDef = RuleDef {
    name: "spider2",
    summary: "the gold's columns among the predicted ones, each sorted on its own, numbers to \
              0.01, NULL as 0",
    empty_is_informative: true,
    counts_columns: false,
    compare,
    fingerprint: |sheet, _| fingerprint::digest_columns(sheet),
};

fn compare(pair: &Pair<'_>, _: Facts) -> Verdict {
    let gold = columns(&pair.pool, &pair.gold);
    let predicted = columns(&pair.pool, &pair.predicted);
    let is_height_same = pair.gold.height == pair.predicted.height;
    Verdict::right_if(
        is_height_same
            && gold.iter().all(|column| predicted.iter().any(|other| column.is_equal_to(other))),
    )
}

/// A column's cells, sorted.
struct Column {
    numbers: Vec<f64>,
    /// Places of texts and blobs in the pool.
    others: Vec<u32>,
}

impl Column {
    fn is_equal_to(&self, other: &Self) -> bool {
        self.numbers.len() == other.numbers.len()
            && self.others == other.others
            && self.numbers.iter().zip(&other.numbers).all(|(a, b): (&f64, &f64)| {
                a.total_cmp(b).is_eq()
                    || (a - b).abs() <= ABSOLUTE.max(RELATIVE * a.abs().max(b.abs()))
            })
    }
}

fn columns(pool: &Pool<'_>, grid: &Grid) -> Vec<Column> {
    grid.columns
        .iter()
        .map(|cells: &Vec<u32>| {
            let mut numbers = Vec::new();
            let mut others = Vec::new();
            for cell in cells {
                match pool.cell(*cell) {
                    Cell::Null => numbers.push(0.0),
                    Cell::Text(_) | Cell::Bytes(_) => others.push(*cell),
                    number => numbers.extend(number.number()),
                }
            }
            numbers.sort_unstable_by(f64::total_cmp);
            others.sort_unstable();
            Column { numbers, others }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array};

    use super::super::sample::{empty, ints, nullable, table, texts};
    use super::super::{Facts, Rule, Verdict};

    fn verdict_of(gold: &syrch_core::ResultSet, predicted: &syrch_core::ResultSet) -> Verdict {
        Rule::SPIDER2.compare(gold, predicted, Facts::default())
    }

    fn reals(cells: &[f64]) -> ArrayRef {
        Arc::new(Float64Array::from(cells.to_vec()))
    }

    #[test]
    fn the_expected_columns_are_looked_for_one_by_one() {
        let gold = table(vec![ints(&[1, 2]), texts(&["a", "b"])]);
        let more = table(vec![texts(&["x", "y"]), texts(&["b", "a"]), ints(&[1, 2])]);
        assert_eq!(
            (verdict_of(&gold, &more), verdict_of(&more, &gold)),
            (Verdict::Right, Verdict::Wrong)
        );
        // Columns are not held together by rows, and one stands for two.
        assert_eq!(
            verdict_of(&table(vec![ints(&[1, 2]), ints(&[2, 1])]), &table(vec![ints(&[1, 2])])),
            Verdict::Right
        );
    }

    #[test]
    fn numbers_are_near_and_null_is_nought() {
        assert_eq!(
            verdict_of(&table(vec![reals(&[9.999, 2.0])]), &table(vec![reals(&[2.0, 10.001])])),
            Verdict::Right
        );
        assert_eq!(
            verdict_of(&table(vec![reals(&[1.0])]), &table(vec![reals(&[1.02])])),
            Verdict::Wrong
        );
        assert_eq!(
            verdict_of(&table(vec![reals(&[2e10])]), &table(vec![reals(&[2e10 + 1.0])])),
            Verdict::Right
        );
        assert_eq!(
            verdict_of(&table(vec![nullable(&[None, Some(1)])]), &table(vec![ints(&[1, 0])])),
            Verdict::Right
        );
        assert_eq!(
            verdict_of(&table(vec![texts(&["0"])]), &table(vec![ints(&[0])])),
            Verdict::Wrong
        );
    }

    #[test]
    fn nothing_against_nothing_is_right() {
        assert_eq!(verdict_of(&empty(&["a"]), &empty(&["b"])), Verdict::Right);
        assert_eq!(verdict_of(&empty(&["a"]), &table(vec![ints(&[1])])), Verdict::Wrong);
    }
}
