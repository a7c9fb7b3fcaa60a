//! The port `llm` of a clarifier whose question nobody can answer: the question is made by rule,
//! and no model is paid for its words.

use async_trait::async_trait;
use syrch_core::ports::{Flight, LlmError, LlmPort, Reply, Request, Ticket};

/// A port that refuses every call.
pub struct Wordless;

#[async_trait]
impl LlmPort for Wordless {
    fn models(&self) -> Vec<String> {
        Vec::new()
    }

    async fn issue(&self, _: Ticket, _: Request) -> Flight<Result<Reply, LlmError>> {
        let why = "nobody can answer a question to the user".to_owned();
        Box::pin(async move { Err(LlmError::Unsupported(why)) })
    }
}
