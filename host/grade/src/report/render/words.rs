//! Figures of graded runs as texts for people.

use syrch_report::words::{UNKNOWN, count, figure, points_with_sign};

use crate::report::{Partial, ResultRow};
use crate::rules::Rule;
use crate::run::End;
use crate::stats::Interval;

/// An interval of parts in per cent, `82.0 to 88.0 %`.
pub(crate) fn percents(interval: Interval) -> String {
    format!("{:.1} to {:.1} %", interval.low * 100.0, interval.high * 100.0)
}

/// A difference in points, `+4.2`.
pub(crate) fn points(difference: Option<f64>) -> String {
    figure(difference.map(points_with_sign))
}

/// An interval of differences, `1.1 to 7.3`.
pub(crate) fn point_interval(interval: Option<Interval>) -> String {
    figure(interval.map(|Interval { low, high, .. }| {
        format!("{} to {}", points_with_sign(low), points_with_sign(high))
    }))
}

/// Questions that count, and how many are not graded.
pub(crate) fn question_counts(of: u64, not_graded: u64) -> String {
    let questions = count(of, "question");
    if not_graded == 0 { questions } else { format!("{questions}, {not_graded} not graded") }
}

/// A rule with what it compares, where this host knows it.
pub(crate) fn rule(name: &str) -> String {
    name.parse::<Rule>()
        .map_or_else(|_| name.to_owned(), |rule| format!("{name}: {}", rule.summary()))
}

/// Writes how many answers of a partial run there are, `3 of 4 answers`.
pub(crate) fn answer_counts(partial: &Partial) -> String {
    format!("{} of {}", partial.done, count(partial.of, "answer"))
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
