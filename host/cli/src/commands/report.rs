//! `report`: reports on runs over suites again, finished or not, under any rule, without asking a
//! model.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::UNIX_EPOCH;

use clap::Args;
use serde_json::{Value, json};
use syrch::syrch_core::text::few;
use syrch_grading::grade::report::render::markdown;
use syrch_grading::grade::report::{CompareOptions, GridReport, RunReport};
use syrch_grading::grade::rules::Rule;
use syrch_grading::grade::run::{
    MergeError, Merged, Missing, RunEntry, RunError, RunRecord, RunSummary, Runs, is_going_on,
    merge, read,
};
use syrch_report::words::{count, moment};

use super::Context;
use super::Run;
use super::compare::{resamples, terms::Terms};
use super::graded::{
    Document, all_failed_failure, check_for_grid, check_slices, note_traces, print, run_files,
    runs, spare_all, timings, write_all, write_grid,
};
use super::grid::saved::SavedGrid;
use super::grid::written;
use super::shard::advise_runs;
use crate::commands::report_file::ReportFile;
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid};

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Runs: ids, beginnings of them, `last`, or folders; several are the shards of one run, and so
    /// are the runs in a folder. Without any, the last
    #[arg(value_name = "RUN", conflicts_with = "list")]
    pub(crate) runs: Vec<String>,
    /// Report on what is there of a run whose shards are missing or not finished, and exit with 5
    #[arg(long, conflicts_with = "list")]
    pub(crate) partial: bool,
    /// List the runs, the latest first
    #[arg(long)]
    pub(crate) list: bool,
    /// Another comparison rule than that of the run: bag-v1, bird-ex, spider-ex, spider2, strict
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    pub(crate) rule: Option<Rule>,
    /// Leave out what differs between equal runs, such as times and counts of calls: equal runs
    /// have equal reports, byte for byte
    #[arg(long, conflicts_with = "list")]
    pub(crate) without_times: bool,
    /// Show the figures by the values of this field of the suite, too, such as `difficulty` or
    /// `db`. May be given several times
    #[arg(long, value_name = "FIELD", conflicts_with = "list")]
    pub(crate) slice: Vec<String>,
    /// The number of bootstrap samples for the interval of a difference [default: that of the
    /// comparison]
    #[arg(long, value_name = "N", conflicts_with = "list", value_parser = resamples())]
    pub(crate) resamples: Option<u32>,
    /// Write the report to this file, too; its ending is the format: .json, .md, .csv, .parquet,
    /// .html, or .xml (JUnit). May be given several times
    #[arg(
        long,
        value_name = "FILE",
        value_parser = ReportFile::for_graded,
        conflicts_with = "list"
    )]
    pub(crate) report: Vec<ReportFile>,
}

impl Run for ReportArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given { any_strategy: true, ..Given::default() })
    }

    async fn run(self, context: Context) -> Outcome {
        self.report.iter().try_for_each(ReportFile::check)?;
        let runs = runs(&context)?;
        if self.list {
            return list(&context, &runs);
        }
        let entries = entries(&runs, &self.runs)?;
        let inputs: Vec<_> = entries.iter().flat_map(|entry| run_files(&entry.path)).collect();
        context.output.refuse_to_replace(&inputs)?;
        spare_all(&self.report, &inputs)?;
        let mut records = Vec::new();
        for entry in &entries {
            records.push(read(&entry.path).map_err(syrch::Error::from)?);
        }
        let merged = self.merge(records)?;
        let incomplete = merged.warnings.clone();
        let failure = all_failed_failure(&merged.record.graded);
        let rule = self
            .rule
            .map_or_else(|| merged.record.header.rule.clone(), |rule| rule.name().to_owned());
        let folders: Vec<&Path> = entries.iter().map(|entry| entry.path.as_path()).collect();
        let timings = timings(folders.iter().copied());
        if let Some(grid) = folders.first().and_then(|folder| SavedGrid::read(folder)) {
            let mut report = grid.report(&merged.record, &rule, timings.as_ref());
            if entries.iter().any(|entry| is_going_on(&entry.path)) {
                report.basis.because("it is still going on");
            }
            report.basis.warnings.extend(merged.warnings);
            report_grid(&context, &self, report)?;
            return Ok(end(&context, failure, &incomplete));
        }
        if merged.record.header.own().arms.len() < 2 {
            refuse_resamples(&self, "one arm")?;
        }
        let terms: Vec<Terms> = folders.iter().filter_map(|folder| Terms::read(folder)).collect();
        let resamples = self.resamples.or_else(|| terms.first().map(|terms| terms.resamples));
        let resamples = resamples.unwrap_or(CompareOptions::default().resamples);
        let mut document = Document(RunReport::new(
            &merged.record,
            &rule,
            &CompareOptions { seed: None, resamples },
        ));
        if entries.iter().any(|entry| is_going_on(&entry.path)) {
            document.0.basis_mut().because("it is still going on");
        }
        document.warn(merged.warnings);
        document.with_timings(timings.as_ref(), &merged.record);
        let mut seen = BTreeSet::new();
        document.warn(
            terms
                .into_iter()
                .flat_map(|terms| terms.warnings)
                .filter(|warning| seen.insert(warning.clone())),
        );
        check_slices(
            &self.slice,
            document.0.rows().iter().flat_map(|row| row.fields.keys().map(String::as_str)),
        )?;
        if self.without_times {
            document.0.without_times();
        }
        let document = document.scrub(&context.scrubber)?;
        print(&context, &document, &self.slice)?;
        write_all(&self.report, &document)?;
        if let [entry] = entries.as_slice() {
            note_traces(&context, &document, &entry.path);
        }
        Ok(end(&context, failure, &incomplete))
    }
}

impl ReportArgs {
    /// Merges the shards of a run. What is missing is refused, unless one run alone is asked for.
    fn merge(&self, records: Vec<RunRecord>) -> Outcome<Merged> {
        let is_one = matches!(self.runs.as_slice(), [] | [_]) && records.len() == 1;
        let missing = if self.partial || is_one { Missing::Report } else { Missing::Refuse };
        merge(records, missing).map_err(|error| {
            let message = error.to_string();
            let shards = error.shards_to_run();
            match error {
                MergeError::Holes { undecided: Some(questions), .. } => Failure::new(
                    Exit::Gate,
                    format!(
                        "the first {} decide nothing, and {message}",
                        count(questions, "question")
                    ),
                )
                .hint("ask the next wave in all shards, then report again"),
                MergeError::Holes { .. } => Failure::new(Exit::Gate, message)
                    .hint(format!("{}; --partial reports on what is there", advise_runs(&shards))),
                MergeError::Different { .. } | MergeError::Foreign { .. } => {
                    Failure::usage(message).hint(advise_runs(&shards))
                }
                MergeError::Nothing
                | MergeError::Whole { .. }
                | MergeError::Parts { .. }
                | MergeError::Twice { .. } => Failure::usage(message)
                    .hint("give the shards of one run, each once, or one run alone"),
            }
        })
    }
}

/// Reports why the figures do not count: all searches failed, or shards of the run or answers of
/// them are missing. Returns the exit code.
fn end(context: &Context, failed: Option<Failure>, missing: &[String]) -> Exit {
    let lost = (!missing.is_empty()).then(|| {
        Failure::new(Exit::Gate, format!("the run is not whole: {}", missing.join("; ")))
            .hint("give all shards of the run, each once and finished")
    });
    let Some(failure) = failed.or(lost) else { return Exit::Answered };
    context.console.error(&failure);
    failure.exit
}

/// Refuses `--resamples` for a report without a bootstrap.
fn refuse_resamples(arguments: &ReportArgs, of: &str) -> Outcome<()> {
    match arguments.resamples {
        None => Ok(()),
        Some(_) => Err(Failure::usage(format!("--resamples does not go with the report of {of}"))
            .hint("it is for the intervals of the differences that `compare` found")),
    }
}

/// The report on the cells of a grid.
fn report_grid(context: &Context, arguments: &ReportArgs, mut report: GridReport) -> Outcome {
    arguments.report.iter().try_for_each(check_for_grid)?;
    refuse_resamples(arguments, "a grid")?;
    if !arguments.slice.is_empty() {
        return Err(Failure::usage("--slice does not go with a grid: its report has no slices"));
    }
    if arguments.without_times {
        report.without_times();
    }
    let report = context.scrubber.document(report)?;
    written::print(context, &report)?;
    let json = written::json(&report)?;
    let markdown = markdown::grid(&report);
    arguments.report.iter().try_for_each(|file| write_grid(file, &json, &markdown))?;
    Ok(Exit::Answered)
}

/// The runs that are meant by these words.
fn entries(runs: &Runs, words: &[String]) -> Outcome<Vec<RunEntry>> {
    if words.is_empty() {
        return find(runs, "last");
    }
    let mut entries = Vec::new();
    for word in words {
        entries.extend(find(runs, word)?);
    }
    Ok(entries)
}

/// The run of that name, or the runs in a folder of that path.
fn find(runs: &Runs, word: &str) -> Outcome<Vec<RunEntry>> {
    match runs.find(word) {
        Ok(entry) => Ok(vec![entry]),
        Err(RunError::Unknown { .. }) if word == "last" => {
            Err(Failure::usage("there is no run yet")
                .hint("`syrch-host benchmark SUITE` begins one"))
        }
        Err(error @ RunError::Unknown { .. }) => {
            let below = Runs::new(Path::new(word).to_owned()).list().unwrap_or_default();
            if below.is_empty() { Err(syrch::Error::from(error).into()) } else { Ok(below) }
        }
        Err(error) => Err(syrch::Error::from(error).into()),
    }
}

/// A run, or why it cannot be read.
struct Line {
    entry: RunEntry,
    summary: Result<RunSummary, RunError>,
}

fn list(context: &Context, runs: &Runs) -> Outcome {
    let lines: Vec<Line> = runs
        .list()
        .map_err(syrch::Error::from)?
        .into_iter()
        .map(|entry: RunEntry| Line { summary: entry.summary(), entry })
        .collect();
    for error in lines.iter().filter_map(|line| line.summary.as_ref().err()) {
        context.console.warn(&error.to_string());
    }
    let is_for_people = matches!(context.format, Format::Auto | Format::Table | Format::Markdown);
    context.rows(grid(&lines, is_for_people), || {
        json!({
            "schema": "syrch.runs/1", "runs": lines.iter().map(document).collect::<Vec<_>>()
        })
    })?;
    Ok(Exit::Answered)
}

fn grid(lines: &[Line], is_for_people: bool) -> Grid {
    let when = if is_for_people { "when" } else { "changed_ms" };
    let mut grid =
        Grid::new(["run", when, "suite", "arms", "done", "of", "shard", "rule", "state"]);
    grid.rows = lines.iter().map(|line| cells(line, is_for_people)).collect();
    grid
}

fn cells(line: &Line, is_for_people: bool) -> Vec<Value> {
    let millis = line.entry.changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    let when = if is_for_people { json!(moment(millis)) } else { json!(millis) };
    let Ok(summary) = &line.summary else {
        return [json!(line.entry.id), when]
            .into_iter()
            .chain(vec![Value::Null; 6])
            .chain([json!("unreadable")])
            .collect();
    };
    let header = &summary.header;
    let own = header.own();
    let arms: Vec<&str> = own.arms.iter().map(|arm| arm.name.as_str()).collect();
    vec![
        json!(header.id),
        when,
        json!(header.suite.path),
        if is_for_people { json!(few(&arms)) } else { json!(arms) },
        json!(summary.done),
        json!(summary.of),
        json!(header.shard.map(|shard| shard.to_string())),
        json!(header.rule),
        json!(state(summary)),
    ]
}

fn state(summary: &RunSummary) -> &'static str {
    match summary {
        RunSummary { is_going_on: true, .. } => "running",
        RunSummary { stopped: Some(_), .. } => "stopped early",
        RunSummary { done, of, .. } if done < of => "unfinished",
        _ => "done",
    }
}

fn document(line: &Line) -> Value {
    let names = grid(&[], false).columns;
    let path = line.entry.path.to_string_lossy();
    let fields =
        names.into_iter().zip(cells(line, false)).chain([("path".to_owned(), json!(path))]);
    Value::Object(fields.collect())
}
