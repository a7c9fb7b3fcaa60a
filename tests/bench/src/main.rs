//! `make bench`: measures what the host promises, and prints a table that says which bounds are
//! met.
//!
//! Each file of `figures` measures one promise. What is timed from process start is the binary
//! itself; the rest runs in this process.

mod child;
mod figure;
mod figures;
mod machine;
mod ports;
mod rates;
mod samples;
mod table;
mod versus;
mod world;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use figure::Figure;
use figures::GROUPS;
use machine::Machine;
use world::World;

/// The result of a measurement.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Measures what the host promises, and says which bounds are met.
#[derive(Parser)]
#[command(name = "syrch-bench", version)]
pub(crate) struct Options {
    /// Write the table to this file, too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// End with exit code 1 when a bound is missed or a figure could not be measured
    #[arg(long)]
    strict: bool,
    /// Measure only these, separated by commas
    #[arg(
        long, value_name = "NAMES", value_delimiter = ',',
        value_parser =
            clap::builder::PossibleValuesParser::new(GROUPS.iter().map(|group| group.name))
    )]
    only: Vec<String>,
    /// Searches that the memory is watched over
    #[arg(
        long, value_name = "N", default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(100..)
    )]
    pub(crate) searches: u32,
    /// Rows of the large table
    #[arg(
        long, value_name = "N", default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u32).range(1_000..)
    )]
    pub(crate) rows: u32,
    /// Orders of the recorded answers that strategies are measured in
    #[arg(
        long, value_name = "N", default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) orders: u32,
    /// Scale of the database of orders that slow statements are measured on: 0.1 is 150,000 orders
    #[arg(long, value_name = "SCALE", default_value_t = 0.1)]
    pub(crate) slow_scale: f64,
    /// The binary, when it does not lie beside this program
    #[arg(long, value_name = "FILE")]
    pub(crate) host: Option<PathBuf>,
    /// The command of a helper, as which the program starts itself.
    #[command(subcommand)]
    helper: Option<Helper>,
}

/// Tasks that need a process of their own.
#[derive(Subcommand)]
enum Helper {
    /// Run a command and print the bytes of memory that it had at its peak
    #[command(hide = true)]
    Peak {
        /// The command
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Search so many times in one process and print its memory on the way
    #[command(hide = true)]
    Soak(figures::soak::Soak),
}

/// That of the binary, since what runs in this process is measured for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match &options.helper {
        Some(Helper::Peak { command }) => child::tell_peak(command).map(|()| true),
        Some(Helper::Soak(soak)) => figures::soak::run(soak).map(|()| true),
        None => measure(&options),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Measures all that is wanted; false: something is not as it should be, and that was asked.
fn measure(options: &Options) -> Outcome<bool> {
    let machine = Machine::read();
    let world = World::new(options)?;
    let mut figures = Vec::new();
    for group in GROUPS.iter().filter(|group| {
        options.only.is_empty() || options.only.iter().any(|name| name == group.name)
    }) {
        say(&format!("measuring: {}", group.what));
        // One promise that cannot be measured does not keep back the others.
        let measured = (group.measure)(&world);
        figures.extend(
            measured.unwrap_or_else(|error| {
                vec![Figure::without_measure(group.what, error.to_string())]
            }),
        );
    }
    let page = table::page(&machine, &figures);
    if let Some(path) = &options.out {
        std::fs::write(path, &page).map_err(|error| format!("`{}`: {error}", path.display()))?;
    }
    std::io::stdout().write_all(page.as_bytes())?;
    Ok(!options.strict || table::is_good(&figures))
}

/// A line for people. Standard error may be closed; there is nobody left to tell then.
pub(crate) fn say(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
