//! `completions`: a script that completes commands and flags in a shell.

use clap::Args;
use clap::CommandFactory;
use clap_complete::Shell;

use super::Context;
use super::Run;
use crate::args::Cli;
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that the script is for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Run for CompletionsArgs {
    /// The script is the same whatever is configured, also where that cannot be read.
    fn config_flags(&self) -> Option<Given<'_>> {
        None
    }

    async fn run(self, context: Context) -> Outcome {
        run(&context, self.shell)
    }
}

/// Prints the script for that shell.
fn run(context: &Context, shell: Shell) -> Outcome {
    context.output.write(&script(shell)?)?;
    Ok(Exit::Answered)
}

fn script(shell: Shell) -> Outcome<String> {
    let name = match shell {
        // The generator's names of functions and of cases differ for a program with a dash in its
        // name (clap_complete 4.6).
        Shell::Bash => "syrch_host",
        _ => "syrch-host",
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command().name(name), name, &mut script);
    let script = String::from_utf8(script).map_err(|error| {
        Failure::new(Exit::Unexpected, format!("the script cannot be written: {error}"))
    })?;
    Ok(script
        .lines()
        .map(|line: &str| {
            match line.strip_suffix(name).filter(|line| line.trim_start().starts_with("complete "))
            {
                Some(start) => format!("{start}syrch-host\n"),
                None => format!("{line}\n"),
            }
        })
        .collect())
}
