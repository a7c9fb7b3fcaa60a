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
pub(crate) const EXACT: u64 = 1 << 53;

pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Returns true if the letters are those of a whole number that is written in no other way: `007`
/// and `+7` are texts, since they would not come back.
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
    fn is_exponent(digits: &str) -> bool {
        let digits = digits.strip_prefix(['-', '+']).unwrap_or(digits);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_number = is_plain(whole)
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && exponent.is_none_or(is_exponent);
    fn is_exact(text: &str) -> bool {
        integer(text).is_some_and(|number| number.unsigned_abs() <= EXACT)
    }
    let has_point = mantissa.contains('.') || exponent.is_some();
    if !is_number || !(has_point || is_exact(text)) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns true if a text is a day of the calendar, as ISO 8601 writes it: `2024-02-29`.
pub(crate) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    let (Some(year), Some(month), Some(day)) =
        (digits(bytes, 0, 4), digits(bytes, 5, 2), digits(bytes, 8, 2))
    else {
        return false;
    };
    shape
        && chrono::NaiveDate::from_ymd_opt(i32::try_from(year).unwrap_or_default(), month, day)
            .is_some()
}

/// The number that these decimal digits are; `None` where other bytes stand.
fn digits(bytes: &[u8], from: usize, count: usize) -> Option<u32> {
    let bytes = bytes.get(from..from + count)?;
    bytes.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for (text, expected) in [
            ("2024-02-29", true),
            ("2023-02-29", false),
            ("2024-2-29", false),
            ("2024-02-29 ", false),
            ("", false),
        ] {
            assert_eq!(is_date(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_whole_number_is_written_back(text in any::<String>(), number in any::<i64>()) {
            if let Some(read) = integer(&text) {
                prop_assert_eq!(read.to_string(), text);
            }
            prop_assert_eq!(integer(&number.to_string()), Some(number));
        }
    }
}
