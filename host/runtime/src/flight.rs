//! Calls under way: what a guest started and has not waited for.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::task::AbortHandle;

/// A call that runs beside the guest. Dropped, it is aborted.
pub(crate) struct Flight<T> {
    ticket: u32,
    value: Arc<Mutex<Option<T>>>,
    done: watch::Sender<bool>,
    task: AbortHandle,
}

impl<T: Send + 'static> Flight<T> {
    /// Starts `future` on the runtime that is running.
    pub(crate) fn start(ticket: u32, future: impl Future<Output = T> + Send + 'static) -> Self {
        let value = Arc::new(Mutex::new(None));
        let (done, _) = watch::channel(false);
        let (slot, signal) = (Arc::clone(&value), done.clone());
        let task = tokio::spawn(async move {
            let result = future.await;
            settle(&slot, result);
            signal.send_replace(true);
        });
        Self { ticket, value, done, task: task.abort_handle() }
    }

    /// Its number in `wait.any`.
    pub(crate) fn ticket(&self) -> u32 {
        self.ticket
    }

    /// Who tells when it is done.
    pub(crate) fn done(&self) -> watch::Receiver<bool> {
        self.done.subscribe()
    }

    /// Ends it; `instead` is its result unless it had one.
    pub(crate) fn cancel(&self, instead: T) {
        self.task.abort();
        settle(&self.value, instead);
        self.done.send_replace(true);
    }

    /// Takes the result, once.
    pub(crate) fn take(&self) -> Option<T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T: Clone> Flight<T> {
    /// The result, each time.
    pub(crate) fn get(&self) -> Option<T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn settle<T>(slot: &Mutex<Option<T>>, result: T) {
    slot.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(result);
}

impl<T> Drop for Flight<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
