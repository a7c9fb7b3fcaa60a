//! From the engine's cells to Arrow columns. A column takes the type of the storage classes seen in it: whole and real numbers
//! together are real where that loses nothing, every other mixture is text.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, Float64Array, NullArray, StringArray};
use rusqlite::types::ValueRef;
use syrch_core::Value;
use syrch_core::result_set::cell;

/// Whole numbers up to here are exact as real ones.
const EXACT: u64 = 1 << 53;

/// One column under construction.
pub(crate) struct ColumnBuilder {
    cells: Cells,
    /// Cells of text that were not UTF-8.
    pub(crate) replaced: u64,
}

enum Cells {
    Nulls(usize),
    Integers(Int64Builder),
    Reals(Float64Builder),
    Texts(StringBuilder),
    Blobs(BinaryBuilder),
    /// The slow way, for a column of several storage classes.
    Mixed(Vec<Value>),
}

impl ColumnBuilder {
    pub(crate) fn new() -> Self {
        Self { cells: Cells::Nulls(0), replaced: 0 }
    }

    /// Takes the next row's cell: by reference, since copying one that was just written stalls for longer than the rest takes.
    #[inline]
    pub(crate) fn push(&mut self, value: &ValueRef<'_>) {
        match (&mut self.cells, *value) {
            (Cells::Integers(cells), ValueRef::Integer(value)) => cells.append_value(value),
            (Cells::Reals(cells), ValueRef::Real(value)) => cells.append_value(value),
            (Cells::Texts(cells), ValueRef::Text(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => cells.append_value(text),
                Err(_) => {
                    self.replaced += 1;
                    cells.append_value(String::from_utf8_lossy(bytes));
                }
            },
            (Cells::Blobs(cells), ValueRef::Blob(value)) => cells.append_value(value),
            (Cells::Nulls(count), ValueRef::Null) => *count += 1,
            (Cells::Integers(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Reals(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Texts(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Blobs(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Mixed(cells), value) => {
                let (value, replaced) = owned(value);
                self.replaced += u64::from(replaced);
                cells.push(value);
            }
            _ => {
                self.cells = self.turned(*value);
                self.push(value);
            }
        }
    }

    /// The cells so far in a form that takes `value` too.
    fn turned(&mut self, value: ValueRef<'_>) -> Cells {
        let cells = std::mem::replace(&mut self.cells, Cells::Nulls(0));
        let Cells::Nulls(count) = cells else {
            let column = cells.finish();
            return Cells::Mixed((0..column.len()).map(|row| cell(&column, row)).collect());
        };
        match value {
            ValueRef::Null => Cells::Nulls(count),
            ValueRef::Integer(_) => {
                let mut cells = Int64Builder::new();
                cells.append_nulls(count);
                Cells::Integers(cells)
            }
            ValueRef::Real(_) => {
                let mut cells = Float64Builder::new();
                cells.append_nulls(count);
                Cells::Reals(cells)
            }
            ValueRef::Text(_) => {
                let mut cells = StringBuilder::new();
                cells.append_nulls(count);
                Cells::Texts(cells)
            }
            ValueRef::Blob(_) => {
                let mut cells = BinaryBuilder::new();
                cells.append_nulls(count);
                Cells::Blobs(cells)
            }
        }
    }

    pub(crate) fn finish(self) -> ArrayRef {
        self.cells.finish()
    }
}

impl Cells {
    fn finish(self) -> ArrayRef {
        match self {
            Self::Nulls(count) => Arc::new(NullArray::new(count)),
            Self::Integers(mut cells) => Arc::new(cells.finish()),
            Self::Reals(mut cells) => Arc::new(cells.finish()),
            Self::Texts(mut cells) => Arc::new(cells.finish()),
            Self::Blobs(mut cells) => Arc::new(cells.finish()),
            Self::Mixed(cells) => mixed(cells),
        }
    }
}

fn mixed(cells: Vec<Value>) -> ArrayRef {
    let is_exact = |value: &Value| match value {
        Value::Integer(value) => value.unsigned_abs() <= EXACT,
        Value::Real(_) | Value::Null => true,
        _ => false,
    };
    if cells.iter().all(is_exact) {
        return Arc::new(Float64Array::from_iter(cells.iter().map(|value| match value {
            Value::Integer(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            _ => None,
        })));
    }
    Arc::new(StringArray::from_iter(cells.into_iter().map(spelled)))
}

/// A cell as text, in SQL's spelling.
fn spelled(value: Value) -> Option<String> {
    match value {
        Value::Integer(value) => Some(value.to_string()),
        Value::Real(value) => Some(format!("{value:?}")),
        Value::Text(text) => Some(text),
        Value::Bytes(bytes) => {
            Some(format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>()))
        }
        _ => None,
    }
}

/// A cell of its own, and whether its text had to be mended.
pub(crate) fn owned(value: ValueRef<'_>) -> (Value, bool) {
    match value {
        ValueRef::Null => (Value::Null, false),
        ValueRef::Integer(value) => (Value::Integer(value), false),
        ValueRef::Real(value) => (Value::Real(value), false),
        ValueRef::Blob(value) => (Value::Bytes(value.to_vec()), false),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let replaced = matches!(text, std::borrow::Cow::Owned(_));
            (Value::Text(text.into_owned()), replaced)
        }
    }
}

/// How many bytes a cell holds.
#[inline]
pub(crate) fn size(value: &ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null => 0,
        ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {

    use arrow_schema::DataType;
    use proptest::prelude::*;

    use super::*;

    fn built(cells: &[ValueRef<'_>]) -> ArrayRef {
        let mut builder = ColumnBuilder::new();
        cells.iter().for_each(|cell| builder.push(cell));
        builder.finish()
    }

    #[test]
    fn columns_take_the_type_of_what_they_hold() {
        use ValueRef::{Blob, Integer, Null, Real, Text};
        for (cells, data_type) in [
            (vec![], DataType::Null),
            (vec![Null, Null], DataType::Null),
            (vec![Null, Integer(1), Null], DataType::Int64),
            (vec![Real(1.5), Null], DataType::Float64),
            (vec![Integer(1), Real(1.5)], DataType::Float64),
            (vec![Integer(i64::MAX), Real(1.5)], DataType::Utf8),
            (vec![Text(b"006"), Null], DataType::Utf8),
            (vec![Null, Blob(b"x")], DataType::Binary),
            (vec![Integer(1), Text(b"a")], DataType::Utf8),
        ] {
            assert_eq!(built(&cells).data_type(), &data_type, "{cells:?}");
        }
        let column = built(&[Null, Integer(3), Real(2.0), Text(b"006"), Blob(b"\x01\xff")]);
        let texts: Vec<Value> = (1..5).map(|row| cell(&column, row)).collect();
        assert_eq!(texts, ["3", "2.0", "006", "X'01FF'"].map(|text| Value::Text(text.into())));
    }

    #[test]
    fn broken_text_is_mended_and_counted() {
        let mut builder = ColumnBuilder::new();
        builder.push(&ValueRef::Text(b"a\xffb"));
        builder.push(&ValueRef::Integer(1));
        builder.push(&ValueRef::Text(b"\xfe"));
        assert_eq!(builder.replaced, 2);
        assert_eq!(cell(&builder.finish(), 0), Value::Text("a\u{fffd}b".into()));
    }

    proptest! {
        #[test]
        fn every_cell_comes_back(numbers in prop::collection::vec(prop::option::of((any::<bool>(), -1_000_000_i64..1_000_000)), 0..30)) {
            let cells: Vec<ValueRef<'_>> = numbers.iter().map(|number| match number {
                None => ValueRef::Null,
                Some((true, n)) => ValueRef::Integer(*n),
                Some((false, n)) => ValueRef::Real(*n as f64 / 2.0),
            }).collect();
            let column = built(&cells);
            prop_assert_eq!(column.len(), cells.len());
            for (row, wanted) in cells.iter().enumerate() {
                let number = match cell(&column, row) {
                    Value::Integer(n) => Some(n as f64),
                    Value::Real(n) => Some(n),
                    _ => None,
                };
                prop_assert_eq!(number, match wanted {
                    ValueRef::Integer(n) => Some(*n as f64),
                    ValueRef::Real(n) => Some(*n),
                    _ => None,
                });
            }
        }
    }
}
