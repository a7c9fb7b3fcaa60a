//! Time slices for guests that compute for long, so that they do not delay guests that compute
//! little.
//!
//! A call starts like any other task on the threads of the async runtime. Whether other tasks are
//! ready to run shows in how long it takes until the call is polled again.
//!
//! - A call that has used [`SLICED_WHEN_BUSY`] of CPU time while other searches are in progress
//!   needs a time slice of one tick to go on, wherever other tasks are ready to run. There is one
//!   time slice fewer than there are cores (at least one), so that one core is left to calls that
//!   compute little.
//! - A call that has used [`ALWAYS_SLICED`] runs in time slices only. For a while, other calls of
//!   its plugin do so from their start ([`LongCalls`]); otherwise many calls that start at once
//!   would each have that time first. Where other tasks are ready to run and other searches are in
//!   progress, the call pauses in between: the longer others waited and it computed, the longer.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// CPU time of a call before it needs a time slice where other tasks are ready to run and other
/// searches are in progress.
pub(crate) const SLICED_WHEN_BUSY: Duration = Duration::from_millis(2);

/// CPU time of a call before it runs in time slices only.
pub(crate) const ALWAYS_SLICED: Duration = Duration::from_millis(50);

/// The time for which a long call counts for its plugin.
const KNOWN: Duration = Duration::from_secs(10);

/// The time of the last long call of a plugin.
#[derive(Default)]
pub(crate) struct LongCalls(Mutex<Option<Instant>>);

impl LongCalls {
    /// Called when a call has used more than [`ALWAYS_SLICED`].
    pub(crate) fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns whether a call computed for long recently.
    pub(crate) fn is_long(&self) -> bool {
        let noted = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.is_some_and(|noted| noted.elapsed() < KNOWN)
    }
}

/// A task that is polled again within this time delays nobody.
const BUSY_AFTER: Duration = Duration::from_micros(500);
/// The length of a pause, as a multiple of the time that others waited or that the call computed.
const PAUSE_FACTOR: u32 = 4;
/// The time for which a call that is not long lets others go first, as a multiple of the time that
/// it computed.
const YIELD_FACTOR: u32 = 2;
/// The longest pause between two time slices.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The time slices of one engine. Cheap to clone.
#[derive(Clone)]
pub(crate) struct TimeSlices {
    slices: Arc<Semaphore>,
    /// Allows as many long calls to wait for a slice as there are slices, so that no other call
    /// waits behind many of them.
    long: Arc<Semaphore>,
}

/// A time slice, and for a long call the permit to wait for one.
type Permits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

/// The time slice that a call has, if it has one. Clones are the same: the future that waits for a
/// slice sets it.
#[derive(Clone, Default)]
pub(crate) struct TimeSlice(Arc<Mutex<Option<Permits>>>);

impl TimeSlices {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::with_count((cores - 1).max(1))
    }

    fn with_count(count: usize) -> Self {
        Self { slices: Arc::new(Semaphore::new(count)), long: Arc::new(Semaphore::new(count)) }
    }

    /// Ends the time slice and returns a future that resolves when the call may go on. A call that
    /// is not long needs no new slice where no other task is ready to run. `used` is how long the
    /// call computed since it last yielded, and `None` where no other search is in progress; the
    /// call lets others go first for a multiple of it.
    pub(crate) fn next(
        &self,
        current: &TimeSlice,
        is_long: bool,
        used: Option<Duration>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let slices = self.clone();
        let current = current.clone();
        current.end();
        Box::pin(async move {
            let waited = yield_to_others().await;
            let used = used.filter(|_| waited > BUSY_AFTER);
            if !is_long && waited <= BUSY_AFTER {
                return;
            }
            if let Some(used) = used.filter(|_| is_long) {
                tokio::time::sleep((waited.max(used) * PAUSE_FACTOR).min(LONGEST_PAUSE)).await;
            }
            let long = if is_long { slices.long.acquire_owned().await.ok() } else { None };
            let slice = slices.slices.acquire_owned().await.ok();
            let started = Instant::now();
            let rest = used.unwrap_or_default() * YIELD_FACTOR;
            while !is_long && started.elapsed() < rest && yield_to_others().await > BUSY_AFTER {}
            drop(current.set(slice.map(|slice| (slice, long))));
        })
    }
}

/// Yields to the async runtime, and returns how long it took until this task was polled again.
async fn yield_to_others() -> Duration {
    let started = Instant::now();
    tokio::task::yield_now().await;
    started.elapsed()
}

/// Polls a call. While it has a time slice, the other tasks of this thread move to another thread,
/// since a slice may be long: nothing interrupts an instruction that fills a memory.
pub(crate) fn poll_in_place<T>(current: &TimeSlice, mut poll: impl FnMut() -> T) -> T {
    fn is_multi_threaded() -> bool {
        Handle::try_current()
            .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
    }
    if !current.is_taken() || !is_multi_threaded() {
        return poll();
    }
    let mut has_started = false;
    match catch_unwind(AssertUnwindSafe(|| {
        tokio::task::block_in_place(|| {
            has_started = true;
            poll()
        })
    })) {
        Ok(polled) => polled,
        Err(panic) if has_started => resume_unwind(panic),
        // In a `LocalSet` on the thread of `block_on` the runtime panics, and cannot be asked
        // before.
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

    fn set(&self, permits: Option<Permits>) -> Option<Permits> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_computations_have_time_slices_one_after_the_other() {
        let slices = TimeSlices::with_count(1);
        let one = TimeSlice::default();
        let other = TimeSlice::default();
        slices.next(&one, true, None).await;
        let waits =
            tokio::time::timeout(Duration::from_millis(20), slices.next(&other, true, None)).await;
        assert!(waits.is_err(), "two had a time slice at once");
        // The first ends its slice by asking for the next.
        tokio::join!(slices.next(&one, true, None), async {
            slices.next(&other, true, None).await;
            other.end();
        });
        one.end();
        assert_eq!(slices.slices.available_permits(), 1);
    }

    /// A guest that sleeps outside of every port, too.
    #[tokio::test]
    async fn a_call_that_waits_has_no_time_slice() {
        let slices = TimeSlices::with_count(1);
        let sleeper = TimeSlice::default();
        let other = TimeSlice::default();
        let call = async {
            slices.next(&sleeper, true, None).await;
            std::future::pending::<()>().await;
        };
        let meter = crate::meter::Meter::new();
        tokio::select! {
            () = meter.counting(&sleeper, call) => {}
            () = async {
                tokio::task::yield_now().await; slices.next(&other, true, None).await
            } => {}
        }
        assert_eq!(slices.slices.available_permits(), 0, "the sleeper has the slice");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_call_with_a_time_slice_is_polled_wherever_it_runs() {
        let polled = || async {
            let slices = TimeSlices::with_count(1);
            let current = TimeSlice::default();
            slices.next(&current, true, None).await;
            poll_in_place(&current, || 7)
        };
        assert_eq!(tokio::spawn(polled()).await.unwrap(), 7);
        assert_eq!(polled().await, 7);
        assert_eq!(tokio::task::LocalSet::new().run_until(polled()).await, 7);
    }

    #[tokio::test]
    async fn a_long_computation_rests_where_others_wait_for_the_cpu() {
        let slices = TimeSlices::with_count(1);
        for (slice, rests) in [(None, false), (Some(Duration::ZERO), true)] {
            let busy = tokio::spawn(async { std::thread::sleep(Duration::from_millis(20)) });
            let started = Instant::now();
            slices.next(&TimeSlice::default(), true, slice).await;
            assert_eq!(started.elapsed() >= Duration::from_millis(20) * (1 + PAUSE_FACTOR), rests);
            busy.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_call_that_is_not_long_needs_a_slice_only_where_others_wait_for_the_cpu() {
        let slices = TimeSlices::with_count(1);
        let call = TimeSlice::default();
        slices.next(&call, false, None).await;
        assert!(!call.is_taken());
        let busy = tokio::spawn(async { std::thread::sleep(Duration::from_millis(20)) });
        let started = Instant::now();
        slices.next(&call, false, Some(Duration::from_millis(20))).await;
        assert!(
            call.is_taken() && started.elapsed() < Duration::from_millis(20) * (1 + PAUSE_FACTOR),
            "it paused"
        );
        busy.await.unwrap();
    }
}
