//! Processes under measurement: the binary without any configuration, and this program as its own
//! helper.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::samples::{median, milliseconds};
use crate::world::World;
use crate::{Outcome, text};

/// Runs before the first that counts.
const WARM_UP: usize = 3;

/// The binary with nothing in its environment but a home of its own.
pub(crate) fn host(world: &World, arguments: &[&str]) -> Outcome<Command> {
    let mut command = Command::new(&world.host);
    settle(&mut command, &world.place("home")?);
    command.args(arguments);
    Ok(command)
}

fn settle(command: &mut Command, home: &Path) {
    command.env_clear().env("HOME", home).stdin(Stdio::null());
    // The endpoints here know the prompts of this strategy.
    command.env("SYRCH_STRATEGY", syrch::strategies::DEFAULT);
    command.env("SYRCH_CACHE_DIR", home.join("cache")).env("SYRCH_STATE_DIR", home.join("state"));
}

/// Milliseconds from start to end, the median of so many runs. Every run must succeed.
pub(crate) fn times(command: &mut Command, runs: usize) -> Outcome<Vec<f64>> {
    let mut times = Vec::with_capacity(runs);
    for run in 0..WARM_UP + runs {
        let taken = time(command)?;
        if run >= WARM_UP {
            times.push(taken);
        }
    }
    Ok(times)
}

/// Milliseconds from start to end of one run, which must succeed.
pub(crate) fn time(command: &mut Command) -> Outcome<f64> {
    let begin = Instant::now();
    let output = command.output()?;
    let taken = milliseconds(begin);
    check_success(&output)?;
    Ok(taken)
}

/// MiB of memory that the command had at its peak, the median of some runs. A small process of its
/// own starts it, since a child is charged with what its parent had when it was started.
pub(crate) fn peak(command: &Command) -> Outcome<f64> {
    peak_of(command, 5)
}

/// The same as the median of so many runs.
pub(crate) fn peak_of(command: &Command, runs: usize) -> Outcome<f64> {
    let mut helper = Command::new(std::env::current_exe()?);
    helper.arg("peak").arg("--").arg(command.get_program()).args(command.get_args()).env_clear();
    helper
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null());
    let mut peaks = Vec::with_capacity(runs);
    for _ in 0..runs {
        let output = helper.output()?;
        check_success(&output)?;
        peaks.push(text(&output.stdout).trim().parse::<f64>()? / f64::from(1 << 20));
    }
    Ok(median(peaks))
}

/// Runs as a helper: runs a command, and prints how many bytes it had at its peak.
///
/// # Errors
/// When the command does not start or does not succeed, or the system does not say.
#[cfg(unix)]
pub(crate) fn tell_peak(command: &[OsString]) -> Outcome<()> {
    use nix::sys::resource::{UsageWho, getrusage};
    // Kibibytes everywhere but on Apple's systems.
    const UNIT: i64 = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let (program, arguments) = command.split_first().ok_or("no command")?;
    check_success(&Command::new(program).args(arguments).stdin(Stdio::null()).output()?)?;
    let bytes = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss().saturating_mul(UNIT);
    Ok(writeln!(std::io::stdout(), "{bytes}")?)
}

#[cfg(not(unix))]
pub(crate) fn tell_peak(_: &[OsString]) -> Outcome<()> {
    Err("this system does not tell the memory of a process that has ended".into())
}

/// The failure of a process that did not succeed, with what it said.
pub(crate) fn check_success(output: &Output) -> Outcome<()> {
    if output.status.success() {
        return Ok(());
    }
    Err(format!("a process ended with {}: {}", output.status, text(&output.stderr).trim()).into())
}
