//! `bag-v1`, the default rule: rows as a multiset, columns in any order, numbers to a relative 1e-6, NULL equal to NULL; the order
//! of rows counts only when the question asks for one.

use std::cmp::Ordering;

use syrch_core::{ResultSet, Value};

use super::Verdict;

/// How far apart two equal numbers may be, as a part of the greater.
const TOLERANCE: f64 = 1e-6;
/// How many assignments of columns are tried. Columns are told apart by their own cells first, so that only columns with the same
/// cells are ever exchanged; a result that needs more is wrong for all practical purposes.
const ATTEMPTS: u32 = 5_000;

/// Compares a prediction with one expected result. `ordered`: the question asks for an order of rows.
#[must_use]
pub fn bag_v1(gold: &ResultSet, predicted: &ResultSet, ordered: bool) -> Verdict {
    let (gold, predicted) = (rows(gold), rows(predicted));
    if gold.is_empty() && predicted.is_empty() {
        return Verdict::Excluded;
    }
    let width = |rows: &[Vec<Cell>]| rows.first().map_or(0, Vec::len);
    if gold.len() != predicted.len() || width(&gold) != width(&predicted) {
        return Verdict::Wrong;
    }
    let Some(candidates) = candidates(&gold, &predicted, ordered) else { return Verdict::Wrong };
    let mut matching = Matching {
        gold: &gold,
        predicted: &predicted,
        ordered,
        candidates: &candidates,
        order: scarcest_first(&candidates),
        assigned: vec![None; candidates.len()],
        attempts: ATTEMPTS,
    };
    if matching.extend(0) { Verdict::Right } else { Verdict::Wrong }
}

/// Compares a prediction with several expected results: any one suffices. Excluded when none matches and one cannot tell.
#[must_use]
pub fn bag_v1_any<'a>(golds: impl IntoIterator<Item = &'a ResultSet>, predicted: &ResultSet, ordered: bool) -> Verdict {
    let mut best = Verdict::Wrong;
    for gold in golds {
        match bag_v1(gold, predicted, ordered) {
            Verdict::Right => return Verdict::Right,
            Verdict::Excluded => best = Verdict::Excluded,
            Verdict::Wrong => {}
        }
    }
    best
}

/// A cell as it is compared: numbers of all types are one kind.
#[derive(Debug, Clone)]
enum Cell {
    Null,
    Number(f64),
    Text(String),
    Bytes(Vec<u8>),
}

fn rows(result: &ResultSet) -> Vec<Vec<Cell>> {
    result.rows(0, u64::MAX).into_iter().map(|row| row.into_iter().map(Cell::from).collect()).collect()
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Number(f64::from(u8::from(value))),
            Value::Integer(value) => Self::Number(value as f64),
            Value::Real(value) => Self::Number(value),
            Value::Decimal(text) => text.parse().map_or(Self::Text(text), Self::Number),
            Value::Text(text) | Value::Temporal(text) | Value::Other(text) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}

impl Cell {
    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Number(a), Self::Number(b)) => {
                a.total_cmp(b) == Ordering::Equal || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
            }
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            _ => false,
        }
    }

    /// A total order; numbers by value, so that nearly equal numbers stand side by side.
    fn compare(&self, other: &Self) -> Ordering {
        let rank = |cell: &Self| match cell {
            Self::Null => 0,
            Self::Number(_) => 1,
            Self::Text(_) => 2,
            Self::Bytes(_) => 3,
        };
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

/// For each column of the expected result, the predicted columns that hold the same cells. None when one has none.
fn candidates(gold: &[Vec<Cell>], predicted: &[Vec<Cell>], ordered: bool) -> Option<Vec<Vec<usize>>> {
    let columns = |rows: &[Vec<Cell>]| -> Vec<Vec<Cell>> {
        let width = rows.first().map_or(0, Vec::len);
        (0..width)
            .map(|at| {
                let mut cells: Vec<Cell> = rows.iter().map(|row| row[at].clone()).collect();
                if !ordered {
                    cells.sort_by(Cell::compare);
                }
                cells
            })
            .collect()
    };
    let (gold, predicted) = (columns(gold), columns(predicted));
    let same = |a: &[Cell], b: &[Cell]| a.iter().zip(b).all(|(a, b)| a.equals(b));
    let fitting = |column: &Vec<Cell>| -> Vec<usize> {
        (0..predicted.len()).filter(|at| same(column, &predicted[*at])).collect()
    };
    let candidates: Vec<Vec<usize>> = gold.iter().map(fitting).collect();
    candidates.iter().all(|list| !list.is_empty()).then_some(candidates)
}

/// Columns with few candidates first: they decide the rest.
fn scarcest_first(candidates: &[Vec<usize>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|column| candidates[*column].len());
    order
}

/// The search for an assignment of predicted columns to expected ones under which the rows agree.
struct Matching<'a> {
    gold: &'a [Vec<Cell>],
    predicted: &'a [Vec<Cell>],
    ordered: bool,
    candidates: &'a [Vec<usize>],
    order: Vec<usize>,
    assigned: Vec<Option<usize>>,
    attempts: u32,
}

impl Matching<'_> {
    /// Assigns the columns from `depth` on; the rows over the columns assigned so far already agree.
    fn extend(&mut self, depth: usize) -> bool {
        let Some(column) = self.order.get(depth).copied() else { return true };
        for candidate in &self.candidates[column] {
            if self.assigned.contains(&Some(*candidate)) {
                continue;
            }
            if self.attempts == 0 {
                return false;
            }
            self.attempts -= 1;
            self.assigned[column] = Some(*candidate);
            if self.agree(depth + 1) && self.extend(depth + 1) {
                return true;
            }
            self.assigned[column] = None;
        }
        false
    }

    /// Whether the rows agree over the first columns of the order: a wrong assignment is noticed as soon as it is made.
    fn agree(&self, depth: usize) -> bool {
        if depth == 1 || self.ordered {
            // Single columns were compared when the candidates were chosen; in sequence, that is all there is to compare.
            return true;
        }
        let columns: Vec<(usize, usize)> =
            self.order[..depth].iter().filter_map(|gold| Some((*gold, self.assigned[*gold]?))).collect();
        let gold = sorted(self.gold, columns.iter().map(|(gold, _)| *gold).collect());
        let predicted = sorted(self.predicted, columns.iter().map(|(_, predicted)| *predicted).collect());
        gold.iter().zip(&predicted).all(|(a, b)| a.iter().zip(b).all(|(a, b)| a.equals(b)))
            || loosely(&gold, &predicted)
    }
}

fn sorted(rows: &[Vec<Cell>], columns: Vec<usize>) -> Vec<Vec<&Cell>> {
    let mut rows: Vec<Vec<&Cell>> = rows.iter().map(|row| columns.iter().map(|at| &row[*at]).collect()).collect();
    rows.sort_by(|a, b| {
        let cells = a.iter().zip(b).map(|(a, b)| a.compare(b));
        cells.fold(Ordering::Equal, Ordering::then)
    });
    rows
}

/// Sorting may set rows apart whose first numbers differ only within the tolerance: then each row looks for its equal. Only small
/// results can afford it, and only they are worth it.
fn loosely(gold: &[Vec<&Cell>], predicted: &[Vec<&Cell>]) -> bool {
    const ROWS: usize = 2_000;
    let mut free = vec![true; predicted.len()];
    let fraction = |cell: &&Cell| matches!(cell, Cell::Number(number) if number.fract() != 0.0);
    gold.len() <= ROWS
        && gold.iter().flatten().any(fraction)
        && gold.iter().all(|row| {
            let equal = |other: &Vec<&Cell>| row.iter().zip(other).all(|(a, b)| a.equals(b));
            let found = (0..predicted.len()).find(|at| free[*at] && equal(&predicted[*at]));
            found.is_some_and(|at| std::mem::replace(&mut free[at], false))
        })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use arrow_schema::{Field, Schema};
    use proptest::prelude::*;

    use super::*;

    /// A result of columns of numbers.
    fn numbers(columns: &[Vec<Option<i64>>]) -> ResultSet {
        result(columns.iter().map(|column| Arc::new(Int64Array::from(column.clone())) as ArrayRef).collect())
    }

    fn result(arrays: Vec<ArrayRef>) -> ResultSet {
        let fields: Vec<Field> = arrays.iter().map(|array| Field::new("c", array.data_type().clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
        ResultSet::new(schema, vec![batch], false, Vec::new(), String::new())
    }

    fn column(cells: &[i64]) -> Vec<Option<i64>> {
        cells.iter().map(|cell| Some(*cell)).collect()
    }

    #[test]
    fn rows_are_a_multiset_unless_an_order_is_asked_for() {
        let (a, b) = (numbers(&[column(&[1, 2, 2])]), numbers(&[column(&[2, 1, 2])]));
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
        let pair = |a: f64, b: f64| -> ResultSet {
            result(vec![Arc::new(Float64Array::from(vec![a, b])), Arc::new(Int64Array::from(vec![1, 2]))])
        };
        assert_eq!(bag_v1(&pair(1.0, 1.000_000_1), &pair(1.000_000_1, 1.0), false), Verdict::Right);
    }

    #[test]
    fn null_equals_null_only() {
        let nulls = numbers(&[vec![None, Some(1)]]);
        assert_eq!(bag_v1(&nulls, &numbers(&[vec![Some(1), None]]), false), Verdict::Right);
        assert_eq!(bag_v1(&nulls, &numbers(&[column(&[0, 1])]), false), Verdict::Wrong);
    }

    #[test]
    fn empty_against_empty_is_excluded() {
        let empty = numbers(&[Vec::new()]);
        assert_eq!(bag_v1(&empty, &numbers(&[Vec::new(), Vec::new()]), false), Verdict::Excluded);
        assert_eq!(bag_v1(&empty, &numbers(&[column(&[1])]), false), Verdict::Wrong);
        assert!(!Verdict::Excluded.is_right());
    }

    #[test]
    fn columns_with_the_same_cells_are_told_apart_by_their_rows() {
        let a = numbers(&[column(&[1, 2, 3]), column(&[3, 1, 2]), column(&[7, 8, 9])]);
        let swapped = numbers(&[column(&[3, 1, 2]), column(&[1, 2, 3]), column(&[7, 8, 9])]);
        assert_eq!(bag_v1(&a, &swapped, false), Verdict::Right);
        let crossed = numbers(&[column(&[1, 2, 3]), column(&[2, 3, 1]), column(&[7, 8, 9])]);
        assert_eq!(bag_v1(&a, &crossed, false), Verdict::Wrong);
    }

    #[test]
    fn many_columns_of_the_same_cells_come_to_an_end() {
        let turned = |by: usize| column(&(0..40).map(|i| ((i + by) % 40) as i64).collect::<Vec<_>>());
        let gold: Vec<_> = (0..24).map(turned).collect();
        // Every column a rotation of every other, and the last one crossed: no assignment fits.
        let mut predicted = gold.clone();
        predicted[23] = column(&(0..40).rev().collect::<Vec<_>>());
        assert_eq!(bag_v1(&numbers(&gold), &numbers(&predicted), false), Verdict::Wrong);
    }

    #[test]
    fn any_of_several_expected_results_suffices() {
        let (one, two) = (numbers(&[column(&[1])]), numbers(&[column(&[2])]));
        assert_eq!(bag_v1_any([&one, &two], &two, false), Verdict::Right);
        assert_eq!(bag_v1_any([&one], &two, false), Verdict::Wrong);
        assert_eq!(bag_v1_any([&one, &numbers(&[vec![]])], &numbers(&[vec![]]), false), Verdict::Excluded);
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
                columns.iter().map(|column| rows.iter().map(|row| table[*column][*row]).collect()).collect();
            prop_assert_eq!(bag_v1(&numbers(&table), &numbers(&permuted), false), Verdict::Right);
            let columns_only: Vec<_> = columns.iter().map(|column| table[*column].clone()).collect();
            prop_assert_eq!(bag_v1(&numbers(&table), &numbers(&columns_only), true), Verdict::Right);
        }

        #[test]
        fn changing_a_cell_breaks_it(table in tables(), column in 0..5_usize, row in 0..12_usize) {
            let mut changed = table.clone();
            let (column, row) = (column % table.len(), row % table[0].len());
            changed[column][row] = Some(99);
            prop_assert_eq!(bag_v1(&numbers(&table), &numbers(&changed), false), Verdict::Wrong);
            prop_assert_eq!(bag_v1(&numbers(&table), &numbers(&changed), true), Verdict::Wrong);
        }
    }
}
