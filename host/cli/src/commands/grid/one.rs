//! One question in place of a suite: written down as a suite of its own, so that its run is one as all others.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use syrch::grade::report::GridReport;
use syrch::syrch_core::ports::Query;
use syrch::syrch_core::result_set::digest64;
use syrch::{Settings, open_database};

use super::GridArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// In the place of an expected statement: no answer is right or wrong by it, since it has no rows.
const NOTHING: &str = "-- nothing is expected";
/// How a report begins to tell that.
const UNTOLD: &str = "1 question counts for nobody";

/// A question with what is expected of its answer.
pub(super) struct One {
    question: String,
    evidence: Option<String>,
    expected: Option<PathBuf>,
    sql: Option<String>,
}

impl One {
    /// That of the flags.
    pub(super) fn of(question: &str, arguments: &GridArgs) -> Self {
        let GridArgs { evidence, expected, expected_sql, .. } = arguments;
        Self {
            question: question.to_owned(),
            evidence: evidence.clone(),
            expected: expected.clone(),
            sql: expected_sql.clone(),
        }
    }

    /// Writes the suite beside the folder of runs; its file. Equal questions have the same file.
    pub(super) fn write(&self, runs: &Path, database: &Path) -> Outcome<PathBuf> {
        let rows = self.expected.as_deref().map(rows).transpose()?;
        let db = database.file_stem().map_or_else(|| "database".to_owned(), |name| name.to_string_lossy().into_owned());
        let mut line = json!({"id": "question", "db": db, "question": self.question});
        if let Some(evidence) = &self.evidence {
            line["evidence"] = json!(evidence);
        }
        match &rows {
            Some(_) => line["expected_data"] = json!("expected.csv"),
            None => line["gold_sql"] = json!(self.sql.as_deref().unwrap_or(NOTHING)),
        }
        let text = format!("{line}\n");
        let id = digest64(&[&text, &rows.as_ref().map(|rows| String::from_utf8_lossy(rows)).unwrap_or_default()]);
        let folder = runs.parent().unwrap_or(runs).join("questions").join(format!("{id:016x}"));
        let fail = |error: std::io::Error| Failure::config(format!("`{}`: {error}", folder.display()));
        fs::create_dir_all(&folder).map_err(fail)?;
        if let Some(rows) = rows {
            Output::open(Some(&folder.join("expected.csv")))?.write_bytes(&rows)?;
        }
        let path = folder.join("question.jsonl");
        Output::open(Some(&path))?.write(&text)?;
        Ok(path)
    }

    /// Whether something is expected of the answer.
    pub(super) fn expects(&self) -> bool {
        self.expected.is_some() || self.sql.is_some()
    }

    /// Finds out before anything is asked whether the expected statement runs.
    pub(super) async fn check(&self, settings: &Settings) -> Outcome<()> {
        let Some(sql) = &self.sql else { return Ok(()) };
        let (database, limits) = (settings.database.clone(), settings.limits.clone());
        // With all tables, whatever strategies are granted.
        let database = open_database(&Settings { database, limits, ..Settings::default() }).await?;
        let told = |failure: Failure| Failure { message: format!("--expected-sql: {}", failure.message), ..failure };
        database.run(&Query::new(sql)).await.map(drop).map_err(|error| told(error.into()))
    }
}

/// Says of the report's figures what they are when nothing was expected.
pub(super) fn settle(report: &mut GridReport) {
    report.basis.warnings.retain(|warning| !warning.starts_with(UNTOLD));
    report.head.suite.gold_faults = 0;
    // Without right answers there is nothing to test.
    report.ties.clear();
    report.cells.iter_mut().for_each(|cell| cell.p_to_best = None);
    report
        .basis
        .warnings
        .push("nothing was expected of the answers: the best cell is that with the surest one".to_owned());
}

/// The expected rows; the suite's reader says what is wrong with them.
fn rows(path: &Path) -> Outcome<Vec<u8>> {
    /// Bytes at most, as in suites.
    const MOST: u64 = 64 << 20;
    let fail = |why: String| Failure::config(format!("--expected `{}`: {why}", path.display()));
    let about = fs::metadata(path).map_err(|error| fail(error.to_string()))?;
    if !about.is_file() || about.len() > MOST {
        return Err(fail("is no file of 64 MiB at most".to_owned()));
    }
    fs::read(path).map_err(|error| Failure { exit: Exit::Config, ..fail(error.to_string()) })
}
