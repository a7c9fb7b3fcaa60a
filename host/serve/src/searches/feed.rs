//! The events of one search, for any number of readers, each from where it was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

/// One event of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its number in the search, from 1.
    pub(crate) id: u64,
    /// Its kind, such as `task`.
    pub(crate) kind: &'static str,
    /// Its document, on one line.
    pub(crate) data: String,
}

/// The events of a search so far.
#[derive(Debug)]
pub(crate) struct Feed {
    events: usize,
    bytes: usize,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<Arc<Event>>,
    bytes: usize,
    has_cut: bool,
    is_over: bool,
}

impl Feed {
    /// A feed that holds that many events and bytes besides its last event.
    pub(crate) fn new(events: usize, bytes: usize) -> Self {
        Self { events, bytes, state: Mutex::default(), changed: watch::Sender::new(()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends an event. Where the feed is full, one event says so, and the others are left out.
    pub(crate) fn push(&self, kind: &'static str, document: &Value) {
        let data = document.to_string();
        let mut state = self.state();
        if state.is_over {
            return;
        }
        let is_full = state.events.len() >= self.events || state.bytes + data.len() > self.bytes;
        match is_full {
            false => state.append(kind, data),
            true if !state.has_cut => {
                state.has_cut = true;
                state.append("cut", "{}".to_owned());
            }
            true => return,
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// Appends the last event.
    pub(crate) fn end(&self, kind: &'static str, document: &Value) {
        let mut state = self.state();
        if !state.is_over {
            state.append(kind, document.to_string());
            state.is_over = true;
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// The size of all events, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.state().bytes
    }

    /// The event after the one of that number, as soon as it is there; `None` after the last one.
    /// A reader that is ahead counts the events of an earlier server, and gets the last one.
    pub(crate) async fn next(&self, after: u64) -> Option<Arc<Event>> {
        let mut changes = self.changed.subscribe();
        loop {
            {
                let state = self.state();
                let place = usize::try_from(after).unwrap_or(usize::MAX);
                if let Some(event) = state.events.get(place) {
                    return Some(Arc::clone(event));
                }
                if state.is_over {
                    let is_ahead = place > state.events.len();
                    return state.events.last().filter(|_| is_ahead).cloned();
                }
            }
            // The sender lives as long as this does.
            changes.changed().await.ok()?;
        }
    }

    /// The last event, as soon as it is there.
    pub(crate) async fn last(&self) -> Option<Arc<Event>> {
        let mut changes = self.changed.subscribe();
        loop {
            {
                let state = self.state();
                if state.is_over {
                    return state.events.last().cloned();
                }
            }
            changes.changed().await.ok()?;
        }
    }
}

impl State {
    fn append(&mut self, kind: &'static str, data: String) {
        let id = self.events.len() as u64 + 1;
        self.bytes += data.len();
        self.events.push(Arc::new(Event { id, kind, data }));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn readers_get_all_events_from_where_they_were() {
        let feed = Arc::new(Feed::new(10, 1_000));
        feed.push("task", &json!({"id": "A"}));
        let reader = Arc::clone(&feed);
        let read = tokio::spawn(async move {
            let mut seen = Vec::new();
            let mut after = 0;
            while let Some(event) = reader.next(after).await {
                after = event.id;
                seen.push(event.kind);
            }
            seen
        });
        tokio::time::sleep(Duration::from_millis(5)).await;
        feed.push("candidate", &json!({}));
        feed.end("answer", &json!({}));
        feed.push("late", &json!({}));
        assert_eq!(read.await.unwrap(), ["task", "candidate", "answer"]);
        assert_eq!(feed.next(1).await.unwrap().kind, "candidate");
        assert_eq!((feed.next(3).await, feed.next(99).await.unwrap().kind), (None, "answer"));
        assert_eq!(feed.last().await.unwrap().id, 3);
    }

    #[tokio::test]
    async fn a_full_feed_says_so_once_and_still_ends() {
        let feed = Feed::new(2, 1_000);
        for _ in 0..5 {
            feed.push("note", &json!({}));
        }
        feed.end("answer", &json!({}));
        let mut kinds = Vec::new();
        while let Some(event) = feed.next(kinds.len() as u64).await {
            kinds.push(event.kind);
        }
        assert_eq!(kinds, ["note", "note", "cut", "answer"]);
        let narrow = Feed::new(100, 10);
        narrow.push("note", &json!("a text that is too long"));
        assert_eq!(narrow.next(0).await.unwrap().kind, "cut");
    }
}
