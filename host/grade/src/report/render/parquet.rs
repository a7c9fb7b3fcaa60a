//! Parquet: the lines of the CSV file with types, compressed with Snappy.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::rows::{COLUMNS, Column, Kind, rules, verdict};
use crate::report::ResultRow;

/// Lines in a row group.
const GROUP: usize = 8192;

/// The reason why there is no Parquet file.
#[derive(Debug, thiserror::Error)]
pub enum ParquetFault {
    /// The answers make no table.
    #[error("the answers do not fit into a table")]
    Table(#[from] ArrowError),
    /// The file cannot be written.
    #[error("the parquet file cannot be written")]
    File(#[from] ParquetError),
}

/// The answers as a Parquet file: texts, 64-bit counts, doubles and truth values, null where a
/// value is not known.
///
/// # Errors
/// When the table is greater than the format allows.
pub fn parquet(rows: &[ResultRow]) -> Result<Vec<u8>, ParquetFault> {
    let rules = rules(rows);
    let own = COLUMNS.iter().map(|column| Field::new(column.name, kind(column.kind), true));
    let by_rule =
        rules.iter().map(|rule| Field::new(format!("verdict:{rule}"), DataType::Utf8, true));
    let schema = Arc::new(Schema::new(own.chain(by_rule).collect::<Vec<_>>()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("syrch-host".to_owned())
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
    for group in rows.chunks(GROUP) {
        let own = COLUMNS.iter().map(|column| array(column, group));
        let by_rule = rules.iter().map(|rule| -> ArrayRef {
            let verdicts = group.iter().map(|row| row.verdicts.get(*rule).map(|one| verdict(*one)));
            Arc::new(verdicts.collect::<StringArray>())
        });
        writer.write(&RecordBatch::try_new(schema.clone(), own.chain(by_rule).collect())?)?;
    }
    Ok(writer.into_inner()?)
}

fn kind(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::Utf8,
        Kind::Count => DataType::UInt64,
        Kind::Number => DataType::Float64,
        Kind::Truth => DataType::Boolean,
    }
}

fn array(column: &Column, rows: &[ResultRow]) -> ArrayRef {
    let values = rows.iter().map(column.value);
    match column.kind {
        Kind::Text => Arc::new(values.map(text).collect::<StringArray>()),
        Kind::Count => Arc::new(values.map(|value| value.as_u64()).collect::<UInt64Array>()),
        Kind::Number => Arc::new(values.map(|value| value.as_f64()).collect::<Float64Array>()),
        Kind::Truth => Arc::new(values.map(|value| value.as_bool()).collect::<BooleanArray>()),
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
