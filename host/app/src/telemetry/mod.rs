//! Reports of a run while it runs, besides its journal: lines of the log, and spans for a
//! collector.
//!
//! Both are read from the same records as the journal. A run is one trace: its role calls lie in
//! it, in each role call its model calls and statements, and the solver's span of a task has a link
//! to that of each task that it needed. No span holds a prompt, a reply, a row or a key, and none
//! the text of a statement, unless the sink asks for it.

mod about;
mod log;
mod names;
mod spans;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use syrch_core::Catalog;
use syrch_journal::{Listener, Mode};

pub use syrch_spans::{Link, Span, SpanId, SpanKind, SpanSink, Value};

use crate::host::Host;
use about::About;
use spans::Spans;

/// The listener of a run's event log; `None` without a sink and a log.
pub(crate) fn listener(host: &Host, run: &str, catalog: &Catalog, mode: &Mode) -> Option<Listener> {
    let sink = host.settings.spans.clone();
    if sink.is_none() && !log::is_enabled() {
        return None;
    }
    let mut spans = Spans::new(About::new(host, run, catalog), sink);
    // A clock that is never set back, finer than the journal's.
    let began = SystemTime::now();
    let ticking = Instant::now();
    match mode {
        Mode::Record(..) => spans.begin(began),
        Mode::Resume(_, journal) => spans.resume(began, &journal.records),
        // What happened was reported when it was recorded.
        Mode::Replay(_) => return None,
    }
    let spans = Mutex::new(spans);
    Some(Box::new(move |_, record| {
        let now = began.checked_add(ticking.elapsed()).unwrap_or(began);
        spans.lock().unwrap_or_else(PoisonError::into_inner).record(now, record);
    }))
}
