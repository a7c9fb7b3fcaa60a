//! Scores candidates by their signals and the shape of their results.

use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, count};

use crate::{ExecutionReward, Settings};

impl RewardRole for ExecutionReward {
    fn judge(
        &self,
        _host: &impl RewardHost,
        _problem: &Problem,
        _catalog: &Catalog,
        _task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        Ok(rivals
            .iter()
            .map(|rival| self.settings.verdict(&rival.candidate.signals, &rival.results.profile()))
            .collect())
    }
}

/// What the result itself shows; the candidate's own claims about it are not asked.
struct Shape {
    rows: u64,
    null_columns: usize,
    is_overflow: bool,
}

impl Settings {
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
