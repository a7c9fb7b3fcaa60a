//! `function-to-range`: a function of a column that is compared with a constant becomes a range of
//! the column.
//!
//! Sound on PostgreSQL, whose dates have types, and for sums of integers, whatever the engine,
//! short of an overflow. **Not sound** on SQLite, where a date is any text: one that is not written
//! as year, month and day compares differently, and verification decides.

use sqlparser::ast::{
    BinaryOperator, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Query, Value,
};

use super::range::{after_prefix, compare_with_period, period};
use crate::rewriter::refs::{function_name, path};
use crate::rewriter::scope::{Class, Scope};
use crate::rewriter::sql::each_condition;
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    each_select(query, &mut |select| {
        let Some(scope) = Scope::from_select(select, work.catalog) else { return };
        each_condition(select, &mut |condition| {
            if let Some(new) = rewrite_as_range(condition, &scope, work)
                && work.takes()
            {
                *condition = new;
            }
        });
    });
}

fn rewrite_as_range(condition: &Expr, scope: &Scope, work: &Work) -> Option<Expr> {
    let text = match condition {
        Expr::BinaryOp { left, op, right } => match compare(left, op, right, scope, work) {
            Some(text) => text,
            None => compare(right, &flip_operator(op)?, left, scope, work)?,
        },
        Expr::Between { expr, negated: false, low, high } => {
            let at_least = compare(expr, &BinaryOperator::GtEq, low, scope, work)?;
            format!("({at_least} AND {})", compare(expr, &BinaryOperator::LtEq, high, scope, work)?)
        }
        _ => return None,
    };
    work.expr(&text)
}

fn flip_operator(op: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::Eq => BinaryOperator::Eq,
        BinaryOperator::Lt => BinaryOperator::Gt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        _ => return None,
    })
}

fn compare(
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    scope: &Scope,
    work: &Work,
) -> Option<String> {
    if let Some(text) = shift_constant(left, op, right, scope) {
        return Some(text);
    }
    let bucket = if work.is_sqlite() { sqlite_bucket(left)? } else { postgres_bucket(left)? };
    let column = bucket.column;
    let (_, known) = scope.column(column)?;
    let constant = constant(right, bucket.is_number)?;
    let constant =
        constant.strip_suffix(" 00:00:00").filter(|_| bucket.is_start).unwrap_or(&constant);
    let sql_type = known.sql_type.to_ascii_lowercase();
    if work.is_sqlite() {
        if bucket.is_prefix && scope.class(column) == Some(Class::Text) && *op == BinaryOperator::Eq
        {
            let end = after_prefix(constant).filter(|_| constant.len() == bucket.length)?;
            return compare_with_period(
                &column.to_string(),
                op,
                &quote_text(constant),
                &quote_text(&end),
            );
        }
    } else if !(sql_type.starts_with("date") || sql_type.starts_with("timestamp")) {
        return None;
    }
    // `date_trunc` gives the start of the period, as a date.
    let constant = if bucket.is_start { start_of(constant, bucket.length)? } else { constant };
    let (start, end) = period(constant).filter(|_| constant.len() == bucket.length)?;
    compare_with_period(&column.to_string(), op, &quote_text(&start), &quote_text(&end))
}

fn quote_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A date as the year or month that begins with it.
fn start_of(date: &str, length: usize) -> Option<&str> {
    let rest = date.get(length..)?;
    (date.len() == 10 && "-01-01".ends_with(rest) && matches!(length, 4 | 7 | 10))
        .then(|| date.get(..length))?
}

/// A function of a column that gives a year, a month or a day.
struct Bucket<'e> {
    column: &'e Expr,
    /// The length of the date's part: 4, 7 or 10.
    length: usize,
    /// True if the function gives a number.
    is_number: bool,
    /// True if it gives the first letters of a text.
    is_prefix: bool,
    /// True if it gives the first day of the period.
    is_start: bool,
}

impl<'e> Bucket<'e> {
    fn new(column: &'e Expr, length: usize) -> Option<Self> {
        path(column)?;
        Some(Self { column, length, is_number: false, is_prefix: false, is_start: false })
    }
}

fn sqlite_bucket(expr: &Expr) -> Option<Bucket<'_>> {
    match expr {
        Expr::Nested(inner) => sqlite_bucket(inner),
        Expr::Cast { expr, data_type, .. } if is_integer(data_type) => {
            let bucket = sqlite_bucket(expr).filter(|bucket| bucket.length == 4)?;
            Some(Bucket { is_number: true, is_prefix: false, ..bucket })
        }
        Expr::Substring {
            expr, substring_from: Some(from), substring_for: Some(count), ..
        } => {
            let length = number(count)?.parse().ok().filter(|length| (1..=64).contains(length))?;
            (number(from)? == "1")
                .then(|| Bucket::new(expr, length))?
                .map(|bucket| Bucket { is_prefix: true, ..bucket })
        }
        Expr::Function(function) => {
            let (name, arguments) = call(function)?;
            match (name.as_str(), arguments.as_slice()) {
                ("date", [column]) => Bucket::new(column, 10),
                ("strftime", [format, column]) => match text(format)? {
                    "%Y" => Bucket::new(column, 4),
                    "%Y-%m" => Bucket::new(column, 7),
                    "%Y-%m-%d" => Bucket::new(column, 10),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

fn postgres_bucket(expr: &Expr) -> Option<Bucket<'_>> {
    match expr {
        Expr::Nested(inner) => postgres_bucket(inner),
        Expr::Extract { field: DateTimeField::Year, expr, .. } => {
            Some(Bucket { is_number: true, ..Bucket::new(expr, 4)? })
        }
        Expr::Cast { expr, data_type: DataType::Date, .. } => Bucket::new(expr, 10),
        Expr::Function(function) => {
            let (name, arguments) = call(function)?;
            let [format, column] = match (name.as_str(), arguments.as_slice()) {
                ("to_char", [column, format]) => [*format, *column],
                (_, [format, column]) => [*format, *column],
                _ => return None,
            };
            let format = text(format)?;
            match (name.as_str(), format.to_ascii_lowercase().as_str()) {
                ("date_part", "year") => {
                    Some(Bucket { is_number: true, ..Bucket::new(column, 4)? })
                }
                ("date_trunc", "year") => {
                    Some(Bucket { is_start: true, ..Bucket::new(column, 4)? })
                }
                ("date_trunc", "month") => {
                    Some(Bucket { is_start: true, ..Bucket::new(column, 7)? })
                }
                ("date_trunc", "day") => {
                    Some(Bucket { is_start: true, ..Bucket::new(column, 10)? })
                }
                ("to_char", "yyyy") => Bucket::new(column, 4),
                ("to_char", "yyyy-mm") => Bucket::new(column, 7),
                ("to_char", "yyyy-mm-dd") => Bucket::new(column, 10),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A plain call with its arguments.
fn call(function: &Function) -> Option<(String, Vec<&Expr>)> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let mut arguments = Vec::new();
    for argument in &list.args {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else { return None };
        arguments.push(expr);
    }
    (function.over.is_none() && function.filter.is_none())
        .then_some((function_name(function)?, arguments))
}

fn is_integer(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Integer(_) | DataType::Int(_) | DataType::BigInt(_))
}

/// A constant as text: of a number if one is asked for, else of a text or of a date.
fn constant(expr: &Expr, is_number: bool) -> Option<String> {
    match expr {
        Expr::Nested(inner) => constant(inner, is_number),
        Expr::TypedString(typed) if !is_number => match &typed.value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        Expr::Cast { expr, data_type: DataType::Date | DataType::Timestamp(..), .. }
            if !is_number =>
        {
            constant(expr, false)
        }
        _ if is_number => number(expr).map(str::to_owned),
        _ => text(expr).map(str::to_owned),
    }
}

fn number(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// `column + 1 > 5` as `column > 4`, for columns of integers.
fn shift_constant(left: &Expr, op: &BinaryOperator, right: &Expr, scope: &Scope) -> Option<String> {
    let sign = flip_operator(op).map(|_| op.to_string())?;
    let Expr::BinaryOp { left: a, op: sum, right: b } = left else { return None };
    let (column, shift) = match (&**a, &**b, sum) {
        (column, number, BinaryOperator::Plus) if path(column).is_some() => {
            (column, integer(number)?)
        }
        (column, number, BinaryOperator::Minus) if path(column).is_some() => {
            (column, integer(number)?.checked_neg()?)
        }
        (number, column, BinaryOperator::Plus) if path(column).is_some() => {
            (column, integer(number)?)
        }
        _ => return None,
    };
    let (_, known) = scope.column(column)?;
    let is_integers = known.sql_type.to_ascii_lowercase().contains("int");
    let bound = integer(right)?.checked_sub(shift)?;
    is_integers.then(|| format!("{column} {sign} {bound}"))
}

fn integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::UnaryOp { op: sqlparser::ast::UnaryOperator::Minus, expr } => {
            integer(expr)?.checked_neg()
        }
        other => number(other)?.parse().ok(),
    }
}
