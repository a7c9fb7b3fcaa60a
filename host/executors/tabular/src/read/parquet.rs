//! Apache Parquet. Lists and structures are left out: how many values one of them has is written in a few bytes, whatever their number.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use chrono::{DateTime, NaiveDateTime, NaiveTime, TimeDelta};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetStatisticsPolicy;

use super::{COLUMNS, Shape, Sink, Work, names};
use crate::cell::{Cell, ColumnType};
use crate::error::ImportError;
use crate::pages;
use crate::sources::Source;

/// Bytes of a file's description of itself at most.
const FOOTER: u64 = 16 << 20;
/// Rows that are unpacked at once.
const BATCH: usize = 1_024;
/// Bytes of values that are unpacked at once, about.
const BATCH_BYTES: u64 = 256 << 20;

pub(super) fn shape(source: &Source) -> Result<Shape, ImportError> {
    let (_, described) = described(source)?;
    let schema = described.schema();
    let (flat, nested): (Vec<_>, Vec<_>) = schema.fields().iter().partition(|field| column_type(field).is_some());
    if flat.is_empty() {
        return Err(ImportError::content(&source.name, None, "no column has plain values"));
    }
    Ok(Shape {
        names: names(source, flat.iter().map(|field| field.name().as_str()))?,
        types: flat.iter().filter_map(|field| column_type(field)).collect(),
        nested: nested.iter().map(|field| field.name().clone()).collect(),
    })
}

pub(super) fn rows(source: &Source, work: &Work<'_>, sink: Sink<'_>) -> Result<(), ImportError> {
    let wrong = |error: ParquetError| ImportError::content(&source.name, None, reason(&error));
    let (file, described) = described(source)?;
    let metadata = described.metadata();
    work.take_bytes(file.metadata().map_err(|error| ImportError::io(&source.name, &error))?.len())?;
    let repeating = pages::check(&file, metadata).map_err(|why| ImportError::content(&source.name, None, why))?;
    let rows = BATCH_BYTES.checked_div(repeating).unwrap_or(u64::MAX).clamp(1, BATCH as u64);
    let schema = described.schema();
    let flat = schema.fields().iter().enumerate().filter(|(_, field)| column_type(field).is_some());
    let mask = ProjectionMask::roots(metadata.file_metadata().schema_descr(), flat.map(|(at, _)| at));
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, described.clone());
    let batch_size = usize::try_from(rows).unwrap_or(BATCH);
    let mut reader =
        contained(source, || builder.with_projection(mask).with_batch_size(batch_size).build())?.map_err(wrong)?;
    while let Some(batch) = contained(source, || reader.next())? {
        let batch = batch.map_err(|error| ImportError::content(&source.name, None, error.to_string()))?;
        each_row(&batch, source, work, &mut *sink)?;
    }
    Ok(())
}

/// Work of the crate `parquet`, which panics at some damaged files, such as one whose values name a dictionary that it does not have.
fn contained<T>(source: &Source, work: impl FnOnce() -> T) -> Result<T, ImportError> {
    let damaged = |_| ImportError::content(&source.name, None, "it is damaged: its reader failed at it");
    catch_unwind(AssertUnwindSafe(work)).map_err(damaged)
}

fn each_row(batch: &RecordBatch, source: &Source, work: &Work<'_>, sink: Sink<'_>) -> Result<(), ImportError> {
    let schema = batch.schema();
    for row in 0..batch.num_rows() {
        work.take_row()?;
        let cells = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
            cell(column.as_ref(), row).ok_or_else(|| {
                let reason = format!("a value of column `{}` is out of the range of SQLite's", field.name());
                ImportError::content(&source.name, None, reason)
            })
        });
        sink(&cells.collect::<Result<Vec<_>, _>>()?)?;
    }
    Ok(())
}

/// The file and its description of itself. Texts and bytes are read as views, which repeat no value that the file has once.
fn described(source: &Source) -> Result<(File, ArrowReaderMetadata), ImportError> {
    let io = |error: std::io::Error| ImportError::io(&source.name, &error);
    let wrong = |reason: String| ImportError::content(&source.name, None, reason);
    let mut file = File::open(&source.path).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    let mut end = [0; 8];
    if size < 12 {
        return Err(wrong("it is no Parquet file".to_owned()));
    }
    file.seek(SeekFrom::End(-8)).and_then(|_| file.read_exact(&mut end)).map_err(io)?;
    let [a, b, c, d, magic @ ..] = end;
    match &magic {
        b"PAR1" => {}
        b"PARE" => return Err(wrong("it is encrypted".to_owned())),
        _ => return Err(wrong("it is no Parquet file, or its end is missing".to_owned())),
    }
    if u64::from(u32::from_le_bytes([a, b, c, d])) > FOOTER.min(size - 8) {
        return Err(wrong(format!("its description of itself has more than {FOOTER} bytes, or than the file has")));
    }
    let options = || {
        let skip = ParquetStatisticsPolicy::SkipAll;
        ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_column_stats_policy(skip.clone())
            .with_size_stats_policy(skip.clone())
            .with_encoding_stats_policy(skip)
    };
    let read = |error: ParquetError| wrong(reason(&error));
    let described = contained(source, || ArrowReaderMetadata::load(&file, options()))?.map_err(read)?;
    if described.schema().fields().len() > COLUMNS {
        return Err(wrong(format!("there are more than {COLUMNS} columns")));
    }
    let view = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        DataType::Binary => Arc::new(field.as_ref().clone().with_data_type(DataType::BinaryView)),
        _ => Arc::clone(field),
    };
    let fields: Vec<_> = described.schema().fields().iter().map(view).collect();
    let schema = Arc::new(Schema::new(fields));
    let metadata = Arc::clone(described.metadata());
    Ok((file, ArrowReaderMetadata::try_new(metadata, options().with_schema(schema)).map_err(read)?))
}

fn reason(error: &ParquetError) -> String {
    let text = error.to_string();
    let text = text.trim_start_matches("Parquet error: ").trim_start_matches("NYI: ");
    format!("it cannot be read as Parquet: {text}")
}

/// The type of a column of plain values; `None` for others.
fn column_type(field: &Field) -> Option<ColumnType> {
    Some(match field.data_type() {
        DataType::Boolean => ColumnType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => ColumnType::Integer,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => ColumnType::Integer,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ColumnType::Real,
        DataType::Decimal128(..) | DataType::Decimal256(..) => ColumnType::Real,
        DataType::Utf8View | DataType::Time32(_) | DataType::Time64(_) | DataType::Null => ColumnType::Text,
        DataType::BinaryView | DataType::FixedSizeBinary(_) => ColumnType::Blob,
        DataType::Date32 => ColumnType::Date,
        DataType::Timestamp(..) => ColumnType::Timestamp,
        _ => return None,
    })
}

/// A value; `None` where it is out of range.
fn cell(column: &dyn Array, row: usize) -> Option<Cell<'_>> {
    if column.is_null(row) || *column.data_type() == DataType::Null {
        return Some(Cell::Null);
    }
    macro_rules! value {
        ($kind:ty) => {
            column.as_primitive::<$kind>().value(row)
        };
    }
    Some(match column.data_type() {
        DataType::Boolean => Cell::Boolean(column.as_boolean().value(row)),
        DataType::Int8 => Cell::Integer(value!(Int8Type).into()),
        DataType::Int16 => Cell::Integer(value!(Int16Type).into()),
        DataType::Int32 => Cell::Integer(value!(Int32Type).into()),
        DataType::Int64 => Cell::Integer(value!(Int64Type)),
        DataType::UInt8 => Cell::Integer(value!(UInt8Type).into()),
        DataType::UInt16 => Cell::Integer(value!(UInt16Type).into()),
        DataType::UInt32 => Cell::Integer(value!(UInt32Type).into()),
        DataType::UInt64 => Cell::Integer(i64::try_from(value!(UInt64Type)).ok()?),
        DataType::Float16 => Cell::Real(value!(Float16Type).to_f64()),
        DataType::Float32 => Cell::Real(value!(Float32Type).into()),
        DataType::Float64 => Cell::Real(value!(Float64Type)),
        DataType::Decimal128(precision, scale) => {
            real(&Decimal128Type::format_decimal(value!(Decimal128Type), *precision, *scale))
        }
        DataType::Decimal256(precision, scale) => {
            real(&Decimal256Type::format_decimal(value!(Decimal256Type), *precision, *scale))
        }
        DataType::Utf8View => Cell::Text(Cow::Borrowed(column.as_string_view().value(row))),
        DataType::BinaryView => Cell::Bytes(column.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => Cell::Bytes(column.as_fixed_size_binary().value(row)),
        DataType::Date32 => {
            let day = TimeDelta::try_days(value!(Date32Type).into())?;
            text(DateTime::UNIX_EPOCH.checked_add_signed(day)?.naive_utc().date())
        }
        DataType::Time32(TimeUnit::Second) => time(i64::from(value!(Time32SecondType)), 1)?,
        DataType::Time32(_) => time(i64::from(value!(Time32MillisecondType)), 1_000)?,
        DataType::Time64(TimeUnit::Microsecond) => time(value!(Time64MicrosecondType), 1_000_000)?,
        DataType::Time64(_) => time(value!(Time64NanosecondType), 1_000_000_000)?,
        DataType::Timestamp(unit, zone) => {
            let (value, parts) = match unit {
                TimeUnit::Second => (value!(TimestampSecondType), 1),
                TimeUnit::Millisecond => (value!(TimestampMillisecondType), 1_000),
                TimeUnit::Microsecond => (value!(TimestampMicrosecondType), 1_000_000),
                TimeUnit::Nanosecond => (value!(TimestampNanosecondType), 1_000_000_000),
            };
            let time: NaiveDateTime =
                DateTime::from_timestamp(value.div_euclid(parts), nanos(value, parts)?)?.naive_utc();
            // Values with a zone are stored in UTC.
            text(format_args!("{time}{}", if zone.is_some() { "Z" } else { "" }))
        }
        _ => return None,
    })
}

fn text(shown: impl std::fmt::Display) -> Cell<'static> {
    Cell::Text(Cow::Owned(shown.to_string()))
}

/// A decimal number, as near as a floating-point number comes.
fn real(digits: &str) -> Cell<'static> {
    digits.parse().map_or(Cell::Null, Cell::Real)
}

/// The nanoseconds of the second in which a value lies that counts parts of seconds.
fn nanos(value: i64, parts: i64) -> Option<u32> {
    u32::try_from(value.rem_euclid(parts) * (1_000_000_000 / parts)).ok()
}

fn time(value: i64, parts: i64) -> Option<Cell<'static>> {
    let seconds = u32::try_from(value.div_euclid(parts)).ok()?;
    NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanos(value, parts)?).map(text)
}
