//! The reward `execution`: a statement that ran is accepted, and scored by how smoothly it came about.
//!
//! `score = 0.5 + 0.5 × execution signal` (syrch 0.3.7), where the signal starts at 1 and loses a share for each error of the
//! attempts made for the task, at most three of a kind, and for each doubt about the result's shape.

use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, count};

syrch_plugin::settings! {
    /// What the execution signal loses for what.
    pub struct Losses {
        /// Lost for each attempt that did not parse.
        syntax: f64 = 0.10, 0.0 ..= 1.0;
        /// Lost for each attempt that named what the catalog lacks.
        schema: f64 = 0.05, 0.0 ..= 1.0;
        /// Lost for each attempt that failed while running.
        execution: f64 = 0.10, 0.0 ..= 1.0;
        /// Lost when the result has no rows.
        empty: f64 = 0.15, 0.0 ..= 1.0;
        /// Lost when a column of the result is NULL throughout.
        null_column: f64 = 0.05, 0.0 ..= 1.0;
        /// Lost when the result is larger than expected.
        overflow: f64 = 0.05, 0.0 ..= 1.0;
        /// Errors of one kind that count at most.
        most_errors: u32 = 3, 0 ..= 1000;
        /// Rows above this number count as larger than expected.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Whether a result without rows is rejected rather than scored lower.
        reject_empty: bool = false;
    }
}

/// The reward.
pub struct ExecutionReward {
    losses: Losses,
}

impl Plugin for ExecutionReward {
    const NAME: &'static str = "execution";
    const SUMMARY: &'static str = "accepts what ran, scored by the errors on the way and the shape of the result";
    type Settings = Losses;

    fn new(losses: Losses) -> Self {
        Self { losses }
    }
}

impl RewardRole for ExecutionReward {
    fn judge(
        &self,
        _host: &impl RewardHost,
        _problem: &Problem,
        _catalog: &Catalog,
        _task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        Ok(rivals.iter().map(|rival| self.losses.verdict(&rival.candidate.signals, &rival.results.profile())).collect())
    }
}

/// What the result itself shows; the candidate's own claims about it are not asked.
struct Shape {
    rows: u64,
    null_columns: usize,
    is_overflow: bool,
}

impl Losses {
    fn verdict(&self, signals: &Signals, profile: &Profile) -> Verdict {
        let shape = self.shape(profile);
        let opinion = Opinion {
            score: clamp01(0.5 + 0.5 * self.signal(signals, &shape)),
            reason: reason(signals, &shape),
            checks: vec![
                ("ran".to_owned(), true),
                ("no attempt failed to parse".to_owned(), signals.syntax_errors == 0),
                ("no attempt named what is not there".to_owned(), signals.schema_errors == 0),
                ("no attempt failed while running".to_owned(), signals.execution_errors == 0),
                ("has rows".to_owned(), shape.rows > 0),
                ("no column is NULL throughout".to_owned(), shape.null_columns == 0),
                ("not larger than expected".to_owned(), !shape.is_overflow),
            ],
        };
        if shape.rows == 0 && self.reject_empty { Verdict::Rejected(opinion) } else { Verdict::Accepted(opinion) }
    }

    fn shape(&self, profile: &Profile) -> Shape {
        let is_null = |column: &&ColumnProfile| profile.rows > 0 && column.nulls >= profile.rows;
        Shape {
            rows: profile.rows,
            null_columns: profile.columns.iter().filter(is_null).count(),
            is_overflow: profile.truncated || profile.rows > self.overflow_rows,
        }
    }

    fn signal(&self, signals: &Signals, shape: &Shape) -> f64 {
        let errors = |number: u32| f64::from(number.min(self.most_errors));
        let once = |occurred: bool| f64::from(u8::from(occurred));
        let lost = self.syntax * errors(signals.syntax_errors)
            + self.schema * errors(signals.schema_errors)
            + self.execution * errors(signals.execution_errors)
            + self.empty * once(shape.rows == 0)
            + self.null_column * once(shape.null_columns > 0)
            + self.overflow * once(shape.is_overflow);
        (1.0 - lost).max(0.0)
    }
}

fn reason(signals: &Signals, shape: &Shape) -> String {
    let errors =
        u64::from(signals.syntax_errors) + u64::from(signals.schema_errors) + u64::from(signals.execution_errors);
    let mut parts = vec![format!("ran with {}", count(shape.rows, "row"))];
    if errors > 0 {
        parts.push(format!("after {}", count(errors, "failed attempt")));
    }
    if shape.null_columns > 0 {
        parts.push(format!("{} without a value", count(shape.null_columns as u64, "column")));
    }
    if shape.is_overflow {
        parts.push("more rows than expected".to_owned());
    }
    parts.join(", ")
}

syrch_plugin::export!(ExecutionReward: reward);

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::fakes::{FakeHost, FakeRows};

    fn judge(losses: Losses, signals: Signals, rows: &FakeRows) -> Verdict {
        let catalog = Catalog { database: "db".into(), dialect: Dialect::Sqlite, tables: Vec::new() };
        let rival = Rival { candidate: Candidate { signals, ..Candidate::default() }, results: rows.handle() };
        let verdicts = ExecutionReward::new(losses)
            .judge(&FakeHost::default(), &Problem::new("q"), &catalog, &Task::new("A", "q"), &[rival])
            .unwrap();
        verdicts.into_iter().next().unwrap()
    }

    fn score(signals: Signals, rows: &FakeRows) -> f64 {
        match judge(Losses::default(), signals, rows) {
            Verdict::Accepted(opinion) => (opinion.score * 1e9).round() / 1e9,
            other => panic!("not accepted: {other:?}"),
        }
    }

    fn one_row() -> FakeRows {
        FakeRows::new(&["n"], vec![vec![Value::Integer(7)]])
    }

    #[test]
    fn a_smooth_run_scores_one() {
        assert_eq!(score(Signals { attempts: 1, ..Signals::default() }, &one_row()), 1.0);
    }

    #[test]
    fn each_loss_counts_half() {
        assert_eq!(score(Signals { syntax_errors: 2, ..Signals::default() }, &one_row()), 0.9);
        assert_eq!(score(Signals { schema_errors: 1, ..Signals::default() }, &one_row()), 0.975);
        assert_eq!(score(Signals { execution_errors: 9, ..Signals::default() }, &one_row()), 0.85);
        assert_eq!(score(Signals::default(), &FakeRows::new(&["n"], vec![])), 0.925);
        assert_eq!(score(Signals::default(), &FakeRows::new(&["n"], vec![vec![Value::Null]])), 0.975);
    }

    // Founding bugs 5: "0 rows" was looked for in "Query returned 1010 rows", and an overflow only in counts with the digits 1000.
    #[test]
    fn rows_are_counted_and_not_read_from_a_text() {
        assert_eq!(score(Signals::default(), &one_row().counted(1010)), 0.975);
        assert_eq!(score(Signals::default(), &one_row().counted(5234)), 0.975);
        assert_eq!(score(Signals::default(), &one_row().counted(1000)), 1.0);
    }

    #[test]
    fn an_empty_result_is_rejected_on_request() {
        let strict = Losses { reject_empty: true, ..Losses::default() };
        let verdict = judge(strict, Signals::default(), &FakeRows::new(&["n"], vec![]));
        assert!(matches!(verdict, Verdict::Rejected(opinion) if opinion.reason == "ran with 0 rows"));
    }

    #[test]
    fn the_checks_are_listed() {
        let signals = Signals { syntax_errors: 1, ..Signals::default() };
        let Verdict::Accepted(opinion) = judge(Losses::default(), signals, &one_row()) else { panic!("not accepted") };
        let failed: Vec<&str> =
            opinion.checks.iter().filter(|(_, passed)| !passed).map(|(name, _)| name.as_str()).collect();
        assert_eq!(failed, ["no attempt failed to parse"]);
        assert_eq!(opinion.reason, "ran with 1 row, after 1 failed attempt");
    }
}
