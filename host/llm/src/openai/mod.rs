//! Chat completions as OpenAI documents them and Ollama, vLLM, llama.cpp and LM Studio speak them.
//!
//! The host owns the endpoint and the key; a guest's request gives the text and a few clamped numbers. An endpoint that refuses a
//! parameter by name is asked without it from then on, for the model that it was refused for.
//!
//! The client is tested against servers of our own that are written to the documented protocol; no test speaks to a vendor's endpoint.

mod embeddings;
mod wire;

pub use embeddings::{Embeddings, EmbeddingsProvider};

use serde_json::Value;
use syrch_core::ports::Request;

use crate::http::{Answer, EndpointConfig, HttpProvider, Protocol, Settings};

/// The configuration of such an endpoint.
pub type OpenAiConfig = EndpointConfig;

/// The provider of one OpenAI-compatible endpoint.
pub type OpenAiProvider = HttpProvider<OpenAi>;

/// The protocol.
#[derive(Debug, Clone, Copy)]
pub struct OpenAi;

impl Protocol for OpenAi {
    const NAME: &'static str = "openai";
    const REPLY: &'static str = "a chat completion";
    const OPTIONAL: &'static [&'static str] = &["temperature", "top_p", "seed", "stop", "logprobs"];

    /// The base is all up to and including `/v1`; the full address will do, too.
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
}
