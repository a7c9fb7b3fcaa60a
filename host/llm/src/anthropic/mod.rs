//! The Messages API as Anthropic documents it.
//!
//! The differences from chat completions: the system prompt is a field of its own, user and
//! assistant alternate and the user begins, an output limit is required, temperatures end at 1, and
//! there is neither a seed nor log probabilities, so these are left out. A document of a schema is
//! requested by the prompt.
//!
//! Tests use servers in this repository that implement the documented protocol; none uses a
//! vendor's endpoint.

mod wire;

use serde_json::Value;
use syrch_core::ports::Request;

use crate::http::{Answer, HttpProvider, Protocol, Settings};

/// The documented address of the API.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";

/// The provider of one endpoint with the Messages API.
pub type AnthropicProvider = HttpProvider<Anthropic>;

/// The protocol of the Messages API.
#[derive(Debug, Clone, Copy)]
pub struct Anthropic;

impl Protocol for Anthropic {
    const NAME: &'static str = "anthropic";
    const REPLY: &'static str = "a message of the Messages API";
    /// Some models accept `temperature` or `top_p`, but not both, and name both when they refuse.
    const OPTIONAL: &'static [&'static str] = &["top_p", "temperature", "stop_sequences"];

    /// The base URL may end with `/v1` or before it; the full address is accepted, too.
    fn address(base: &str) -> (String, String) {
        let base = base
            .trim_end_matches("/messages")
            .trim_end_matches('/')
            .trim_end_matches("/v1")
            .trim_end_matches('/');
        (format!("{base}/v1/messages"), base.to_owned())
    }

    fn list(base: &str) -> String {
        format!("{}/v1/models", Self::address(base).1)
    }

    fn key(key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers() -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(request: &Request, settings: &Settings<'_>) -> Value {
        wire::body(request, settings)
    }

    fn answer(body: &Value, model: &str) -> Option<Answer> {
        wire::answer(body, model)
    }

    fn join_events(events: &[Value], _: bool) -> Option<Value> {
        wire::join_events(events)
    }
}
