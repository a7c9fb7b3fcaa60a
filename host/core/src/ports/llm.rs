//! Language models: what a guest may ask of them, and what a provider implements.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Flight, Ticket};
use crate::{Catalog, Json, Problem, Task};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The instructions to the model.
    System,
    /// The user's side of the exchange.
    User,
    /// The model's side of the exchange.
    Assistant,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author, who decides the message's role at the endpoint.
    pub speaker: Speaker,
    /// The text as it is sent.
    pub text: String,
}

/// The purpose of a model call. Reports sum up by it, and the configuration may send it to a model
/// of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The call narrows the catalog.
    Link,
    /// The call decomposes the question.
    Plan,
    /// The call writes SQL.
    Generate,
    /// The call repairs SQL.
    Repair,
    /// The call judges SQL.
    Judge,
    /// The call chooses between candidates.
    Select,
    /// The call estimates a confidence.
    Calibrate,
    /// The call writes a question to the user.
    Clarify,
    /// The call puts a result into words.
    Summarise,
    /// The call rewrites SQL.
    Rewrite,
    /// Another purpose, by name.
    Other(String),
}

impl Purpose {
    /// The purpose's name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Link => "link",
            Self::Plan => "plan",
            Self::Generate => "generate",
            Self::Repair => "repair",
            Self::Judge => "judge",
            Self::Select => "select",
            Self::Calibrate => "calibrate",
            Self::Clarify => "clarify",
            Self::Summarise => "summarise",
            Self::Rewrite => "rewrite",
            Self::Other(name) => name,
        }
    }
}

/// The shape that a reply must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Any text; `parsed` stays empty.
    Text,
    /// One SQL statement, in prose or a fence; `parsed` is `{"sql": …, "confidence": number or
    /// null}`.
    Sql,
    /// A document that matches this JSON schema; `parsed` is the document.
    Json(Json),
    /// A YAML mapping with these keys; `parsed` is it as JSON.
    Yaml(Vec<String>),
    /// One of these words; `parsed` is it as a JSON string.
    Choice(Vec<String>),
    /// An embedding of each message; the reply's text is [`crate::encode::vectors`] of them. Only
    /// the host makes such calls; guests have the port `retrieval`.
    Vectors,
    /// Another shape, by name, which every provider refuses.
    Other(String),
}

/// One call of a model. [`Request::key`] decides which of its fields a reply depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The purpose of the call.
    pub purpose: Purpose,
    /// The prompt, in the order in which the messages are sent.
    pub messages: Vec<Message>,
    /// The shape that the reply must have.
    pub expect: Shape,
    /// A configured model's name; `None` means the one for the purpose, or the default.
    pub model: Option<String>,
    /// The SQL texts that the call is about. They are never sent.
    pub subjects: Vec<String>,
    /// The sampling temperature, 0 to 2; `None` means the configured one.
    pub temperature: Option<f32>,
    /// The probability mass to sample from, 0 to 1.
    pub top_p: Option<f32>,
    /// The most output tokens; `None` means the configured number.
    pub max_tokens: Option<u32>,
    /// Sequences at which the model stops.
    pub stop: Vec<String>,
    /// True if the reply reports the sum of its log probabilities.
    pub logprobs: bool,
    /// The number of this sample among several of the same prompt.
    pub sample: u32,
    /// The seed of the search that makes the call, which the host sets: under another seed, a model
    /// answers anew.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: u64,
}

/// The identity of a request: everything in it that a reply depends on. Every key of a cache, a
/// memo or a recording is made of this, so that a new field of [`Request`] cannot be forgotten in
/// one of them. Serialised, different keys are different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestKey<'a> {
    /// The name of [`Request::purpose`]. `None` where the model that answers is known, since the
    /// purpose is not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<&'a str>,
    /// The messages of [`Request::messages`].
    pub messages: &'a [Message],
    /// The shape of [`Request::expect`].
    pub expect: &'a Shape,
    /// The name in [`Request::model`].
    pub model: Option<&'a str>,
    /// The bits of [`Request::temperature`], since JSON cannot write every number.
    pub temperature: Option<u32>,
    /// The bits of [`Request::top_p`].
    pub top_p: Option<u32>,
    /// The limit of [`Request::max_tokens`].
    pub max_tokens: Option<u32>,
    /// The texts of [`Request::stop`].
    pub stop: &'a [String],
    /// The flag of [`Request::logprobs`].
    pub logprobs: bool,
    /// The number in [`Request::sample`].
    pub sample: u32,
    /// The number in [`Request::seed`].
    #[serde(skip_serializing_if = "is_default")]
    pub seed: u64,
}

impl Request {
    /// A request in which everything else is left to the configuration.
    #[must_use]
    pub fn new(purpose: Purpose, messages: Vec<Message>, expect: Shape) -> Self {
        Self {
            purpose,
            messages,
            expect,
            model: None,
            subjects: Vec::new(),
            temperature: None,
            top_p: None,
            max_tokens: None,
            stop: Vec::new(),
            logprobs: false,
            sample: 0,
            seed: 0,
        }
    }

    /// The number that is sent to an endpoint as the seed of a reply. Different samples of
    /// different seeds have different numbers, and those of the seed 0 are the samples' own.
    #[must_use]
    pub fn number(&self) -> u32 {
        /// A prime above any number of samples, which leaves seeds apart.
        const STRIDE: u64 = 1_000_003;
        /// The largest number that every endpoint takes.
        const LARGEST: u64 = i32::MAX as u64;
        let number = self.seed.wrapping_mul(STRIDE).wrapping_add(u64::from(self.sample));
        u32::try_from(number & LARGEST).unwrap_or_default()
    }

    /// The request's identity. Callers replace the fields that mean the same in several spellings,
    /// such as the name of the default model.
    #[must_use]
    pub fn key(&self) -> RequestKey<'_> {
        // The statements that a call is about are never sent.
        let Self {
            purpose,
            messages,
            expect,
            model,
            subjects: _,
            temperature,
            top_p,
            max_tokens,
            stop,
            logprobs,
            sample,
            seed,
        } = self;
        RequestKey {
            purpose: Some(purpose.name()),
            messages,
            expect,
            model: model.as_deref(),
            temperature: temperature.map(f32::to_bits),
            top_p: top_p.map(f32::to_bits),
            max_tokens: *max_tokens,
            stop,
            logprobs: *logprobs,
            sample: *sample,
            seed: *seed,
        }
    }

    /// Bytes that the request can add to a prompt: its messages, and what an endpoint may get of
    /// the expected shape in words.
    #[must_use]
    pub fn prompt_bytes(&self) -> usize {
        let shape: usize = match &self.expect {
            Shape::Text | Shape::Sql | Shape::Vectors => 0,
            Shape::Json(text) | Shape::Other(text) => text.len(),
            Shape::Yaml(list) | Shape::Choice(list) => list.iter().map(String::len).sum(),
        };
        self.messages.iter().map(|message| message.text.len()).sum::<usize>() + shape
    }
}

/// The tokens that a call used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u32,
    /// Tokens of the reply.
    pub output_tokens: u32,
    /// The price in millionths of the price table's currency; `None` when it is unknown.
    pub cost_micros: Option<u64>,
    /// The name of the model that answered, as its endpoint gives it.
    pub model: String,
    /// The part of [`Self::input_tokens`] that the endpoint had in its own prompt cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u32,
    /// True if the tokens are estimated from bytes, since the endpoint did not report them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
    /// The reasons for which the request was sent again before this reply came, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<String>,
}

/// Returns whether a number is the default one, which need not be written.
fn is_default(number: &u64) -> bool {
    *number == 0
}

/// Returns whether a count is 0 and need not be written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A model's reply, checked against the expected shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text as the model wrote it.
    pub text: String,
    /// The JSON document that the expected shape found in the text; `None` for [`Shape::Text`].
    pub parsed: Option<Json>,
    /// True if the reply ended at the limit of output tokens.
    pub truncated: bool,
    /// The sum of log probabilities over the reply's tokens, if it was requested and the endpoint
    /// reports it.
    pub logprob: Option<f64>,
    /// The tokens that the call used.
    pub usage: Usage,
}

/// The document in [`Reply::parsed`] for [`Shape::Sql`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SqlReply {
    /// The statement that is used.
    pub sql: String,
    /// The confidence that the reply states for it, 0 to 1.
    pub confidence: Option<f64>,
    /// All statements of the reply, in the order in which the host tries them, if it holds several.
    /// Guests do not get them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<WrittenStatement>,
    /// The origin of the statement, as an answer's document has it, if it is compiled from the
    /// definitions of metrics. Guests have no use for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<serde_json::Value>,
    /// True if the reply does not say clearly that this is its answer: it takes the statement back,
    /// or another one may be meant as well. Guests get the low confidence alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_doubted: bool,
}

/// One of several statements of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrittenStatement {
    /// The text of the statement.
    pub sql: String,
    /// The confidence that the reply states for it, 0 to 1.
    pub confidence: Option<f64>,
    /// Its place among the statements of the reply, from 1.
    pub number: usize,
    /// The places of the other statements that the reply may as well mean as its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<usize>,
}

impl SqlReply {
    /// The confidence at most in a statement of which the reply does not say clearly that it is
    /// its answer.
    pub const UNCLEAR: f64 = 0.4;

    /// The document of a reply where the request expected this shape.
    #[must_use]
    pub fn from_reply(expect: &Shape, reply: &Reply) -> Option<Self> {
        let parsed = reply.parsed.as_deref().filter(|_| *expect == Shape::Sql)?;
        serde_json::from_str(parsed).ok()
    }

    /// The statements of a reply that holds several, where the request expected this shape; `None`
    /// for any other reply.
    #[must_use]
    pub fn with_several(expect: &Shape, reply: &Reply) -> Option<Self> {
        Self::from_reply(expect, reply).filter(|read| read.statements.len() > 1)
    }

    /// Returns the reply with another of its statements.
    #[must_use]
    pub fn with(self, statement: &WrittenStatement) -> Self {
        let WrittenStatement { sql, confidence, .. } = statement.clone();
        Self { sql, confidence, ..self }
    }

    /// Returns the reply with a doubt of its statement.
    #[must_use]
    pub fn into_doubted(self) -> Self {
        let confidence = self.confidence.unwrap_or(Self::UNCLEAR).min(Self::UNCLEAR);
        Self { confidence: Some(confidence), is_doubted: true, ..self }
    }

    /// Returns the reply as one that holds no other statement.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { statements: Vec::new(), is_doubted: false, ..self }
    }

    /// A remark about which of several statements is used.
    #[must_use]
    pub fn remark(&self) -> String {
        let number = self
            .statements
            .iter()
            .find(|statement| statement.sql == self.sql)
            .map_or(1, |used| used.number);
        format!("the reply held {} statements; number {number} is used", self.statements.len())
    }

    /// The document.
    #[must_use]
    pub fn json(&self) -> Json {
        serde_json::to_value(self).map(|value| value.to_string()).unwrap_or_default()
    }
}

/// The reason why a model call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "lowercase")]
pub enum LlmError {
    /// The search's calls, tokens or cost are used up.
    #[error("the model budget is used up")]
    Budget,
    /// The call is not allowed.
    #[error("denied: {0}")]
    Denied(String),
    /// There is no answer: the model declined, or the offline rules did not understand the request.
    #[error("refused: {0}")]
    Refused(String),
    /// The prompt or the reply is over its limit.
    #[error("prompt or reply over the limit")]
    TooLarge,
    /// The prompt does not fit into the model's context, as the endpoint says in this text. A guest
    /// gets it as [`Self::TooLarge`].
    #[error("the prompt is too long for the model's context: {0}")]
    Overflow(String),
    /// The reply does not have the expected shape; the text is its beginning.
    #[error("malformed reply: {0}")]
    Malformed(String),
    /// The reply was cut off before it held what was expected. A guest gets it as
    /// [`Self::Malformed`], with the reason.
    #[error("the reply was cut off at the limit of {tokens} tokens; it began: {begins}")]
    Cut {
        /// The output tokens that the request allowed.
        tokens: u32,
        /// The beginning of the reply.
        begins: String,
    },
    /// This provider cannot serve the purpose or the shape.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The guest, the host or the user cancelled the call.
    #[error("cancelled")]
    Cancelled,
    /// The endpoint could not be reached, or failed.
    #[error("{0}")]
    Unavailable(String),
    /// The endpoint works and turns the user away. A guest gets it as [`Self::Unavailable`].
    #[error("{message}")]
    Declined {
        /// The obstacle.
        obstacle: Obstacle,
        /// The words of the endpoint, and what to do.
        message: String,
    },
    /// The recording that stands in for a model lacks the call; the text names the nearest call
    /// that it has. It ends the search, and a guest gets only that the model is unavailable, since
    /// the text may quote what the guest must not see.
    #[error("{0}")]
    Missed(String),
    /// A failure of another kind; the text explains it.
    #[error("{0}")]
    Other(String),
}

impl LlmError {
    /// The error with another message, if it is that of an endpoint which serves nothing.
    #[must_use]
    pub fn map_outage(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Unavailable(message) => Self::Unavailable(change(message)),
            Self::Declined { obstacle, message } => {
                Self::Declined { obstacle, message: change(message) }
            }
            other => other,
        }
    }
}

/// The reason why an endpoint that works turns the user away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Obstacle {
    /// The user's credits are used up.
    Credits,
    /// The key is missing, wrong, or may not do this.
    Key,
    /// Too much was asked in a time.
    Rate,
    /// The request alone is more than may be asked in a time.
    Size,
    /// The endpoint has too much to do, or is not ready yet.
    Load,
}

/// The port `llm` of one role call.
#[async_trait]
pub trait LlmPort: Send + Sync {
    /// Called when a guest asks which models a request may name. Returns their configured names,
    /// the default first.
    fn models(&self) -> Vec<String>;
    /// Called when a guest makes a model call, in the order in which it makes them; returns when
    /// the call is registered. The returned future resolves to the reply or to why there is none.
    /// `ticket` is the call's number in its role call; dropping the future ends the call.
    async fn issue(&self, ticket: Ticket, request: Request) -> Flight<Result<Reply, LlmError>>;
}

/// A request together with what the host knows about it, so that a provider need not parse prompts.
#[derive(Clone)]
pub struct ModelCall {
    /// The request as the guest made it.
    pub request: Request,
    /// The problem of the search.
    pub problem: Arc<Problem>,
    /// The task that the calling role works on, if it works on one.
    pub task: Option<Arc<Task>>,
    /// The catalog that the calling role sees.
    pub catalog: Arc<Catalog>,
}

/// The outcome of a call. `usage` is set whenever the provider reported one, also beside an error;
/// a call that an endpoint rejected with an error status used nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOutcome {
    /// The reply, or why there is none.
    pub result: Result<Reply, LlmError>,
    /// The tokens that the call used, as reported; `None` when nothing was reported.
    pub usage: Option<Usage>,
    /// True if anything was sent, so that the call must be charged even if it failed.
    pub sent: bool,
    /// The advice on another try of the same call, and its time.
    pub retry: Retry,
}

/// The advice on another try of a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retry {
    /// The call would fail again, or it did not fail.
    #[default]
    No,
    /// The call may succeed after a while.
    Yes,
    /// The endpoint is not ready yet, since it loads its model. The call may succeed after some
    /// time, however often it is tried until then.
    WhenReady,
    /// No reply came within the time that the endpoint has. The same request would most likely end
    /// in the same way; one for a shorter reply may succeed.
    Shorter,
    /// The endpoint named the time after which the call may succeed. Zero: the provider has
    /// simplified the request and can send it at once.
    After(Duration),
}

impl ModelOutcome {
    /// The outcome of a call that was sent and is not worth another try.
    #[must_use]
    pub fn sent(result: Result<Reply, LlmError>, usage: Option<Usage>) -> Self {
        Self { result, usage, sent: true, retry: Retry::No }
    }

    /// The outcome of a call that failed before anything was sent.
    #[must_use]
    pub fn unsent(error: LlmError) -> Self {
        Self { result: Err(error), usage: None, sent: false, retry: Retry::No }
    }

    /// This outcome with another [`Retry`].
    #[must_use]
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }
}

/// The most that a call will use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    /// The price in millionths; `None` when it is unknown.
    pub cost_micros: Option<u64>,
}

impl Estimate {
    /// Tokens of prompt and reply together.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A request as it would be sent, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    /// The HTTP method, such as `POST`.
    pub method: String,
    /// The URL that it would go to.
    pub url: String,
    /// Names and values of the headers; a secret's value is `***`.
    pub headers: Vec<(String, String)>,
    /// The JSON document that would be the request's body.
    pub body: serde_json::Value,
}

/// A backend for models, or a layer around one. Everything but [`complete`](Self::complete) must
/// return at once; all of it may be called from several tasks at the same time.
#[async_trait]
pub trait ModelProvider: Send + Sync {
    /// The provider's name in reports and journals, such as `openai` or `offline`.
    fn name(&self) -> &str;
    /// The names that a request may hold, the default first. Called before each call, to refuse a
    /// name that is not among them.
    fn models(&self) -> Vec<String>;
    /// Called before a call to make its cache key. Returns what identifies the endpoint, the model
    /// and the settings that would answer: together with [`Request::key`] everything that the reply
    /// depends on. `None` when replies are not to be cached, since the provider is as quick as a
    /// cache or is one; this is the default.
    fn identity(&self, call: &ModelCall) -> Option<String> {
        let _ = call;
        None
    }
    /// Called before a call is sent, to reserve its budget, and possibly several times with other
    /// output limits. Returns an upper bound of what the call will use, which must not decrease
    /// when `max_tokens` grows. An estimate of no tokens means that calls are free.
    fn estimate(&self, call: &ModelCall) -> Estimate;
    /// Called in a dry run instead of [`complete`](Self::complete). Returns the exact request that
    /// `complete` would send first, without secrets; `None` when it would send nothing, which is
    /// the default.
    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        let _ = call;
        None
    }
    /// Makes the call. Failures are part of the outcome, which also says whether anything was sent
    /// and must be charged. Dropping the future ends the call as soon as possible.
    async fn complete(&self, call: &ModelCall) -> ModelOutcome;
    /// The names of the layers that a call passes before it reaches the backend, the outermost
    /// first. Called by tests and for display.
    fn layers(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// A decorator around another provider. Every layer is a [`ModelProvider`], which forwards to the
/// inner one whatever the layer does not change.
#[async_trait]
pub trait ModelLayer: Send + Sync {
    /// The layer's name in [`ModelProvider::layers`].
    fn layer(&self) -> &'static str;
    /// The provider that this layer decorates.
    fn inner(&self) -> &dyn ModelProvider;
    /// Called for [`ModelProvider::estimate`]. The default is the estimate of the inner provider.
    fn estimate_call(&self, call: &ModelCall) -> Estimate {
        self.inner().estimate(call)
    }
    /// Called for [`ModelProvider::complete`]. The layer calls the inner provider or replies
    /// itself.
    async fn call(&self, call: &ModelCall) -> ModelOutcome;
}

#[async_trait]
impl<L: ModelLayer> ModelProvider for L {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn models(&self) -> Vec<String> {
        self.inner().models()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        self.inner().identity(call)
    }

    fn estimate(&self, call: &ModelCall) -> Estimate {
        self.estimate_call(call)
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        self.inner().preview(call)
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        self.call(call).await
    }

    fn layers(&self) -> Vec<&'static str> {
        std::iter::once(self.layer()).chain(self.inner().layers()).collect()
    }
}
