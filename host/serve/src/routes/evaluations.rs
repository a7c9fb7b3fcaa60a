//! Graded runs over suites: their list, their reports, and the searches of single answers.

use std::cell::OnceCell;
use std::path::{Component, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use syrch_grade::report::render::page;
use syrch_grade::report::{CompareOptions, RunReport};
use syrch_grade::run::{Header, RunEntry, RunError, Runs, is_going_on, read, read_header};
use syrch_grade::suite;
use syrch_journal::{Journal, SearchTree};

use super::runs::{check_size, describe, in_background, limit_shown, to_value};
use super::{Served, send};
use crate::problem::Problem;

/// The number of bootstrap samples for an unfinished run, whose report is made again and again.
const SAMPLES_MEANWHILE: u32 = 1_000;
/// The limit on the answers of a run that a report covers.
const ANSWERS: usize = 50_000;
/// The limit on the runs of a list.
const LISTED: usize = 200;
/// The number of reports that are cached.
const CACHED: usize = 4;
/// The file that makes a run one over a grid of settings.
const GRID: &str = "cells.json";
/// The file of a run's answers.
const RESULTS: &str = "results.jsonl";

/// The reports of runs that did not change since they were made, the latest last. Only one report
/// is made at a time.
#[derive(Default)]
pub(crate) struct Reports(Mutex<Vec<(PathBuf, SystemTime, Value)>>);

impl Reports {
    fn get(&self, entry: &RunEntry) -> Result<Value, Problem> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.iter().find(|(path, changed, _)| {
            *path == entry.path && *changed == entry.changed && !is_going_on(path)
        });
        if let Some((_, _, report)) = same {
            return Ok(report.clone());
        }
        let report = report(entry)?;
        known.retain(|(path, ..)| *path != entry.path);
        if known.len() >= CACHED {
            known.remove(0);
        }
        known.push((entry.path.clone(), entry.changed, report.clone()));
        Ok(report)
    }
}

/// Makes the report on a run: the document `syrch.benchmark/1` or `syrch.compare/1`.
fn report(entry: &RunEntry) -> Result<Value, Problem> {
    if entry.path.join(GRID).exists() {
        return Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "usage",
            format!("the run is a grid: `syrch-host report {}` shows it", entry.id),
        ));
    }
    check_size(std::fs::metadata(entry.path.join(RESULTS)).map_or(0, |data| data.len()))?;
    let record = read(&entry.path)?;
    if record.graded.len() > ANSWERS {
        return Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            format!("the run has more than {ANSWERS} answers: `syrch-host report` shows it"),
        ));
    }
    let is_running = is_going_on(&entry.path);
    let mut options = CompareOptions::default();
    if is_running {
        options.resamples = SAMPLES_MEANWHILE;
    }
    let rule = record.header.rule.clone();
    let mut report = RunReport::new(&record, &rule, &options);
    if is_running {
        report.basis_mut().because("it is still going on");
    }
    let mut document = to_value(&report);
    document["running"] = json!(is_running);
    if !is_running {
        document["sections"] = page::sections(&report).into();
    }
    Ok(document)
}

/// Lists the runs, the latest first.
pub(super) async fn list(State(served): State<Arc<Served>>) -> Result<Json<Value>, Problem> {
    let reader = Arc::clone(&served);
    let lines = in_background(move || {
        let entries = Runs::new(reader.evaluations.clone()).list()?;
        let suites = OnceCell::new();
        let lines = entries.iter().filter_map(|entry| line(&reader, entry, &suites));
        Ok(lines.take(LISTED).collect::<Vec<_>>())
    })
    .await?;
    Ok(send(&served, json!({"schema": "syrch.runs/1", "runs": lines})))
}

/// The digests of the suites whose questions clients may have asked.
fn list_digests(served: &Served) -> Vec<String> {
    let suites = served.program.suites();
    suites.iter().filter_map(|path| Some(suite::read(path).ok()?.digest)).collect()
}

/// Returns whether a run was over the database of this server, and within its tables. A suite may
/// name its databases by itself: then it has to be one of the server's.
fn is_own(served: &Served, header: &Header, suites: &OnceCell<Vec<String>>) -> bool {
    let scope = &served.scope;
    header.arms.iter().all(|arm| scope.is_within_tables(&arm.settings))
        && (header.arms.iter().all(|arm| scope.is_over_database(&arm.settings))
            || header.databases.keys().all(|name| name == scope.name())
                && suites.get_or_init(|| list_digests(served)).contains(&header.suite.digest))
}

/// A run of a list; `None` if it cannot be read or is of another database.
fn line(served: &Served, entry: &RunEntry, suites: &OnceCell<Vec<String>>) -> Option<Value> {
    // The summary reads all answers.
    read_header(&entry.path).ok().filter(|header| is_own(served, header, suites))?;
    let summary = entry.summary().ok()?;
    let own = summary.header.own();
    let arms: Vec<&str> = own.arms.iter().map(|arm| arm.name.as_str()).collect();
    let changed = entry.changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Some(json!({
        "run": entry.id,
        "changed_ms": u64::try_from(changed).unwrap_or(u64::MAX),
        "suite": summary.header.suite.path,
        "arms": arms,
        "done": summary.done,
        "of": summary.of,
        "rule": summary.header.rule,
        "simulated": summary.header.simulated,
        "running": summary.is_going_on,
        "grid": entry.path.join(GRID).exists(),
    }))
}

/// The run of that id. A path is none.
fn find(served: &Served, run: &str) -> Result<RunEntry, Problem> {
    let entries = Runs::new(served.evaluations.clone()).list()?;
    let entry = entries
        .into_iter()
        .find(|entry| entry.id == run)
        .ok_or_else(|| Problem::not_found("there is no evaluation of such an id"))?;
    match is_own(served, &read_header(&entry.path)?, &OnceCell::new()) {
        true => Ok(entry),
        false => Err(Problem::not_found(format!(
            "the evaluation `{run}` is over another database or other tables than this server"
        ))),
    }
}

/// The report on a run, which may be unfinished.
pub(super) async fn one(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
) -> Result<Json<Value>, Problem> {
    let reader = Arc::clone(&served);
    let report = in_background(move || {
        let entry = find(&reader, &run)?;
        reader.reports.get(&entry)
    })
    .await?;
    Ok(send(&served, report))
}

/// An answer of a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    arm: String,
    id: String,
}

/// The search of an answer, where the run retained its journal.
pub(super) async fn trace(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
    answer: Result<Query<Answer>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let Query(answer) = answer.map_err(|error| Problem::bad_request(error.body_text()))?;
    let reader = Arc::clone(&served);
    let tree = in_background(move || {
        let entry = find(&reader, &run)?;
        let missing = Problem::not_found("the run retained no such journal");
        let report = reader.reports.get(&entry)?;
        let path = journal_of(&report, &answer).ok_or_else(|| missing.clone())?;
        let path = entry.path.join(path);
        let data = std::fs::metadata(&path).map_err(|_| missing)?;
        check_size(data.len())?;
        Ok(SearchTree::from_journal(&Journal::read(&path)?, limit_shown(&reader)))
    })
    .await?;
    Ok(send(&served, describe(&served, &tree, false)))
}

/// The journal of an answer as the report names it: a file below the folder of the run.
fn journal_of<'a>(report: &'a Value, answer: &Answer) -> Option<&'a std::path::Path> {
    let row = report["results"]
        .as_array()?
        .iter()
        .find(|row| row["arm"] == answer.arm.as_str() && row["id"] == answer.id.as_str())?;
    let path = std::path::Path::new(row["run"].as_str()?);
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Unknown { .. } => Self::not_found(error.to_string()),
            _ => Self::from_class("configuration", error.to_string()),
        }
    }
}
