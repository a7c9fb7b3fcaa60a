//! Arrow as servers send it: bytes of an IPC stream, names of types, and texts of the catalog's
//! answers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchOptions};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit, Schema, SchemaRef};
use syrch_core::result_set::SQL_TYPE;
use syrch_core::{SqlError, SqlErrorKind};

/// The schema and the batches of an IPC stream.
///
/// # Errors
/// When the bytes are no such stream, or batches are compressed.
pub(crate) fn decode_stream(bytes: &[u8]) -> Result<(SchemaRef, Vec<RecordBatch>), SqlError> {
    let read = || -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
        let reader = StreamReader::try_new(bytes, None)?;
        let schema = reader.schema();
        Ok((schema, reader.collect::<Result<_, _>>()?))
    };
    // Arrow's reader panics on some bytes, and a server may send any.
    match std::panic::catch_unwind(read) {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(_)) | Err(_) => Err(unreadable()),
    }
}

fn unreadable() -> SqlError {
    SqlError::new(SqlErrorKind::Other, "the server sent rows that are not valid Arrow data")
}

/// A schema whose fields say which type of Spark's they have, in place of the server's own
/// metadata.
pub(crate) fn with_sql_types(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let metadata = HashMap::from([(SQL_TYPE.to_owned(), sql_type(field.data_type()))]);
        Field::new(field.name(), field.data_type().clone(), true).with_metadata(metadata)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A batch under a schema of [`with_sql_types`].
///
/// # Errors
/// When its columns have other types than those of the first batch.
pub(crate) fn with_schema(
    schema: &SchemaRef,
    batch: &RecordBatch,
) -> Result<RecordBatch, SqlError> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
        .map_err(|_| unreadable())
}

/// A type as Spark's SQL writes it.
pub(crate) fn sql_type(of: &DataType) -> String {
    let name = match of {
        DataType::Null => "VOID",
        DataType::Boolean => "BOOLEAN",
        DataType::Int8 => "TINYINT",
        DataType::Int16 => "SMALLINT",
        DataType::Int32 => "INT",
        DataType::Int64 => "BIGINT",
        DataType::Float32 => "FLOAT",
        DataType::Float64 => "DOUBLE",
        DataType::Decimal128(precision, scale) => return format!("DECIMAL({precision},{scale})"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "STRING",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "BINARY",
        DataType::Date32 => "DATE",
        DataType::Time64(_) => "TIME",
        DataType::Timestamp(_, None) => "TIMESTAMP_NTZ",
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP",
        DataType::Interval(IntervalUnit::YearMonth) => "INTERVAL YEAR TO MONTH",
        DataType::Duration(_) => "INTERVAL DAY TO SECOND",
        DataType::Interval(_) => "INTERVAL",
        DataType::List(element) | DataType::LargeList(element) => {
            return format!("ARRAY<{}>", sql_type(element.data_type()));
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(pair) = entries.data_type() else { return "MAP".to_owned() };
            let parts: Vec<String> = pair.iter().map(|field| sql_type(field.data_type())).collect();
            return format!("MAP<{}>", parts.join(", "));
        }
        DataType::Struct(fields) => {
            let parts = fields
                .iter()
                .map(|field| format!("{}: {}", field.name(), sql_type(field.data_type())));
            return format!("STRUCT<{}>", parts.collect::<Vec<_>>().join(", "));
        }
        other => return other.to_string(),
    };
    name.to_owned()
}

/// The comment of a column, which Spark sends as JSON and others plainly.
pub(crate) fn comment(field: &Field) -> Option<String> {
    let spark = field.metadata().get("SPARK::metadata::json").and_then(|text| {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        Some(value.get("comment")?.as_str()?.to_owned())
    });
    spark.or_else(|| field.metadata().get("comment").cloned()).filter(|comment| !comment.is_empty())
}

/// A text of an answer of the catalog; `None` if it is NULL or of another type, or if there is no
/// such row.
pub(crate) fn text(column: &dyn Array, row: usize) -> Option<&str> {
    if row >= column.len() || column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(column.as_string::<i64>().value(row)),
        _ => None,
    }
}

/// A list of texts of an answer of the catalog.
pub(crate) fn texts(column: &dyn Array, row: usize) -> Vec<String> {
    if row >= column.len() || column.is_null(row) {
        return Vec::new();
    }
    let list = match column.data_type() {
        DataType::List(_) => column.as_list::<i32>().value(row),
        DataType::LargeList(_) => column.as_list::<i64>().value(row),
        _ => return Vec::new(),
    };
    (0..list.len()).filter_map(|row| text(&list, row).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int32Array, StringArray};
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::TimeUnit;

    use super::*;

    fn stream() -> Vec<u8> {
        let schema = Arc::new(Schema::new(vec![
            Field::new("n", DataType::Int32, false),
            Field::new("t", DataType::Utf8, true),
        ]));
        let columns: Vec<Arc<dyn Array>> = vec![
            Arc::new(Int32Array::from(vec![1, 2])),
            Arc::new(StringArray::from(vec![Some("é"), None])),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, &schema).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    }

    #[test]
    fn a_stream_is_read_and_its_types_are_named() {
        let (schema, batches) = decode_stream(&stream()).unwrap();
        let schema = with_sql_types(&schema);
        assert_eq!(schema.field(0).metadata()[SQL_TYPE], "INT");
        let batch = with_schema(&schema, &batches[0]).unwrap();
        assert_eq!(
            (batch.num_rows(), text(batch.column(1), 0), text(batch.column(1), 1)),
            (2, Some("é"), None)
        );
        let other = with_sql_types(&Schema::new(vec![Field::new("n", DataType::Utf8, true)]));
        assert!(with_schema(&other, &batch).is_err());
    }

    #[test]
    fn damaged_streams_are_errors() {
        let bytes = stream();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            let _ = decode_stream(&damaged);
            let _ = decode_stream(&bytes[..at]);
        }
        assert!(decode_stream(b"no arrow at all").is_err());
    }

    #[test]
    fn types_are_written_as_spark_writes_them() {
        fn field(name: &str, of: DataType) -> Arc<Field> {
            Arc::new(Field::new(name, of, true))
        }
        let pair = DataType::Struct(
            vec![field("key", DataType::Utf8), field("value", DataType::Date32)].into(),
        );
        for (of, name) in [
            (DataType::Decimal128(10, 2), "DECIMAL(10,2)"),
            (DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), "TIMESTAMP"),
            (DataType::List(field("element", DataType::Int16)), "ARRAY<SMALLINT>"),
            (DataType::Map(field("entries", pair.clone()), false), "MAP<STRING, DATE>"),
            (pair, "STRUCT<key: STRING, value: DATE>"),
        ] {
            assert_eq!(sql_type(&of), name);
        }
    }

    #[test]
    fn comments_are_found_in_both_forms() {
        fn with(name: &str, text: &str) -> Option<String> {
            comment(
                &Field::new("x", DataType::Null, true)
                    .with_metadata(HashMap::from([(name.to_owned(), text.to_owned())])),
            )
        }
        assert_eq!(
            with("SPARK::metadata::json", r#"{"comment":"the id"}"#).as_deref(),
            Some("the id")
        );
        assert_eq!(with("comment", "the id").as_deref(), Some("the id"));
        assert_eq!(with("SPARK::metadata::json", "{"), None);
    }
}
