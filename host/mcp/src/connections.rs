//! The open connections over HTTP: how many there may be, and which one makes place for another.

use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The time after which another connection may have become idle, where none was.
const PAUSE: Duration = Duration::from_millis(50);

/// The open connections of a server.
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    open: Lock<Vec<Arc<Connection>>>,
}

/// An open connection.
pub(crate) struct Connection {
    usage: Lock<Usage>,
    closing: Notify,
    _place: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct Usage {
    /// Requests whose responses have not gone out, streams of events among them.
    requests: usize,
    /// True once it was told to end: no further request begins.
    is_closing: bool,
    /// The time of its start or of the end of its last response.
    last: Instant,
}

/// A request on a connection, until its response has gone out.
pub(crate) struct Answering(Arc<Connection>);

impl Drop for Answering {
    fn drop(&mut self) {
        let mut usage = lock(&self.0.usage);
        usage.requests -= 1;
        usage.last = Instant::now();
    }
}

fn lock<T>(value: &Lock<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Begins a request; `None` once the connection is to end.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Answering> {
        let mut usage = lock(&self.usage);
        if usage.is_closing {
            return None;
        }
        usage.requests += 1;
        Some(Answering(Arc::clone(self)))
    }

    /// Waits until another connection needs the place.
    pub(crate) async fn wait_for_end(&self) {
        self.closing.notified().await;
    }
}

impl Connections {
    /// Places for this number of connections.
    pub(crate) fn new(most: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(most)), open: Lock::default() }
    }

    /// Takes a place for a connection. Where none is free, the connection ends that has had no
    /// request for the longest time, a part of one counting as none; where all are answering, it
    /// waits.
    pub(crate) async fn open(&self) -> Arc<Connection> {
        let place = loop {
            let place = Arc::clone(&self.places);
            if let Ok(place) = Arc::clone(&place).try_acquire_owned() {
                break place;
            }
            self.end_oldest();
            // Never closed.
            if let Ok(Ok(place)) = tokio::time::timeout(PAUSE, place.acquire_owned()).await {
                break place;
            }
        };
        let usage = Usage { requests: 0, is_closing: false, last: Instant::now() };
        let connection =
            Arc::new(Connection { usage: Lock::new(usage), closing: Notify::new(), _place: place });
        lock(&self.open).push(Arc::clone(&connection));
        connection
    }

    /// Forgets a connection that has ended, whose place is free once nothing else refers to it.
    pub(crate) fn forget(&self, connection: &Arc<Connection>) {
        lock(&self.open).retain(|known| !Arc::ptr_eq(known, connection));
    }

    fn end_oldest(&self) {
        let open = lock(&self.open);
        let idle = open.iter().filter(|connection| lock(&connection.usage).requests == 0);
        let Some(oldest) = idle.min_by_key(|connection| lock(&connection.usage).last) else {
            return;
        };
        let mut usage = lock(&oldest.usage);
        // A request may have begun since it was found idle.
        if usage.requests == 0 {
            usage.is_closing = true;
            oldest.closing.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ending(connection: &Connection) -> bool {
        let waiting = std::pin::pin!(connection.wait_for_end());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        waiting.poll(&mut context).is_ready()
    }

    #[tokio::test]
    async fn the_one_that_is_idle_for_longest_makes_place() {
        let connections = Connections::new(3);
        let answering = connections.open().await;
        let request = answering.begin().unwrap();
        let first = connections.open().await;
        let second = connections.open().await;
        // The first has had a request since.
        drop(first.begin().unwrap());
        let waiting = async {
            while !is_ending(&second) {
                tokio::task::yield_now().await;
            }
            // It is never half served.
            assert!(second.begin().is_none());
            connections.forget(&second);
            drop(second);
        };
        let (third, ()) = tokio::join!(connections.open(), waiting);
        assert!(!is_ending(&answering) && !is_ending(&first) && !is_ending(&third));
        drop(request);
    }
}
