//! Converts the server's cells to Arrow columns. Truth values, whole and floating-point numbers,
//! texts, bytes, dates and timestamps without a zone are read in binary form; every other type is
//! read as the server spells it, which loses no digit of a number and no part of a time. Decimal
//! numbers become Arrow's where they have at most 38 digits. Dates and timestamps become texts as
//! the server spells them: a cast by the server takes it a fifth longer for a table with one date.

use std::error::Error;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder,
};
use arrow_array::{Array, ArrayRef};
use syrch_arrow_engine::{date, decimals, timestamp};
use tokio_postgres::types::{FromSql, Kind, Type};

/// Days from 1 January 1970 to 1 January 2000, from which the server counts.
const EPOCH: i64 = 10_957;
/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The form in which a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Boolean,
    /// A whole number of so many bytes.
    Integer(usize),
    /// Unsigned, of four bytes.
    Oid,
    /// A floating-point number of four or eight bytes.
    Real(usize),
    Bytes,
    Text,
    Date,
    /// A date with a time and without a zone.
    Timestamp,
    /// A decimal number, after a cast to text by the server.
    Decimal,
    /// Text, after a cast by the server.
    Spelled,
}

impl Form {
    pub(crate) fn for_type(data_type: &Type) -> Self {
        match *data_type {
            Type::BOOL => Self::Boolean,
            Type::INT2 => Self::Integer(2),
            Type::INT4 => Self::Integer(4),
            Type::INT8 => Self::Integer(8),
            Type::OID => Self::Oid,
            Type::FLOAT4 => Self::Real(4),
            Type::FLOAT8 => Self::Real(8),
            Type::BYTEA => Self::Bytes,
            Type::DATE => Self::Date,
            Type::TIMESTAMP => Self::Timestamp,
            Type::NUMERIC => Self::Decimal,
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => Self::Text,
            _ => Self::Spelled,
        }
    }

    /// Returns true if the server casts it to text.
    pub(crate) fn is_cast(self) -> bool {
        matches!(self, Self::Decimal | Self::Spelled)
    }
}

/// The name of a type as SQL writes it.
pub(crate) fn name(data_type: &Type) -> String {
    match data_type.kind() {
        Kind::Array(element) => format!("{}[]", element.name()),
        _ => data_type.name().to_owned(),
    }
}

/// A cell as the server sent it.
pub(crate) struct Raw<'r>(pub(crate) &'r [u8]);

impl<'r> FromSql<'r> for Raw<'r> {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A column under construction.
pub(crate) enum ColumnBuilder {
    Booleans(BooleanBuilder),
    Integers(Int64Builder),
    /// Object ids: whole numbers of four bytes without a sign.
    Oids(Int64Builder),
    Reals(Float64Builder),
    Bytes(BinaryBuilder),
    Decimals(StringBuilder),
    Texts(StringBuilder),
    /// Texts, made of numbers from the server.
    Times {
        texts: StringBuilder,
        spell: fn(&[u8], &mut String) -> Option<()>,
        text: String,
    },
}

impl ColumnBuilder {
    pub(crate) fn new(form: Form) -> Self {
        match form {
            Form::Boolean => Self::Booleans(BooleanBuilder::new()),
            Form::Integer(_) => Self::Integers(Int64Builder::new()),
            Form::Oid => Self::Oids(Int64Builder::new()),
            Form::Real(_) => Self::Reals(Float64Builder::new()),
            Form::Bytes => Self::Bytes(BinaryBuilder::new()),
            Form::Decimal => Self::Decimals(StringBuilder::new()),
            Form::Text | Form::Spelled => Self::Texts(StringBuilder::new()),
            Form::Date => Self::times(spell_date),
            Form::Timestamp => Self::times(spell_timestamp),
        }
    }

    fn times(spell: fn(&[u8], &mut String) -> Option<()>) -> Self {
        Self::Times { texts: StringBuilder::new(), spell, text: String::new() }
    }

    /// Takes the next row's cell, and returns the bytes that it has here; `None` when the server
    /// sent what the type does not have.
    pub(crate) fn push(&mut self, cell: Option<&[u8]>) -> Option<usize> {
        let Some(cell) = cell else {
            match self {
                Self::Booleans(cells) => cells.append_null(),
                Self::Integers(cells) | Self::Oids(cells) => cells.append_null(),
                Self::Reals(cells) => cells.append_null(),
                Self::Bytes(cells) => cells.append_null(),
                Self::Decimals(cells) | Self::Texts(cells) | Self::Times { texts: cells, .. } => {
                    cells.append_null()
                }
            }
            return Some(0);
        };
        match self {
            Self::Booleans(cells) => match cell {
                [byte] => cells.append_value(*byte != 0),
                _ => return None,
            },
            Self::Integers(cells) => cells.append_value(integer(cell)?),
            Self::Oids(cells) => {
                cells.append_value(u32::from_be_bytes(cell.try_into().ok()?).into())
            }
            Self::Reals(cells) => cells.append_value(read_real(cell)?),
            Self::Bytes(cells) => cells.append_value(cell),
            Self::Decimals(cells) | Self::Texts(cells) => {
                cells.append_value(str::from_utf8(cell).ok()?)
            }
            Self::Times { texts, spell, text } => {
                text.clear();
                spell(cell, text)?;
                texts.append_value(&*text);
                return Some(text.len());
            }
        }
        Some(cell.len())
    }

    /// The cells of the first rows.
    pub(crate) fn finish(self, rows: usize) -> ArrayRef {
        match self {
            Self::Booleans(mut cells) => take_rows(&cells.finish(), rows),
            Self::Integers(mut cells) | Self::Oids(mut cells) => take_rows(&cells.finish(), rows),
            Self::Reals(mut cells) => take_rows(&cells.finish(), rows),
            Self::Bytes(mut cells) => take_rows(&cells.finish(), rows),
            Self::Texts(mut cells) | Self::Times { texts: mut cells, .. } => {
                take_rows(&cells.finish(), rows)
            }
            Self::Decimals(mut cells) => {
                let cells = cells.finish();
                decimals(cells.slice(0, rows.min(cells.len())))
            }
        }
    }
}

fn take_rows(cells: &dyn Array, rows: usize) -> ArrayRef {
    cells.slice(0, rows.min(cells.len()))
}

fn integer(cell: &[u8]) -> Option<i64> {
    Some(match cell.len() {
        2 => i16::from_be_bytes(cell.try_into().ok()?).into(),
        4 => i32::from_be_bytes(cell.try_into().ok()?).into(),
        8 => i64::from_be_bytes(cell.try_into().ok()?),
        _ => return None,
    })
}

/// `None` if the bytes are not those of a date.
fn spell_date(cell: &[u8], text: &mut String) -> Option<()> {
    match i32::from_be_bytes(cell.try_into().ok()?) {
        i32::MAX => text.push_str("infinity"),
        i32::MIN => text.push_str("-infinity"),
        days => date(i64::from(days) + EPOCH, text).ok()?,
    }
    Some(())
}

/// `None` if the bytes are not those of a timestamp.
fn spell_timestamp(cell: &[u8], text: &mut String) -> Option<()> {
    match i64::from_be_bytes(cell.try_into().ok()?) {
        i64::MAX => text.push_str("infinity"),
        i64::MIN => text.push_str("-infinity"),
        value => timestamp(value.div_euclid(DAY) + EPOCH, value.rem_euclid(DAY) * 1_000, "", text)
            .ok()?,
    }
    Some(())
}

fn read_real(cell: &[u8]) -> Option<f64> {
    match cell.len() {
        // By its shortest spelling: 0.1 is to stay 0.1.
        4 => f32::from_be_bytes(cell.try_into().ok()?).to_string().parse().ok(),
        8 => Some(f64::from_be_bytes(cell.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::Value;
    use syrch_core::result_set::cell;

    use super::*;

    #[test]
    fn decimal_numbers_of_a_column_have_one_scale() {
        let mut column = ColumnBuilder::new(Form::Decimal);
        for text in ["1", "-0.05", "123456789012345678901234567890.5"] {
            assert_eq!(column.push(Some(text.as_bytes())), Some(text.len()));
        }
        assert_eq!(column.push(None), Some(0));
        let column = column.finish(4);
        let cells: Vec<Value> = (0..4).map(|row| cell(&column, row)).collect();
        fn decimal(text: &str) -> Value {
            Value::Decimal(text.to_owned())
        }
        let expected = [
            decimal("1.00"),
            decimal("-0.05"),
            decimal("123456789012345678901234567890.50"),
            Value::Null,
        ];
        assert_eq!(cells, expected);
    }

    #[test]
    fn cells_take_the_value_that_the_server_sent() {
        fn build(form: Form, bytes: &[u8]) -> Value {
            let mut column = ColumnBuilder::new(form);
            assert!(column.push(Some(bytes)).is_some() && column.push(None).is_some());
            let column = column.finish(2);
            assert_eq!(cell(&column, 1), Value::Null);
            cell(&column, 0)
        }
        assert_eq!(build(Form::Integer(2), &(-3_i16).to_be_bytes()), Value::Integer(-3));
        assert_eq!(build(Form::Oid, &[255; 4]), Value::Integer(4_294_967_295));
        assert_eq!(build(Form::Real(4), &0.1_f32.to_be_bytes()), Value::Real(0.1));
        assert_eq!(
            build(Form::Real(8), &f64::MIN_POSITIVE.to_be_bytes()),
            Value::Real(f64::MIN_POSITIVE)
        );
        assert_eq!(build(Form::Boolean, &[1]), Value::Boolean(true));
        assert_eq!(build(Form::Bytes, &[0, 255]), Value::Bytes(vec![0, 255]));
        assert_eq!(build(Form::Spelled, b"12.50"), Value::Text("12.50".into()));
        assert_eq!(build(Form::Decimal, b"-12.50"), Value::Decimal("-12.50".into()));
        assert_eq!(build(Form::Decimal, b"NaN"), Value::Text("NaN".into()));
        let long = "9".repeat(38);
        assert_eq!(build(Form::Decimal, long.as_bytes()), Value::Decimal(long.clone()));
        assert_eq!(
            build(Form::Decimal, format!("{long}9").as_bytes()),
            Value::Text(format!("{long}9"))
        );
        assert_eq!(
            build(Form::Decimal, format!("0.{long}").as_bytes()),
            Value::Decimal(format!("0.{long}"))
        );
        assert_eq!(build(Form::Date, &i32::MIN.to_be_bytes()), Value::Text("-infinity".into()));
        assert_eq!(
            build(Form::Timestamp, &(-500_000_i64).to_be_bytes()),
            Value::Text("1999-12-31 23:59:59.5".into())
        );
        assert_eq!(ColumnBuilder::new(Form::Date).push(Some(&[0; 4])), Some("2000-01-01".len()));
        for (form, bytes) in [
            (Form::Boolean, vec![]),
            (Form::Text, vec![255]),
            (Form::Date, vec![0; 8]),
            (Form::Timestamp, vec![0; 4]),
        ] {
            assert_eq!(ColumnBuilder::new(form).push(Some(&bytes)), None, "{form:?}");
        }
    }
}
