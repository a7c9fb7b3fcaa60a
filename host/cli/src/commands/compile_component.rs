//! The hidden command by which the binary, as its own child process, compiles one component within
//! limits.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use syrch::plugins::CompileFailure;
use syrch::syrch_core::Limits;

/// Compiles the component on standard input to standard output. The parent reads standard error.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    // The parent gets the message of a panic of the compiler, without the place in its source.
    std::panic::set_hook(Box::new(|panic| {
        let reason = panic.payload_as_str().unwrap_or("no reason given");
        drop(writeln!(std::io::stderr(), "the compiler failed: {reason}"));
    }));
    // A panic is about the component, too.
    match limits(arguments).and_then(|limits| {
        std::panic::catch_unwind(|| compile(limits))
            .unwrap_or_else(|_| Err(CompileFailure::Component(String::new())))
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A parent that is gone reads nothing.
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::from(error.status())
        }
    }
}

/// Reads the parent's limits: bytes of memory and seconds of CPU time.
fn limits(arguments: &[OsString]) -> Result<Limits, CompileFailure> {
    let number = |place: usize| arguments.get(place)?.to_str()?.parse::<u64>().ok();
    let (memory, seconds) = number(0).zip(number(1)).ok_or_else(|| {
        CompileFailure::Process("this is no command for people: the host calls it".to_owned())
    })?;
    Ok(Limits {
        compile_memory: memory,
        compile_cpu: Duration::from_secs(seconds),
        ..Limits::default()
    })
}

fn compile(limits: Limits) -> Result<(), CompileFailure> {
    syrch::plugins::compile_component(&limits, &mut std::io::stdin(), &mut std::io::stdout())
}
