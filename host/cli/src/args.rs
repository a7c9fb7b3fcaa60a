//! The command line: its flags and commands. `read` parses it.

mod read;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser};

use crate::commands::Command;
use crate::commands::asking::SearchArgs;
use crate::console::Color;
use crate::console::logging::LogFormat;
use crate::exit::Exit;
use crate::sink::Format;
use crate::version;

/// Answers questions over databases by search: tries several lines of reasoning, runs them
/// read-only against the database, and keeps the best. Without a command it searches.
#[derive(Parser)]
#[command(
    name = "syrch-host",
    version,
    long_version = version::describe(),
    after_help = after_help(),
    subcommand_precedence_over_arg = true
)]
pub(crate) struct Cli {
    /// The flags of every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// Flags of a search without the word `search`.
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// The command; a search without one.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

fn after_help() -> String {
    format!(
        "Examples:\n  syrch-host -q \"How many customers are there?\" --db examples/shop.sqlite\n  \
         syrch-host schema examples/shop.sqlite\n  syrch-host sql --db examples/shop.sqlite \
         \"SELECT count(*) FROM orders\"\n\n{}",
        Exit::help()
    )
}

/// Flags that every command takes, before or after its name.
#[derive(Args)]
pub(crate) struct Global {
    /// The format of the output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Write the output to this file, which is replaced only once all is there
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show all rows of an answer on a terminal, which shows the first 20 otherwise
    #[arg(long, global = true)]
    pub(crate) all_rows: bool,
    /// Write nothing to standard error but errors (and questions)
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Colour on standard error and in what `trace` draws
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Log to standard error: -v information, -vv debugging, -vvv that of all parts
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// The format of messages on standard error
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) log_format: LogFormat,
    /// The config file, instead of ~/.syrch/config.yml and ./syrch.yml
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
