//! Digests of results that are equal for equal results: rows as a multiset unless their order
//! matters, columns in any order and by any name, numbers by value to seven digits. It is the
//! comparison rule `bag-v1` as a digest.

use sha2::{Digest, Sha256};
use syrch_core::{ResultSet, Value};

/// A digest that is equal for equal results.
pub(super) type Same = [u8; 32];

/// The digest of a result. Columns are put in the order of their own cells; where two hold the same
/// cells in another order of rows, equal results may differ, which only makes a menu a little
/// longer.
pub(super) fn digest(result: &ResultSet, ordered: bool) -> Same {
    let rows: Vec<Vec<String>> =
        result.rows(0, u64::MAX).iter().map(|row| row.iter().map(cell).collect()).collect();
    let width = result.schema().fields().len();
    let mut columns: Vec<(Vec<&str>, usize)> = (0..width)
        .map(|at| {
            let mut cells: Vec<&str> = rows.iter().map(|row| row[at].as_str()).collect();
            if !ordered {
                cells.sort_unstable();
            }
            (cells, at)
        })
        .collect();
    columns.sort();
    let mut lines: Vec<Vec<&str>> =
        rows.iter().map(|row| columns.iter().map(|(_, at)| row[*at].as_str()).collect()).collect();
    if !ordered {
        lines.sort_unstable();
    }
    let mut hasher = Sha256::new();
    hasher.update((width as u64).to_le_bytes());
    hasher.update([u8::from(result.is_truncated())]);
    for cell in lines.into_iter().flatten() {
        hasher.update((cell.len() as u64).to_le_bytes());
        hasher.update(cell);
    }
    hasher.finalize().into()
}

/// A cell as text that is equal for equal cells; numbers of all types are one kind.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Boolean(value) => number(f64::from(u8::from(*value))),
        Value::Integer(value) => number(*value as f64),
        Value::Real(value) => number(*value),
        Value::Decimal(text) => text.parse().map_or_else(|_| format!("t{text}"), number),
        Value::Text(text) | Value::Temporal(text) | Value::Other(text) => format!("t{text}"),
        Value::Bytes(bytes) => format!("b{bytes:?}"),
    }
}

fn number(value: f64) -> String {
    // Zero has two signs.
    format!("n{:.6e}", value + 0.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use arrow_schema::{Field, Schema};

    use super::*;

    fn result(arrays: Vec<ArrayRef>) -> ResultSet {
        let fields: Vec<Field> =
            arrays.iter().map(|array| Field::new("c", array.data_type().clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
        ResultSet::new(schema, vec![batch], false, Vec::new(), String::new())
    }

    fn whole(cells: &[i64]) -> ArrayRef {
        Arc::new(Int64Array::from(cells.to_vec()))
    }

    #[test]
    fn rows_columns_and_numbers_compare_as_bag_v1_has_it() {
        let one = result(vec![whole(&[1, 2]), Arc::new(StringArray::from(vec!["a", "b"]))]);
        let turned = result(vec![
            Arc::new(StringArray::from(vec!["b", "a"])),
            Arc::new(Float64Array::from(vec![2.0, 1.0])),
        ]);
        let crossed = result(vec![whole(&[2, 1]), Arc::new(StringArray::from(vec!["a", "b"]))]);
        assert_eq!(digest(&one, false), digest(&turned, false));
        assert_ne!(digest(&one, true), digest(&turned, true));
        assert_ne!(digest(&one, false), digest(&crossed, false));
        fn near(value: f64) -> [u8; 32] {
            digest(&result(vec![Arc::new(Float64Array::from(vec![value]))]), false)
        }
        assert_eq!(near(1.0), near(1.000_000_01));
        assert_eq!(near(0.0), near(-0.0));
        assert_ne!(near(1.0), near(1.000_1));
        assert_ne!(
            digest(&result(vec![whole(&[1])]), false),
            digest(&result(vec![whole(&[1, 1])]), false)
        );
        let text = result(vec![Arc::new(StringArray::from(vec!["1"]))]);
        assert_ne!(digest(&result(vec![whole(&[1])]), false), digest(&text, false));
    }
}
