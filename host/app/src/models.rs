//! How a run reaches its models: the layers around what the host has opened.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch_core::ports::{LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider};
use syrch_layers::{BudgetedModel, CachedModel, RatedModel, RecordedModel, RetriedModel, Retries};

use crate::clock::Clock;
use crate::context::RunState;
use crate::host::Host;
use crate::preview::PreviewedModel;

/// The host's models, for one run: time → cache → retry → recording → rate → budget → route. A dry run neither waits nor tries again.
pub(crate) fn of_run(host: &Host, run: &RunState) -> Arc<dyn ModelProvider> {
    let budgeted = |inner| BudgetedModel::new(inner, Arc::clone(&run.ledger), host.settings.limits.clone());
    let inner: Arc<dyn ModelProvider> = match &run.previews {
        None => tried(host, run, Arc::new(budgeted(Arc::clone(&host.model) as _))),
        Some(previews) => {
            let (inner, previews) = (Arc::clone(&host.model) as _, Arc::clone(previews));
            Arc::new(budgeted(Arc::new(PreviewedModel { inner, previews })))
        }
    };
    // What is recorded comes from the model itself, or the recording would lack what the cache holds.
    let inner: Arc<dyn ModelProvider> = match host.cache.as_ref().filter(|_| host.recording.is_none()) {
        Some(cache) => {
            let kept = CachedModel::new(inner, Arc::clone(cache), Arc::clone(&run.ledger));
            Arc::new(kept.sending(host.settings.model.temperature))
        }
        None => inner,
    };
    Arc::new(InTime { inner, clock: run.clock.clone() })
}

/// Retry → recording → rate around the budget. A recording that answers is not waited for, nor is a simulated model
/// whose replies take no time.
fn tried(host: &Host, run: &RunState, budgeted: Arc<dyn ModelProvider>) -> Arc<dyn ModelProvider> {
    let settings = &host.settings;
    let mut inner: Arc<dyn ModelProvider> = Arc::new(RatedModel::new(budgeted, Arc::clone(&host.model)));
    if let Some(recording) = &host.recording {
        inner = Arc::new(RecordedModel::new(inner, Arc::clone(recording), settings.journal.kept));
    }
    let mut retries = Retries {
        attempts: settings.model.attempts,
        patience: settings.model.max_retry_wait,
        seed: run.salt,
        ..Retries::default()
    };
    let is_timeless = settings.model.simulated.as_ref().is_some_and(|simulated| simulated.knobs.latency == 0.0);
    if settings.model.replay.is_some() || is_timeless {
        (retries.base, retries.longest) = (Duration::ZERO, Duration::ZERO);
    }
    Arc::new(RetriedModel::new(inner, retries))
}

/// When the search's time is over, cancels model calls, so that whoever waits for one can go on with what there is.
struct InTime {
    inner: Arc<dyn ModelProvider>,
    clock: Clock,
}

#[async_trait]
impl ModelLayer for InTime {
    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        if self.clock.is_over() {
            return ModelOutcome::unsent(LlmError::Cancelled);
        }
        tokio::select! {
            outcome = self.inner.complete(call) => outcome,
            () = self.clock.over() => ModelOutcome::sent(Err(LlmError::Cancelled), None),
        }
    }
}
