//! The search for an order of a prediction's columns under which its rows are the expected ones,
//! for the rules that let columns stand in any order. Its work is bounded: columns are
//! distinguished by their own cells first, so that only columns with the same cells are ever
//! exchanged, and a result that needs more is wrong for all practical purposes.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::cells::{Cell, Grid, Pair, Pool};

/// The greatest number of assignments that are tried for a column.
const ATTEMPTS: u32 = 5_000;
/// The greatest number of cells that are visited in all attempts together.
const VISITS: u64 = 200_000_000;
/// The greatest number of rows that may look for their equals one by one.
const LOOSE_ROWS: usize = 2_000;

/// When two cells are the same.
pub(super) struct Same<'a> {
    pub(super) pool: &'a Pool<'a>,
    /// The greatest relative difference of two equal numbers, as a part of the greater. 0 means not
    /// at all.
    pub(super) tolerance: f64,
}

impl Same<'_> {
    fn holds(&self, a: u32, b: u32) -> bool {
        a == b || (self.tolerance > 0.0 && self.near(a, b))
    }

    fn near(&self, a: u32, b: u32) -> bool {
        let (Some(a), Some(b)) = (self.pool.cell(a).number(), self.pool.cell(b).number()) else {
            return false;
        };
        a.total_cmp(&b) == Ordering::Equal || (a - b).abs() <= self.tolerance * a.abs().max(b.abs())
    }

    fn all(&self, a: &[u32], b: &[u32]) -> bool {
        a.iter().zip(b).all(|(a, b)| self.holds(*a, *b))
    }
}

/// Returns true if the predicted columns can be put in an order under which both results have the
/// same rows: as a multiset, or in their sequence.
pub(super) fn columns_match(pair: &Pair<'_>, ordered: bool, same: &Same<'_>) -> bool {
    let gold = &pair.gold;
    let predicted = &pair.predicted;
    if gold.height != predicted.height || gold.width() != predicted.width() {
        return false;
    }
    let candidates = candidates(gold, predicted, ordered, same);
    if candidates.iter().any(|list| crowd(list, &candidates) > list.len()) {
        return false;
    }
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    // Columns with few candidates decide the rest.
    order.sort_by_key(|column| candidates[*column].len());
    fn start(gold: &Grid) -> Vec<u32> {
        vec![0; gold.height]
    }
    let rows = Classes { gold: start(gold), predicted: start(gold) };
    let twins = firsts(&predicted.columns);
    let attempts = ATTEMPTS;
    let visits = VISITS;
    Search { pair, ordered, same, candidates, order, twins, assigned: Vec::new(), attempts, visits }
        .extend(&rows)
}

/// For each expected column, the predicted ones that hold the same cells.
fn candidates(gold: &Grid, predicted: &Grid, ordered: bool, same: &Same<'_>) -> Vec<Vec<usize>> {
    let columns = |grid: &Grid| -> Vec<Vec<u32>> {
        let mut columns = grid.columns.clone();
        if !ordered {
            columns.iter_mut().for_each(|column| column.sort_unstable());
        }
        columns
    };
    let gold = columns(gold);
    let predicted = columns(predicted);
    let firsts_of_gold = firsts(&gold);
    let firsts_of_predicted = firsts(&predicted);
    let mut known: HashMap<(usize, usize), bool> = HashMap::new();
    let mut fits = |column: usize, at: usize| {
        let pair = (firsts_of_gold[column], firsts_of_predicted[at]);
        *known.entry(pair).or_insert_with(|| same.all(&gold[pair.0], &predicted[pair.1]))
    };
    (0..gold.len())
        .map(|column| (0..predicted.len()).filter(|at| fits(column, *at)).collect())
        .collect()
}

/// Counts the columns that want one of these: if more than there are, no assignment exists.
fn crowd(list: &[usize], candidates: &[Vec<usize>]) -> usize {
    candidates.iter().filter(|other| *other == list).count()
}

/// For each column the first that is the same.
fn firsts(columns: &[Vec<u32>]) -> Vec<usize> {
    let mut seen: HashMap<&[u32], usize> = HashMap::new();
    columns.iter().enumerate().map(|(at, column)| *seen.entry(column).or_insert(at)).collect()
}

/// For each row of both results, its place among the different rows over the columns assigned so
/// far.
struct Classes {
    gold: Vec<u32>,
    predicted: Vec<u32>,
}

struct Search<'a> {
    pair: &'a Pair<'a>,
    ordered: bool,
    same: &'a Same<'a>,
    candidates: Vec<Vec<usize>>,
    order: Vec<usize>,
    /// For each predicted column the first with the same cells in the same sequence: exchanging the
    /// two changes nothing.
    twins: Vec<usize>,
    /// Expected and predicted columns, in [`Search::order`].
    assigned: Vec<(usize, usize)>,
    attempts: u32,
    visits: u64,
}

impl Search<'_> {
    /// Assigns the next column and those after it; the rows over the columns assigned so far
    /// already agree.
    fn extend(&mut self, rows: &Classes) -> bool {
        let Some(column) = self.order.get(self.assigned.len()).copied() else { return true };
        let mut tried = Vec::new();
        for candidate in self.candidates[column].clone() {
            let is_taken = self.assigned.iter().any(|(_, predicted)| *predicted == candidate);
            if is_taken || tried.contains(&self.twins[candidate]) {
                continue;
            }
            tried.push(self.twins[candidate]);
            if !self.pay() {
                return false;
            }
            self.assigned.push((column, candidate));
            if let Some(refined) = self.refine(rows)
                && self.extend(&refined)
            {
                return true;
            }
            self.assigned.pop();
        }
        false
    }

    /// Takes one attempt off the budget. Returns true if it may be made.
    fn pay(&mut self) -> bool {
        let cells = self.pair.gold.height as u64 * (self.assigned.len() as u64 + 4);
        let can = self.attempts > 0 && self.visits >= cells;
        self.attempts = self.attempts.saturating_sub(1);
        self.visits = self.visits.saturating_sub(cells);
        can
    }

    /// The rows over one more column, when they agree: a wrong assignment is noticed as soon as it
    /// is made.
    fn refine(&mut self, rows: &Classes) -> Option<Classes> {
        if self.ordered {
            // In sequence, single columns are all there is to compare, and that was done when the
            // candidates were chosen.
            return Some(Classes { gold: Vec::new(), predicted: Vec::new() });
        }
        let (column, candidate) = self.assigned.last().copied()?;
        let (gold_order, gold) = sort_rows(&rows.gold, &self.pair.gold.columns[column]);
        let (order, predicted) =
            sort_rows(&rows.predicted, &self.pair.predicted.columns[candidate]);
        let agree = self.assigned.iter().all(|(column, candidate)| {
            let column = &self.pair.gold.columns[*column];
            let candidate = &self.pair.predicted.columns[*candidate];
            gold_order
                .iter()
                .zip(&order)
                .all(|(a, b)| self.same.holds(column[*a as usize], candidate[*b as usize]))
        });
        (agree || self.loosely()).then_some(Classes { gold, predicted })
    }

    /// Sorting may set rows apart whose first numbers differ only within the tolerance: then each
    /// row looks for its equal. Only small results can afford it, and only they are worth it.
    fn loosely(&mut self) -> bool {
        let Pair { pool, gold, predicted, .. } = self.pair;
        let cost = gold.height as u64 * gold.height as u64;
        if self.same.tolerance == 0.0
            || gold.height > LOOSE_ROWS
            || self.visits < cost
            || !self.assigned.iter().any(|(column, _): &(usize, usize)| {
                gold.columns[*column].iter().any(|cell| matches!(pool.cell(*cell), Cell::Real(_)))
            })
        {
            return false;
        }
        self.visits -= cost;
        let mut free = vec![true; predicted.height];
        (0..gold.height).all(|row| {
            let equals = |other: usize| {
                let mut columns = self.assigned.iter();
                columns.all(|(a, b)| {
                    self.same.holds(gold.columns[*a][row], predicted.columns[*b][other])
                })
            };
            let found = (0..predicted.height).find(|other| free[*other] && equals(*other));
            found.is_some_and(|other| std::mem::replace(&mut free[other], false))
        })
    }
}

/// The rows sorted by their classes and, within these, by one more column; and their classes with
/// it.
fn sort_rows(classes: &[u32], column: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut keys: Vec<(u32, u32, u32)> = classes
        .iter()
        .zip(column)
        .zip(0..)
        .map(|((class, cell), row)| (*class, *cell, row))
        .collect();
    keys.sort_unstable();
    let mut refined = vec![0; keys.len()];
    let mut class = 0;
    let mut last = None;
    for (before, cell, row) in &keys {
        if last.replace((before, cell)).is_some_and(|last| last != (before, cell)) {
            class += 1;
        }
        refined[*row as usize] = class;
    }
    (keys.into_iter().map(|(_, _, row)| row).collect(), refined)
}
