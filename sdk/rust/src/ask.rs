//! Writing a model request in one expression.

use serde_json::Value;

use crate::bindings::llm::{Message, Purpose, Request, Shape, Speaker};

/// A request under construction: `Ask::new(Purpose::Generate).system("…").user("…").sql()`.
#[derive(Debug, Clone)]
#[must_use]
pub struct Ask(Request);

impl Ask {
    /// A request for that purpose, with no message yet.
    pub fn new(purpose: Purpose) -> Self {
        Self(Request {
            purpose,
            messages: Vec::new(),
            expect: Shape::Text,
            model: None,
            subjects: Vec::new(),
            temperature: None,
            top_p: None,
            max_tokens: None,
            stop: Vec::new(),
            logprobs: false,
            sample: 0,
        })
    }

    /// Adds a message with instructions to the model.
    pub fn system(self, text: impl Into<String>) -> Self {
        self.message(Speaker::System, text.into())
    }

    /// Adds what the user says.
    pub fn user(self, text: impl Into<String>) -> Self {
        self.message(Speaker::User, text.into())
    }

    /// Adds what the model said, as in an example of a reply.
    pub fn assistant(self, text: impl Into<String>) -> Self {
        self.message(Speaker::Assistant, text.into())
    }

    /// The SQL texts that the call is about, which are never sent.
    pub fn subjects(mut self, subjects: Vec<String>) -> Self {
        self.0.subjects = subjects;
        self
    }

    /// The name of a configured model.
    pub fn model(mut self, model: Option<String>) -> Self {
        self.0.model = model;
        self
    }

    /// Sets the sampling temperature, 0 to 2. Without it the host's configuration decides.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.0.temperature = Some(temperature as f32);
        self
    }

    /// The most output tokens.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.0.max_tokens = Some(tokens);
        self
    }

    /// Sets the number of the sample, of several for the same prompt.
    pub fn sample(mut self, sample: u32) -> Self {
        self.0.sample = sample;
        self
    }

    /// Finishes it: any text will do.
    #[must_use]
    pub fn text(self) -> Request {
        self.0
    }

    /// Finishes it: one statement, with a confidence if the model states one; see
    /// [`crate::replies::sql_reply`].
    #[must_use]
    pub fn sql(mut self) -> Request {
        self.0.expect = Shape::Sql;
        self.0
    }

    /// Finishes it: a document that matches this JSON schema.
    #[must_use]
    pub fn json(mut self, schema: &Value) -> Request {
        self.0.expect = Shape::Json(schema.to_string());
        self.0
    }

    /// Finishes it: one of these words.
    #[must_use]
    pub fn choice(mut self, words: Vec<String>) -> Request {
        self.0.expect = Shape::Choice(words);
        self.0
    }

    fn message(mut self, speaker: Speaker, text: String) -> Self {
        self.0.messages.push(Message { speaker, text });
        self
    }
}
