//! Work that runs on the runtime's threads, for which Python waits without holding its lock.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use pyo3::prelude::*;
use syrch::Stop;

use crate::outcome::{Ended, Outcome};
use crate::runtime;

/// The time after which a wait looks for signals, such as that of Ctrl-C.
const SLICE: Duration = Duration::from_millis(50);

/// A search, or other work, that was started. Dropping it cancels the work.
#[pyclass(frozen, module = "syrch_host._native")]
pub(crate) struct Task {
    shared: Arc<Shared>,
    stop: Stop,
}

/// The state that the work and those who wait for it share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Triggered to drop the work.
    cancel: Stop,
}

#[derive(Default)]
struct State {
    is_ended: bool,
    ended: Option<Ended>,
    callbacks: Vec<Py<PyAny>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end for this long at most. Returns whether it has come.
    fn wait(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), time, |state| !state.is_ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_ended
    }

    fn finish(&self, ended: Ended) {
        let mut state = self.lock();
        state.is_ended = true;
        state.ended = Some(ended);
        let callbacks = std::mem::take(&mut state.callbacks);
        drop(state);
        self.changed.notify_all();
        if !callbacks.is_empty() {
            tokio::task::spawn_blocking(move || {
                Python::try_attach(|py| callbacks.iter().for_each(|callback| notify(py, callback)));
            });
        }
    }
}

/// Calls a callback. What it raises concerns nobody else.
fn notify(py: Python<'_>, callback: &Py<PyAny>) {
    if let Err(error) = callback.call0(py) {
        error.write_unraisable(py, Some(callback.bind(py)));
    }
}

impl Task {
    /// Starts work. `stop` is the handle that ends it early with what it has.
    pub(crate) fn start(
        work: impl Future<Output = Ended> + Send + 'static,
        stop: Stop,
    ) -> PyResult<Self> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        runtime::get()?.spawn(async move {
            let ended = tokio::select! {
                biased;
                () = own.cancel.wait_until_triggered() => Ended::from_cancel(),
                ended = AssertUnwindSafe(work).catch_unwind() => {
                    ended.unwrap_or_else(|_| Ended::from_panic())
                }
            };
            own.finish(ended);
        });
        Ok(Self { shared, stop })
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.shared.cancel.trigger();
    }
}

#[pymethods]
impl Task {
    /// Waits for the end, in seconds at most, or as long as it takes. Other threads run meanwhile.
    /// Returns whether the end has come. What a signal raises cancels the work.
    #[pyo3(signature = (seconds=None))]
    fn wait(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<bool> {
        let time = seconds.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)));
        let until = time.and_then(Result::ok).and_then(|time| Instant::now().checked_add(time));
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let slice = left.map_or(SLICE, |left| left.min(SLICE));
            if py.detach(|| self.shared.wait(slice)) {
                return Ok(true);
            }
            if let Err(error) = py.check_signals() {
                self.shared.cancel.trigger();
                return Err(error);
            }
            if left.is_some_and(|left| left <= slice) {
                return Ok(false);
            }
        }
    }

    /// Calls `callback` once the end has come, from any thread.
    fn on_end(&self, py: Python<'_>, callback: Py<PyAny>) {
        let mut state = self.shared.lock();
        if !state.is_ended {
            state.callbacks.push(callback);
            return;
        }
        drop(state);
        notify(py, &callback);
    }

    /// Takes the outcome; `None` before the end, and when it was taken already.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Outcome>> {
        let ended = self.shared.lock().ended.take();
        ended.map(|ended| ended.into_outcome(py)).transpose()
    }

    /// Ends a search with the best answer so far.
    fn stop(&self) {
        self.stop.trigger();
    }

    /// Drops the work: its calls end, and its statements are interrupted.
    fn cancel(&self) {
        self.shared.cancel.trigger();
    }
}
