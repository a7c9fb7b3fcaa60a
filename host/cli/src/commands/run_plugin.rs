//! The hidden command by which the binary, as its own child process, runs the guests of one plugin
//! without any rights.

use std::process::ExitCode;

/// Serves the host on the standard streams until it is gone. Nobody reads standard error.
pub(crate) fn run() -> ExitCode {
    match syrch::plugins::run_worker() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
