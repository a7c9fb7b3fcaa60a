//! How many threads work on statements at once. A thread that nobody waits for any more gives its place up, so that one which does not
//! end, because the engine or the file system hangs, keeps nobody out; but only so many of the process may do so, or threads would pile up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::alarm::Cancel;

/// Threads of the process that may be left to themselves, beside those that somebody waits for.
const LEFT: usize = 32;

/// How long a statement waits for one of them to end. Those that were just cancelled need a moment.
const MOMENT: Duration = Duration::from_secs(1);

/// Threads that nobody waits for, of all databases.
static ABANDONED: Abandoned = Abandoned::new();

/// Counts threads that nobody waits for.
#[derive(Debug)]
struct Abandoned {
    count: AtomicUsize,
    ended: Notify,
}

impl Abandoned {
    const fn new() -> Self {
        Self { count: AtomicUsize::new(0), ended: Notify::const_new() }
    }

    async fn are_few(&self) {
        loop {
            let ended = self.ended.notified();
            if self.count.load(Ordering::Relaxed) < LEFT {
                return;
            }
            ended.await;
        }
    }
}

/// Why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoSeat {
    /// The database is closed.
    Closed,
    /// All places are taken.
    Busy,
    /// This many threads run on after their statements' time.
    Stuck(usize),
}

/// The places.
pub(crate) struct Seats {
    permits: Arc<Semaphore>,
    abandoned: &'static Abandoned,
}

/// One thread's place.
#[derive(Debug)]
pub(crate) struct Seat {
    state: Mutex<State>,
    abandoned: &'static Abandoned,
}

#[derive(Debug)]
enum State {
    Taken { _permit: OwnedSemaphorePermit },
    GivenUp,
    Left,
    Ended,
}

impl Seats {
    /// That many places, at least one.
    pub(crate) fn new(count: usize) -> Self {
        Self::beside(count, &ABANDONED)
    }

    fn beside(count: usize, abandoned: &'static Abandoned) -> Self {
        let permits = Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)));
        Self { permits, abandoned }
    }

    /// Waits for a place so long.
    pub(crate) async fn take(&self, patience: Duration) -> Result<Seat, NoSeat> {
        let permit = tokio::time::timeout(patience, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit.map_err(|_| NoSeat::Busy)?.map_err(|_| NoSeat::Closed)?;
        if tokio::time::timeout(MOMENT, self.abandoned.are_few()).await.is_err() {
            return Err(NoSeat::Stuck(self.abandoned.count.load(Ordering::Relaxed)));
        }
        Ok(Seat { state: Mutex::new(State::Taken { _permit: permit }), abandoned: self.abandoned })
    }
}

impl Seat {
    /// The statement is slow: somebody else may have its place. A search has only so many statements under way, so slow ones do not pile up.
    pub(crate) fn give_up(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Taken { .. }) {
            *state = State::GivenUp;
        }
    }

    /// Nobody waits for the thread any more: somebody else may have its place.
    fn leave(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Taken { .. } | State::GivenUp) {
            self.abandoned.count.fetch_add(1, Ordering::Relaxed);
            *state = State::Left;
        }
    }

    /// The thread has ended.
    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(std::mem::replace(&mut *state, State::Ended), State::Left) {
            self.abandoned.count.fetch_sub(1, Ordering::Relaxed);
            self.abandoned.ended.notify_waiters();
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
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn threads_that_hang_keep_nobody_out_until_the_process_has_too_many() {
        static ABANDONED: Abandoned = Abandoned::new();
        let (seats, others) = (Seats::beside(1, &ABANDONED), Seats::beside(1, &ABANDONED));
        let mut hanging = Vec::new();
        for _ in 0..LEFT {
            let seat = seats.take(MOMENT).await.ok().unwrap();
            assert_eq!(seats.permits.available_permits(), 0);
            seat.leave();
            seat.leave();
            hanging.push(seat);
        }
        // Another database's statements are refused too, and told why.
        for seats in [&seats, &others] {
            assert_eq!(seats.take(MOMENT).await.err(), Some(NoSeat::Stuck(LEFT)));
        }
        hanging.pop().unwrap().end();
        let seat = others.take(MOMENT).await.ok().unwrap();
        // A slow statement keeps nobody out.
        let one = Seats::beside(1, &ABANDONED);
        let slow = one.take(MOMENT).await.ok().unwrap();
        slow.give_up();
        assert!(one.take(MOMENT).await.is_ok());
        // One that ends while it is waited for was never left.
        seat.end();
        seat.leave();
        assert_eq!(ABANDONED.count.load(Ordering::Relaxed), LEFT - 1);
    }
}
