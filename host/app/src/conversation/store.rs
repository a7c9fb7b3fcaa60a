//! The conversations of the clients of a server, within limits on their number and their age.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::Conversation;

/// The limit on the length of a conversation's id, in bytes.
pub(super) const ID: usize = 128;

/// The limits on the conversations of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The number of conversations.
    pub all: usize,
    /// The number of conversations of one client.
    pub of_client: usize,
    /// The time after its last question for which a conversation is known.
    pub lifetime: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { all: 512, of_client: 32, lifetime: Duration::from_secs(30 * 60) }
    }
}

/// The conversations of clients by their ids. Beyond a limit the one is forgotten that has been
/// silent for longest.
#[derive(Debug, Default)]
pub struct Conversations {
    limits: Limits,
    known: Lock<HashMap<(String, String), Known>>,
}

#[derive(Debug)]
struct Known {
    used: Instant,
    conversation: Arc<Mutex<Conversation>>,
}

impl Conversations {
    /// No conversations yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, known: Lock::default() }
    }

    /// Returns true if a text can be the id of a conversation: 1 to 128 bytes without control
    /// characters.
    #[must_use]
    pub fn is_id(text: &str) -> bool {
        (1..=ID).contains(&text.len()) && !text.chars().any(char::is_control)
    }

    /// Returns true if a client has a conversation of that id.
    #[must_use]
    pub fn knows(&self, client: &str, id: &str) -> bool {
        let now = Instant::now();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(&(client.to_owned(), id.to_owned()));
        found.is_some_and(|it| now.duration_since(it.used) < self.limits.lifetime)
    }

    /// The conversation of a client with that id, which may be new. Whoever asks in it holds the
    /// lock until the answer is there, so that its questions are answered one after the other.
    #[must_use]
    pub fn open(&self, client: &str, id: &str) -> Arc<Mutex<Conversation>> {
        let now = Instant::now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, it| now.duration_since(it.used) < self.limits.lifetime);
        let key = (client.to_owned(), id.to_owned());
        if !known.contains_key(&key) {
            let own = known.keys().filter(|(owner, _)| owner == client).count();
            if own >= self.limits.of_client {
                forget_oldest(&mut known, Some(client));
            }
            if known.len() >= self.limits.all {
                forget_oldest(&mut known, None);
            }
        }
        let entry =
            known.entry(key).or_insert_with(|| Known { used: now, conversation: Arc::default() });
        entry.used = now;
        Arc::clone(&entry.conversation)
    }
}

/// Removes the conversation that has been silent for longest, of that client or of all.
fn forget_oldest(known: &mut HashMap<(String, String), Known>, client: Option<&str>) {
    let oldest = known
        .iter()
        .filter(|((owner, _), _)| client.is_none_or(|client| client == owner))
        .min_by_key(|(_, it)| it.used)
        .map(|(key, _)| key.clone());
    oldest.into_iter().for_each(|key| drop(known.remove(&key)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(store: &Conversations) -> usize {
        store.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    #[test]
    fn a_client_has_a_few_conversations_and_all_have_a_limit() {
        let limits = Limits { all: 3, of_client: 2, lifetime: Duration::from_secs(60) };
        let store = Conversations::new(limits);
        let first = store.open("ann", "1");
        assert!(Arc::ptr_eq(&first, &store.open("ann", "1")));
        assert!(!Arc::ptr_eq(&first, &store.open("ben", "1")));
        drop(store.open("ann", "2"));
        drop(store.open("ann", "3"));
        assert_eq!(count(&store), 3);
        assert!(!store.knows("ann", "1") && store.knows("ann", "3") && !store.knows("ben", "3"));
        assert!(!Arc::ptr_eq(&first, &store.open("ann", "1")), "it was forgotten");
        drop(store.open("eve", "1"));
        assert_eq!(count(&store), 3);
    }

    #[test]
    fn what_was_silent_for_long_is_forgotten() {
        let limits = Limits { lifetime: Duration::ZERO, ..Limits::default() };
        let store = Conversations::new(limits);
        let first = store.open("ann", "1");
        assert!(!Arc::ptr_eq(&first, &store.open("ann", "1")));
        assert_eq!(count(&store), 1);
        assert!(!Conversations::is_id("") && !Conversations::is_id("a\nb"));
    }
}
