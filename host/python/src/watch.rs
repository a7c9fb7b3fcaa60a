//! The progress of a search, as lines for a Python function.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use pyo3::prelude::*;
use syrch::syrch_core::text::escape::escape_dangerous;
use syrch::{Observer, SearchEvent, Silent};

use crate::runtime;

/// The lines that may wait for the function; further ones are dropped.
const WAITING: usize = 1_024;

/// Takes lines for a function.
pub(crate) type Lines = SyncSender<String>;

/// Returns what takes lines for `function`, which gets them one after another, from a thread of its
/// own; `None` for none.
///
/// # Errors
/// When there is no runtime.
pub(crate) fn lines(function: Option<Py<PyAny>>) -> PyResult<Option<Lines>> {
    let Some(function) = function else { return Ok(None) };
    let (sender, lines) = sync_channel(WAITING);
    runtime::get()?.spawn_blocking(move || write(&function, &lines));
    Ok(Some(sender))
}

/// Returns an observer whose lines `function` gets; a silent one for `None`.
///
/// # Errors
/// When there is no runtime.
pub(crate) fn observer(function: Option<Py<PyAny>>) -> PyResult<Arc<dyn Observer>> {
    let lines = lines(function)?;
    Ok(match lines {
        Some(lines) => Arc::new(Watch(lines)),
        None => Arc::new(Silent),
    })
}

/// Hands lines to the function until their sender is dropped.
fn write(function: &Py<PyAny>, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        let written = Python::try_attach(|py| {
            if let Err(error) = function.call1(py, (line,)) {
                error.write_unraisable(py, Some(function.bind(py)));
            }
        });
        if written.is_none() {
            return;
        }
    }
}

struct Watch(Lines);

impl Observer for Watch {
    fn event(&self, event: &SearchEvent) {
        let line = describe(event);
        drop(self.0.try_send(escape_dangerous(&line, &[]).into_owned()));
    }
}

fn describe(event: &SearchEvent) -> String {
    match event {
        SearchEvent::Compiling { plugin } => format!("compiling {plugin}"),
        SearchEvent::Linked { selected, of } => format!("{selected} of {of} tables selected"),
        SearchEvent::Planned { tasks } => format!("tasks: {tasks}"),
        SearchEvent::TaskStarted { id, text } => format!("task {id}: {text}"),
        SearchEvent::TaskEnded { id, ending, confidence: None } => format!("task {id}: {ending}"),
        SearchEvent::TaskEnded { id, ending, confidence: Some(confidence) } => {
            format!("task {id}: {ending} (confidence {confidence:.2})")
        }
        SearchEvent::Note { call, message, .. } => format!("{call}: {message}"),
        SearchEvent::Refined { round } => format!("starting over with answer {round}"),
    }
}
