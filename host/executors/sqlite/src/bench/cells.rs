//! Rows as bytes that are equal exactly when the cells are the same: each has a tag of its type and its raw contents, a text as it is stored, a
//! real by its bits.

use rusqlite::Statement;
use rusqlite::types::ValueRef;
use syrch_core::SqlError;
use syrch_core::ports::{BenchLimits, Compared};

use super::check_limits;
use crate::session::Session;
use crate::value::size;

/// The rows of a result, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl Rows {
    /// Reads a result within the limits.
    pub(super) fn read(
        session: &Session,
        statement: &mut Statement<'_>,
        limits: &BenchLimits,
    ) -> Result<Self, SqlError> {
        let width = statement.column_count();
        let (mut found, mut bytes) = (Self::default(), 0_u64);
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
            check_limits(limits, found.ends.len() as u64 + 1, bytes)?;
            for index in 0..width {
                let cell = row.get_ref(index).map_err(|error| session.step_error(&error))?;
                bytes = bytes.saturating_add(size(&cell) as u64);
                check_limits(limits, 0, bytes)?;
                found.cell(cell);
            }
            found.ends.push(found.bytes.len());
        }
        Ok(found)
    }

    /// No cell is the beginning of another, so that two rows of one width have the same bytes only if they have the same cells.
    fn cell(&mut self, cell: ValueRef<'_>) {
        let sized = |bytes: &mut Vec<u8>, tag: u8, contents: &[u8]| {
            bytes.push(tag);
            bytes.extend_from_slice(&(contents.len() as u64).to_be_bytes());
            bytes.extend_from_slice(contents);
        };
        match cell {
            ValueRef::Null => self.bytes.push(0),
            ValueRef::Integer(number) => {
                self.bytes.push(1);
                self.bytes.extend_from_slice(&number.to_be_bytes());
            }
            ValueRef::Real(number) => {
                self.bytes.push(2);
                self.bytes.extend_from_slice(&number.to_bits().to_be_bytes());
            }
            ValueRef::Text(text) => sized(&mut self.bytes, 3, text),
            ValueRef::Blob(blob) => sized(&mut self.bytes, 4, blob),
        }
    }

    fn rows(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.bytes.get(start..*end).unwrap_or_default()).collect()
    }

    /// How other rows of the same width differ from these.
    pub(super) fn compare(&self, other: &Self, is_ordered: bool) -> Compared {
        let count = self.ends.len() as u64;
        if self.bytes == other.bytes && self.ends == other.ends {
            return Compared::Equal(count);
        }
        if self.ends.len() != other.ends.len() {
            return Compared::Different;
        }
        let (mut left, mut right) = (self.rows(), other.rows());
        left.sort_unstable();
        right.sort_unstable();
        match (left == right, is_ordered) {
            (true, true) => Compared::Reordered,
            (true, false) => Compared::Equal(count),
            (false, _) => Compared::Different,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::types::Value;

    use super::*;

    fn rows(cells: &[Vec<Value>]) -> Rows {
        let mut rows = Rows::default();
        for row in cells {
            row.iter().for_each(|cell| rows.cell(ValueRef::from(cell)));
            rows.ends.push(rows.bytes.len());
        }
        rows
    }

    #[test]
    fn cells_are_compared_without_any_coercion() {
        let invalid = |bytes: &[u8]| {
            let mut rows = Rows::default();
            rows.cell(ValueRef::Text(bytes));
            rows.ends.push(rows.bytes.len());
            rows
        };
        let cells = [
            Value::Null,
            Value::Integer(1),
            Value::Real(1.0),
            Value::Text("1".to_owned()),
            Value::Blob(b"1".to_vec()),
            Value::Real(0.0),
            Value::Real(-0.0),
            Value::Text(String::new()),
            Value::Integer(i64::MAX),
            Value::Integer(i64::MAX - 1),
            // Both are the same number as a real.
            Value::Real(9.007_199_254_740_993e15),
            Value::Integer(9_007_199_254_740_993),
        ];
        let mut all: Vec<Rows> = cells.iter().map(|cell| rows(&[vec![cell.clone()]])).collect();
        all.extend([invalid(b"\xff"), invalid(b"\xfe"), invalid("\u{fffd}".as_bytes())]);
        for (left, one) in all.iter().enumerate() {
            for (right, other) in all.iter().enumerate() {
                let wanted = if left == right { Compared::Equal(1) } else { Compared::Different };
                assert_eq!(one.compare(other, false), wanted, "{left} and {right}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_bag_is_equal_in_any_order_and_to_no_other(
            cells in proptest::collection::vec(proptest::collection::vec(0_i64..4, 2), 1..8),
            from in 0_usize..8, to in 0_usize..8, which in 0_usize..8,
        ) {
            let value = |row: &Vec<i64>| row.iter().map(|cell| Value::Integer(*cell)).collect::<Vec<_>>();
            let given: Vec<Vec<Value>> = cells.iter().map(value).collect();
            let mut moved = given.clone();
            moved.swap(from % given.len(), to % given.len());
            let count = given.len() as u64;
            prop_assert_eq!(rows(&given).compare(&rows(&moved), false), Compared::Equal(count));
            let wanted = if given == moved { Compared::Equal(count) } else { Compared::Reordered };
            prop_assert_eq!(rows(&given).compare(&rows(&moved), true), wanted);
            // A row that stands there twice in place of another.
            let mut other = given.clone();
            let last = other.len() - 1;
            other[last] = other[which % given.len()].clone();
            let is_same = other[last] == given[last];
            prop_assert_eq!(rows(&given).compare(&rows(&other), false) == Compared::Equal(count), is_same);
            other.pop();
            prop_assert_eq!(rows(&given).compare(&rows(&other), false), Compared::Different);
        }
    }
}
