//! The report on a run: without secrets, printed in the chosen format.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use syrch_grading::Timings;
use syrch_grading::grade::report::render::{csv, markdown, parquet};
use syrch_grading::grade::report::{ResultRow, RunReport};
use syrch_grading::grade::run::RunRecord;

use super::{Timed, text};
use crate::commands::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::scrub::Scrubber;
use crate::sink::{Format, json};

/// The report on a run, as the commands that grade answers print it and write it to files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document(pub(crate) RunReport);

impl Document {
    /// Adds what a timed pass found of these answers.
    pub(crate) fn with_timings(&mut self, timings: Option<&Timings>, record: &RunRecord) {
        let Some(timings) = timings else { return };
        let timed = Timed::new(timings, record, &self.0.basis().rule);
        match &mut self.0 {
            RunReport::Benchmark(report) => report.with_timings(&timed.r_ves, timed.repeats),
            RunReport::Compare(report) => report.with_timings(&timed.r_ves, timed.repeats),
        }
        timed.warn(self.0.basis_mut());
    }

    /// Adds warnings for the reader.
    pub(crate) fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        self.0.basis_mut().warnings.extend(warnings);
    }

    /// The document without secrets, so that no output can hold one.
    pub(crate) fn scrub(self, scrubber: &Scrubber) -> Outcome<Self> {
        Ok(Self(match self.0 {
            RunReport::Benchmark(report) => {
                clean(*report, |report| &mut report.results, scrubber)?.into()
            }
            RunReport::Compare(report) => {
                clean(*report, |report| &mut report.results, scrubber)?.into()
            }
        }))
    }

    /// The whole report as one JSON document.
    pub(crate) fn json(&self) -> Outcome<String> {
        json::serialize_document(&self.0).map_err(Failure::unwritable_document)
    }

    /// A line of JSON for each answer.
    fn lines(&self) -> Outcome<String> {
        self.0
            .rows()
            .iter()
            .map(|row| {
                serde_json::to_value(row)
                    .map(|value| json::line(&value))
                    .map_err(Failure::unwritable_document)
            })
            .collect()
    }

    /// A Parquet file with a row for each answer.
    pub(crate) fn parquet(&self) -> Outcome<Vec<u8>> {
        parquet::parquet(self.0.rows())
            .map_err(|error| Failure::new(Exit::Unexpected, error.to_string()))
    }
}

/// The report without secrets. Its rows are converted one at a time: as JSON values, all of them
/// would take many times their memory.
fn clean<T: Serialize + DeserializeOwned>(
    mut report: T,
    rows: impl Fn(&mut T) -> &mut Vec<ResultRow>,
    scrubber: &Scrubber,
) -> Outcome<T> {
    if scrubber.is_idle() {
        return Ok(report);
    }
    let held = std::mem::take(rows(&mut report));
    let mut report = scrubber.document(report)?;
    *rows(&mut report) =
        held.into_iter().map(|row| scrubber.document(row)).collect::<Outcome<_>>()?;
    Ok(report)
}

/// Prints a report in the chosen format, and its warnings on standard error. The document must be
/// scrubbed. `slices` are the fields of the suite whose values the terminal shows one by one.
pub(crate) fn print(context: &Context, document: &Document, slices: &[String]) -> Outcome<()> {
    let output = &context.output;
    match context.format {
        Format::Json => output.write(&document.json()?)?,
        Format::Jsonl => output.write(&document.lines()?)?,
        Format::Csv => output.write(&csv::csv(document.0.rows()))?,
        Format::Markdown => output.write(&markdown::document(&document.0))?,
        Format::Auto | Format::Table => {
            output.write(&text::document(&document.0, slices, output.width()))?
        }
    }
    document.0.basis().warnings.iter().for_each(|warning| context.console.warn(warning));
    Ok(())
}

/// Notes on standard error where the journals are that the run retained.
pub(crate) fn note_traces(context: &Context, document: &Document, folder: &Path) {
    let Some((id, name)) =
        document.0.rows().iter().find_map(|row| Some((&row.id, row.run.as_ref()?)))
    else {
        return;
    };
    let path = folder.join(name);
    context.console.note(&format!(
        "journals are retained; `syrch-host trace show {}` draws that of `{id}`",
        path.display()
    ));
}
