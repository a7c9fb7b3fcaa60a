//! Soft-F1: how much of the expected cells a prediction holds.

use std::collections::HashSet;

use syrch_core::ResultSet;

use super::cells::{Grid, Pair};

/// Soft-F1 as BIRD's mini-dev computes it (`calculate_f1_score` in its `evaluation_f1.py`), from 0
/// to 1: the different rows of both results are laid beside each other in the order of their first
/// occurrence; of each pair, the parts of cells that both have, that only the prediction has, and
/// that only the expected row has are added up as true positives, false positives and false
/// negatives. All parts are of the expected row's width, and rows without a partner count as 1. Two
/// results without rows have 1. Of a result that a cap cut, what was kept counts.
#[must_use]
pub fn soft_f1(gold: &ResultSet, predicted: &ResultSet) -> f64 {
    let pair = Pair::new(gold, predicted);
    let gold = different_rows(&pair.gold);
    let predicted = different_rows(&pair.predicted);
    if gold.is_empty() && predicted.is_empty() {
        return 1.0;
    }
    let mut parts = Parts::default();
    for (at, row) in gold.iter().enumerate() {
        match predicted.get(at) {
            Some(other) => parts.add(row, other),
            None => parts.gold_only += 1.0,
        }
    }
    parts.predicted_only += predicted.len().saturating_sub(gold.len()) as f64;
    parts.f1()
}

/// The best [`soft_f1`] over several expected results; 0 over none.
#[must_use]
pub fn soft_f1_any<'a>(
    golds: impl IntoIterator<Item = &'a ResultSet>,
    predicted: &ResultSet,
) -> f64 {
    golds.into_iter().map(|gold| soft_f1(gold, predicted)).fold(0.0, f64::max)
}

/// The different rows in the order of their first occurrence.
fn different_rows(grid: &Grid) -> Vec<Vec<u32>> {
    let mut seen = HashSet::with_capacity(grid.height);
    grid.rows().filter(|row| seen.insert(row.clone())).collect()
}

#[derive(Default)]
struct Parts {
    matched: f64,
    predicted_only: f64,
    gold_only: f64,
}

impl Parts {
    /// Adds the parts of one row that has a partner.
    fn add(&mut self, gold: &[u32], predicted: &[u32]) {
        let width = gold.len().max(1) as f64;
        let found = count_shared_cells(predicted, gold);
        self.matched += found as f64 / width;
        self.predicted_only += (predicted.len() - found) as f64 / width;
        self.gold_only += (gold.len() - count_shared_cells(gold, predicted)) as f64 / width;
    }

    fn f1(&self) -> f64 {
        let share = |of: f64| if of > 0.0 { self.matched / of } else { 0.0 };
        let precision = share(self.matched + self.predicted_only);
        let recall = share(self.matched + self.gold_only);
        if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
    }
}

/// Counts the cells of a row that occur in another.
fn count_shared_cells(row: &[u32], other: &[u32]) -> usize {
    let mut sorted = other.to_vec();
    sorted.sort_unstable();
    row.iter().filter(|cell| sorted.binary_search(cell).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{empty, ints, table, texts};
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    /// The example of the mini-dev's documentation: three rows of two columns, and of the second
    /// and third row only one cell is right.
    #[test]
    fn parts_of_rows_are_counted() {
        let gold = table(vec![texts(&["Apple", "Orange", "Banana"]), ints(&[325, 191, 119])]);
        let same = table(vec![ints(&[325, 191, 119]), texts(&["Apple", "Orange", "Banana"])]);
        near(soft_f1(&gold, &same), 1.0);
        let reals: arrow_array::ArrayRef =
            std::sync::Arc::new(arrow_array::Float64Array::from(vec![191.0]));
        let partial = table(vec![ints(&[325, 191])]);
        // The rows (325) and (191) each hold half of their partner; the third has none: 1 matched,
        // 0 too many, 2 missed.
        near(soft_f1(&gold, &partial), 2.0 * (1.0 / 3.0) / (1.0 + 1.0 / 3.0));
        near(soft_f1(&table(vec![ints(&[191])]), &table(vec![reals])), 1.0);
    }

    #[test]
    fn rows_that_only_one_side_has_count_whole() {
        let one = table(vec![ints(&[1])]);
        let two = table(vec![ints(&[1, 2])]);
        near(soft_f1(&one, &two), 2.0 * 0.5 / 1.5);
        near(soft_f1(&two, &one), 2.0 * 0.5 / 1.5);
        near(soft_f1(&two, &table(vec![ints(&[1, 1, 2, 1])])), 1.0);
        near(soft_f1(&one, &empty(&["a"])), 0.0);
        near(soft_f1(&empty(&["a"]), &one), 0.0);
        near(soft_f1(&empty(&["a"]), &empty(&["b"])), 1.0);
        near(soft_f1_any([&one, &two], &two), 1.0);
        near(soft_f1_any([], &two), 0.0);
    }

    /// A predicted row may be wider than the expected one: its surplus counts by the expected
    /// width.
    #[test]
    fn a_wider_row_has_more_than_one_part_too_many() {
        let gold = table(vec![ints(&[1])]);
        let wide = table(vec![ints(&[1]), ints(&[2]), ints(&[3])]);
        near(soft_f1(&gold, &wide), 2.0 * (1.0 / 3.0) / (1.0 + 1.0 / 3.0));
    }
}
