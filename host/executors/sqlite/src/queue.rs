//! A queue for places. Of those who wait, the one whose search has used the least CPU time is next: a search that asks for little does not
//! wait behind many that ask for much.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

/// Searches whose time is known; with more, all begin anew.
const KNOWN: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// In the order in which they came.
    waiting: Vec<(u64, oneshot::Sender<Place>)>,
    used: HashMap<u64, Duration>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Option<Arc<Queue>>);

impl Queue {
    /// That many places, at least one.
    pub(crate) fn new(places: usize) -> Arc<Self> {
        let state = State { free: places.max(1), waiting: Vec::new(), used: HashMap::new() };
        Arc::new(Self { state: Mutex::new(state), waiting: AtomicUsize::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place on behalf of a search.
    pub(crate) async fn take(self: &Arc<Self>, search: u64) -> Place {
        loop {
            let place = {
                let mut state = self.state();
                if state.free > 0 {
                    state.free -= 1;
                    return Place(Some(Arc::clone(self)));
                }
                let (hand, place) = oneshot::channel();
                state.waiting.push((search, hand));
                self.waiting.store(state.waiting.len(), Ordering::Relaxed);
                place
            };
            if let Ok(place) = place.await {
                return place;
            }
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// A search has used so much more.
    pub(crate) fn charge(&self, search: u64, time: Duration) {
        let used = &mut self.state().used;
        if used.len() >= KNOWN && !used.contains_key(&search) {
            used.clear();
        }
        let known = used.entry(search).or_default();
        *known = known.saturating_add(time);
    }

    fn give_back(self: Arc<Self>) {
        let mut state = self.state();
        // Who no longer waits takes nothing.
        state.waiting.retain(|(_, hand)| !hand.is_closed());
        let used = |state: &State, search: &u64| state.used.get(search).copied().unwrap_or_default();
        let next = (0..state.waiting.len()).min_by_key(|at| used(&state, &state.waiting[*at].0));
        let refused = match next {
            Some(at) => state.waiting.remove(at).1.send(Place(Some(Arc::clone(&self)))).err(),
            None => {
                state.free += 1;
                None
            }
        };
        self.waiting.store(state.waiting.len(), Ordering::Relaxed);
        drop(state);
        // It stopped waiting just now: its place goes to the next.
        drop(refused);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.give_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn who_has_used_least_is_next() {
        let queue = Queue::new(1);
        let held = queue.take(1).await;
        queue.charge(1, Duration::from_millis(9));
        queue.charge(2, Duration::from_millis(3));
        let mut waiting = [1, 2, 3, 2].map(|search| Box::pin(queue.take(search)));
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        let [_, second, third, fourth] = waiting.each_mut();
        assert!(queue.is_wanted());
        drop(held);
        let place = third.now_or_never().expect("the third has used nothing");
        drop(place);
        let place = second.now_or_never().expect("of two alike the first is next");
        // Who gives up waiting takes nothing.
        assert!(fourth.now_or_never().is_none());
        drop(waiting);
        assert!(queue.is_wanted());
        drop(place);
        assert!(!queue.is_wanted() && queue.take(9).now_or_never().is_some());
    }
}
