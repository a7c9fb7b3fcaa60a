//! Stands in for `optimize` in a build without the optimizer.

use std::sync::Arc;

use clap::Args;
use syrch::journal::Journal;
use syrch::{Error, Host, SearchReport};

use super::{Context, Run};
use crate::config::{Given, GivenRewriter};
use crate::console::progress::Watch;
use crate::failure::{Failure, Outcome};

#[derive(Args)]
pub(crate) struct OptimizeArgs {
    /// The words of the command, which this build does not read
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Run for OptimizeArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        None
    }

    async fn run(self, _: Context) -> Outcome {
        drop(self.words);
        Err(no_optimizer())
    }
}

fn no_optimizer() -> Failure {
    Error::NotBuilt { what: "optimizer", feature: "optimizer" }.into()
}

pub(crate) fn default_rewriter() -> Option<GivenRewriter> {
    None
}

pub(crate) async fn optimize_answer(_: &Context, _: &Host, _: &SearchReport) -> Outcome<()> {
    Err(no_optimizer())
}

pub(crate) async fn replay(_: &Context, _: &Host, _: Arc<Watch>, _: Journal) -> Outcome {
    Err(no_optimizer())
}
