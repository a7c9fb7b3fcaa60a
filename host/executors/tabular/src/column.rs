//! Decides from all values of a column which type it has and how its values are read, and notes
//! what that changes.
//!
//! A column is read as a type only if every value that is not absent fits one reading. Otherwise it
//! stays text, with a note where two readings fit.

mod date;
mod marker;
mod names;
mod number;

use std::borrow::Cow;

use syrch_core::imports::{DateOrder, Decimal, ReadOptions};

use crate::cell::{Cell, ColumnType, EXACT, boolean, integer, real};
use date::Dates;
use marker::{Counts, values};
use number::Numbers;

/// The version of the rules here. A file that was read by others is read again.
pub(crate) const VERSION: u32 = 3;

/// Letters around a value that are no part of it.
fn trim_edges(text: &str) -> &str {
    fn is_edge(byte: Option<&u8>) -> bool {
        byte.is_some_and(|byte| *byte <= b' ' || *byte >= 0x80)
    }
    let bytes = text.as_bytes();
    if is_edge(bytes.first()) || is_edge(bytes.last()) { text.trim() } else { text }
}

/// The values of a column so far, in constant memory: their common properties.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    values: u64,
    markers: Counts,
    /// Values that the options call NULL.
    given: u64,
    /// Values of blanks alone.
    blank: u64,
    /// Values with blanks around them.
    padded: u64,
    /// True if all values begin with a blank.
    is_led: bool,
    /// True if all values are years of four digits.
    is_years: bool,
    boolean: bool,
    integer: bool,
    real: bool,
    numbers: Numbers,
    dates: Dates,
}

/// Groups of types, of which the values of a column are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Empty,
    Boolean,
    Number,
    Date,
    Text,
}

impl Column {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            values: 0,
            markers: Counts::default(),
            given: 0,
            blank: 0,
            padded: 0,
            is_led: true,
            is_years: true,
            boolean: true,
            integer: true,
            real: true,
            numbers: Numbers::new(options.decimal),
            dates: Dates::new(options.date_order),
        }
    }

    /// Takes a value into account.
    pub(crate) fn add(&mut self, cell: &Cell<'_>, options: &ReadOptions) {
        match cell {
            Cell::Null => {}
            Cell::Untyped(text) => self.add_text(text, true, options),
            Cell::Text(text) => self.add_text(text, false, options),
            Cell::Integer(number) => self.add_typed(false, true, number.unsigned_abs() <= EXACT),
            Cell::Real(_) => self.add_typed(false, false, true),
            Cell::Boolean(_) => self.add_typed(true, false, false),
            Cell::Bytes(_) => self.add_typed(false, false, false),
        }
    }

    fn add_typed(&mut self, boolean: bool, integer: bool, real: bool) {
        self.values += 1;
        self.is_led = false;
        self.is_years = false;
        self.boolean &= boolean;
        self.integer &= integer;
        self.real &= real;
        self.numbers.close();
        self.dates.close();
    }

    /// A text of a typed file is no number and no truth value, but may be a date, for which such a
    /// file has no type.
    fn add_text(&mut self, text: &str, is_untyped: bool, options: &ReadOptions) {
        if is_given(text, options) {
            self.given += 1;
            return;
        }
        let value = trim_edges(text);
        if value.is_empty() {
            self.blank += 1;
            return;
        }
        if let Some(marker) = marker::find(value) {
            self.markers.add(marker);
            return;
        }
        self.values += 1;
        self.padded += u64::from(value.len() < text.len());
        self.is_led = self.is_led && text.starts_with(char::is_whitespace);
        self.is_years = self.is_years && is_year(value);
        self.boolean = self.boolean && is_untyped && boolean(value).is_some();
        self.integer = self.integer && is_untyped && integer(value).is_some();
        let is_point = options.decimal != Some(Decimal::Comma) || !value.contains('.');
        self.real = self.real && is_untyped && is_point && real(value).is_some();
        if !is_untyped {
            self.numbers.close();
        } else if self.numbers.is_open() {
            self.numbers.add(value);
        }
        if self.dates.is_open() {
            self.dates.add(value);
        }
    }

    fn class(&self) -> Class {
        match self {
            Self { values: 0, .. } => Class::Empty,
            Self { boolean: true, .. } => Class::Boolean,
            Self { integer, real, numbers, .. } if *integer || *real || numbers.is_open() => {
                Class::Number
            }
            Self { dates, .. } if dates.is_open() => Class::Date,
            _ => Class::Text,
        }
    }

    /// Returns whether a value is like the others; `None` if it is absent, or if they are texts,
    /// which any value is like.
    pub(crate) fn is_like(&self, cell: &Cell<'_>, options: &ReadOptions) -> Option<bool> {
        let class = self.class();
        if matches!(class, Class::Empty | Class::Text) {
            return None;
        }
        let mut with = self.clone();
        with.add(cell, options);
        // A year above values that are none is the name of a column.
        let is_name =
            !self.is_years && matches!(cell, Cell::Untyped(text) if is_year(trim_edges(text)));
        (with.values > self.values).then_some(with.class() == class && !is_name)
    }

    /// Returns true if a decimal comma is the only reading of its numbers.
    fn has_decimal_comma(&self) -> bool {
        !self.real
            && matches!(
                self.numbers.decide(), Some(Ok(decided)) if decided.decimal == Decimal::Comma
            )
    }

    /// The readings of numbers of which none is the right one so far: with a point and with a comma
    /// before decimals.
    pub(crate) fn ambiguous_readings(&self) -> &'static [Decimal] {
        if self.values > 0 && self.numbers.is_open_both_ways() {
            &[Decimal::Point, Decimal::Comma]
        } else {
            &[]
        }
    }

    /// The decision about the column. A file with a decimal comma in another column has no decimal
    /// point here.
    fn decide(&self, options: &ReadOptions, has_comma: bool) -> Decision {
        let typed = match self {
            Self { values: 0, .. } => Err(None),
            Self { boolean: true, .. } => Ok((ColumnType::Boolean, Reading::Plain, Vec::new())),
            Self { integer: true, .. } => Ok((ColumnType::Integer, Reading::Plain, Vec::new())),
            Self { real: true, numbers, .. } if has_comma && numbers.is_open_both_ways() => {
                Err(Some(number::both_ways()))
            }
            Self { real: true, .. } => Ok((ColumnType::Real, Reading::Plain, Vec::new())),
            Self { numbers, dates, .. } => match (numbers.decide(), dates.decide()) {
                (Some(Ok(decided)), _) => {
                    Ok((decided.kind, Reading::Number(decided.decimal), decided.notes))
                }
                (Some(Err(note)), _) | (None, Some(Err(note))) => Err(Some(note)),
                (None, Some(Ok(decided))) => {
                    let kind =
                        if decided.has_times { ColumnType::Timestamp } else { ColumnType::Date };
                    Ok((kind, Reading::Date(decided.order), decided.notes))
                }
                (None, None) => Err(None),
            },
        };
        let mut decision = match typed {
            Ok((kind, reading, notes)) => {
                Decision { kind, reading, notes, has_nulls: !options.nulls.is_empty() }
            }
            Err(note) => {
                let is_led = self.values > 0 && self.is_led && self.padded > 0;
                let reading = if is_led { Reading::Stripped } else { Reading::Text };
                let notes = note.into_iter().collect();
                Decision {
                    kind: ColumnType::Text,
                    reading,
                    notes,
                    has_nulls: !options.nulls.is_empty(),
                }
            }
        };
        decision.notes.extend(self.notes(&decision));
        decision
    }

    /// The notes about absent values and blanks.
    fn notes(&self, decision: &Decision) -> Vec<String> {
        let mut notes = Vec::new();
        if decision.kind == ColumnType::Text {
            if let (Some(listed), Some(first)) =
                (self.markers.list_markers(marker::PLAIN), self.markers.first())
            {
                notes.push(format!("{listed}: text, not NULL; `--null {first}` makes it NULL"));
            }
        } else if let Some(listed) = self.markers.list_markers(usize::MAX) {
            let verb = if self.markers.sum() == 1 { "is" } else { "are" };
            notes.push(format!("{listed} {verb} NULL"));
        }
        if self.given > 0 {
            notes.push(format!("{} NULL by `--null`", values(self.given)));
        }
        let is_stripped =
            decision.kind != ColumnType::Text || decision.reading == Reading::Stripped;
        if self.padded > 0 && is_stripped {
            notes.push("blanks around values are left out".to_owned());
        }
        notes
    }
}

fn is_given(text: &str, options: &ReadOptions) -> bool {
    !options.nulls.is_empty()
        && options.nulls.iter().any(|null| null == text || null == trim_edges(text))
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse().is_ok_and(|year: u32| (1_800..=2_100).contains(&year))
}

/// Reads a number with that mark before decimals.
pub(crate) fn read_number(text: &str, decimal: Decimal) -> Option<Cell<'static>> {
    number::read(trim_edges(text), decimal)
}

/// Decides about the columns of a file.
pub(crate) fn decide(columns: &[Column], options: &ReadOptions) -> Vec<Decision> {
    let has_comma = options.decimal.is_none() && columns.iter().any(Column::has_decimal_comma);
    columns.iter().map(|column| column.decide(options, has_comma)).collect()
}

/// The type of a column, how its values are read, and what that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) kind: ColumnType,
    pub(crate) notes: Vec<String>,
    reading: Reading,
    /// True if the options name texts that are NULL.
    has_nulls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Text as it stands.
    Text,
    /// Text without the blanks around it.
    Stripped,
    /// A number or truth value as programs write it.
    Plain,
    Number(Decimal),
    Date(DateOrder),
}

impl Decision {
    /// Reads a value of the column.
    pub(crate) fn read<'c>(&self, cell: Cell<'c>, options: &ReadOptions) -> Cell<'c> {
        if self.reading == Reading::Text && !self.has_nulls {
            return cell;
        }
        match cell {
            Cell::Untyped(text) => self.read_text(text, options).unwrap_or(cell),
            Cell::Text(Cow::Borrowed(text)) => self.read_text(text, options).unwrap_or(cell),
            Cell::Text(Cow::Owned(text)) => match self.read_text(&text, options) {
                None => Cell::Text(Cow::Owned(text)),
                Some(Cell::Null) => Cell::Null,
                Some(Cell::Text(read)) => Cell::Text(Cow::Owned(read.into_owned())),
                Some(_) => Cell::Text(Cow::Owned(trim_edges(&text).to_owned())),
            },
            _ => cell,
        }
    }

    /// Reads a text; `None` if the value is as it is written.
    fn read_text<'t>(&self, text: &'t str, options: &ReadOptions) -> Option<Cell<'t>> {
        if self.has_nulls && is_given(text, options) {
            return Some(Cell::Null);
        }
        if self.reading == Reading::Text {
            return None;
        }
        let value = trim_edges(text);
        if value.is_empty() || (self.reading != Reading::Stripped && marker::find(value).is_some())
        {
            return Some(Cell::Null);
        }
        let is_padded = value.len() < text.len();
        match self.reading {
            Reading::Number(decimal) => number::read(value, decimal),
            Reading::Date(order) => date::read(value, order).map(Cell::Text),
            Reading::Stripped => is_padded.then_some(Cell::Text(Cow::Borrowed(value))),
            Reading::Plain | Reading::Text => is_padded.then_some(Cell::Untyped(value)),
        }
    }
}

#[cfg(test)]
mod tests;
