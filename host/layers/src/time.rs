//! When a search's time is over, its model calls are cancelled, so that whoever waits for one can go on with what there is.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider};

/// How much time a search has.
#[async_trait]
pub trait Time: Send + Sync {
    /// Whether it is over.
    fn is_over(&self) -> bool;
    /// Ends when it is over.
    async fn over(&self);
}

/// Calls of another provider within that time.
pub struct TimedModel {
    inner: Arc<dyn ModelProvider>,
    time: Arc<dyn Time>,
}

impl TimedModel {
    /// The layer around a provider.
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
            () = self.time.over() => ModelOutcome::sent(Err(LlmError::Cancelled), None),
        }
    }
}
