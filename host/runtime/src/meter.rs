//! The CPU time that a guest uses: that of the thread while the guest's call is polled, without
//! what is polled for a port.
//!
//! If epochs or wall time were counted instead, one long instruction (`memory.fill` over all of a
//! memory) could run at the price of one tick.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::slices::{self, TimeSlice};

/// The value of `since` while the meter is not being polled.
const IDLE: u64 = u64::MAX;

/// Counts the CPU time of one store. Clones are the same meter.
#[derive(Clone, Debug)]
pub(crate) struct Meter(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    /// Nanoseconds of all polls that have ended, without those of ports.
    used: AtomicU64,
    /// Nanoseconds of polls for ports.
    ports: AtomicU64,
    /// The thread's clock when the present poll started, or when a port's part of it ended;
    /// [`IDLE`] outside of polls and in ports.
    since: AtomicU64,
    /// True if the guest runs in another process, which reports its CPU time.
    is_reported: bool,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self::with(false)
    }

    /// A meter of a guest in another process.
    pub(crate) fn from_reports() -> Self {
        Self::with(true)
    }

    fn with(is_reported: bool) -> Self {
        Self(Arc::new(Counts {
            used: AtomicU64::new(0),
            ports: AtomicU64::new(0),
            since: AtomicU64::new(IDLE),
            is_reported,
        }))
    }

    /// Sets the CPU time that another process reports, which never falls.
    pub(crate) fn report(&self, used: Duration) {
        let used = u64::try_from(used.as_nanos()).unwrap_or(u64::MAX);
        self.0.used.fetch_max(used, Ordering::Relaxed);
    }

    /// The CPU time so far.
    pub(crate) fn cpu_time(&self) -> Duration {
        let since = self.0.since.load(Ordering::Relaxed);
        let running = if since == IDLE { 0 } else { thread_clock().saturating_sub(since) };
        Duration::from_nanos(self.0.used.load(Ordering::Relaxed).saturating_add(running))
    }

    /// The CPU time so far, that of ports included. The guest is not charged for it, but it delays
    /// other tasks all the same.
    pub(crate) fn cpu_time_with_ports(&self) -> Duration {
        self.cpu_time() + Duration::from_nanos(self.0.ports.load(Ordering::Relaxed))
    }

    fn start(&self) {
        if self.0.is_reported {
            return;
        }
        self.0.since.store(thread_clock(), Ordering::Relaxed);
    }

    fn stop(&self) {
        let since = self.0.since.swap(IDLE, Ordering::Relaxed);
        if since != IDLE {
            self.0.used.fetch_add(thread_clock().saturating_sub(since), Ordering::Relaxed);
        }
    }

    /// Counts the CPU time of a call of the guest. While the call waits, it has no time slice.
    pub(crate) async fn counting<T>(&self, slice: &TimeSlice, call: impl Future<Output = T>) -> T {
        Metered { meter: self, slice: Some(slice), future: pin!(call) }.await
    }

    /// Excludes the CPU time of a port's work, which is polled within a call of the guest.
    pub(crate) async fn leaving_out<T>(&self, work: impl Future<Output = T>) -> T {
        Metered { meter: self, slice: None, future: pin!(work) }.await
    }
}

struct Metered<'a, F> {
    meter: &'a Meter,
    /// The time slice of the call that is counted; `None` for a port's work.
    slice: Option<&'a TimeSlice>,
    future: Pin<&'a mut F>,
}

impl<F: Future> Future for Metered<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let meter = self.meter;
        let slice = self.slice;
        if let Some(slice) = slice {
            meter.start();
            let polled = slices::poll_in_place(slice, || self.future.as_mut().poll(context));
            meter.stop();
            slice.end();
            return polled;
        }
        meter.stop();
        let started = thread_clock();
        let polled = self.future.as_mut().poll(context);
        meter.0.ports.fetch_add(thread_clock().saturating_sub(started), Ordering::Relaxed);
        meter.start();
        polled
    }
}

/// The CPU time of this thread in nanoseconds.
#[cfg(unix)]
fn thread_clock() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// The wall time in nanoseconds, in place of a thread's CPU time, which cannot be had here.
#[cfg(not(unix))]
fn thread_clock() -> u64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burn(time: Duration) {
        let start = thread_clock();
        while thread_clock() - start < u64::try_from(time.as_nanos()).unwrap() {
            std::hint::black_box(0);
        }
    }

    #[tokio::test]
    async fn the_guest_is_charged_for_its_own_cpu_time_alone() {
        const PART: Duration = Duration::from_millis(40);
        let meter = Meter::new();
        meter
            .counting(&TimeSlice::default(), async {
                burn(PART);
                assert!(meter.cpu_time() >= PART, "a poll in progress is not counted");
                meter
                    .leaving_out(async {
                        burn(PART * 4);
                        tokio::time::sleep(PART).await;
                        burn(PART * 4);
                    })
                    .await;
                tokio::time::sleep(PART * 4).await;
                burn(PART);
            })
            .await;
        burn(PART * 4);
        let used = meter.cpu_time();
        assert!(used >= PART * 2 && used < PART * 4, "{used:?}");
        assert!(meter.cpu_time_with_ports() >= PART * 10);
    }
}
