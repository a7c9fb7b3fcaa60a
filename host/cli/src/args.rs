//! The command line: what may stand on it. `read` reads it.

mod read;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::commands::batch::BatchArgs;
use crate::commands::benchmark::BenchmarkArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::eval::EvalArgs;
use crate::commands::grid::GridArgs;
use crate::commands::report::ReportArgs;
use crate::commands::suite_fuzz::FuzzArgs;
use crate::config::flags::{Flags, NameOrFile};
use crate::config::parameter::Parameter;
use crate::console::Color;
use crate::console::logging::LogFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::sink::Format;

/// Answers questions over databases by search: tries several lines of reasoning, runs them read-only against the database, and keeps the
/// best. Without a command it searches.
#[derive(Parser)]
#[command(name = "syrch-host", version, after_help = after_help(), subcommand_precedence_over_arg = true)]
pub(crate) struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// Flags of a search without the word `search`.
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

fn after_help() -> String {
    format!(
        "Examples:\n  syrch-host -q \"How many customers are there?\" --db examples/shop.sqlite\n  syrch-host schema examples/shop.sqlite\n  \
         syrch-host sql --db examples/shop.sqlite \"SELECT count(*) FROM orders\"\n\n{}",
        Exit::help()
    )
}

/// Flags that every command takes, before or after its name.
#[derive(Args)]
pub(crate) struct Global {
    /// How the output is written
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Write the output to this file, which is replaced only once all is there
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show all rows of an answer on a terminal, which shows the first 20 otherwise
    #[arg(long, global = true)]
    pub(crate) all_rows: bool,
    /// Say nothing on standard error but errors (and questions)
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Colour on standard error and in what `trace` draws
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Log to standard error: -v information, -vv debugging, -vvv that of all parts
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// How what goes to standard error is written
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) log_format: LogFormat,
    /// The config file, instead of ~/.syrch/config.yml and ./syrch.yml
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Flags of a search.
#[derive(Args, Default)]
pub(crate) struct SearchArgs {
    /// The question
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// What explains terms of the question
    #[arg(long, value_name = "TEXT")]
    pub(crate) evidence: Option<String>,
    /// Go on with a run that was killed: its id, the beginning of it, or `last`. Its settings are those it began with
    #[arg(long, value_name = "RUN", conflicts_with_all = ["question", "evidence"])]
    pub(crate) resume: Option<String>,
    /// Print the exact requests that would be sent to a model next, and send nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it; settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE")]
    pub(crate) parameters: Vec<Parameter>,
    /// The options.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Answer a question (what happens without a command)
    #[command(after_help = Exit::help())]
    Search(Box<SearchArgs>),
    /// Show tables, views, columns and keys of a database
    #[command(after_help = Exit::help())]
    Schema(SchemaArgs),
    /// Show the configuration in force
    #[command(after_help = Exit::help())]
    Config(ConfigArgs),
    /// Run or check statements under the guard and the limits of a search
    #[command(after_help = Exit::help())]
    Sql(SqlArgs),
    /// Show the plugins
    #[command(subcommand, after_help = Exit::help())]
    Plugin(PluginCommand),
    /// List, show and check strategies
    #[command(subcommand, after_help = Exit::help())]
    Strategy(StrategyCommand),
    /// Ask a model once what people call the tables and columns of a database, and use it in searches over it from then on
    #[command(after_help = Exit::help())]
    BuildIndex(Box<BuildIndexArgs>),
    /// Check everything that a search leans on; exit 0 when nothing failed, 10 otherwise
    #[command(after_help = Exit::help())]
    Doctor(Box<DoctorArgs>),
    /// Show what earlier runs did: their journals as pictures, side by side, and cleared away
    #[command(subcommand, after_help = Exit::help())]
    Trace(TraceCommand),
    /// Show or clear what is kept of model replies and results
    #[command(subcommand, after_help = Exit::help())]
    Cache(CacheCommand),
    /// Check suites of questions with expected answers
    #[command(subcommand, after_help = Exit::help())]
    Suite(SuiteCommand),
    /// Fit confidences on graded runs, so that they are shares of right answers
    #[command(subcommand, after_help = Exit::help())]
    Calibrate(crate::commands::calibrate::CalibrateCommand),
    /// Ask the questions of a suite and grade the answers; a run that is cut short goes on by --resume
    #[command(after_help = Exit::help())]
    Benchmark(Box<BenchmarkArgs>),
    /// Ask one question and compare the answer with what is expected; exit 0 when it matches, 5 when not
    #[command(after_help = Exit::help())]
    Eval(Box<EvalArgs>),
    /// Ask several strategies the questions of a suite, and say whether the difference between them is real
    #[command(after_help = Exit::help())]
    Compare(Box<CompareArgs>),
    /// Ask the questions of a suite, or one question, with many settings, and say which are best
    #[command(after_help = Exit::help())]
    Grid(Box<GridArgs>),
    /// Report on runs over suites again, finished or not, without asking anybody; shards are put together
    #[command(after_help = Exit::help())]
    Report(Box<ReportArgs>),
    /// Answer questions from standard input, a JSON line each, with a JSON line each: {"id", "question"} and perhaps "db", "evidence" and "as_of"
    /// give {"id", "outcome", "answer", "error", "line"}, and "simulated" where no real model was asked. Exit 0 however lines end
    #[command(after_help = Exit::help())]
    Batch(Box<BatchArgs>),
    /// Print a script that completes commands and flags in a shell
    #[command(after_help = Exit::help())]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
}

/// Flags of `doctor`.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// What is wrong with the configuration, found before anything is checked.
    #[arg(skip)]
    pub(crate) broken: Option<Failure>,
    /// Flags of a search, to see what they would do.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

/// Flags of `build-index`.
#[derive(Args)]
pub(crate) struct BuildIndexArgs {
    /// Flags of a search: the database, the model, what it may cost.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

/// Flags of `schema`.
#[derive(Args)]
pub(crate) struct SchemaArgs {
    /// The database; the same as --db
    #[arg(value_name = "DB", conflicts_with = "execution.db_path")]
    pub(crate) database: Option<String>,
    /// Only this table or view
    #[arg(short, long, value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// The options.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// Flags of `config`.
#[derive(Args)]
pub(crate) struct ConfigArgs {
    /// Tell where each value came from
    #[arg(long)]
    pub(crate) origin: bool,
    /// Flags of a search, to see what they would do.
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

/// Flags of `sql`.
#[derive(Args)]
pub(crate) struct SqlArgs {
    /// The statement; - reads it from standard input
    #[arg(value_name = "STATEMENT", allow_hyphen_values = true, conflicts_with = "stdin_jsonl")]
    pub(crate) statement: Option<String>,
    /// Check the statement without running it
    #[arg(long)]
    pub(crate) check: bool,
    /// Read lines {"id", "sql"} from standard input; each gives one line {"id", "ok", "rows"} or {"id", "ok", "error"}; with --check without "rows"
    #[arg(long)]
    pub(crate) stdin_jsonl: bool,
    /// The options.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// The commands of `plugin`.
#[derive(Subcommand)]
pub(crate) enum PluginCommand {
    /// List the built-in plugins
    #[command(after_help = Exit::help())]
    List,
    /// Show what a plugin is, wants and plays
    #[command(after_help = Exit::help())]
    Inspect {
        /// The path of a component, or a built-in's name
        #[arg(value_name = "PATH|NAME")]
        plugin: String,
    },
}

/// The commands of `strategy`.
#[derive(Subcommand)]
pub(crate) enum StrategyCommand {
    /// List the built-in strategies
    #[command(after_help = Exit::help())]
    List,
    /// Show a strategy whole, as a file that --strategy takes; its plugins and their settings are checked
    #[command(after_help = Exit::help())]
    Show {
        /// A built-in's name, or the path of a strategy file
        #[arg(value_name = "NAME|FILE", value_parser = NameOrFile, hide_possible_values = true)]
        strategy: String,
    },
    /// Print the JSON Schema of strategy files, for editors
    #[command(after_help = Exit::help())]
    Schema,
}

/// The commands of `cache`.
#[derive(Subcommand)]
pub(crate) enum CacheCommand {
    /// Tell how many answers are kept, and how large they are
    #[command(after_help = Exit::help())]
    Stats,
    /// Delete what is kept
    #[command(after_help = Exit::help())]
    Clear {
        /// Only replies of models (llm), or only results of statements (sql)
        #[arg(value_name = "llm|sql")]
        kind: Option<syrch::cache::Kind>,
    },
}

/// The commands of `suite`.
#[derive(Subcommand)]
pub(crate) enum SuiteCommand {
    /// Run every expected statement under the guard, and tell those that fail, write, are empty, or whose rows or their order ties leave to
    /// chance
    #[command(after_help = Exit::help())]
    Lint(Box<LintArgs>),
    /// Make variants of the databases, on all of which a right answer must give what the expected one gives: what is right by luck is not
    #[command(after_help = Exit::help())]
    Fuzz(Box<FuzzArgs>),
}

/// Flags of `suite lint`.
#[derive(Args)]
pub(crate) struct LintArgs {
    /// The suite: JSON lines, a JSON array (also BIRD's and Spider's), or CSV. Its databases are looked for beside it, and first in --db, which
    /// may be a folder, or the one database of all questions
    #[arg(value_name = "SUITE")]
    pub(crate) suite: PathBuf,
    /// Exit with 5 when there are findings: never, of the severity error, or of any
    #[arg(long, value_enum, default_value_t, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    /// The options.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// The findings that fail a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FailOn {
    /// None
    None,
    /// Those by which nobody can be graded
    #[default]
    Error,
    /// All
    Any,
}

/// The commands of `trace`.
#[derive(Subcommand)]
pub(crate) enum TraceCommand {
    /// List the runs, the latest first
    #[command(after_help = Exit::help())]
    List {
        /// Runs at most
        #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 20)]
        count: usize,
    },
    /// Draw the search of a run: tasks, candidates, why branches were dropped, calls and costs
    #[command(after_help = Exit::help())]
    Show(Box<ShowArgs>),
    /// Make a run again with the model's replies from its journal; strictly, with everything from it
    #[command(after_help = Exit::help())]
    Replay {
        /// A run's id, the beginning of it, `last`, or the path of a journal
        #[arg(value_name = "RUN")]
        run: String,
        /// Ask no database either, and print exactly what the run printed, or fail
        #[arg(long)]
        strict: bool,
    },
    /// Lay two searches of one question side by side
    #[command(after_help = Exit::help())]
    Diff {
        /// A run's id, the beginning of it, `last`, or the path of a journal
        #[arg(value_name = "LEFT")]
        left: String,
        /// The other
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

/// Flags of `trace show`.
#[derive(Args)]
pub(crate) struct ShowArgs {
    /// A run's id, the beginning of it, `last`, or the path of a journal
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Draw the calls, too, in the order in which they were made and ended
    #[arg(long)]
    pub(crate) calls: bool,
    /// Write one page that stands alone, to this file or to -o
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) html: Option<Option<PathBuf>>,
    /// Show the prompts and replies of model calls, which may quote cells, in the page and in JSON
    #[arg(long)]
    pub(crate) prompts: bool,
    /// Rows of the answer that may be shown: none, aggregates, sample:N, full; else as configured
    #[arg(long, value_name = "GRANT")]
    pub(crate) rows: Option<syrch::syrch_core::ports::RowsGrant>,
}

/// Flags of `trace prune`.
#[derive(Args)]
pub(crate) struct PruneArgs {
    /// Keep this many of the latest
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Remove those that are older
    #[arg(long, value_name = "DAYS")]
    pub(crate) older: Option<u32>,
    /// Remove the oldest, until the others have at most so many bytes together
    #[arg(long, value_name = "N")]
    pub(crate) max_bytes: Option<u64>,
    /// Only tell which would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}
