//! What one protocol is to the client of it.

use serde_json::Value;
use syrch_core::ports::{LlmError, Request, Shape, Usage};
use syrch_core::{Json, Limits};

use super::Habits;
use crate::shape;

/// A protocol over HTTP and JSON that models are asked by.
pub trait Protocol: Send + Sync + 'static {
    /// The provider's name in reports.
    const NAME: &'static str;
    /// What a good reply is, in words that end `… does not answer with`.
    const REPLY: &'static str;
    /// Parameters that a call can do without when an endpoint refuses them by name; of several that it names, the first goes.
    const OPTIONAL: &'static [&'static str];

    /// The address that requests go to, from the base that the user configured, without slashes at its end; and the base as people may
    /// see it.
    fn address(base: &str) -> (String, String);
    /// The header that holds the key, and its value.
    fn key(key: &str) -> (&'static str, String);
    /// Further headers of each request.
    fn headers() -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Where the models are listed, by the same base.
    fn list(base: &str) -> String {
        format!("{}/models", Self::address(base).1)
    }
    /// Whether replies to such requests can be checked at all.
    ///
    /// # Errors
    /// [`LlmError::Unsupported`] when not.
    fn accept(expect: &Shape, limits: &Limits) -> Result<(), LlmError> {
        shape::accept(expect, limits)
    }
    /// What the expected shape finds in a reply's text.
    ///
    /// # Errors
    /// [`LlmError::Malformed`] when there is no such thing, [`LlmError::TooLarge`] over the limits.
    fn parse(text: &str, expect: &Shape, limits: &Limits) -> Result<Option<Json>, LlmError> {
        shape::parse(text, expect, limits)
    }
    /// The body of one request. Nothing of it is the guest's but text and clamped numbers.
    fn body(request: &Request, settings: &Settings<'_>) -> Value;
    /// Reads a reply that came with a good status; none when it is no reply of this protocol. `model` names the model when the reply does
    /// not.
    fn answer(body: &Value, model: &str) -> Option<Answer>;
}

/// A request for the list of an endpoint's models. Not `Debug`: it holds the key.
pub struct ListRequest {
    /// Where it goes; it need not be a URL when the base is none.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(&'static str, String)>,
}

/// How an endpoint of that protocol lists its models.
#[must_use]
pub fn list_of_models<P: Protocol>(base: &str, key: Option<&str>) -> ListRequest {
    let fixed = P::headers().iter().map(|(name, value)| (*name, (*value).to_owned()));
    ListRequest {
        url: P::list(base.trim().trim_end_matches('/')),
        headers: key.map(|key| P::key(key.trim())).into_iter().chain(fixed).collect(),
    }
}

/// What a body needs besides the request.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The model's name.
    pub model: &'a str,
    /// Where the request sets none.
    pub temperature: Option<f32>,
    /// Output tokens at most.
    pub max_tokens: u32,
    /// What the endpoint takes.
    pub habits: &'a Habits,
}

/// What a reply's body says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The text, empty when there is none.
    pub text: String,
    /// Why it ends.
    pub stopped: Stopped,
    /// Whether it called tools, though none were offered.
    pub called_tools: bool,
    /// Sum over the tokens.
    pub logprob: Option<f64>,
    /// Tokens as reported, where the report can be true.
    pub usage: Option<Usage>,
}

/// Why a reply ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stopped {
    /// It is complete.
    #[default]
    Complete,
    /// At a limit of length.
    Length,
    /// The model would not answer, for this reason.
    Refused(String),
}
