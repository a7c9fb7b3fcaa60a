//! Time slices for guests that compute for long, so that they do not delay guests that compute little.
//!
//! A call starts like any other task on the threads of the async runtime. Once it has used [`FREE`] of CPU time, it runs in time slices of
//! one tick, and one core is left to others. For a while, other calls of its plugin do so from their start ([`LongCalls`]); otherwise many
//! calls that start at once would each have that time first. Where other tasks are ready to run, which shows in how long it takes until the
//! call is polled again, and other searches are in progress, the call pauses in between: the longer others waited and it computed, the
//! longer.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// CPU time of a call before it runs in time slices.
pub(crate) const FREE: Duration = Duration::from_millis(50);

/// How long a long call counts for its plugin.
const KNOWN: Duration = Duration::from_secs(10);

/// Whether calls of a plugin have computed for long recently.
#[derive(Default)]
pub(crate) struct LongCalls(Mutex<Option<Instant>>);

impl LongCalls {
    /// Called when a call has used more than [`FREE`].
    pub(crate) fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a call did so recently.
    pub(crate) fn is_long(&self) -> bool {
        let noted = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.is_some_and(|noted| noted.elapsed() < KNOWN)
    }
}

/// A task that is polled again within this time delays nobody.
const BUSY: Duration = Duration::from_micros(500);
/// The length of a pause, as a multiple of the time that others waited.
const REST: u32 = 4;
const LONGEST_REST: Duration = Duration::from_millis(500);

/// The time slices of one engine. Cheap to clone.
#[derive(Clone)]
pub(crate) struct TimeSlices(Arc<Semaphore>);

/// The time slice that a call has, if it has one. Clones are the same: the future that waits for a slice sets it.
#[derive(Clone, Default)]
pub(crate) struct TimeSlice(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl TimeSlices {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(Arc::new(Semaphore::new((cores - 1).max(1))))
    }

    /// Ends the time slice and returns a future that resolves when the next one starts. `used` is how long the call computed since the last
    /// one, where calls of other searches are in progress.
    pub(crate) fn next(&self, current: &TimeSlice, used: Option<Duration>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (slices, current) = (Arc::clone(&self.0), current.clone());
        current.end();
        Box::pin(async move {
            let started = Instant::now();
            tokio::task::yield_now().await;
            let waited = started.elapsed();
            if let Some(used) = used.filter(|_| waited > BUSY) {
                tokio::time::sleep((waited.max(used) * REST).min(LONGEST_REST)).await;
            }
            drop(current.set(slices.acquire_owned().await.ok()));
        })
    }
}

/// Polls a call. While it has a time slice, the other tasks of this thread move to another thread, since a slice may be long: nothing
/// interrupts an instruction that fills a memory.
pub(crate) fn poll_in_place<T>(current: &TimeSlice, mut poll: impl FnMut() -> T) -> T {
    let has_others =
        || Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if !current.is_taken() || !has_others() {
        return poll();
    }
    let mut has_started = false;
    let work = || {
        has_started = true;
        poll()
    };
    match catch_unwind(AssertUnwindSafe(|| tokio::task::block_in_place(work))) {
        Ok(polled) => polled,
        Err(panic) if has_started => resume_unwind(panic),
        // In a `LocalSet` on the thread of `block_on` the runtime panics, and cannot be asked before.
        Err(_) => poll(),
    }
}

impl TimeSlice {
    fn is_taken(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the time slice, if there is one: the call waits for something, or has ended.
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
        let slices = TimeSlices(Arc::new(Semaphore::new(1)));
        let (one, other) = (TimeSlice::default(), TimeSlice::default());
        slices.next(&one, None).await;
        let waits = tokio::time::timeout(Duration::from_millis(20), slices.next(&other, None)).await;
        assert!(waits.is_err(), "two had a current at once");
        // The first ends its current by asking for the next.
        tokio::join!(slices.next(&one, None), async {
            slices.next(&other, None).await;
            other.end();
        });
        one.end();
        assert_eq!(slices.0.available_permits(), 1);
    }

    /// A guest that sleeps outside of every port, too.
    #[tokio::test]
    async fn who_waits_has_no_turn() {
        let slices = TimeSlices(Arc::new(Semaphore::new(1)));
        let (sleeper, other) = (TimeSlice::default(), TimeSlice::default());
        let call = async {
            slices.next(&sleeper, None).await;
            std::future::pending::<()>().await;
        };
        let meter = crate::meter::Meter::new();
        tokio::select! {
            () = meter.counting(&sleeper, call) => {}
            () = async { tokio::task::yield_now().await; slices.next(&other, None).await } => {}
        }
        assert_eq!(slices.0.available_permits(), 0, "the sleeper has the current");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_call_with_a_turn_is_polled_wherever_it_runs() {
        let polled = || async {
            let (slices, current) = (TimeSlices(Arc::new(Semaphore::new(1))), TimeSlice::default());
            slices.next(&current, None).await;
            poll_in_place(&current, || 7)
        };
        assert_eq!(tokio::spawn(polled()).await.unwrap(), 7);
        assert_eq!(polled().await, 7);
        assert_eq!(tokio::task::LocalSet::new().run_until(polled()).await, 7);
    }

    #[tokio::test]
    async fn a_long_computation_rests_where_others_wait_for_the_cpu() {
        let slices = TimeSlices(Arc::new(Semaphore::new(1)));
        for (slice, rests) in [(None, false), (Some(Duration::ZERO), true)] {
            let busy = tokio::spawn(async { std::thread::sleep(Duration::from_millis(20)) });
            let started = Instant::now();
            slices.next(&TimeSlice::default(), slice).await;
            assert_eq!(started.elapsed() >= Duration::from_millis(20) * (1 + REST), rests);
            busy.await.unwrap();
        }
    }
}
