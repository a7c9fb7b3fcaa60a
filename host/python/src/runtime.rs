//! The one async runtime of the process.

use std::sync::OnceLock;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// The runtime, and the process that it was started in.
static RUNTIME: OnceLock<(Runtime, u32)> = OnceLock::new();

/// Returns the runtime, which is started by the first call.
///
/// # Errors
/// When its threads cannot be started, and in a process that was forked after it was started: a
/// fork has none of the threads.
pub(crate) fn get() -> PyResult<&'static Runtime> {
    let process = std::process::id();
    if RUNTIME.get().is_none() {
        let runtime = Builder::new_multi_thread().thread_name("syrch").enable_all().build();
        let runtime = runtime.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        // Of two threads that come here at once, the second one's runtime is dropped unused.
        if let Err((unused, _)) = RUNTIME.set((runtime, process)) {
            unused.shutdown_background();
        }
    }
    match RUNTIME.get() {
        Some((runtime, owner)) if *owner == process => Ok(runtime),
        _ => Err(PyRuntimeError::new_err(
            "syrch_host was used before this process was forked; start processes with the method \
             `spawn`, or open hosts in the new process alone",
        )),
    }
}
