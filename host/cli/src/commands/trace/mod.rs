//! `trace`: shows, compares, replays and removes the journals of earlier runs.

mod calls;
pub(crate) mod diff;
mod list;
pub(crate) mod page;
mod prune;
mod replay;
mod show;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;
use syrch::journal::{Entry, Folder, Journal};

use self::prune::PruneArgs;
use self::show::ShowArgs;
use super::{Context, Run, resume};
use crate::exit::Exit;
use crate::failure::Outcome;

/// The commands of `trace`.
#[derive(Subcommand)]
pub(crate) enum TraceCommand {
    /// List the runs, the latest first
    #[command(after_help = Exit::help())]
    List {
        /// The number of runs that are listed at most
        #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 20)]
        count: usize,
    },
    /// Draw the search of a run: tasks, candidates, why branches were dropped, calls and costs
    #[command(after_help = Exit::help())]
    Show(Box<ShowArgs>),
    /// Make a run again with the model's replies from its journal; strictly, with everything from
    /// it
    #[command(after_help = Exit::help())]
    Replay {
        /// A run's id, the beginning of it, `last`, or the path of a journal
        #[arg(value_name = "RUN")]
        run: String,
        /// Ask no database either, and print exactly what the run printed, or fail
        #[arg(long)]
        strict: bool,
        /// The file of a plugin of the run that you have not added. May be given several times
        #[arg(long, value_name = "FILE")]
        trust: Vec<PathBuf>,
    },
    /// Lay two searches of one question side by side
    #[command(after_help = Exit::help())]
    Diff {
        /// A run's id, the beginning of it, `last`, or the path of a journal
        #[arg(value_name = "LEFT")]
        left: String,
        /// The run that it is compared with, named in the same way
        #[arg(value_name = "RIGHT")]
        right: String,
        /// Exit with 5 when they differ in more than times and costs
        #[arg(long)]
        fail_on_difference: bool,
    },
    /// Remove old journals; what is not given is as configured (`journal:`)
    #[command(after_help = Exit::help())]
    Prune(PruneArgs),
}

impl Run for TraceCommand {
    const ENDS_INTERRUPTS: bool = true;

    async fn run(self, mut context: Context) -> Outcome {
        match self {
            TraceCommand::Replay { run, strict, trust } => {
                context.config.effective.settings.trust.extend(trust);
                replay::run(context, &run, strict).await
            }
            other => draw(&context, other),
        }
    }
}

/// The commands that only read.
fn draw(context: &Context, command: TraceCommand) -> Outcome {
    match command {
        // Replays were made above: they need the context for themselves.
        TraceCommand::Replay { .. } => Ok(Exit::Answered),
        TraceCommand::List { count } => list::run(context, count),
        TraceCommand::Show(arguments) => show::run(context, &arguments),
        TraceCommand::Diff { left, right, fail_on_difference } => {
            diff::run(context, [&left, &right], fail_on_difference)
        }
        TraceCommand::Prune(arguments) => prune::run(context, &arguments),
    }
}

/// The folder of the user's journals.
fn folder(context: &Context) -> Outcome<Folder> {
    Ok(Folder::new(resume::folder(&context.config)?))
}

/// The file of a run: an id, the beginning of one, `last`, or a path.
fn find(context: &Context, run: &str) -> Outcome<PathBuf> {
    let path = Path::new(run);
    if run.contains(std::path::is_separator)
        || path.extension().is_some_and(|ending| ending == "jsonl")
    {
        return Ok(path.to_owned());
    }
    match folder(context)?.find(run) {
        Ok(Entry { path, .. }) => Ok(path),
        Err(_) if path.is_file() => Ok(path.to_owned()),
        Err(error) => Err(syrch::Error::from(error).into()),
    }
}

/// The journal of a run, and where it is.
pub(crate) fn open(context: &Context, run: &str) -> Outcome<(PathBuf, Journal)> {
    let path = find(context, run)?;
    let journal = Journal::read(&path).map_err(syrch::Error::from)?;
    Ok((path, journal))
}

/// A document as JSON.
fn value(document: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(document).unwrap_or_default()
}
