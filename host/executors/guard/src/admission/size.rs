//! Arguments that say how much a function makes: constants, with a bound for all of a statement
//! together.

use sqlparser::ast::{
    DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Interval, UnaryOperator,
    Value, ValueWithSpan,
};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::{AMPLIFICATION, Walk};

/// Bytes of a regular expression.
const PATTERN: usize = 1_000;

impl Walk<'_> {
    /// A size is a constant, and those of a statement together multiply by at most
    /// [`AMPLIFICATION`].
    pub(super) fn limit_size(
        &mut self,
        function: &str,
        arg: Option<&FunctionArg>,
    ) -> Result<(), SqlError> {
        let size = match arg {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(ValueWithSpan {
                value: Value::Number(digits, false),
                ..
            })))) => digits.parse::<u64>().ok(),
            _ => None,
        };
        self.amplify(function, size)
    }

    fn amplify(&mut self, function: &str, size: Option<u64>) -> Result<(), SqlError> {
        let product = size.map(|size| self.amplification.saturating_mul(size.max(1)));
        match product.filter(|product| *product <= AMPLIFICATION) {
            Some(product) => {
                self.amplification = product;
                Ok(())
            }
            None => Err(self.size_error(function)),
        }
    }

    /// A text that is put in at many places is a constant, and its bytes count as a size.
    pub(super) fn limit_insert(
        &mut self,
        function: &str,
        arg: Option<&FunctionArg>,
    ) -> Result<(), SqlError> {
        let text = match arg {
            // Left out, nothing is put in.
            None => return Ok(()),
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))) => {
                value.value.clone().into_string()
            }
            Some(_) => None,
        };
        self.amplify(function, text.map(|text| text.len() as u64))
    }

    /// The text that `format` follows is a constant, and its widths are small.
    pub(super) fn limit_format(
        &mut self,
        function: &str,
        arg: Option<&FunctionArg>,
    ) -> Result<(), SqlError> {
        let text = match arg {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))) => {
                value.value.clone().into_string().unwrap_or_default()
            }
            _ => return Err(self.size_error(function)),
        };
        // Formats in braces may hold a width too, and a width may be an argument there.
        if !self.rules.is_postgres() && !has_small_numbers(&text) {
            return Err(self.size_error(function));
        }
        let mut rest = text.as_str();
        while let Some((_, after)) = rest.split_once('%') {
            let end = after
                .find(|c: char| !c.is_ascii_digit() && !matches!(c, '$' | '-'))
                .unwrap_or(after.len());
            let width = after[..end].rsplit('$').next().unwrap_or_default().trim_start_matches('-');
            let is_small =
                width.is_empty() || width.parse::<u64>().is_ok_and(|width| width <= 1_000);
            if !is_small || after[end..].starts_with('*') {
                return Err(self.size_error(function));
            }
            rest = after.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }

    fn size_error(&self, function: &str) -> SqlError {
        let message = format!(
            "`{function}` is refused: its size, or the text that it puts in, must be a constant, \
             and all sizes of a statement multiply by at most {AMPLIFICATION}"
        );
        self.refuse(SqlErrorKind::Denied, "size-argument", message, Span::empty())
    }

    /// A series between constants, with a constant step: so many rows as it has count as a size.
    pub(super) fn limit_series(
        &mut self,
        function: &str,
        args: &[FunctionArg],
    ) -> Result<(), SqlError> {
        let given: Option<Vec<&Expr>> = args
            .iter()
            .map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
                _ => None,
            })
            .collect();
        let rows = given.and_then(|given| match given[..] {
            [stop] => count_rows(Point::Number(0), read_point(stop)?, 1),
            [start, stop] => count_rows(read_point(start)?, read_point(stop)?, 1),
            [start, stop, step] => {
                count_rows(read_point(start)?, read_point(stop)?, step_of(step)?)
            }
            _ => None,
        });
        self.amplify(function, rows)
    }

    /// A regular expression that engines match by trying is a constant, and short.
    pub(super) fn limit_pattern(&self, pattern: &Expr) -> Result<(), SqlError> {
        let is_short = match pattern {
            Expr::Value(value) => value
                .value
                .clone()
                .into_string()
                .is_some_and(|text| text.len() <= PATTERN && !repeats_twice(&text)),
            _ => false,
        };
        if is_short {
            return Ok(());
        }
        let message = format!(
            "a pattern must be a constant text of at most {PATTERN} bytes, without a repetition of \
             a repetition"
        );
        Err(self.refuse(SqlErrorKind::Denied, "pattern", message, Span::empty()))
    }
}

/// An end of a series.
#[derive(Clone, Copy)]
enum Point {
    Number(i64),
    /// Days since the first of January of the year 0, at least.
    Day(i64),
}

fn count_rows(start: Point, stop: Point, step: u64) -> Option<u64> {
    let length = match (start, stop) {
        (Point::Number(start), Point::Number(stop)) | (Point::Day(start), Point::Day(stop)) => {
            start.abs_diff(stop)
        }
        _ => return None,
    };
    Some(length / step.max(1) + 1)
}

/// A constant number, or the day of a constant date or time.
fn read_point(expr: &Expr) -> Option<Point> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, false) => digits.parse().ok().map(Point::Number),
            Value::SingleQuotedString(text) => read_day(text),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match read_point(expr)? {
            Point::Number(number) => number.checked_neg().map(Point::Number),
            Point::Day(_) => None,
        },
        Expr::Nested(inner) => read_point(inner),
        // A time that becomes a number counts in other units.
        Expr::Cast { expr, data_type, .. } => read_point(expr).filter(|point| {
            let is_time = matches!(data_type, DataType::Date | DataType::Timestamp(..));
            matches!(point, Point::Day(_)) == is_time
        }),
        Expr::TypedString(typed) => match &typed.value.value {
            Value::SingleQuotedString(text) => read_day(text),
            _ => None,
        },
        Expr::Function(function) => match &function.args {
            FunctionArguments::List(list) if is_of_dates(&function.name.to_string()) => {
                match &list.args[..] {
                    [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => read_point(expr),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    }
}

fn is_of_dates(function: &str) -> bool {
    ["date", "timestamp", "to_date", "to_timestamp"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(function))
}

/// The day of `2024-01-31`, with or without a time.
fn read_day(text: &str) -> Option<Point> {
    let mut parts = text.get(..10)?.split('-').map(str::parse::<i64>);
    let year = parts.next()?.ok()?;
    let month = parts.next()?.ok()?;
    let day = parts.next()?.ok()?;
    (parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day))
        .then(|| Point::Day(year * 366 + month * 31 + day))
}

/// The least number of units that a step has; for intervals, in days.
fn step_of(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Interval(Interval { value, leading_field, last_field: None, .. }) => {
            let (number, unit) = match (&**value, leading_field) {
                (Expr::Value(value), Some(unit)) => (value.value.clone(), unit.to_string()),
                (Expr::Value(value), None) => {
                    let text = value.value.clone().into_string()?;
                    let (number, unit) = text.trim().split_once(' ')?;
                    (Value::Number(number.to_owned(), false), unit.trim().to_owned())
                }
                _ => return None,
            };
            let number: i64 = match number {
                Value::Number(digits, false) | Value::SingleQuotedString(digits) => {
                    digits.parse().ok()?
                }
                _ => return None,
            };
            let unit = unit.to_lowercase();
            let days = match unit.strip_suffix('s').unwrap_or(&unit) {
                "day" => 1,
                "week" => 7,
                "month" => 28,
                "quarter" => 84,
                "year" => 365,
                _ => return None,
            };
            (number != 0).then(|| number.unsigned_abs().saturating_mul(days))
        }
        other => match read_point(other)? {
            Point::Number(step) => (step != 0).then(|| step.unsigned_abs()),
            Point::Day(_) => None,
        },
    }
}

/// Returns true if no number in a format is a large width, and no width in it is an argument.
fn has_small_numbers(text: &str) -> bool {
    !is_nested(text)
        && !text.contains('*')
        && text
            .split(|letter: char| !letter.is_ascii_digit())
            .all(|digits: &str| digits.len() <= 4 && digits.parse::<u64>().unwrap_or(0) <= 1_000)
}

/// Returns true if braces stand within braces. A pair of braces outside is one brace of the result.
fn is_nested(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        if let Some(after) = after.strip_prefix('{') {
            rest = after;
            continue;
        }
        let (field, after) = after.split_once('}').unwrap_or((after, ""));
        if field.contains('{') {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns true if a group that holds a repetition is repeated, as in `(a+)+`: engines that match
/// by trying need exponential time for some texts.
fn repeats_twice(pattern: &str) -> bool {
    fn is_repetition(letter: char) -> bool {
        matches!(letter, '*' | '+' | '{')
    }
    let mut open: Vec<bool> = Vec::new();
    let mut is_escaped = false;
    let mut is_class = false;
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            _ if is_class => {}
            '(' => open.push(false),
            ')' => {
                let has_repetition = open.pop().unwrap_or(false);
                let is_repeated = letters.peek().is_some_and(|next| is_repetition(*next));
                if has_repetition && is_repeated {
                    return true;
                }
                if let Some(outer) = open.last_mut() {
                    *outer |= has_repetition || is_repeated;
                }
            }
            letter if is_repetition(letter) => {
                if let Some(group) = open.last_mut() {
                    *group = true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_of_repetitions_are_found() {
        for pattern in ["(a+)+$", "(a*)*", "((a+)b)*", "(a{2,})+", "(x(y|z+))+", r"(\d+)+"] {
            assert!(repeats_twice(pattern), "{pattern}");
        }
        for pattern in
            ["^[a-z]+@[a-z]+$", "(a|b)+", r"(\+)+", "([*+])+", "a+b+", r"^(\d{4})-(\d{2})$"]
        {
            assert!(!repeats_twice(pattern), "{pattern}");
        }
    }

    #[test]
    fn widths_are_found() {
        assert!(has_small_numbers("{:>10} %5.2f {} {{x}}") && has_small_numbers("%1$s"));
        for text in ["{:1000000}", "%99999s", "{:{}}", "{:>{w}}", "%*d"] {
            assert!(!has_small_numbers(text), "{text}");
        }
    }
}
