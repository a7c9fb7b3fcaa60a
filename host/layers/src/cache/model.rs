//! Model calls behind the cache. This layer is above the ledger's reservations: what the cache
//! answers takes no slot, reserves nothing and costs no money.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use syrch_cache::{Cache, Key, Kind, Lead};
use syrch_core::Ledger;
use syrch_core::ledger::Exhausted;
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider, Purpose, Reply,
    Request, RequestKey, Usage,
};

use super::{Lookup, VERSION, look_up};

/// A provider whose replies are cached. A call that the cache answers is charged as if it had been
/// sent, money aside, and has the outcome that it had then, so that a guest cannot detect the
/// cache.
///
/// Only complete replies of the expected shape are cached: no errors, and no reply that was cut
/// off. An equal call in flight is awaited, and its outcome is shared, unless it depends on its
/// caller (a used-up budget, a limit, a reply cut off).
pub struct CachedModel {
    inner: Arc<dyn ModelProvider>,
    cache: Arc<Cache>,
    ledger: Arc<Ledger>,
    temperature: Option<f32>,
}

/// The identity of a call for the cache, in the form whose bytes are the key. The provider's
/// identity includes which model a purpose goes to.
#[derive(Serialize)]
struct CacheKey<'a> {
    version: &'a str,
    #[serde(flatten)]
    request: RequestKey<'a>,
}

impl<'a> CacheKey<'a> {
    fn from_request(request: &'a Request, default: Option<f32>) -> Self {
        let sent = request.temperature.or(default.filter(|_| request.top_p.is_none()));
        let request =
            RequestKey { purpose: None, temperature: sent.map(f32::to_bits), ..request.key() };
        Self { version: VERSION, request }
    }
}

/// An outcome as it is cached and shared.
#[derive(Serialize, Deserialize)]
struct StoredOutcome {
    result: Result<Reply, LlmError>,
    usage: Option<Usage>,
    sent: bool,
}

impl CachedModel {
    /// Creates the layer around a provider; hits are charged to this ledger.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, cache: Arc<Cache>, ledger: Arc<Ledger>) -> Self {
        Self { inner, cache, ledger, temperature: None }
    }

    /// The layer around a provider that sends this temperature where a request has neither a
    /// temperature nor `top_p`. A request with just that temperature then has the same key.
    #[must_use]
    pub fn with_temperature(self, temperature: f32) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// The call's key. `None` for a call whose reply is not to be cached, and for a model that is
    /// not configured any more, which the provider refuses.
    fn key(&self, call: &ModelCall) -> Option<Key> {
        let request = &call.request;
        if request.model.as_ref().is_some_and(|name| !self.inner.models().contains(name)) {
            return None;
        }
        let identity = self.inner.identity(call)?;
        let asked = serde_json::to_vec(&CacheKey::from_request(request, self.temperature)).ok()?;
        Some(Key::new(Kind::Llm, &identity, &asked))
    }

    /// Charges a call that the cache answered for what it used when it was sent. Where the tokens
    /// of all searches together do not hold that, it waits until calls in flight end, since they
    /// reserve more than they use.
    async fn charge(&self, call: &ModelCall, stored: StoredOutcome) -> ModelOutcome {
        let StoredOutcome { result, usage, sent } = stored;
        if !sent && let Err(error) = result {
            return ModelOutcome::unsent(error);
        }
        // A call that failed without a report is charged what it would have reserved.
        let used = usage.clone().unwrap_or_else(|| reservation(&self.inner.estimate(call)));
        loop {
            // Counted before the try, so that no end goes unnoticed.
            let ended = self.ledger.total().map(|total| total.count_ended());
            match (self.try_charge(&call.request.purpose, &used), self.ledger.total().zip(ended)) {
                (Some(Ok(())), _) => return ModelOutcome::sent(result, usage),
                (None, Some((total, ended))) => total.wait_for_end(ended).await,
                _ => return ModelOutcome::unsent(LlmError::Budget),
            }
        }
    }

    /// Charges a hit; `None` when it has to wait for calls in flight.
    fn try_charge(&self, purpose: &Purpose, used: &Usage) -> Option<Result<(), Exhausted>> {
        let _guard = self.ledger.lock_reservations();
        let tokens = u64::from(used.input_tokens) + u64::from(used.output_tokens);
        let must_wait = self.ledger.total().is_some_and(|total| {
            let charged = total.spending().tokens_charged.saturating_add(tokens);
            total.in_flight() > 0 && charged > total.budgets().tokens
        });
        (!must_wait).then(|| self.ledger.charge_hit(purpose, used))
    }
}

fn reservation(estimate: &Estimate) -> Usage {
    Usage {
        input_tokens: u32::try_from(estimate.input_tokens).unwrap_or(u32::MAX),
        output_tokens: u32::try_from(estimate.output_tokens).unwrap_or(u32::MAX),
        ..Usage::default()
    }
}

/// Shares an outcome with the calls that wait for it and caches it, as far as it is fit for that.
/// Otherwise the next of them makes the call.
async fn store(lead: Lead<'_>, outcome: &ModelOutcome) {
    let is_good = outcome.result.as_ref().is_ok_and(|reply| !reply.truncated);
    if !is_good && !outcome.result.as_ref().is_err_and(is_shared) {
        return;
    }
    let mut result = outcome.result.clone();
    if let Ok(reply) = &mut result {
        // They are about the call that was sent.
        reply.usage.repeats.clear();
    }
    let stored = StoredOutcome { result, usage: outcome.usage.clone(), sent: outcome.sent };
    let Ok(bytes) = serde_json::to_vec(&stored) else { return };
    if is_good { lead.store(bytes.into()).await } else { lead.share(bytes.into()) }
}

/// Returns whether the same call of another search would have failed with the same error.
fn is_shared(error: &LlmError) -> bool {
    use LlmError::{Declined, Malformed, Overflow, Refused, Unavailable, Unsupported};
    matches!(
        error,
        Refused(_) | Malformed(_) | Overflow(_) | Unsupported(_) | Unavailable(_) | Declined { .. }
    )
}

#[async_trait]
impl ModelLayer for CachedModel {
    fn layer(&self) -> &'static str {
        "cache"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        let Some(key) = self.key(call) else { return self.inner.complete(call).await };
        match look_up(&self.cache, key, async |bytes| serde_json::from_slice(&bytes).ok()).await {
            Lookup::Hit(stored) => self.charge(call, stored).await,
            Lookup::Miss(lead) => {
                let outcome = self.inner.complete(call).await;
                if let Some(lead) = lead {
                    store(lead, &outcome).await;
                }
                outcome
            }
        }
    }
}

#[cfg(test)]
mod tests;
