//! The slots of threads, which limit how many work on statements at once. A thread that nobody
//! waits for any more gives up its slot, so that one that does not end, because the engine or the
//! file system hangs, blocks nobody; but only so many of the process may do so, or threads would
//! pile up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use tokio::sync::Notify;

use crate::queue::{Place, Queue};
use crate::threads::Neighbours;

/// Threads of the process that may be left to themselves, beside those that somebody waits for.
const LEFT: usize = 32;

/// The time for which a statement waits for one of them to end. Those that were just cancelled need
/// a moment.
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

/// The reason why there is no slot.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoSlot {
    /// All slots are taken.
    Busy,
    /// This many threads run on after their statements' time.
    Stuck(usize),
}

/// The slots of a database.
pub(crate) struct Slots {
    queue: Arc<Queue>,
    abandoned: &'static Abandoned,
}

/// The slot that one thread occupies while it runs a statement.
#[derive(Debug)]
pub(crate) struct Slot {
    search: u64,
    queue: Arc<Queue>,
    /// The CPU time that the search was charged for this slot.
    charged: Mutex<Duration>,
    /// The statement's thread, once the statement is slow.
    slow: OnceLock<Thread>,
    state: Mutex<State>,
    abandoned: &'static Abandoned,
}

#[derive(Debug)]
enum State {
    Taken { _place: Place },
    GivenUp,
    Left,
    Ended,
}

impl Slots {
    /// Makes that many slots, at least one.
    pub(crate) fn new(count: usize) -> Self {
        Self::beside(count, &ABANDONED)
    }

    fn beside(count: usize, abandoned: &'static Abandoned) -> Self {
        Self { queue: Queue::new(count), abandoned }
    }

    /// Waits for a slot on behalf of a search, for at most `patience`.
    pub(crate) async fn take(&self, search: u64, patience: Duration) -> Result<Slot, NoSlot> {
        let place = tokio::time::timeout(patience, self.queue.take(search))
            .await
            .map_err(|_| NoSlot::Busy)?;
        if tokio::time::timeout(MOMENT, self.abandoned.are_few()).await.is_err() {
            return Err(NoSlot::Stuck(self.abandoned.count.load(Ordering::Relaxed)));
        }
        let state = Mutex::new(State::Taken { _place: place });
        let queue = Arc::clone(&self.queue);
        let charged = Mutex::default();
        let slow = OnceLock::new();
        Ok(Slot { search, queue, charged, slow, state, abandoned: self.abandoned })
    }
}

impl Slot {
    /// Returns true if the statement is to give way early: see [`Queue::should_give_way`].
    pub(crate) fn should_give_way(&self) -> bool {
        self.queue.should_give_way(self.search)
    }

    /// Returns whether statements of others are in progress or wait beside this one, which is slow.
    pub(crate) fn neighbours(&self) -> Neighbours {
        match self.queue.has_others(self.search) {
            true => Neighbours::Some,
            false => Neighbours::None,
        }
    }

    /// Charges the search the CPU time that the statement has used so far, without what it was
    /// charged before.
    pub(crate) fn charge(&self, used: Duration) {
        let mut charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner);
        let more = used.saturating_sub(*charged);
        *charged += more;
        self.queue.charge(self.search, more);
    }

    /// Returns true if the statement is slow.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow.get().is_some()
    }

    /// Marks the statement, which runs on this thread, as slow after `used` of CPU time, charges
    /// its search, and gives its slot to others. Slow statements do not pile up, since the
    /// statements that a search has in progress are bounded in number, and a call of a guest has
    /// one check at a time.
    pub(crate) fn mark_slow(&self, used: Duration) {
        self.slow.get_or_init(std::thread::current);
        // Charged before the slot goes to others, so that the search's next statements come after
        // theirs.
        self.charge(used);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Taken { .. }) {
            *state = State::GivenUp;
        }
    }

    /// Wakes the thread of a slow statement, which may wait for its turn.
    pub(crate) fn wake(&self) {
        if let Some(thread) = self.slow.get() {
            thread.unpark();
        }
    }

    /// Nobody waits for the thread any more: somebody else may have its slot.
    pub(crate) fn leave(&self) {
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

/// Marks the end of a slot's thread.
pub(crate) struct Occupied(Arc<Slot>);

impl Occupied {
    pub(crate) fn new(slot: Arc<Slot>) -> Self {
        Self(slot)
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
    async fn threads_that_hang_block_no_other_until_the_process_has_too_many() {
        static ABANDONED: Abandoned = Abandoned::new();
        let slots = Slots::beside(1, &ABANDONED);
        let others = Slots::beside(1, &ABANDONED);
        let mut hanging = Vec::new();
        for _ in 0..LEFT {
            let slot = slots.take(0, MOMENT).await.ok().unwrap();
            assert!(slots.take(0, Duration::from_millis(1)).await.is_err());
            slot.leave();
            slot.leave();
            hanging.push(slot);
        }
        // Another database's statements are refused too, with the reason.
        for slots in [&slots, &others] {
            assert_eq!(slots.take(0, MOMENT).await.err(), Some(NoSlot::Stuck(LEFT)));
        }
        hanging.pop().unwrap().end();
        let slot = others.take(0, MOMENT).await.ok().unwrap();
        // A slow statement blocks no other.
        let one = Slots::beside(1, &ABANDONED);
        let slow = one.take(0, MOMENT).await.ok().unwrap();
        slow.mark_slow(MOMENT);
        assert!(one.take(0, MOMENT).await.is_ok());
        assert!(slow.is_slow());
        // One that ends while it is waited for was never left.
        slot.end();
        slot.leave();
        assert_eq!(ABANDONED.count.load(Ordering::Relaxed), LEFT - 1);
    }
}
