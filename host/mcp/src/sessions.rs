//! The sessions and calls over HTTP that are open at once: how many there may be, and which one
//! makes place for another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The time that a session has for its end, before a new one is refused.
const ENDING: Duration = Duration::from_secs(2);

/// A place among the open sessions and calls, which is free again when the last clone is dropped.
pub(crate) type Place = Arc<OwnedSemaphorePermit>;

/// The open sessions of a server over HTTP.
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    places: Arc<Semaphore>,
    uses: Arc<Mutex<HashMap<String, Use>>>,
}

/// The use that a client makes of its session.
struct Use {
    /// Requests that are being answered, streams of events among them.
    requests: usize,
    /// The time of the last request.
    last: Instant,
}

impl Use {
    fn new() -> Self {
        Self { requests: 0, last: Instant::now() }
    }
}

/// A request in a session, until its response has gone out.
pub(crate) struct Held {
    uses: Arc<Mutex<HashMap<String, Use>>>,
    id: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(used) = lock(&self.uses).get_mut(&self.id) {
            used.requests -= 1;
            used.last = Instant::now();
        }
    }
}

fn lock(uses: &Mutex<HashMap<String, Use>>) -> MutexGuard<'_, HashMap<String, Use>> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    /// Places for this number of sessions and calls without one.
    pub(crate) fn new(manager: Arc<LocalSessionManager>, most: usize) -> Self {
        Self { manager, places: Arc::new(Semaphore::new(most)), uses: Arc::default() }
    }

    /// Takes a place. Where none is free, the session ends that has had no request for the longest
    /// time. `None` if all are in use.
    pub(crate) async fn reserve(&self) -> Option<Place> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(Arc::new(place));
        }
        let id = self.take_oldest().await?;
        tracing::info!("a session that was not in use has ended for a new one");
        // One that has ended by itself in the meantime is as good.
        drop(self.manager.close_session(&id.into()).await);
        let place = Arc::clone(&self.places).acquire_owned();
        tokio::time::timeout(ENDING, place).await.ok()?.ok().map(Arc::new)
    }

    /// Notes a session that has just begun, and forgets those that have ended.
    pub(crate) async fn note(&self, id: &str) {
        let open = self.manager.sessions.read().await;
        let mut uses = lock(&self.uses);
        uses.retain(|id, _| open.contains_key(id.as_str()));
        uses.insert(id.to_owned(), Use::new());
    }

    /// Begins a request in a session; `None` if there is no such session.
    pub(crate) fn hold(&self, id: &str) -> Option<Held> {
        let mut uses = lock(&self.uses);
        let used = uses.get_mut(id)?;
        used.requests += 1;
        used.last = Instant::now();
        Some(Held { uses: Arc::clone(&self.uses), id: id.to_owned() })
    }

    /// Takes out the session that has had no request for the longest time, and has none now. One
    /// whose client left before it learned of it is not known yet, and counts as new.
    async fn take_oldest(&self) -> Option<String> {
        let open = self.manager.sessions.read().await;
        let mut uses = lock(&self.uses);
        uses.retain(|id, _| open.contains_key(id.as_str()));
        for id in open.keys() {
            uses.entry(id.to_string()).or_insert_with(Use::new);
        }
        let idle = uses.iter().filter(|(_, used)| used.requests == 0);
        let id = idle.min_by_key(|(_, used)| used.last).map(|(id, _)| id.clone())?;
        uses.remove(&id);
        Some(id)
    }
}
