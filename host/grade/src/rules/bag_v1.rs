//! `bag-v1`, the default rule: rows as a multiset, columns in any order, numbers to a relative
//! 1e-6, NULL equal to NULL; the order of rows counts only when the question asks for one. Where no
//! expected result has rows the question is excluded, whatever the answer is: an empty result is no
//! information, since almost any wrong statement has one.

use syrch_core::ResultSet;

use super::cells::Pair;
use super::fingerprint::{self, Rounding};
use super::matching::{Same, columns_match};
use super::{Facts, Rule, RuleDef, Verdict};

/// The greatest relative difference of two equal numbers, as a part of the greater.
const TOLERANCE: f64 = 1e-6;

pub(super) const BAG_V1: RuleDef = RuleDef {
    name: "bag-v1",
    summary: "rows as a multiset, columns in any order, row order when asked for, numbers to 1e-6; \
              empty is excluded",
    empty_is_informative: false,
    counts_columns: true,
    compare,
    fingerprint: |sheet, facts| {
        fingerprint::digest_bag(sheet, Rounding::Significant, facts.ordered)
    },
};

fn compare(pair: &Pair<'_>, facts: Facts) -> Verdict {
    Verdict::right_if(columns_match(
        pair,
        facts.ordered,
        &Same { pool: &pair.pool, tolerance: TOLERANCE },
    ))
}

/// Compares a prediction with one expected result by [`Rule::BAG_V1`]. `ordered`: the question asks
/// for an order of rows.
#[must_use]
pub fn bag_v1(gold: &ResultSet, predicted: &ResultSet, ordered: bool) -> Verdict {
    Rule::BAG_V1.compare(gold, predicted, Facts { ordered, ..Facts::default() })
}

/// Compares a prediction with several expected results: any one suffices. Excluded when none of
/// them has rows.
#[must_use]
pub fn bag_v1_any<'a>(
    golds: impl IntoIterator<Item = &'a ResultSet>,
    predicted: &ResultSet,
    ordered: bool,
) -> Verdict {
    let facts = Facts { ordered, ..Facts::default() };
    Rule::BAG_V1.any(golds.into_iter().map(|gold| (gold, facts)), predicted)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use proptest::prelude::*;

    use super::super::sample::table as result;
    use super::*;

    /// A result of columns of numbers.
    fn numbers(columns: &[Vec<Option<i64>>]) -> ResultSet {
        result(
            columns
                .iter()
                .map(|column| Arc::new(Int64Array::from(column.clone())) as ArrayRef)
                .collect(),
        )
    }

    fn column(cells: &[i64]) -> Vec<Option<i64>> {
        cells.iter().map(|cell| Some(*cell)).collect()
    }

    #[test]
    fn rows_are_a_multiset_unless_an_order_is_asked_for() {
        let a = numbers(&[column(&[1, 2, 2])]);
        let b = numbers(&[column(&[2, 1, 2])]);
        assert_eq!(bag_v1(&a, &b, false), Verdict::Right);
        assert_eq!(bag_v1(&a, &b, true), Verdict::Wrong);
        assert_eq!(bag_v1(&a, &a, true), Verdict::Right);
        assert_eq!(bag_v1(&a, &numbers(&[column(&[1, 1, 2])]), false), Verdict::Wrong);
        assert_eq!(bag_v1(&a, &numbers(&[column(&[1, 2])]), false), Verdict::Wrong);
    }

    #[test]
    fn numbers_are_equal_within_the_tolerance_and_across_types() {
        let whole = numbers(&[column(&[3, 1])]);
        let real = result(vec![Arc::new(Float64Array::from(vec![1.000_000_4, 3.0]))]);
        assert_eq!(bag_v1(&whole, &real, false), Verdict::Right);
        let far = result(vec![Arc::new(Float64Array::from(vec![1.000_01, 3.0]))]);
        assert_eq!(bag_v1(&whole, &far, false), Verdict::Wrong);
        let text = result(vec![Arc::new(StringArray::from(vec!["3", "1"]))]);
        assert_eq!(bag_v1(&whole, &text, false), Verdict::Wrong);
    }

    #[test]
    fn rows_may_be_set_apart_by_the_tolerance() {
        fn pair(a: f64, b: f64) -> ResultSet {
            result(vec![
                Arc::new(Float64Array::from(vec![a, b])),
                Arc::new(Int64Array::from(vec![1, 2])),
            ])
        }
        assert_eq!(bag_v1(&pair(1.0, 1.000_000_1), &pair(1.000_000_1, 1.0), false), Verdict::Right);
    }

    #[test]
    fn null_equals_null_only() {
        let nulls = numbers(&[vec![None, Some(1)]]);
        assert_eq!(bag_v1(&nulls, &numbers(&[vec![Some(1), None]]), false), Verdict::Right);
        assert_eq!(bag_v1(&nulls, &numbers(&[column(&[0, 1])]), false), Verdict::Wrong);
    }

    #[test]
    fn an_empty_expected_result_is_excluded_whatever_the_answer_is() {
        let empty = numbers(&[Vec::new()]);
        let one = numbers(&[column(&[1])]);
        assert_eq!(bag_v1(&empty, &numbers(&[Vec::new(), Vec::new()]), false), Verdict::Excluded);
        assert_eq!(bag_v1(&empty, &one, false), Verdict::Excluded);
        assert_eq!(bag_v1(&one, &empty, false), Verdict::Wrong);
        assert!(!Verdict::Excluded.is_right());
    }

    #[test]
    fn columns_with_the_same_cells_are_distinguished_by_their_rows() {
        let a = numbers(&[column(&[1, 2, 3]), column(&[3, 1, 2]), column(&[7, 8, 9])]);
        let swapped = numbers(&[column(&[3, 1, 2]), column(&[1, 2, 3]), column(&[7, 8, 9])]);
        assert_eq!(bag_v1(&a, &swapped, false), Verdict::Right);
        let crossed = numbers(&[column(&[1, 2, 3]), column(&[2, 3, 1]), column(&[7, 8, 9])]);
        assert_eq!(bag_v1(&a, &crossed, false), Verdict::Wrong);
    }

    #[test]
    fn many_columns_of_the_same_cells_are_bounded() {
        let gold: Vec<_> = (0..24)
            .map(|by: usize| column(&(0..40).map(|i| ((i + by) % 40) as i64).collect::<Vec<_>>()))
            .collect();
        // Every column a rotation of every other, and the last one crossed: no assignment fits.
        let mut predicted = gold.clone();
        predicted[23] = column(&(0..40).rev().collect::<Vec<_>>());
        assert_eq!(bag_v1(&numbers(&gold), &numbers(&predicted), false), Verdict::Wrong);
    }

    #[test]
    fn any_of_several_expected_results_suffices() {
        let one = numbers(&[column(&[1])]);
        let two = numbers(&[column(&[2])]);
        assert_eq!(bag_v1_any([&one, &two], &two, false), Verdict::Right);
        assert_eq!(bag_v1_any([&one], &two, false), Verdict::Wrong);
        // What is empty is passed over where another has rows.
        let empty = numbers(&[vec![]]);
        assert_eq!(bag_v1_any([&one, &empty], &empty, false), Verdict::Wrong);
        assert_eq!(bag_v1_any([&empty, &one], &one, false), Verdict::Right);
        assert_eq!(bag_v1_any([&empty, &empty], &one, false), Verdict::Excluded);
    }

    fn tables() -> impl Strategy<Value = Vec<Vec<Option<i64>>>> {
        (1..5_usize, 1..12_usize).prop_flat_map(|(width, height)| {
            let cell = proptest::option::weighted(0.9, 0..4_i64);
            proptest::collection::vec(proptest::collection::vec(cell, height), width)
        })
    }

    proptest! {
        #[test]
        fn permuting_rows_and_columns_keeps_the_verdict(
            (table, rows, columns) in tables().prop_flat_map(|table| {
                let rows = Just((0..table[0].len()).collect::<Vec<_>>()).prop_shuffle();
                let columns = Just((0..table.len()).collect::<Vec<_>>()).prop_shuffle();
                (Just(table), rows, columns)
            })
        ) {
            let permuted: Vec<Vec<Option<i64>>> =
                columns
                    .iter()
                    .map(|column| rows.iter().map(|row| table[*column][*row]).collect())
                    .collect();
            prop_assert_eq!(bag_v1(&numbers(&table), &numbers(&permuted), false), Verdict::Right);
            let columns_only: Vec<_> =
                columns.iter().map(|column| table[*column].clone()).collect();
            prop_assert_eq!(
                bag_v1(&numbers(&table), &numbers(&columns_only), true), Verdict::Right
            );
        }

        #[test]
        fn changing_a_cell_breaks_it(table in tables(), column in 0..5_usize, row in 0..12_usize) {
            let mut changed = table.clone();
            let column = column % table.len();
            let row = row % table[0].len();
            changed[column][row] = Some(99);
            prop_assert_eq!(bag_v1(&numbers(&table), &numbers(&changed), false), Verdict::Wrong);
            prop_assert_eq!(bag_v1(&numbers(&table), &numbers(&changed), true), Verdict::Wrong);
        }
    }
}
