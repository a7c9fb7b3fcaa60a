//! One question in place of a suite: it is written to a suite of its own, so that its run is like
//! all others.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use syrch::Settings;
use syrch::databases::{database_name, open_database};
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::ports::SqlQuery;
use syrch::syrch_core::result_set::digest64;

use super::GridArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// The expected statement of a question without an expected answer. It has no rows, so no answer is
/// right or wrong by it.
const NOTHING: &str = "-- nothing is expected";

/// A question with what is expected of its answer.
pub(super) struct One {
    question: String,
    evidence: Option<String>,
    expected: Option<PathBuf>,
    sql: Option<String>,
}

impl One {
    /// The question of the flags.
    pub(super) fn new(question: &str, arguments: &GridArgs) -> Self {
        let GridArgs { evidence, expected, expected_sql, .. } = arguments;
        Self {
            question: question.to_owned(),
            evidence: evidence.clone(),
            expected: expected.clone(),
            sql: expected_sql.clone(),
        }
    }

    /// Writes the suite beside the folder of runs; its file. Equal questions have the same file.
    pub(super) fn write(&self, runs: &Path, database: &DatabaseUrl) -> Outcome<PathBuf> {
        let rows = self.expected.as_deref().map(rows).transpose()?;
        let db = Some(database_name(database))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "database".to_owned());
        let mut line = json!({"id": "question", "db": db, "question": self.question});
        if let Some(evidence) = &self.evidence {
            line["evidence"] = json!(evidence);
        }
        match &rows {
            Some(_) => line["expected_data"] = json!("expected.csv"),
            None => line["gold_sql"] = json!(self.sql.as_deref().unwrap_or(NOTHING)),
        }
        let text = format!("{line}\n");
        let id = digest64(&[
            &text,
            &rows.as_ref().map(|rows| String::from_utf8_lossy(rows)).unwrap_or_default(),
        ]);
        let folder = runs.parent().unwrap_or(runs).join("questions").join(format!("{id:016x}"));
        fs::create_dir_all(&folder).map_err(|error: std::io::Error| {
            Failure::config(format!("`{}`: {error}", folder.display()))
        })?;
        if let Some(rows) = rows {
            Output::open(Some(&folder.join("expected.csv")))?.write_bytes(&rows)?;
        }
        let path = folder.join("question.jsonl");
        Output::open(Some(&path))?.write(&text)?;
        Ok(path)
    }

    /// Returns true if there is an expected answer.
    pub(super) fn has_expected_answer(&self) -> bool {
        self.expected.is_some() || self.sql.is_some()
    }

    /// Finds out before anything is asked whether the expected statement runs.
    pub(super) async fn check(&self, settings: &Settings) -> Outcome<()> {
        let Some(sql) = &self.sql else { return Ok(()) };
        // With all tables, whatever strategies are granted.
        let database = open_database(&settings.for_database(&settings.database)).await?;
        let with_flag = |failure: Failure| Failure {
            message: format!("--expected-sql: {}", failure.message),
            ..failure
        };
        database.run(&SqlQuery::new(sql)).await.map(drop).map_err(|error| with_flag(error.into()))
    }
}

/// The expected rows; the reader of suites checks them.
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
