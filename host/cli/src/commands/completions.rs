//! `completions`: a script that completes commands and flags in a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Context;
use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Prints the script for that shell.
pub(crate) fn run(context: &Context, shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "syrch-host", &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| Failure::new(Exit::Unexpected, format!("the script cannot be written: {error}")))?;
    context.output.write(&script)?;
    Ok(Exit::Answered)
}
