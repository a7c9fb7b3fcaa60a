//! Earlier runs, from their journals.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syrch::syrch_core::ports::RowsGrant;
use syrch_journal::{Entry, Folder, Journal, JournalError, SearchTree, Shown, Summary, TreeDiff};

use super::{Served, send};
use crate::problem::Problem;

/// The limit on the size of a journal that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// The default number of runs in a list, and the limit on it.
const USUAL: usize = 50;
const MOST: usize = 500;
/// The number of summaries that are cached.
const CACHED: usize = 5_000;

/// Summaries of journals that did not change since they were read.
#[derive(Default)]
pub(crate) struct Summaries(Mutex<HashMap<PathBuf, (u64, SystemTime, Summary)>>);

impl Summaries {
    fn read(&self, entry: &Entry) -> Result<Summary, JournalError> {
        {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((bytes, changed, summary)) = known.get(&entry.path)
                && (*bytes, *changed) == (entry.bytes, entry.changed)
            {
                return Ok(summary.clone());
            }
        }
        let summary = Summary::from_journal(&Journal::read(&entry.path)?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CACHED {
            known.clear();
        }
        known.insert(entry.path.clone(), (entry.bytes, entry.changed, summary.clone()));
        Ok(summary)
    }
}

/// The filters of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Filters {
    /// The number of runs at most.
    limit: Option<usize>,
    /// The number of runs that are passed over.
    offset: usize,
    /// A part of the question, in any case.
    question: String,
    /// The outcome.
    outcome: String,
    /// The least confidence.
    min_confidence: Option<f64>,
}

impl Filters {
    fn accept(&self, run: &Line) -> bool {
        let is_in_question = self.question.is_empty()
            || run.question.to_lowercase().contains(&self.question.to_lowercase());
        let is_outcome = self.outcome.is_empty() || run.outcome == self.outcome;
        let is_sure = self
            .min_confidence
            .is_none_or(|least| run.confidence.is_some_and(|confidence| confidence >= least));
        is_in_question && is_outcome && is_sure
    }
}

/// A run of a list.
#[derive(Debug, Serialize)]
struct Line {
    run: String,
    began_ms: u64,
    question: String,
    outcome: String,
    confidence: Option<f64>,
    calls: u32,
    took_ms: u64,
    bytes: u64,
}

/// Lists the runs, the latest first.
pub(super) async fn list(
    State(served): State<Arc<Served>>,
    filters: Result<Query<Filters>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let Query(filters) = filters.map_err(|error| Problem::bad_request(error.body_text()))?;
    let limit = filters.limit.unwrap_or(USUAL).min(MOST);
    let reader = Arc::clone(&served);
    let offset = filters.offset;
    let lines = in_background(move || {
        let entries = Folder::new(reader.runs.clone()).list()?;
        let lines = entries.iter().filter(|entry| entry.bytes <= LARGEST);
        let lines = lines.filter_map(|entry| line(&reader, entry));
        let lines = lines.filter(|line| filters.accept(line)).skip(filters.offset);
        Ok(lines.take(limit + 1).collect::<Vec<_>>())
    })
    .await?;
    let waiting: Vec<Value> = served
        .searches
        .open()
        .iter()
        .filter(|search| offset == 0 && lines.iter().all(|line| line.run != search.run))
        .map(|search| json!({"run": search.run, "question": search.asked.question}))
        .collect();
    let more = lines.len() > limit;
    let runs = &lines[..lines.len().min(limit)];
    Ok(send(
        &served,
        json!({"schema": "syrch.traces/1", "runs": runs, "waiting": waiting, "more": more}),
    ))
}

/// The run of a journal; `None` if it cannot be read or is of another database.
fn line(served: &Served, entry: &Entry) -> Option<Line> {
    let header = Journal::read_header(&entry.path).ok()?;
    if !served.scope.covers(&header.settings) {
        return None;
    }
    let summary = served.summaries.read(entry).ok()?;
    let is_running = summary.outcome == "unfinished" && entry.is_written();
    Some(Line {
        run: summary.run,
        began_ms: summary.began_ms,
        question: summary.question,
        outcome: if is_running { "running".to_owned() } else { summary.outcome },
        confidence: summary.confidence,
        calls: summary.calls,
        took_ms: summary.took_us / 1000,
        bytes: entry.bytes,
    })
}

/// The search of a run: tasks, candidates, calls and the answer.
pub(super) async fn tree(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
) -> Result<Json<Value>, Problem> {
    let shown = limit_shown(&served);
    let reader = Arc::clone(&served);
    let (tree, is_written) = in_background(move || read_tree(&reader, &run, shown)).await?;
    Ok(send(&served, describe(&served, &tree, is_written)))
}

/// The document of a run, with the lines that the page shows besides.
pub(super) fn describe(served: &Served, tree: &SearchTree, is_running: bool) -> Value {
    let mut document = to_value(tree);
    document["words"] = served.program.describe_run(tree, is_running);
    document
}

/// The limits on what may be shown of a search, by the grant of rows.
pub(super) fn limit_shown(served: &Served) -> Shown {
    let rows = match served.host.settings().rows {
        RowsGrant::None | RowsGrant::Aggregates => None,
        RowsGrant::Sample(rows) => Some(rows as usize),
        RowsGrant::Full => Some(usize::MAX),
    };
    Shown { rows, prompts: false }
}

/// The differences of two runs.
pub(super) async fn difference(
    State(served): State<Arc<Served>>,
    Path((run, other)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let reader = Arc::clone(&served);
    let difference = in_background(move || {
        let (left, _) = read_tree(&reader, &run, Shown::default())?;
        let (right, _) = read_tree(&reader, &other, Shown::default())?;
        Ok(TreeDiff::compare(&left, &right))
    })
    .await?;
    Ok(send(&served, to_value(&difference)))
}

/// The search of a run, and whether its journal is being written.
fn read_tree(served: &Served, run: &str, shown: Shown) -> Result<(SearchTree, bool), Problem> {
    let entry = Folder::new(served.runs.clone()).find(run)?;
    check_size(entry.bytes)?;
    let journal = Journal::read(&entry.path)?;
    if !served.scope.covers(&journal.header.settings) {
        return Err(Problem::not_found(format!(
            "the run `{run}` is over another database or other tables than this server"
        )));
    }
    let is_running = !journal.is_finished() && entry.is_written();
    Ok((SearchTree::from_journal(&journal, shown), is_running))
}

/// Refuses a file that is larger than the limit.
pub(super) fn check_size(bytes: u64) -> Result<(), Problem> {
    if bytes <= LARGEST {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too-large",
        format!("the file has more than {LARGEST} bytes; the command line reads it"),
    ))
}

pub(super) fn to_value(document: &impl Serialize) -> Value {
    // Trees consist of texts and numbers, which JSON has.
    serde_json::to_value(document).unwrap_or_default()
}

pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let joined = tokio::task::spawn_blocking(work).await;
    joined.unwrap_or_else(|error| Err(Problem::from_class("unexpected", error.to_string())))
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unknown { .. } => Self::not_found(error.to_string()),
            JournalError::Several { .. } => Self::bad_request(error.to_string()),
            _ => Self::from_class("configuration", error.to_string()),
        }
    }
}
