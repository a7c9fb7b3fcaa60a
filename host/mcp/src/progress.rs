//! Progress notifications of a search, for clients that ask for them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{Peer, RequestContext};
use syrch::{Observer, SearchEvent, Silent};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// The limit on notifications that wait for a slow client; further ones are dropped.
const WAITING: usize = 16;
/// The limit on the wait for a client that takes no notifications.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The observer of a search that sends notifications until it is dropped.
pub(crate) struct Progress {
    observer: Arc<dyn Observer>,
    /// The queue of notifications and the task that sends them; `None` if the client has not asked
    /// for any.
    sending: Option<(mpsc::Sender<Item>, JoinHandle<()>)>,
}

/// An entry of the queue of notifications.
enum Item {
    Update(f64, String),
    /// Confirms that all before it are sent.
    Flush(oneshot::Sender<()>),
}

impl Progress {
    /// Notifies the client of this call, if it has asked for that.
    pub(crate) fn new(context: &RequestContext<RoleServer>) -> Self {
        let Some(token) = context.meta.get_progress_token() else {
            return Self { observer: Arc::new(Silent), sending: None };
        };
        let (queue, mut waiting) = mpsc::channel(WAITING);
        let peer: Peer<RoleServer> = context.peer.clone();
        let sender = tokio::spawn(async move {
            while let Some(item) = waiting.recv().await {
                match item {
                    Item::Update(progress, message) => {
                        let update = ProgressNotificationParam::new(token.clone(), progress);
                        // A client that is gone needs none.
                        drop(peer.notify_progress(update.with_message(message)).await);
                    }
                    Item::Flush(sent) => {
                        let _ = sent.send(());
                    }
                }
            }
        });
        let notifier = Notifier { queue: queue.clone(), counts: Mutex::default() };
        Self { observer: Arc::new(notifier), sending: Some((queue, sender)) }
    }

    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.observer)
    }

    /// Waits until what was observed is sent: after the result of a call its token means nothing.
    pub(crate) async fn flush(&self) {
        let Some((queue, _)) = &self.sending else { return };
        let (sent, is_sent) = oneshot::channel();
        let flushing = async {
            queue.send(Item::Flush(sent)).await.ok()?;
            is_sent.await.ok()
        };
        drop(tokio::time::timeout(TIMEOUT, flushing).await);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((_, sender)) = &self.sending {
            sender.abort();
        }
    }
}

struct Notifier {
    queue: mpsc::Sender<Item>,
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
    /// Counts an event, and returns the text of its notification, which has nothing of the data.
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
        drop(self.queue.try_send(Item::Update(f64::from(counts.events), message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(counts: &mut Counts, event: SearchEvent) -> String {
        counts.describe(&event).unwrap_or_default()
    }

    #[test]
    fn events_become_counts() {
        let mut counts = Counts::default();
        let planned = SearchEvent::Planned { tasks: 2 };
        assert_eq!(say(&mut counts, planned), "0 of 2 tasks ended");
        let text = "find \u{1b}[2J".to_owned();
        let started = SearchEvent::TaskStarted { id: "A".into(), text };
        assert_eq!(say(&mut counts, started), "0 of 2 tasks ended");
        let ending = "solved".to_owned();
        let ended = SearchEvent::TaskEnded { id: "A".into(), ending, confidence: None };
        assert_eq!(say(&mut counts, ended), "1 of 2 tasks ended");
        let refined = SearchEvent::Refined { round: 1 };
        assert_eq!(say(&mut counts, refined), "starting over with the answer");
        let planned = SearchEvent::Planned { tasks: 1 };
        assert_eq!(say(&mut counts, planned), "0 of 1 tasks ended");
    }
}
