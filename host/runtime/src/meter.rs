//! The CPU time that a guest uses: that of the thread while the guest's call is polled, without what is polled for a port.
//!
//! Counting epochs or wall time instead would let one long instruction (`memory.fill` over all of its memory) run for a tick's price.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::turns::{self, Turn};

/// The meter is not being polled.
const IDLE: u64 = u64::MAX;

/// Counts the CPU time of one store. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Meter(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    /// Nanoseconds of all polls that have ended, without what ports used.
    used: AtomicU64,
    /// Nanoseconds that were polled for ports.
    ports: AtomicU64,
    /// The thread's clock when the present poll began, or when a port's part of it ended; [`IDLE`] outside polls and in ports.
    since: AtomicU64,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Counts { used: AtomicU64::new(0), ports: AtomicU64::new(0), since: AtomicU64::new(IDLE) }))
    }

    /// Returns the CPU time so far.
    pub(crate) fn used(&self) -> Duration {
        let since = self.0.since.load(Ordering::Relaxed);
        let running = if since == IDLE { 0 } else { thread_clock().saturating_sub(since) };
        Duration::from_nanos(self.0.used.load(Ordering::Relaxed).saturating_add(running))
    }

    /// Returns the CPU time so far with that of ports, which the guest is not charged for: it keeps others waiting all the same.
    pub(crate) fn used_with_ports(&self) -> Duration {
        self.used() + Duration::from_nanos(self.0.ports.load(Ordering::Relaxed))
    }

    fn start(&self) {
        self.0.since.store(thread_clock(), Ordering::Relaxed);
    }

    fn stop(&self) {
        let since = self.0.since.swap(IDLE, Ordering::Relaxed);
        if since != IDLE {
            self.0.used.fetch_add(thread_clock().saturating_sub(since), Ordering::Relaxed);
        }
    }

    /// Counts the CPU time of a call of the guest. Whatever it waits for, it has no turn meanwhile.
    pub(crate) async fn counting<T>(&self, turn: &Turn, call: impl Future<Output = T>) -> T {
        Metered { meter: self, turn: Some(turn), future: pin!(call) }.await
    }

    /// Leaves out the CPU time of a port's work, which is polled within a call of the guest.
    pub(crate) async fn leaving_out<T>(&self, work: impl Future<Output = T>) -> T {
        Metered { meter: self, turn: None, future: pin!(work) }.await
    }
}

struct Metered<'a, F> {
    meter: &'a Meter,
    /// The turn of the call that is counted; none for what a port does.
    turn: Option<&'a Turn>,
    future: Pin<&'a mut F>,
}

impl<F: Future> Future for Metered<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let (meter, turn) = (self.meter, self.turn);
        if let Some(turn) = turn {
            meter.start();
            let polled = turns::aside(turn, || self.future.as_mut().poll(context));
            meter.stop();
            turn.end();
            return polled;
        }
        meter.stop();
        let begun = thread_clock();
        let polled = self.future.as_mut().poll(context);
        meter.0.ports.fetch_add(thread_clock().saturating_sub(begun), Ordering::Relaxed);
        meter.start();
        polled
    }
}

/// Nanoseconds of CPU time of this thread.
#[cfg(unix)]
fn thread_clock() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Where a thread's CPU time cannot be had, wall time stands for it.
#[cfg(not(unix))]
fn thread_clock() -> u64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
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
            .counting(&Turn::default(), async {
                burn(PART);
                assert!(meter.used() >= PART, "a poll that goes on is not counted");
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
        let used = meter.used();
        assert!(used >= PART * 2 && used < PART * 4, "{used:?}");
        assert!(meter.used_with_ports() >= PART * 10);
    }
}
