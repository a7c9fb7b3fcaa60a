//! Small results for the tests of the rules.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use syrch_core::ResultSet;

pub(super) fn ints(cells: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(cells.to_vec()))
}

pub(super) fn nullable(cells: &[Option<i64>]) -> ArrayRef {
    Arc::new(Int64Array::from(cells.to_vec()))
}

pub(super) fn texts(cells: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(cells.to_vec()))
}

/// A result of columns that are all called `c`.
pub(super) fn table(arrays: Vec<ArrayRef>) -> ResultSet {
    let names = vec!["c"; arrays.len()];
    result_with_names(&names, arrays)
}

pub(super) fn result_with_names(names: &[&str], arrays: Vec<ArrayRef>) -> ResultSet {
    result(names, arrays, false)
}

/// A result that a cap cut.
pub(super) fn cut(arrays: Vec<ArrayRef>) -> ResultSet {
    let names = vec!["c"; arrays.len()];
    result(&names, arrays, true)
}

/// A result without rows.
pub(super) fn empty(names: &[&str]) -> ResultSet {
    result_with_names(names, names.iter().map(|_| ints(&[])).collect())
}

fn result(names: &[&str], arrays: Vec<ArrayRef>, truncated: bool) -> ResultSet {
    let schema = Arc::new(Schema::new(
        names
            .iter()
            .zip(&arrays)
            .map(|(name, array): (&&str, &ArrayRef)| {
                Field::new(*name, array.data_type().clone(), true)
            })
            .collect::<Vec<_>>(),
    ));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    ResultSet::new(schema, vec![batch], truncated, Vec::new(), String::new())
}
