//! Tasks that wait for work on other threads: statements, the cache, compilations.
//!
//! An executor of a single thread can ask whether any of its tasks waits for such work, which ends
//! by itself, or all of them wait for another machine or the user.

use std::cell::Cell;

thread_local! {
    static AWAITING: Cell<isize> = const { Cell::new(0) };
}

/// Awaits work that other threads of this process do and that ends by itself.
pub async fn await_work<T>(work: impl Future<Output = T>) -> T {
    let _one = One::start();
    work.await
}

/// Returns whether a task of this thread is in [`await_work`]. The answer is meaningful only in a
/// runtime of one thread, whose tasks stay on it.
#[must_use]
pub fn is_awaiting() -> bool {
    AWAITING.get() != 0
}

struct One;

impl One {
    fn start() -> Self {
        AWAITING.set(AWAITING.get().wrapping_add(1));
        Self
    }
}

impl Drop for One {
    fn drop(&mut self) {
        AWAITING.set(AWAITING.get().wrapping_sub(1));
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
            let mut one = pin!(await_work(std::future::pending::<()>()));
            assert!(!is_awaiting());
            assert!(one.as_mut().poll(&mut cx).is_pending() && is_awaiting());
        }
        assert!(!is_awaiting());
        assert!(pin!(await_work(async { 5 })).poll(&mut cx).is_ready() && !is_awaiting());
    }
}
