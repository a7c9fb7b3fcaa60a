//! The slots of the engine's pool, and who may take one.
//!
//! A store in a slot finds its memory, its tables and its stack mapped by the store before, which a long run otherwise spends a fifth of its
//! time on. Whoever finds no slot free waits for one. A call that may wait for other guests takes one kind of slot and the guests it waits
//! for take the other, so none waits for a slot in a circle.

use std::sync::Arc;

use syrch_core::roles::Role;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::contract::{Port, ports_of};

/// Slots of each kind: 64 searches with four calls each.
pub(crate) const OF_A_KIND: u32 = 256;
/// Slots in all.
pub(crate) const ALL: u32 = 2 * OF_A_KIND;

/// Who may be in a slot. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Slots {
    callers: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

/// A slot, as long as it is held.
pub(crate) struct Slot {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(crate) fn new(of_a_kind: u32) -> Self {
        let free = || Arc::new(Semaphore::new(usize::try_from(of_a_kind).unwrap_or(Semaphore::MAX_PERMITS)));
        Self { callers: free(), others: free() }
    }

    /// A slot for a call of that role, or for a plugin that says who it is; waits until one is free.
    pub(crate) async fn take(&self, role: Option<Role>) -> Slot {
        let calls_guests = role.is_some_and(|role| ports_of(role).contains(&Port::Evaluate));
        let kind = if calls_guests { &self.callers } else { &self.others };
        // The semaphores are never closed.
        Slot { _permit: Arc::clone(kind).acquire_owned().await.ok() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn is_free(slots: &Slots, role: Option<Role>) -> bool {
        tokio::time::timeout(Duration::from_millis(20), slots.take(role)).await.is_ok()
    }

    #[tokio::test]
    async fn who_waits_for_guests_never_takes_their_slots() {
        let slots = Slots::new(1);
        let solver = slots.take(Some(Role::Solver)).await;
        assert!(!is_free(&slots, Some(Role::Solver)).await);
        for role in Role::ALL.into_iter().filter(|role| *role != Role::Solver).map(Some).chain([None]) {
            assert!(is_free(&slots, role).await, "{role:?}");
        }
        drop(solver);
        assert!(is_free(&slots, Some(Role::Solver)).await);
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
