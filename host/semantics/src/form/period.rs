//! Periods as texts: `2024`, `2024-Q1`, `2024-03`, `2024-03-04`, `2024-01..2024-06`, `last_month`.

use chrono::{Datelike, Days, Months, NaiveDate};

use crate::compile::begin;
use crate::request::LAST_YEAR;
use crate::{Grain, Period, WeekStart};

use super::{RequestError, clip, read_grain};

/// The greatest number of units in `last_N_days` and the like.
const MOST: u32 = 10_000;

/// Reads a period. The last day, month and so on of a range belongs to it, and either side may be
/// open. `last_month` and `last_3_months` are the whole months before the one of `today`; so are
/// days, weeks, quarters and years.
///
/// # Errors
/// When the text is no period, or ends before it begins.
pub fn read_period(
    text: &str,
    today: NaiveDate,
    week_start: WeekStart,
) -> Result<Period, RequestError> {
    let unknown = RequestError::Period { text: clip(text) };
    let period = match text.split_once("..") {
        None => {
            let Some((from, until)) = read_unit(text, today, week_start) else {
                return Err(unknown);
            };
            Period { from: Some(from), until: Some(until) }
        }
        Some((from, until)) => {
            let from = read_side(from, today, week_start);
            let until = read_side(until, today, week_start);
            let (Some(from), Some(until)) = (from, until) else { return Err(unknown) };
            Period { from: from.map(|unit| unit.0), until: until.map(|unit| unit.1) }
        }
    };
    // No engine knows a day behind that year, and none is left out without the bound.
    let is_endless = period.until.is_some_and(|until| until.year() > LAST_YEAR);
    let period = if is_endless { Period { until: None, ..period } } else { period };
    match (period.from, period.until) {
        (None, None) if is_endless => Ok(period),
        (None, None) => Err(unknown),
        (Some(from), Some(until)) if from >= until => {
            Err(RequestError::Reversed { text: clip(text) })
        }
        _ => Ok(period),
    }
}

/// Reads a side of a range: `Some(None)` if it is open, `None` if it is wrong.
#[expect(clippy::option_option, reason = "an open side differs from a wrong one")]
fn read_side(
    text: &str,
    today: NaiveDate,
    week_start: WeekStart,
) -> Option<Option<(NaiveDate, NaiveDate)>> {
    if text.trim().is_empty() {
        return Some(None);
    }
    read_unit(text, today, week_start).map(Some)
}

/// Reads a unit of time as its first day and the day after its last.
fn read_unit(
    text: &str,
    today: NaiveDate,
    week_start: WeekStart,
) -> Option<(NaiveDate, NaiveDate)> {
    let text = text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let words: Vec<&str> = text.split('_').collect();
    match words.as_slice() {
        ["today"] => Some((today, today.succ_opt()?)),
        ["yesterday"] => Some((today.pred_opt()?, today)),
        ["this", unit] => {
            let grain = read_grain(unit)?;
            let from = begin(grain, today, week_start);
            Some((from, add(grain, from, 1)?))
        }
        ["last", unit] => {
            let grain = read_grain(unit)?;
            let until = begin(grain, today, week_start);
            Some((subtract(grain, until, 1)?, until))
        }
        ["last", count, units] => {
            let count: u32 = count.parse().ok().filter(|count| (1..=MOST).contains(count))?;
            let grain = read_grain(units.strip_suffix('s').unwrap_or(units))?;
            let until = begin(grain, today, week_start);
            Some((subtract(grain, until, count)?, until))
        }
        [year, rest @ ..] => {
            let year: i32 = read_digits(year, 4)?;
            match rest {
                [] => Some((first(year, 1)?, first(year, 1)?.checked_add_months(Months::new(12))?)),
                [quarter] if quarter.starts_with('q') => {
                    let quarter: u32 = read_digits(&quarter[1..], 1)?;
                    let from =
                        quarter.checked_sub(1).and_then(|before| first(year, before * 3 + 1))?;
                    Some((from, from.checked_add_months(Months::new(3))?))
                }
                [month] => {
                    let from = first(year, read_digits(month, 2)?)?;
                    Some((from, from.checked_add_months(Months::new(1))?))
                }
                [month, day] => {
                    let month = read_digits(month, 2)?;
                    let from = NaiveDate::from_ymd_opt(year, month, read_digits(day, 2)?)?;
                    Some((from, from.succ_opt()?))
                }
                _ => None,
            }
        }
        [] => None,
    }
}

fn first(year: i32, month: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year, month, 1)
}

fn read_digits<T: std::str::FromStr>(text: &str, count: usize) -> Option<T> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn months(grain: Grain, count: u32) -> Option<u32> {
    let months = match grain {
        Grain::Day | Grain::Week => return None,
        Grain::Month => 1,
        Grain::Quarter => 3,
        Grain::Year => 12,
    };
    Some(months * count)
}

fn days(grain: Grain, count: u32) -> Days {
    let days = if grain == Grain::Week { 7 } else { 1 };
    Days::new(days * u64::from(count))
}

fn add(grain: Grain, day: NaiveDate, count: u32) -> Option<NaiveDate> {
    match months(grain, count) {
        Some(months) => day.checked_add_months(Months::new(months)),
        None => day.checked_add_days(days(grain, count)),
    }
}

fn subtract(grain: Grain, day: NaiveDate, count: u32) -> Option<NaiveDate> {
    match months(grain, count) {
        Some(months) => day.checked_sub_months(Months::new(months)),
        None => day.checked_sub_days(days(grain, count)),
    }
}
