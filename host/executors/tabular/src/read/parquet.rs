//! Apache Parquet. Lists and structures are left out: how many values one of them has is written in
//! a few bytes, whatever their number.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use chrono::{DateTime, Datelike, NaiveDateTime, NaiveTime, TimeDelta};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetStatisticsPolicy;
use syrch_core::imports::Note;

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
/// The years that ISO 8601 writes with four digits.
const YEARS: RangeInclusive<i32> = 0..=9_999;

pub(super) fn shape(source: &Source, work: &Work<'_>) -> Result<Shape, ImportError> {
    let (file, described) = read_metadata(source)?;
    let schema = described.schema();
    let (flat, nested): (Vec<_>, Vec<_>) =
        schema.fields().iter().partition(|field| column_type(field).is_some());
    if flat.is_empty() {
        return Err(ImportError::content(&source.name, None, "no column has plain values"));
    }
    let great = great_columns(source, file, &described, work)?;
    let names = names(source, flat.iter().map(|field| field.name().as_str()))?;
    let mut types = Vec::with_capacity(flat.len());
    let mut notes = Vec::new();
    for (field, name) in flat.iter().zip(&names) {
        let is_great = great.contains(field.name());
        types.extend(if is_great { Some(ColumnType::Text) } else { column_type(field) });
        notes.extend(note(field, is_great).map(|text| Note::new(name.clone(), text)));
    }
    let nested = nested.iter().map(|field| field.name().clone()).collect();
    Ok(Shape { names, types, nested, notes, ..Shape::new(Vec::new(), Vec::new()) })
}

/// The note of a column that is stored otherwise than the file has it.
fn note(field: &Field, is_great: bool) -> Option<String> {
    match field.data_type() {
        _ if is_great => Some("stays text: it has whole numbers of more than 63 bits".to_owned()),
        DataType::Timestamp(_, Some(_)) => Some("in UTC".to_owned()),
        DataType::Decimal128(digits, _) | DataType::Decimal256(digits, _) if *digits > 15 => {
            Some(format!(
                "decimal numbers of up to {digits} digits, of which floating-point numbers have 15"
            ))
        }
        _ => None,
    }
}

/// The columns with whole numbers that the engine has no type for, which have to be read for it.
fn great_columns(
    source: &Source,
    file: File,
    described: &ArrowReaderMetadata,
    work: &Work<'_>,
) -> Result<HashSet<String>, ImportError> {
    fn is_wide(field: &Field) -> bool {
        *field.data_type() == DataType::UInt64
    }
    let mut great = HashSet::new();
    if !described.schema().fields().iter().any(|field| is_wide(field)) {
        return Ok(great);
    }
    each_batch(source, file, described, &work.renew(), is_wide, |batch| {
        for (column, field) in batch.columns().iter().zip(batch.schema().fields()) {
            let numbers = column.as_primitive::<UInt64Type>();
            if numbers.iter().flatten().any(|number| i64::try_from(number).is_err()) {
                great.insert(field.name().clone());
            }
        }
        Ok(())
    })?;
    Ok(great)
}

pub(super) fn rows(
    source: &Source,
    shape: &Shape,
    work: &Work<'_>,
    sink: Sink<'_>,
) -> Result<Vec<Note>, ImportError> {
    let (file, described) = read_metadata(source)?;
    let mut absent = vec![0_u64; shape.types.len()];
    each_batch(
        source,
        file,
        &described,
        work,
        |field: &Field| column_type(field).is_some(),
        |batch| each_row(batch, shape, work, &mut absent, &mut *sink),
    )?;
    let counts = shape.names.iter().zip(absent).filter(|(_, count)| *count > 0);
    Ok(counts
        .map(|(name, count): (&String, u64)| {
            let values =
                if count == 1 { "1 value is".to_owned() } else { format!("{count} values are") };
            Note::new(
                name.clone(),
                format!("{values} out of the calendar's years 0 to 9999, and NULL"),
            )
        })
        .collect())
}

/// Reads the columns that are wanted, some rows at a time.
fn each_batch(
    source: &Source,
    file: File,
    described: &ArrowReaderMetadata,
    work: &Work<'_>,
    is_wanted: impl Fn(&Field) -> bool,
    mut each: impl FnMut(&RecordBatch) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let metadata = described.metadata();
    work.take_bytes(file.metadata().map_err(|error| ImportError::io(&source.name, &error))?.len())?;
    let repeating = pages::check(&file, metadata)
        .map_err(|why| ImportError::content(&source.name, None, why))?;
    let rows = BATCH_BYTES.checked_div(repeating).unwrap_or(u64::MAX).clamp(1, BATCH as u64);
    let wanted =
        described.schema().fields().iter().enumerate().filter(|(_, field)| is_wanted(field));
    let mask =
        ProjectionMask::roots(metadata.file_metadata().schema_descr(), wanted.map(|(at, _)| at));
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, described.clone());
    let batch_size = usize::try_from(rows).unwrap_or(BATCH);
    let mut reader =
        catch_panic(source, || builder.with_projection(mask).with_batch_size(batch_size).build())?
            .map_err(|error: ParquetError| {
                ImportError::content(&source.name, None, reason(&error))
            })?;
    while let Some(batch) = catch_panic(source, || reader.next())? {
        let batch =
            batch.map_err(|error| ImportError::content(&source.name, None, error.to_string()))?;
        work.look()?;
        each(&batch)?;
    }
    Ok(())
}

/// Work of the crate `parquet`, which panics at some damaged files, such as one whose values name a
/// dictionary that it does not have.
fn catch_panic<T>(source: &Source, work: impl FnOnce() -> T) -> Result<T, ImportError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        ImportError::content(&source.name, None, "it is damaged: its reader failed at it")
    })
}

/// Passes on the rows; values that are out of range are absent, and counted by column.
fn each_row(
    batch: &RecordBatch,
    shape: &Shape,
    work: &Work<'_>,
    absent: &mut [u64],
    sink: Sink<'_>,
) -> Result<(), ImportError> {
    for row in 0..batch.num_rows() {
        work.take_row()?;
        let columns = batch.columns().iter().zip(&shape.types).zip(&mut *absent);
        let cells = columns.map(|((column, kind), absent)| {
            cell(column.as_ref(), row, *kind).unwrap_or_else(|| {
                *absent += 1;
                Cell::Null
            })
        });
        sink(&cells.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The file and its description of itself. Texts and bytes are read as views, which repeat no value
/// that the file has once.
fn read_metadata(source: &Source) -> Result<(File, ArrowReaderMetadata), ImportError> {
    fn io_error(source: &Source, error: std::io::Error) -> ImportError {
        ImportError::io(&source.name, &error)
    }
    fn content_error(source: &Source, reason: String) -> ImportError {
        ImportError::content(&source.name, None, reason)
    }
    let mut file = File::open(&source.path).map_err(|error| io_error(source, error))?;
    let size = file.metadata().map_err(|error| io_error(source, error))?.len();
    let mut end = [0; 8];
    if size < 12 {
        return Err(content_error(source, "it is no Parquet file".to_owned()));
    }
    file.seek(SeekFrom::End(-8))
        .and_then(|_| file.read_exact(&mut end))
        .map_err(|error| io_error(source, error))?;
    let [a, b, c, d, magic @ ..] = end;
    match &magic {
        b"PAR1" => {}
        b"PARE" => return Err(content_error(source, "it is encrypted".to_owned())),
        _ => {
            return Err(content_error(
                source,
                "it is no Parquet file, or its end is missing".to_owned(),
            ));
        }
    }
    if u64::from(u32::from_le_bytes([a, b, c, d])) > FOOTER.min(size - 8) {
        return Err(content_error(
            source,
            format!("its description of itself has more than {FOOTER} bytes, or than the file has"),
        ));
    }
    let options = || {
        let skip = ParquetStatisticsPolicy::SkipAll;
        ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_column_stats_policy(skip.clone())
            .with_size_stats_policy(skip.clone())
            .with_encoding_stats_policy(skip)
    };
    let read = |error: ParquetError| content_error(source, reason(&error));
    let described =
        catch_panic(source, || ArrowReaderMetadata::load(&file, options()))?.map_err(read)?;
    if described.schema().fields().len() > COLUMNS {
        return Err(content_error(source, format!("there are more than {COLUMNS} columns")));
    }
    let fields: Vec<_> = described
        .schema()
        .fields()
        .iter()
        .map(|field: &Arc<Field>| match field.data_type() {
            DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
            DataType::Binary => {
                Arc::new(field.as_ref().clone().with_data_type(DataType::BinaryView))
            }
            _ => Arc::clone(field),
        })
        .collect();
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
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            ColumnType::Integer
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ColumnType::Real,
        DataType::Decimal128(..) | DataType::Decimal256(..) => ColumnType::Real,
        DataType::Utf8View | DataType::Time32(_) | DataType::Time64(_) | DataType::Null => {
            ColumnType::Text
        }
        DataType::BinaryView | DataType::FixedSizeBinary(_) => ColumnType::Blob,
        DataType::Date32 => ColumnType::Date,
        DataType::Timestamp(..) => ColumnType::Timestamp,
        _ => return None,
    })
}

/// A value of a column of that type; `None` where it is out of range.
fn cell(column: &dyn Array, row: usize, kind: ColumnType) -> Option<Cell<'_>> {
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
        DataType::UInt64 if kind == ColumnType::Text => text(value!(UInt64Type)),
        DataType::UInt64 => Cell::Integer(i64::try_from(value!(UInt64Type)).ok()?),
        DataType::Float16 => Cell::Real(value!(Float16Type).to_f64()),
        DataType::Float32 => Cell::Real(value!(Float32Type).into()),
        DataType::Float64 => Cell::Real(value!(Float64Type)),
        DataType::Decimal128(precision, scale) => read_decimal(&Decimal128Type::format_decimal(
            value!(Decimal128Type),
            *precision,
            *scale,
        )),
        DataType::Decimal256(precision, scale) => read_decimal(&Decimal256Type::format_decimal(
            value!(Decimal256Type),
            *precision,
            *scale,
        )),
        DataType::Utf8View => Cell::Text(Cow::Borrowed(column.as_string_view().value(row))),
        DataType::BinaryView => Cell::Bytes(column.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => Cell::Bytes(column.as_fixed_size_binary().value(row)),
        DataType::Date32 => {
            let day = TimeDelta::try_days(value!(Date32Type).into())?;
            let day = DateTime::UNIX_EPOCH.checked_add_signed(day)?.naive_utc().date();
            text(Some(day).filter(|day| YEARS.contains(&day.year()))?)
        }
        DataType::Time32(TimeUnit::Second) => time(i64::from(value!(Time32SecondType)), 1)?,
        DataType::Time32(_) => time(i64::from(value!(Time32MillisecondType)), 1_000)?,
        DataType::Time64(TimeUnit::Microsecond) => time(value!(Time64MicrosecondType), 1_000_000)?,
        DataType::Time64(_) => time(value!(Time64NanosecondType), 1_000_000_000)?,
        DataType::Timestamp(unit, _) => {
            let (value, parts) = match unit {
                TimeUnit::Second => (value!(TimestampSecondType), 1),
                TimeUnit::Millisecond => (value!(TimestampMillisecondType), 1_000),
                TimeUnit::Microsecond => (value!(TimestampMicrosecondType), 1_000_000),
                TimeUnit::Nanosecond => (value!(TimestampNanosecondType), 1_000_000_000),
            };
            let time: NaiveDateTime =
                DateTime::from_timestamp(value.div_euclid(parts), nanos(value, parts)?)?
                    .naive_utc();
            // Values with a zone are in UTC.
            text(Some(time).filter(|time| YEARS.contains(&time.year()))?)
        }
        _ => return None,
    })
}

fn text(shown: impl std::fmt::Display) -> Cell<'static> {
    Cell::Text(Cow::Owned(shown.to_string()))
}

/// A decimal number, as near as a floating-point number comes.
fn read_decimal(digits: &str) -> Cell<'static> {
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
