//! Reads the statement in a model's reply.

use crate::failure::llm_words;
use crate::prelude::*;
use crate::replies::sql_reply;
use crate::text::line;

/// A statement that a model wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The SQL text, not empty.
    pub sql: String,
    /// The confidence that the model stated, 0 to 1.
    pub confidence: Option<f64>,
    /// The sum of the log probabilities of the reply's tokens.
    pub logprob: Option<f64>,
    /// The input and output tokens of the call.
    pub tokens: f64,
}

impl Statement {
    /// The candidate of this statement. The log probability and the tokens (as `tokens` in `extra`)
    /// are added to the signals.
    #[must_use]
    pub fn candidate(
        self,
        id: String,
        parents: Vec<String>,
        origin: &str,
        mut signals: Signals,
    ) -> Candidate {
        signals.logprob = self.logprob;
        signals.extra.push(("tokens".to_owned(), self.tokens));
        Candidate {
            id,
            parents,
            origin: origin.to_owned(),
            sql: self.sql,
            raw_confidence: self.confidence,
            signals,
            ..Candidate::default()
        }
    }
}

/// The outcome of a request for a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// The statement of the reply.
    Statement(Statement),
    /// A reply without a statement, which counts as an attempt; the text explains it to a model.
    NoStatement(String),
    /// No reply, since the prompt was too large.
    TooLarge,
    /// No reply, since the model abstains; the text is its reason. This is not a failure.
    Abstained(String),
    /// No reply, for a reason that will fail later calls, too.
    Failed(Failure),
}

/// Reads the reply to a request of the shape `sql`.
#[must_use]
pub fn written(reply: Result<Reply, LlmError>) -> Written {
    match reply {
        Ok(reply) => match sql_reply(&reply) {
            Some(parsed) => Written::Statement(Statement {
                sql: parsed.sql,
                confidence: parsed.confidence,
                logprob: reply.logprob,
                tokens: f64::from(reply.usage.input_tokens) + f64::from(reply.usage.output_tokens),
            }),
            None => Written::NoStatement("the reply held no statement".to_owned()),
        },
        Err(LlmError::Malformed(start)) => Written::NoStatement(format!(
            "the reply held no statement; it began: {}",
            line(&start, 200)
        )),
        Err(LlmError::TooLarge) => Written::TooLarge,
        Err(error @ (LlmError::Refused(_) | LlmError::Unsupported(_))) => {
            Written::Abstained(llm_words(&error))
        }
        Err(error) => Written::Failed(llm_failure(&error)),
    }
}

/// The failure of a prompt that is too large and cannot be made shorter.
#[must_use]
pub fn too_large() -> Failure {
    llm_failure(&LlmError::TooLarge)
}
