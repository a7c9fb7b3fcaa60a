//! Shows the progress of a search.

use std::sync::{Arc, Mutex, PoisonError};

use syrch::syrch_core::ports::Level;
use syrch::{Observer, SearchEvent};

use super::Console;

/// The logger of the events of a search.
const LOG: &str = "syrch.search";

/// Writes the events of a search to the console and the log.
pub(crate) struct Watch {
    console: Arc<Console>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tasks: usize,
    ended: usize,
    running: Vec<(String, String)>,
}

impl State {
    fn line(&self) -> String {
        let doing =
            self.running.last().map(|(id, text)| format!(" · {id}: {text}")).unwrap_or_default();
        format!("{}/{} tasks{doing}", self.ended, self.tasks.max(self.ended + self.running.len()))
    }
}

impl Watch {
    /// An observer that writes to this console.
    pub(crate) fn new(console: Arc<Console>) -> Self {
        Self { console, state: Mutex::default() }
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let line = state.line();
        drop(state);
        self.console.progress(&line);
    }
}

impl Observer for Watch {
    fn event(&self, event: &SearchEvent) {
        match event {
            SearchEvent::Compiling { plugin } => {
                self.console.note(&format!("compiling {plugin} (once)"))
            }
            SearchEvent::Linked { selected, of } => {
                tracing::info!(target: LOG, "{selected} of {of} tables are shown")
            }
            SearchEvent::Planned { tasks } => {
                let planned = syrch::syrch_core::text::count(*tasks, "task");
                tracing::info!(target: LOG, "planned {planned}");
                self.update(|state| state.tasks = *tasks);
            }
            SearchEvent::TaskStarted { id, text } => {
                tracing::info!(target: LOG, "task {id} started: {text}");
                self.update(|state| state.running.push((id.clone(), text.clone())));
            }
            SearchEvent::TaskEnded { id, ending, confidence } => {
                match confidence {
                    Some(confidence) => {
                        tracing::info!(
                            target: LOG, "task {id} ended: {ending}, confidence {confidence:.2}"
                        )
                    }
                    None => tracing::info!(target: LOG, "task {id} ended: {ending}"),
                }
                self.update(|state| {
                    state.running.retain(|(running, _)| running != id);
                    state.ended += 1;
                });
            }
            SearchEvent::Note { call, level, message } => match level {
                Level::Debug => tracing::debug!(target: LOG, "{call}: {message}"),
                Level::Info => tracing::info!(target: LOG, "{call}: {message}"),
                Level::Warn => self.console.warn(&format!("{call}: {message}")),
            },
            SearchEvent::Refined { round } => {
                tracing::info!(target: LOG, "starting over with the answer to question {round}");
                self.update(|state| *state = State::default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_tasks_made_on_the_way() {
        let console = Arc::new(Console::new(true, true, crate::scrub::Scrubber::default()));
        let watch = Watch::new(console);
        let line = || watch.state.lock().unwrap().line();
        watch.event(&SearchEvent::Planned { tasks: 1 });
        watch.event(&SearchEvent::TaskStarted { id: "A".into(), text: "find it".into() });
        watch.event(&SearchEvent::TaskStarted { id: "B".into(), text: "find it".into() });
        assert_eq!(line(), "0/2 tasks · B: find it");
        watch.event(&SearchEvent::TaskEnded {
            id: "B".into(),
            ending: "solved".into(),
            confidence: Some(0.9),
        });
        assert_eq!(line(), "1/2 tasks · A: find it");
    }
}
