//! Work that a task waits for while others do it: threads that may block, a statement's, the cache's. Who runs tasks on one thread can ask
//! whether any of them waits for such work, or only for what comes from another machine or a user.

use std::cell::Cell;

thread_local! {
    static AWAITED: Cell<isize> = const { Cell::new(0) };
}

/// Waits for work that other threads of this process do, and that ends by itself.
pub async fn awaited<T>(work: impl Future<Output = T>) -> T {
    let _one = One::begun();
    work.await
}

/// Whether a task of this thread waits for such work. Tasks that move between threads make this meaningless: it is for a runtime of one thread.
#[must_use]
pub fn is_awaited() -> bool {
    AWAITED.get() != 0
}

struct One;

impl One {
    fn begun() -> Self {
        AWAITED.set(AWAITED.get().wrapping_add(1));
        Self
    }
}

impl Drop for One {
    fn drop(&mut self) {
        AWAITED.set(AWAITED.get().wrapping_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn work_is_awaited_until_it_ends_or_nobody_waits() {
        let mut cx = Context::from_waker(Waker::noop());
        {
            let mut one = pin!(awaited(std::future::pending::<()>()));
            assert!(!is_awaited());
            assert!(one.as_mut().poll(&mut cx).is_pending() && is_awaited());
        }
        assert!(!is_awaited());
        assert!(pin!(awaited(async { 5 })).poll(&mut cx).is_ready() && !is_awaited());
    }
}
