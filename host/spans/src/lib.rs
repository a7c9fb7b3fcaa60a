//! Spans of searches, and the interface of what takes them: a span says what happened from when to
//! when, within what, and what it depended on.

use std::fmt;
use std::time::SystemTime;

/// Takes the spans of searches as they end.
pub trait SpanSink: fmt::Debug + Send + Sync {
    /// Takes one, the parts before the whole. The search waits for this, so it must be quick.
    fn take(&self, span: Span);

    /// Returns whether spans of statements should hold their text, in which the question and cells
    /// may be quoted.
    fn wants_sql(&self) -> bool {
        false
    }
}

/// Eight bytes that name a span within its trace, never all zero.
pub type SpanId = [u8; 8];

/// One piece of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The run's trace; it follows from the run's id.
    pub trace: [u8; 16],
    /// Its own name within the trace.
    pub id: SpanId,
    /// The piece that it is a part of; `None` if it is the whole run.
    pub parent: Option<SpanId>,
    /// The kind of work, such as `search`, `solver` or `chat gpt-4o`. There are few different ones.
    pub name: String,
    /// The place of the work: in the host, or at an endpoint or a database.
    pub kind: SpanKind,
    /// The spans that it depended on, besides the one that it is a part of: the edges of the search
    /// graph.
    pub links: Vec<Link>,
    /// The attributes: names of OpenTelemetry's conventions, and names of the host that begin with
    /// `syrch.`.
    pub attributes: Vec<(&'static str, Value)>,
    /// The time at which the work began.
    pub start: SystemTime,
    /// The time at which the work ended, for a span that has ended.
    pub end: SystemTime,
    /// The class of its error, such as `syntax` or `unavailable`; `None` if it did not fail.
    pub error: Option<&'static str>,
}

impl Span {
    /// Returns the value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// The place where the work of a span was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// The host or one of its plugins.
    Internal,
    /// A model's endpoint or a database, which the host waited for.
    Client,
}

/// An edge of the search graph, from the span that it ends at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The solver's span of the task that was needed.
    pub span: SpanId,
    /// The id of that task in the search graph.
    pub task: String,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text, such as the name of a model.
    Text(String),
    /// A whole number, such as a count of tokens.
    Whole(i64),
    /// A number with decimals, such as a price.
    Number(f64),
    /// A truth value, such as whether a result was truncated.
    Flag(bool),
    /// A list of texts, such as reasons to stop.
    Texts(Vec<String>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

impl From<f32> for Value {
    /// The number as people write it: 0.7 stays 0.7.
    fn from(number: f32) -> Self {
        Self::Number(number.to_string().parse().unwrap_or_else(|_| f64::from(number)))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
