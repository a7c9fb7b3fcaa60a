//! Progress notifications of a search, for clients that ask for them.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{Peer, RequestContext};
use syrch::{Observer, SearchEvent, Silent};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Notifications that wait for a slow client; further ones are dropped.
const WAITING: usize = 16;

/// The observer of a search that sends notifications until it is dropped.
pub(crate) struct Progress {
    observer: Arc<dyn Observer>,
    sender: Option<JoinHandle<()>>,
}

impl Progress {
    /// Notifies the client of this call, if it has asked for that.
    pub(crate) fn new(context: &RequestContext<RoleServer>) -> Self {
        let Some(token) = context.meta.get_progress_token() else {
            return Self { observer: Arc::new(Silent), sender: None };
        };
        let (queue, mut waiting) = mpsc::channel::<(f64, String)>(WAITING);
        let peer: Peer<RoleServer> = context.peer.clone();
        let sender = tokio::spawn(async move {
            while let Some((progress, message)) = waiting.recv().await {
                let update = ProgressNotificationParam::new(token.clone(), progress);
                // A client that is gone needs none.
                drop(peer.notify_progress(update.with_message(message)).await);
            }
        });
        Self {
            observer: Arc::new(Notifier { queue, counts: Mutex::default() }),
            sender: Some(sender),
        }
    }

    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.observer)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // After the result of a call its token means nothing.
        if let Some(sender) = &self.sender {
            sender.abort();
        }
    }
}

struct Notifier {
    queue: mpsc::Sender<(f64, String)>,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    events: u32,
    started: usize,
    ended: usize,
    planned: usize,
}

impl Counts {
    /// Counts an event; returns what to say of it, in words that hold nothing of the data.
    fn describe(&mut self, event: &SearchEvent) -> Option<String> {
        match event {
            SearchEvent::Linked { selected, of } => {
                return Some(format!("{selected} of {of} tables selected"));
            }
            SearchEvent::Planned { tasks } => self.planned = *tasks,
            SearchEvent::TaskStarted { .. } => self.started += 1,
            SearchEvent::TaskEnded { .. } => self.ended += 1,
            SearchEvent::Refined { .. } => {
                let events = self.events;
                *self = Self { events, ..Self::default() };
                return Some("starting over with the answer".to_owned());
            }
            SearchEvent::Compiling { .. } | SearchEvent::Note { .. } => return None,
        }
        let all = self.planned.max(self.started).max(self.ended);
        Some(format!("{} of {all} tasks ended", self.ended))
    }
}

impl Observer for Notifier {
    fn event(&self, event: &SearchEvent) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(message) = counts.describe(event) else { return };
        counts.events += 1;
        drop(self.queue.try_send((f64::from(counts.events), message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_counts() {
        let mut counts = Counts::default();
        let mut say = |event: SearchEvent| counts.describe(&event).unwrap_or_default();
        assert_eq!(say(SearchEvent::Planned { tasks: 2 }), "0 of 2 tasks ended");
        let text = "find \u{1b}[2J".to_owned();
        assert_eq!(say(SearchEvent::TaskStarted { id: "A".into(), text }), "0 of 2 tasks ended");
        let ending = "solved".to_owned();
        let ended = SearchEvent::TaskEnded { id: "A".into(), ending, confidence: None };
        assert_eq!(say(ended), "1 of 2 tasks ended");
        assert_eq!(say(SearchEvent::Refined { round: 1 }), "starting over with the answer");
        assert_eq!(say(SearchEvent::Planned { tasks: 1 }), "0 of 1 tasks ended");
    }
}
