//! `optimize`: searches for a faster form of a statement with exactly the same rows, and verifies
//! both by running the statements.

mod args;
mod check;
mod consent;
mod corpus;
mod one;
mod opened;
mod report;
mod run;
mod saved;
mod statement;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use self::args::LoopArgs;
pub(crate) use self::args::default_rewriter;
use self::check::CheckArgs;
use self::corpus::CorpusCommand;
pub(crate) use self::one::{optimize_answer, replay};
use self::run::RunArgs;
use self::saved::SavedArgs;
use super::{Context, PLUGIN, Run};
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

#[derive(Args)]
#[command(subcommand_precedence_over_arg = true)]
pub(crate) struct OptimizeArgs {
    /// The statement, a file with one, or - for standard input
    #[arg(value_name = "SQL|FILE|-")]
    pub(crate) statement: Option<String>,
    /// Continue a run that was killed, in place of a statement: its id, the beginning of it, or
    /// `last`. The statement and the flags of its loop are the run's; the database, the rewriter
    /// and the model are given as they were
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = [
            "statement", "iterations", "min_gain", "min_gain_ms", "early_stop", "copies", "pairs",
            "dry_run"
        ]
    )]
    pub(crate) resume: Option<String>,
    /// The flags of the work on one statement.
    #[command(flatten)]
    pub(crate) flags: LoopArgs,
    /// The command that is run instead.
    #[command(subcommand)]
    pub(crate) command: Option<OptimizeCommand>,
}

/// The commands of `optimize`.
#[derive(Subcommand)]
pub(crate) enum OptimizeCommand {
    /// Say which statements are supported, and which rule refuses the others; nothing is run
    #[command(after_help = Exit::help())]
    Check(Box<CheckArgs>),
    /// Optimize all statements of a corpus, whose manifest `optimize corpus add` makes; --resume
    /// continues a run that was cut short
    #[command(after_help = Exit::help())]
    Run(Box<RunArgs>),
    /// Make, list and verify corpora of slow statements
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Report on a run over a corpus again, finished or not
    #[command(after_help = Exit::help())]
    Report(Box<SavedArgs>),
}

impl Run for OptimizeArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        match &self.command {
            None => Some(self.flags.config_flags()),
            Some(OptimizeCommand::Check(check)) => Some(Given::new(&check.flags, &[])),
            Some(OptimizeCommand::Run(run)) => Some(run.flags.config_flags()),
            Some(OptimizeCommand::Report(_)) => {
                Some(Given { any_strategy: true, ..Given::default() })
            }
            Some(OptimizeCommand::Corpus(_)) => None,
        }
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let files = |words: &[String]| {
            words
                .iter()
                .filter_map(|word| statement::file(word))
                .map(|path| ("the statement", path))
                .collect::<Vec<_>>()
        };
        let rewriter = |flags: &LoopArgs| flags.input().map(|path| (PLUGIN, path));
        match &self.command {
            None => {
                let words: Vec<String> = self.statement.iter().cloned().collect();
                files(&words).into_iter().chain(rewriter(&self.flags)).collect()
            }
            Some(OptimizeCommand::Check(check)) => files(&check.statements),
            Some(OptimizeCommand::Run(run)) => {
                run.inputs().into_iter().chain(rewriter(&run.flags)).collect()
            }
            Some(OptimizeCommand::Corpus(corpus)) => corpus.inputs(),
            Some(OptimizeCommand::Report(_)) => Vec::new(),
        }
    }

    async fn run(self, context: Context) -> Outcome {
        let Self { statement, resume, flags, command } = self;
        let Some(command) = command else {
            return match resume {
                Some(run) => one::resume(context, &run, flags).await,
                None => one::run(context, statement, flags).await,
            };
        };
        let first = statement
            .map(|word| format!("`{word}`"))
            .or_else(|| resume.map(|_| "`--resume`".to_owned()));
        if let Some(flag) = first.or_else(|| flags.first()) {
            return Err(Failure::usage(format!(
                "{flag} stands before the command, where it would be forgotten"
            ))
            .hint(
                "write it after the command, as in `syrch-host optimize check --db \
                 shop.sqlite FILE`",
            ));
        }
        match command {
            OptimizeCommand::Check(arguments) => {
                until_interrupt(&context, check::run(&context, *arguments)).await
            }
            OptimizeCommand::Run(arguments) => run::run(context, *arguments).await,
            OptimizeCommand::Corpus(arguments) => arguments.run(&context),
            OptimizeCommand::Report(arguments) => saved::run(&context, &arguments),
        }
    }
}

/// Work that Ctrl-C ends at once.
async fn until_interrupt(context: &Context, work: impl Future<Output = Outcome>) -> Outcome {
    tokio::select! {
        result = work => result,
        () = context.interrupt.wait() => Err(Failure::new(Exit::Interrupted, "interrupted")),
    }
}
