//! Chat completions as OpenAI documents them and Ollama, vLLM, llama.cpp and LM Studio implement
//! them.
//!
//! The host owns the endpoint and the key; from a guest come only the texts and a few clamped
//! numbers. A parameter that an endpoint refuses by name is left out of all later requests to that
//! model.
//!
//! Tests use servers in this repository that implement the documented protocol; none uses a
//! vendor's endpoint.

mod embeddings;
mod wire;

pub use embeddings::{Embeddings, EmbeddingsProvider};

use serde_json::Value;
use syrch_core::ports::Request;

use crate::http::{Answer, EndpointConfig, HttpProvider, Protocol, Settings};

/// The configuration of an OpenAI-compatible endpoint.
pub type OpenAiConfig = EndpointConfig;

/// The provider of one OpenAI-compatible endpoint.
pub type OpenAiProvider = HttpProvider<OpenAi>;

/// The protocol of chat completions.
#[derive(Debug, Clone, Copy)]
pub struct OpenAi;

impl Protocol for OpenAi {
    const NAME: &'static str = "openai";
    const REPLY: &'static str = "a chat completion";
    const OPTIONAL: &'static [&'static str] =
        &["temperature", "top_p", "seed", "stop", "logprobs", "stream_options"];
    const ENFORCES: bool = true;

    /// The base URL ends with `/v1`; the full address is accepted, too.
    fn address(base: &str) -> (String, String) {
        let base = base.trim_end_matches("/chat/completions").trim_end_matches('/');
        (format!("{base}/chat/completions"), base.to_owned())
    }

    fn key(key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn body(request: &Request, settings: &Settings<'_>) -> Value {
        wire::body(request, settings)
    }

    fn answer(body: &Value, model: &str) -> Option<Answer> {
        wire::answer(body, model)
    }

    fn join_events(events: &[Value], is_ended: bool) -> Option<Value> {
        wire::join_events(events, is_ended)
    }
}
