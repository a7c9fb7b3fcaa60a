//! Attempts at a statement: from the reply to the statement, through check and run, to a candidate.
//!
//! [`written`] reads a reply, [`Trials`] checks and runs each text once, [`Chain`] holds a
//! statement and its repairs, and the functions [`judge_candidates`], [`carry_on`] and [`nothing`]
//! are the end of a task.

mod chain;
mod literals;
mod outcome;
mod reply;
mod trial;

pub use chain::Chain;
pub use outcome::{accept, carry_on, judge_candidates, nothing, rejection};
pub use reply::{Statement, Written, too_large, written};
pub use trial::{Ended, Ran, Trial, Trials};

use syrch_basics::fnv1a;

use crate::prelude::*;
use crate::text::{count, line};

/// The message for a model about an error of a check or a run, which is counted in `signals`.
///
/// # Errors
/// The failure, if no statement can run any more.
pub fn record_error(error: &SqlError, signals: &mut Signals) -> Result<String, Failure> {
    if is_over(error.kind) {
        return Err(sql_failure(error));
    }
    tally(error.kind, signals);
    Ok(words(error))
}

/// Adds the errors that are counted in `own`.
pub fn add_errors(signals: &mut Signals, own: &Signals) {
    signals.syntax_errors += own.syntax_errors;
    signals.schema_errors += own.schema_errors;
    signals.execution_errors += own.execution_errors;
}

/// Returns true if no statement can run any more after an error of that kind.
#[must_use]
pub fn is_over(kind: SqlErrorKind) -> bool {
    matches!(kind, SqlErrorKind::Budget | SqlErrorKind::Cancelled | SqlErrorKind::Unavailable)
}

fn tally(kind: SqlErrorKind, signals: &mut Signals) {
    match kind {
        SqlErrorKind::Syntax => signals.syntax_errors += 1,
        SqlErrorKind::UnknownTable
        | SqlErrorKind::UnknownColumn
        | SqlErrorKind::AmbiguousName
        | SqlErrorKind::Denied => signals.schema_errors += 1,
        _ => signals.execution_errors += 1,
    }
}

/// An error in words for a model: the message, the position, and the nearest names.
#[must_use]
pub fn words(error: &SqlError) -> String {
    let mut out = line(&error.message, 400);
    if let Some(position) = error.position {
        out += &format!(", at byte {position}");
    }
    if !error.suggestions.is_empty() {
        let near: Vec<String> =
            error.suggestions.iter().take(5).map(|name| line(name, 80)).collect();
        out += &format!("; near: {}", near.join(", "));
    }
    out
}

/// Returns the signs of a bad answer, a sentence each: no rows, columns of NULL, more rows than
/// `overflow_rows`, and the warnings of the host. The signs in the shape of the result are counted
/// in `signals`.
pub fn doubts(overflow_rows: u64, profile: &Profile, signals: &mut Signals) -> Vec<String> {
    let mut doubts = Vec::new();
    signals.empty_result = profile.rows == 0;
    if signals.empty_result {
        doubts.push("the result has no rows".to_owned());
    }
    let nulls: Vec<&ColumnProfile> = profile
        .columns
        .iter()
        .filter(|column: &&ColumnProfile| profile.rows > 0 && column.nulls >= profile.rows)
        .collect();
    signals.null_columns = u32::try_from(nulls.len()).unwrap_or(u32::MAX);
    if !nulls.is_empty() {
        let named: Vec<String> =
            nulls.iter().take(NAMED).map(|column| line(&column.column.name, 80)).collect();
        let more = nulls.len() - named.len();
        doubts.push(format!(
            "{} NULL in all rows: {}{}",
            if nulls.len() == 1 { "a column is" } else { "columns are" },
            named.join(", "),
            if more > 0 { format!(" and {more} more") } else { String::new() }
        ));
    }
    signals.overflow = profile.truncated || profile.rows > overflow_rows;
    if signals.overflow {
        let cut = if profile.truncated { " and was cut" } else { "" };
        doubts.push(format!(
            "the result has {}{cut}, where at most {} are expected",
            count(profile.rows, "row"),
            overflow_rows
        ));
    }
    doubts.extend(warnings(profile).iter().take(NAMED).map(|warning| line(warning, 400)));
    doubts
}

/// Returns the host's warnings about a result, without the first warning of a truncated result,
/// which only names the limit.
#[must_use]
pub fn warnings(profile: &Profile) -> &[String] {
    profile.warnings.get(usize::from(profile.truncated)..).unwrap_or_default()
}

// The highest confidence in a result with faults.
const DOUBTFUL: f64 = 0.5;
// The most columns that a doubt names.
const NAMED: usize = 20;
// The length of the longest id that the host allows.
const ID: usize = 64;

/// The id of a task's numbered candidate: `TASK.NUMBER`, or a shortened id of the task if that is
/// too long for the host.
#[must_use]
pub fn candidate_id(task: &str, number: u32) -> String {
    let id = format!("{task}.{number}");
    if id.len() <= ID {
        return id;
    }
    // Two tasks may have the same head: a hash of the whole id distinguishes them.
    let hash = fnv1a(task.bytes());
    let head: String = task.chars().take(32).collect();
    format!("{head}.{hash:016x}.{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubt_names_the_first_columns() {
        let doubts = |columns: usize| {
            let names: Vec<String> = (0..columns).map(|number| format!("c{number}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let rows = crate::fakes::FakeRows::new(&names, vec![vec![Value::Null; columns]]);
            let mut signals = Signals::default();
            let doubts = doubts(1000, &rows.handle().profile(), &mut signals);
            (doubts.concat(), signals.null_columns)
        };
        assert_eq!(doubts(2), ("columns are NULL in all rows: c0, c1".to_owned(), 2));
        let (reported, number) = doubts(300);
        assert!(reported.ends_with("c18, c19 and 280 more") && number == 300, "{reported}");
    }

    #[test]
    fn what_the_host_warns_of_is_a_doubt() {
        fn warn(truncated: bool) -> Vec<String> {
            let warnings = ["cut after 3 rows", "2 of 9 values of c are no numbers"]
                .map(str::to_owned)
                .to_vec();
            let profile = Profile { rows: 3, truncated, warnings, ..Profile::default() };
            doubts(1000, &profile, &mut Signals::default())
        }
        assert_eq!(warn(false), ["cut after 3 rows", "2 of 9 values of c are no numbers"]);
        assert_eq!(
            warn(true).last().map(String::as_str),
            Some("2 of 9 values of c are no numbers")
        );
        assert!(!warn(true).contains(&"cut after 3 rows".to_owned()));
    }

    #[test]
    fn ids_fit_and_differ() {
        assert_eq!(candidate_id("A", 1), "A.1");
        let long = "x".repeat(63);
        let other = format!("{}y", "x".repeat(62));
        assert!(candidate_id(&long, 100).len() <= 64);
        assert_ne!(candidate_id(&long, 10), candidate_id(&other, 10));
    }
}
