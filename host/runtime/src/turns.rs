//! Turns on the CPU for guests that compute for long, so that those that compute little are not kept waiting by them.
//!
//! A call begins with the threads of the async runtime like any other task. Once it has used [`FREE`] of CPU time it takes turns: at most
//! half of the cores work for such calls, a tick at a time in order, and while other searches have calls under way each turn is followed by a
//! rest of a tick.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::engine::TICK;

/// CPU time of a call before it takes turns.
pub(crate) const FREE: Duration = Duration::from_millis(50);

/// The turns of one engine. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Turns(Arc<Semaphore>);

/// The turn that a call has, if it has one. Cheap to clone: the waiting future puts it there.
#[derive(Clone, Default)]
pub(crate) struct Turn(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Turns {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(Arc::new(Semaphore::new((cores / 2).max(1))))
    }

    /// Ends the turn and returns a future that ends when the next one begins.
    pub(crate) fn next(&self, turn: &Turn, is_shared: bool) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (turns, turn) = (Arc::clone(&self.0), turn.clone());
        let ended = turn.set(None);
        Box::pin(async move {
            if is_shared {
                // The rest is part of the turn: nobody else's long computation takes its place.
                tokio::time::sleep(TICK).await;
            }
            drop(ended);
            drop(turn.set(turns.acquire_owned().await.ok()));
        })
    }
}

impl Turn {
    /// Ends the turn, if there is one: the call waits for a port, or is over.
    pub(crate) fn end(&self) {
        drop(self.set(None));
    }

    fn set(&self, permit: Option<OwnedSemaphorePermit>) -> Option<OwnedSemaphorePermit> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), permit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_computations_take_turns_and_leave_cores_free() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let (one, other) = (Turn::default(), Turn::default());
        turns.next(&one, false).await;
        let waits = tokio::time::timeout(TICK * 2, turns.next(&other, false)).await;
        assert!(waits.is_err(), "two had a turn at once");
        // The first ends its turn by asking for the next: the other comes before it.
        let next = turns.next(&one, true);
        tokio::join!(next, async {
            turns.next(&other, false).await;
            other.end();
        });
        one.end();
        assert_eq!(turns.0.available_permits(), 1);
    }
}
