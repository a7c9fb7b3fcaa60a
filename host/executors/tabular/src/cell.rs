//! The values of a file, and which type the values of a column have in common.

use std::borrow::Cow;

/// A value as the file has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell<'a> {
    /// An absent value: NULL, or an empty cell.
    Null,
    /// A value of a file without types, which its letters tell.
    Untyped(&'a str),
    /// A text of a typed file, or a value of it that is stored as a text.
    Text(Cow<'a, str>),
    /// A number without a fraction.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// True or false.
    Boolean(bool),
    /// Binary data.
    Bytes(&'a [u8]),
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Boolean,
    Integer,
    Real,
    Date,
    Timestamp,
    Text,
    Blob,
}

impl ColumnType {
    /// The type as the table declares it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Date => "DATE",
            Self::Timestamp => "TIMESTAMP",
            Self::Text => "TEXT",
            Self::Blob => "BLOB",
        }
    }
}

/// Whole numbers up to this size are exact as floating-point numbers.
const EXACT: u64 = 1 << 53;

/// The types that all values of a column so far fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guess {
    is_empty: bool,
    boolean: bool,
    integer: bool,
    real: bool,
    date: bool,
    timestamp: bool,
}

impl Default for Guess {
    fn default() -> Self {
        Self { is_empty: true, boolean: true, integer: true, real: true, date: true, timestamp: true }
    }
}

impl Guess {
    /// Takes a value into account.
    pub(crate) fn add(&mut self, cell: &Cell<'_>) {
        let fits = match cell {
            Cell::Null => return,
            Cell::Untyped(text) => Self {
                is_empty: false,
                boolean: boolean(text).is_some(),
                integer: integer(text).is_some(),
                real: real(text).is_some(),
                date: is_date(text),
                timestamp: is_timestamp(text),
            },
            Cell::Text(text) => Self { date: is_date(text), timestamp: is_timestamp(text), ..Self::text() },
            Cell::Integer(number) => Self { integer: true, real: number.unsigned_abs() <= EXACT, ..Self::text() },
            Cell::Real(_) => Self { real: true, ..Self::text() },
            Cell::Boolean(_) => Self { boolean: true, ..Self::text() },
            Cell::Bytes(_) => Self::text(),
        };
        self.is_empty = false;
        self.boolean &= fits.boolean;
        self.integer &= fits.integer;
        self.real &= fits.real;
        self.date &= fits.date;
        self.timestamp &= fits.timestamp;
    }

    fn text() -> Self {
        Self { is_empty: false, boolean: false, integer: false, real: false, date: false, timestamp: false }
    }

    /// The narrowest type that all values fit.
    pub(crate) fn column_type(self) -> ColumnType {
        match self {
            Self { is_empty: true, .. } => ColumnType::Text,
            Self { boolean: true, .. } => ColumnType::Boolean,
            Self { integer: true, .. } => ColumnType::Integer,
            Self { real: true, .. } => ColumnType::Real,
            Self { date: true, .. } => ColumnType::Date,
            Self { timestamp: true, .. } => ColumnType::Timestamp,
            _ => ColumnType::Text,
        }
    }
}

pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Whether the letters are those of a whole number that is written in no other way: `007` and `+7` are texts, since they would not come back.
fn is_plain(digits: &str) -> bool {
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'))
}

pub(crate) fn integer(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| is_plain(text) && text != "-0")
}

pub(crate) fn real(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let is_exponent = |digits: &str| {
        let digits = digits.strip_prefix(['-', '+']).unwrap_or(digits);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_number = is_plain(whole)
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && exponent.is_none_or(is_exponent);
    let is_exact = |text: &str| integer(text).is_some_and(|number| number.unsigned_abs() <= EXACT);
    let has_point = mantissa.contains('.') || exponent.is_some();
    if !is_number || !(has_point || is_exact(text)) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Whether a text is a day of the calendar, as ISO 8601 writes it: `2024-02-29`.
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    let (Some(year), Some(month), Some(day)) = (digits(bytes, 0, 4), digits(bytes, 5, 2), digits(bytes, 8, 2)) else {
        return false;
    };
    shape && chrono::NaiveDate::from_ymd_opt(i32::try_from(year).unwrap_or_default(), month, day).is_some()
}

/// Whether a text is a day, or one with a time: `2024-02-29 08:05`, `2024-02-29T08:05:00.25Z`, `2024-02-29 08:05:00+02:00`.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let Some((_, rest)) = text.split_at_checked(10).filter(|(day, _)| is_date(day)) else { return false };
    let Some(time) = rest.strip_prefix([' ', 'T']) else { return rest.is_empty() };
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone);
    is_time(time) && (zone.is_empty() || zone == "Z" || is_offset(&zone[1..]))
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let below = |at: usize, limit: u32| digits(bytes, at, 2).is_some_and(|number| number < limit);
    let (clock, fraction) = text.split_once('.').map_or((text, None), |(clock, fraction)| (clock, Some(fraction)));
    let seconds = match clock.len() {
        5 => fraction.is_none(),
        8 => bytes[5] == b':' && below(6, 60),
        _ => return false,
    };
    let is_fraction = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    below(0, 24) && bytes[2] == b':' && below(3, 60) && seconds && fraction.is_none_or(is_fraction)
}

fn is_offset(text: &str) -> bool {
    let bytes = text.as_bytes();
    let below = |at: usize, limit: u32| digits(bytes, at, 2).is_some_and(|number| number < limit);
    match bytes.len() {
        2 => below(0, 24),
        4 => below(0, 24) && below(2, 60),
        5 => below(0, 24) && bytes[2] == b':' && below(3, 60),
        _ => false,
    }
}

/// The number that these decimal digits are; `None` where other bytes stand.
fn digits(bytes: &[u8], from: usize, count: usize) -> Option<u32> {
    let bytes = bytes.get(from..from + count)?;
    bytes.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn untyped(cells: &[&str]) -> ColumnType {
        let mut guess = Guess::default();
        for cell in cells {
            guess.add(&if cell.is_empty() { Cell::Null } else { Cell::Untyped(cell) });
        }
        guess.column_type()
    }

    #[test]
    fn a_column_has_the_narrowest_type_that_loses_nothing() {
        for (cells, expected) in [
            (&["1", "-20", ""][..], ColumnType::Integer),
            (&["9223372036854775807"], ColumnType::Integer),
            (&["9223372036854775808"], ColumnType::Text),
            (&["007", "8"], ColumnType::Text),
            (&["+7"], ColumnType::Text),
            (&["-0"], ColumnType::Text),
            (&["1", "2.50", "1e-3"], ColumnType::Real),
            (&["9007199254740993", "0.5"], ColumnType::Text),
            (&["1,5"], ColumnType::Text),
            (&["nan", "1"], ColumnType::Text),
            (&["1e400"], ColumnType::Text),
            (&["true", "FALSE"], ColumnType::Boolean),
            (&["true", "1"], ColumnType::Text),
            (&["2024-02-29", "1999-12-31"], ColumnType::Date),
            (&["2023-02-29"], ColumnType::Text),
            (&["2024-02-29", "2024-02-29 08:05"], ColumnType::Timestamp),
            (&["2024-02-29T08:05:00.25Z", "2024-02-29 08:05:00+02:00"], ColumnType::Timestamp),
            (&["2024-02-29 24:00"], ColumnType::Text),
            (&["", ""], ColumnType::Text),
            (&[], ColumnType::Text),
        ] {
            assert_eq!(untyped(cells), expected, "{cells:?}");
        }
    }

    #[test]
    fn a_text_in_quotes_is_no_number() {
        let mut guess = Guess::default();
        guess.add(&Cell::Text("7".into()));
        assert_eq!(guess.column_type(), ColumnType::Text);
        let mut mixed = Guess::default();
        mixed.add(&Cell::Integer(1));
        mixed.add(&Cell::Boolean(true));
        assert_eq!(mixed.column_type(), ColumnType::Text);
    }

    proptest! {
        #[test]
        fn any_text_has_a_type_and_a_whole_number_is_written_back(text in any::<String>(), number in any::<i64>()) {
            untyped(&[&text]);
            if let Some(read) = integer(&text) {
                prop_assert_eq!(read.to_string(), text);
            }
            prop_assert_eq!(integer(&number.to_string()), Some(number));
        }

        #[test]
        fn what_nearly_is_a_time_is_decided(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]?[0-9:.Z+é-]{0,16}") {
            is_timestamp(&text);
            is_date(&text);
        }
    }
}
