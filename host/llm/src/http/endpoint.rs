//! An HTTP exchange with the endpoint, and error messages that name what to check.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use syrch_core::ports::{LlmError, Preview, Retry};
use syrch_core::text::clip;
use syrch_core::validate;
use syrch_http::{client, is_exposed, is_secret, read, root_cause};

use super::cause::{Cause, PASSING, has_any_of};
use super::events::{self, Events};
use super::lenient::without_mark;
use super::status::{Said, advice};
use super::{EndpointConfig, EndpointError, Protocol, values};

/// Characters of an endpoint's own error text that are shown.
const ERROR_TEXT: usize = 200;
/// Bytes from which on a key of letters and digits is certainly no value of a database.
const CERTAIN: usize = 16;
/// Bytes of an error's body that are read.
const ERROR_BODY: usize = 64 << 10;
/// Words of a gateway's page, by which the server behind it is away.
const GATEWAY: [&str; 4] = ["502", "503", "504", "gateway"];
/// JSON values of a reply at most. With log probabilities, a token has about ten.
const VALUES: usize = 1 << 18;

/// The words of a web page.
fn without_tags(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ")
}

/// The failure of an exchange.
#[derive(Debug)]
pub(super) enum Failure {
    /// The request did not reach the endpoint.
    Unsent(LlmError, Retry),
    /// The request was sent, so the endpoint may have processed it.
    Sent(LlmError, Retry),
    /// The endpoint answered with an error.
    Refused(Said),
    /// The reply has more bytes or values than are read; the bytes that were.
    TooLong(usize),
}

/// The body of a reply.
#[derive(Debug)]
pub(super) enum Body {
    /// A single document.
    Json(Value),
    /// A stream.
    Events(Events),
}

/// The HTTP client of one endpoint.
pub(super) struct Endpoint {
    client: Client,
    target: Url,
    base: String,
    /// The name of a good reply, for messages.
    reply: &'static str,
    /// The headers as they are shown.
    shown: Vec<(String, String)>,
    key: Option<SecretString>,
    timeout: Duration,
    body_bytes: usize,
}

impl Endpoint {
    /// A client for the configured endpoint; nothing is sent yet.
    pub(super) fn new<P: Protocol>(config: &EndpointConfig) -> Result<Self, EndpointError> {
        let (target, base) = config.address::<P>()?;
        let key = config
            .api_key
            .as_ref()
            .map(|key| key.expose_secret().trim().to_owned())
            .filter(|key| !key.is_empty());
        if key.is_some() && !config.insecure && is_exposed(&target) {
            return Err(EndpointError::Exposed {
                host: target.host_str().unwrap_or_default().to_owned(),
            });
        }
        let (headers, shown) = headers::<P>(key.as_deref())?;
        let client = client(&target, config.timeout).default_headers(headers);
        let client = client.build().map_err(EndpointError::Client)?;
        // Escapes may double the text, and log probabilities add to each token.
        let body_bytes = config.limits.reply_bytes.saturating_mul(8).saturating_add(ERROR_BODY);
        let key = key.map(Into::into);
        let timeout = config.timeout;
        Ok(Self { client, target, base, reply: P::REPLY, shown, key, timeout, body_bytes })
    }

    /// The base URL as it is shown.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The request that [`Endpoint::post`] would send.
    pub(super) fn preview(&self, body: Value) -> Preview {
        Preview {
            method: "POST".to_owned(),
            url: self.target.to_string(),
            headers: self.shown.clone(),
            body,
        }
    }

    /// Sends one request and reads the reply.
    pub(super) async fn post(&self, body: &Value) -> Result<Body, Failure> {
        let response = self
            .client
            .post(self.target.clone())
            .json(body)
            .send()
            .await
            .map_err(|error| self.exchange_failure(error))?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            // If the body of an error cannot be read, the error has no text.
            let (bytes, _) = read(response, ERROR_BODY).await.unwrap_or_default();
            return Err(Failure::Refused(Said::new(status, &headers, &bytes)));
        }
        let (bytes, is_whole) =
            read(response, self.body_bytes).await.map_err(|error| self.exchange_failure(error))?;
        if !is_whole || !validate::has_few_values(&bytes, VALUES) {
            return Err(Failure::TooLong(bytes.len()));
        }
        let body = without_mark(&bytes);
        if events::is_stream(body) {
            return Ok(Body::Events(events::read(body)));
        }
        let read = serde_json::from_slice::<Value>(body);
        read.or_else(|error| values::read_leniently(body).ok_or(error))
            .map(Body::Json)
            .map_err(|error| self.no_json_failure(body, &error))
    }

    /// The failure of a reply that is no JSON.
    fn no_json_failure(&self, body: &[u8], error: &serde_json::Error) -> Failure {
        if body.trim_ascii().is_empty() {
            return Failure::Sent(self.protocol_error("its reply is empty"), Retry::Yes);
        }
        let text = String::from_utf8_lossy(body);
        let lower = text.trim_start().to_lowercase();
        if lower.starts_with("<!doctype") || lower.starts_with("<html") {
            let what = format!(
                "its reply is no JSON but a web page, which says `{}`",
                self.quote(&without_tags(&text))
            );
            // A gateway says so while the server behind it is away.
            return match has_any_of(&lower, &PASSING) || has_any_of(&lower, &GATEWAY) {
                true => Failure::Sent(self.protocol_error(&what), Retry::Yes),
                false => Failure::Sent(self.foreign_reply_error(&what), Retry::No),
            };
        }
        let begins = self.quote(&text);
        let what = format!("its reply is no JSON and begins `{begins}`");
        // A document that ends too early was cut off on its way.
        if error.is_eof() {
            Failure::Sent(self.protocol_error(&what), Retry::Yes)
        } else {
            Failure::Sent(self.foreign_reply_error(&what), Retry::No)
        }
    }

    /// The error for a reply that violates the protocol.
    pub(super) fn protocol_error(&self, what: &str) -> LlmError {
        let base = &self.base;
        let reply = self.reply;
        LlmError::Unavailable(format!("{base} does not answer with {reply}: {what}"))
    }

    /// The error for a reply that has nothing of the protocol, as that of another address.
    pub(super) fn foreign_reply_error(&self, what: &str) -> LlmError {
        self.protocol_error(&format!("{what}; check the base URL"))
    }

    /// The error for an exchange that ended before its reply did.
    pub(super) fn cut_short(&self, what: &str) -> LlmError {
        LlmError::Unavailable(format!("the exchange with {} broke off: {what}", self.base))
    }

    /// The error for what the endpoint says in place of a reply.
    pub(super) fn refusal_error(&self, said: &Said, model: &str) -> LlmError {
        let base = &self.base;
        let text = self.quote(&said.text);
        match said.cause {
            Cause::Filter => {
                return LlmError::Refused(format!("a content filter stopped it: {text}"));
            }
            Cause::Context(_) => return self.overflow_error(&text),
            _ => {}
        }
        let advice = advice(said, self.key.is_some(), model);
        let reason = if text.is_empty() { String::new() } else { format!("; it says: {text}") };
        let name =
            said.status.canonical_reason().map_or_else(String::new, |name| format!(" {name}"));
        let message = format!("{base} answered {}{name}: {advice}{reason}", said.status.as_str());
        match said.obstacle() {
            Some(obstacle) => LlmError::Declined { obstacle, message },
            None => LlmError::Unavailable(message),
        }
    }

    /// The error for a prompt that is too long for the context, by these words of the endpoint.
    fn overflow_error(&self, text: &str) -> LlmError {
        LlmError::Overflow(format!(
            "{} says: {text}; give the server a longer context, or ask over fewer tables by \
             --tables or a narrower --linker",
            self.base
        ))
    }

    /// The error for a reply that ended where the context was full.
    pub(super) fn full_context_error(&self) -> LlmError {
        self.overflow_error("the reply reached the end of the model's context")
    }

    /// A text of the endpoint as it is shown: one line, shortened, without the key.
    pub(super) fn quote(&self, text: &str) -> String {
        let line = self.scrub(text).split_whitespace().map(mask).collect::<Vec<_>>().join(" ");
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        clip(&line, ERROR_TEXT).to_owned()
    }

    /// The text without the key, in case the endpoint returns it.
    pub(super) fn scrub(&self, text: &str) -> String {
        match &self.key {
            Some(key) if is_secret(key.expose_secret()) && text.contains(key.expose_secret()) => {
                text.replace(key.expose_secret(), "***")
            }
            _ => text.to_owned(),
        }
    }

    /// Removes the key from what a model said. The text is read and stored, so that a word such as
    /// `none` stays as it is, and only what can be no value of a database is taken out: a long key
    /// of letters and digits.
    pub(super) fn without_key(&self, said: &mut String) {
        fn is_unmistakable(key: &str) -> bool {
            let has = |is: fn(&u8) -> bool| key.as_bytes().iter().any(is);
            key.len() >= CERTAIN && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        }
        if let Some(key) = &self.key
            && is_unmistakable(key.expose_secret())
            && said.contains(key.expose_secret())
        {
            *said = self.scrub(said);
        }
    }

    fn exchange_failure(&self, error: reqwest::Error) -> Failure {
        let base = &self.base;
        if error.is_builder() {
            let text = format!(
                "the request to {base} cannot be made: {}",
                self.quote(&root_cause(&error))
            );
            return Failure::Unsent(LlmError::Unavailable(text), Retry::No);
        }
        if error.is_connect() {
            let cause = self.quote(&root_cause(&error));
            let text = format!(
                "cannot reach {base}: {cause}; is the server running, and is the base URL right?"
            );
            return Failure::Unsent(LlmError::Unavailable(text), Retry::Yes);
        }
        let seconds = self.timeout.as_secs_f64();
        if error.is_timeout() {
            let text = format!(
                "no reply from {base} within {seconds} s; raise --timeout or use a faster model"
            );
            return Failure::Sent(LlmError::Unavailable(text), Retry::Shorter);
        }
        Failure::Sent(self.cut_short(&self.quote(&root_cause(&error))), Retry::Yes)
    }
}

/// The headers of each request, and the same as they are shown.
fn headers<P: Protocol>(
    key: Option<&str>,
) -> Result<(HeaderMap, Vec<(String, String)>), EndpointError> {
    let mut headers = HeaderMap::new();
    let mut shown = vec![("content-type".to_owned(), "application/json".to_owned())];
    for (name, value) in P::headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        shown.push(((*name).to_owned(), (*value).to_owned()));
    }
    if let Some(key) = key {
        let (name, value) = P::key(key);
        let mut value = HeaderValue::from_str(&value).map_err(|_| EndpointError::Key)?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
        shown.push((name.to_owned(), P::key("***").1));
    }
    Ok((headers, shown))
}

/// Hides the rest of a word from `sk-` on, the usual beginning of a key: some endpoints quote a
/// part of the key.
fn mask(word: &str) -> String {
    word.find("sk-").map_or_else(|| word.to_owned(), |at| format!("{}sk-***", &word[..at]))
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::*;
    use crate::anthropic::Anthropic;
    use crate::openai::OpenAi;

    fn endpoint<P: Protocol>(key: &str) -> Result<Endpoint, EndpointError> {
        let mut config = EndpointConfig::new("http://localhost:1/v1", "m");
        config.api_key = Some(key.to_owned().into());
        Endpoint::new::<P>(&config)
    }

    #[test]
    fn quotes_are_short_and_hide_keys() {
        let quoted = endpoint::<OpenAi>("sesame-open")
            .unwrap()
            .quote(&format!("bad key:\n sesame-open, sk-abcd***.\x1b[31m {}", "x".repeat(500)));
        assert!(quoted.starts_with("bad key: ***, sk-***"), "{quoted}");
        assert!(quoted.len() <= ERROR_TEXT && !quoted.contains('\x1b'));
        for key in ["k", "ab", "tokens", "password"] {
            let quoted = endpoint::<OpenAi>(key).unwrap().quote("max_tokens: password, cab k");
            assert_eq!(quoted, "max_tokens: password, cab k");
        }
    }

    #[test]
    fn errors_for_statuses_name_what_to_check() {
        let endpoint = endpoint::<OpenAi>("k").unwrap();
        fn message(endpoint: &Endpoint, status: u16) -> String {
            let said = Said::new(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), b"x");
            endpoint.refusal_error(&said, "m").to_string()
        }
        assert!(
            message(&endpoint, 401).contains("401 Unauthorized: check the API key; it says: x"),
            "{}",
            message(&endpoint, 401)
        );
        assert!(
            message(&endpoint, 404).contains("model `m`")
                && message(&endpoint, 429).contains("rate limit")
                && message(&endpoint, 503).contains("endpoint failed")
                && message(&endpoint, 529).contains("answered 529: the endpoint is overloaded")
        );
    }

    #[test]
    fn keys_that_fit_no_header_are_refused_without_being_shown() {
        for error in [
            endpoint::<OpenAi>("se\nsame").err().unwrap(),
            endpoint::<Anthropic>("se\nsame").err().unwrap(),
        ] {
            assert!(
                matches!(error, EndpointError::Key)
                    && !format!("{error:?} {error}").contains("same")
            );
        }
    }

    #[test]
    fn a_key_goes_to_other_machines_encrypted_or_where_the_user_says_so() {
        fn make(url: &str, key: &str, insecure: bool) -> Result<(), EndpointError> {
            let mut config = EndpointConfig::new(url, "m");
            (config.api_key, config.insecure) = (Some(key.to_owned().into()), insecure);
            Endpoint::new::<OpenAi>(&config).map(drop)
        }
        let error = make("http://models.example:8000/v1", "sesame", false).unwrap_err();
        assert!(
            matches!(&error, EndpointError::Exposed { host } if host == "models.example"),
            "{error}"
        );
        assert!(!format!("{error} {error:?}").contains("sesame"));
        for (url, key, insecure) in [
            ("http://models.example:8000/v1", "sesame", true),
            ("http://models.example:8000/v1", " ", false),
            ("https://models.example/v1", "sesame", false),
            ("http://localhost:8000/v1", "sesame", false),
        ] {
            assert!(make(url, key, insecure).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_preview_shows_every_header_and_no_key() {
        fn show(endpoint: Endpoint) -> Vec<(String, String)> {
            endpoint.preview(Value::Null).headers
        }
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let json = ("content-type", "application/json");
        assert_eq!(
            show(endpoint::<OpenAi>("sesame").unwrap()),
            pairs(&[json, ("authorization", "Bearer ***")])
        );
        let version = ("anthropic-version", "2023-06-01");
        assert_eq!(
            show(endpoint::<Anthropic>("sesame").unwrap()),
            pairs(&[json, version, ("x-api-key", "***")])
        );
        assert_eq!(show(endpoint::<Anthropic>(" ").unwrap()), pairs(&[json, version]));
    }
}
