//! Turns on the CPU for guests that compute for long, so that those that compute little are not kept waiting by them.
//!
//! A call begins with the threads of the async runtime like any other task. Once it has used [`FREE`] of CPU time it takes turns of a tick
//! each, in order, and one core is left to the others; so do other calls of its plugin from their beginning, for a while ([`Habit`]): many
//! that begin at once would each have that time first. Where other tasks are ready to run, which shows in how long it takes to be polled again,
//! and other searches are under way, it rests in between: the longer others waited and it computed, the longer it does.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// CPU time of a call before it takes turns.
pub(crate) const FREE: Duration = Duration::from_millis(50);

/// How long a plugin is known for a call that used more.
const KNOWN: Duration = Duration::from_secs(10);

/// Whether a plugin's calls computed for long of late.
#[derive(Default)]
pub(crate) struct Habit(Mutex<Option<Instant>>);

impl Habit {
    /// A call used more than [`FREE`].
    pub(crate) fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether one did so lately.
    pub(crate) fn is_long(&self) -> bool {
        let noted = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.is_some_and(|noted| noted.elapsed() < KNOWN)
    }
}

/// Whoever is polled again within this time keeps nobody waiting.
const BUSY: Duration = Duration::from_micros(500);
/// A rest, as a multiple of the time that others needed.
const REST: u32 = 4;
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_millis(500);

/// The turns of one engine. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Turns(Arc<Semaphore>);

/// The turn that a call has, if it has one. Cheap to clone: the waiting future puts it there.
#[derive(Clone, Default)]
pub(crate) struct Turn(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Turns {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(Arc::new(Semaphore::new((cores - 1).max(1))))
    }

    /// Ends the turn and returns a future that ends when the next one begins. `slice` is how long it computed since it was asked last, where
    /// calls of other searches are under way.
    pub(crate) fn next(&self, turn: &Turn, slice: Option<Duration>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (turns, turn) = (Arc::clone(&self.0), turn.clone());
        turn.end();
        Box::pin(async move {
            let begun = Instant::now();
            tokio::task::yield_now().await;
            let waited = begun.elapsed();
            if let Some(slice) = slice.filter(|_| waited > BUSY) {
                tokio::time::sleep((waited.max(slice) * REST).min(LONGEST_REST)).await;
            }
            drop(turn.set(turns.acquire_owned().await.ok()));
        })
    }
}

/// Polls a call. While it has a turn, the tasks that wait for this thread go to another: a slice may be long, since nothing interrupts an
/// instruction that fills a memory.
pub(crate) fn aside<T>(turn: &Turn, mut poll: impl FnMut() -> T) -> T {
    let has_others =
        || Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if !turn.is_taken() || !has_others() {
        return poll();
    }
    let mut has_begun = false;
    let work = || {
        has_begun = true;
        poll()
    };
    match catch_unwind(AssertUnwindSafe(|| tokio::task::block_in_place(work))) {
        Ok(polled) => polled,
        Err(panic) if has_begun => resume_unwind(panic),
        // In a `LocalSet` on the thread of `block_on` the runtime panics, and cannot be asked before.
        Err(_) => poll(),
    }
}

impl Turn {
    fn is_taken(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the turn, if there is one: the call waits for something, or is over.
    pub(crate) fn end(&self) {
        drop(self.set(None));
    }

    fn set(&self, permit: Option<OwnedSemaphorePermit>) -> Option<OwnedSemaphorePermit> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), permit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_computations_take_turns() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let (one, other) = (Turn::default(), Turn::default());
        turns.next(&one, None).await;
        let waits = tokio::time::timeout(Duration::from_millis(20), turns.next(&other, None)).await;
        assert!(waits.is_err(), "two had a turn at once");
        // The first ends its turn by asking for the next.
        tokio::join!(turns.next(&one, None), async {
            turns.next(&other, None).await;
            other.end();
        });
        one.end();
        assert_eq!(turns.0.available_permits(), 1);
    }

    /// A guest that sleeps outside of every port, too.
    #[tokio::test]
    async fn who_waits_has_no_turn() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let (sleeper, other) = (Turn::default(), Turn::default());
        let call = async {
            turns.next(&sleeper, None).await;
            std::future::pending::<()>().await;
        };
        let meter = crate::meter::Meter::new();
        tokio::select! {
            () = meter.counting(&sleeper, call) => {}
            () = async { tokio::task::yield_now().await; turns.next(&other, None).await } => {}
        }
        assert_eq!(turns.0.available_permits(), 0, "the sleeper has the turn");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_call_with_a_turn_is_polled_wherever_it_runs() {
        let polled = || async {
            let (turns, turn) = (Turns(Arc::new(Semaphore::new(1))), Turn::default());
            turns.next(&turn, None).await;
            aside(&turn, || 7)
        };
        assert_eq!(tokio::spawn(polled()).await.unwrap(), 7);
        assert_eq!(polled().await, 7);
        assert_eq!(tokio::task::LocalSet::new().run_until(polled()).await, 7);
    }

    #[tokio::test]
    async fn a_long_computation_rests_where_others_wait_for_the_cpu() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        for (slice, rests) in [(None, false), (Some(Duration::ZERO), true)] {
            let busy = tokio::spawn(async { std::thread::sleep(Duration::from_millis(20)) });
            let begun = Instant::now();
            turns.next(&Turn::default(), slice).await;
            assert_eq!(begun.elapsed() >= Duration::from_millis(20) * (1 + REST), rests);
            busy.await.unwrap();
        }
    }
}
