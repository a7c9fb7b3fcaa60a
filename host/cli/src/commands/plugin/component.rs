//! The hidden command that makes a component of a core module, which `plugin build` does for Go and C. It is for those who write an SDK.

use std::path::PathBuf;

use clap::Args;
use syrch_projects::component;

use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The flags of `plugin component`.
#[derive(Args)]
pub(crate) struct ComponentArgs {
    /// The core module
    #[arg(value_name = "CORE.wasm")]
    core: PathBuf,
    /// The component to be written
    #[arg(value_name = "OUT.wasm")]
    out: PathBuf,
    /// The folder of the WIT package, with the contract below `deps/`
    #[arg(long, value_name = "DIR")]
    wit: PathBuf,
    /// The world of that package
    #[arg(long, default_value = "plugin", value_name = "NAME")]
    world: String,
}

impl Run for ComponentArgs {
    async fn run(self, _: Context) -> Outcome {
        let file = |path: &PathBuf, error| Failure::config(format!("`{}`: {error}", path.display()));
        let core = std::fs::read(&self.core).map_err(|error| file(&self.core, error))?;
        let made = component(&core, &self.wit, &self.world)
            .map_err(|error| Failure::new(Exit::PluginRejected, format!("`{}`: {error}", self.core.display())))?;
        std::fs::write(&self.out, made).map_err(|error| file(&self.out, error))?;
        Ok(Exit::Answered)
    }
}
