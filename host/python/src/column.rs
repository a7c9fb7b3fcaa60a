//! The cells of one column of a result, of which Python's types are known one at a time.

use std::collections::HashMap;
use std::sync::Arc;

use syrch::arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, NullArray, StringArray,
};
use syrch::arrow_schema::{DataType, Field};
use syrch::syrch_core::result_set::SQL_TYPE;
use syrch::syrch_core::text::hex;

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    /// A decimal number, digit for digit.
    Digits(String),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    /// About the memory that the cell takes, in bytes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Digits(text) | Self::Text(text) => text.len(),
                Self::Bytes(bytes) => bytes.len(),
                _ => 0,
            }
    }

    fn into_text(self) -> Option<String> {
        Some(match self {
            Self::Null => return None,
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
            Self::Digits(text) | Self::Text(text) => text,
            Self::Bytes(bytes) => hex(bytes),
        })
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Boolean(_) => Kind::Boolean,
            Self::Integer(_) => Kind::Integer,
            Self::Real(_) => Kind::Real,
            Self::Digits(_) => Kind::Digits,
            Self::Text(_) => Kind::Text,
            Self::Bytes(_) => Kind::Bytes,
        }
    }
}

/// The type of a column that holds every cell so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Real,
    Digits,
    Text,
    Bytes,
}

impl Kind {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::Null) | (Self::Null, one) => one,
            (one, other) if one == other => one,
            (Self::Integer, Self::Real) | (Self::Real, Self::Integer) => Self::Real,
            (Self::Integer, Self::Digits) | (Self::Digits, Self::Integer) => Self::Digits,
            _ => Self::Text,
        }
    }
}

/// Makes a column of cells: of one type that holds all of them, texts if there is no other.
pub(crate) fn column(name: &str, cells: Vec<Cell>) -> (Field, ArrayRef) {
    let kind = cells.iter().map(Cell::kind).fold(Kind::Null, Kind::join);
    let cells = cells.into_iter();
    let array: ArrayRef = match kind {
        Kind::Null => Arc::new(NullArray::new(cells.len())),
        Kind::Boolean => Arc::new(cells.map(boolean).collect::<BooleanArray>()),
        Kind::Integer => Arc::new(cells.map(integer).collect::<Int64Array>()),
        Kind::Real => Arc::new(cells.map(real).collect::<Float64Array>()),
        Kind::Digits | Kind::Text => Arc::new(cells.map(Cell::into_text).collect::<StringArray>()),
        Kind::Bytes => Arc::new(cells.map(bytes).collect::<BinaryArray>()),
    };
    let data_type: DataType = array.data_type().clone();
    let mut field = Field::new(name, data_type, true);
    if kind == Kind::Digits {
        // Texts of this type become decimal numbers.
        field.set_metadata(HashMap::from([(SQL_TYPE.to_owned(), "numeric".to_owned())]));
    }
    (field, array)
}

fn boolean(cell: Cell) -> Option<bool> {
    match cell {
        Cell::Boolean(value) => Some(value),
        _ => None,
    }
}

fn integer(cell: Cell) -> Option<i64> {
    match cell {
        Cell::Integer(value) => Some(value),
        _ => None,
    }
}

fn real(cell: Cell) -> Option<f64> {
    match cell {
        Cell::Integer(value) => Some(value as f64),
        Cell::Real(value) => Some(value),
        _ => None,
    }
}

fn bytes(cell: Cell) -> Option<Vec<u8>> {
    match cell {
        Cell::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}
