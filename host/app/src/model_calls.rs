//! The parts of a run's model calls; `syrch_layers::stack` puts the layers together.

use std::sync::Arc;
use std::time::Duration;

use syrch_core::ports::ModelProvider;
use syrch_layers::{ModelParts, Retries, model_stack};

use crate::context::RunState;
use crate::executors;
use crate::host::Host;

/// The host's models, for one run.
pub(crate) fn for_run(host: &Host, run: &RunState) -> Arc<dyn ModelProvider> {
    let settings = &host.settings;
    let mut retries = Retries {
        attempts: settings.model.attempts,
        patience: settings.model.max_retry_wait,
        seed: run.salt,
        ..Retries::default()
    };
    // A recording that answers is not waited for, nor is a simulated model whose replies take no
    // time.
    let is_timeless =
        settings.model.simulated.as_ref().is_some_and(|simulated| simulated.knobs.latency == 0.0);
    if settings.model.replay.is_some() || is_timeless {
        (retries.base, retries.longest) = (Duration::ZERO, Duration::ZERO);
    }
    model_stack(ModelParts {
        model: Arc::clone(&host.model),
        time: Arc::new(run.clock.clone()),
        ledger: Arc::clone(&run.ledger),
        limits: settings.limits.clone(),
        cache: host.cache.as_ref().map(|cache| (Arc::clone(cache), settings.model.temperature)),
        recording: host
            .recording
            .as_ref()
            .map(|recording| (Arc::clone(recording), settings.journal.rows)),
        retries,
        previews: run.previews.clone(),
        consent: run.consent.clone(),
        meaning: (executors::with_single_quotes, Arc::clone(&run.catalog)),
    })
}
