//! Reading rows of texts, for the statements that this crate makes itself, and the texts in a
//! driver's lists of objects.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType};

/// Bytes of a catalog.
pub(crate) const CATALOG: usize = 64 << 20;

/// The text of a cell; `None` for NULL and for a cell of another type.
pub(crate) fn text(array: &dyn Array, row: usize) -> Option<&str> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(array.as_string_view().value(row)),
        _ => None,
    }
}

/// A row of texts.
pub(crate) type Row = Vec<Option<String>>;

/// The cells of a row, as many as there are of them.
pub(crate) fn cells<const N: usize>(row: Row) -> [Option<String>; N] {
    let mut cells = row.into_iter();
    std::array::from_fn(|_| cells.next().flatten())
}

/// Reads all rows of a result whose columns are texts, within a number of bytes, of which each cell
/// takes 24 besides its contents.
///
/// # Errors
/// The driver's error, or a message if the result is larger.
pub(crate) fn rows(
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    left: &mut usize,
) -> Result<Vec<Row>, ArrowError> {
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|column| text(column, row).map(str::to_owned));
            let cells: Row = cells.collect();
            let bytes: usize =
                cells.iter().map(|cell| 24 + cell.as_ref().map_or(0, String::len)).sum();
            *left = left.checked_sub(bytes).ok_or_else(too_large)?;
            rows.push(cells);
        }
    }
    Ok(rows)
}

/// The error of a result that is larger than it may be.
pub(crate) fn too_large() -> ArrowError {
    ArrowError::MemoryError("the result is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, LargeStringArray, StringArray, StringViewArray};

    use super::*;

    #[test]
    fn texts_of_all_layouts_are_read_within_a_number_of_bytes() {
        let arrays: [(&str, ArrayRef); 4] = [
            ("a", Arc::new(StringArray::from(vec![Some("x"), None]))),
            ("b", Arc::new(LargeStringArray::from(vec!["y", "yy"]))),
            ("c", Arc::new(StringViewArray::from(vec!["z", "zz"]))),
            ("d", Arc::new(Int32Array::from(vec![1, 2]))),
        ];
        let batch = RecordBatch::try_from_iter(arrays).unwrap();
        let expected = vec![
            vec![Some("x".to_owned()), Some("y".to_owned()), Some("z".to_owned()), None],
            vec![None, Some("yy".to_owned()), Some("zz".to_owned()), None],
        ];
        let mut left = 1_000;
        assert_eq!(rows([Ok(batch.clone())].into_iter(), &mut left).unwrap(), expected);
        assert_eq!(left, 1_000 - 8 * 24 - 7);
        assert!(rows([Ok(batch.clone())].into_iter(), &mut 199).is_ok());
        assert!(rows([Ok(batch)].into_iter(), &mut 198).is_err());
    }
}
