//! The meaning of an endpoint's error: its status and cause, whether the same call may succeed
//! later, and what the user can do.
//!
//! The text of an error counts for more than the status that it came with: gateways answer 200 with
//! an error of their provider, and servers answer 400 for a content filter and 500 for a prompt
//! that is too long.

use std::time::SystemTime;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;
use syrch_core::ports::{Obstacle, Retry};
use syrch_core::text::clip;
use syrch_http::retry_after;

use super::cause::{
    ABSENT, Cause, OUTPUT, PASSING, RATE, UNLOADED, cause, has_any_of, is_about_key, is_spent,
    numbers,
};
use super::values::{self, is_given};

/// Bytes of an error that are searched for words.
const WORDS: usize = 8 << 10;

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
        let value = values::read_leniently(body).unwrap_or_default();
        let text = values::error_text(body);
        let words = clip(&format!("{text} {}", codes(&value)), WORDS).to_lowercase();
        let status = own_status(status, &value, &words);
        let cause = cause(status, &words);
        let may_pass = match cause {
            Cause::Rate | Cause::Busy => true,
            Cause::Unloadable | Cause::Other => may_pass(status),
            _ => false,
        };
        let retry = match retry_after(headers, SystemTime::now()) {
            _ if cause == Cause::Loading => Retry::WhenReady,
            _ if !may_pass => Retry::No,
            Some(delay) => Retry::After(delay),
            None => Retry::Yes,
        };
        Self { status, text, words, cause, retry }
    }

    /// The error in a body whose status is that of a reply; `None` if it has none.
    pub(super) fn in_reply(body: &Value) -> Option<Self> {
        let choice = values::first_choice(body);
        let of_choice = choice.and_then(|choice| choice.get("error")).filter(|it| is_given(it));
        let finish = choice.and_then(|choice| choice["finish_reason"].as_str()).unwrap_or_default();
        let is_flagged = finish == "error";
        let is_error = body.get("error").is_some_and(is_given)
            || body["object"] == "error"
            || body["type"] == "error"
            || body.get(0).is_some_and(|first| first.get("error").is_some())
            || own_code(body).is_some()
            || is_message(body);
        let error = match of_choice {
            Some(error) => serde_json::json!({ "error": error }),
            None if is_error => body.clone(),
            None if is_flagged => {
                serde_json::json!({
                    "error": { "message": "the reply ended in an error", "code": 502 }
                })
            }
            None => return None,
        };
        Some(Self::new(StatusCode::OK, &HeaderMap::new(), error.to_string().as_bytes()))
    }

    /// The obstacle of an endpoint that works; `None` if it may be at fault itself.
    pub(super) fn obstacle(&self) -> Option<Obstacle> {
        Some(match (self.cause, self.status.as_u16()) {
            (Cause::Credits, _) | (Cause::Other, 402) => Obstacle::Credits,
            (Cause::Key, _) | (Cause::Other, 401 | 403) => Obstacle::Key,
            (Cause::Rate, _) | (Cause::Other, 429) => Obstacle::Rate,
            (Cause::Excess, _) => Obstacle::Size,
            (Cause::Busy | Cause::Loading, _) | (Cause::Other, 529) => Obstacle::Load,
            _ => return None,
        })
    }

    /// The greatest number of output tokens that the endpoint allows, if it says that fewer than
    /// `sent` are allowed.
    pub(super) fn token_limit(&self, sent: u32) -> Option<u32> {
        /// Fewer tokens than this are no limit of an endpoint.
        const LEAST: u64 = 16;
        let is_about = has_any_of(&self.words, &OUTPUT);
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

    /// Returns true if the endpoint allows fewer output tokens, whatever their number.
    pub(super) fn refuses_tokens(&self) -> bool {
        /// Words for a number that is too large.
        const LIMIT: [&str; 9] = [
            "exceed",
            "too large",
            "too high",
            "too big",
            "too many",
            "at most",
            "maximum",
            "limit",
            "larger than",
        ];
        self.status.is_client_error()
            && self.cause == Cause::Other
            && has_any_of(&self.words, &OUTPUT)
            && has_any_of(&self.words, &LIMIT)
    }
}

/// Returns true if a body without a reply says something, as servers do of their own failures.
fn is_message(body: &Value) -> bool {
    let mut parts = ["choices", "content", "data"].iter().filter_map(|name| body.get(name));
    let mut texts = values::ERRORS.iter().filter_map(|place| body.pointer(place));
    let has_text = texts.any(|text| text.is_string() && is_given(text));
    !parts.any(|part| !part.is_null())
        && (has_text || body.pointer("/errors/0").is_some_and(is_given))
}

/// Returns the code of a failure that MiniMax reports beside a reply or in place of one.
fn own_code(body: &Value) -> Option<u32> {
    body.pointer("/base_resp/status_code").and_then(values::count).filter(|code| *code != 0)
}

/// The codes and types of an error, wherever the usual forms have them.
fn codes(body: &Value) -> String {
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let error = body.pointer("/errors/0").unwrap_or(error);
    let places = [
        body.pointer("/base_resp/status_code"),
        body.get("code"),
        body.get("type"),
        body.get("error_type"),
        error.get("code"),
        error.get("type"),
        error.get("status"),
        error.pointer("/innererror/code"),
        error.pointer("/metadata/raw"),
        body.get("status"),
        error.get("n_prompt_tokens"),
        error.get("n_ctx"),
    ];
    let names =
        ["code=", "code=", "", "", "code=", "", "", "", "", "", "n_prompt_tokens ", "n_ctx "];
    let named = places
        .into_iter()
        .zip(names)
        .filter_map(|(place, name)| Some(format!("{name}{};", values::text(place?))));
    named.collect::<Vec<_>>().join(" ")
}

/// The status of an error by its own code or type; that of the exchange where it has none.
fn own_status(status: StatusCode, body: &Value, words: &str) -> StatusCode {
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").filter(|error| error.is_object()).unwrap_or(body);
    let code = [error.get("code"), body.get("code"), error.get("status"), body.get("status")]
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
    let has = |list: &[&str]| has_any_of(words, list);
    let by_words = if has(&["overloaded_error"]) {
        529
    } else if has(&["rate_limit_error", "rate_limit_exceeded"]) {
        429
    } else if !status.is_success() {
        return status;
    } else if is_spent(words) || has(&["credit", "billing", "payment"]) {
        402
    } else if is_about_key(words) || has(&["authentication", "unauthorized"]) {
        401
    } else if has(&RATE) {
        429
    } else if words.contains("model") && has(&ABSENT) {
        404
    } else if has(&PASSING) || has(&["api_error", "server_error", "internal"]) {
        503
    } else {
        return status;
    };
    StatusCode::from_u16(by_words).unwrap_or(status)
}

/// Returns true if the endpoint may answer the same request later, by its status.
fn may_pass(status: StatusCode) -> bool {
    match status.as_u16() {
        408 | 409 | 425 | 429 => true,
        // Not implemented, and an unsupported version of HTTP.
        501 | 505 => false,
        code => (500..=599).contains(&code),
    }
}

/// The advice about a key that is missing.
const NO_KEY: &str = "it wants an API key, and none is set";
/// The advice about too many requests.
const RATES: &str = "the rate limit or quota is used up; wait, lower --max-concurrency, or raise \
                     SYRCH_ATTEMPTS";

/// Returns advice about what the user can do about an error.
pub(super) fn advice(said: &Said, has_key: bool, model: &str) -> String {
    let by_cause = match said.cause {
        Cause::Loading => "it has not loaded its model yet; try again later",
        Cause::Credits if has_any_of(&said.words, &OUTPUT) => {
            "its credits do not cover so many tokens; add credits, or lower --max-tokens"
        }
        Cause::Credits => "its credits are used up",
        Cause::Key if !has_key => NO_KEY,
        Cause::Key => "check the API key",
        Cause::Rate => RATES,
        Cause::Excess => {
            "the request alone is over its rate limit, so no wait helps; raise that limit, lower \
             --max-tokens, or ask over fewer --tables"
        }
        Cause::Busy => "the endpoint has too much to do; try again later, or raise SYRCH_ATTEMPTS",
        Cause::Network => {
            "its firewall or network rules refuse this address; the key is not the cause"
        }
        Cause::Page => "a web page is in its place; a proxy or a firewall may block the request",
        Cause::Model => return format!("check the model `{model}`"),
        Cause::Unloadable => {
            return format!("it cannot load the model `{model}`; see its own log, or use another");
        }
        Cause::Filter | Cause::Context(_) | Cause::Other => "",
    };
    if !by_cause.is_empty() {
        return by_cause.to_owned();
    }
    if has_any_of(&said.words, &UNLOADED) {
        return format!("no model is loaded; load `{model}` in its server");
    }
    match said.status.as_u16() {
        401 if !has_key => NO_KEY.to_owned(),
        401 => "check the API key".to_owned(),
        403 if !has_key => "it refuses access, and no API key is set".to_owned(),
        403 => "it refuses access; check the API key and what it may do".to_owned(),
        402 => "its credits are used up".to_owned(),
        404 => format!("check the model `{model}` and the base URL"),
        408 => "it waited too long, for the request or for its model; try again, use a faster \
                model, or raise --timeout if that is shorter"
            .to_owned(),
        429 => RATES.to_owned(),
        400..=499 if said.refuses_tokens() => {
            "it does not take so many output tokens; lower --max-tokens".to_owned()
        }
        300..=399 => {
            "it redirects, which is not followed; set the base URL to where it leads".to_owned()
        }
        529 => "the endpoint is overloaded; try again later, or raise SYRCH_ATTEMPTS".to_owned(),
        500..=599 => "the endpoint failed; see its own log, or raise SYRCH_ATTEMPTS".to_owned(),
        200..=299 => "it has an error in place of a reply".to_owned(),
        _ => "it does not take the request".to_owned(),
    }
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

    fn read_error(status: u16, body: &str) -> Said {
        Said::new(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn what_passes_is_distinguished_from_what_stays() {
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert_eq!(read_error(status, "slow down").retry, Retry::Yes, "{status}");
        }
        for status in [302, 400, 401, 403, 404, 413, 422, 501, 505] {
            assert_eq!(read_error(status, "no").retry, Retry::No, "{status}");
        }
        assert_eq!(read_error(429, r#"{"error":{"code":"insufficient_quota"}}"#).retry, Retry::No);
        let after = headers(&[("retry-after", "2")]);
        fn retry(after: &HeaderMap, status: StatusCode) -> Retry {
            Said::new(status, after, b"").retry
        }
        assert_eq!(
            retry(&after, StatusCode::TOO_MANY_REQUESTS),
            Retry::After(Duration::from_secs(2))
        );
        assert_eq!(retry(&after, StatusCode::UNAUTHORIZED), Retry::No);
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
                json!({
                    "choices": [{
                        "error": {"code": 502, "message": "x"}, "message": {"content": ""}
                    }]
                }),
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
            (
                json!({
                    "choices": null, "base_resp": {
                        "status_code": 1008, "status_msg": "insufficient balance"
                    }
                }),
                402,
                Retry::No,
            ),
            (
                json!({
                    "success": false, "result": {}, "errors": [{"code": 1, "message": "rate limit"}]
                }),
                429,
                Retry::Yes,
            ),
            (json!({"code": 401, "msg": "the token has expired", "data": null}), 401, Retry::No),
            (json!({"error_code": 18, "error_msg": "too many requests"}), 429, Retry::Yes),
            (
                json!({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}),
                429,
                Retry::Yes,
            ),
            (json!({"status": "449", "msg": "You exceeded the rate limit"}), 449, Retry::Yes),
            (json!({"errors": [{"message": "busy, please try again"}]}), 503, Retry::Yes),
            (json!({"errors": [{"message": "no such thing"}]}), 200, Retry::No),
        ] {
            let said = Said::in_reply(&body).unwrap();
            assert_eq!((said.status.as_u16(), said.retry), (status, retry), "{body}");
        }
        for fine in [
            json!({"choices": [{"message": {"content": "x"}}], "error": null}),
            json!({"choices": []}),
            json!({"choices": [{"message": {"content": "x"}}], "error": {}, "msg": "ok"}),
            json!({"choices": [{"message": {"content": "x"}}], "error": "", "errors": []}),
            json!({
                "choices": [{"message": {"content": "x"}}],
                "base_resp": {"status_code": 0, "status_msg": "success"}
            }),
            json!({"choices": [], "base_resp": {"status_code": 0, "status_msg": "success"}}),
        ] {
            assert_eq!(Said::in_reply(&fine), None, "{fine}");
        }
    }

    #[test]
    fn a_filter_in_a_reply_is_known_by_its_code() {
        let body = json!({
            "choices": null,
            "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}
        });
        assert_eq!(Said::in_reply(&body).map(|said| said.cause), Some(Cause::Filter));
    }

    #[test]
    fn filters_and_servers_that_load_are_known_by_their_words() {
        for body in [
            r#"{"error":{"code":"content_filter","message":"The response was filtered"}}"#,
            r#"{"error":{"message":"x","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            r#"{"error":{"message":"Input requires moderation and was flagged for violence"}}"#,
            r#"{"error":{"code":"invalid_prompt","message":"Invalid prompt: your prompt was flagged
                as potentially violating our usage policy."}}"#,
            r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}"#,
            r#"{"error":{"code":"1301","message":"the input may be unsuitable"}}"#,
            r#"{"error":{"message":"Request blocked by guardrail policies."}}"#,
            r#"{"code":403,"error":"Content violates usage guidelines."}"#,
        ] {
            let said = read_error(400, body);
            assert_eq!((said.cause, said.retry), (Cause::Filter, Retry::No), "{body}");
        }
        for (status, body) in [
            (503, r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#),
            (503, r#"{"error":"Model m is currently loading","estimated_time":20.0}"#),
            (500, "the model is still loading"),
        ] {
            let said = read_error(status, body);
            assert_eq!((said.cause, said.retry), (Cause::Loading, Retry::WhenReady), "{body}");
        }
    }

    #[test]
    fn words_count_for_more_than_the_status() {
        use Cause::{Busy, Context, Credits, Excess, Key, Model, Other, Page, Rate, Unloadable};
        for (status, body, cause, retry) in [
            (500, r#"{"error":{"code":"insufficient_quota"}}"#, Credits, Retry::No),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, Credits, Retry::No),
            (503, "Insufficient credits", Credits, Retry::No),
            (403, "Your account balance is insufficient", Credits, Retry::No),
            (400, "Your credit balance is too low to access the API", Credits, Retry::No),
            (402, "This request requires more credits, or fewer max_tokens", Credits, Retry::No),
            (500, "Invalid API key provided", Key, Retry::No),
            (400, "API key not valid. Please pass a valid API key.", Key, Retry::No),
            (403, "You didn't provide an API key", Key, Retry::No),
            (500, "model 'm' not found", Model, Retry::No),
            (404, "The model `m` does not exist", Model, Retry::No),
            (400, "m is not a valid model ID", Model, Retry::No),
            (400, "The engine is currently overloaded, please try again later", Busy, Retry::Yes),
            (400, "Too many concurrent requests, please retry", Busy, Retry::Yes),
            (404, "No endpoints available right now, try again later", Busy, Retry::Yes),
            (400, "top_k is wrong", Other, Retry::No),
            (403, "<!DOCTYPE html><title>Attention Required!</title>", Page, Retry::No),
            (
                404,
                "Failed to load model. Model loading was stopped due to insufficient resources",
                Unloadable,
                Retry::No,
            ),
            (
                500,
                "model requires more system memory (5 GiB) than is there",
                Unloadable,
                Retry::Yes,
            ),
            (
                413,
                "Request too large on tokens per minute (TPM): Limit 6000, Requested 7200",
                Excess,
                Retry::No,
            ),
            (
                429,
                "Rate limit reached (TPM): Limit 6000, Used 5000, Requested 1200",
                Rate,
                Retry::Yes,
            ),
            (429, "You exceeded your current quota (RESOURCE_EXHAUSTED)", Rate, Retry::Yes),
            (
                400,
                "The input token count (1500) exceeds the maximum number of tokens allowed (1024).",
                Context(Some(0)),
                Retry::No,
            ),
            (400, "Too many tokens in the prompt", Context(None), Retry::No),
        ] {
            let said = read_error(status, body);
            assert_eq!((said.cause, said.retry), (cause, retry), "{body}");
        }
    }

    #[test]
    fn a_body_that_is_a_message_alone_is_an_error() {
        let said = Said::in_reply(&json!({"detail": "Internal failure"})).unwrap();
        assert_eq!((said.status.as_u16(), said.retry), (503, Retry::Yes));
        let said = Said::in_reply(&json!({"error": {"message": "Model m not found"}})).unwrap();
        assert_eq!((said.status.as_u16(), said.cause), (404, Cause::Model));
        assert_eq!(Said::in_reply(&json!({"choices": [], "message": "x"})), None);
        let said = Said::in_reply(&json!({"detail": "Not authenticated"})).unwrap();
        assert_eq!((said.status.as_u16(), said.cause), (401, Cause::Key));
    }

    #[test]
    fn advice_follows_from_the_words() {
        for (status, body, words) in [
            (400, "API key not valid", "an API key, and none is set"),
            (403, "<html>Just a moment", "a web page is in its place"),
            (403, "not in your region", "refuses access"),
            (404, "no route", "check the model `m` and the base URL"),
            (408, "Request Timeout", "--timeout"),
            (402, "more credits, or fewer max_tokens: can only afford 100", "lower --max-tokens"),
            (400, "No models loaded. Please load a model first.", "load `m` in its server"),
            (403, "Access denied due to Virtual Network/Firewall rules.", "network rules"),
            (200, r#"{"detail":"Not authenticated"}"#, "an API key, and none is set"),
            (400, "max_tokens exceeds the limit of this server", "lower --max-tokens"),
        ] {
            let advice = advice(&read_error(status, body), false, "m");
            assert!(advice.contains(words), "{body}: {advice}");
        }
        assert_eq!(
            advice(&read_error(404, "model `m` does not exist"), true, "m"),
            "check the model `m`"
        );
    }

    #[test]
    fn what_a_context_has_left_is_read() {
        for (body, tokens) in [
            (
                "This model's maximum context length is 4096 tokens. However, you requested 4704 \
                 tokens (608 in the messages, 4096 in the completion). Please reduce the length of \
                 the messages or completion.",
                Some(3_488),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum \
                 context length is 4096 tokens and your request has 608 input tokens \
                 (4096 > 4096 - 608).",
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
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. \
                 Given: 3500 `inputs` tokens and 1000 `max_new_tokens`",
                Some(596),
            ),
            (
                "This model's maximum context length is 4,097 tokens. However, your messages \
                 resulted in 5,000 tokens.",
                Some(0),
            ),
            (
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096",
                Some(0),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(0)),
            ("prompt is too long", None),
            (r#"{"error":{"code":"context_length_exceeded","message":"too much"}}"#, None),
            (
                "{\"object\":\"error\",\"message\":\"Range of input length should be [1, 1000]\",\
                 \"code\":\"InvalidParameter\"}",
                None,
            ),
            ("the max input characters is 20000", None),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 \
                 tokens",
                None,
            ),
            (r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#, None),
            ("Your request exceeded model token limit: 8192", None),
            ("The input is longer than the maximum sequence length", None),
        ] {
            assert_eq!(read_error(400, body).cause, Cause::Context(tokens), "{body}");
        }
        assert_eq!(read_error(400, "temperature must be at most 2").cause, Cause::Other);
        assert_eq!(read_error(400, "Range of max_tokens should be [1, 8192]").cause, Cause::Other);
        assert_eq!(read_error(413, "<html>too large").cause, Cause::Context(None));
    }

    #[test]
    fn the_greatest_allowed_number_of_tokens_is_read() {
        fn allow(text: &str) -> Option<u32> {
            read_error(400, text).token_limit(10_000)
        }
        for (text, most) in [
            ("max_tokens must be at most 2048", Some(2_048)),
            (
                "max_tokens: 10000 > 8192, which is the maximum allowed number of output \
                 tokens for m",
                Some(8_192),
            ),
            (
                "max_tokens is too large: 10000. This model supports at most 4,096 \
                 completion tokens",
                Some(4_096),
            ),
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Some(8_192)),
            ("`max_tokens` must be less than or equal to `8192`", Some(8_192)),
            ("max_tokens is unknown", None),
            ("top_k must be at most 100", None),
        ] {
            assert_eq!(allow(text), most, "{text}");
        }
        assert_eq!(read_error(503, "max_tokens must be at most 2048").token_limit(10_000), None);
    }
}
