//! The room of the engine's pool, and which call gets how much of it.
//!
//! Room is counted in memories: a call takes as many as its component has, so that no allocation of the pool can fail. A call for which there
//! is none waits. Each search has a share of its own that no other search can take, so one that fills its share many times over
//! delays only itself. A call that may wait for other guests takes one kind of room and the guests it waits for take the other, so no
//! circle of calls waits for room.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use syrch_core::roles::Role;
use tokio::sync::oneshot;

use crate::contract::{Port, ports_of};

/// Searches that have a share; a further one waits until one of them has no call under way.
const SEARCHES: usize = 160;
/// Memories of a search's share: one of the largest components, or eight of the usual ones.
pub(crate) const SHARE: u32 = 8;
/// Memories that belong to no share and are given to whoever has used up its own.
const COMMON: u32 = 256;
/// The same where searches are made one after the other: reserving memories takes a part of the time in which a program starts.
const SEARCHES_OF_ONE: usize = 2;
const COMMON_OF_ONE: u32 = 48;

/// The number of memories of each kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    searches: usize,
    common: u32,
}

impl Size {
    /// Returns the size for a host that makes so many searches at once. Several hosts may share the memories.
    pub(crate) fn of(searches: usize) -> Self {
        match searches {
            1 => Self { searches: SEARCHES_OF_ONE, common: COMMON_OF_ONE },
            _ => Self { searches: SEARCHES, common: COMMON },
        }
    }

    /// Memories in all, of both kinds.
    pub(crate) fn all(self) -> u32 {
        2 * (self.searches as u32 * SHARE + self.common)
    }
}

/// The room for stores. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Slots {
    callers: Arc<Room>,
    others: Arc<Room>,
}

/// The room of one kind.
struct Room {
    size: Size,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// What each search holds of its share, of those that have a call under way.
    shares: HashMap<usize, Share>,
    /// What is held of the common room.
    common: u32,
    waiting: VecDeque<Waiting>,
}

#[derive(Default)]
struct Share {
    memories: u32,
    calls: u32,
}

struct Waiting {
    search: usize,
    memories: u32,
    granted: oneshot::Sender<Slot>,
}

/// Room for one store, as long as it is held.
pub(crate) struct Slot {
    room: Arc<Room>,
    search: usize,
    memories: u32,
    is_common: bool,
}

impl Slots {
    /// Creates slots of that size, all of them free.
    pub(crate) fn new(size: Size) -> Self {
        let room = || Arc::new(Room { size, held: Mutex::default() });
        Self { callers: room(), others: room() }
    }

    /// Returns room for a call of that role in that search, or for a plugin that describes itself; waits until there is some.
    pub(crate) async fn take(&self, role: Option<Role>, search: usize, memories: u32) -> Slot {
        let calls_guests = role.is_some_and(|role| ports_of(role).contains(&Port::Evaluate));
        let room = if calls_guests { &self.callers } else { &self.others };
        // A component without a memory has a stack at least; one over the limit is refused when it is instantiated.
        let memories = memories.clamp(1, SHARE);
        loop {
            let wait = {
                let mut held = room.held();
                match held.grant(room, search, memories) {
                    Some(slot) => return slot,
                    None => {
                        let (granted, wait) = oneshot::channel();
                        held.waiting.push_back(Waiting { search, memories, granted });
                        wait
                    }
                }
            };
            // Whoever waits is never dropped from the queue without room.
            if let Ok(slot) = wait.await {
                return slot;
            }
        }
    }

    /// Returns whether calls of other searches than this one are under way.
    pub(crate) fn is_shared(&self, search: usize) -> bool {
        [&self.callers, &self.others].iter().any(|room| room.held().shares.keys().any(|other| *other != search))
    }
}

impl Room {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn grant(&mut self, room: &Arc<Room>, search: usize, memories: u32) -> Option<Slot> {
        let share = self.shares.get(&search).map(|share| share.memories);
        if share.is_none() && self.shares.len() >= room.size.searches {
            return None;
        }
        let is_common = share.unwrap_or(0) + memories > SHARE;
        if is_common {
            if self.common + memories > room.size.common {
                return None;
            }
            self.common += memories;
        }
        let share = self.shares.entry(search).or_default();
        share.calls += 1;
        if !is_common {
            share.memories += memories;
        }
        Some(Slot { room: Arc::clone(room), search, memories, is_common })
    }

    fn give_back(&mut self, slot: &Slot) {
        if slot.is_common {
            self.common -= slot.memories;
        }
        if let Some(share) = self.shares.get_mut(&slot.search) {
            share.calls -= 1;
            if !slot.is_common {
                share.memories -= slot.memories;
            }
            if share.calls == 0 {
                self.shares.remove(&slot.search);
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut granted = Vec::new();
        {
            let mut held = self.room.held();
            held.give_back(self);
            let mut still = VecDeque::with_capacity(held.waiting.len());
            while let Some(waiting) = held.waiting.pop_front() {
                if waiting.granted.is_closed() {
                    continue;
                }
                match held.grant(&self.room, waiting.search, waiting.memories) {
                    Some(slot) => granted.push((waiting.granted, slot)),
                    None => still.push_back(waiting),
                }
            }
            held.waiting = still;
        }
        // A slot whose receiver is gone by now is dropped here, without the lock.
        for (granted, slot) in granted {
            drop(granted.send(slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The room that is there without waiting.
    async fn free(slots: &Slots, role: Option<Role>, search: usize, memories: u32) -> Option<Slot> {
        tokio::time::timeout(Duration::from_millis(20), slots.take(role, search, memories)).await.ok()
    }

    #[tokio::test]
    async fn a_search_that_takes_all_it_can_leaves_every_other_its_share() {
        let slots = Slots::new(Size::of(64));
        let mut hostile = Vec::new();
        while let Some(slot) = free(&slots, Some(Role::Solver), 1, SHARE).await {
            hostile.push(slot);
        }
        assert_eq!(hostile.len() as u32, 1 + COMMON / SHARE);
        let mut others = Vec::new();
        for search in 2..=SEARCHES {
            for _ in 0..SHARE {
                others.push(free(&slots, Some(Role::Solver), search, 1).await.unwrap());
            }
            assert!(free(&slots, Some(Role::Solver), search, 1).await.is_none());
        }
        assert!(free(&slots, Some(Role::Solver), SEARCHES + 1, 1).await.is_none(), "more shares than there are");
        // What is free again goes to whoever waits and fits.
        let waiting = tokio::spawn({
            let slots = slots.clone();
            async move { slots.take(Some(Role::Solver), 2, 1).await }
        });
        tokio::task::yield_now().await;
        others.remove(0);
        waiting.await.unwrap();
        drop(others);
        drop(hostile);
        let held = slots.callers.held();
        assert!(held.shares.is_empty() && held.common == 0 && held.waiting.is_empty());
    }

    #[tokio::test]
    async fn who_waits_for_guests_never_takes_their_room() {
        let slots = Slots::new(Size::of(64));
        let mut solvers = Vec::new();
        while let Some(slot) = free(&slots, Some(Role::Solver), 1, 1).await {
            solvers.push(slot);
        }
        for role in Role::ALL.into_iter().filter(|role| *role != Role::Solver).map(Some).chain([None]) {
            assert!(free(&slots, role, 1, SHARE).await.is_some(), "{role:?}");
        }
        assert!(slots.is_shared(2) && !slots.is_shared(1));
        solvers.pop();
        assert!(free(&slots, Some(Role::Solver), 1, 1).await.is_some());
    }

    #[tokio::test]
    async fn one_search_has_room_for_many_calls() {
        let slots = Slots::new(Size::of(1));
        let mut held = Vec::new();
        for _ in 0..SHARE + COMMON_OF_ONE {
            held.push(free(&slots, Some(Role::Solver), 1, 1).await.expect("there is room"));
        }
        assert!(free(&slots, Some(Role::Solver), 1, 1).await.is_none());
        assert!(free(&slots, None, 0, SHARE).await.is_some());
        assert!(Size::of(1).all() <= 128 && Size::of(2).all() > 3_000);
    }

    #[tokio::test]
    async fn who_gives_up_waiting_takes_nothing() {
        let slots = Slots::new(Size::of(64));
        let mut taken = Vec::new();
        while let Some(slot) = free(&slots, None, 1, 1).await {
            taken.push(slot);
        }
        drop(tokio::time::timeout(Duration::from_millis(5), slots.take(None, 1, 1)).await);
        taken.pop();
        assert!(free(&slots, None, 1, 1).await.is_some());
    }

    /// A reward or a calibrator that could call other guests would wait for its own kind.
    #[test]
    fn whom_a_caller_waits_for_waits_for_nobody() {
        let callers: Vec<Role> =
            Role::ALL.into_iter().filter(|role| ports_of(*role).contains(&Port::Evaluate)).collect();
        assert!(!callers.is_empty());
        assert!(!callers.contains(&Role::Reward) && !callers.contains(&Role::Calibrator));
    }
}
