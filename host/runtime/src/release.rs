//! Frees stores of guests that had much memory, on a thread of its own. Unmapping 100 MiB takes
//! some 10 ms, and many searches may end at once, at a deadline for example: on the threads of the
//! async runtime all other searches would wait meanwhile.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};

use wasmtime::Store;
use wasmtime::component::ResourceTable;

use crate::capacity::Allocation;
use crate::state::State;

/// Bytes of linear memory above which a store is freed by the thread.
const LARGE: usize = 16 << 20;

/// The limit on the number of stores that wait to be freed. A further one is freed where it is
/// dropped.
pub(crate) const WAITING: usize = 32;

pub(crate) type Owned = (Store<State>, Allocation);

/// The thread of one engine, which starts with the first large store unless it was started before.
/// Cheap to clone; the thread ends with the last clone.
#[derive(Clone, Default)]
pub(crate) struct ReleaseThread(Arc<OnceLock<Option<SyncSender<Owned>>>>);

impl ReleaseThread {
    /// Starts the thread. A store is freed where it is dropped if that fails.
    pub(crate) fn start(&self) -> Option<&SyncSender<Owned>> {
        let sender = self.0.get_or_init(|| {
            let (sender, receiver) = sync_channel::<Owned>(WAITING);
            let thread = std::thread::Builder::new().name("release".into());
            thread.spawn(move || receiver.into_iter().for_each(drop)).ok().map(|_| sender)
        });
        sender.as_ref()
    }

    fn free(&self, owned: Owned) {
        if let Some(sender) = self.start() {
            // If the queue is full, `try_send` returns the store, and it is freed on this thread.
            drop(sender.try_send(owned));
        }
    }
}

/// A store with its capacity, which is released when the store is freed.
pub(crate) struct OwnedStore {
    owned: ManuallyDrop<Owned>,
    releases: ReleaseThread,
}

impl OwnedStore {
    pub(crate) fn new(
        store: Store<State>,
        allocation: Allocation,
        releases: ReleaseThread,
    ) -> Self {
        Self { owned: ManuallyDrop::new((store, allocation)), releases }
    }
}

impl Deref for OwnedStore {
    type Target = Store<State>;

    fn deref(&self) -> &Store<State> {
        &self.owned.0
    }
}

impl DerefMut for OwnedStore {
    fn deref_mut(&mut self) -> &mut Store<State> {
        &mut self.owned.0
    }
}

impl Drop for OwnedStore {
    fn drop(&mut self) {
        // SAFETY: the value is taken once, here, and nothing reads it afterwards.
        #[allow(unsafe_code)]
        let mut owned = unsafe { ManuallyDrop::take(&mut self.owned) };
        if owned.0.data().limiter.peak() > LARGE {
            // Drops what the guest holds, such as calls in flight, now and not when the thread
            // comes to this store.
            owned.0.data_mut().table = ResourceTable::new();
            self.releases.free(owned);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;
    use std::time::Duration;

    use syrch_core::Limits;
    use wasmtime::ResourceLimiter;

    use super::*;
    use crate::capacity::{Capacity, Size};
    use crate::engine::engine;
    use crate::wasi::{Printed, deny_all};

    /// Reports the thread on which it is dropped.
    struct DropProbe(Arc<OnceLock<ThreadId>>);

    impl Drop for DropProbe {
        fn drop(&mut self) {
            self.0.get_or_init(|| std::thread::current().id());
        }
    }

    #[tokio::test]
    async fn a_large_store_is_freed_by_the_thread_and_what_it_started_ends_at_once() {
        let limits = Limits { searches: 1, ..Limits::default() };
        let engine = engine(&limits).unwrap();
        let capacity = Capacity::new(Size::for_searches(1));
        let releases = ReleaseThread::default();
        for (memory, has_thread) in [(LARGE, false), (LARGE + 1, true)] {
            let printed = Printed::default();
            let state = State::new(deny_all(0, &printed), printed, Arc::new(limits.clone()), None);
            let allocation = capacity.allocate(None, 1, 8).await;
            let mut store =
                OwnedStore::new(Store::new(&engine, state), allocation, releases.clone());
            assert!(store.data_mut().limiter.memory_growing(0, memory, None).unwrap());
            let ended = Arc::new(OnceLock::new());
            store.data_mut().table.push(DropProbe(Arc::clone(&ended))).unwrap();
            assert!(capacity.is_shared(2));
            drop(store);
            assert_eq!(ended.get(), Some(&std::thread::current().id()));
            assert_eq!(releases.0.get().is_some(), has_thread);
            while capacity.is_shared(2) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
}
