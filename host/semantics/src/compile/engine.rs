//! The differences between the dialects: names, literals, periods as texts and as numbers.

use chrono::{Datelike, Days, NaiveDate};
use sqlparser::keywords::ALL_KEYWORDS;
use syrch_core::Dialect;

use crate::{Grain, Literal, WeekStart};

use super::CompileError;
use super::labels::Labels;

/// A dialect with the first day of a week.
#[derive(Debug, Clone, Copy)]
pub(super) struct Engine<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) week_start: WeekStart,
}

impl Engine<'_> {
    /// Writes a name so that the engine reads it as it is: in quotes unless every dialect reads it
    /// as a word. A dialect that folds letters gets those in quotes that it would change.
    pub(super) fn name(&self, name: &str) -> String {
        let is_keyword = ALL_KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_ok();
        let is_folded = *self.dialect == Dialect::Postgres
            && name.bytes().any(|byte| byte.is_ascii_uppercase());
        self.dialect.identifier(name, is_keyword || is_folded)
    }

    /// Writes a table of the database, whose schema stands before a dot. Parts may be quoted.
    pub(super) fn source(&self, source: &str) -> String {
        let parts: Vec<String> = split_source(source).iter().map(|part| self.name(part)).collect();
        parts.join(".")
    }

    /// Writes a text as a literal that ends where the text ends.
    pub(super) fn text(&self, text: &str) -> Result<String, CompileError> {
        if text.contains('\0') {
            return Err(self.refuse(text, "it has a NUL"));
        }
        let mut literal = String::with_capacity(text.len() + 2);
        literal.push('\'');
        for character in text.chars() {
            match (self.dialect, character) {
                // Spark reads a doubled quote as the end of one literal and the start of another.
                (Dialect::Spark | Dialect::Databricks, '\'' | '\\') => literal.push('\\'),
                (Dialect::Mysql, '\'' | '\\') => literal.push(character),
                (Dialect::Other(_), '\\') => {
                    let reason = "it has a backslash, which may escape a quote there";
                    return Err(self.refuse(text, reason));
                }
                (_, '\'') => literal.push('\''),
                _ => {}
            }
            literal.push(character);
        }
        literal.push('\'');
        Ok(literal)
    }

    fn refuse(&self, text: &str, reason: &'static str) -> CompileError {
        CompileError::Unwritable {
            what: format!("`{}`", syrch_core::text::clip(text, 64)),
            dialect: self.dialect.name().to_owned(),
            reason,
        }
    }

    /// Writes a day as a literal that columns of dates, of times and of ISO texts compare with.
    pub(super) fn day(&self, day: NaiveDate) -> String {
        let prefix = if *self.dialect == Dialect::Ansi { "DATE " } else { "" };
        format!("{prefix}'{}'", day.format("%Y-%m-%d"))
    }

    /// Writes a constant.
    pub(super) fn literal(&self, literal: &Literal) -> Result<String, CompileError> {
        match literal {
            Literal::Text(text) => self.text(text),
            Literal::Number(number) if is_number(number) => Ok(number.clone()),
            Literal::Number(number) => Err(self.refuse(number, "it is no number")),
            Literal::Bool(true) => Ok("TRUE".to_owned()),
            Literal::Bool(false) => Ok("FALSE".to_owned()),
            Literal::Date(day) => Ok(self.day(*day)),
            Literal::Null => Ok("NULL".to_owned()),
        }
    }

    /// Writes an expression as a floating-point number, by which a division keeps its fraction.
    pub(super) fn real(&self, sql: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("CAST({sql} AS REAL)"),
            Dialect::Postgres | Dialect::Ansi => format!("CAST({sql} AS DOUBLE PRECISION)"),
            Dialect::Mysql => format!("({sql} * 1e0)"),
            _ => format!("CAST({sql} AS DOUBLE)"),
        }
    }

    /// Writes a division that keeps its fraction and is NULL where the divisor is 0.
    pub(super) fn divide(&self, dividend: &str, divisor: &str) -> String {
        format!("{} / NULLIF({divisor}, 0)", self.real(dividend))
    }

    /// Writes the remainder of a division.
    pub(super) fn modulo(&self, left: &str, right: &str) -> String {
        if *self.dialect == Dialect::Ansi {
            format!("MOD({left}, {right})")
        } else {
            format!("{left} % {right}")
        }
    }

    /// Writes the joined text of two expressions. MySQL takes `||` for OR.
    pub(super) fn concat(&self, left: &str, right: &str) -> String {
        if *self.dialect == Dialect::Mysql {
            format!("CONCAT({left}, {right})")
        } else {
            format!("{left} || {right}")
        }
    }

    /// Writes the condition that an expression contains a text, whatever the letter case.
    pub(super) fn contains(&self, sql: &str, text: &str) -> Result<String, CompileError> {
        let mut pattern = String::from("%");
        for character in text.chars() {
            if matches!(character, '%' | '_' | '!') {
                pattern.push('!');
            }
            pattern.push(character);
        }
        pattern.push('%');
        let kind = self.dialect.text_type();
        let pattern = self.text(&pattern)?;
        Ok(format!("LOWER(CAST({sql} AS {kind})) LIKE LOWER({pattern}) ESCAPE '!'"))
    }

    /// Writes a sort key with NULL at the end.
    pub(super) fn order(&self, sql: &str, is_descending: bool) -> String {
        let direction = if is_descending { " DESC" } else { "" };
        if *self.dialect == Dialect::Mysql {
            format!("{sql} IS NULL, {sql}{direction}")
        } else {
            format!("{sql}{direction} NULLS LAST")
        }
    }

    /// Writes the limit on the number of rows.
    pub(super) fn limit(&self, rows: u64) -> String {
        if *self.dialect == Dialect::Ansi {
            format!("FETCH FIRST {rows} ROWS ONLY")
        } else {
            format!("LIMIT {rows}")
        }
    }

    /// Writes a date or time as the text of its period, as [`Grain`] shows it.
    pub(super) fn label(&self, grain: Grain, sql: &str) -> Result<String, CompileError> {
        let labels = Labels::for_dialect(self.dialect);
        let is_sunday = self.week_start == WeekStart::Sunday;
        let label = match grain {
            Grain::Day => labels.day,
            Grain::Week if is_sunday => labels.week_from_sunday,
            Grain::Week => labels.week_from_monday,
            Grain::Month => labels.month,
            Grain::Quarter => labels.quarter,
            Grain::Year => labels.year,
        };
        if label.is_empty() {
            return Err(CompileError::Unwritable {
                what: "the grain `week`".to_owned(),
                dialect: self.dialect.name().to_owned(),
                reason: "its dates have no weekday",
            });
        }
        let time = match self.dialect {
            Dialect::Sqlite => sql.to_owned(),
            _ => format!("CAST({sql} AS DATE)"),
        };
        // Only the label is divided: the time may hold the sign.
        Ok(label.split('@').collect::<Vec<_>>().join(&time))
    }

    /// Writes the characters of a text from `start` (from 1) on, as an integer.
    fn digits(&self, text: &str, start: u8, count: u8) -> String {
        let kind = if *self.dialect == Dialect::Mysql { "SIGNED" } else { "INTEGER" };
        let part = if *self.dialect == Dialect::Ansi {
            format!("SUBSTRING({text} FROM {start} FOR {count})")
        } else {
            format!("SUBSTR({text}, {start}, {count})")
        };
        format!("CAST({part} AS {kind})")
    }

    /// Writes the number of the period that a text of [`Engine::label`] names, and the distance to
    /// the period before, or to the same one a year before. Numbers of periods a distance apart
    /// differ by it exactly, so a RANGE of that distance skips over gaps.
    pub(super) fn number(&self, grain: Grain, label: &str, is_year: bool) -> (String, String) {
        let year = self.digits(label, 1, 4);
        match grain {
            Grain::Year => (year, "1".to_owned()),
            Grain::Quarter => {
                let number = format!("{year} * 4 + {}", self.digits(label, 7, 1));
                (number, if is_year { "4" } else { "1" }.to_owned())
            }
            Grain::Month => {
                let number = format!("{year} * 12 + {}", self.digits(label, 6, 2));
                (number, if is_year { "12" } else { "1" }.to_owned())
            }
            // Every day of a year has a number of its own in a year of 12 months with 31 days.
            Grain::Day if is_year => {
                let month = self.digits(label, 6, 2);
                let day = self.digits(label, 9, 2);
                (format!("{year} * 372 + {month} * 31 + {day}"), "372".to_owned())
            }
            Grain::Day | Grain::Week => {
                let days = match (grain, is_year) {
                    (Grain::Day, _) => 1,
                    (_, false) => 7,
                    (_, true) => 364,
                };
                let date = format!("CAST({label} AS DATE)");
                match self.dialect {
                    Dialect::Sqlite => {
                        (format!("CAST(julianday({label}) AS INTEGER)"), days.to_string())
                    }
                    Dialect::Postgres | Dialect::Duckdb => {
                        (format!("{date} - DATE '1970-01-01'"), days.to_string())
                    }
                    Dialect::Spark | Dialect::Databricks => {
                        (format!("datediff({date}, DATE '1970-01-01')"), days.to_string())
                    }
                    Dialect::Mysql => (format!("TO_DAYS({label})"), days.to_string()),
                    Dialect::Ansi | Dialect::Other(_) => (date, format!("INTERVAL '{days}' DAY")),
                }
            }
        }
    }
}

/// Returns the parts of a table's name in the database: dots within quotes divide nothing.
fn split_source(source: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut characters = source.chars().peekable();
    while let Some(character) = characters.next() {
        let is_begin = quote.is_none() && parts.last().is_some_and(String::is_empty);
        match (quote, character) {
            (None, '"' | '`') if is_begin => quote = Some(character),
            (None, '.') => parts.push(String::new()),
            (Some(end), _) if end == character => {
                if characters.peek() == Some(&end) {
                    characters.next();
                    parts.iter_mut().last().into_iter().for_each(|part| part.push(end));
                } else {
                    quote = None;
                }
            }
            _ => parts.iter_mut().last().into_iter().for_each(|part| part.push(character)),
        }
    }
    // A name with an open quote or an empty part is one name.
    if quote.is_some() || parts.iter().any(String::is_empty) {
        vec![source.to_owned()]
    } else {
        parts
    }
}

/// Returns true for an optional sign, digits with at most one point, and an exponent.
pub(crate) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
        }
        None => (unsigned, None),
    };
    let digits = mantissa.replacen('.', "", 1);
    text.len() <= 64
        && !digits.is_empty()
        && has_only_digits(&digits)
        && exponent.is_none_or(|exponent| !exponent.is_empty() && has_only_digits(exponent))
}

fn has_only_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the first day of the period that a day lies in.
pub(crate) fn begin(grain: Grain, day: NaiveDate, week_start: WeekStart) -> NaiveDate {
    let month = match grain {
        Grain::Day => return day,
        Grain::Week => {
            let back = match week_start {
                WeekStart::Monday => day.weekday().num_days_from_monday(),
                WeekStart::Sunday => day.weekday().num_days_from_sunday(),
            };
            return day.checked_sub_days(Days::new(u64::from(back))).unwrap_or(day);
        }
        Grain::Month => day.month(),
        Grain::Quarter => day.month0() / 3 * 3 + 1,
        Grain::Year => 1,
    };
    NaiveDate::from_ymd_opt(day.year(), month, 1).unwrap_or(day)
}

/// Returns the text of the period that a day lies in, as [`Engine::label`] writes it.
pub(crate) fn label(grain: Grain, day: NaiveDate, week_start: WeekStart) -> String {
    let begin = begin(grain, day, week_start);
    match grain {
        Grain::Day | Grain::Week => begin.format("%Y-%m-%d").to_string(),
        Grain::Month => begin.format("%Y-%m").to_string(),
        Grain::Quarter => format!("{}-Q{}", begin.format("%Y"), begin.month0() / 3 + 1),
        Grain::Year => begin.format("%Y").to_string(),
    }
}
