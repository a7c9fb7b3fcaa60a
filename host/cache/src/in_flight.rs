//! Equal requests of this process that are in flight at the same time: one leads, and the others
//! wait for its value.
//!
//! They share a cell and take its lock in turn. A leader that completes leaves the value in the
//! cell for the waiting requests; one that is dropped leaves none, and the next waiting request
//! becomes the leader.
//!
//! This is `tokio::sync::OnceCell::get_or_try_init` with a guard in place of a closure: the layers
//! decide only after the call whether its value is stored, shared or neither, and `moka` and
//! `async_singleflight` take closures, too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use crate::Key;

type Value = Arc<[u8]>;
type Cell = tokio::sync::Mutex<Option<Value>>;

/// The cells of the requests in flight.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashMap<Key, Weak<Cell>>>);

impl InFlight {
    fn cells(&self) -> MutexGuard<'_, HashMap<Key, Weak<Cell>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until this request has a value or is the leader.
    pub(crate) async fn turn(self: &Arc<Self>, key: Key) -> Turn {
        let cell = {
            let mut cells = self.cells();
            let present = cells.get(&key).and_then(Weak::upgrade);
            present.unwrap_or_else(|| {
                let cell = Arc::default();
                cells.insert(key, Arc::downgrade(&cell));
                cell
            })
        };
        let waiter = Waiter { in_flight: Arc::clone(self), key, cell: Some(Arc::clone(&cell)) };
        let guard = cell.lock_owned().await;
        match &*guard {
            Some(value) => Turn::Value(Arc::clone(value)),
            None => Turn::Lead(Leader { guard, waiter }),
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.cells().len()
    }
}

/// The result of waiting.
pub(crate) enum Turn {
    /// An equal request found the value.
    Value(Value),
    /// This request is to find it.
    Lead(Leader),
}

/// The request that is to find the value. The order of the fields matters: when the waiter is
/// dropped, the guard's reference to the cell must be gone.
pub(crate) struct Leader {
    guard: OwnedMutexGuard<Option<Value>>,
    waiter: Waiter,
}

impl Leader {
    /// Leaves the value to the requests that wait already; a later one gets a cell of its own.
    pub(crate) fn complete(mut self, value: Value) {
        *self.guard = Some(value);
        self.waiter.close();
    }
}

/// A reference to a cell. The last one removes the cell from the table.
struct Waiter {
    in_flight: Arc<InFlight>,
    key: Key,
    cell: Option<Arc<Cell>>,
}

impl Waiter {
    fn close(&self) {
        let Some(own) = self.cell.as_ref().map(Arc::downgrade) else { return };
        let mut cells = self.in_flight.cells();
        if cells.get(&self.key).is_some_and(|cell| cell.ptr_eq(&own)) {
            cells.remove(&self.key);
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut cells = self.in_flight.cells();
        self.cell = None;
        if cells.get(&self.key).is_some_and(|cell| cell.strong_count() == 0) {
            cells.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;
    use crate::Kind;

    fn key(name: &str) -> Key {
        Key::new(Kind::Llm, name, b"")
    }

    async fn answer_key(in_flight: &Arc<InFlight>, value: &str) -> (bool, Value) {
        match in_flight.turn(key("a")).await {
            Turn::Value(value) => (false, value),
            Turn::Lead(leader) => {
                tokio::task::yield_now().await;
                let value: Value = value.as_bytes().into();
                leader.complete(Arc::clone(&value));
                (true, value)
            }
        }
    }

    #[tokio::test]
    async fn equal_requests_are_made_once_and_leave_nothing_behind() {
        let in_flight = Arc::<InFlight>::default();
        let answers = join_all((0..50).map(|_| answer_key(&in_flight, "x"))).await;
        assert_eq!(answers.iter().filter(|(led, _)| *led).count(), 1);
        assert!(answers.iter().all(|(_, value)| **value == *b"x"));
        assert_eq!(in_flight.len(), 0);
        assert!(answer_key(&in_flight, "y").await.0);
    }

    #[tokio::test]
    async fn a_follower_takes_over_from_a_leader_that_is_dropped() {
        let in_flight = Arc::<InFlight>::default();
        let Turn::Lead(leader) = in_flight.turn(key("a")).await else {
            panic!("no request was in flight")
        };
        let mut followers = Box::pin(join_all((0..3).map(|_| answer_key(&in_flight, "second"))));
        assert!(futures::poll!(followers.as_mut()).is_pending());
        assert!(matches!(in_flight.turn(key("b")).await, Turn::Lead(_)));
        drop(leader);
        let answers = followers.await;
        assert_eq!(answers.iter().map(|(led, _)| *led).collect::<Vec<_>>(), [true, false, false]);
        assert!(answers.iter().all(|(_, value)| **value == *b"second"));
        assert_eq!(in_flight.len(), 0);
    }

    #[tokio::test]
    async fn a_request_after_the_completion_is_made_again() {
        let in_flight = Arc::<InFlight>::default();
        let Turn::Lead(leader) = in_flight.turn(key("a")).await else {
            panic!("no request was in flight")
        };
        let mut waiting = Box::pin(answer_key(&in_flight, "unused"));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        leader.complete(b"first".as_slice().into());
        // The follower has not run since.
        assert_eq!(answer_key(&in_flight, "second").await, (true, b"second".as_slice().into()));
        assert_eq!(waiting.await, (false, b"first".as_slice().into()));
        assert_eq!(in_flight.len(), 0);
    }

    #[tokio::test]
    async fn dropped_followers_do_not_hold_up_the_others() {
        let in_flight = Arc::<InFlight>::default();
        let Turn::Lead(leader) = in_flight.turn(key("a")).await else {
            panic!("no request was in flight")
        };
        let mut gone = Box::pin(answer_key(&in_flight, "unused"));
        let mut waiting = Box::pin(answer_key(&in_flight, "mine"));
        assert!(
            futures::poll!(gone.as_mut()).is_pending()
                && futures::poll!(waiting.as_mut()).is_pending()
        );
        drop(leader);
        drop(gone);
        assert!(waiting.await.0);
        assert_eq!(in_flight.len(), 0);
    }
}
