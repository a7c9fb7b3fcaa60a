//! The report of a run as a document, and the ways in which it is printed.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use syrch::grade::report::render::{csv, html, markdown, parquet};
use syrch::grade::report::{Basis, BenchmarkReport, CompareOptions, CompareReport, ResultRow};
use syrch::grade::run::RunRecord;
use syrch::grading::Timings;

use super::{Timed, text};
use crate::commands::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::scrub::Scrubber;
use crate::sink::{Format, json};

/// The report of a run: of one arm, or of the comparison of several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Document {
    /// `syrch.benchmark/1`.
    Benchmark(Box<BenchmarkReport>),
    /// `syrch.compare/1`.
    Compare(Box<CompareReport>),
}

impl Document {
    /// Of what is graded, under a rule; `options` are for several arms.
    pub(crate) fn of(record: &RunRecord, rule: &str, options: &CompareOptions) -> Self {
        let (header, graded) = (&record.header, &record.graded);
        if header.own().arms.len() < 2 {
            let mut report = BenchmarkReport::new(header, graded, rule);
            report.with_earlier_tries(&record.earlier);
            return Self::Benchmark(Box::new(report));
        }
        let mut report = CompareReport::new(header, graded, rule, options);
        report.with_earlier_tries(&record.earlier);
        Self::Compare(Box::new(report))
    }

    /// Says why the run is not whole.
    pub(crate) fn because(&mut self, why: &str) {
        self.basis_mut().because(why);
    }

    /// Adds what a timed pass found of these answers.
    pub(crate) fn with_timings(&mut self, timings: Option<&Timings>, record: &RunRecord) {
        let Some(timings) = timings else { return };
        let timed = Timed::of(timings, record, &self.basis().rule);
        match self {
            Self::Benchmark(report) => report.with_timings(&timed.r_ves, timed.repeats),
            Self::Compare(report) => report.with_timings(&timed.r_ves, timed.repeats),
        }
        timed.tell(self.basis_mut());
    }

    /// Adds what the reader should know.
    pub(crate) fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        self.basis_mut().warnings.extend(warnings);
    }

    fn basis_mut(&mut self) -> &mut Basis {
        match self {
            Self::Benchmark(report) => &mut report.basis,
            Self::Compare(report) => &mut report.basis,
        }
    }

    fn basis(&self) -> &Basis {
        match self {
            Self::Benchmark(report) => &report.basis,
            Self::Compare(report) => &report.basis,
        }
    }

    /// Takes out what differs between equal runs.
    pub(crate) fn without_times(&mut self) {
        match self {
            Self::Benchmark(report) => report.without_times(),
            Self::Compare(report) => report.without_times(),
        }
    }

    /// The document without secrets, so that no way of writing it can meet one.
    pub(crate) fn scrubbed(self, scrubber: &Scrubber) -> Outcome<Self> {
        Ok(match self {
            Self::Benchmark(report) => {
                Self::Benchmark(Box::new(clean(*report, |report| &mut report.results, scrubber)?))
            }
            Self::Compare(report) => Self::Compare(Box::new(clean(*report, |report| &mut report.results, scrubber)?)),
        })
    }

    /// Every answer.
    pub(crate) fn rows(&self) -> &[ResultRow] {
        match self {
            Self::Benchmark(report) => &report.results,
            Self::Compare(report) => &report.results,
        }
    }

    /// One JSON document.
    pub(crate) fn json(&self) -> Outcome<String> {
        match self {
            Self::Benchmark(report) => json::written(report),
            Self::Compare(report) => json::written(report),
        }
        .map_err(unwritable)
    }

    /// A line of JSON for each answer.
    fn lines(&self) -> Outcome<String> {
        let line = |row| serde_json::to_value(row).map(|value| json::line(&value)).map_err(unwritable);
        self.rows().iter().map(line).collect()
    }

    /// GitHub's Markdown.
    pub(crate) fn markdown(&self) -> String {
        match self {
            Self::Benchmark(report) => markdown::benchmark(report),
            Self::Compare(report) => markdown::compare(report),
        }
    }

    /// A line of comma-separated values for each answer.
    pub(crate) fn csv(&self) -> String {
        csv::csv(self.rows())
    }

    /// The same lines as a Parquet file.
    pub(crate) fn parquet(&self) -> Outcome<Vec<u8>> {
        parquet::parquet(self.rows()).map_err(|error| Failure::new(Exit::Unexpected, error.to_string()))
    }

    /// One page that stands alone.
    pub(crate) fn html(&self) -> String {
        match self {
            Self::Benchmark(report) => html::benchmark(report),
            Self::Compare(report) => html::compare(report),
        }
    }
}

fn unwritable(error: serde_json::Error) -> Failure {
    Failure::new(Exit::Unexpected, format!("the report cannot be written: {error}"))
}

/// The report without secrets. Its rows are taken one at a time: as values, all of them would take many times their memory.
fn clean<T: Serialize + DeserializeOwned>(
    mut report: T,
    rows: impl Fn(&mut T) -> &mut Vec<ResultRow>,
    scrubber: &Scrubber,
) -> Outcome<T> {
    if scrubber.is_idle() {
        return Ok(report);
    }
    let held = std::mem::take(rows(&mut report));
    let mut report = without_secrets(report, scrubber)?;
    *rows(&mut report) = held.into_iter().map(|row| without_secrets(row, scrubber)).collect::<Outcome<_>>()?;
    Ok(report)
}

/// Anything that is read as it is written, without secrets.
pub(crate) fn without_secrets<T: Serialize + DeserializeOwned>(one: T, scrubber: &Scrubber) -> Outcome<T> {
    let mut value = serde_json::to_value(&one).map_err(unwritable)?;
    let before = value.clone();
    scrubber.value(&mut value);
    // Written and read back only when there is something to hide.
    if value == before { Ok(one) } else { serde_json::from_value(value).map_err(unwritable) }
}

/// Prints a report in the chosen format, and on standard error what the reader should know. The document must be scrubbed. `slices` are the
/// fields of the suite whose values a terminal is shown one by one.
pub(crate) fn print(context: &Context, document: &Document, slices: &[String]) -> Outcome<()> {
    let output = &context.output;
    match context.format {
        Format::Json => output.write(&document.json()?)?,
        Format::Jsonl => output.write(&document.lines()?)?,
        Format::Csv => output.write(&document.csv())?,
        Format::Markdown => output.write(&document.markdown())?,
        Format::Auto | Format::Table => output.write(&text::document(document, slices, output.width()))?,
    }
    document.basis().warnings.iter().for_each(|warning| context.console.warn(warning));
    Ok(())
}

/// Says where the journals are that the run kept.
pub(crate) fn tell_traces(context: &Context, document: &Document, folder: &Path) {
    let kept: Vec<&ResultRow> = document.rows().iter().filter(|row| row.run.is_some()).collect();
    let Some((first, name)) = kept.first().and_then(|row| Some((row, row.run.as_ref()?))) else { return };
    let searches = if kept.len() == 1 { "1 search".to_owned() } else { format!("{} searches", kept.len()) };
    context.console.note(&format!(
        "the journals of {searches} are kept; `syrch-host trace show {}` draws that of `{}`",
        folder.join(name).display(),
        first.id
    ));
}
