//! A model whose calls have given outcomes.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Reply, Request, Retry, Usage,
};
use tokio::time::Instant;

/// A failed call that was sent.
pub(crate) fn failure_outcome(retry: Retry) -> ModelOutcome {
    ModelOutcome::sent(Err(LlmError::Unavailable("failed".into())), Some(Usage::default()))
        .retry(retry)
}

/// An answered call, which used 10 tokens.
pub(crate) fn answer_outcome() -> ModelOutcome {
    let usage =
        Usage { input_tokens: 8, output_tokens: 2, model: "scripted".into(), ..Usage::default() };
    let reply = Reply {
        text: "x".into(),
        parsed: None,
        truncated: false,
        logprob: None,
        usage: usage.clone(),
    };
    ModelOutcome::sent(Ok(reply), Some(usage))
}

/// A model whose calls have these outcomes, and succeed after that; each is estimated at 100
/// tokens.
pub(crate) struct ScriptedModel {
    name: String,
    models: Vec<String>,
    outcomes: Mutex<VecDeque<ModelOutcome>>,
    asked: Mutex<Vec<(Instant, Request)>>,
}

impl ScriptedModel {
    pub(crate) fn new(outcomes: Vec<ModelOutcome>) -> Self {
        Self {
            outcomes: Mutex::new(outcomes.into()),
            ..Self::with_models("scripted", &["scripted"])
        }
    }

    /// A provider of that name with these models.
    pub(crate) fn with_models(name: &str, models: &[&str]) -> Self {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        Self { name: name.to_owned(), models, outcomes: Mutex::default(), asked: Mutex::default() }
    }

    /// Adds outcomes after those that are left.
    pub(crate) fn then<const N: usize>(&self, outcomes: [ModelOutcome; N]) {
        self.outcomes.lock().unwrap().extend(outcomes);
    }

    /// The time of each call.
    pub(crate) fn times(&self) -> Vec<Instant> {
        self.asked.lock().unwrap().iter().map(|(time, _)| *time).collect()
    }

    /// The first message of each call.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .map(|(_, request)| request.messages[0].text.clone())
            .collect()
    }

    /// The output limit of each call.
    pub(crate) fn limits(&self) -> Vec<Option<u32>> {
        self.asked.lock().unwrap().iter().map(|(_, request)| request.max_tokens).collect()
    }

    /// The model that each call named.
    pub(crate) fn list_requested_models(&self) -> Vec<Option<String>> {
        self.asked.lock().unwrap().iter().map(|(_, request)| request.model.clone()).collect()
    }
}

#[async_trait]
impl ModelProvider for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn models(&self) -> Vec<String> {
        self.models.clone()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        Some(format!("{} {}", self.name, call.request.model.as_ref().unwrap_or(&self.models[0])))
    }

    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate { input_tokens: 50, output_tokens: 50, cost_micros: None }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        self.asked.lock().unwrap().push((Instant::now(), call.request.clone()));
        self.outcomes.lock().unwrap().pop_front().unwrap_or_else(answer_outcome)
    }
}
