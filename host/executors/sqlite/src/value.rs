//! Converts the engine's cells to Arrow columns. A column takes the type of the storage classes
//! seen in it: whole and real numbers together are real where that loses nothing, every other
//! mixture is text.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Float64Array, NullArray, StringArray, new_null_array,
};
use arrow_schema::DataType;
use rusqlite::types::ValueRef;
use syrch_core::Value;
use syrch_core::result_set::cell;

/// Whole numbers up to here are exact as real ones.
const EXACT: u64 = 1 << 53;

/// A column under construction.
pub(crate) struct ColumnBuilder {
    /// The arrays of the batches that have ended. All have one type, or the type Null where no
    /// value had come.
    batches: Vec<ArrayRef>,
    cells: Cells,
    /// The number of cells that held text that is not UTF-8. Those of `Texts` are counted when
    /// their batch ends.
    replaced: u64,
}

enum Cells {
    Nulls(usize),
    Integers(Int64Builder),
    Reals(Float64Builder),
    /// The bytes are checked to be UTF-8 once for a batch, which takes less time than to check each
    /// cell.
    Texts(BinaryBuilder),
    Blobs(BinaryBuilder),
    /// The slow way, for a column of several storage classes: the cells of all batches.
    Mixed(Vec<Value>),
}

impl ColumnBuilder {
    pub(crate) fn new() -> Self {
        Self { batches: Vec::new(), cells: Cells::Nulls(0), replaced: 0 }
    }

    /// Takes the next row's cell: by reference, since copying one that was just written stalls for
    /// longer than the rest takes.
    #[inline]
    pub(crate) fn push(&mut self, value: &ValueRef<'_>) {
        match (&mut self.cells, *value) {
            (Cells::Integers(cells), ValueRef::Integer(value)) => cells.append_value(value),
            (Cells::Reals(cells), ValueRef::Real(value)) => cells.append_value(value),
            (Cells::Texts(cells), ValueRef::Text(value)) => cells.append_value(value),
            (Cells::Blobs(cells), ValueRef::Blob(value)) => cells.append_value(value),
            (Cells::Nulls(count), ValueRef::Null) => *count += 1,
            (Cells::Integers(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Reals(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Texts(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Blobs(cells), ValueRef::Null) => cells.append_null(),
            (Cells::Mixed(cells), value) => {
                let (value, replaced) = to_value(value);
                self.replaced += u64::from(replaced);
                cells.push(value);
            }
            _ => {
                self.cells = self.convert_cells(*value);
                self.push(value);
            }
        }
    }

    /// The cells so far in a form that takes `value` too.
    fn convert_cells(&mut self, value: ValueRef<'_>) -> Cells {
        let Cells::Nulls(count) = self.cells else {
            self.end_batch();
            let batches = std::mem::take(&mut self.batches);
            return Cells::Mixed(
                batches
                    .iter()
                    .flat_map(|batch| (0..batch.len()).map(|row| cell(batch, row)))
                    .collect(),
            );
        };
        // To append no NULL would make a validity buffer, which slows down every later cell.
        macro_rules! nulls {
            ($builder:ty) => {{
                let mut cells = <$builder>::new();
                if count > 0 {
                    cells.append_nulls(count);
                }
                cells
            }};
        }
        match value {
            ValueRef::Null => Cells::Nulls(count),
            ValueRef::Integer(_) => Cells::Integers(nulls!(Int64Builder)),
            ValueRef::Real(_) => Cells::Reals(nulls!(Float64Builder)),
            ValueRef::Text(_) => Cells::Texts(nulls!(BinaryBuilder)),
            ValueRef::Blob(_) => Cells::Blobs(nulls!(BinaryBuilder)),
        }
    }

    /// Ends a batch: the cells that come later are of the next one.
    pub(crate) fn end_batch(&mut self) {
        let batch: ArrayRef = match &mut self.cells {
            Cells::Nulls(count) => Arc::new(NullArray::new(std::mem::take(count))),
            Cells::Integers(cells) => Arc::new(cells.finish()),
            Cells::Reals(cells) => Arc::new(cells.finish()),
            Cells::Texts(cells) => {
                let (texts, replaced) = texts(&cells.finish());
                self.replaced += replaced;
                texts
            }
            Cells::Blobs(cells) => Arc::new(cells.finish()),
            Cells::Mixed(_) => return,
        };
        self.batches.push(batch);
    }

    /// Returns the column's batches, whose lengths are `rows`, and how many cells held text that is
    /// not UTF-8. All batches but the last must have been ended.
    pub(crate) fn finish(mut self, rows: &[usize]) -> (Vec<ArrayRef>, u64) {
        self.end_batch();
        if let Cells::Mixed(cells) = self.cells {
            let is_real = cells.iter().all(is_exact);
            let mut cells = cells.into_iter();
            return (
                rows.iter()
                    .map(|rows: &usize| build_mixed(cells.by_ref().take(*rows), is_real))
                    .collect(),
                self.replaced,
            );
        }
        // A builder has its type from batch to batch, so the last batch has the column's even if
        // all of its cells are NULL.
        let data_type =
            self.batches.last().map_or(DataType::Null, |batch| batch.data_type().clone());
        for batch in self.batches.iter_mut().filter(|batch| *batch.data_type() != data_type) {
            *batch = new_null_array(&data_type, batch.len());
        }
        (self.batches, self.replaced)
    }
}

fn texts(cells: &BinaryArray) -> (ArrayRef, u64) {
    if let Ok(texts) = StringArray::try_from_binary(cells.clone()) {
        return (Arc::new(texts), 0);
    }
    let mut replaced = 0;
    let texts = StringArray::from_iter(cells.iter().map(|cell| {
        let text = String::from_utf8_lossy(cell?);
        replaced += u64::from(matches!(text, Cow::Owned(_)));
        Some(text)
    }));
    (Arc::new(texts), replaced)
}

/// Returns true if a cell is NULL or a number that a real represents exactly.
fn is_exact(cell: &Value) -> bool {
    match cell {
        Value::Integer(value) => value.unsigned_abs() <= EXACT,
        Value::Real(_) | Value::Null => true,
        _ => false,
    }
}

/// A batch of a column of several storage classes.
fn build_mixed(cells: impl Iterator<Item = Value>, is_real: bool) -> ArrayRef {
    if !is_real {
        return Arc::new(StringArray::from_iter(cells.map(spell_value)));
    }
    Arc::new(Float64Array::from_iter(cells.map(|cell| match cell {
        Value::Integer(value) => Some(value as f64),
        Value::Real(value) => Some(value),
        _ => None,
    })))
}

/// A cell as text, in SQL's spelling.
fn spell_value(value: Value) -> Option<String> {
    match value {
        Value::Integer(value) => Some(value.to_string()),
        Value::Real(value) => Some(format!("{value:?}")),
        Value::Text(text) => Some(text),
        Value::Bytes(bytes) => Some(format!(
            "X'{}'",
            bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>()
        )),
        _ => None,
    }
}

/// A cell of its own, and whether its text had to be mended.
pub(crate) fn to_value(value: ValueRef<'_>) -> (Value, bool) {
    match value {
        ValueRef::Null => (Value::Null, false),
        ValueRef::Integer(value) => (Value::Integer(value), false),
        ValueRef::Real(value) => (Value::Real(value), false),
        ValueRef::Blob(value) => (Value::Bytes(value.to_vec()), false),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let replaced = matches!(text, Cow::Owned(_));
            (Value::Text(text.into_owned()), replaced)
        }
    }
}

/// Returns the number of bytes that a cell holds.
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
    use proptest::prelude::*;

    use super::*;

    fn build(cells: &[ValueRef<'_>]) -> ArrayRef {
        build_in_batches(cells, usize::MAX).0.remove(0)
    }

    /// Does the same in batches of at most so many cells.
    fn build_in_batches(cells: &[ValueRef<'_>], most: usize) -> (Vec<ArrayRef>, u64) {
        let mut builder = ColumnBuilder::new();
        let mut rows = vec![0];
        for cell in cells {
            if rows.last() == Some(&most) {
                builder.end_batch();
                rows.push(0);
            }
            *rows.last_mut().unwrap() += 1;
            builder.push(cell);
        }
        let (batches, replaced) = builder.finish(&rows);
        assert_eq!(batches.iter().map(|batch| batch.len()).collect::<Vec<_>>(), rows);
        (batches, replaced)
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
            assert_eq!(build(&cells).data_type(), &data_type, "{cells:?}");
        }
        let column = build(&[Null, Integer(3), Real(2.0), Text(b"006"), Blob(b"\x01\xff")]);
        let texts: Vec<Value> = (1..5).map(|row| cell(&column, row)).collect();
        assert_eq!(texts, ["3", "2.0", "006", "X'01FF'"].map(|text| Value::Text(text.into())));
    }

    #[test]
    fn broken_text_is_mended_and_counted() {
        let texts = [
            ValueRef::Text(b"a\xffb"),
            ValueRef::Null,
            ValueRef::Text(b"\xfe"),
            ValueRef::Text(b"b"),
        ];
        // A text of a column of several storage classes, and one before and one after the other
        // class came.
        let mixed = [texts[0], ValueRef::Integer(1), texts[2]];
        for (cells, last) in [(&texts[..], "b"), (&mixed[..], "\u{fffd}")] {
            let (mut column, replaced) = build_in_batches(cells, usize::MAX);
            let column = column.remove(0);
            assert_eq!(replaced, 2);
            assert_eq!(cell(&column, 0), Value::Text("a\u{fffd}b".into()));
            assert_eq!(cell(&column, cells.len() - 1), Value::Text(last.into()));
        }
        // Two halves of a character in one buffer are no text.
        let halves = [ValueRef::Text(b"\xc3"), ValueRef::Text(b"\xa4")];
        assert_eq!(cell(&build(&halves), 1), Value::Text("\u{fffd}".into()));
    }

    #[test]
    fn batches_of_mixed_cells_have_memory_of_their_own() {
        let text = [b'a'; 100];
        let mut cells = vec![ValueRef::Text(&text); 1_000];
        cells[0] = ValueRef::Integer(1);
        let memory = |most| -> usize {
            build_in_batches(&cells, most).0.iter().map(|batch| batch.get_array_memory_size()).sum()
        };
        assert!(memory(100) < 2 * memory(usize::MAX));
    }

    #[test]
    fn a_column_without_nulls_has_no_validity_buffer() {
        for cell in
            [ValueRef::Integer(1), ValueRef::Real(1.5), ValueRef::Text(b"a"), ValueRef::Blob(b"a")]
        {
            assert!(build(&[cell, cell]).nulls().is_none(), "{cell:?}");
            assert_eq!(build(&[ValueRef::Null, cell]).null_count(), 1, "{cell:?}");
        }
    }

    proptest! {
        #[test]
        fn every_cell_comes_back(
            numbers in prop::collection::vec(
                prop::option::of((any::<bool>(), -1_000_000_i64..1_000_000)), 0..30
            )
        ) {
            let cells: Vec<ValueRef<'_>> = numbers.iter().map(|number| match number {
                None => ValueRef::Null,
                Some((true, n)) => ValueRef::Integer(*n),
                Some((false, n)) => ValueRef::Real(*n as f64 / 2.0),
            }).collect();
            let column = build(&cells);
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

        #[test]
        fn batches_are_the_column_in_parts(
            kinds in prop::collection::vec(0..4_usize, 1..30), other in 0..6_usize,
            at in 0..30_usize, most in 1..8_usize
        ) {
            use ValueRef::{Blob, Integer, Null, Real, Text};
            // Columns of one storage class with a cell of another somewhere.
            let cells = [Null, Integer(1), Real(1.5), Text(b"a"), Blob(b"\x01"), Text(b"\xff")];
            let mut column: Vec<ValueRef<'_>> =
                kinds.iter().map(|kind| if *kind == 0 { Null } else { cells[other] }).collect();
            let at = at % column.len();
            column[at] = cells[(other + kinds[0]) % cells.len()];
            let (whole, replaced) = build_in_batches(&column, usize::MAX);
            let (batches, replaced_in_batches) = build_in_batches(&column, most);
            prop_assert_eq!(replaced, replaced_in_batches);
            let mut start = 0;
            for batch in batches {
                prop_assert_eq!(&batch, &whole[0].slice(start, batch.len()));
                start += batch.len();
            }
        }
    }
}
