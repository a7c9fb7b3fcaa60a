//! How many threads work on statements at once. A thread that nobody waits for any more gives its place up, so that one which does not
//! end, because the engine or the file system hangs, keeps nobody out; but only a few may do so, or threads would pile up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::alarm::Cancel;

/// Threads that may be left to themselves beside those that somebody waits for.
const LEFT: usize = 4;

/// The places.
pub(crate) struct Seats {
    permits: Arc<Semaphore>,
    left: Arc<AtomicUsize>,
}

/// One thread's place.
pub(crate) struct Seat {
    state: Mutex<State>,
    left: Arc<AtomicUsize>,
}

enum State {
    Taken { _permit: OwnedSemaphorePermit },
    Left,
    Ended,
}

impl Seats {
    /// That many places, at least one.
    pub(crate) fn new(count: usize) -> Self {
        let permits = Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)));
        Self { permits, left: Arc::default() }
    }

    /// Waits for a place; none once there are none any more.
    pub(crate) async fn take(&self) -> Option<Seat> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        Some(Seat { state: Mutex::new(State::Taken { _permit: permit }), left: Arc::clone(&self.left) })
    }
}

impl Seat {
    /// Nobody waits for the thread any more: somebody else may have its place, unless too many threads run on already.
    fn leave(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let one_more = |left: usize| (left < LEFT).then_some(left + 1);
        if matches!(*state, State::Taken { .. })
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
        {
            *state = State::Left;
        }
    }

    /// The thread has ended.
    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(std::mem::replace(&mut *state, State::Ended), State::Left) {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Ends a statement that nobody waits for any more, and leaves its thread to itself.
pub(crate) struct LeaveOnDrop(Arc<Cancel>, Arc<Seat>);

impl LeaveOnDrop {
    pub(crate) fn new(cancel: &Arc<Cancel>, seat: &Arc<Seat>) -> Self {
        Self(Arc::clone(cancel), Arc::clone(seat))
    }
}

impl Drop for LeaveOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
        self.1.leave();
    }
}

/// Marks the end of a seat's thread.
pub(crate) struct Occupied(Arc<Seat>);

impl Occupied {
    pub(crate) fn new(seat: Arc<Seat>) -> Self {
        Self(seat)
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn now(seats: &Seats) -> Option<Seat> {
        match pin!(seats.take()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(seat) => seat,
            Poll::Pending => None,
        }
    }

    #[test]
    fn threads_that_hang_keep_nobody_out_until_there_are_too_many() {
        let seats = Seats::new(1);
        let mut hanging = Vec::new();
        for _ in 0..=LEFT {
            let seat = now(&seats).unwrap();
            assert!(now(&seats).is_none());
            seat.leave();
            seat.leave();
            hanging.push(seat);
        }
        assert!(now(&seats).is_none());
        // The last one kept its place; the place comes back with its end, and the right to be left with another's.
        hanging.pop().unwrap().end();
        let seat = now(&seats).unwrap();
        seat.leave();
        assert!(now(&seats).is_none());
        hanging.pop().unwrap().end();
        seat.leave();
        assert!(now(&seats).is_some());
    }

    #[test]
    fn a_thread_that_ends_first_is_not_left() {
        let seats = Seats::new(1);
        for _ in 0..3 * LEFT {
            let seat = now(&seats).unwrap();
            seat.end();
            seat.leave();
        }
        assert_eq!(seats.left.load(Ordering::Relaxed), 0);
    }
}
