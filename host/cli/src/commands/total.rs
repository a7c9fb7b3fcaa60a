//! The budget of a server for all its searches together.

use clap::Args;
use syrch::Settings;
use syrch::models::check_prices;

use super::graded::number;
use crate::failure::{Failure, Outcome};

#[derive(Args)]
pub(crate) struct Total {
    /// The most dollars that all searches together may cost; it needs --max-usd, which each
    /// reserves
    #[arg(long, value_name = "X", value_parser = number)]
    pub(crate) total_usd: Option<f64>,
}

impl Total {
    /// The limit in millionths of a dollar; `None` if there is none.
    ///
    /// # Errors
    /// When no search has a limit of its own, or a model has no price.
    pub(crate) fn micros(&self, settings: &Settings) -> Outcome<Option<u64>> {
        let Some(usd) = self.total_usd else { return Ok(None) };
        if settings.budgets.cost_micros.is_none() {
            return Err(Failure::usage("--total-usd needs --max-usd")
                .hint("each search reserves what it may cost, so say how much that is"));
        }
        check_prices(&settings.model)?;
        Ok(Some((usd * 1e6) as u64))
    }
}
