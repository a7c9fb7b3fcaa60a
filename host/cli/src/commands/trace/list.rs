//! `trace list`: the runs, the latest first.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use syrch::journal::{Entry, Journal, JournalError, Summary};
use syrch_report::words::{moment, seconds, size};

use super::super::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::{Format, Grid};

/// A run, or why it cannot be read.
struct Line {
    entry: Entry,
    summary: Result<Summary, JournalError>,
    is_running: bool,
}

/// Prints the latest `count` runs.
pub(super) fn run(context: &Context, count: usize) -> Outcome {
    let entries = super::folder(context)?.list().map_err(syrch::Error::from)?;
    let lines: Vec<Line> = entries.into_iter().take(count).map(line).collect();
    for line in &lines {
        if let Err(error) = &line.summary {
            context.console.warn(&error.to_string());
        }
    }
    let is_for_people = matches!(context.format, Format::Auto | Format::Table | Format::Markdown);
    context.rows(grid(&lines, is_for_people), || {
        json!({
            "schema": "syrch.traces/1", "runs": lines.iter().map(document).collect::<Vec<_>>()
        })
    })?;
    Ok(Exit::Answered)
}

fn line(entry: Entry) -> Line {
    let summary = Journal::read(&entry.path).map(|journal| Summary::from_journal(&journal));
    let is_open = summary.as_ref().is_ok_and(|summary| summary.outcome == "unfinished");
    let is_running = is_open && entry.is_written();
    Line { entry, summary, is_running }
}

impl Line {
    fn outcome(&self) -> &str {
        match &self.summary {
            Ok(_) if self.is_running => "running",
            Ok(summary) => &summary.outcome,
            Err(_) => "unreadable",
        }
    }

    /// Writes how long a run took. One that was killed has no end, and may have waited for a call
    /// long after its last event.
    fn took(&self, summary: &Summary) -> String {
        let took = seconds(summary.took_us);
        match self.outcome() {
            "running" => format!("{} so far", seconds(microseconds_since(summary.began_ms))),
            "unfinished" => format!("{took} until its last event"),
            _ => took,
        }
    }
}

/// The time since a moment in milliseconds since 1970.
fn microseconds_since(began_ms: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let since = now.saturating_sub(Duration::from_millis(began_ms));
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn grid(lines: &[Line], is_for_people: bool) -> Grid {
    let mut grid = if is_for_people {
        Grid::new(["run", "when", "question", "outcome", "confidence", "calls", "took", "size"])
    } else {
        Grid::new([
            "run",
            "began_ms",
            "question",
            "outcome",
            "confidence",
            "calls",
            "took_ms",
            "bytes",
        ])
    };
    grid.rows = lines
        .iter()
        .map(|line| if is_for_people { read(line) } else { exact_cells(line) })
        .collect();
    grid
}

fn read(line: &Line) -> Vec<Value> {
    let known = line.summary.as_ref().ok();
    vec![
        json!(line.entry.run),
        json!(known.map(|summary| moment(summary.began_ms))),
        json!(known.map(|summary| summary.question.as_str())),
        json!(line.outcome()),
        json!(
            known
                .and_then(|summary| summary.confidence)
                .map(|confidence| format!("{confidence:.2}"))
        ),
        json!(known.map(|summary| summary.calls)),
        json!(known.map(|summary| line.took(summary))),
        json!(size(line.entry.bytes)),
    ]
}

fn exact_cells(line: &Line) -> Vec<Value> {
    let known = line.summary.as_ref().ok();
    vec![
        json!(line.entry.run),
        json!(known.map(|summary| summary.began_ms)),
        json!(known.map(|summary| summary.question.as_str())),
        json!(line.outcome()),
        json!(known.and_then(|summary| summary.confidence)),
        json!(known.map(|summary| summary.calls)),
        json!(known.map(|summary| summary.took_us / 1000)),
        json!(line.entry.bytes),
    ]
}

fn document(line: &Line) -> Value {
    let names = grid(&[], false).columns;
    let path = line.entry.path.to_string_lossy();
    let fields = names.into_iter().zip(exact_cells(line)).chain([("path".to_owned(), json!(path))]);
    Value::Object(fields.collect())
}
