//! The trait of a protocol.

use serde_json::Value;
use syrch_core::ports::{LlmError, Request, Shape, Usage};
use syrch_core::{Json, Limits};
use syrch_replies::shape;

use super::Quirks;

/// A protocol over HTTP and JSON for calling models.
pub trait Protocol: Send + Sync + 'static {
    /// The name of the provider in reports.
    const NAME: &'static str;
    /// The name of a good reply, which completes the message `… does not answer with`.
    const REPLY: &'static str;
    /// Optional parameters, which are left out when an endpoint refuses them by name; if it names
    /// several, the first of them.
    const OPTIONAL: &'static [&'static str];

    /// True if an endpoint can be told the format of a reply, rather than its model in the prompt.
    const ENFORCES: bool = false;

    /// The address of requests, and the base URL as it is shown, from the configured base URL
    /// without slashes at its end.
    fn address(base: &str) -> (String, String);
    /// The header that holds the key, and its value.
    fn key(key: &str) -> (&'static str, String);
    /// Further headers of each request.
    fn headers() -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// The address of the list of models, from the same base URL.
    fn list(base: &str) -> String {
        format!("{}/models", Self::address(base).1)
    }
    /// Checks that replies of this shape can be checked.
    ///
    /// # Errors
    /// [`LlmError::Unsupported`] if they cannot.
    fn accept(expect: &Shape, limits: &Limits) -> Result<(), LlmError> {
        shape::accept(expect, limits)
    }
    /// The value of the expected shape in a reply's text; `None` if the shape has no value.
    ///
    /// # Errors
    /// [`LlmError::Malformed`] if there is no such value, [`LlmError::TooLarge`] over the limits.
    fn parse(text: &str, expect: &Shape, limits: &Limits) -> Result<Option<Json>, LlmError> {
        shape::parse(text, expect, limits)
    }
    /// Does the same for a text that was cut off at its limit of `tokens`.
    ///
    /// # Errors
    /// [`LlmError::Cut`] if there is no value that is whole, [`LlmError::TooLarge`] over the
    /// limits.
    fn parse_cut(
        text: &str,
        expect: &Shape,
        limits: &Limits,
        tokens: u32,
    ) -> Result<Option<Json>, LlmError> {
        shape::parse_cut(text, expect, limits, tokens)
    }
    /// The body of a request. Only its texts and clamped numbers come from the guest.
    fn body(request: &Request, settings: &Settings<'_>) -> Value;
    /// Reads the body of a successful reply; `None` if it is not of this protocol. `model` is the
    /// name of the model if the reply has none.
    fn answer(body: &Value, model: &str) -> Option<Answer>;
    /// The body that the events of a stream add up to; `None` if they are not of this protocol, or
    /// the stream has no end.
    fn join_events(events: &[Value], is_ended: bool) -> Option<Value> {
        let _ = (events, is_ended);
        None
    }
}

/// A request for the list of an endpoint's models. Not `Debug`: it holds the key.
pub struct ListRequest {
    /// Its address, which is not a URL if the base is not.
    pub url: String,
    /// Its headers, with the key.
    pub headers: Vec<(&'static str, String)>,
}

/// The request for the list of models of an endpoint with this base URL and key.
#[must_use]
pub fn list_of_models<P: Protocol>(base: &str, key: Option<&str>) -> ListRequest {
    let fixed = P::headers().iter().map(|(name, value)| (*name, (*value).to_owned()));
    ListRequest {
        url: P::list(base.trim().trim_end_matches('/')),
        headers: key.map(|key| P::key(key.trim())).into_iter().chain(fixed).collect(),
    }
}

/// The settings that the body of a request depends on besides the request.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The model's name at the endpoint.
    pub model: &'a str,
    /// The temperature of requests that set none.
    pub temperature: Option<f32>,
    /// Output tokens of this request at most.
    pub max_tokens: u32,
    /// The features that the endpoint has refused so far.
    pub quirks: &'a Quirks,
}

/// The content of a reply's body.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The text; empty if there is none.
    pub text: String,
    /// The model's thinking, if it is apart from the text.
    pub thinking: String,
    /// True if tokens of the reply were spent on thinking.
    pub thought: bool,
    /// The reason why the text ends.
    pub stopped: Stopped,
    /// The arguments of the tools that it called, though none were offered.
    pub tool_calls: Vec<String>,
    /// The sum of the tokens' log probabilities.
    pub logprob: Option<f64>,
    /// The reported tokens, unless the report cannot be true.
    pub usage: Option<Usage>,
}

/// The reason why a reply ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stopped {
    /// The reply is complete.
    #[default]
    Complete,
    /// The reply was cut off at a limit of length.
    Length,
    /// The reply was cut off at the end of the model's context, which no limit of output moves.
    Context,
    /// The reply broke off, for this reason of the endpoint: at most a statement in it that is
    /// whole counts, with a doubt.
    Broken(String),
    /// The model refused to answer, for this reason.
    Refused(String),
}
