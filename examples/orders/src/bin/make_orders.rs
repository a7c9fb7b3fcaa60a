//! Writes the database `orders_10dim`: `make-orders PATH [--scale F] [--force]`.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use syrch_orders::{OrdersError, Progress, Scale, make_orders};

/// Writes the orders of TPC-H with ten dimensions into an SQLite file.
#[derive(Parser)]
#[command(name = "make-orders", allow_negative_numbers = true)]
struct Arguments {
    /// The file. One that this program made before is replaced.
    path: PathBuf,
    /// The scale: 1 is 1,500,000 orders, 5 is 7,500,000.
    #[arg(long, value_name = "F", default_value = "0.1")]
    scale: Scale,
    /// Replace whatever file is there.
    #[arg(long)]
    force: bool,
}

fn main() -> ExitCode {
    let Arguments { path, scale, force } = Arguments::parse();
    let start = Instant::now();
    match make_orders(&path, scale, force, &mut show) {
        Ok(made) => {
            let megabytes = made.bytes as f64 / 1e6;
            let seconds = start.elapsed().as_secs_f64();
            say(format_args!(
                "{}: {} orders, {megabytes:.1} MB, {seconds:.1} s",
                path.display(),
                made.orders
            ));
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(format_args!("error: {error}"));
            if matches!(error, OrdersError::Foreign { .. }) && path.is_file() {
                say("help: name another file, or add --force to replace it");
            }
            ExitCode::FAILURE
        }
    }
}

fn show(progress: Progress) {
    match progress {
        Progress::Dimension { table, rows } => say(format_args!("{table}: {rows} rows")),
        Progress::Orders { done, total } => {
            // A line for every tenth.
            let tenths = |count: u64| count * 10 / total.max(1);
            if tenths(done) > tenths(done.saturating_sub((total / 100).max(1))) {
                say(format_args!("orders: {done} of {total}"));
            }
        }
        Progress::Index { table, column } => say(format_args!("index on {table} ({column})")),
    }
}

/// Says it on standard error; whether anybody listens changes nothing.
fn say(what: impl Display) {
    drop(writeln!(std::io::stderr(), "{what}"));
}
