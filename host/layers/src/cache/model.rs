//! Model calls behind the cache. Above the ledger's reservations: what is found here takes no slot, reserves nothing and costs no money.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use syrch_cache::{Cache, Found, Key, Kind, Lead};
use syrch_core::Ledger;
use syrch_core::ports::{
    Estimate, LlmError, Message, ModelCall, ModelLayer, ModelOutcome, ModelProvider, Reply, Request, Shape, Usage,
};

use super::VERSION;

/// A provider whose replies are kept. A call that finds its reply is charged as if it had been sent, money aside, and comes to the
/// outcome that it had then, so that a guest cannot tell.
///
/// Kept are whole replies of the expected shape: no error and none that was cut off. An equal call under way is waited for, and its
/// outcome is this one's too, unless it depends on who asked (a spent budget, a limit, a reply cut off).
pub struct CachedModel {
    inner: Arc<dyn ModelProvider>,
    cache: Arc<Cache>,
    ledger: Arc<Ledger>,
    temperature: Option<f32>,
}

/// What of a request reaches the model. Purpose and subjects do not; which model a purpose goes to is in the provider's identity.
#[derive(Serialize)]
struct Asked<'a> {
    version: &'a str,
    messages: &'a [Message],
    expect: &'a Shape,
    model: Option<&'a str>,
    /// Bits, since JSON has no word for every number.
    temperature: Option<u32>,
    top_p: Option<u32>,
    max_tokens: Option<u32>,
    stop: &'a [String],
    logprobs: bool,
    sample: u32,
}

impl<'a> Asked<'a> {
    fn of(request: &'a Request, default: Option<f32>) -> Self {
        let sent = default.filter(|_| request.top_p.is_none());
        Self {
            version: VERSION,
            messages: &request.messages,
            expect: &request.expect,
            model: request.model.as_deref(),
            temperature: request.temperature.or(sent).map(f32::to_bits),
            top_p: request.top_p.map(f32::to_bits),
            max_tokens: request.max_tokens,
            stop: &request.stop,
            logprobs: request.logprobs,
            sample: request.sample,
        }
    }
}

/// An outcome as it is kept and shared.
#[derive(Serialize, Deserialize)]
struct Landed {
    result: Result<Reply, LlmError>,
    usage: Option<Usage>,
    sent: bool,
}

impl CachedModel {
    /// A provider that looks here first and charges hits to this ledger.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, cache: Arc<Cache>, ledger: Arc<Ledger>) -> Self {
        Self { inner, cache, ledger, temperature: None }
    }

    /// The same for a provider that sends this temperature where a request has none and no `top_p` either: a request that asks for just that is
    /// the same call.
    #[must_use]
    pub fn sending(self, temperature: f32) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// None for a call that is not to be kept, and for a model that is not configured (any more): the provider refuses it.
    fn key(&self, call: &ModelCall) -> Option<Key> {
        let request = &call.request;
        if request.model.as_ref().is_some_and(|name| !self.inner.models().contains(name)) {
            return None;
        }
        let identity = self.inner.identity(call)?;
        let asked = serde_json::to_vec(&Asked::of(request, self.temperature)).ok()?;
        Some(Key::new(Kind::Llm, &identity, &asked))
    }

    /// Charges a call that was not sent for what its answer used.
    fn charge(&self, call: &ModelCall, landed: Landed) -> ModelOutcome {
        let Landed { result, usage, sent } = landed;
        if !sent && let Err(error) = result {
            return ModelOutcome::unsent(error);
        }
        // A call that failed without a report is charged what it would have reserved.
        let used = usage.clone().unwrap_or_else(|| reserved(&self.inner.estimate(call)));
        match self.ledger.charge_hit(&call.request.purpose, &used) {
            Ok(()) => ModelOutcome::sent(result, usage),
            Err(_) => ModelOutcome::unsent(LlmError::Budget),
        }
    }
}

fn reserved(estimate: &Estimate) -> Usage {
    let tokens = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
    Usage {
        input_tokens: tokens(estimate.input_tokens),
        output_tokens: tokens(estimate.output_tokens),
        ..Usage::default()
    }
}

/// Gives an outcome to who waits for it, and keeps it, as far as it is fit for that. Otherwise the next of them makes the call.
async fn land(lead: Lead<'_>, outcome: &ModelOutcome) {
    let is_good = outcome.result.as_ref().is_ok_and(|reply| !reply.truncated);
    if !is_good && !outcome.result.as_ref().is_err_and(is_everybodys) {
        return;
    }
    let landed = Landed { result: outcome.result.clone(), usage: outcome.usage.clone(), sent: outcome.sent };
    let Ok(bytes) = serde_json::to_vec(&landed) else { return };
    if is_good { lead.keep(bytes.into()).await } else { lead.share(bytes.into()) }
}

/// Whether another search that asks the same would have got the same error.
fn is_everybodys(error: &LlmError) -> bool {
    matches!(error, LlmError::Refused(_) | LlmError::Malformed(_) | LlmError::Unsupported(_) | LlmError::Unavailable(_))
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
        match self.cache.find(key).await {
            Found::Value(bytes) => match serde_json::from_slice(&bytes) {
                Ok(landed) => self.charge(call, landed),
                Err(_) => {
                    self.cache.forget(key).await;
                    self.inner.complete(call).await
                }
            },
            Found::Lead(lead) => {
                let outcome = self.inner.complete(call).await;
                land(lead, &outcome).await;
                outcome
            }
        }
    }
}

#[cfg(test)]
mod tests;
