//! Cells as the rules compare them. Those of the results in hand are numbered in their order, so
//! that the rules compare and sort small numbers, and a result of many rows costs four bytes a cell
//! beside its own.

use std::cmp::Ordering;
use std::collections::HashMap;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int64Array,
    StringArray,
};
use arrow_schema::DataType;
use syrch_core::ResultSet;

/// 2^63: reals below it and not below its negative fit `i64` when they are whole.
const WHOLE: f64 = 9_223_372_036_854_775_808.0;

/// A cell. Two are the same when Python calls them equal: 1, 1.0 and true are, 1 and '1' are not,
/// and NULL is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Cell<'a> {
    Null,
    /// Whole numbers, whichever type held them, and truth values.
    Whole(i64),
    /// Numbers that are no whole numbers.
    Real(Real),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// The bits of a number that is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Real(u64);

impl Real {
    pub(super) fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl<'a> Cell<'a> {
    fn at(column: &'a ArrayRef, row: usize) -> Self {
        if column.is_null(row) {
            return Self::Null;
        }
        let any = column.as_any();
        match column.data_type() {
            DataType::Utf8 => {
                any.downcast_ref::<StringArray>().map(|cells| Self::Text(cells.value(row)))
            }
            DataType::Int64 => {
                any.downcast_ref::<Int64Array>().map(|cells| Self::Whole(cells.value(row)))
            }
            DataType::Float64 => {
                any.downcast_ref::<Float64Array>().map(|cells| Self::real(cells.value(row)))
            }
            DataType::Decimal128(_, scale) => any
                .downcast_ref::<Decimal128Array>()
                .map(|cells| Self::decimal(cells.value(row), *scale)),
            DataType::Boolean => {
                any.downcast_ref::<BooleanArray>().map(|cells| Self::Whole(cells.value(row).into()))
            }
            DataType::Binary => {
                any.downcast_ref::<BinaryArray>().map(|cells| Self::Bytes(cells.value(row)))
            }
            // Results have no other types.
            _ => None,
        }
        .unwrap_or(Self::Null)
    }

    /// A decimal number by its value, as Python compares it with others.
    fn decimal(digits: i128, scale: i8) -> Self {
        let one = 10_i128.checked_pow(u32::try_from(scale).unwrap_or(0)).unwrap_or(i128::MAX);
        match i64::try_from(digits / one) {
            Ok(whole) if digits % one == 0 => Self::Whole(whole),
            _ => Self::real(format!("{digits}e-{scale}").parse().unwrap_or(f64::NAN)),
        }
    }

    fn real(value: f64) -> Self {
        if value.fract() == 0.0 && (-WHOLE..WHOLE).contains(&value) {
            return Self::Whole(value as i64);
        }
        Self::Real(Real(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }))
    }

    /// The value of a number.
    pub(super) fn number(self) -> Option<f64> {
        match self {
            Self::Whole(value) => Some(value as f64),
            Self::Real(real) => Some(real.value()),
            _ => None,
        }
    }

    fn rank(self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Whole(_) | Self::Real(_) => 1,
            Self::Text(_) => 2,
            Self::Bytes(_) => 3,
        }
    }
}

impl Ord for Cell<'_> {
    /// Numbers by value, so that nearly equal ones stand side by side.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(b),
            // Only 2^63 and what rounds to it can tie here, and the whole number is the smaller.
            (Self::Whole(a), Self::Real(b)) => {
                (*a as f64).total_cmp(&b.value()).then(Ordering::Less)
            }
            (Self::Real(a), Self::Whole(b)) => {
                a.value().total_cmp(&(*b as f64)).then(Ordering::Greater)
            }
            (Self::Real(a), Self::Real(b)) => a.value().total_cmp(&b.value()),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Cell<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The different cells of the results in hand, ascending. A cell is spoken of by its place here.
#[derive(Debug)]
pub(super) struct Pool<'a> {
    cells: Vec<Cell<'a>>,
}

impl<'a> Pool<'a> {
    /// The cell at a place.
    pub(super) fn cell(&self, place: u32) -> Cell<'a> {
        self.cells.get(place as usize).copied().unwrap_or(Cell::Null)
    }

    /// All cells in ascending order.
    pub(super) fn cells(&self) -> &[Cell<'a>] {
        &self.cells
    }
}

/// One result as places in a [`Pool`], column by column.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) columns: Vec<Vec<u32>>,
    pub(super) height: usize,
}

impl Grid {
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.height == 0
    }

    /// The rows, each with its cells from the left.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        (0..self.height).map(|row| self.columns.iter().map(|column| column[row]).collect())
    }
}

/// Cells in the order in which they were first seen.
#[derive(Default)]
struct Interner<'a> {
    numbers: HashMap<Cell<'a>, u32>,
    cells: Vec<Cell<'a>>,
}

impl<'a> Interner<'a> {
    fn number(&mut self, cell: Cell<'a>) -> u32 {
        *self.numbers.entry(cell).or_insert_with(|| {
            self.cells.push(cell);
            (self.cells.len() - 1) as u32
        })
    }

    fn read(&mut self, result: &'a ResultSet) -> Grid {
        let height = usize::try_from(result.row_count()).unwrap_or(usize::MAX);
        let mut columns: Vec<Vec<u32>> =
            result.schema().fields().iter().map(|_| Vec::with_capacity(height)).collect();
        for batch in result.batches() {
            for (column, array) in columns.iter_mut().zip(batch.columns()) {
                column.extend((0..batch.num_rows()).map(|row| self.number(Cell::at(array, row))));
            }
        }
        Grid { columns, height }
    }

    /// The cells in their order, and the grids with their places there.
    fn finish<const N: usize>(self, mut grids: [Grid; N]) -> (Pool<'a>, [Grid; N]) {
        let mut order: Vec<u32> = (0..self.cells.len() as u32).collect();
        order.sort_unstable_by_key(|seen| self.cells[*seen as usize]);
        let mut places = vec![0_u32; order.len()];
        order.iter().zip(0..).for_each(|(seen, place)| places[*seen as usize] = place);
        for cell in grids.iter_mut().flat_map(|grid| &mut grid.columns).flatten() {
            *cell = places[*cell as usize];
        }
        (Pool { cells: order.into_iter().map(|seen| self.cells[seen as usize]).collect() }, grids)
    }
}

/// A result and the pool of its cells, as fingerprints read them.
pub(super) struct Sheet<'a> {
    pub(super) result: &'a ResultSet,
    pub(super) pool: Pool<'a>,
    pub(super) grid: Grid,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(result: &'a ResultSet) -> Self {
        let mut interner = Interner::default();
        let grid = interner.read(result);
        let (pool, [grid]) = interner.finish([grid]);
        Self { result, pool, grid }
    }
}

/// An expected result and a prediction over the same cells.
pub(super) struct Pair<'a> {
    pub(super) pool: Pool<'a>,
    pub(super) gold: Grid,
    pub(super) predicted: Grid,
    /// The results, for the names of their columns.
    pub(super) results: (&'a ResultSet, &'a ResultSet),
}

impl<'a> Pair<'a> {
    pub(super) fn new(gold: &'a ResultSet, predicted: &'a ResultSet) -> Self {
        let mut interner = Interner::default();
        let grids = [interner.read(gold), interner.read(predicted)];
        let (pool, [first, second]) = interner.finish(grids);
        Self { pool, gold: first, predicted: second, results: (gold, predicted) }
    }

    pub(super) fn both_empty(&self) -> bool {
        self.gold.is_empty() && self.predicted.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_equal_as_in_python() {
        assert_eq!(Cell::real(1.0), Cell::Whole(1));
        assert_eq!(Cell::real(-0.0), Cell::Whole(0));
        assert_eq!(Cell::real(-WHOLE), Cell::Whole(i64::MIN));
        assert_eq!(Cell::real(f64::NAN), Cell::real(-f64::NAN));
        // 2^53 + 1 is no real number, and 2^63 no whole one.
        assert_ne!(Cell::real((1_u64 << 53) as f64), Cell::Whole((1 << 53) + 1));
        assert_ne!(Cell::real(WHOLE), Cell::Whole(i64::MAX));
        assert_ne!(Cell::Whole(1), Cell::Text("1"));
    }

    #[test]
    fn the_order_is_total() {
        let ascending = [
            Cell::Null,
            Cell::real(f64::NEG_INFINITY),
            Cell::Whole(i64::MIN),
            Cell::Whole(-1),
            Cell::real(-0.5),
            Cell::Whole(0),
            Cell::real(0.5),
            Cell::Whole(i64::MAX - 1),
            Cell::Whole(i64::MAX),
            Cell::real(WHOLE),
            Cell::real(f64::NAN),
            Cell::Text(""),
            Cell::Text("a"),
            Cell::Bytes(b""),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a:?} {b:?}");
                assert_eq!(a == b, i == j);
            }
        }
    }
}
