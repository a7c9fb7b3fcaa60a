//! `man`: the manual pages of the program and of its commands.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use super::Context;
use super::Run;
use crate::args::Cli;
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The folder for the pages, which is made if it does not exist; `syrch-host.1` is the first
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Run for ManArgs {
    /// The pages are the same whatever is configured.
    fn config_flags(&self) -> Option<Given<'_>> {
        None
    }

    async fn run(self, context: Context) -> Outcome {
        let folder = self.folder.display();
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), &self.folder))
            .map_err(|error| Failure::config(format!("no pages in `{folder}`: {error}")))?;
        context.console.note(&format!("man {folder}/syrch-host.1 shows the first page"));
        Ok(Exit::Answered)
    }
}
