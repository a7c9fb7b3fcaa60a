//! The provider: recorded outcomes by request.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Request, Usage,
};
use syrch_replies::size::{output_tokens, prompt_tokens};

use super::nearest::nearest;
use super::request::{key, key_of_any_length};

/// A recorded call with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The request as it was sent.
    pub request: Request,
    /// The outcome with its usage, also if it is an error.
    pub outcome: ModelOutcome,
}

/// The settings of a [`ReplayProvider`].
#[derive(Debug, Clone)]
pub struct ReplayConfig {
    /// The names of the models in the requests, the default first.
    pub models: Vec<String>,
    /// Output tokens of one call at most, as they were configured for the recording.
    pub max_tokens: u32,
    /// The function that writes a request for a recording without prompts: with digests in place of
    /// texts.
    pub digested: fn(&Request) -> Request,
}

/// A provider whose outcomes were recorded. A call gets the outcome of an equal recorded call, in
/// any order; if there were several, it gets them in turn, and then the last one again. It uses as
/// many tokens as the recorded call, so that budgets have the same effect, and costs nothing. A
/// call without a recording fails with [`LlmError::Missed`].
pub struct ReplayProvider {
    config: ReplayConfig,
    exchanges: Vec<Exchange>,
    equal: HashMap<String, Equal>,
    used: HashMap<String, Estimate>,
}

/// The places of exchanges with equal requests, in their order.
#[derive(Debug, Default)]
struct Equal {
    places: Vec<usize>,
    next: AtomicUsize,
}

impl Equal {
    fn next_place(&self) -> Option<usize> {
        let last = self.places.len().saturating_sub(1);
        let turn = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |turn| Some((turn + 1).min(last)));
        turn.ok().and_then(|turn| self.places.get(turn).copied())
    }
}

impl fmt::Debug for ReplayProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayProvider")
            .field("models", &self.config.models)
            .field("exchanges", &self.exchanges.len())
            .finish_non_exhaustive()
    }
}

impl ReplayProvider {
    /// A provider that replays these exchanges.
    #[must_use]
    pub fn new(mut exchanges: Vec<Exchange>, config: ReplayConfig) -> Self {
        let mut equal: HashMap<String, Equal> = HashMap::new();
        let mut used: HashMap<String, Estimate> = HashMap::new();
        let default = config.models.first();
        for (place, Exchange { request, outcome }) in exchanges.iter_mut().enumerate() {
            remove_cost(outcome);
            equal.entry(key(request, default)).or_default().places.push(place);
            let most = used.entry(key_of_any_length(request, default)).or_default();
            *most = larger_estimate(*most, find_usage(request, outcome));
        }
        Self { config, exchanges, equal, used }
    }

    /// The entry of a table for a request, either as it is or as a recording without prompts writes
    /// it.
    fn find_entry<'a, T>(
        &self,
        table: &'a HashMap<String, T>,
        request: &Request,
        key: fn(&Request, Option<&String>) -> String,
    ) -> Option<&'a T> {
        let default = self.config.models.first();
        table
            .get(&key(request, default))
            .or_else(|| table.get(&key(&(self.config.digested)(request), default)))
    }

    /// The error of a request without a recorded outcome, with the nearest one that has one.
    fn miss_error(&self, request: &Request) -> LlmError {
        let purpose = request.purpose.name();
        let all = self.exchanges.len();
        let recorded = || self.exchanges.iter().map(|exchange| &exchange.request);
        let plain = nearest(request, recorded());
        let digested = nearest(&(self.config.digested)(request), recorded());
        let nearer = match (plain, digested) {
            (Some(plain), Some(digested)) if digested.alike > plain.alike => Some(digested),
            (plain, _) => plain,
        };
        LlmError::Missed(match nearer {
            None => format!("the recording has no answer to this `{purpose}` call: it is empty"),
            Some(nearest) => format!(
                "the recording has no answer to this `{purpose}` call; the nearest is call {} of \
                 {all}, {:.0} % alike: {}",
                nearest.place + 1,
                // Requests that differ are never shown as 100 % alike.
                if nearest.alike < 1.0 { (nearest.alike * 100.0).min(99.0).floor() } else { 100.0 },
                nearest.difference
            ),
        })
    }
}

/// Sets the cost to 0: it was paid when the call was recorded.
fn remove_cost(outcome: &mut ModelOutcome) {
    let reported = outcome.result.as_mut().ok().map(|reply| &mut reply.usage);
    for usage in reported.into_iter().chain(&mut outcome.usage) {
        usage.cost_micros = Some(0);
    }
}

/// The tokens of a recorded call as they were reported; else those of its prompt by its size.
fn find_usage(request: &Request, outcome: &ModelOutcome) -> Estimate {
    let reported =
        outcome.usage.as_ref().or(outcome.result.as_ref().ok().map(|reply| &reply.usage));
    let (input_tokens, output_tokens) = reported.map_or_else(
        || (prompt_tokens(request), 0),
        |usage: &Usage| (u64::from(usage.input_tokens), u64::from(usage.output_tokens)),
    );
    Estimate { input_tokens, output_tokens, cost_micros: Some(0) }
}

fn larger_estimate(one: Estimate, other: Estimate) -> Estimate {
    if other.tokens() > one.tokens() || one.cost_micros.is_none() { other } else { one }
}

#[async_trait]
impl ModelProvider for ReplayProvider {
    fn name(&self) -> &str {
        "replay"
    }

    fn models(&self) -> Vec<String> {
        self.config.models.clone()
    }

    /// Returns what the recorded call used, whatever output limit this call has: a recorded answer
    /// cannot be shortened. For a call without a recording, the estimate for an endpoint.
    fn estimate(&self, call: &ModelCall) -> Estimate {
        let request = &call.request;
        let known = self.find_entry(&self.used, request, key_of_any_length).copied();
        known.unwrap_or_else(|| Estimate {
            input_tokens: prompt_tokens(request),
            output_tokens: u64::from(output_tokens(request, self.config.max_tokens)),
            cost_micros: Some(0),
        })
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let found = self.find_entry(&self.equal, &call.request, key).and_then(Equal::next_place);
        match found.and_then(|place| self.exchanges.get(place)) {
            Some(exchange) => exchange.outcome.clone(),
            None => ModelOutcome::unsent(self.miss_error(&call.request)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use syrch_core::ports::{Purpose, Reply, Retry};
    use syrch_core::{Catalog, Dialect, Problem};

    use super::super::request::fixture::request;
    use super::*;

    /// A request as a recording without prompts writes it.
    fn digest_texts(request: &Request) -> Request {
        let mut request = request.clone();
        request
            .messages
            .iter_mut()
            .for_each(|message| message.text = format!("#{}", message.text.len()));
        request
    }

    fn config() -> ReplayConfig {
        ReplayConfig {
            models: vec!["cheap".to_owned(), "strong".to_owned()],
            max_tokens: 100,
            digested: digest_texts,
        }
    }

    fn exchange(request: Request, text: &str) -> Exchange {
        let usage = Usage {
            input_tokens: 7,
            output_tokens: 2,
            cost_micros: Some(50),
            model: "m".to_owned(),
            ..Usage::default()
        };
        let reply = Reply {
            text: text.to_owned(),
            parsed: None,
            truncated: false,
            logprob: None,
            usage: usage.clone(),
        };
        Exchange { request, outcome: ModelOutcome::sent(Ok(reply), Some(usage)) }
    }

    fn call(request: Request) -> ModelCall {
        let catalog =
            Catalog { database: String::new(), dialect: Dialect::Sqlite, tables: Vec::new() };
        ModelCall {
            request,
            problem: Arc::new(Problem::new("?")),
            task: None,
            catalog: Arc::new(catalog),
        }
    }

    async fn answer(provider: &ReplayProvider, request: &Request) -> Result<String, LlmError> {
        provider.complete(&call(request.clone())).await.result.map(|reply| reply.text)
    }

    #[tokio::test]
    async fn equal_requests_get_their_answers_in_turn_and_then_the_last_again() {
        let one = request(Purpose::Generate, ["one"]);
        let two = request(Purpose::Generate, ["two"]);
        let failed = ModelOutcome::sent(Err(LlmError::Unavailable("429".to_owned())), None)
            .retry(Retry::Yes);
        let exchanges = vec![
            Exchange { request: one.clone(), outcome: failed.clone() },
            exchange(two.clone(), "for two"),
            exchange(one.clone(), "first"),
            exchange(one.clone(), "second"),
        ];
        let provider = ReplayProvider::new(exchanges, config());
        assert_eq!(answer(&provider, &two).await.as_deref(), Ok("for two"));
        assert_eq!(provider.complete(&call(one.clone())).await, failed);
        let named = Request { model: Some("cheap".to_owned()), ..one.clone() };
        let mut rest = Vec::new();
        for next in [&one, &named, &one, &one] {
            rest.push(answer(&provider, next).await.unwrap());
        }
        assert_eq!(rest, ["first", "second", "second", "second"]);
        assert_eq!(answer(&provider, &two).await.as_deref(), Ok("for two"));
    }

    #[tokio::test]
    async fn a_replayed_call_uses_what_was_used_and_costs_nothing() {
        let recorded = Request { max_tokens: Some(50), ..request(Purpose::Plan, ["plan"]) };
        let provider = ReplayProvider::new(vec![exchange(recorded.clone(), "x")], config());
        let known = Estimate { input_tokens: 7, output_tokens: 2, cost_micros: Some(0) };
        assert_eq!(provider.estimate(&call(recorded.clone())), known);
        let shorter = Request { max_tokens: Some(1), ..recorded.clone() };
        assert_eq!(provider.estimate(&call(shorter.clone())), known);
        let outcome = provider.complete(&call(recorded)).await;
        assert_eq!(outcome.usage.as_ref().unwrap().cost_micros, Some(0));
        assert_eq!(outcome.result.unwrap().usage, outcome.usage.unwrap());
        let unknown = Estimate { input_tokens: 2, output_tokens: 100, cost_micros: Some(0) };
        assert_eq!(provider.estimate(&call(request(Purpose::Plan, ["other"]))), unknown);
        assert_eq!(provider.identity(&call(shorter.clone())), None);
        assert_eq!(provider.preview(&call(shorter)), None);
    }

    #[tokio::test]
    async fn a_recording_without_prompts_answers_too() {
        let asked = request(Purpose::Generate, ["secret rows"]);
        let provider = ReplayProvider::new(vec![exchange(digest_texts(&asked), "found")], config());
        assert_eq!(answer(&provider, &asked).await.as_deref(), Ok("found"));
        assert_eq!(provider.estimate(&call(asked)).output_tokens, 2);
        let missed = answer(&provider, &request(Purpose::Generate, ["other"])).await.unwrap_err();
        assert!(
            missed
                .to_string()
                .ends_with("line 1 of its message 1 (system) is `#11`, and here `other`"),
            "{missed}"
        );
    }

    #[tokio::test]
    async fn a_miss_names_the_purpose_and_the_nearest_recording() {
        let provider = ReplayProvider::new(Vec::new(), config());
        let asked = request(Purpose::Other("survey".to_owned()), ["a b c d"]);
        let empty = "the recording has no answer to this `survey` call: it is empty";
        assert_eq!(answer(&provider, &asked).await, Err(LlmError::Missed(empty.to_owned())));
        let exchanges = ["x", "a b c e"].map(|text| exchange(request(Purpose::Plan, [text]), ""));
        let provider = ReplayProvider::new(exchanges.to_vec(), config());
        let expected = "the recording has no answer to this `survey` call; the nearest is call 2 \
                        of 2, 75 % alike: line 1 of its message 1 (system) is `a b c e`, and \
                        here `a b c d`";
        assert_eq!(answer(&provider, &asked).await, Err(LlmError::Missed(expected.to_owned())));
        assert!(!provider.complete(&call(asked)).await.sent);
    }
}
