//! Cancels the model calls and the statements of a search whose time is over, so that the callers
//! can continue with what they have.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch_core::ports::{
    Flight, LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider, SqlPort, Ticket,
};
use syrch_core::{ResultSet, SqlError, SqlErrorKind};

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

/// The time that a statement may still take when the time of the search is over.
const REST: Duration = Duration::from_millis(400);

/// Statements that end soon after the search's time.
pub struct TimedSql {
    inner: Arc<dyn SqlPort>,
    time: Arc<dyn Time>,
}

impl TimedSql {
    /// Creates the layer around the statements of a role call.
    #[must_use]
    pub fn new(inner: Arc<dyn SqlPort>, time: Arc<dyn Time>) -> Self {
        Self { inner, time }
    }
}

#[async_trait]
impl SqlPort for TimedSql {
    async fn issue(
        &self,
        ticket: Ticket,
        text: String,
    ) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        let flight = self.inner.issue(ticket, text).await;
        let time = Arc::clone(&self.time);
        let late = async move {
            time.wait_until_over().await;
            tokio::time::sleep(REST).await;
        };
        Box::pin(async move {
            tokio::select! {
                biased;
                result = flight => result,
                () = late => {
                    let message = "the time of the search is over";
                    Err(SqlError::new(SqlErrorKind::Cancelled, message))
                }
            }
        })
    }

    fn salt(&self) -> u64 {
        self.inner.salt()
    }
}
