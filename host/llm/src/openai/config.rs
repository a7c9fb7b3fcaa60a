//! What the user configures of an OpenAI-compatible endpoint.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;
use syrch_core::Limits;

/// One endpoint and the models behind it. It comes from the user's own configuration, never from a guest or a project's file.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// Where `/chat/completions` is found, such as `https://api.openai.com/v1` or `http://localhost:11434/v1`.
    pub base_url: String,
    /// Sent as `Authorization: Bearer` to that endpoint and nowhere else; without one (or an empty one) no such header is sent.
    pub api_key: Option<SecretString>,
    /// The model that answers when a request names none.
    pub model: String,
    /// Further models that a request may name.
    pub models: Vec<String>,
    /// For requests that set none; without one the endpoint's own default holds.
    pub temperature: Option<f32>,
    /// Output tokens of one call at most; a request may ask for fewer.
    pub max_tokens: u32,
    /// Time for one exchange, from connecting to the reply's last byte.
    pub timeout: Duration,
    /// Bytes of prompts and replies.
    pub limits: Limits,
}

impl OpenAiConfig {
    /// A keyless endpoint with the founding defaults: 4,096 output tokens, 120 s, the endpoint's own temperature.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            models: Vec::new(),
            temperature: None,
            max_tokens: 4_096,
            timeout: Duration::from_secs(120),
            limits: Limits::default(),
        }
    }

    /// The address that requests go to, and the base as people may see it.
    pub(super) fn endpoint(&self) -> Result<(Url, String), OpenAiError> {
        let bad = |reason: &str| OpenAiError::BaseUrl { reason: reason.to_owned() };
        let base =
            self.base_url.trim().trim_end_matches('/').trim_end_matches("/chat/completions").trim_end_matches('/');
        let url = Url::parse(base).map_err(|error| bad(&error.to_string()))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(bad("it must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it must not hold a user or a password; give the key apart"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it must not have a query or a fragment"));
        }
        let target = Url::parse(&format!("{base}/chat/completions")).map_err(|error| bad(&error.to_string()))?;
        Ok((target, base.to_owned()))
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

impl fmt::Debug for OpenAiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.endpoint().map_or_else(|_| "(invalid)".to_owned(), |(_, base)| base);
        f.debug_struct("OpenAiConfig")
            .field("base_url", &base)
            .field("has_key", &self.api_key.is_some())
            .field("models", &self.names())
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Why an endpoint cannot be used as configured. No variant shows the key or the address, which may hold one.
#[derive(Debug, thiserror::Error)]
pub enum OpenAiError {
    /// The base URL is none, or holds what it must not.
    #[error("the base URL is not usable: {reason}")]
    BaseUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// The key cannot stand in a header.
    #[error("the API key holds characters that no key has")]
    Key,
    /// No model is named.
    #[error("no model is configured")]
    Model,
    /// No output token is allowed, or no time.
    #[error("{0} must be greater than zero")]
    Zero(&'static str),
    /// The HTTP client cannot be made, such as without any CA certificate on the machine.
    #[error("the HTTPS client cannot be set up")]
    Client(#[source] reqwest::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_checked() {
        let endpoint = |base: &str| OpenAiConfig::new(base, "m").endpoint();
        let target = "http://localhost:1/v1/chat/completions";
        for base in ["http://localhost:1/v1", "http://localhost:1/v1/", " http://localhost:1/v1/chat/completions "] {
            assert_eq!(endpoint(base).unwrap().0.as_str(), target);
        }
        for base in ["", "localhost", "file:///etc/passwd", "https://user:secret@host/v1", "https://host/v1?key=secret"]
        {
            let error = endpoint(base).unwrap_err().to_string();
            assert!(error.starts_with("the base URL is not usable") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn nothing_shows_the_key() {
        let mut config = OpenAiConfig::new("https://user:sesame@host/v1", "m");
        config.api_key = Some("sesame".to_owned().into());
        assert!(!format!("{config:?}").contains("sesame"));
    }

    #[test]
    fn models_are_listed_once() {
        let mut config = OpenAiConfig::new("http://localhost", "a");
        config.models = vec!["b".into(), "a".into(), " ".into()];
        assert_eq!(config.names(), ["a", "b"]);
    }
}
