//! Turns each event into one line of the console, with the spans around it.

use std::sync::Arc;

use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::fields::Fields;
use super::{Console, Record};

/// Writes events to the console when they are whole, so that a secret cannot hide across two
/// writes.
pub(super) struct Lines {
    console: Arc<Console>,
}

impl Lines {
    /// Lines for this console, in its format.
    pub(super) fn new(console: Arc<Console>) -> Self {
        Self { console }
    }
}

/// The level as Python's log calls it.
fn level(level: &Level) -> &'static str {
    match *level {
        Level::ERROR => "ERROR",
        Level::WARN => "WARNING",
        Level::INFO => "INFO",
        Level::DEBUG => "DEBUG",
        Level::TRACE => "TRACE",
    }
}

/// `syrch_scheduler::run` is called `syrch.scheduler.run`.
fn logger(target: &str) -> String {
    let name = target.replace("::", ".");
    match name.strip_prefix("syrch_") {
        Some(part) => format!("syrch.{part}"),
        None => name,
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &tracing::span::Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut spans = Vec::new();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            let known = span
                .extensions()
                .get::<Fields>()
                .map(|fields| fields.0.clone())
                .unwrap_or_default();
            spans.push((span.name(), known));
        }
        self.console.log(&Record {
            level: level(event.metadata().level()),
            logger: logger(event.metadata().target()),
            message: fields.message(),
            fields: fields.0,
            spans,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use serde_json::json;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn loggers_have_the_names_of_syrch_0_1_2() {
        assert_eq!(logger("syrch_scheduler::run"), "syrch.scheduler.run");
        assert_eq!(logger("syrch::search"), "syrch.search");
        assert_eq!(logger("hyper_util::client"), "hyper_util.client");
    }

    /// Records what [`Fields`] read, as the layer above does.
    struct Keep(Arc<Mutex<Vec<serde_json::Value>>>);

    impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Keep {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            let mut fields = Fields::default();
            event.record(&mut fields);
            let message = fields.message();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(json!([message, fields.0]));
        }
    }

    #[test]
    fn fields_keep_their_types() {
        let seen = Arc::default();
        let subscriber = tracing_subscriber::registry().with(Keep(Arc::clone(&seen)));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(
                count = 3, ratio = 0.5, endless = f64::INFINITY, name = "x y", found = ?Some(1),
                on = true, "done"
            );
        });
        let expected = json!([
            [
                "done", {
                    "count": 3, "ratio": 0.5, "endless": "inf", "name": "x y", "found": "Some(1)",
                    "on": true
                }
            ]
        ]);
        assert_eq!(json!(*seen.lock().unwrap()), expected);
    }
}
