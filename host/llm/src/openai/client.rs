//! One HTTP exchange with the endpoint, and its failures in words that say what to check.
//!
//! No redirect is followed and no proxy is used, whatever the environment says: the key goes to the configured address or nowhere.
//! Nothing is retried here.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use syrch_core::ports::{LlmError, Preview};
use syrch_core::text::clip;

use super::config::{OpenAiConfig, OpenAiError};
use super::wire;

/// Characters of an endpoint's own error text that are shown.
const ERROR_TEXT: usize = 200;
/// Bytes of an error's body that are read.
const ERROR_BODY: usize = 64 << 10;
/// Time to connect, within the time of the whole exchange.
const CONNECT: Duration = Duration::from_secs(10);

/// How an exchange failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing reached the endpoint.
    Unsent(LlmError),
    /// The endpoint may have worked on it.
    Sent(LlmError),
    /// The endpoint answered with an error; `text` is what it says.
    Status {
        /// The status code.
        status: StatusCode,
        /// Its own words, cut and without the key.
        text: String,
    },
}

/// The HTTP client of one endpoint.
pub(super) struct Endpoint {
    client: Client,
    target: Url,
    base: String,
    key: Option<SecretString>,
    timeout: Duration,
    body_bytes: usize,
}

impl Endpoint {
    /// A client for the configured endpoint; nothing is sent yet.
    pub(super) fn new(config: &OpenAiConfig) -> Result<Self, OpenAiError> {
        let (target, base) = config.endpoint()?;
        let key =
            config.api_key.as_ref().map(|key| key.expose_secret().trim().to_owned()).filter(|key| !key.is_empty());
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| OpenAiError::Key)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // Another part of the process may have chosen a provider already; either will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .default_headers(headers)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT.min(config.timeout))
            .timeout(config.timeout);
        if target.scheme() == "http" {
            // A local endpoint needs no certificates, and must work on a machine that has none.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(OpenAiError::Client)?;
        // Text may double when it is escaped, and log probabilities stand beside each token.
        let body_bytes = config.limits.reply_bytes.saturating_mul(8).saturating_add(ERROR_BODY);
        Ok(Self { client, target, base, key: key.map(Into::into), timeout: config.timeout, body_bytes })
    }

    /// The base URL as people may see it.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// What [`Endpoint::post`] would send.
    pub(super) fn preview(&self, body: Value) -> Preview {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(self.key.as_ref().map(|_| ("authorization".to_owned(), "Bearer ***".to_owned())));
        Preview { method: "POST".to_owned(), url: self.target.to_string(), headers, body }
    }

    /// Sends one request and reads the reply as JSON.
    pub(super) async fn post(&self, body: &Value) -> Result<Value, Failure> {
        let response =
            self.client.post(self.target.clone()).json(body).send().await.map_err(|error| self.failed(error))?;
        let status = response.status();
        if !status.is_success() {
            // What cannot be read of an error's body is not worth another error.
            let (bytes, _) = self.read(response, ERROR_BODY).await.unwrap_or_default();
            return Err(Failure::Status { status, text: self.quote(&wire::error_text(&bytes)) });
        }
        let (bytes, is_whole) = self.read(response, self.body_bytes).await?;
        if !is_whole {
            return Err(Failure::Sent(LlmError::TooLarge));
        }
        serde_json::from_slice(&bytes).map_err(|_| {
            let begins = self.quote(&String::from_utf8_lossy(&bytes));
            self.broken(&format!("its reply is no JSON and begins `{begins}`"))
        })
    }

    /// The failure of an endpoint that does not keep to the protocol.
    pub(super) fn broken(&self, what: &str) -> Failure {
        let base = &self.base;
        Failure::Sent(LlmError::Unavailable(format!(
            "{base} does not answer with a chat completion: {what}; check the base URL"
        )))
    }

    /// The error for a status that no other way of asking mends.
    pub(super) fn refused(&self, status: StatusCode, text: &str, model: &str) -> LlmError {
        let advice = match status.as_u16() {
            401 | 403 if self.key.is_none() => "it wants an API key, and none is set".to_owned(),
            401 | 403 => "check the API key".to_owned(),
            404 => format!("check the model `{model}` and the base URL"),
            408 | 429 => "the rate limit or quota is used up; wait, or lower the number of calls in flight".to_owned(),
            300..=399 => "it redirects, which is not followed; set the base URL to where it leads".to_owned(),
            500..=599 => "the endpoint failed; see its own log".to_owned(),
            _ => "it does not take the request".to_owned(),
        };
        let base = &self.base;
        let said = if text.is_empty() { String::new() } else { format!("; it says: {text}") };
        LlmError::Unavailable(format!("{base} answered {status}: {advice}{said}"))
    }

    /// A foreign text as it may be shown: one line, cut, without the key.
    pub(super) fn quote(&self, text: &str) -> String {
        let line = self.scrub(text).split_whitespace().map(mask).collect::<Vec<_>>().join(" ");
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        clip(&line, ERROR_TEXT).to_owned()
    }

    /// The text without the key, should an endpoint send it back.
    pub(super) fn scrub(&self, text: &str) -> String {
        match &self.key {
            Some(key) if text.contains(key.expose_secret()) => text.replace(key.expose_secret(), "***"),
            _ => text.to_owned(),
        }
    }

    /// A body up to `most` bytes, and whether that is all of it.
    async fn read(&self, mut response: Response, most: usize) -> Result<(Vec<u8>, bool), Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(error))? {
            let room = most - bytes.len();
            if chunk.len() > room {
                bytes.extend_from_slice(&chunk[..room]);
                return Ok((bytes, false));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok((bytes, true))
    }

    fn failed(&self, error: reqwest::Error) -> Failure {
        let base = &self.base;
        let is_unsent = error.is_connect() || error.is_builder();
        let text = if error.is_connect() {
            let cause = self.quote(&root_cause(&error));
            format!("cannot reach {base}: {cause}; is the server running, and is the base URL right?")
        } else if error.is_timeout() {
            format!(
                "no reply from {base} within {} s; raise the timeout or use a faster model",
                self.timeout.as_secs_f64()
            )
        } else {
            format!("the exchange with {base} broke off: {}", self.quote(&root_cause(&error)))
        };
        let error = LlmError::Unavailable(text);
        if is_unsent { Failure::Unsent(error) } else { Failure::Sent(error) }
    }
}

/// The innermost reason, which is the one that a person can do something about.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let is_outermost = error.source().is_none();
    if is_outermost { "the connection failed".to_owned() } else { cause.to_string() }
}

/// A word that looks like a key of the common form is hidden, even when it is not ours: some endpoints quote half of it.
fn mask(word: &str) -> String {
    word.find("sk-").map_or_else(|| word.to_owned(), |at| format!("{}sk-***", &word[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(key: &str) -> Endpoint {
        let mut config = OpenAiConfig::new("http://localhost:1/v1", "m");
        config.api_key = Some(key.to_owned().into());
        Endpoint::new(&config).unwrap()
    }

    #[test]
    fn quotes_are_short_and_hide_keys() {
        let quoted =
            endpoint("sesame-open").quote(&format!("bad key:\n sesame-open, sk-abcd***.\x1b[31m {}", "x".repeat(500)));
        assert!(quoted.starts_with("bad key: ***, sk-***"), "{quoted}");
        assert!(quoted.len() <= ERROR_TEXT && !quoted.contains('\x1b'));
    }

    #[test]
    fn statuses_say_what_to_check() {
        let endpoint = endpoint("k");
        let says = |status: u16| endpoint.refused(StatusCode::from_u16(status).unwrap(), "x", "m").to_string();
        assert!(says(401).contains("401 Unauthorized: check the API key; it says: x"), "{}", says(401));
        assert!(
            says(404).contains("model `m`")
                && says(429).contains("rate limit")
                && says(503).contains("endpoint failed")
        );
    }

    #[test]
    fn keys_that_fit_no_header_are_refused_without_being_shown() {
        let mut config = OpenAiConfig::new("http://localhost:1/v1", "m");
        config.api_key = Some("se\nsame".to_owned().into());
        let error = Endpoint::new(&config).err().unwrap();
        assert!(matches!(error, OpenAiError::Key) && !format!("{error:?} {error}").contains("same"));
    }
}
