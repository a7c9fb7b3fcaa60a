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
    Update(Step),
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
                    Item::Update(Step { done, all, message }) => {
                        let done = f64::from(done);
                        let mut update = ProgressNotificationParam::new(token.clone(), done);
                        update.total = all.map(f64::from);
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

/// The progress of a search: the steps that are done and all that are known, which are the
/// selection of tables, the plan and each task.
#[derive(Debug, PartialEq)]
struct Step {
    done: u32,
    /// `None` before the plan.
    all: Option<u32>,
    /// A sentence that has nothing of the data.
    message: String,
}

#[derive(Default)]
struct Counts {
    /// The steps that are done, those before a new start included.
    done: u32,
    /// The tasks of the present plan.
    planned: usize,
    started: usize,
    ended: usize,
}

impl Counts {
    /// Counts an event. Returns a step if one is done by it.
    fn take(&mut self, event: &SearchEvent) -> Option<Step> {
        let message = match event {
            SearchEvent::Linked { selected, of } => {
                self.done += 1;
                let message = format!("selected {selected} of {of} tables");
                return Some(Step { done: self.done, all: None, message });
            }
            SearchEvent::Planned { tasks } => {
                self.planned = *tasks;
                match tasks {
                    1 => "the question is one task".to_owned(),
                    tasks => format!("the question has {tasks} tasks"),
                }
            }
            SearchEvent::TaskEnded { .. } => {
                self.ended += 1;
                let all = self.count_tasks();
                format!("{} of {all} tasks ended", self.ended)
            }
            SearchEvent::Refined { .. } => {
                *self = Self { done: self.done, ..Self::default() };
                "starting over with the user's answer".to_owned()
            }
            SearchEvent::TaskStarted { .. } => {
                self.started += 1;
                return None;
            }
            SearchEvent::Compiling { .. } | SearchEvent::Note { .. } => return None,
        };
        self.done += 1;
        let open = self.count_tasks().saturating_sub(self.ended);
        let is_planned = self.planned > 0 || self.ended > 0;
        let all = u32::try_from(open).ok().and_then(|open| self.done.checked_add(open));
        Some(Step { done: self.done, all: all.filter(|_| is_planned), message })
    }

    /// The number of tasks that are known: a planner may add some.
    fn count_tasks(&self) -> usize {
        self.planned.max(self.started).max(self.ended)
    }
}

impl Observer for Notifier {
    fn event(&self, event: &SearchEvent) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(step) = counts.take(event) {
            drop(self.queue.try_send(Item::Update(step)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(counts: &mut Counts, event: SearchEvent) -> Option<(u32, Option<u32>, String)> {
        counts.take(&event).map(|Step { done, all, message }| (done, all, message))
    }

    fn end_task(counts: &mut Counts) -> Option<(u32, Option<u32>, String)> {
        let ending = "solved".to_owned();
        count(counts, SearchEvent::TaskEnded { id: "A".into(), ending, confidence: None })
    }

    #[test]
    fn progress_rises_with_what_is_done() {
        let mut counts = Counts::default();
        let step = |done, all, message: &str| Some((done, all, message.to_owned()));
        let linked = SearchEvent::Linked { selected: 3, of: 9 };
        assert_eq!(count(&mut counts, linked), step(1, None, "selected 3 of 9 tables"));
        let planned = SearchEvent::Planned { tasks: 2 };
        assert_eq!(count(&mut counts, planned), step(2, Some(4), "the question has 2 tasks"));
        let text = "find \u{1b}[2J".to_owned();
        let started = SearchEvent::TaskStarted { id: "A".into(), text };
        assert_eq!(count(&mut counts, started), None);
        assert_eq!(end_task(&mut counts), step(3, Some(4), "1 of 2 tasks ended"));
        assert_eq!(end_task(&mut counts), step(4, Some(4), "2 of 2 tasks ended"));
        // A task that no plan had.
        assert_eq!(end_task(&mut counts), step(5, Some(5), "3 of 3 tasks ended"));
        let refined = SearchEvent::Refined { round: 1 };
        let again = "starting over with the user's answer";
        assert_eq!(count(&mut counts, refined), step(6, None, again));
        let planned = SearchEvent::Planned { tasks: 1 };
        assert_eq!(count(&mut counts, planned), step(7, Some(8), "the question is one task"));
    }
}
