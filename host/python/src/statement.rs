//! One statement of a database of the program, on a thread of its own.

use std::sync::Arc;

use pyo3::prelude::*;
use syrch::syrch_core::{SqlError, SqlErrorKind};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use crate::runtime;

/// A statement that runs. Dropping it cancels the statement.
pub(crate) struct Running<T> {
    statement: Arc<Py<PyAny>>,
    work: JoinHandle<Result<T, SqlError>>,
}

impl<T> Running<T> {
    /// Runs `work` with the statement on a thread. `place` is free again when it has ended.
    pub(crate) fn start(
        statement: Py<PyAny>,
        place: OwnedSemaphorePermit,
        work: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, SqlError> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
    {
        let statement = Arc::new(statement);
        let own = Arc::clone(&statement);
        let work = tokio::task::spawn_blocking(move || {
            let done = Python::try_attach(|py| {
                let statement = own.bind(py);
                let done = work(statement);
                if let Err(error) = statement.call_method0("close") {
                    error.write_unraisable(py, Some(statement));
                }
                done
            });
            drop(place);
            done.unwrap_or_else(|| Err(not_run("the program ends")))
        });
        Self { statement, work }
    }

    /// Waits for the end.
    pub(crate) async fn end(&mut self) -> Result<T, SqlError> {
        match (&mut self.work).await {
            Ok(done) => done,
            Err(error) => Err(not_run(&error.to_string())),
        }
    }

    /// Asks the engine to end the statement, from another thread.
    pub(crate) fn cancel(&self) {
        let statement = Arc::clone(&self.statement);
        let Ok(runtime) = runtime::get() else { return };
        runtime.spawn_blocking(move || {
            Python::try_attach(|py| {
                let statement = statement.bind(py);
                if let Err(error) = statement.call_method0("cancel") {
                    error.write_unraisable(py, Some(statement));
                }
            });
        });
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        if !self.work.is_finished() {
            self.cancel();
        }
    }
}

fn not_run(reason: &str) -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, format!("the statement was not run: {reason}"))
}
