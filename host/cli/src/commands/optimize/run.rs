//! `optimize run`: all statements of a corpus, one after the other, with a line for each that
//! survives the end of the process.

use std::path::{Path, PathBuf};

use clap::Args;
use syrch_grading::grade::run::Shard;
use syrch_optimizing::corpus::{
    CORPUS_RUN, Corpus, CorpusFolder, CorpusHeader, CorpusLine, CorpusObserver, CorpusRuns,
    LockedQuery, new_id, run_corpus,
};
use syrch_report::words::ratio;

use super::args::LoopArgs;
use super::opened::{self, Opened};
use super::{consent, saved};
use crate::commands::graded::stop_at_interrupt;
use crate::commands::shard::choose_shard;
use crate::commands::{Context, dry_run};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

#[derive(Args)]
pub(crate) struct RunArgs {
    /// The manifest of the corpus
    #[arg(value_name = "MANIFEST")]
    pub(crate) manifest: PathBuf,
    /// Continue a run: its id, the beginning of it, `last`, or its folder. All else must be as it
    /// was
    #[arg(long, value_name = "RUN", conflicts_with = "folder")]
    pub(crate) resume: Option<String>,
    /// Only part i of n of the statements, such as 2/8; `optimize report` merges the parts
    /// [default: that of SYRCH_SHARD, of a task of a Slurm array, or of a pod of an Indexed Job
    /// with SYRCH_SHARDS]
    #[arg(long, value_name = "i/n")]
    pub(crate) shard: Option<Shard>,
    /// The folder of the run, where it begins, or continues if it is there. Each shard has a folder
    /// of its own in it, and `optimize report FOLDER` merges them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// The flags of the work on each statement.
    #[command(flatten)]
    pub(crate) flags: LoopArgs,
}

impl RunArgs {
    /// The files that the command reads.
    pub(super) fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let files = Corpus::read(&self.manifest).map(|corpus| corpus.files()).unwrap_or_default();
        std::iter::once(self.manifest.clone())
            .chain(files)
            .map(|path| ("a file of the corpus", path))
            .collect()
    }
}

pub(super) async fn run(mut context: Context, arguments: RunArgs) -> Outcome {
    context.needs_database()?;
    let inputs = arguments.inputs();
    let RunArgs { manifest, resume, shard, folder, flags } = arguments;
    let shard = choose_shard(shard, &mut context)?;
    flags.report.iter().try_for_each(|file| file.refuse_to_replace(&inputs))?;
    let corpus = Corpus::read(&manifest)?;
    let queries = corpus.lock()?;
    let Some(first) = queries.first() else {
        return Err(Failure::config(format!(
            "the manifest `{}` has no statements",
            manifest.display()
        ))
        .hint("`syrch-host optimize corpus add MANIFEST FILE` adds some"));
    };
    // No copies, so that the figures compare with those of systems that have none.
    let opened = opened::open(&mut context, &flags, 0).await?;
    opened.check_quiescent(&flags).await?;
    if flags.dry_run {
        return dry_run::show(&context, &opened.preview(&context, &first.sql).await?);
    }
    let place = Place { resume, folder, shard };
    let (mut folder, done) = place.open(&context, &corpus, &opened)?;
    let lines = carry_out(&context, &mut folder, &queries, done, &opened).await;
    context.console.clear();
    let lines = lines.map_err(|failure| place.explain_resume(failure, &folder.header().id))?;
    let document = saved::document(folder.header(), &lines);
    saved::write(&context, &document, &flags.report)?;
    Ok(if document.passed { Exit::Answered } else { Exit::Gate })
}

/// The place at which a run begins or continues, and its part of the statements.
struct Place {
    resume: Option<String>,
    folder: Option<PathBuf>,
    shard: Option<Shard>,
}

impl Place {
    /// The folder of the run, with the lines that it has already.
    fn open(
        &self,
        context: &Context,
        corpus: &Corpus,
        opened: &Opened,
    ) -> Outcome<(CorpusFolder, Vec<CorpusLine>)> {
        let header = CorpusHeader {
            format: CORPUS_RUN.to_owned(),
            id: new_id(corpus.path()),
            host: env!("CARGO_PKG_VERSION").to_owned(),
            manifest: corpus.path().display().to_string(),
            digest: corpus.digest().to_owned(),
            queries: corpus.queries().len() as u64,
            database: opened.database(),
            address: opened.address(),
            rewriter: opened.rewriter(),
            settings: opened.settings_record(),
            shard: self.shard,
        };
        let runs = saved::runs(context)?;
        let own = self.folder.as_ref().map(|folder| match self.shard {
            Some(shard) => folder.join(shard.folder_name()),
            None => folder.clone(),
        });
        let resumed = match (&self.resume, &own) {
            (Some(run), _) => Some(saved::find(&runs, run)?),
            (None, own) => own.clone().filter(|own| CorpusRuns::is_run(own)),
        };
        let (folder, done) = match resumed {
            Some(path) => CorpusFolder::resume(&path, &header).map_err(syrch::Error::from)?,
            None => {
                let path = own.unwrap_or_else(|| runs.folder(&header.id));
                (CorpusFolder::create(&path, header).map_err(syrch::Error::from)?, Vec::new())
            }
        };
        self.note(context, folder.path(), &folder.header().id, done.len());
        Ok((folder, done))
    }

    fn note(&self, context: &Context, path: &Path, run: &str, done: usize) {
        tracing::info!(target: "syrch.run", folder = %path.display(), "run {run}");
        let on = self.continuation(run);
        context.console.note(&format!("run {run}: if it is cut short, {on}"));
        match done {
            0 => {}
            1 => context.console.note("1 statement is done already"),
            done => context.console.note(&format!("{done} statements are done already")),
        }
    }

    fn continuation(&self, run: &str) -> String {
        match self.folder {
            Some(_) => "the same command continues".to_owned(),
            None => format!("the same command with `--resume {run}` continues"),
        }
    }

    /// The failure with how the run continues.
    fn explain_resume(&self, failure: Failure, run: &str) -> Failure {
        let on = format!("what is done is saved; {}", self.continuation(run));
        let hint = failure.hint.as_ref().map_or_else(|| on.clone(), |hint| format!("{hint}; {on}"));
        failure.hint(hint)
    }
}

async fn carry_out(
    context: &Context,
    folder: &mut CorpusFolder,
    queries: &[LockedQuery],
    done: Vec<CorpusLine>,
    opened: &Opened,
) -> Outcome<Vec<CorpusLine>> {
    let stop = syrch::Stop::new();
    let listener = tokio::spawn(stop_at_interrupt(context, &stop));
    let lines = run_corpus(folder, queries, done, opened, &Progress(context), &stop).await;
    listener.abort();
    opened.take_notes().iter().for_each(|warning| context.console.warn(warning));
    consent::explain_consent(lines)
}

/// Shows how far the run is.
struct Progress<'a>(&'a Context);

impl CorpusObserver for Progress<'_> {
    fn on_begin(&self, done: u64, of: u64, query: &LockedQuery) {
        self.0.console.progress(&format!("{done}/{of} statements · {}", query.query.file));
    }

    fn on_finish(&self, done: u64, of: u64, line: &CorpusLine) {
        let outcome = line.result.report.outcome.name();
        tracing::info!(target: "syrch.run", "`{}` is done: {outcome}", line.file);
        let speed = line
            .result
            .report
            .confirmation
            .as_ref()
            .map(|last| format!(", {} ×", ratio(last.ratio)));
        self.0.console.note(&format!(
            "{done}/{of} {}: {outcome}{}",
            line.file,
            speed.unwrap_or_default()
        ));
    }
}
