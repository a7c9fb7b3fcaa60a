//! The clients of model endpoints, each against a server of our own that speaks its documented
//! protocol, and under the layers that they run under.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails where it unwraps or panics")]

mod anthropic;
mod faults;
mod layered;
mod openai;
mod structured;

use std::sync::Arc;
use std::time::Duration;

use syrch_core::ports::{
    LlmError, Message, ModelCall, ModelOutcome, ModelProvider, Purpose, Request, Retry, Shape,
    Speaker,
};
use syrch_core::{Catalog, Dialect, Problem};

const KEY: &str = "sk-sesame-0123456789";
const SCHEMA: &str = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#;

fn call(prompt: &str, expect: Shape) -> ModelCall {
    let request = Request {
        subjects: vec!["SELECT never_sent".into()],
        ..Request::new(
            Purpose::Generate,
            vec![Message { speaker: Speaker::User, text: prompt.into() }],
            expect,
        )
    };
    let catalog = Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables: Vec::new() };
    ModelCall {
        request,
        problem: Arc::new(Problem::new("q")),
        task: None,
        catalog: Arc::new(catalog),
    }
}

fn unavailable(outcome: &ModelOutcome) -> &str {
    match &outcome.result {
        Err(LlmError::Unavailable(text) | LlmError::Declined { message: text, .. }) => text,
        other => panic!("expected an outage: {other:?}"),
    }
}

/// Asks until no plainer way is left.
async fn plainly(provider: &dyn ModelProvider, expect: Shape) -> ModelOutcome {
    let call = call("q", expect);
    loop {
        let outcome = provider.complete(&call).await;
        if outcome.retry != Retry::After(Duration::ZERO) {
            return outcome;
        }
    }
}
