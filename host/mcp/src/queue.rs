//! The slots of a server: a bounded number of calls at once, a bounded queue, and a fair share for
//! each client.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

/// The time between two looks at a queue that is to become idle.
const PAUSE: Duration = Duration::from_millis(20);

/// The reason why a call gets no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too many calls wait.
    #[error("the server is busy: too many calls wait; try again later")]
    Full,
    /// Too many calls of this client wait.
    #[error("too many calls of this client wait; try again when some of them have ended")]
    Share,
}

/// Gives slots to calls. A slot that becomes free goes to the client that holds the fewest, and
/// among those to the call that waits longest.
#[derive(Clone)]
pub struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    slots: usize,
    waiting: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The slots that each client holds; clients without one are absent.
    held: BTreeMap<String, usize>,
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    client: String,
    sender: oneshot::Sender<Slot>,
}

/// A slot, which returns to the queue when it is dropped.
pub struct Slot {
    shared: Arc<Shared>,
    client: String,
}

impl Queue {
    /// A queue with so many slots, at least 1, in which so many calls may wait: one more is
    /// refused, and a single client may fill half of these places.
    #[must_use]
    pub fn new(slots: usize, waiting: usize) -> Self {
        let state = Mutex::default();
        Self { shared: Arc::new(Shared { slots: slots.max(1), waiting, state }) }
    }

    /// Waits for a slot. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// When too many calls wait already, of this client or of all.
    pub async fn acquire(&self, client: &str) -> Result<Slot, Refusal> {
        self.wait(client, true).await
    }

    /// Waits for a slot, however many wait: for a call that gave its slot back while its user was
    /// thinking, or one that was counted before.
    ///
    /// # Errors
    /// When the queue ends.
    pub async fn acquire_again(&self, client: &str) -> Result<Slot, Refusal> {
        self.wait(client, false).await
    }

    /// The numbers of calls that hold a slot, and of those that wait for one.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let state = self.shared.lock();
        let waiting = state.waiting.iter().filter(|waiter| !waiter.sender.is_closed());
        (state.count(), waiting.count())
    }

    /// Waits until no call holds a slot or waits for one.
    pub async fn wait_until_idle(&self) {
        while self.counts() != (0, 0) {
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn wait(&self, client: &str, is_bounded: bool) -> Result<Slot, Refusal> {
        let receiver = {
            let mut state = self.shared.lock();
            state.waiting.retain(|waiter| !waiter.sender.is_closed());
            if state.waiting.is_empty() && state.count() < self.shared.slots {
                return Ok(self.shared.hand_out(&mut state, client));
            }
            let own = state.waiting.iter().filter(|waiter| waiter.client == client).count();
            if is_bounded && state.waiting.len() >= self.shared.waiting {
                return Err(Refusal::Full);
            }
            if is_bounded && own >= self.shared.waiting.div_ceil(2) {
                return Err(Refusal::Share);
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back(Waiter { client: client.to_owned(), sender });
            receiver
        };
        // The sender is dropped only with the queue, which this future holds.
        receiver.await.map_err(|_| Refusal::Full)
    }
}

impl State {
    fn count(&self) -> usize {
        self.held.values().sum()
    }

    /// Takes the waiter whose client holds the fewest slots, the first of several.
    fn take_next(&mut self) -> Option<Waiter> {
        let places = self.waiting.iter().enumerate();
        let (at, _) = places.min_by_key(|(_, waiter)| self.held.get(&waiter.client))?;
        self.waiting.remove(at)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_out(self: &Arc<Self>, state: &mut State, client: &str) -> Slot {
        *state.held.entry(client.to_owned()).or_default() += 1;
        Slot { shared: Arc::clone(self), client: client.to_owned() }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A slot that nobody receives is dropped in turn, but not while the state is locked.
        let mut unclaimed = None;
        let mut state = self.shared.lock();
        if let Some(held) = state.held.get_mut(&self.client) {
            *held -= 1;
            if *held == 0 {
                state.held.remove(&self.client);
            }
        }
        while state.count() < self.shared.slots {
            let Some(waiter) = state.take_next() else { break };
            if waiter.sender.is_closed() {
                continue;
            }
            let slot = self.shared.hand_out(&mut state, &waiter.client);
            if let Err(slot) = waiter.sender.send(slot) {
                unclaimed = Some(slot);
                break;
            }
        }
        drop(state);
        drop(unclaimed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_free_slot_goes_to_the_client_with_the_fewest() {
        let queue = Queue::new(2, 8);
        let first = queue.acquire("a").await.unwrap();
        let second = queue.acquire("a").await.unwrap();
        let mut of_a = Box::pin(queue.acquire("a"));
        let mut of_b = Box::pin(queue.acquire("b"));
        assert!(futures_are_pending(&mut of_a).await && futures_are_pending(&mut of_b).await);
        drop(first);
        // `a` waits longer, and holds one already.
        let slot = of_b.await.unwrap();
        assert!(futures_are_pending(&mut of_a).await);
        drop(second);
        drop(of_a.await.unwrap());
        drop(slot);
    }

    #[tokio::test]
    async fn the_queue_is_bounded_for_all_and_for_each() {
        let queue = Queue::new(1, 4);
        let slot = queue.acquire("a").await.unwrap();
        let mut waiting: Vec<_> =
            ["a", "a", "b"].into_iter().map(|client| Box::pin(queue.acquire(client))).collect();
        for each in &mut waiting {
            assert!(futures_are_pending(each).await);
        }
        assert_eq!(queue.acquire("a").await.err(), Some(Refusal::Share));
        let mut last = Box::pin(queue.acquire("c"));
        assert!(futures_are_pending(&mut last).await);
        assert_eq!(queue.acquire("d").await.err(), Some(Refusal::Full));
        // A call that stops waiting makes room, and no slot is lost on it.
        drop(waiting);
        let mut next = Box::pin(queue.acquire("d"));
        assert!(futures_are_pending(&mut next).await);
        drop(slot);
        drop(last.await.unwrap());
        drop(next.await.unwrap());
    }

    async fn futures_are_pending<F: Future + Unpin>(future: &mut F) -> bool {
        tokio::select! {
            biased;
            _ = future => false,
            () = tokio::task::yield_now() => true,
        }
    }
}
