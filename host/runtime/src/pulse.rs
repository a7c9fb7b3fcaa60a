//! Whether a guest is alive: running, or waiting in a port of ours. One that does neither (it sleeps in WASI, say) is stopped, since
//! epochs cannot interrupt a wait inside a host call.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::meter::Meter;
use crate::state::hit;
use crate::turns::Turn;

/// A guest's pulse, shared between its store and who watches it.
#[derive(Clone)]
pub(crate) struct Pulse(Arc<Beat>);

struct Beat {
    start: Instant,
    /// Milliseconds from `start` to when the guest was last seen.
    seen: AtomicU64,
    waiting: AtomicBool,
    meter: Meter,
    turn: Turn,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        let beat = Beat {
            start: Instant::now(),
            seen: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            meter: Meter::new(),
            turn: Turn::default(),
        };
        Self(Arc::new(beat))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The guest's CPU time.
    pub(crate) fn meter(&self) -> &Meter {
        &self.0.meter
    }

    /// The guest's turn on the CPU, if it has computed for long.
    pub(crate) fn turn(&self) -> &Turn {
        &self.0.turn
    }

    /// The guest was seen running.
    pub(crate) fn beat(&self) {
        self.0.seen.store(self.now(), Ordering::Relaxed);
    }

    /// The guest waits in a port that has a deadline of its own, or no longer does.
    pub(crate) fn waits(&self, waiting: bool) {
        self.0.waiting.store(waiting, Ordering::Relaxed);
        self.beat();
    }

    /// Waits for what is not the guest's to hurry.
    pub(crate) async fn waiting<T>(&self, work: impl Future<Output = T>) -> T {
        self.waits(true);
        let result = work.await;
        self.waits(false);
        result
    }

    /// Runs a call of the guest; ends it when the guest has been neither running nor waiting in a port for `patience` in all.
    pub(crate) async fn guard<T>(
        self,
        patience: Duration,
        call: impl Future<Output = wasmtime::Result<T>>,
    ) -> wasmtime::Result<T> {
        self.beat();
        let stalled = async {
            // Summed over the call: a guest that wakes now and then is no better than one that does not.
            let (step, mut silent, mut last) = (patience / 20, Duration::ZERO, u64::MAX);
            while silent <= patience {
                tokio::time::sleep(step).await;
                let seen = self.0.seen.load(Ordering::Relaxed);
                if seen == last && !self.0.waiting.load(Ordering::Relaxed) {
                    silent += step;
                }
                last = seen;
            }
        };
        tokio::select! {
            result = self.0.meter.counting(&self.0.turn, call) => result,
            () = stalled => hit("idle", format!("{} s without running or calling a port", patience.as_secs_f64())),
        }
    }
}
