//! `optimize report`: the report on a run over a corpus again, finished or not.

use std::path::{Path, PathBuf};

use clap::Args;
use syrch_grading::grade::run::RunError;
use syrch_optimizing::corpus::{
    CorpusHeader, CorpusLine, CorpusMergeError, CorpusRuns, merge_corpus_runs, read_corpus_run,
};
use syrch_optimizing::gates;

use super::report::{self, RUN, Report, RunDocument};
use crate::commands::Context;
use crate::commands::report_file::ReportFile;
use crate::commands::shard::advise_runs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Format;

#[derive(Args)]
pub(crate) struct SavedArgs {
    /// The run: its id, the beginning of it, `last`, or its folder; several are the shards of one
    /// run, and so are the runs in a folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) runs: Vec<String>,
    /// Write the report to this file, too; its ending is the format: .json, .md or .html. May be
    /// given several times
    #[arg(long, value_name = "FILE", value_parser = ReportFile::for_optimized)]
    pub(crate) report: Vec<ReportFile>,
}

pub(super) fn run(context: &Context, arguments: &SavedArgs) -> Outcome {
    let known = runs(context)?;
    let mut paths = Vec::new();
    for word in &arguments.runs {
        paths.extend(find_all(&known, word)?);
    }
    let inputs: Vec<_> = paths.iter().flat_map(|path| files(path)).collect();
    context.output.refuse_to_replace(&inputs)?;
    arguments.report.iter().try_for_each(|file| file.refuse_to_replace(&inputs))?;
    let mut saved = Vec::new();
    for path in paths {
        let (header, lines) = read_corpus_run(&path).map_err(syrch::Error::from)?;
        saved.push((header, lines));
    }
    let (header, lines) = merge_corpus_runs(saved).map_err(explain_merge)?;
    write(context, &document(&header, &lines), &arguments.report)?;
    Ok(Exit::Answered)
}

/// The failure of a merge, with the shard that is to be run again.
fn explain_merge(error: CorpusMergeError) -> Failure {
    let message = error.to_string();
    let failure = match error {
        CorpusMergeError::Hole { .. } => Failure::new(Exit::Gate, message),
        _ => Failure::usage(message),
    };
    match error.shard_to_run() {
        Some(shard) => failure.hint(advise_runs(&[shard])),
        None => failure.hint("give the shards of one run, each once, or one run alone"),
    }
}

/// The folder of a run over a corpus, or those of the runs in a folder of that path.
fn find_all(runs: &CorpusRuns, word: &str) -> Outcome<Vec<PathBuf>> {
    let below = CorpusRuns::new(PathBuf::from(word)).folders().unwrap_or_default();
    match find(runs, word) {
        Err(_) if !below.is_empty() => Ok(below),
        found => Ok(vec![found?]),
    }
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
        of: header.share(),
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
        passed: gates.passed && lines.len() as u64 == header.share(),
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
