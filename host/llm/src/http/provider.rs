//! The provider of one endpoint, whatever its protocol.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Preview, Reply, Request, Retry, Shape, Usage,
};
use syrch_replies::shape;
use syrch_replies::size::{output_tokens, prompt_tokens};

use super::endpoint::{Endpoint, Failure};
use super::quirks::Learnt;
use super::values;
use super::{Answer, EndpointConfig, EndpointError, Protocol, Quirks, Settings, Stopped};

/// Tokens that a chat template adds to each message, and once more.
const TEMPLATE_TOKENS: u64 = 8;

/// The provider of one endpoint. Each call makes one request. If the endpoint refuses its form, the provider remembers that and returns a
/// delay of zero ([`Retry::After`]), and the next request of the call is made in a simpler form.
pub struct HttpProvider<P> {
    config: EndpointConfig,
    endpoint: Endpoint,
    learnt: Mutex<Learnt>,
    protocol: PhantomData<P>,
}

impl<P: Protocol> fmt::Debug for HttpProvider<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(P::NAME).field("config", &self.config).finish_non_exhaustive()
    }
}

impl<P: Protocol> HttpProvider<P> {
    /// A provider for the endpoint; nothing is sent before the first call.
    ///
    /// # Errors
    /// When no request can succeed with the configuration.
    pub fn new(config: EndpointConfig) -> Result<Self, EndpointError> {
        config.check()?;
        let endpoint = Endpoint::new::<P>(&config)?;
        Ok(Self { config, endpoint, learnt: Mutex::default(), protocol: PhantomData })
    }

    /// The model of a request, or why the request is not sent.
    fn admit<'a>(&'a self, request: &'a Request) -> Result<&'a str, LlmError> {
        let model = request.model.as_deref().unwrap_or(&self.config.model);
        if !self.config.names().iter().any(|name| name == model) {
            return Err(LlmError::Denied(format!("the model `{model}` is not configured")));
        }
        if request.messages.is_empty() {
            return Err(LlmError::Other("the request has no message".into()));
        }
        if request.prompt_bytes() > self.config.limits.prompt_bytes {
            return Err(LlmError::TooLarge);
        }
        P::accept(&request.expect, &self.config.limits)?;
        Ok(model)
    }

    /// The body of a request to that model, without what the endpoint has refused.
    fn body(&self, request: &Request, model: &str, quirks: &Quirks) -> Value {
        let settings =
            Settings { model, temperature: self.config.temperature, max_tokens: self.config.max_tokens, quirks };
        P::body(request, &settings)
    }

    fn known(&self, request: &Request, model: &str) -> Quirks {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner).of(model, &request.expect)
    }

    /// The outcome of an error status. The call used nothing; if there is a simpler form, it may be made again at once.
    fn refused(&self, sent: &Sent<'_>, status: reqwest::StatusCode, text: &str, retry: Retry) -> ModelOutcome {
        let model = sent.model;
        let simpler = sent.quirks.after(status.as_u16(), text, &sent.body, P::OPTIONAL);
        let retry = simpler.map_or(retry, |quirks| {
            tracing::warn!(model, base = self.endpoint.base(), %status, reason = %text, "the request is made again in a simpler form");
            let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
            learnt.learn(model, &sent.request.expect, text, &quirks);
            Retry::After(Duration::ZERO)
        });
        let nothing = Usage { cost_micros: Some(0), model: model.to_owned(), ..Usage::default() };
        ModelOutcome::sent(Err(self.endpoint.refused(status, text, model)), Some(nothing)).retry(retry)
    }

    /// Reads the body of a successful reply.
    fn read(&self, request: &Request, model: &str, reply: &Value) -> ModelOutcome {
        let Some(mut answer) = P::answer(reply, model) else {
            let text = self.endpoint.quote(&values::error_text(reply.to_string().as_bytes()));
            return ModelOutcome::sent(Err(self.endpoint.broken(&format!("it says `{text}`"))), None);
        };
        if let Some(usage) = &mut answer.usage {
            // The name of the model is stored and shown, so it must not contain the key.
            usage.model = self.endpoint.scrub(&usage.model);
        }
        let usage = answer.usage.clone();
        ModelOutcome::sent(self.reply(request, model, answer), usage)
    }

    /// The answer, checked against the expected shape.
    fn reply(&self, request: &Request, model: &str, answer: Answer) -> Result<Reply, LlmError> {
        // The digits of vectors may happen to contain a short key.
        let is_text = request.expect != Shape::Vectors;
        let text = if is_text { self.endpoint.scrub(&answer.text) } else { answer.text.clone() };
        if let Stopped::Refused(reason) = &answer.stopped {
            return Err(LlmError::Refused(self.endpoint.quote(reason)));
        }
        let truncated = answer.stopped == Stopped::Length;
        if text.trim().is_empty() {
            return Err(LlmError::Malformed(match (answer.called_tools, truncated) {
                (true, _) => "(no text: the model called a tool, and none was offered)".into(),
                (_, true) => "(no text: the model reached its length limit before it answered)".into(),
                _ => "(empty)".into(),
            }));
        }
        let parsed = P::parse(&text, &request.expect, &self.config.limits)?;
        let unreported = Usage { model: model.to_owned(), ..Usage::default() };
        Ok(Reply { text, parsed, truncated, logprob: answer.logprob, usage: answer.usage.unwrap_or(unreported) })
    }
}

/// A request as it was sent.
struct Sent<'a> {
    request: &'a Request,
    model: &'a str,
    quirks: Quirks,
    body: Value,
}

#[async_trait]
impl<P: Protocol> ModelProvider for HttpProvider<P> {
    fn name(&self) -> &str {
        P::NAME
    }

    fn models(&self) -> Vec<String> {
        self.config.names()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        let model = call.request.model.as_deref().unwrap_or(&self.config.model);
        // The configuration sets what a request leaves open.
        let (temperature, most) = (self.config.temperature, self.config.max_tokens);
        Some(format!("{} {} {model} {temperature:?} {most}", P::NAME, self.endpoint.base()))
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        let model = self.admit(&call.request).ok()?;
        let quirks = self.known(&call.request, model);
        Some(self.endpoint.preview(self.body(&call.request, model, &quirks)))
    }

    /// A token for every three bytes of the prompt, the tokens of the chat template, and all output tokens that the call may use.
    fn estimate(&self, call: &ModelCall) -> Estimate {
        let request = &call.request;
        let template = TEMPLATE_TOKENS * (request.messages.len() as u64 + 1);
        let output_tokens = u64::from(output_tokens(request, self.config.max_tokens));
        Estimate { input_tokens: prompt_tokens(request) + template, output_tokens, cost_micros: None }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let request = &call.request;
        if let Err(error) = shape::prepare(&request.expect, &self.config.limits).await {
            return ModelOutcome::unsent(error);
        }
        let model = match self.admit(request) {
            Ok(model) => model,
            Err(error) => return ModelOutcome::unsent(error),
        };
        let quirks = self.known(request, model);
        let sent = Sent { body: self.body(request, model, &quirks), request, model, quirks };
        match self.endpoint.post(&sent.body).await {
            Ok(reply) => self.read(request, model, &reply),
            Err(Failure::Unsent(error, retry)) => ModelOutcome::unsent(error).retry(retry),
            Err(Failure::Sent(error, retry)) => ModelOutcome::sent(Err(error), None).retry(retry),
            Err(Failure::Status { status, text, retry }) => self.refused(&sent, status, &text, retry),
        }
    }
}
