//! Literals of a statement: days, numbers and texts.

use std::cmp::Ordering;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, TypedString, UnaryOperator, Value, ValueWithSpan,
};
use syrch_core::Dialect;

use super::plain::{arguments, name};

/// Bytes of the longest text that is recorded.
const LONGEST: usize = 200;

/// A text or a number with which columns are compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    /// In lower case, as some columns compare texts.
    Text(String),
    Number(f64),
}

impl Literal {
    pub(super) fn new(expr: &Expr) -> Option<Self> {
        match text(expr) {
            Some(text) => Some(Self::Text(text.trim_end().to_lowercase())),
            None => number(expr)?.parse().ok().map(Self::Number),
        }
    }

    /// The order of two literals, where it is the same for every column: of numbers, and of texts
    /// such as days that begin with a digit and are as long as each other.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        fn is_dated(text: &str) -> bool {
            text.starts_with(|c: char| c.is_ascii_digit())
        }
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.partial_cmp(other),
            (Self::Text(one), Self::Text(other)) => {
                let is_ordered = one.len() == other.len() && is_dated(one) && is_dated(other);
                is_ordered.then(|| one.cmp(other))
            }
            (Self::Text(_), Self::Number(_)) | (Self::Number(_), Self::Text(_)) => None,
        }
    }

    /// Returns true if no value equals both.
    pub(super) fn is_other(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => {
                one != other && one.parse::<f64>().is_err() && other.parse::<f64>().is_err()
            }
            (Self::Number(one), Self::Number(other)) => one != other,
            (Self::Text(_), Self::Number(_)) | (Self::Number(_), Self::Text(_)) => false,
        }
    }
}

/// The day that an expression is, as it may stand in a statement: a text `YYYY-MM-DD`, a date, or
/// today.
pub(super) fn day(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => day(inner),
        Expr::Value(value) => text_of(value).filter(|text| is_day(text)),
        Expr::TypedString(TypedString { data_type: DataType::Date, value, .. }) => {
            text_of(value).filter(|text| is_day(text))
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type: DataType::Date,
            ..
        } => day(expr),
        Expr::Function(function) if name(function) == "date" => {
            match arguments(function).as_slice() {
                [Expr::Value(value)] => text_of(value).filter(|text| is_day(text) || text == "now"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A text that is a day in another form than `YYYY-MM-DD`: three numbers with one mark between
/// them, one of them a year.
pub(super) fn other_day(expr: &Expr) -> Option<String> {
    if let Some(difference) = day_without_quotes(expr) {
        return Some(difference);
    }
    let text = text(expr)?;
    let mark =
        text.chars().find(|c| !c.is_ascii_digit()).filter(|mark| ['/', '-', '.'].contains(mark))?;
    let parts: Vec<&str> = text.split(mark).collect();
    let has_year = parts.iter().any(|part| part.len() == 4);
    (parts.len() == 3
        && has_year
        && parts.iter().all(|part: &&str| {
            (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        })
        && !is_day(&text))
    .then_some(text)
}

/// A day that lacks its quotes, so that it is a difference: `2023-01-01`.
fn day_without_quotes(expr: &Expr) -> Option<String> {
    if let Expr::Nested(inner) = expr {
        return day_without_quotes(inner);
    }
    let (rest, day) = split_difference(expr)?;
    let (year, month) = split_difference(rest)?;
    let year: u32 = number(year)?.parse().ok()?;
    let is_day = (1..=31).contains(&day) && (1..=12).contains(&month);
    (is_day && (1000..10_000).contains(&year)).then(|| expr.to_string())
}

/// A difference as what a number is taken from, and that number.
fn split_difference(expr: &Expr) -> Option<(&Expr, u32)> {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => {
            Some((&**left, number(right)?.parse().ok()?))
        }
        _ => None,
    }
}

/// Returns true if a text is a day: `YYYY-MM-DD`.
fn is_day(text: &str) -> bool {
    fn is_digits(text: &str, range: std::ops::Range<usize>) -> bool {
        text.as_bytes()[range].iter().all(u8::is_ascii_digit)
    }
    text.len() == 10
        && text.as_bytes()[4] == b'-'
        && text.as_bytes()[7] == b'-'
        && is_digits(text, 0..4)
        && is_digits(text, 5..7)
        && is_digits(text, 8..10)
}

/// The number that an expression is, or that its text holds.
pub(super) fn number(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => number(inner),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => number(expr),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(format!("-{}", number(expr)?)),
        Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => {
            Some(number.to_string())
        }
        Expr::Value(value) => {
            text_of(value).filter(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
        }
        _ => None,
    }
}

/// Returns true if an expression is a number that does not stand in quotes.
pub(super) fn is_plain_number(expr: &Expr) -> bool {
    number(expr).is_some() && text(expr).is_none()
}

/// Returns false if `strftime` never gives that text by that format. Of parts whose width is not
/// fixed it may.
pub(super) fn is_of_format(text: &str, format: &str) -> bool {
    let mut left = text.chars();
    let mut parts = format.chars();
    while let Some(part) = parts.next() {
        let digits = match part {
            '%' => match parts.next() {
                Some('Y') => 4,
                Some('j') => 3,
                Some('d' | 'H' | 'm' | 'M' | 'S' | 'W') => 2,
                Some('w') => 1,
                _ => return true,
            },
            other if left.next() == Some(other) => continue,
            _ => return false,
        };
        if !(0..digits).all(|_| left.next().is_some_and(|c| c.is_ascii_digit())) {
            return false;
        }
    }
    left.next().is_none()
}

/// Returns true if an expression is the literal NULL.
pub(super) fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Null, .. }))
}

/// The text of a literal.
pub(super) fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => text(inner),
        Expr::Value(value) => {
            text_of(value).filter(|text| !text.trim().is_empty() && text.len() <= LONGEST)
        }
        _ => None,
    }
}

fn text_of(value: &ValueWithSpan) -> Option<String> {
    match &value.value {
        Value::SingleQuotedString(text)
        | Value::EscapedStringLiteral(text)
        | Value::DoubleQuotedString(text) => Some(text.clone()),
        _ => None,
    }
}

/// Returns true if a cast to that type gives a number. SQLite takes every name for one that it does
/// not know.
pub(super) fn is_numeric_type(data_type: &DataType, dialect: &Dialect) -> bool {
    let name = data_type.to_string().to_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if dialect.syntax().has_affinities {
        return has(&["INT"]) || !has(&["CHAR", "CLOB", "TEXT", "BLOB", "BYTE", "BINARY"]);
    }
    let is_other = has(&["INTERVAL", "[]", "ARRAY", "MAP", "STRUCT", "POINT"]);
    !is_other && has(&["INT", "NUM", "DEC", "REAL", "FLOAT", "DOUBLE", "LONG", "SHORT"])
}
