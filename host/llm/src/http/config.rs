//! The configuration of an endpoint.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;
use syrch_core::{Limits, StructuredReplies};

use super::Protocol;

/// The configuration of one endpoint and its models. It comes from the user's own configuration,
/// never from a guest or a project's file.
#[derive(Clone)]
pub struct EndpointConfig {
    /// The URL below which the protocol's addresses are, such as `https://api.openai.com/v1` or
    /// `http://localhost:11434/v1`.
    pub base_url: String,
    /// The key, which is sent to this endpoint only. Without a key, or with an empty one, its
    /// header is not sent.
    pub api_key: Option<SecretString>,
    /// True if the key may be sent over plain HTTP to another machine, where others can read it on
    /// its way.
    pub insecure: bool,
    /// The model of requests that name none.
    pub model: String,
    /// Further models that a request may name.
    pub models: Vec<String>,
    /// The temperature of requests that set none; without it, the endpoint's default holds.
    pub temperature: Option<f32>,
    /// Output tokens of one call at most; a request may ask for fewer.
    pub max_tokens: u32,
    /// The requests whose replies the endpoint is asked to format.
    pub structured: StructuredReplies,
    /// The time limit for one exchange, from connecting to the reply's last byte.
    pub timeout: Duration,
    /// The bounds of prompts and replies.
    pub limits: Limits,
}

impl EndpointConfig {
    /// A keyless endpoint with the defaults of syrch 0.1.2: 4,096 output tokens, 120 s, the
    /// endpoint's own temperature.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            insecure: false,
            model: model.into(),
            models: Vec::new(),
            temperature: None,
            max_tokens: 4_096,
            structured: StructuredReplies::default(),
            timeout: Duration::from_secs(120),
            limits: Limits::default(),
        }
    }

    /// Fails if no request can succeed with this configuration.
    pub(super) fn check(&self) -> Result<(), EndpointError> {
        if self.model.trim().is_empty() {
            return Err(EndpointError::Model);
        }
        if self.max_tokens == 0 {
            return Err(EndpointError::Zero("max tokens"));
        }
        if self.timeout.is_zero() {
            return Err(EndpointError::Zero("the timeout"));
        }
        Ok(())
    }

    /// The address of requests, and the base URL as it is shown.
    pub(super) fn address<P: Protocol>(&self) -> Result<(Url, String), EndpointError> {
        fn base_url_error(reason: &str) -> EndpointError {
            EndpointError::BaseUrl { reason: reason.to_owned() }
        }
        let (target, base) = P::address(self.base_url.trim().trim_end_matches('/'));
        let url = Url::parse(&base).map_err(|error| base_url_error(&error.to_string()))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(base_url_error("it must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(base_url_error(
                "it must not hold a user or a password; give the key apart",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(base_url_error("it must not have a query or a fragment"));
        }
        let target = Url::parse(&target).map_err(|error| base_url_error(&error.to_string()))?;
        Ok((target, base))
    }

    /// The models that a request may name, the default first.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = vec![self.model.clone()];
        self.models.iter().filter(|name| !name.trim().is_empty()).for_each(|name| {
            if !names.contains(name) {
                names.push(name.clone());
            }
        });
        names
    }
}

impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A malformed address may contain a key.
        let base =
            Url::parse(self.base_url.trim()).ok().and_then(|url| Some(url.host_str()?.to_owned()));
        f.debug_struct("EndpointConfig")
            .field("host", &base)
            .field("has_key", &self.api_key.is_some())
            .field("models", &self.names())
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("structured", &self.structured)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The reason why an endpoint cannot be used as configured. No variant shows the key or the
/// address, which may hold one.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The base URL is malformed, or contains a user, a query or a fragment.
    #[error("the base URL is not usable: {reason}")]
    BaseUrl {
        /// The reason why the URL cannot be used.
        reason: String,
    },
    /// The key would go to another machine without encryption.
    #[error(
        "the API key would go over plain http to `{host}`, where others could read it on its way"
    )]
    Exposed {
        /// The host name of the other machine.
        host: String,
    },
    /// The key has characters that a header cannot have.
    #[error("the API key holds characters that no key has")]
    Key,
    /// No model is named.
    #[error("no model is configured")]
    Model,
    /// No output token is allowed, or no time.
    #[error("{0} must be greater than zero")]
    Zero(&'static str),
    /// The HTTP client cannot be made, for example because the machine has no CA certificates.
    #[error("the HTTPS client cannot be set up")]
    Client(#[source] reqwest::Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anthropic::Anthropic;
    use crate::openai::OpenAi;

    fn target<P: Protocol>(base: &str) -> Result<String, String> {
        let address = EndpointConfig::new(base, "m").address::<P>();
        address.map(|(url, _)| url.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn base_urls_are_checked() {
        for base in [
            "http://localhost:1/v1",
            "http://localhost:1/v1/",
            " http://localhost:1/v1/chat/completions ",
        ] {
            assert_eq!(target::<OpenAi>(base).unwrap(), "http://localhost:1/v1/chat/completions");
        }
        for base in
            ["http://localhost:1", "http://localhost:1/v1/", " http://localhost:1/v1/messages "]
        {
            assert_eq!(target::<Anthropic>(base).unwrap(), "http://localhost:1/v1/messages");
        }
        for base in [
            "",
            "localhost",
            "file:///etc/passwd",
            "https://user:secret@host/v1",
            "https://host/v1?key=secret",
        ] {
            for error in
                [target::<OpenAi>(base).unwrap_err(), target::<Anthropic>(base).unwrap_err()]
            {
                assert!(
                    error.starts_with("the base URL is not usable") && !error.contains("secret"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn nothing_shows_the_key() {
        let mut config = EndpointConfig::new("https://user:sesame@host/v1", "m");
        config.api_key = Some("sesame".to_owned().into());
        assert!(!format!("{config:?}").contains("sesame"));
    }

    #[test]
    fn models_are_listed_once() {
        let mut config = EndpointConfig::new("http://localhost", "a");
        config.models = vec!["b".into(), "a".into(), " ".into()];
        assert_eq!(config.names(), ["a", "b"]);
    }
}
