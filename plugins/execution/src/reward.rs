//! Scores candidates by their signals and the shape of their results.

use syrch_plugin::prelude::*;
use syrch_plugin::requirements::Requirements;
use syrch_plugin::text::{clamp01, count};

use crate::requirements::{Lack, Weight, find_lacks};
use crate::{ExecutionReward, Settings};

/// The score of a statement that lacks something grave. Below one half, the host doubts one that is
/// accepted.
const DOUBTED: f64 = 0.25;

impl RewardRole for ExecutionReward {
    fn judge(
        &self,
        host: &impl RewardHost,
        _problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        let required = Requirements::from_task(task).unwrap_or_default();
        Ok(rivals
            .iter()
            .map(|rival: &Rival| {
                let lacks = if required.is_empty() {
                    Vec::new()
                } else {
                    find_lacks(host, catalog, &required, rival)
                };
                let verdict =
                    self.settings.verdict(&rival.candidate.signals, &rival.results.profile());
                let verdict = self.settings.with_lacks(verdict, &lacks, required.lenient);
                doubt_unread(verdict, &required.unread)
            })
            .collect())
    }
}

/// The shape of the result itself; the candidate's own claims about it are ignored.
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
        if shape.rows == 0 && self.reject_empty {
            Verdict::Rejected(opinion)
        } else {
            Verdict::Accepted(opinion)
        }
    }

    /// The verdict on a statement that lacks something: one that lacks something grave is rejected,
    /// or, if others were tried in vain, doubted; else its score is lower.
    fn with_lacks(&self, verdict: Verdict, lacks: &[Lack], is_lenient: bool) -> Verdict {
        let (mut opinion, is_accepted) = match verdict {
            Verdict::Accepted(opinion) => (opinion, true),
            Verdict::Rejected(opinion) => (opinion, false),
            unavailable @ Verdict::Unavailable(_) => return unavailable,
        };
        let (grave, slight): (Vec<&Lack>, Vec<&Lack>) =
            lacks.iter().partition(|lack| lack.weight == Weight::Grave);
        let named: Vec<&str> = grave.iter().chain(&slight).map(|lack| lack.what.as_str()).collect();
        if !named.is_empty() {
            opinion.checks.extend(named.iter().map(|name| (format!("has {name}"), false)));
            opinion.reason += &format!("; it lacks {}", enumerate_names(&named));
            opinion.score = (opinion.score - 0.5 * self.missing * slight.len() as f64).max(0.5);
        }
        if lacks.iter().any(|lack| lack.weight >= Weight::Doubtful) {
            opinion.score = DOUBTED;
        }
        let does = grave.is_empty() || is_lenient || !self.reject_missing;
        if is_accepted && does { Verdict::Accepted(opinion) } else { Verdict::Rejected(opinion) }
    }

    fn shape(&self, profile: &Profile) -> Shape {
        Shape {
            rows: profile.rows,
            null_columns: profile
                .columns
                .iter()
                .filter(|column: &&ColumnProfile| profile.rows > 0 && column.nulls >= profile.rows)
                .count(),
            is_overflow: profile.truncated || profile.rows > self.overflow_rows,
        }
    }

    fn signal(&self, signals: &Signals, shape: &Shape) -> f64 {
        let errors = |number: u32| f64::from(number.min(self.most_errors));
        fn count_once(occurred: bool) -> f64 {
            f64::from(u8::from(occurred))
        }
        let lost = self.syntax * errors(signals.syntax_errors)
            + self.schema * errors(signals.schema_errors)
            + self.execution * errors(signals.execution_errors)
            + self.empty * count_once(shape.rows == 0)
            + self.null_column * count_once(shape.null_columns > 0)
            + self.overflow * count_once(shape.is_overflow);
        (1.0 - lost).max(0.0)
    }
}

/// The verdict where something is required in a form that cannot be read: no statement can be shown
/// to have it, and none to lack it.
fn doubt_unread(verdict: Verdict, unread: &[String]) -> Verdict {
    let mut verdict = verdict;
    if let Verdict::Accepted(opinion) | Verdict::Rejected(opinion) = &mut verdict
        && !unread.is_empty()
    {
        let named: Vec<String> = unread.iter().map(|text| format!("`{text}`")).collect();
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        opinion.reason +=
            &format!("; whether it has what {} requires is unknown", enumerate_names(&named));
        opinion.score = opinion.score.min(DOUBTED);
    }
    verdict
}

/// `a`, `a and b`, `a, b and c`.
fn enumerate_names(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn reason(signals: &Signals, shape: &Shape) -> String {
    let errors = u64::from(signals.syntax_errors)
        + u64::from(signals.schema_errors)
        + u64::from(signals.execution_errors);
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
