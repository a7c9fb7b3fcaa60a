//! `optimize report`: the report on a run over a corpus again, finished or not.

use std::path::{Path, PathBuf};

use clap::Args;
use syrch_grading::grade::run::RunError;
use syrch_optimizing::corpus::{CorpusHeader, CorpusLine, CorpusRuns, read_corpus_run};
use syrch_optimizing::gates;

use super::report::{self, RUN, Report, RunDocument};
use crate::commands::Context;
use crate::commands::report_file::ReportFile;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Format;

#[derive(Args)]
pub(crate) struct SavedArgs {
    /// The run: its id, the beginning of it, `last`, or its folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// Write the report to this file, too; its ending is the format: .json, .md or .html. May be
    /// given several times
    #[arg(long, value_name = "FILE", value_parser = ReportFile::for_optimized)]
    pub(crate) report: Vec<ReportFile>,
}

pub(super) fn run(context: &Context, arguments: &SavedArgs) -> Outcome {
    let path = find(&runs(context)?, &arguments.run)?;
    let inputs = files(&path);
    context.output.spares(&inputs)?;
    arguments.report.iter().try_for_each(|file| file.spares(&inputs))?;
    let (header, lines) = read_corpus_run(&path).map_err(syrch::Error::from)?;
    write(context, &document(&header, &lines), &arguments.report)?;
    Ok(Exit::Answered)
}

/// The folder of a run over a corpus.
pub(super) fn find(runs: &CorpusRuns, run: &str) -> Outcome<PathBuf> {
    runs.find(run).map_err(|error| match error {
        RunError::Unknown { similar, .. } if similar.is_empty() => Failure::usage(format!(
            "there is no run `{run}` over a corpus of statements"
        ))
        .hint(format!(
            "`syrch-host optimize run` begins one; those of yours are in {}",
            runs.path().display()
        )),
        error => syrch::Error::from(error).into(),
    })
}

/// The runs of the user over corpora.
pub(super) fn runs(context: &Context) -> Outcome<CorpusRuns> {
    let state = context.config.runs.as_deref().and_then(Path::parent);
    let state = state.ok_or_else(|| {
        Failure::config("there is no folder for runs")
            .hint("set SYRCH_STATE_DIR to a folder of yours")
    })?;
    Ok(CorpusRuns::new(state.join("optimize")))
}

/// The files of a run, which no output may replace.
fn files(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    ["run.json", "results.jsonl"]
        .into_iter()
        .map(|name| ("of the run itself", folder.join(name)))
        .collect()
}

/// The document of a run with these lines.
pub(super) fn document(header: &CorpusHeader, lines: &[CorpusLine]) -> RunDocument {
    let gates = gates(lines.iter().map(|line| &line.result.report));
    let (shown, advice) = report::gates(&gates);
    RunDocument {
        schema: RUN.to_owned(),
        run: header.id.clone(),
        host: header.host.clone(),
        manifest: header.manifest.clone(),
        digest: header.digest.clone(),
        of: header.queries,
        gates: shown,
        outcomes: gates
            .outcomes
            .iter()
            .map(|(outcome, count)| (outcome.name().to_owned(), *count))
            .collect(),
        proposals: gates
            .states
            .iter()
            .map(|(state, count)| (state.name().to_owned(), *count))
            .collect(),
        passed: gates.passed && lines.len() as u64 == header.queries,
        advice,
        statements: lines.to_vec(),
    }
}

/// Prints a run, and writes its report to all files.
pub(super) fn write(context: &Context, run: &RunDocument, files: &[ReportFile]) -> Outcome<()> {
    let report = Report::Run(Box::new(run.clone())).scrub(&context.scrubber)?;
    let Report::Run(run) = &report else {
        return Err(Failure::new(Exit::Unexpected, "the report is none of a run"));
    };
    match context.format {
        Format::Json => context.document(report.value()?)?,
        Format::Markdown => context.output.write(&report.markdown())?,
        _ => context.rows(report::statements_grid(&run.statements), || serde_json::Value::Null)?,
    }
    context.console.note(&report::run_verdict(run));
    context.console.note(&report::run_totals(run));
    if let Some(advice) = &run.advice {
        context.console.note(advice);
    }
    files.iter().try_for_each(|file| report::write(file, &report))
}
