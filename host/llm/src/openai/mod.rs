//! Chat completions as OpenAI documents them and Ollama, vLLM, llama.cpp and LM Studio speak them.
//!
//! The host owns the endpoint and the key; a guest's request gives the text and a few clamped numbers. An endpoint that refuses a
//! parameter by name is asked again without it, and that is remembered for the endpoint and the model.

mod client;
mod config;
mod habits;
mod wire;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Preview, Reply, Request, Shape, Usage,
};

use self::client::{Endpoint, Failure};
pub use self::config::{OpenAiConfig, OpenAiError};
use self::habits::Habits;
use self::wire::{Answer, Settings};
use crate::shape;

/// Ways of asking tried for one call, each after a refusal by name.
const MAX_WAYS: usize = 8;
/// Bytes of a prompt to one token, at least; most tokenizers take more for English and SQL.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens that a chat template adds to each message, and once.
const TEMPLATE_TOKENS: u64 = 8;

/// The provider of one OpenAI-compatible endpoint.
pub struct OpenAiProvider {
    config: OpenAiConfig,
    endpoint: Endpoint,
    habits: Mutex<HashMap<String, Habits>>,
}

impl fmt::Debug for OpenAiProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiProvider").field("config", &self.config).finish_non_exhaustive()
    }
}

impl OpenAiProvider {
    /// A provider for the endpoint; nothing is sent before the first call.
    ///
    /// # Errors
    /// When the configuration cannot work whatever the endpoint says.
    pub fn new(config: OpenAiConfig) -> Result<Self, OpenAiError> {
        if config.model.trim().is_empty() {
            return Err(OpenAiError::Model);
        }
        if config.max_tokens == 0 {
            return Err(OpenAiError::Zero("max tokens"));
        }
        if config.timeout.is_zero() {
            return Err(OpenAiError::Zero("the timeout"));
        }
        let endpoint = Endpoint::new(&config)?;
        Ok(Self { config, endpoint, habits: Mutex::default() })
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
        shape::accept(&request.expect, &self.config.limits)?;
        Ok(model)
    }

    /// Asks until the endpoint takes the way of asking.
    async fn ask(&self, request: &Request, model: &str) -> Result<Answer, Failure> {
        let mut habits = self.known(model);
        for _ in 0..MAX_WAYS {
            let settings = Settings {
                model,
                temperature: self.config.temperature,
                max_tokens: self.config.max_tokens,
                habits: &habits,
            };
            let body = wire::body(request, &settings);
            match self.endpoint.post(&body).await {
                Ok(reply) => return self.understand(&reply, model),
                Err(Failure::Status { status, text }) => {
                    let Some(next) = habits.after(status.as_u16(), &text, &body) else {
                        return Err(Failure::Sent(self.endpoint.refused(status, &text, model)));
                    };
                    tracing::warn!(model, base = self.endpoint.base(), %status, said = %text, "asking in a plainer way");
                    if !habits::is_about_one_schema(&text) {
                        self.learn(model, &next);
                    }
                    habits = next;
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(self.endpoint.broken("it refuses every way of asking"))
    }

    /// Reads a reply that came with a good status.
    fn understand(&self, reply: &serde_json::Value, model: &str) -> Result<Answer, Failure> {
        if let Some(answer) = wire::answer(reply, model) {
            return Ok(answer);
        }
        let text = self.endpoint.quote(&wire::error_text(reply.to_string().as_bytes()));
        Err(self.endpoint.broken(&format!("it says `{text}`")))
    }

    fn known(&self, model: &str) -> Habits {
        self.habits.lock().unwrap_or_else(PoisonError::into_inner).get(model).cloned().unwrap_or_default()
    }

    fn learn(&self, model: &str, habits: &Habits) {
        self.habits.lock().unwrap_or_else(PoisonError::into_inner).entry(model.to_owned()).or_default().merge(habits);
    }

    /// The answer, checked against the expected shape.
    fn reply(&self, request: &Request, model: &str, answer: Answer) -> Result<Reply, LlmError> {
        let text = self.endpoint.scrub(&answer.text);
        if let Some(refusal) = &answer.refusal {
            return Err(LlmError::Refused(self.endpoint.quote(refusal)));
        }
        if answer.finish == "content_filter" {
            return Err(LlmError::Refused("the endpoint's content filter stopped the reply".into()));
        }
        let truncated = answer.finish == "length";
        if text.trim().is_empty() {
            return Err(LlmError::Malformed(match (answer.called_tools, truncated) {
                (true, _) => "(no text: the model called a tool, and none was offered)".into(),
                (_, true) => "(no text: the model reached its length limit before it answered)".into(),
                _ => "(empty)".into(),
            }));
        }
        let parsed = shape::parse(&text, &request.expect, &self.config.limits)?;
        let unreported = Usage { model: model.to_owned(), ..Usage::default() };
        Ok(Reply { text, parsed, truncated, logprob: answer.logprob, usage: answer.usage.unwrap_or(unreported) })
    }
}

#[async_trait]
impl ModelProvider for OpenAiProvider {
    fn name(&self) -> &str {
        "openai"
    }

    fn models(&self) -> Vec<String> {
        self.config.names()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        let model = call.request.model.as_deref().unwrap_or(&self.config.model);
        Some(format!("openai {} {model}", self.endpoint.base()))
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        let model = self.admit(&call.request).ok()?;
        let habits = self.known(model);
        let settings = Settings {
            model,
            temperature: self.config.temperature,
            max_tokens: self.config.max_tokens,
            habits: &habits,
        };
        Some(self.endpoint.preview(wire::body(&call.request, &settings)))
    }

    /// A token for every three bytes of the prompt, what chat templates add, and all output tokens that the call may use.
    fn estimate(&self, call: &ModelCall) -> Estimate {
        let request = &call.request;
        let template = TEMPLATE_TOKENS * (request.messages.len() as u64 + 1);
        let prompt = (prompt_bytes(request) as u64).div_ceil(BYTES_PER_TOKEN);
        let output_tokens = u64::from(wire::output_tokens(request, self.config.max_tokens));
        Estimate { input_tokens: prompt + template, output_tokens, cost_micros: None }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let model = match self.admit(&call.request) {
            Ok(model) => model,
            Err(error) => return ModelOutcome::unsent(error),
        };
        match self.ask(&call.request, model).await {
            Ok(answer) => {
                let usage = answer.usage.clone();
                ModelOutcome::sent(self.reply(&call.request, model, answer), usage)
            }
            Err(Failure::Unsent(error)) => ModelOutcome::unsent(error),
            Err(Failure::Sent(error)) => ModelOutcome::sent(Err(error), None),
            Err(Failure::Status { status, text }) => {
                let error = self.endpoint.refused(status, &text, model);
                ModelOutcome::sent(Err(error), None)
            }
        }
    }
}

/// Bytes that a request brings into the prompt: its messages, and the schema, which some endpoints get in words.
fn prompt_bytes(request: &Request) -> usize {
    let schema = if let Shape::Json(schema) = &request.expect { schema.len() } else { 0 };
    request.messages.iter().map(|message| message.text.len()).sum::<usize>() + schema
}
