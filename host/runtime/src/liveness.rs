//! The time in which a guest is idle: neither running nor waiting in a port, but sleeping in WASI,
//! say. It is summed over a call and bounded, since epochs cannot interrupt a wait inside a host
//! call.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

use crate::meter::Meter;
use crate::slices::TimeSlice;
use crate::state::hit;

/// The liveness of one guest, shared by its store and the future that watches it.
#[derive(Clone)]
pub(crate) struct Liveness(Arc<Inner>);

struct Inner {
    waiting: AtomicBool,
    meter: Meter,
    slice: TimeSlice,
}

impl Liveness {
    pub(crate) fn new() -> Self {
        Self::with(Meter::new())
    }

    /// The liveness of a guest in another process.
    pub(crate) fn from_reports() -> Self {
        Self::with(Meter::from_reports())
    }

    fn with(meter: Meter) -> Self {
        let inner = Inner { waiting: AtomicBool::new(false), meter, slice: TimeSlice::default() };
        Self(Arc::new(inner))
    }

    /// The meter of the guest's CPU time.
    pub(crate) fn meter(&self) -> &Meter {
        &self.0.meter
    }

    /// The guest's time slice, if it has computed for long.
    pub(crate) fn slice(&self) -> &TimeSlice {
        &self.0.slice
    }

    /// Waits for work whose duration is not up to the guest: a port has a deadline of its own.
    pub(crate) async fn waiting<T>(&self, work: impl Future<Output = T>) -> T {
        self.0.waiting.store(true, Ordering::Relaxed);
        let result = work.await;
        self.0.waiting.store(false, Ordering::Relaxed);
        result
    }

    /// Runs a call of the guest, and ends it when the guest has been idle for `limit` in all.
    pub(crate) async fn watch<T>(
        self,
        limit: Duration,
        call: impl Future<Output = wasmtime::Result<T>>,
    ) -> wasmtime::Result<T> {
        let call = self.0.meter.counting(&self.0.slice, call);
        let clock = Arc::new(Clock::default());
        let waker = Waker::from(Arc::clone(&clock));
        let alarm = pin!(tokio::time::sleep(limit));
        Watched {
            liveness: &self,
            limit,
            idle: Duration::ZERO,
            clock,
            waker,
            alarm,
            call: pin!(call),
        }
        .await
    }
}

/// A call whose idle time is measured between its polls: from the end of one that leaves the guest
/// asleep to the moment at which it is woken. The time that it waits for a thread after that is not
/// its own.
struct Watched<'a, F> {
    liveness: &'a Liveness,
    limit: Duration,
    /// The idle time so far.
    idle: Duration,
    clock: Arc<Clock>,
    /// The clock as a waker.
    waker: Waker,
    /// Ends a sleep in which the limit is reached.
    alarm: Pin<&'a mut Sleep>,
    call: Pin<&'a mut F>,
}

impl<T, F: Future<Output = wasmtime::Result<T>>> Future for Watched<'_, F> {
    type Output = wasmtime::Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.idle += this.clock.end();
        if this.idle < this.limit {
            this.clock.set_task(context.waker());
            let polled = this.call.as_mut().poll(&mut Context::from_waker(&this.waker));
            if polled.is_ready() || this.liveness.0.waiting.load(Ordering::Relaxed) {
                return polled;
            }
            this.clock.start();
            this.alarm.as_mut().reset(tokio::time::Instant::now() + (this.limit - this.idle));
            // Polled so that it wakes this task.
            if this.alarm.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        let limit = this.limit.as_secs_f64();
        Poll::Ready(hit("idle", format!("{limit} s without running or calling a port")))
    }
}

/// The clock of a sleep, which runs until the sleeper is woken.
#[derive(Default)]
struct Clock(Mutex<Sleeping>);

#[derive(Default)]
struct Sleeping {
    /// The task of the call.
    task: Option<Waker>,
    /// The start of the present sleep.
    since: Option<Instant>,
    /// True if the task was woken since its last poll, which can happen before that poll ends.
    is_woken: bool,
    /// The length of a sleep that has ended.
    slept: Duration,
}

impl Clock {
    fn with<T>(&self, change: impl FnOnce(&mut Sleeping) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the task that is woken, before it is polled.
    fn set_task(&self, task: &Waker) {
        self.with(|sleeping| {
            sleeping.is_woken = false;
            match &mut sleeping.task {
                Some(known) => known.clone_from(task),
                none => *none = Some(task.clone()),
            }
        });
    }

    /// Starts a sleep, unless the sleeper was woken already.
    fn start(&self) {
        self.with(|sleeping| sleeping.since = (!sleeping.is_woken).then(Instant::now));
    }

    /// Ends the sleep, and returns how long it was.
    fn end(&self) -> Duration {
        self.with(|sleeping| {
            let running = sleeping.since.take().map(|since| since.elapsed());
            std::mem::take(&mut sleeping.slept) + running.unwrap_or_default()
        })
    }
}

impl Wake for Clock {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let task = self.with(|sleeping| {
            sleeping.is_woken = true;
            sleeping.slept +=
                sleeping.since.take().map(|since| since.elapsed()).unwrap_or_default();
            sleeping.task.clone()
        });
        if let Some(task) = task {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(200);

    /// Runs a call that ends by itself after two seconds at most, and returns how long it took and
    /// why it ended, if it was stopped.
    async fn watch(
        liveness: Liveness,
        call: impl Future<Output = ()>,
    ) -> (Duration, Option<String>) {
        let started = Instant::now();
        let call = async {
            call.await;
            Ok(())
        };
        let ended = liveness.watch(LIMIT, call).await;
        (started.elapsed(), ended.err().map(|error| format!("{error:?}")))
    }

    async fn nap(length: Duration) {
        for _ in 0..(2_000_000 / length.as_micros()) {
            sleep(length).await;
        }
    }

    /// Lets others run and is ready at once, as a guest that has computed for a tick.
    async fn give_way() {
        let mut is_done = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut is_done, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    #[tokio::test]
    async fn a_sleep_in_small_pieces_is_summed() {
        for length in [1, 5, 20, 2_000].map(Duration::from_millis) {
            let (took, stopped) = watch(Liveness::new(), nap(length)).await;
            assert!(stopped.is_some_and(|why| why.contains("idle")), "{length:?}");
            assert!(took >= LIMIT && took < LIMIT * 4, "{length:?}: {took:?}");
        }
    }

    #[tokio::test]
    async fn ports_and_turns_of_others_are_no_idle_time() {
        let liveness = Liveness::new();
        let port = liveness.clone();
        let (took, stopped) = watch(liveness, async move {
            for _ in 0..6 {
                port.waiting(sleep(LIMIT / 4)).await;
                sleep(LIMIT / 20).await;
            }
            port.waiting(sleep(LIMIT * 2)).await;
        })
        .await;
        assert!(stopped.is_none() && took > LIMIT * 3, "{stopped:?} {took:?}");

        // A task that is ready, on a thread that others keep from it.
        let busy = tokio::spawn(async {
            for _ in 0..20 {
                std::thread::sleep(LIMIT / 5);
                tokio::task::yield_now().await;
            }
        });
        let (took, stopped) = watch(Liveness::new(), async {
            for _ in 0..10 {
                give_way().await;
            }
        })
        .await;
        assert!(stopped.is_none() && took > LIMIT, "{stopped:?} {took:?}");
        busy.await.unwrap();
    }
}
