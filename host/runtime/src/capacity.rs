//! The capacity of the engine's pool, and which call gets how much of it.
//!
//! Capacity is counted in linear memories: a call takes as many as its component has, so that no
//! allocation of the pool can fail. A call for which there is no capacity waits. Each search has a
//! share that no other search can take, so one that fills its share many times over delays only
//! itself. Calls that may wait for other guests take memories of one kind, and the guests that they
//! wait for take memories of the other, so no circle of calls waits.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use syrch_core::roles::Role;
use tokio::sync::oneshot;

use crate::contract::{Port, ports_of};

/// Searches that have a share: those in progress, and as many ended ones as stores may wait to be
/// freed, since a share is released with its last store. A further search waits until one of them
/// has no call in progress.
const SEARCHES: usize = 160 + crate::release::WAITING;
/// Memories of a search's share: enough for one of the largest components, or eight of the usual
/// ones.
pub(crate) const SHARE: u32 = 8;
/// Memories that belong to no share and go to calls whose search has used up its own.
const COMMON: u32 = 256;
/// The number of searches with a share, and of common memories, where searches are made one after
/// the other: reserving memories is a part of the time in which a program starts.
const SEARCHES_OF_ONE: usize = 2;
const COMMON_OF_ONE: u32 = 48;

/// The number of memories of each kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    searches: usize,
    common: u32,
}

impl Size {
    /// The size for a host that makes so many searches at once. Several hosts may share the
    /// memories.
    pub(crate) fn for_searches(searches: usize) -> Self {
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

/// The capacity for stores. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Capacity {
    callers: Arc<Pool>,
    others: Arc<Pool>,
}

/// The capacity of one kind.
struct Pool {
    size: Size,
    allocated: Mutex<Allocated>,
}

#[derive(Default)]
struct Allocated {
    /// The part of its share that each search with a call in progress has allocated.
    shares: HashMap<usize, Share>,
    /// The number of common memories that are allocated.
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
    granted: oneshot::Sender<Allocation>,
}

/// Capacity for one store, released when it is dropped.
pub(crate) struct Allocation {
    pool: Arc<Pool>,
    search: usize,
    memories: u32,
    is_common: bool,
}

impl Capacity {
    /// Creates the capacity of that size, all of it free.
    pub(crate) fn new(size: Size) -> Self {
        let pool = || Arc::new(Pool { size, allocated: Mutex::default() });
        Self { callers: pool(), others: pool() }
    }

    /// Allocates capacity for a call of that role in that search, or for a plugin that describes
    /// itself. Waits until there is some.
    pub(crate) async fn allocate(
        &self,
        role: Option<Role>,
        search: usize,
        memories: u32,
    ) -> Allocation {
        let calls_guests = role.is_some_and(|role| ports_of(role).contains(&Port::Evaluate));
        let pool = if calls_guests { &self.callers } else { &self.others };
        // A component without a memory has a stack at least; one over the limit is refused when it
        // is instantiated.
        let memories = memories.clamp(1, SHARE);
        loop {
            let wait = {
                let mut allocated = pool.lock_allocated();
                match allocated.grant(pool, search, memories) {
                    Some(allocation) => return allocation,
                    None => {
                        let (granted, wait) = oneshot::channel();
                        allocated.waiting.push_back(Waiting { search, memories, granted });
                        wait
                    }
                }
            };
            // An entry leaves the queue only with its allocation.
            if let Ok(allocation) = wait.await {
                return allocation;
            }
        }
    }

    /// Returns whether calls of other searches than this one are in progress.
    pub(crate) fn is_shared(&self, search: usize) -> bool {
        [&self.callers, &self.others]
            .iter()
            .any(|pool| pool.lock_allocated().shares.keys().any(|other| *other != search))
    }
}

impl Pool {
    fn lock_allocated(&self) -> MutexGuard<'_, Allocated> {
        self.allocated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Allocated {
    fn grant(&mut self, pool: &Arc<Pool>, search: usize, memories: u32) -> Option<Allocation> {
        let share = self.shares.get(&search).map(|share| share.memories);
        if share.is_none() && self.shares.len() >= pool.size.searches {
            return None;
        }
        let is_common = share.unwrap_or(0) + memories > SHARE;
        if is_common {
            if self.common + memories > pool.size.common {
                return None;
            }
            self.common += memories;
        }
        let share = self.shares.entry(search).or_default();
        share.calls += 1;
        if !is_common {
            share.memories += memories;
        }
        Some(Allocation { pool: Arc::clone(pool), search, memories, is_common })
    }

    fn release(&mut self, allocation: &Allocation) {
        if allocation.is_common {
            self.common -= allocation.memories;
        }
        if let Some(share) = self.shares.get_mut(&allocation.search) {
            share.calls -= 1;
            if !allocation.is_common {
                share.memories -= allocation.memories;
            }
            if share.calls == 0 {
                self.shares.remove(&allocation.search);
            }
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let mut granted = Vec::new();
        {
            let mut allocated = self.pool.lock_allocated();
            allocated.release(self);
            let mut still = VecDeque::with_capacity(allocated.waiting.len());
            while let Some(waiting) = allocated.waiting.pop_front() {
                if waiting.granted.is_closed() {
                    continue;
                }
                match allocated.grant(&self.pool, waiting.search, waiting.memories) {
                    Some(allocation) => granted.push((waiting.granted, allocation)),
                    None => still.push_back(waiting),
                }
            }
            allocated.waiting = still;
        }
        // A allocation whose receiver is gone by now is dropped here, without the lock.
        for (granted, allocation) in granted {
            drop(granted.send(allocation));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The allocation that is available without waiting.
    async fn free(
        capacity: &Capacity,
        role: Option<Role>,
        search: usize,
        memories: u32,
    ) -> Option<Allocation> {
        tokio::time::timeout(Duration::from_millis(20), capacity.allocate(role, search, memories))
            .await
            .ok()
    }

    #[tokio::test]
    async fn a_search_that_takes_all_it_can_leaves_every_other_its_share() {
        let capacity = Capacity::new(Size::for_searches(64));
        let mut hostile = Vec::new();
        while let Some(allocation) = free(&capacity, Some(Role::Solver), 1, SHARE).await {
            hostile.push(allocation);
        }
        assert_eq!(hostile.len() as u32, 1 + COMMON / SHARE);
        let mut others = Vec::new();
        for search in 2..=SEARCHES {
            for _ in 0..SHARE {
                others.push(free(&capacity, Some(Role::Solver), search, 1).await.unwrap());
            }
            assert!(free(&capacity, Some(Role::Solver), search, 1).await.is_none());
        }
        assert!(
            free(&capacity, Some(Role::Solver), SEARCHES + 1, 1).await.is_none(),
            "more shares than there are"
        );
        // Released capacity goes to the first waiting call that it is enough for.
        let waiting = tokio::spawn({
            let capacity = capacity.clone();
            async move { capacity.allocate(Some(Role::Solver), 2, 1).await }
        });
        tokio::task::yield_now().await;
        others.remove(0);
        waiting.await.unwrap();
        drop(others);
        drop(hostile);
        let allocated = capacity.callers.lock_allocated();
        assert!(
            allocated.shares.is_empty() && allocated.common == 0 && allocated.waiting.is_empty()
        );
    }

    #[tokio::test]
    async fn callers_never_take_the_capacity_of_the_guests_they_wait_for() {
        let capacity = Capacity::new(Size::for_searches(64));
        let mut solvers = Vec::new();
        while let Some(allocation) = free(&capacity, Some(Role::Solver), 1, 1).await {
            solvers.push(allocation);
        }
        for role in
            Role::ALL.into_iter().filter(|role| *role != Role::Solver).map(Some).chain([None])
        {
            assert!(free(&capacity, role, 1, SHARE).await.is_some(), "{role:?}");
        }
        assert!(capacity.is_shared(2) && !capacity.is_shared(1));
        solvers.pop();
        assert!(free(&capacity, Some(Role::Solver), 1, 1).await.is_some());
    }

    #[tokio::test]
    async fn one_search_has_capacity_for_many_calls() {
        let capacity = Capacity::new(Size::for_searches(1));
        let mut allocated = Vec::new();
        for _ in 0..SHARE + COMMON_OF_ONE {
            allocated.push(free(&capacity, Some(Role::Solver), 1, 1).await.expect("there is pool"));
        }
        assert!(free(&capacity, Some(Role::Solver), 1, 1).await.is_none());
        assert!(free(&capacity, None, 0, SHARE).await.is_some());
        assert!(Size::for_searches(1).all() <= 128 && Size::for_searches(2).all() > 3_000);
    }

    #[tokio::test]
    async fn who_gives_up_waiting_takes_nothing() {
        let capacity = Capacity::new(Size::for_searches(64));
        let mut taken = Vec::new();
        while let Some(allocation) = free(&capacity, None, 1, 1).await {
            taken.push(allocation);
        }
        drop(tokio::time::timeout(Duration::from_millis(5), capacity.allocate(None, 1, 1)).await);
        taken.pop();
        assert!(free(&capacity, None, 1, 1).await.is_some());
    }

    /// A reward or a calibrator that could call other guests would wait for its own kind.
    #[test]
    fn whom_a_caller_waits_for_waits_for_nobody() {
        let callers: Vec<Role> = Role::ALL
            .into_iter()
            .filter(|role| ports_of(*role).contains(&Port::Evaluate))
            .collect();
        assert!(!callers.is_empty());
        assert!(!callers.contains(&Role::Reward) && !callers.contains(&Role::Calibrator));
    }
}
