//! Whether a guest is active: running, or waiting in a port. A guest that is neither (it sleeps in WASI, say) is stopped, since epochs
//! cannot interrupt a wait inside a host call.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::meter::Meter;
use crate::slices::TimeSlice;
use crate::state::hit;

/// The liveness of one guest, shared by its store and the future that watches it.
#[derive(Clone)]
pub(crate) struct Liveness(Arc<Inner>);

struct Inner {
    start: Instant,
    /// Milliseconds from `start` to when the guest was last active.
    seen: AtomicU64,
    waiting: AtomicBool,
    meter: Meter,
    slice: TimeSlice,
}

impl Liveness {
    pub(crate) fn new() -> Self {
        let inner = Inner {
            start: Instant::now(),
            seen: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            meter: Meter::new(),
            slice: TimeSlice::default(),
        };
        Self(Arc::new(inner))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The meter of the guest's CPU time.
    pub(crate) fn meter(&self) -> &Meter {
        &self.0.meter
    }

    /// The guest's time slice, if it has computed for long.
    pub(crate) fn slice(&self) -> &TimeSlice {
        &self.0.slice
    }

    /// Called when the guest is running.
    pub(crate) fn mark_active(&self) {
        self.0.seen.store(self.now(), Ordering::Relaxed);
    }

    /// Called when the guest starts or ends waiting in a port, which has a deadline of its own.
    pub(crate) fn set_waiting(&self, waiting: bool) {
        self.0.waiting.store(waiting, Ordering::Relaxed);
        self.mark_active();
    }

    /// Waits for work whose duration is not up to the guest.
    pub(crate) async fn waiting<T>(&self, work: impl Future<Output = T>) -> T {
        self.set_waiting(true);
        let result = work.await;
        self.set_waiting(false);
        result
    }

    /// Runs a call of the guest, and ends it when the guest has been idle for `limit` in all.
    pub(crate) async fn watch<T>(
        self,
        limit: Duration,
        call: impl Future<Output = wasmtime::Result<T>>,
    ) -> wasmtime::Result<T> {
        self.mark_active();
        let stalled = async {
            // Summed over the call: a guest that wakes now and then is no better than one that does not.
            let (step, mut idle, mut last) = (limit / 20, Duration::ZERO, u64::MAX);
            while idle <= limit {
                tokio::time::sleep(step).await;
                let seen = self.0.seen.load(Ordering::Relaxed);
                if seen == last && !self.0.waiting.load(Ordering::Relaxed) {
                    idle += step;
                }
                last = seen;
            }
        };
        tokio::select! {
            result = self.0.meter.counting(&self.0.slice, call) => result,
            () = stalled => hit("idle", format!("{} s without running or calling a port", limit.as_secs_f64())),
        }
    }
}
