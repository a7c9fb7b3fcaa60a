//! Language models: what a guest may ask, and what a provider implements.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Flight, Ticket};
use crate::{Catalog, Json, Problem, Task};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
}

/// Why a call is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Narrow the catalog.
    Link,
    /// Decompose the question.
    Plan,
    /// Write SQL.
    Generate,
    /// Repair SQL.
    Repair,
    /// Judge SQL.
    Judge,
    /// Choose between candidates.
    Select,
    /// Estimate a confidence.
    Calibrate,
    /// Ask the user.
    Clarify,
    /// Put a result into words.
    Summarise,
    /// Rewrite SQL.
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

/// What a reply must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Any text; `parsed` stays empty.
    Text,
    /// One SQL statement, in prose or a fence; `parsed` is `{"sql": …, "confidence": number or null}`.
    Sql,
    /// A document that matches this JSON schema; `parsed` is the document.
    Json(Json),
    /// A YAML mapping with these keys; `parsed` is it as JSON.
    Yaml(Vec<String>),
    /// One of these words; `parsed` is it as a JSON string.
    Choice(Vec<String>),
    /// An embedding of each message; the text is [`crate::encode::vectors`] of them. Of the host's own calls alone: a guest has the port `search`.
    Vectors,
    /// Another shape, by name; the host knows none.
    Other(String),
}

/// One call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Why it is made.
    pub purpose: Purpose,
    /// The prompt.
    pub messages: Vec<Message>,
    /// What the reply must be.
    pub expect: Shape,
    /// A configured name; none: the default.
    pub model: Option<String>,
    /// The SQL texts the call is about. Never sent.
    pub subjects: Vec<String>,
    /// 0 to 2.
    pub temperature: Option<f32>,
    /// 0 to 1.
    pub top_p: Option<f32>,
    /// Output tokens.
    pub max_tokens: Option<u32>,
    /// Where to stop.
    pub stop: Vec<String>,
    /// Whether to report the sum of log probabilities.
    pub logprobs: bool,
    /// Which of several samples of the same prompt.
    pub sample: u32,
}

/// What a call used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u32,
    /// Tokens of the reply.
    pub output_tokens: u32,
    /// Price in millionths; none: unknown.
    pub cost_micros: Option<u64>,
    /// The model that answered.
    pub model: String,
}

/// A model's reply, checked against the expected shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text as it came.
    pub text: String,
    /// What the expected shape found in it.
    pub parsed: Option<Json>,
    /// Whether it stopped at the length limit.
    pub truncated: bool,
    /// Sum of log probabilities over the reply's tokens.
    pub logprob: Option<f64>,
    /// What it used.
    pub usage: Usage,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "lowercase")]
pub enum LlmError {
    /// Calls, tokens or money are used up.
    #[error("the model budget is used up")]
    Budget,
    /// Not allowed.
    #[error("denied: {0}")]
    Denied(String),
    /// There is no answer: a model refused, or the rules did not understand.
    #[error("refused: {0}")]
    Refused(String),
    /// The prompt or the reply is over the limit.
    #[error("prompt or reply over the limit")]
    TooLarge,
    /// A reply of another shape than expected; the text is its beginning.
    #[error("malformed reply: {0}")]
    Malformed(String),
    /// This provider cannot serve the purpose or shape.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// Somebody cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// The endpoint could not be reached or failed.
    #[error("{0}")]
    Unavailable(String),
    /// The recording that answers in place of a model lacks the call; the text names the nearest one it has. It ends the search, and a
    /// guest hears only that the model is unavailable, since the text may quote what it was not to see.
    #[error("{0}")]
    Missed(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// The port `llm` of one role call.
#[async_trait]
pub trait LlmPort: Send + Sync {
    /// The names that a request may hold.
    fn models(&self) -> Vec<String>;
    /// Makes the call; what comes back waits for the reply, which is an [`LlmError`] at worst. `ticket` is the call's number in its
    /// role call; dropping the flight ends the call.
    async fn issue(&self, ticket: Ticket, request: Request) -> Flight<Result<Reply, LlmError>>;
}

/// A request with what the host knows around it, so that a provider need not read prompts.
#[derive(Clone)]
pub struct ModelCall {
    /// What the guest asked.
    pub request: Request,
    /// The problem under search.
    pub problem: Arc<Problem>,
    /// The task that the calling role works on.
    pub task: Option<Arc<Task>>,
    /// The catalog that the calling role sees.
    pub catalog: Arc<Catalog>,
}

/// What came of a call. `usage` is there whenever the provider reported one, also beside an error; a call that an endpoint turned away
/// (an error status) used nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOutcome {
    /// The reply or the failure.
    pub result: Result<Reply, LlmError>,
    /// What it used.
    pub usage: Option<Usage>,
    /// Whether anything was sent, so that the call must be charged even when it failed.
    pub sent: bool,
    /// Whether the same call may succeed later, and when.
    pub retry: Retry,
}

/// Whether a failed call is worth another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retry {
    /// It would fail again, or it did not fail.
    #[default]
    No,
    /// It may succeed after a while.
    Yes,
    /// The endpoint said when to come back.
    After(Duration),
}

impl ModelOutcome {
    /// What came of a call that was sent.
    #[must_use]
    pub fn sent(result: Result<Reply, LlmError>, usage: Option<Usage>) -> Self {
        Self { result, usage, sent: true, retry: Retry::No }
    }

    /// A failure before anything was sent.
    #[must_use]
    pub fn unsent(error: LlmError) -> Self {
        Self { result: Err(error), usage: None, sent: false, retry: Retry::No }
    }

    /// The same, with what is known about another try.
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
    /// Price in millionths; none: unknown.
    pub cost_micros: Option<u64>,
}

impl Estimate {
    /// Tokens, input and output together.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A request on the wire as it would be sent, secrets left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    /// Such as `POST`.
    pub method: String,
    /// Where to.
    pub url: String,
    /// Names and values; a secret's value is `***`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: serde_json::Value,
}

/// A backend for models.
#[async_trait]
pub trait ModelProvider: Send + Sync {
    /// The provider's name in reports, such as `openai` or `offline`.
    fn name(&self) -> &str;
    /// The model names that a request may hold, the default first.
    fn models(&self) -> Vec<String>;
    /// Which endpoint and model would answer the call: with the request, all that a reply depends on. None: its replies are not to be
    /// kept, since it is as quick as a cache or already one.
    fn identity(&self, call: &ModelCall) -> Option<String>;
    /// An upper estimate of what the call will use.
    fn estimate(&self, call: &ModelCall) -> Estimate;
    /// The exact exchange that [`ModelProvider::complete`] would begin, without secrets; none: nothing would be sent.
    fn preview(&self, call: &ModelCall) -> Option<Preview>;
    /// Makes the call. Dropping the future ends it.
    async fn complete(&self, call: &ModelCall) -> ModelOutcome;
    /// The layers that a call passes before it comes to whoever answers, outermost first.
    fn layers(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// A decorator around another provider: what it does not change is the inner one's. Every layer is a [`ModelProvider`].
#[async_trait]
pub trait ModelLayer: Send + Sync {
    /// Its name in the list of layers.
    fn layer(&self) -> &'static str;
    /// The provider that it stands around.
    fn inner(&self) -> &dyn ModelProvider;
    /// What it makes of [`ModelProvider::estimate`].
    fn estimated(&self, call: &ModelCall) -> Estimate {
        self.inner().estimate(call)
    }
    /// What it makes of [`ModelProvider::complete`].
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
        self.estimated(call)
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
