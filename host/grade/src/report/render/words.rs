//! Figures as texts for people.

use crate::report::{Partial, ResultRow};
use crate::rules::Rule;
use crate::run::End;
use crate::stats::Interval;

/// The text that stands for a figure that is not known.
pub(crate) const UNKNOWN: &str = "–";

/// A part of one in per cent, `85.2 %`.
pub(crate) fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| UNKNOWN.to_owned(), |part| format!("{:.1} %", part * 100.0))
}

/// An interval of parts in per cent, `82.0 to 88.0 %`.
pub(crate) fn percents(interval: Interval) -> String {
    format!("{:.1} to {:.1} %", interval.low * 100.0, interval.high * 100.0)
}

/// A difference in points, `+4.2`.
pub(crate) fn points(difference: Option<f64>) -> String {
    let Some(difference) = difference else { return UNKNOWN.to_owned() };
    let text = super::super::sentence::points(difference);
    if difference > 0.0 && text != "0.0" { format!("+{text}") } else { text }
}

/// An interval of differences, `1.1 to 7.3`.
pub(crate) fn point_interval(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || UNKNOWN.to_owned(),
        |interval| format!("{} to {}", points(Some(interval.low)), points(Some(interval.high))),
    )
}

/// A number with so many decimals.
pub(crate) fn decimal(number: Option<f64>, places: usize) -> String {
    number
        .filter(|number| number.is_finite())
        .map_or_else(|| UNKNOWN.to_owned(), |number| format!("{number:.places$}"))
}

/// Dollars, with as many decimals as small sums need.
pub(crate) fn dollars(usd: Option<f64>) -> String {
    match usd.filter(|usd| usd.is_finite()) {
        None => UNKNOWN.to_owned(),
        Some(usd) if usd == 0.0 || usd.abs() >= 100.0 => format!("${usd:.0}"),
        Some(usd) if usd.abs() >= 0.1 => format!("${usd:.2}"),
        Some(usd) => {
            // Three digits that mean something.
            let places = (2.0 - usd.abs().log10().floor()).clamp(3.0, 12.0) as usize;
            format!("${}", format!("{usd:.places$}").trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// A time in milliseconds, `850 ms` or `1.25 s`.
pub(crate) fn time(time_ms: Option<f64>) -> String {
    match time_ms {
        None => UNKNOWN.to_owned(),
        Some(time) if time < 10.0 => format!("{time:.1} ms"),
        Some(time) if time < 1000.0 => format!("{time:.0} ms"),
        Some(time) => format!("{:.2} s", time / 1000.0),
    }
}

/// A count of things.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// Questions that count, and how many are not graded.
pub(crate) fn question_counts(of: u64, not_graded: u64) -> String {
    let questions = count(of, "question", "questions");
    if not_graded == 0 { questions } else { format!("{questions}, {not_graded} not graded") }
}

/// A rule with what it compares, where this host knows it.
pub(crate) fn rule(name: &str) -> String {
    name.parse::<Rule>()
        .map_or_else(|_| name.to_owned(), |rule| format!("{name}: {}", rule.summary()))
}

/// Writes how many answers of a partial run there are, `3 of 4 answers`.
pub(crate) fn answer_counts(partial: &Partial) -> String {
    format!("{} of {}", partial.done, count(partial.of, "answer", "answers"))
}

/// Writes how a search ended, with the class of its error.
pub(crate) fn status(row: &ResultRow) -> String {
    let end = match row.end {
        End::Answered => "answered",
        End::NoAnswer => "no answer",
        End::Clarify => "asked back",
        End::Failed => "failed",
    };
    let class = row.error_class.as_ref().map(|class| format!(" ({class})"));
    let retried = if row.retried { ", retried" } else { "" };
    let fault = if row.gold_fault.is_some() { ", not graded" } else { "" };
    format!("{end}{}{retried}{fault}", class.unwrap_or_default())
}

/// Rows of the answer, of those expected.
pub(crate) fn row_counts(row: &ResultRow) -> String {
    match (row.rows, row.gold_rows) {
        (Some(rows), Some(expected)) => format!("{rows}/{expected}"),
        (Some(rows), None) => rows.to_string(),
        (None, _) => UNKNOWN.to_owned(),
    }
}

/// The text with a capital, as a sentence begins.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
