//! The causes of endpoints' errors, by the words that they use.

use reqwest::StatusCode;
use syrch_core::text::clip;

/// Words of errors about a quota that is used up, which no wait gives back.
const QUOTA: [&str; 8] = [
    "insufficient_quota",
    "insufficient quota",
    "billing_hard_limit",
    "billing hard limit",
    "billing_not_active",
    "payment required",
    "spending limit",
    "arrearage",
];
/// Words for money, which mean the same beside one of [`SPENT`].
const MONEY: [&str; 8] = [
    "credit",
    "account balance",
    "your balance",
    "balance is",
    "insufficient balance",
    "insufficient_balance",
    "enough balance",
    "funds",
];
/// Words for what there is no more of.
const SPENT: [&str; 13] = [
    "insufficient",
    "too low",
    "used up",
    "exhausted",
    "not enough",
    "ran out",
    "run out",
    "out of",
    "depleted",
    "negative",
    "more credits",
    "no credits",
    "top up",
];
/// Words for a key, of which an error is beside one of [`WRONG`].
const KEY: [&str; 6] =
    ["api key", "api_key", "api-key", "apikey", "access token", "authentication token"];
/// Words for a key that is missing or wrong.
const WRONG: [&str; 16] = [
    "invalid",
    "incorrect",
    "not valid",
    "wrong",
    "malformed",
    "missing",
    "required",
    "no api key",
    "not provide",
    "n't provide",
    "not found",
    "not exist",
    "expired",
    "revoked",
    "disabled",
    "unauthorized",
];
/// Words of an error about a key, where it is not named.
const UNKNOWN_USER: [&str; 6] = [
    "not authenticated",
    "authentication_error",
    "unauthenticated",
    "invalid authentication",
    "invalid credentials",
    "incorrect credentials",
];
/// Words for what is not there, which is the model if it is named beside one of them.
pub(super) const ABSENT: [&str; 8] = [
    "not found",
    "not_found",
    "not exist",
    "n't exist",
    "no such model",
    "unknown model",
    "invalid model",
    "not a valid model",
];
/// Words of a model that its server cannot load.
const UNLOADABLE: [&str; 8] = [
    "failed to load",
    "unable to load",
    "cannot load",
    "could not load",
    "error loading model",
    "loading failed",
    "loading was stopped",
    "requires more system memory",
];
/// Words of a server that has no model loaded.
pub(super) const UNLOADED: [&str; 4] =
    ["no models loaded", "no model loaded", "no model is loaded", "no models are loaded"];
/// Words of a firewall that refuses an address.
const NETWORK: [&str; 6] = [
    "firewall",
    "virtual network",
    "ip address",
    "private endpoint",
    "public access is disabled",
    "network rules",
];
/// Names of the limit of output tokens.
pub(super) const OUTPUT: [&str; 5] =
    ["max_tokens", "max_completion_tokens", "max_new_tokens", "completion tokens", "output tokens"];
/// Words of content filters and moderation, and the codes of Zhipu and MiniMax for them.
const FILTER: [&str; 34] = [
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
    "flagged as",
    "was flagged",
    "been flagged",
    "safety system",
    "usage policy",
    "usage policies",
    "usage guidelines",
    "content guidelines",
    "safety guidelines",
    "safety policy",
    "content exists risk",
    "content violates",
    "violates our content",
    "blocked by guardrail",
    "blocked by a guardrail",
    "guardrail_intervened",
    "guardrail intervened",
    "inappropriate content",
    "unsafe content",
    "sensitive content",
    "code=1301;",
    "code=1026;",
    "code=1027;",
];
/// Words of a prompt that, with its reply, does not fit into the context.
const CONTEXT: [&str; 30] = [
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
    "range of input length",
    "input length should",
    "maximum input length",
    "max input length",
    "max input characters",
    "max input tokens",
    "maximum prompt length",
    "max prompt length",
    "prompt exceeds max length",
    "exceeded model token limit",
    "token limit exceeded",
    "maximum sequence length",
    "input is longer than",
];
/// Words for a prompt, which is too long for the context if one of [`OVER`] is said of its tokens.
const PROMPT: [&str; 3] = ["prompt", "input", "context"];
/// Words for what is more than allowed.
const OVER: [&str; 6] =
    ["exceed", "too long", "longer than", "too many", "larger than", "greater than"];
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
pub(super) const PASSING: [&str; 12] = [
    "overloaded",
    "temporarily",
    "try again",
    "retry",
    "timed out",
    "timeout",
    "busy",
    "unavailable",
    "capacity",
    "unexpectedly stopped",
    "stopped unexpectedly",
    "bad gateway",
];
/// Words of errors that pass, whatever status they have.
const BUSY: [&str; 17] = [
    "overloaded",
    "temporarily",
    "try again later",
    "try again in ",
    "try again soon",
    "try again shortly",
    "please retry",
    "retry later",
    "retry your request",
    "too many concurrent",
    "concurrency limit",
    "is busy",
    "server busy",
    "at capacity",
    "high demand",
    "queue is full",
    "unavailable",
];
/// Words of too many requests, or of tokens in a time.
pub(super) const RATE: [&str; 12] = [
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "resource_exhausted",
    "throttl",
    "per minute",
    "per min)",
    "per hour",
    "per day",
    "(tpm)",
    "(rpm)",
];

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
    /// The endpoint cannot load its model.
    Unloadable,
    /// Credits are used up.
    Credits,
    /// The key is missing or wrong.
    Key,
    /// The endpoint does not have the model.
    Model,
    /// Too many requests or tokens were sent in a time.
    Rate,
    /// The request alone is over the limit of a time.
    Excess,
    /// The endpoint has too much to do.
    Busy,
    /// The endpoint refuses the address of the caller.
    Network,
    /// A web page stands in place of an error.
    Page,
    /// Anything else, by its status.
    Other,
}

/// Returns true if one of the words is in the text.
pub(super) fn has_any_of(text: &str, list: &[&str]) -> bool {
    list.iter().any(|word| text.contains(word))
}

/// Returns the cause of an error by its words, which are in lower case; the status decides where
/// several causes have the same words.
pub(super) fn cause(status: StatusCode, words: &str) -> Cause {
    let code = status.as_u16();
    let is_access = matches!(code, 401..=403);
    let is_page = has_any_of(words, &["<!doctype html", "<html"]);
    if has_any_of(words, &FILTER) {
        Cause::Filter
    } else if code == 403 && is_page {
        Cause::Page
    } else if code == 403 && has_any_of(words, &NETWORK) {
        Cause::Network
    } else if is_spent(words) {
        Cause::Credits
    } else if has_any_of(words, &RATE) && !matches!(code, 401 | 402) {
        if is_excess(words) { Cause::Excess } else { Cause::Rate }
    } else if is_over_context(words) || code == 413 {
        Cause::Context(free_tokens(words))
    } else if has_any_of(words, &UNLOADABLE) {
        Cause::Unloadable
    } else if has_any_of(words, &LOADING) {
        Cause::Loading
    } else if is_about_key(words) {
        Cause::Key
    } else if words.contains("model") && has_any_of(words, &ABSENT) {
        Cause::Model
    } else if status.is_client_error() && !is_access && has_any_of(words, &BUSY) {
        Cause::Busy
    } else {
        Cause::Other
    }
}

/// Returns true if credits are used up.
pub(super) fn is_spent(words: &str) -> bool {
    has_any_of(words, &QUOTA) || has_any_of(words, &MONEY) && has_any_of(words, &SPENT)
}

/// Returns true if a key is missing or wrong.
pub(super) fn is_about_key(words: &str) -> bool {
    has_any_of(words, &UNKNOWN_USER) || has_any_of(words, &KEY) && has_any_of(words, &WRONG)
}

/// Returns true if prompt and reply do not fit into the context.
fn is_over_context(words: &str) -> bool {
    let is_prompt =
        has_any_of(words, &PROMPT) && words.contains("token") && !has_any_of(words, &OUTPUT);
    has_any_of(words, &CONTEXT) || is_prompt && has_any_of(words, &OVER)
}

/// Returns true if a request is over the limit of a time by itself, so that no wait helps.
fn is_excess(words: &str) -> bool {
    let limit = number_right_after(words, "limit");
    match limit.zip(number_right_after(words, "requested")) {
        Some((limit, requested)) => requested > limit,
        None => words.contains("request too large"),
    }
}

/// The tokens that a context has left beside a prompt, if the error names both sizes. `words` is in
/// lower case.
fn free_tokens(words: &str) -> Option<u32> {
    /// Words before the size of the context.
    const SIZE: [&str; 12] = [
        "number of tokens allowed (",
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
    const BEFORE: [&str; 7] = [
        "input token count (",
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
pub(super) fn numbers(text: &str) -> impl Iterator<Item = u64> {
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

/// The first number that follows the words, with nothing but a sign between.
fn number_right_after(text: &str, key: &str) -> Option<u64> {
    text.match_indices(key).find_map(|(at, _)| {
        let rest = text[at + key.len()..].trim_start_matches([' ', ':', '=']);
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| numbers(rest).next())?
    })
}

/// The number right before the words.
fn number_before(text: &str, key: &str) -> Option<u64> {
    text.match_indices(key).find_map(|(at, _)| {
        let before = &text[..at];
        let start = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',').len();
        before[start..].replace(',', "").parse().ok()
    })
}
