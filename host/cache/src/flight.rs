//! One flight for equal requests that are under way at once in this process.
//!
//! Equal requests share a cell and take turns at its lock: the first leads, the others wait. A leader that lands leaves a value for those
//! who wait; one that is dropped leaves none, and the next of them leads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use crate::Key;

type Value = Arc<[u8]>;
type Cell = tokio::sync::Mutex<Option<Value>>;

/// The flights under way.
#[derive(Default)]
pub(crate) struct Flights(Mutex<HashMap<Key, Weak<Cell>>>);

impl Flights {
    fn cells(&self) -> MutexGuard<'_, HashMap<Key, Weak<Cell>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn of this request.
    pub(crate) async fn turn(self: &Arc<Self>, key: Key) -> Turn {
        let cell = {
            let mut cells = self.cells();
            let under_way = cells.get(&key).and_then(Weak::upgrade);
            under_way.unwrap_or_else(|| {
                let cell = Arc::default();
                cells.insert(key, Arc::downgrade(&cell));
                cell
            })
        };
        let seat = Seat { flights: Arc::clone(self), key, cell: Some(Arc::clone(&cell)) };
        let guard = cell.lock_owned().await;
        match &*guard {
            Some(value) => Turn::Landed(Arc::clone(value)),
            None => Turn::Lead(Pilot { guard, seat }),
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.cells().len()
    }
}

/// What a request comes to when it is its turn.
pub(crate) enum Turn {
    /// Somebody else has the value.
    Landed(Value),
    /// It is for this one to find it.
    Lead(Pilot),
}

/// The one who finds the value. The fields drop in this order: the seat sees that the lock's own hold on the cell is gone.
pub(crate) struct Pilot {
    guard: OwnedMutexGuard<Option<Value>>,
    seat: Seat,
}

impl Pilot {
    /// Leaves the value to those who wait already; who comes later begins a flight of its own.
    pub(crate) fn land(mut self, value: Value) {
        *self.guard = Some(value);
        self.seat.close();
    }
}

/// A hold on a cell that clears the cell away with the last of them.
struct Seat {
    flights: Arc<Flights>,
    key: Key,
    cell: Option<Arc<Cell>>,
}

impl Seat {
    fn close(&self) {
        let Some(own) = self.cell.as_ref().map(Arc::downgrade) else { return };
        let mut cells = self.flights.cells();
        if cells.get(&self.key).is_some_and(|cell| cell.ptr_eq(&own)) {
            cells.remove(&self.key);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut cells = self.flights.cells();
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

    async fn answered(flights: &Arc<Flights>, value: &str) -> (bool, Value) {
        match flights.turn(key("a")).await {
            Turn::Landed(value) => (false, value),
            Turn::Lead(pilot) => {
                tokio::task::yield_now().await;
                let value: Value = value.as_bytes().into();
                pilot.land(Arc::clone(&value));
                (true, value)
            }
        }
    }

    #[tokio::test]
    async fn equal_requests_fly_once_and_leave_nothing_behind() {
        let flights = Arc::<Flights>::default();
        let answers = join_all((0..50).map(|_| answered(&flights, "x"))).await;
        assert_eq!(answers.iter().filter(|(led, _)| *led).count(), 1);
        assert!(answers.iter().all(|(_, value)| **value == *b"x"));
        assert_eq!(flights.len(), 0);
        assert!(answered(&flights, "y").await.0);
    }

    #[tokio::test]
    async fn a_follower_takes_over_from_a_leader_that_is_dropped() {
        let flights = Arc::<Flights>::default();
        let Turn::Lead(pilot) = flights.turn(key("a")).await else { panic!("nobody flew before") };
        let mut followers = Box::pin(join_all((0..3).map(|_| answered(&flights, "second"))));
        assert!(futures::poll!(followers.as_mut()).is_pending());
        assert!(matches!(flights.turn(key("b")).await, Turn::Lead(_)));
        drop(pilot);
        let answers = followers.await;
        assert_eq!(answers.iter().map(|(led, _)| *led).collect::<Vec<_>>(), [true, false, false]);
        assert!(answers.iter().all(|(_, value)| **value == *b"second"));
        assert_eq!(flights.len(), 0);
    }

    #[tokio::test]
    async fn who_comes_after_the_landing_flies_anew() {
        let flights = Arc::<Flights>::default();
        let Turn::Lead(pilot) = flights.turn(key("a")).await else { panic!("nobody flew before") };
        let mut waiting = Box::pin(answered(&flights, "unused"));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        pilot.land(b"first".as_slice().into());
        // The follower has not looked yet.
        assert_eq!(answered(&flights, "second").await, (true, b"second".as_slice().into()));
        assert_eq!(waiting.await, (false, b"first".as_slice().into()));
        assert_eq!(flights.len(), 0);
    }

    #[tokio::test]
    async fn dropped_followers_do_not_hold_up_the_others() {
        let flights = Arc::<Flights>::default();
        let Turn::Lead(pilot) = flights.turn(key("a")).await else { panic!("nobody flew before") };
        let mut gone = Box::pin(answered(&flights, "unused"));
        let mut waiting = Box::pin(answered(&flights, "mine"));
        assert!(futures::poll!(gone.as_mut()).is_pending() && futures::poll!(waiting.as_mut()).is_pending());
        drop(pilot);
        drop(gone);
        assert!(waiting.await.0);
        assert_eq!(flights.len(), 0);
    }
}
