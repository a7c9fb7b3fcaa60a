//! Compares a role call with the same call through Extism, in one process and in turns: prints a
//! table as `syrch-bench` does, or with `--json` the rates, for `syrch-bench`.
//!
//! The README says what is equal on both sides and what is not.

#[allow(dead_code, reason = "shared with `syrch-bench`, which uses all of it")]
#[path = "../../src/figure.rs"]
mod figure;
mod guests;
#[allow(dead_code, reason = "shared with `syrch-bench`, which uses all of it")]
#[path = "../../src/machine.rs"]
mod machine;
mod ours;
#[path = "../../src/ports.rs"]
mod ports;
#[path = "../../src/rates.rs"]
mod rates;
#[allow(dead_code, reason = "shared with `syrch-bench`, which uses all of it")]
#[path = "../../src/samples.rs"]
mod samples;
#[allow(dead_code, reason = "shared with `syrch-bench`, which uses all of it")]
#[path = "../../src/table.rs"]
mod table;
mod theirs;
#[path = "../../src/versus.rs"]
mod versus;

use std::process::ExitCode;

use syrch_core::Signals;

use guests::Guests;
use machine::Machine;
use ours::Ours;
use theirs::{Allocator, Theirs};
use versus::Versus;

/// The result of a measurement.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The steps, which both sides are given as a setting in each call.
const STEPS: &str = "[[0.0, 0.2], [0.5, 0.5], [0.9, 0.8]]";

fn main() -> ExitCode {
    let is_json = std::env::args().skip(1).any(|argument| argument == "--json");
    match run(is_json) {
        Ok(printed) => {
            println!("{}", printed.trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures; gives what is to be printed.
fn run(is_json: bool) -> Outcome<String> {
    let guests = Guests::build()?;
    let machine = Machine::read();
    let ours = Ours::load(&guests.ours)?;
    let extism = Theirs::load(&guests.theirs, Allocator::OnDemand)?;
    let pooling = Theirs::load(&guests.theirs, Allocator::Pooling)?;
    let versus = compare(&ours, &extism, &pooling)?;
    Ok(if is_json {
        serde_json::to_string(&versus)?
    } else {
        table::page(&machine, &versus.figures())
    })
}

fn compare(ours: &Ours, extism: &Theirs, pooling: &Theirs) -> Outcome<Versus> {
    let claims = claims();
    let wanted = ours.calibrate(&claims)?;
    for theirs in [extism, pooling] {
        let given = theirs.calibrate(&claims)?;
        if given != wanted {
            return Err(
                format!("the plugins differ: {wanted:?} and through Extism {given:?}").into()
            );
        }
    }
    let through = |theirs: &'_ Theirs| theirs.calibrate(&claims).map(drop);
    let mut rates = rates::measure(&mut [
        Box::new(|| ours.calibrate(&claims).map(drop)),
        Box::new(|| through(extism)),
        Box::new(|| through(pooling)),
    ])?
    .into_iter();
    let mut next = || rates.next().unwrap_or_default();
    Ok(Versus { ours: next(), extism: next(), pooling: next(), versions: theirs::versions() })
}

/// Claims as a solver makes them after one attempt and after a failed one, and one without anything
/// known.
fn claims() -> [(f64, Signals); 3] {
    let first = Signals { attempts: 1, max_attempts: 3, ..Signals::default() };
    let second = Signals { attempts: 2, execution_errors: 1, ..first.clone() };
    [(0.95, first), (0.6, second), (0.3, Signals::default())]
}
