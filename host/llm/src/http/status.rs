//! The meaning of an endpoint's error: what it is about, whether the same call may succeed later,
//! and what the user can do.
//!
//! The text of an error counts for more than the status that it came with: gateways answer 200 with
//! an error of their provider, and servers answer 400 for a content filter and 500 for a prompt
//! that is too long.

use std::time::SystemTime;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;
use syrch_core::ports::Retry;
use syrch_core::text::clip;
use syrch_http::retry_after;

use super::values;

/// Bytes of an error that are searched for words.
const WORDS: usize = 8 << 10;
/// Words of errors about a quota that is used up, which no wait gives back.
const QUOTA: [&str; 3] = ["insufficient_quota", "insufficient credits", "insufficient_balance"];
/// Words of content filters and moderation.
const FILTER: [&str; 12] = [
    "content_filter",
    "content filter",
    "content_policy",
    "content policy",
    "content management policy",
    "responsibleaipolicy",
    "data_inspection_failed",
    "moderation",
    "content_moderation",
    "prohibited_content",
    "flagged for",
    "safety system",
];
/// Words of a prompt that, with its reply, does not fit into the context.
const CONTEXT: [&str; 17] = [
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context size",
    "context window",
    "context limit",
    "context overflow",
    "when context the overflows",
    "maximum model length",
    "max_model_len",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "reduce the length of the messages",
    "`max_new_tokens` must be <=",
    "`inputs` must have less than",
    "request too large",
];
/// Words of a server that has not loaded its model yet.
const LOADING: [&str; 8] = [
    "loading model",
    "model is loading",
    "model is currently loading",
    "model is still loading",
    "currently loading",
    "model loading",
    "warming up",
    "is starting up",
];
/// Words of errors that pass, where nothing else says so.
const PASSING: [&str; 9] = [
    "overloaded",
    "temporarily",
    "try again",
    "retry",
    "timed out",
    "timeout",
    "busy",
    "unavailable",
    "capacity",
];
/// Words of too many requests.
const RATE: [&str; 6] =
    ["rate limit", "rate_limit", "ratelimit", "too many requests", "resource_exhausted", "throttl"];

/// The cause of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// A filter refuses the prompt or the reply.
    Filter,
    /// Prompt and reply do not fit into the context. The tokens that are left beside the prompt, if
    /// the error names the numbers.
    Context(Option<u32>),
    /// The endpoint is not ready yet.
    Loading,
    /// Anything else, by its status.
    Other,
}

/// The error that an endpoint sends in place of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// The status that the error has by its own words, else that of the exchange.
    pub(super) status: StatusCode,
    /// Its message.
    pub(super) text: String,
    /// All of its words in lower case.
    pub(super) words: String,
    /// The cause of the error.
    pub(super) cause: Cause,
    /// The time after which the same request may succeed, if it may.
    pub(super) retry: Retry,
}

impl Said {
    /// Reads the body of an error.
    pub(super) fn new(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let value = values::lenient(body).unwrap_or_default();
        let text = values::error_text(body);
        let words = clip(&format!("{text} {}", codes(&value)), WORDS).to_lowercase();
        let status = own_status(status, &value, &words);
        let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
        let cause = if has(&FILTER) {
            Cause::Filter
        } else if has(&CONTEXT) {
            Cause::Context(free_tokens(&words))
        } else if has(&LOADING) {
            Cause::Loading
        } else {
            Cause::Other
        };
        let retry = match cause {
            Cause::Filter | Cause::Context(_) => Retry::No,
            Cause::Loading => Retry::WhenReady,
            Cause::Other => retry(status, headers, &words),
        };
        Self { status, text, words, cause, retry }
    }

    /// The error in a body whose status is that of a reply; `None` if it has none.
    pub(super) fn in_reply(body: &Value) -> Option<Self> {
        let given = |value: &&Value| !value.is_null() && **value != Value::Bool(false);
        let choice = body.get("choices").and_then(|choices| choices.get(0));
        let of_choice = choice.and_then(|choice| choice.get("error")).filter(given);
        let is_flagged = choice.is_some_and(|choice| choice["finish_reason"] == "error");
        let is_error = body.get("error").filter(given).is_some()
            || body["object"] == "error"
            || body["type"] == "error"
            || body.get(0).is_some_and(|first| first.get("error").is_some());
        let error = match of_choice {
            Some(error) => serde_json::json!({ "error": error }),
            None if is_error => body.clone(),
            None if is_flagged => {
                serde_json::json!({ "error": { "message": "the reply ended in an error", "code": 502 } })
            }
            None => return None,
        };
        Some(Self::new(StatusCode::OK, &HeaderMap::new(), error.to_string().as_bytes()))
    }

    /// The greatest number of output tokens that the endpoint allows, if it says that fewer than
    /// `sent` are allowed.
    pub(super) fn allowed(&self, sent: u32) -> Option<u32> {
        /// Fewer tokens than this are no limit of an endpoint.
        const LEAST: u64 = 16;
        let is_about = [
            "max_tokens",
            "max_completion_tokens",
            "max_new_tokens",
            "completion tokens",
            "output tokens",
        ]
        .iter()
        .any(|name| self.words.contains(name));
        let is_limit = [
            "at most",
            "less than or equal",
            "maximum",
            "too large",
            "range",
            "must be",
            "exceed",
            "<=",
            " > ",
        ]
        .iter()
        .any(|word| self.words.contains(word));
        let numbers =
            numbers(&self.words).filter(|number| (LEAST..u64::from(sent)).contains(number));
        let most =
            numbers.max().filter(|_| is_about && is_limit && self.status.is_client_error())?;
        u32::try_from(most).ok()
    }
}

/// The codes and types of an error, wherever the usual forms have them.
fn codes(body: &Value) -> String {
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let places = [
        body.get("code"),
        body.get("type"),
        body.get("error_type"),
        error.get("code"),
        error.get("type"),
        error.get("status"),
        error.pointer("/innererror/code"),
        error.pointer("/metadata/raw"),
        error.get("n_prompt_tokens"),
        error.get("n_ctx"),
    ];
    let names = ["", "", "", "", "", "", "", "", "n_prompt_tokens ", "n_ctx "];
    let named = places
        .into_iter()
        .zip(names)
        .filter_map(|(place, name)| Some(format!("{name}{}", values::text(place?))));
    named.collect::<Vec<_>>().join(" ")
}

/// The status of an error by its own code or type; that of the exchange where it has none.
fn own_status(status: StatusCode, body: &Value, words: &str) -> StatusCode {
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").filter(|error| error.is_object()).unwrap_or(body);
    let code = [error.get("code"), body.get("code"), error.get("status")]
        .into_iter()
        .flatten()
        .find_map(values::count);
    // Some servers number their errors within a status, such as 40303.
    let code = code
        .map(|code| if code >= 10_000 { code / 100 } else { code })
        .filter(|code| (400..600).contains(code));
    if let Some(own) = code.and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok()) {
        return own;
    }
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    let by_words = if has(&["overloaded_error"]) {
        529
    } else if has(&["rate_limit_error", "rate_limit_exceeded"]) {
        429
    } else if !status.is_success() {
        return status;
    } else if has(&QUOTA) || has(&["credit", "billing", "payment"]) {
        402
    } else if has(&["invalid_api_key", "authentication", "unauthorized"]) {
        401
    } else if has(&RATE) {
        429
    } else if has(&PASSING) || has(&["api_error", "server_error", "internal"]) {
        503
    } else {
        return status;
    };
    StatusCode::from_u16(by_words).unwrap_or(status)
}

/// Returns whether, and when, the endpoint may answer the same request.
fn retry(status: StatusCode, headers: &HeaderMap, words: &str) -> Retry {
    let is_passing = match status.as_u16() {
        429 => !QUOTA.iter().any(|word| words.contains(word)),
        408 | 409 | 425 => true,
        // Not implemented, and an unsupported version of HTTP.
        501 | 505 => false,
        500..=599 => true,
        _ => false,
    };
    match retry_after(headers, SystemTime::now()) {
        _ if !is_passing => Retry::No,
        Some(delay) => Retry::After(delay),
        None => Retry::Yes,
    }
}

/// Returns advice about what the user can do about an error.
pub(super) fn advice(said: &Said, has_key: bool, model: &str) -> String {
    if said.cause == Cause::Loading {
        return "it has not loaded its model yet; try again later".to_owned();
    }
    match said.status.as_u16() {
        401 | 403 if !has_key => "it wants an API key, and none is set".to_owned(),
        401 | 403 => "check the API key".to_owned(),
        402 => "its credits are used up".to_owned(),
        404 => format!("check the model `{model}` and the base URL"),
        408 | 429 => {
            "the rate limit or quota is used up; wait, lower --max-concurrency, or raise SYRCH_ATTEMPTS".to_owned()
        }
        300..=399 => "it redirects, which is not followed; set the base URL to where it leads".to_owned(),
        529 => "the endpoint is overloaded; try again later, or raise SYRCH_ATTEMPTS".to_owned(),
        500..=599 => "the endpoint failed; see its own log, or raise SYRCH_ATTEMPTS".to_owned(),
        200..=299 => "it has an error in place of a reply".to_owned(),
        _ => "it does not take the request".to_owned(),
    }
}

/// The tokens that a context has left beside a prompt, if the error names both sizes. `words` is in
/// lower case.
fn free_tokens(words: &str) -> Option<u32> {
    /// Words before the size of the context.
    const SIZE: [&str; 11] = [
        "maximum context length is",
        "maximum context length of",
        "context length of only",
        "context length of",
        "context window of",
        "maximum model length of",
        "tokens, context",
        "n_ctx",
        "must be <=",
        "available context size (",
        " > ",
    ];
    /// Words after the size of the prompt.
    const PROMPT: [&str; 5] =
        [" in the messages", " input tokens", " `inputs`", " tokens, context", " prompt tokens"];
    /// Words before the size of the prompt.
    const BEFORE: [&str; 6] = [
        "resulted in",
        "n_prompt_tokens",
        "(length",
        "context limit:",
        "prompt contains",
        "prompt is too long:",
    ];
    let size = SIZE.iter().find_map(|key| number_after(words, key))?;
    let prompt = PROMPT
        .iter()
        .find_map(|key| number_before(words, key))
        .or_else(|| BEFORE.iter().find_map(|key| number_after(words, key)))?;
    u32::try_from(size.saturating_sub(prompt)).ok()
}

/// The numbers of a text.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !(c.is_ascii_digit() || c == ','))
        .filter_map(|digits| digits.replace(',', "").parse().ok())
}

/// The number that follows the words, with a few signs between.
fn number_after(text: &str, key: &str) -> Option<u64> {
    /// Bytes between the words and the number.
    const NEAR: usize = 32;
    let rest = &text[text.find(key)? + key.len()..];
    let start = clip(rest, NEAR).find(|c: char| c.is_ascii_digit())?;
    numbers(&rest[start..]).next()
}

/// The number right before the words.
fn number_before(text: &str, key: &str) -> Option<u64> {
    text.match_indices(key).find_map(|(at, _)| {
        let before = &text[..at];
        let start = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',').len();
        before[start..].replace(',', "").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::HeaderValue;
    use serde_json::json;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn said(status: u16, body: &str) -> Said {
        Said::new(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn what_passes_is_distinguished_from_what_stays() {
        let of = |status: u16, body: &str| said(status, body).retry;
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert_eq!(of(status, "slow down"), Retry::Yes, "{status}");
        }
        for status in [302, 400, 401, 403, 404, 413, 422, 501, 505] {
            assert_eq!(of(status, "no"), Retry::No, "{status}");
        }
        assert_eq!(of(429, r#"{"error":{"code":"insufficient_quota"}}"#), Retry::No);
        let after = headers(&[("retry-after", "2")]);
        let retry = |status| Said::new(status, &after, b"").retry;
        assert_eq!(retry(StatusCode::TOO_MANY_REQUESTS), Retry::After(Duration::from_secs(2)));
        assert_eq!(retry(StatusCode::UNAUTHORIZED), Retry::No);
    }

    #[test]
    fn an_error_in_a_good_status_has_the_class_that_it_names() {
        for (body, status, retry) in [
            (
                json!({"error": {"message": "Rate limit exceeded: upstream is busy", "code": 429}}),
                429,
                Retry::Yes,
            ),
            (json!({"choices": null, "error": {"message": "x", "code": "503"}}), 503, Retry::Yes),
            (json!({"error": {"message": "Insufficient credits", "code": 402}}), 402, Retry::No),
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
                529,
                Retry::Yes,
            ),
            (
                json!({"choices": [{"error": {"code": 502, "message": "x"}, "message": {"content": ""}}]}),
                502,
                Retry::Yes,
            ),
            (
                json!({"choices": [{"finish_reason": "error", "message": {"content": ""}}]}),
                502,
                Retry::Yes,
            ),
            (json!({"object": "error", "message": "no", "code": 40_303}), 403, Retry::No),
            (
                json!([{"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}]),
                503,
                Retry::Yes,
            ),
            (json!({"error": "Model is overloaded", "error_type": "overloaded"}), 503, Retry::Yes),
            (json!({"error": {"message": "no such thing"}}), 200, Retry::No),
        ] {
            let said = Said::in_reply(&body).unwrap();
            assert_eq!((said.status.as_u16(), said.retry), (status, retry), "{body}");
        }
        for fine in [
            json!({"choices": [{"message": {"content": "x"}}], "error": null}),
            json!({"choices": []}),
        ] {
            assert_eq!(Said::in_reply(&fine), None, "{fine}");
        }
    }

    #[test]
    fn filters_and_servers_that_load_are_known_by_their_words() {
        for body in [
            r#"{"error":{"code":"content_filter","message":"The response was filtered"}}"#,
            r#"{"error":{"message":"x","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            r#"{"error":{"message":"Input requires moderation and was flagged for violence"}}"#,
        ] {
            let said = said(400, body);
            assert_eq!((said.cause, said.retry), (Cause::Filter, Retry::No), "{body}");
        }
        for (status, body) in [
            (503, r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#),
            (503, r#"{"error":"Model m is currently loading","estimated_time":20.0}"#),
            (500, "the model is still loading"),
        ] {
            let said = said(status, body);
            assert_eq!((said.cause, said.retry), (Cause::Loading, Retry::WhenReady), "{body}");
        }
    }

    #[test]
    fn what_a_context_has_left_is_read() {
        for (body, tokens) in [
            (
                "This model's maximum context length is 4096 tokens. However, you requested 4704 tokens (608 in the messages, \
                 4096 in the completion). Please reduce the length of the messages or completion.",
                Some(3_488),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 \
                 tokens and your request has 608 input tokens (4096 > 4096 - 608).",
                Some(3_488),
            ),
            (
                r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it",
                 "type":"exceed_context_size_error","n_prompt_tokens":707,"n_ctx":512}}"#,
                Some(0),
            ),
            ("the request exceeds the available context size (707 tokens, context 512)", Some(0)),
            (
                "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000",
                Some(1_000),
            ),
            (
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3500 `inputs` tokens \
                 and 1000 `max_new_tokens`",
                Some(596),
            ),
            (
                "This model's maximum context length is 4,097 tokens. However, your messages resulted in 5,000 tokens.",
                Some(0),
            ),
            (
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096",
                Some(0),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(0)),
            ("prompt is too long", None),
            (r#"{"error":{"code":"context_length_exceeded","message":"too much"}}"#, None),
        ] {
            assert_eq!(said(400, body).cause, Cause::Context(tokens), "{body}");
        }
        assert_eq!(said(400, "temperature must be at most 2").cause, Cause::Other);
    }

    #[test]
    fn the_greatest_allowed_number_of_tokens_is_read() {
        let allowed = |text: &str| said(400, text).allowed(10_000);
        for (text, most) in [
            ("max_tokens must be at most 2048", Some(2_048)),
            (
                "max_tokens: 10000 > 8192, which is the maximum allowed number of output tokens for m",
                Some(8_192),
            ),
            (
                "max_tokens is too large: 10000. This model supports at most 4,096 completion tokens",
                Some(4_096),
            ),
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Some(8_192)),
            ("`max_tokens` must be less than or equal to `8192`", Some(8_192)),
            ("max_tokens is unknown", None),
            ("top_k must be at most 100", None),
        ] {
            assert_eq!(allowed(text), most, "{text}");
        }
        assert_eq!(said(503, "max_tokens must be at most 2048").allowed(10_000), None);
    }
}
