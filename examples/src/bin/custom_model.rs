//! A model that the program implements itself, in place of an endpoint: this one writes counts of
//! the tables that a question names. The host calls it as it calls any model: under the budgets,
//! with retries, and recorded in the journal.
//!
//! `cargo run --bin make-shop`, then `cargo run --bin custom-model -- "How many orders are
//! there?"`.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use async_trait::async_trait;
use syrch::Host;
use syrch::syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Reply, Shape, Usage,
};

const MODEL: &str = "counter-1";

struct Counter;

#[async_trait]
impl ModelProvider for Counter {
    fn name(&self) -> &str {
        "counter"
    }

    fn models(&self) -> Vec<String> {
        vec![MODEL.to_owned()]
    }

    /// An upper estimate, which the budgets hold back until the usage is known. No tokens mean that
    /// calls are free, as here; a model that costs something is charged a token for every eight
    /// bytes at least.
    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate::default()
    }

    /// `call.request` has the prompt and the shape that the reply must have; the question and the
    /// catalog are beside it.
    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        if call.request.expect != Shape::Sql {
            return ModelOutcome::unsent(LlmError::Unsupported(
                "this model writes SQL and nothing else".to_owned(),
            ));
        }
        let question = call.problem.question.to_lowercase();
        let Some(table) = call.catalog.tables.iter().find(|table| question.contains(&table.name))
        else {
            return ModelOutcome::unsent(LlmError::Refused(
                "the question names no table".to_owned(),
            ));
        };
        let sql = format!("SELECT COUNT(*) AS number FROM {}", table.name);
        let parsed = serde_json::json!({ "sql": sql, "confidence": 0.9 }).to_string();
        let usage = Usage { model: MODEL.to_owned(), ..Usage::default() };
        let reply = Reply {
            text: sql,
            parsed: Some(parsed),
            truncated: false,
            logprob: None,
            usage: usage.clone(),
        };
        ModelOutcome::sent(Ok(reply), Some(usage))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let question = arguments.next().unwrap_or_else(|| "How many orders are there?".to_owned());
    let database = arguments.next().unwrap_or_else(|| "examples/shop.sqlite".to_owned());
    // `single` makes one call: a statement for the whole question.
    let host = Host::builder()
        .database(database)
        .model(Arc::new(Counter))
        .strategy("single")
        .open()
        .await?;
    let found = host.query(question).run().await?;
    writeln!(std::io::stdout(), "{}\n{}", found.answer, found.sql)?;
    Ok(())
}
