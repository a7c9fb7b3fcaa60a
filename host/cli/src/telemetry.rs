//! Spans of searches for an OpenTelemetry collector: opened before a command, sent before the
//! process ends.

use std::sync::Arc;
use std::time::Duration;

use syrch_otlp::{Otlp, OtlpError, OtlpSettings};

use crate::config::Config;
use crate::console::Console;
use crate::environment::Environment;
use crate::failure::{EXPOSED, Failure, Outcome};

/// The time for which the end of the process waits for the collector.
const PATIENCE: Duration = Duration::from_secs(2);

/// The settings of the collector that spans are sent to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Telemetry {
    /// The address of the collector. With `None`, no spans are made.
    pub(crate) endpoint: Option<String>,
    /// True if spans hold the text of statements.
    pub(crate) sql: bool,
}

/// Sends the spans of the searches of this process to the configured collector, if there is one.
pub(crate) fn open(config: &mut Config, environment: &Environment) -> Outcome<Option<Arc<Otlp>>> {
    let Telemetry { endpoint: Some(endpoint), sql } = config.effective.telemetry.clone() else {
        return Ok(None);
    };
    let insecure = config.effective.settings.model.insecure_endpoint;
    let settings =
        OtlpSettings { endpoint, headers: environment.otlp_headers.clone(), insecure, sql };
    let otlp = Otlp::open(&settings).map_err(|error| {
        let failure = Failure::config(error.to_string());
        match error {
            OtlpError::Exposed(_) => failure.hint(EXPOSED),
            _ => failure.hint(
                "--otlp-endpoint, a config file or the environment sets it; a collector on this \
                 machine is http://localhost:4318",
            ),
        }
    })?;
    config.effective.settings.spans = Some(Arc::clone(&otlp) as _);
    Ok(Some(otlp))
}

/// Sends the remaining spans, and warns of lost ones.
pub(crate) async fn close(otlp: Option<Arc<Otlp>>, console: &Console) {
    let Some(otlp) = otlp else { return };
    if let Some(warning) = otlp.flush(PATIENCE).await {
        console.warn(&warning);
    }
}
