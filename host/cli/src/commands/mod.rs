//! One file per command, and one entry in the list below; each gets the shared context and ends
//! with an exit code or a failure.

pub(crate) mod amounts;
pub(crate) mod answer;
pub(crate) mod asking;
pub(crate) mod audit;
pub(crate) mod batch;
pub(crate) mod benchmark;
pub(crate) mod build_index;
pub(crate) mod cache;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod compile_component;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
mod dry_run;
pub(crate) mod eval;
pub(crate) mod examples;
pub(crate) mod graded;
pub(crate) mod grid;
mod lines;
mod man;
pub(crate) mod mcp;
pub(crate) mod metric;
#[cfg_attr(not(feature = "optimizer"), path = "without_optimizer.rs")]
pub(crate) mod optimize;
pub(crate) mod plugin;
pub(crate) mod repl;
pub(crate) mod report;
mod report_file;
pub(crate) mod resume;
pub(crate) mod run_plugin;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod semantics;
pub(crate) mod serve;
pub(crate) mod shard;
pub(crate) mod sql;
pub(crate) mod statements;
pub(crate) mod strategy;
pub(crate) mod suite;
pub(crate) mod suite_fuzz;
mod suite_linking;
mod total;
pub(crate) mod trace;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::Value;
use syrch::databases::open_database;
use syrch::syrch_core::ports::Database;
use syrch_projects::Stale;

use crate::config::{Config, Given};
use crate::console::Console;
use crate::console::interrupt::Interrupt;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::scrub::Scrubber;
use crate::sink::{Format, Grid, json};

/// The role of a component among the files that a command reads.
pub(crate) const PLUGIN: &str = "a plugin in use";

/// A command, whose fields are its flags.
pub(crate) trait Run: Sized {
    /// True if the command handles Ctrl-C itself and ends with the best so far; other commands are
    /// aborted at once.
    const ENDS_INTERRUPTS: bool = false;

    /// [`Run::ENDS_INTERRUPTS`], for a command whose own commands differ in it.
    fn ends_interrupts(&self) -> bool {
        Self::ENDS_INTERRUPTS
    }

    /// True if the command loads plugins as they were built, so that it warns of those that are
    /// older than their sources.
    const LOADS_PLUGINS: bool = false;

    /// [`Run::LOADS_PLUGINS`], for one of several commands.
    fn loads_plugins(&self) -> bool {
        Self::LOADS_PLUGINS
    }

    /// The flags that concern the configuration. `None` if the command needs no configuration,
    /// which may then be wrong.
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::default())
    }

    /// The files that the command reads besides those of the configuration: `-o` must not replace
    /// them.
    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// Returns true if `-o` names a folder that the command makes, and not the file of its output.
    fn makes_folder(&self) -> bool {
        false
    }

    /// Returns true if the command reports a wrong configuration as a finding. If not, such a
    /// configuration ends it before [`Run::run`].
    fn shows_broken(&mut self, _: &Failure) -> bool {
        false
    }

    /// Runs the command. Called once, after all other methods.
    async fn run(self, context: Context) -> Outcome;
}

/// Declares a list of commands: for each its help, its file and its flags.
macro_rules! commands {
    (
        $(#[$about:meta])* $list:ident: $(
            $(#[$attribute:meta])* $name:ident($file:ident::$flags:ident),
        )*
    ) => {
        $(#[$about])*
        // The flags of a command are made when it is called: those of all are a thousand. A doc
        // comment on them would replace its help.
        #[derive(Subcommand)]
        #[command(defer = true)]
        pub(crate) enum $list {
            $($(#[$attribute])* #[command(after_help = Exit::help())] $name(Box<$file::$flags>),)*
        }

        impl Run for $list {
            fn config_flags(&self) -> Option<Given<'_>> {
                match self { $(Self::$name(command) => command.config_flags(),)* }
            }

            fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
                match self { $(Self::$name(command) => command.inputs(),)* }
            }

            fn makes_folder(&self) -> bool {
                match self { $(Self::$name(command) => command.makes_folder(),)* }
            }

            fn shows_broken(&mut self, failure: &Failure) -> bool {
                match self { $(Self::$name(command) => command.shows_broken(failure),)* }
            }

            fn ends_interrupts(&self) -> bool {
                match self { $(Self::$name(command) => command.ends_interrupts(),)* }
            }

            fn loads_plugins(&self) -> bool {
                match self { $(Self::$name(command) => command.loads_plugins(),)* }
            }

            async fn run(self, context: Context) -> Outcome {
                match self { $(Self::$name(command) => Box::pin(command.run(context)).await,)* }
            }
        }
    };
}
pub(crate) use commands;

commands! {
    /// The commands of the program, one variant each.
    Command:
    /// Answer a question (what happens without a command)
    Search(asking::SearchArgs),
    /// Show tables, views, columns and keys of a database
    Schema(schema::SchemaArgs),
    /// Show the configuration in force
    Config(config::ConfigArgs),
    /// Run or check statements under the guard and the limits of a search
    Sql(sql::SqlArgs),
    /// Answer a request for metrics of a semantics file, without a model; without a metric, list
    /// them with their dimensions
    Metric(metric::MetricArgs),
    /// Write, build, test, check and list plugins
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
    /// List, show and check strategies
    #[command(subcommand)]
    Strategy(strategy::StrategyCommand),
    /// Check, propose, import and show files of metrics, dimensions and joins
    #[command(subcommand)]
    Semantics(semantics::SemanticsCommand),
    /// Ask a model once what people call the tables and columns of a database, and use it in
    /// searches over it from then on
    BuildIndex(build_index::BuildIndexArgs),
    /// Check everything that a search needs; exit 0 when nothing failed, 10 otherwise
    Doctor(doctor::DoctorArgs),
    /// Show, compare, replay and remove the journals of earlier runs
    #[command(subcommand)]
    Trace(trace::TraceCommand),
    /// Show what plugins that are not built in used of their grants, and what was denied to them
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Confirm answers, which answer the same questions from then on, and list them
    #[command(subcommand)]
    Examples(examples::ExamplesCommand),
    /// Show or clear the cache of model replies and results
    #[command(subcommand)]
    Cache(cache::CacheCommand),
    /// Check suites of questions with expected answers
    #[command(subcommand)]
    Suite(suite::SuiteCommand),
    /// Fit confidences on graded runs, so that they are shares of right answers
    #[command(subcommand)]
    Calibrate(calibrate::CalibrateCommand),
    /// Ask the questions of a suite and grade the answers; --resume continues a run that was cut
    /// short
    Benchmark(benchmark::BenchmarkArgs),
    /// Ask one question and compare the answer with what is expected; exit 0 when it matches, 5
    /// when not
    Eval(eval::EvalArgs),
    /// Ask several strategies the questions of a suite, and test whether the difference between
    /// them is real
    Compare(compare::CompareArgs),
    /// Ask the questions of a suite, or one question, with many settings, and show which are best
    Grid(grid::GridArgs),
    /// Report on runs over suites again, finished or not, without asking a model; shards are merged
    Report(report::ReportArgs),
    /// Find a faster statement with exactly the same rows, and prove both by measuring; also all
    /// statements of a corpus
    #[command(visible_alias = "optimise")]
    Optimize(optimize::OptimizeArgs),
    /// Answer questions from standard input, a JSON line each, with a JSON line each: {"id",
    /// "question"} and perhaps "db", "evidence" and "as_of" give {"id", "outcome", "answer",
    /// "error", "line"}, and "simulated" where no real model was asked. Exit 0 however lines end
    Batch(batch::BatchArgs),
    /// Serve the database to assistants and editors by the Model Context Protocol (MCP), over
    /// standard streams or HTTP
    Mcp(mcp::McpArgs),
    /// Serve a page and an HTTP interface over a database, on this machine: questions whose search
    /// can be watched, earlier runs, plugins, guarded statements
    Serve(serve::ServeArgs),
    /// Print a script that completes commands and flags in a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages of the program and of each command into a folder
    Man(man::ManArgs),
}

/// The configuration, the environment and the outputs, which every command gets.
pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) environment: Environment,
    pub(crate) console: Arc<Console>,
    pub(crate) interrupt: Interrupt,
    pub(crate) scrubber: Scrubber,
    pub(crate) format: Format,
    pub(crate) output: Output,
    /// True if a terminal shows all rows of an answer.
    pub(crate) all_rows: bool,
    /// True if `-v` asks for more than the result.
    pub(crate) verbose: bool,
    /// The file of `--config`.
    pub(crate) file: Option<PathBuf>,
}

impl Context {
    /// Writes a document as JSON.
    pub(crate) fn document(&self, mut document: Value) -> Outcome<()> {
        self.scrubber.value(&mut document);
        self.output.write(&json::document(&document))
    }

    /// Writes rows in the chosen format; for JSON the document.
    pub(crate) fn rows(&self, mut grid: Grid, document: impl FnOnce() -> Value) -> Outcome<()> {
        self.scrubber.grid(&mut grid);
        match self.format.render(&grid, self.output.width()) {
            Some(text) => self.output.write(&text),
            None => self.document(document()),
        }
    }

    /// Opens the database, and says what its user should know of the connection.
    pub(crate) async fn open_database(&self) -> Outcome<Arc<dyn Database>> {
        let database = open_database(&self.config.effective.settings).await?;
        database.warnings().iter().for_each(|warning| self.console.warn(warning));
        Ok(database)
    }

    /// Warns of the components among these files that are older than a source of their project.
    pub(crate) fn warn_of_stale(&self, inputs: &[(&'static str, PathBuf)]) {
        let components = inputs.iter().filter(|(what, _)| *what == PLUGIN).map(|(_, path)| path);
        for component in components.collect::<BTreeSet<_>>() {
            let Some(Stale { folder, changed }) = syrch_projects::stale(component) else {
                continue;
            };
            let folder = folder.display();
            let changed = changed.display();
            let component = component.display();
            self.console.warn(&format!(
                "`{changed}` is newer than `{component}`, which is used as it is: `syrch-host \
                 plugin build {folder}` builds it again"
            ));
        }
    }

    /// Fails when no database is configured.
    pub(crate) fn needs_database(&self) -> Outcome<()> {
        if self.config.effective.settings.database.is_empty() {
            return Err(Failure::usage("no database").hint(
                "name one by `--db shop.sqlite`, SYRCH_DB or `execution: {db_path: …}` in \
                 ~/.syrch/config.yml",
            ));
        }
        Ok(())
    }
}
