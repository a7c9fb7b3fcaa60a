//! One statement's way through the database: syntax, names, execution, and a look at the result; and the ids of candidates.

use crate::prelude::*;
use crate::text::{count, line};

/// What came of a statement.
#[derive(Debug)]
pub enum Trial {
    /// It ran.
    Ran {
        /// The rows.
        results: ResultSet,
        /// Their shape.
        profile: Profile,
        /// What a good answer would not look like, a sentence each.
        doubts: Vec<String>,
    },
    /// It did not do; the text tells the model why.
    Failed(String),
    /// No statement can do now.
    Over(Failure),
}

/// Checks and runs a statement, and counts what happened in `signals`. More rows than `overflow_rows` are a doubt.
pub fn trial(host: &(impl Inspect + Sql), overflow_rows: u64, sql: &str, signals: &mut Signals) -> Trial {
    let results = match host.check(sql).and_then(|_| host.run(sql)) {
        Ok(results) => results,
        Err(error) => return failed(&error, signals),
    };
    let profile = results.profile();
    let doubts = look(overflow_rows, &profile, signals);
    Trial::Ran { results, profile, doubts }
}

/// What an error of a check or a run means for the attempt, counted in `signals`.
pub fn failed(error: &SqlError, signals: &mut Signals) -> Trial {
    if is_over(error.kind) {
        return Trial::Over(sql_failure(error));
    }
    tally(error.kind, signals);
    Trial::Failed(words(error))
}

/// Whether no further statement can do any better.
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

/// An error as a model can use it: what, where, and which names are near.
#[must_use]
pub fn words(error: &SqlError) -> String {
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

/// What the shape of a result says, counted from its profile into `signals`; the doubts in words.
pub fn look(overflow_rows: u64, profile: &Profile, signals: &mut Signals) -> Vec<String> {
    let mut doubts = Vec::new();
    signals.empty_result = profile.rows == 0;
    if signals.empty_result {
        doubts.push("the result has no rows".to_owned());
    }
    let is_null = |column: &&ColumnProfile| profile.rows > 0 && column.nulls >= profile.rows;
    let nulls: Vec<&ColumnProfile> = profile.columns.iter().filter(is_null).collect();
    signals.null_columns = u32::try_from(nulls.len()).unwrap_or(u32::MAX);
    if !nulls.is_empty() {
        let named: Vec<String> = nulls.iter().take(NAMED).map(|column| line(&column.column.name, 80)).collect();
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
    doubts
}

// Columns that a doubt names.
const NAMED: usize = 20;
// The host's longest id.
const ID: usize = 64;

/// The id of a task's numbered candidate, also for a task whose own id leaves no room for the number.
#[must_use]
pub fn candidate_id(task: &str, number: u32) -> String {
    let id = format!("{task}.{number}");
    if id.len() <= ID {
        return id;
    }
    // The head alone could be another task's too: a hash of the whole (FNV-1a) tells them apart.
    let hash = task
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
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
            let doubts = look(1000, &rows.handle().profile(), &mut signals);
            (doubts.concat(), signals.null_columns)
        };
        assert_eq!(doubts(2), ("columns are NULL in all rows: c0, c1".to_owned(), 2));
        let (told, number) = doubts(300);
        assert!(told.ends_with("c18, c19 and 280 more") && number == 300, "{told}");
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
