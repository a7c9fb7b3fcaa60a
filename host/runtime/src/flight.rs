//! Calls in flight, which a guest has started and not awaited.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use syrch_core::ports::{Ticket, WaitPort};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// A call that runs beside the guest. When its last handle is dropped, it is aborted.
pub(crate) struct Flight<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    ticket: Ticket,
    value: Arc<Mutex<Option<T>>>,
    done: watch::Sender<bool>,
    task: AbortHandle,
}

impl<T> Clone for Flight<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T: Send + 'static> Flight<T> {
    /// Spawns `future` on the current runtime.
    pub(crate) fn start(ticket: Ticket, future: impl Future<Output = T> + Send + 'static) -> Self {
        let value = Arc::new(Mutex::new(None));
        let (done, _) = watch::channel(false);
        let slot = Arc::clone(&value);
        let signal = done.clone();
        let task = tokio::spawn(async move {
            let result = future.await;
            // If the call was cancelled, its result and its state are set already.
            if !*signal.borrow() {
                lock(&slot).get_or_insert(result);
                signal.send_replace(true);
            }
        });
        Self { inner: Arc::new(Inner { ticket, value, done, task: task.abort_handle() }) }
    }

    /// The call's number in `wait.any`.
    pub(crate) fn ticket(&self) -> Ticket {
        self.inner.ticket
    }

    /// A receiver of whether the call is done.
    pub(crate) fn subscribe_done(&self) -> watch::Receiver<bool> {
        self.inner.done.subscribe()
    }

    /// Waits for the end of the call.
    async fn wait_for_end(&self) {
        // A sender that is gone counts as done.
        drop(self.subscribe_done().wait_for(|done| *done).await);
    }

    /// Cancels the call; `instead` is its result unless the guest could have had one.
    pub(crate) async fn give_up(&self, wait: &dyn WaitPort, instead: T) {
        let is_done = *self.inner.done.borrow();
        if wait.give_up(self.inner.ticket, is_done).await {
            return self.wait_for_end().await;
        }
        self.inner.task.abort();
        *lock(&self.inner.value) = Some(instead);
        self.inner.done.send_replace(true);
    }

    /// Returns whether the guest sees the call as done now.
    pub(crate) async fn is_seen_done(&self, wait: &dyn WaitPort) -> bool {
        let ticket = self.inner.ticket;
        match wait.replay_ended(&[ticket]).await {
            Some(ended) => {
                let is_done = ended.contains(&ticket);
                if is_done {
                    self.wait_for_end().await;
                }
                is_done
            }
            None => {
                let is_done = *self.inner.done.borrow();
                let ended = if is_done { vec![ticket] } else { Vec::new() };
                wait.record_ended(&[ticket], &ended).await;
                is_done
            }
        }
    }

    /// Takes the result, once.
    pub(crate) fn take(&self) -> Option<T> {
        lock(&self.inner.value).take()
    }
}

impl<T: Clone> Flight<T> {
    /// The result, any number of times.
    pub(crate) fn get(&self) -> Option<T> {
        lock(&self.inner.value).clone()
    }
}

fn lock<T>(slot: &Mutex<Option<T>>) -> std::sync::MutexGuard<'_, Option<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
