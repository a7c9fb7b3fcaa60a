//! Cancels the model calls of a search whose time is over, so that the callers can continue with
//! what they have.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider};

/// The deadline of a search.
#[async_trait]
pub trait Time: Send + Sync {
    /// Called before each model call: whether the time is over.
    fn is_over(&self) -> bool;
    /// Called during each model call: resolves when the time is over.
    async fn wait_until_over(&self);
}

/// A provider whose calls end with the search's time.
pub struct TimedModel {
    inner: Arc<dyn ModelProvider>,
    time: Arc<dyn Time>,
}

impl TimedModel {
    /// Creates the layer around a provider.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, time: Arc<dyn Time>) -> Self {
        Self { inner, time }
    }
}

#[async_trait]
impl ModelLayer for TimedModel {
    fn layer(&self) -> &'static str {
        "time"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        if self.time.is_over() {
            return ModelOutcome::unsent(LlmError::Cancelled);
        }
        tokio::select! {
            outcome = self.inner.complete(call) => outcome,
            () = self.time.wait_until_over() => ModelOutcome::sent(Err(LlmError::Cancelled), None),
        }
    }
}
