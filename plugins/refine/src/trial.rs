//! One statement's way through the database: syntax, names, execution, and a look at the result.

use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, line};

use crate::Habits;

/// What came of a statement.
pub(crate) enum Trial {
    /// It ran. `doubts` tell what a good answer would not look like.
    Ran { rows: u64, doubts: Vec<String> },
    /// It did not do; the text tells the model why.
    Failed(String),
    /// No statement can do now.
    Over(Failure),
}

/// Checks and runs a statement, and counts what happened in `signals`.
pub(crate) fn trial(host: &impl SolverHost, habits: &Habits, sql: &str, signals: &mut Signals) -> Trial {
    let results = match host.check(sql).and_then(|_| host.run(sql)) {
        Ok(results) => results,
        Err(error) if is_over(error.kind) => return Trial::Over(sql_failure(&error)),
        Err(error) => {
            tally(error.kind, signals);
            return Trial::Failed(words(&error));
        }
    };
    let profile = results.profile();
    Trial::Ran { rows: profile.rows, doubts: look(habits, &profile, signals) }
}

fn is_over(kind: SqlErrorKind) -> bool {
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

/// An error as a model can use it: what, where, and which names are near.
pub(crate) fn words(error: &SqlError) -> String {
    let mut out = line(&error.message, 400);
    if let Some(position) = error.position {
        out += &format!(", at byte {position}");
    }
    if !error.suggestions.is_empty() {
        let near: Vec<String> = error.suggestions.iter().take(5).map(|name| line(name, 80)).collect();
        out += &format!("; near: {}", near.join(", "));
    }
    out
}

/// What the shape of the result says, counted from its profile.
fn look(habits: &Habits, profile: &Profile, signals: &mut Signals) -> Vec<String> {
    let mut doubts = Vec::new();
    signals.empty_result = profile.rows == 0;
    if signals.empty_result {
        doubts.push("the result has no rows".to_owned());
    }
    let is_null = |column: &&ColumnProfile| profile.rows > 0 && column.nulls >= profile.rows;
    let nulls: Vec<String> =
        profile.columns.iter().filter(is_null).map(|column| line(&column.column.name, 80)).collect();
    signals.null_columns = u32::try_from(nulls.len()).unwrap_or(u32::MAX);
    if !nulls.is_empty() {
        doubts.push(format!(
            "{} NULL in all rows: {}",
            if nulls.len() == 1 { "a column is" } else { "columns are" },
            nulls.join(", ")
        ));
    }
    signals.overflow = profile.truncated || profile.rows > habits.overflow_rows;
    if signals.overflow {
        let cut = if profile.truncated { " and was cut" } else { "" };
        doubts.push(format!(
            "the result has {}{cut}, where at most {} are expected",
            count(profile.rows, "row"),
            habits.overflow_rows
        ));
    }
    doubts
}
