//! Digests of results, one for each way to compare them: results that a rule calls equal have equal
//! digests, so that a run can be graded under another rule, or against another expected result,
//! without running a statement again.
//!
//! Numbers within a tolerance are rounded first, to six significant digits or two decimals. Two
//! that are equal within the tolerance and lie on different sides of a rounding edge then have
//! different fingerprints although they are equal by the rule.
//!
//! If columns may stand in any order, rows and columns are coloured by each other in turn
//! (Weisfeiler and Leman 1968): the digest does not depend on either order, and results that differ
//! have, but for contrived ones, different colours.

use sha2::{Digest, Sha256};
use syrch_basics::{Random, fnv1a, mix};

use super::cells::{Cell, Sheet};

/// The number of rounds in which rows and columns are coloured.
const ROUNDS: usize = 3;

/// The rounding of numbers before they are compared by their digests.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rounding {
    /// Numbers stay as they are.
    None,
    /// Numbers are rounded to six significant digits.
    Significant,
    /// Two decimals, and NULL is 0.
    Decimals,
}

/// Rows as a set, columns by position.
pub(super) fn digest_set(sheet: &Sheet<'_>, rounding: Rounding) -> String {
    let mut rows = rows(sheet, rounding);
    rows.sort_unstable();
    rows.dedup();
    digest(sheet, &[&rows])
}

/// Rows in sequence, columns by position and name.
pub(super) fn digest_sequence(sheet: &Sheet<'_>) -> String {
    let fields = sheet.result.schema().fields();
    let names: Vec<u64> =
        fields.iter().map(|field| text(b'c', field.name().to_lowercase().as_bytes())).collect();
    digest(sheet, &[&names, &rows(sheet, Rounding::None)])
}

/// Each column on its own, its cells sorted; equal columns once.
pub(super) fn digest_columns(sheet: &Sheet<'_>) -> String {
    let marks = marks(sheet, Rounding::Decimals);
    let mut columns: Vec<u64> = sheet
        .grid
        .columns
        .iter()
        .map(|cells: &Vec<u32>| {
            cells.iter().fold(0, |sum: u64, cell| sum.wrapping_add(mix(marks[*cell as usize])))
        })
        .collect();
    columns.sort_unstable();
    columns.dedup();
    digest(sheet, &[&[sheet.grid.height as u64], &columns])
}

/// Rows as a multiset, or in sequence, and columns in any order. Without rows, columns do not
/// count.
pub(super) fn digest_bag(sheet: &Sheet<'_>, rounding: Rounding, ordered: bool) -> String {
    let height = sheet.grid.height;
    let width = sheet.grid.width();
    if height == 0 {
        return digest(sheet, &[]);
    }
    let marks = marks(sheet, rounding);
    let mut rows: Vec<u64> =
        (0..height as u64).map(|row| if ordered { row + 1 } else { 0 }).collect();
    let mut columns = vec![0_u64; width];
    for _ in 0..ROUNDS {
        let mut sums = vec![0_u64; height];
        for (cells, colour) in sheet.grid.columns.iter().zip(&columns) {
            for (sum, cell) in sums.iter_mut().zip(cells) {
                *sum = sum.wrapping_add(both(marks[*cell as usize], *colour));
            }
        }
        rows.iter_mut().zip(sums).for_each(|(row, sum)| *row = both(*row, sum));
        for (cells, colour) in sheet.grid.columns.iter().zip(&mut columns) {
            let seen = cells.iter().zip(&rows).map(|(cell, row)| both(marks[*cell as usize], *row));
            *colour = both(*colour, seen.fold(0, u64::wrapping_add));
        }
    }
    rows.sort_unstable();
    columns.sort_unstable();
    digest(sheet, &[&rows, &columns])
}

/// A digest of each row, its cells from the left.
fn rows(sheet: &Sheet<'_>, rounding: Rounding) -> Vec<u64> {
    let marks = marks(sheet, rounding);
    let mut rows = vec![sheet.grid.width() as u64; sheet.grid.height];
    for cells in &sheet.grid.columns {
        rows.iter_mut().zip(cells).for_each(|(row, cell)| *row = both(*row, marks[*cell as usize]));
    }
    rows
}

/// A digest of each cell of the pool.
fn marks(sheet: &Sheet<'_>, rounding: Rounding) -> Vec<u64> {
    sheet.pool.cells().iter().map(|cell| mark(*cell, rounding)).collect()
}

fn mark(cell: Cell<'_>, rounding: Rounding) -> u64 {
    let cell = match (rounding, cell) {
        (Rounding::Decimals, Cell::Null) => Cell::Whole(0),
        (_, cell) => cell,
    };
    match (rounding, cell.number()) {
        (Rounding::Significant, Some(number)) => text(b'n', format!("{number:.5e}").as_bytes()),
        (Rounding::Decimals, Some(number)) => {
            let rounded = format!("{number:.2}");
            text(b'n', if rounded == "-0.00" { b"0.00" } else { rounded.as_bytes() })
        }
        _ => exact(cell),
    }
}

fn exact(cell: Cell<'_>) -> u64 {
    match cell {
        Cell::Null => text(b'0', &[]),
        Cell::Whole(value) => text(b'i', &value.to_le_bytes()),
        Cell::Real(real) => text(b'r', &real.value().to_bits().to_le_bytes()),
        Cell::Text(value) => text(b't', value.as_bytes()),
        Cell::Bytes(value) => text(b'b', value),
    }
}

/// FNV-1a over a tag and bytes, mixed.
fn text(tag: u8, bytes: &[u8]) -> u64 {
    mix(fnv1a(std::iter::once(tag).chain(bytes.iter().copied())))
}

fn both(first: u64, second: u64) -> u64 {
    mix(first.wrapping_mul(Random::STEP).wrapping_add(second).wrapping_add(Random::STEP))
}

/// 128 bits in hex over lists of numbers, and over whether a cap cut the result.
fn digest(sheet: &Sheet<'_>, lists: &[&[u64]]) -> String {
    let mut hasher = Sha256::new();
    hasher.update([u8::from(sheet.result.is_truncated())]);
    for list in lists {
        hasher.update((list.len() as u64).to_le_bytes());
        list.iter().for_each(|number| hasher.update(number.to_le_bytes()));
    }
    syrch_core::text::hex(&hasher.finalize()[..16])
}
