//! Rows that come as texts in JSON, as record batches.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, NullArray, RecordBatch,
    RecordBatchOptions,
};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use syrch_core::result_set::SQL_TYPE;

use crate::error::Failure;
use crate::wire::{ColumnInfo, DataArray};

/// The schema of a result whose rows come as texts.
pub(crate) fn schema(columns: &[ColumnInfo]) -> Schema {
    Schema::new(
        columns
            .iter()
            .map(|column: &ColumnInfo| {
                let field =
                    Field::new(column.name.clone().unwrap_or_default(), data_type(column), true);
                field.with_metadata([(
                    SQL_TYPE.to_owned(),
                    column.type_text.clone().unwrap_or_default(),
                )])
            })
            .collect::<Vec<_>>(),
    )
}

/// The schema of a stream of batches, with the declared types of its columns.
pub(crate) fn with_declared_types(schema: &Schema, columns: &[ColumnInfo]) -> Schema {
    if schema.fields().len() != columns.len() {
        return schema.clone();
    }
    let fields = schema.fields().iter().zip(columns).map(|(field, column)| {
        let sql_type = column.type_text.clone().unwrap_or_default();
        field.as_ref().clone().with_metadata([(SQL_TYPE.to_owned(), sql_type)])
    });
    Schema::new(fields.collect::<Vec<_>>())
}

fn data_type(column: &ColumnInfo) -> DataType {
    match column.type_name.as_deref().unwrap_or_default() {
        "BOOLEAN" => DataType::Boolean,
        "BYTE" | "SHORT" | "INT" | "LONG" => DataType::Int64,
        "FLOAT" | "DOUBLE" => DataType::Float64,
        "DECIMAL" => {
            let precision =
                column.type_precision.and_then(|precision| u8::try_from(precision).ok());
            let scale = column.type_scale.and_then(|scale| i8::try_from(scale).ok());
            match (precision, scale) {
                (Some(precision @ 1..=38), Some(scale)) if (0..=38).contains(&scale) => {
                    DataType::Decimal128(precision, scale)
                }
                _ => DataType::Utf8,
            }
        }
        "BINARY" => DataType::Binary,
        "NULL" | "VOID" => DataType::Null,
        _ => DataType::Utf8,
    }
}

/// The rows of a chunk in the types of the schema.
///
/// # Errors
/// When a row has another number of cells, or a cell is not of its column's type.
pub(crate) fn batch(schema: &Arc<Schema>, rows: &DataArray) -> Result<RecordBatch, Failure> {
    let wrong =
        || Failure::Unavailable("the rows of its reply are not those that it describes".to_owned());
    if rows.iter().any(|row| row.len() != schema.fields().len()) {
        return Err(wrong());
    }
    let cells = |column: usize| rows.iter().map(move |row| row[column].as_deref());
    let columns = schema.fields().iter().enumerate().map(|(at, field)| -> Option<ArrayRef> {
        Some(match field.data_type() {
            DataType::Boolean => Arc::new(
                cells(at)
                    .map(|cell| parse_cell(cell, |text| text.to_ascii_lowercase().parse().ok()))
                    .collect::<Option<BooleanArray>>()?,
            ),
            DataType::Int64 => Arc::new(
                cells(at)
                    .map(|cell| parse_cell(cell, |text| text.parse().ok()))
                    .collect::<Option<Int64Array>>()?,
            ),
            DataType::Float64 => Arc::new(
                cells(at)
                    .map(|cell| parse_cell(cell, |text| text.parse().ok()))
                    .collect::<Option<Float64Array>>()?,
            ),
            DataType::Decimal128(precision, scale) => {
                let values = cells(at)
                    .map(|cell| parse_cell(cell, |text| parse_decimal(text, *scale)))
                    .collect::<Option<Decimal128Array>>()?;
                let values = values.with_precision_and_scale(*precision, *scale).ok()?;
                values.validate_decimal_precision(*precision).ok()?;
                Arc::new(values)
            }
            DataType::Binary => {
                let mut builder = BinaryBuilder::new();
                for cell in cells(at) {
                    builder.append_option(parse_cell(cell, |text| STANDARD.decode(text).ok())?);
                }
                Arc::new(builder.finish())
            }
            DataType::Null => Arc::new(NullArray::new(rows.len())),
            _ => {
                let mut builder = StringBuilder::new();
                cells(at).for_each(|cell| builder.append_option(cell));
                Arc::new(builder.finish())
            }
        })
    });
    let columns = columns.collect::<Option<Vec<ArrayRef>>>().ok_or_else(wrong)?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(|_| wrong())
}

/// A cell's value; the outer `None` where the text is no such value.
#[allow(clippy::option_option, reason = "a cell may be NULL, and a text may be no value")]
fn parse_cell<T>(cell: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match cell {
        None => Some(None),
        Some(text) => parse(text).map(Some),
    }
}

/// The digits of a decimal number with `scale` digits after the point.
fn parse_decimal(text: &str, scale: i8) -> Option<i128> {
    let scale = usize::try_from(scale).ok()?;
    let (digits, is_negative) =
        text.strip_prefix('-').map_or((text, false), |digits| (digits, true));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number =
        [whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_number || whole.is_empty() || fraction.len() > scale {
        return None;
    }
    let number: i128 = format!("{whole}{fraction:0<scale$}").parse().ok()?;
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, type_name: &str) -> ColumnInfo {
        ColumnInfo {
            name: Some(name.into()),
            type_name: Some(type_name.into()),
            type_text: Some(type_name.to_lowercase()),
            type_precision: Some(5),
            type_scale: Some(2),
        }
    }

    #[test]
    fn texts_become_values_of_their_types() {
        let types = ["BOOLEAN", "LONG", "DOUBLE", "DECIMAL", "BINARY", "NULL", "STRUCT"];
        let columns: Vec<_> = types.iter().map(|name| column("c", name)).collect();
        let schema = Arc::new(schema(&columns));
        let row = ["true", "-7", "NaN", "-1.5", "AQI=", "", "{\"a\":1}"]
            .map(|cell| Some(cell.to_owned()))
            .to_vec();
        let batch = batch(&schema, &vec![row, vec![None; 7]]).unwrap();
        assert_eq!((batch.num_rows(), batch.column(3).null_count()), (2, 1));
        assert_eq!(
            batch.column(3).as_any().downcast_ref::<Decimal128Array>().unwrap().value(0),
            -150
        );
        assert_eq!(batch.schema().field(1).metadata()[SQL_TYPE], "long");
    }

    #[test]
    fn rows_that_are_not_as_described_are_refused() {
        for (name, cell) in [
            ("LONG", "x"),
            ("BOOLEAN", "maybe"),
            ("DECIMAL", "1.234"),
            ("DECIMAL", "99999"),
            ("BINARY", "*"),
        ] {
            let schema = Arc::new(schema(&[column("c", name)]));
            assert!(batch(&schema, &vec![vec![Some(cell.to_owned())]]).is_err(), "{name} {cell}");
            assert!(batch(&schema, &vec![vec![]]).is_err());
        }
    }

    #[test]
    fn decimals_have_the_digits_of_their_scale() {
        for (text, scale, expected) in [
            ("12.3", 2, Some(1230)),
            ("-0.05", 2, Some(-5)),
            ("7", 0, Some(7)),
            (".5", 1, None),
            ("1e3", 2, None),
            ("--1", 0, None),
        ] {
            assert_eq!(parse_decimal(text, scale), expected, "{text}");
        }
    }
}
