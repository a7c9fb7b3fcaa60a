//! `plugin remove`: takes an added plugin out of the lock.

use clap::Args;

use super::locked;
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::Outcome;

#[derive(Args)]
pub(crate) struct RemoveArgs {
    /// The name of an added plugin
    name: String,
}

impl Run for RemoveArgs {
    async fn run(self, context: Context) -> Outcome {
        let mut lock = locked::lock(&context)?;
        locked::find(&lock, &self.name)?;
        let removed = lock.remove(&self.name)?;
        locked::show(&context, &self.name, &removed)?;
        Ok(Exit::Answered)
    }
}
