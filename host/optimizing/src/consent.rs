//! The requests that would be sent to a model, and the user's consent to them.

use async_trait::async_trait;
use syrch::Error;
use syrch::internal::RewritingHost;
use syrch_core::ports::Preview;
use syrch_optimize::Optimization;

use crate::propose::Proposer;
use crate::{Optimize, Parts, driver};

/// Asks the user whether something may be sent to a model.
#[async_trait]
pub trait AskConsent: Send + Sync {
    /// Called with the exact requests that a rewriter would send next, without secrets. Once it
    /// returns true, nothing is asked any more in that optimization.
    async fn agrees(&self, requests: &[Preview]) -> bool;
}

/// The requests that the next role call would send, which is made without sending them. It is made
/// of the same values as the real call, so that these are the real requests, byte for byte.
pub(super) async fn requests(
    host: &RewritingHost,
    proposer: &Proposer,
    optimization: &Optimization,
) -> Result<Vec<Preview>, Error> {
    let host = host.clone();
    let proposer = proposer.clone();
    let optimization = optimization.clone();
    let found = tokio::task::spawn_blocking(move || {
        host.dry_run(optimization.original_sql(), async |run| {
            // The search's first calls of the role have been made; the seed of a call follows from
            // its number.
            let calls = proposer.calls(&run, &optimization)?;
            proposer.call(&calls, &optimization).await;
            Ok(())
        })
    })
    .await;
    found.map_err(|error| Error::Internal(error.to_string()))?
}

/// Returns whether something may be sent: true if the user has agreed before or agrees now, false
/// if nothing would be sent.
///
/// # Errors
/// [`Error::Consent`] when something would be sent and the user does not agree.
pub(super) async fn obtain(
    host: &RewritingHost,
    parts: &Parts,
    proposer: &Proposer,
    optimization: &Optimization,
) -> Result<bool, Error> {
    if parts.is_accepted {
        return Ok(true);
    }
    let requests = requests(host, proposer, optimization).await?;
    if requests.is_empty() {
        return Ok(false);
    }
    match &parts.ask {
        Some(ask) if ask.agrees(&requests).await => Ok(true),
        _ => Err(Error::Consent(requests)),
    }
}

impl Optimize {
    /// The exact requests that the first call of the rewriter would send, without secrets; empty
    /// when it sends nothing. The statement is checked and explained, and not run; nothing leaves
    /// the machine, and no journal is written.
    ///
    /// # Errors
    /// When the statement is refused, or the database cannot be used.
    pub async fn preview(self) -> Result<Vec<Preview>, Error> {
        let (host, parts) = self.open_host().await?;
        let _slot = host.acquire_slot().await;
        let optimization = driver::explain_statement(host.host(), &parts).await?;
        let proposer = Proposer::new(&host, parts.rewriter.clone())?;
        requests(&host, &proposer, &optimization).await
    }
}
