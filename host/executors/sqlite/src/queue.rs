//! A queue for places. Of the statements that wait, the first of the search that has used the least
//! CPU time is next, so that a search that asks for little does not wait behind others that ask for
//! much.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use syrch_core::ports::NO_SEARCH;
use tokio::sync::oneshot;

/// Searches whose time is known; with more, all begin anew.
const KNOWN: usize = 4_096;

/// CPU time of a statement before it gives way where statements wait for a place, or where its
/// search has used as much before and a statement of another search is in progress.
pub(crate) const SLOW_BESIDE_OTHERS: Duration = Duration::from_millis(2);

/// CPU time is compared in whole steps of this length; searches with equally many steps are served
/// in the order in which they came.
const STEP: Duration = SLOW_BESIDE_OTHERS;

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// The waiting statements, in the order in which they came.
    waiting: Vec<(u64, oneshot::Sender<Place>)>,
    /// CPU time by search.
    used: HashMap<u64, Duration>,
    /// Places by search, of those that have any.
    taken: HashMap<u64, usize>,
}

/// A place of a search, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    search: u64,
    /// `None` while it is given back.
    queue: Option<Arc<Queue>>,
}

impl Queue {
    /// Makes a queue with that many places, at least one.
    pub(crate) fn new(places: usize) -> Arc<Self> {
        let state = State {
            free: places.max(1),
            waiting: Vec::new(),
            used: HashMap::new(),
            taken: HashMap::new(),
        };
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
                    return state.place(self, search);
                }
                let (waiter, place) = oneshot::channel();
                state.waiting.push((search, waiter));
                self.waiting.store(state.waiting.len(), Ordering::Relaxed);
                place
            };
            if let Ok(place) = place.await {
                return place;
            }
        }
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

    /// Returns true if a statement of this search is to give way early: others wait for a place, or
    /// the search has used a step of CPU time and a statement of another search is in progress. The
    /// second does not hold for [`NO_SEARCH`], under which unrelated work is counted together.
    pub(crate) fn should_give_way(&self, search: u64) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
            || search != NO_SEARCH && {
                let state = self.state();
                state.used.get(&search).is_some_and(|used| *used >= STEP)
                    && state.taken.keys().any(|other| *other != search)
            }
    }

    /// Returns true if a statement beside a slow one of this search waits or is in progress, but
    /// for those of the search itself. Under [`NO_SEARCH`] every other is unrelated.
    pub(crate) fn has_others(&self, search: u64) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
            || self.state().taken.keys().any(|other| *other != search || search == NO_SEARCH)
    }

    fn give_back(self: Arc<Self>, search: u64) {
        let mut state = self.state();
        if let Entry::Occupied(mut taken) = state.taken.entry(search) {
            *taken.get_mut() -= 1;
            if *taken.get() == 0 {
                taken.remove();
            }
        }
        // Those that no longer wait take nothing.
        state.waiting.retain(|(_, waiter)| !waiter.is_closed());
        let next = (0..state.waiting.len()).min_by_key(|at| state.steps_of(state.waiting[*at].0));
        let refused = match next {
            Some(at) => {
                let (search, waiter) = state.waiting.remove(at);
                let place = state.place(&self, search);
                waiter.send(place).err()
            }
            None => {
                state.free += 1;
                None
            }
        };
        self.waiting.store(state.waiting.len(), Ordering::Relaxed);
        drop(state);
        // The waiter stopped waiting just now: its place goes to the next.
        drop(refused);
    }
}

impl State {
    /// The CPU time of a search in whole steps of [`STEP`], and one step for each place that it
    /// has.
    fn steps_of(&self, search: u64) -> u128 {
        let used = self.used.get(&search).map_or(0, |used| used.as_nanos() / STEP.as_nanos());
        used + self.taken.get(&search).map_or(0, |taken| *taken as u128)
    }

    fn place(&mut self, queue: &Arc<Queue>, search: u64) -> Place {
        *self.taken.entry(search).or_default() += 1;
        Place { search, queue: Some(Arc::clone(queue)) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.give_back(self.search);
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
        assert!(queue.should_give_way(1));
        drop(held);
        let place = third.now_or_never().expect("the third has used nothing");
        drop(place);
        let place = second.now_or_never().expect("of two alike the first is next");
        // Who gives up waiting takes nothing.
        assert!(fourth.now_or_never().is_none());
        drop(waiting);
        assert!(queue.should_give_way(1));
        drop(place);
        assert!(!queue.should_give_way(1) && queue.take(9).now_or_never().is_some());
    }

    /// The second statement of a search waits behind that of another, which has used a little.
    #[tokio::test]
    async fn a_statement_in_progress_counts() {
        let queue = Queue::new(2);
        let one = queue.take(1).await;
        let other = queue.take(2).await;
        queue.charge(3, STEP / 2);
        let mut waiting = [1, 1, 3].map(|search| Box::pin(queue.take(search)));
        for waiter in &mut waiting {
            assert!(waiter.now_or_never().is_none());
        }
        let [first, second, third] = waiting.each_mut();
        drop(other);
        let place = third.now_or_never().expect("search 3 has no place");
        assert!(first.now_or_never().is_none());
        drop(one);
        let again = first.now_or_never().expect("search 1 is alone");
        assert!(second.now_or_never().is_none());
        drop(waiting);
        drop((again, place));
        assert!(queue.state().taken.is_empty());
    }

    /// A slow statement has given its place back.
    #[tokio::test]
    async fn a_slow_statement_is_alone_beside_those_of_its_search() {
        let queue = Queue::new(2);
        assert!(!queue.has_others(1) && !queue.has_others(NO_SEARCH));
        let own = queue.take(1).await;
        assert!(!queue.has_others(1) && queue.has_others(2) && queue.has_others(NO_SEARCH));
        drop(own);
        let unrelated = queue.take(NO_SEARCH).await;
        assert!(queue.has_others(1) && queue.has_others(NO_SEARCH));
        drop(unrelated);
        assert!(!queue.has_others(1) && !queue.has_others(NO_SEARCH));
    }

    #[tokio::test]
    async fn a_search_that_has_used_a_share_is_slow_sooner_beside_others() {
        let queue = Queue::new(2);
        let one = queue.take(1).await;
        let other = queue.take(2).await;
        assert!(!queue.should_give_way(1));
        queue.charge(1, STEP);
        queue.charge(NO_SEARCH, STEP);
        assert!(
            queue.should_give_way(1)
                && !queue.should_give_way(2)
                && !queue.should_give_way(NO_SEARCH)
        );
        drop(other);
        assert!(!queue.should_give_way(1));
        drop(one);
    }
}
