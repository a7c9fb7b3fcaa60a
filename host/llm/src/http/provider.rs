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

use super::endpoint::{Endpoint, Failure};
use super::habits::Learnt;
use super::values::{self, prompt_bytes};
use super::{Answer, EndpointConfig, EndpointError, Habits, Protocol, Settings, Stopped};
use crate::shape;

/// Bytes of a prompt to one token, at least; most tokenizers take more for English and SQL.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens that a chat template adds to each message, and once.
const TEMPLATE_TOKENS: u64 = 8;

/// The provider of one endpoint. Each call makes one request: one that the endpoint refuses for its form is remembered and comes back
/// with no delay ([`Retry::After`] zero), to be made again in a plainer way.
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
    /// When the configuration cannot work whatever the endpoint says.
    pub fn new(config: EndpointConfig) -> Result<Self, EndpointError> {
        config.check()?;
        let endpoint = Endpoint::new::<P>(&config)?;
        Ok(Self { config, endpoint, learnt: Mutex::default(), protocol: PhantomData })
    }

    /// The model that a request goes to, or why it does not go.
    fn admit<'a>(&'a self, request: &'a Request) -> Result<&'a str, LlmError> {
        let model = request.model.as_deref().unwrap_or(&self.config.model);
        if !self.config.names().iter().any(|name| name == model) {
            return Err(LlmError::Denied(format!("the model `{model}` is not configured")));
        }
        if request.messages.is_empty() {
            return Err(LlmError::Other("the request has no message".into()));
        }
        if prompt_bytes(request) > self.config.limits.prompt_bytes {
            return Err(LlmError::TooLarge);
        }
        P::accept(&request.expect, &self.config.limits)?;
        Ok(model)
    }

    /// The body of a request to that model, as the endpoint wants it.
    fn body(&self, request: &Request, model: &str, habits: &Habits) -> Value {
        let settings =
            Settings { model, temperature: self.config.temperature, max_tokens: self.config.max_tokens, habits };
        P::body(request, &settings)
    }

    fn known(&self, request: &Request, model: &str) -> Habits {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner).of(model, &request.expect)
    }

    /// What an error status comes to. The call used nothing; when a plainer way is left, it may be asked again at once.
    fn turned_away(&self, asked: &Asked<'_>, status: reqwest::StatusCode, text: &str, retry: Retry) -> ModelOutcome {
        let model = asked.model;
        let plainer = asked.habits.after(status.as_u16(), text, &asked.body, P::OPTIONAL);
        let retry = plainer.map_or(retry, |habits| {
            tracing::warn!(model, base = self.endpoint.base(), %status, said = %text, "asking in a plainer way");
            let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
            learnt.learn(model, &asked.request.expect, text, &habits);
            Retry::After(Duration::ZERO)
        });
        let nothing = Usage { cost_micros: Some(0), model: model.to_owned(), ..Usage::default() };
        ModelOutcome::sent(Err(self.endpoint.refused(status, text, model)), Some(nothing)).retry(retry)
    }

    /// Reads a reply that came with a good status.
    fn understand(&self, request: &Request, model: &str, reply: &Value) -> ModelOutcome {
        let Some(mut answer) = P::answer(reply, model) else {
            let text = self.endpoint.quote(&values::error_text(reply.to_string().as_bytes()));
            return ModelOutcome::sent(Err(self.endpoint.broken(&format!("it says `{text}`"))), None);
        };
        if let Some(usage) = &mut answer.usage {
            // What an endpoint calls its model is kept and shown; it must not be the key.
            usage.model = self.endpoint.scrub(&usage.model);
        }
        let usage = answer.usage.clone();
        ModelOutcome::sent(self.reply(request, model, answer), usage)
    }

    /// The answer, checked against the expected shape.
    fn reply(&self, request: &Request, model: &str, answer: Answer) -> Result<Reply, LlmError> {
        // Vectors are numbers, in which a short key may seem to stand.
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
struct Asked<'a> {
    request: &'a Request,
    model: &'a str,
    habits: Habits,
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
        // What a request leaves open comes from the configuration, and is sent.
        let (temperature, most) = (self.config.temperature, self.config.max_tokens);
        Some(format!("{} {} {model} {temperature:?} {most}", P::NAME, self.endpoint.base()))
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        let model = self.admit(&call.request).ok()?;
        let habits = self.known(&call.request, model);
        Some(self.endpoint.preview(self.body(&call.request, model, &habits)))
    }

    /// A token for every three bytes of the prompt, what chat templates add, and all output tokens that the call may use.
    fn estimate(&self, call: &ModelCall) -> Estimate {
        let request = &call.request;
        let template = TEMPLATE_TOKENS * (request.messages.len() as u64 + 1);
        let prompt = (prompt_bytes(request) as u64).div_ceil(BYTES_PER_TOKEN);
        let output_tokens = u64::from(values::output_tokens(request, self.config.max_tokens));
        Estimate { input_tokens: prompt + template, output_tokens, cost_micros: None }
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
        let habits = self.known(request, model);
        let asked = Asked { body: self.body(request, model, &habits), request, model, habits };
        match self.endpoint.post(&asked.body).await {
            Ok(reply) => self.understand(request, model, &reply),
            Err(Failure::Unsent(error, retry)) => ModelOutcome::unsent(error).retry(retry),
            Err(Failure::Sent(error, retry)) => ModelOutcome::sent(Err(error), None).retry(retry),
            Err(Failure::Status { status, text, retry }) => self.turned_away(&asked, status, &text, retry),
        }
    }
}
