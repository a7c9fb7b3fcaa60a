//! The tasks that run: spawned on the async runtime, cancelled one by one, and dropped together.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

/// The time that cancelled work may take to end before it is abandoned.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Completed work of the pool.
#[derive(Debug)]
pub(crate) enum Joined<T> {
    /// A task's runner returned.
    Done(usize, T),
    /// A task's runner panicked, or the runtime is shutting down.
    Lost(usize),
    /// Cancelled work has ended, and its place is free.
    Gone,
}

/// Running work, by the position of its task.
pub(crate) struct Pool<T> {
    work: JoinSet<T>,
    tasks: HashMap<Id, usize>,
    handles: HashMap<usize, AbortHandle>,
}

impl<T: Send + 'static> Pool<T> {
    pub(crate) fn new() -> Self {
        Self { work: JoinSet::new(), tasks: HashMap::new(), handles: HashMap::new() }
    }

    pub(crate) fn start(&mut self, task: usize, work: impl Future<Output = T> + Send + 'static) {
        let handle = self.work.spawn(work);
        self.tasks.insert(handle.id(), task);
        self.handles.insert(task, handle);
    }

    /// Cancels a task's work. Its place is free only when the work has ended, so that no more than
    /// the limit ever runs.
    pub(crate) fn cancel(&mut self, task: usize) {
        if let Some(handle) = self.handles.remove(&task) {
            self.tasks.remove(&handle.id());
            handle.abort();
        }
    }

    /// The number of places in use, cancelled work that has not ended included.
    pub(crate) fn places(&self) -> usize {
        self.work.len()
    }

    /// Returns whether nothing runs but cancelled work.
    pub(crate) fn is_idle(&self) -> bool {
        self.handles.is_empty()
    }

    /// Waits for the next completed work, for ever when nothing runs.
    pub(crate) async fn next(&mut self) -> Joined<T> {
        match self.work.join_next_with_id().await {
            Some(joined) => self.settle(joined),
            None => std::future::pending().await,
        }
    }

    /// The next completed work, if there is any already.
    pub(crate) fn try_next(&mut self) -> Option<Joined<T>> {
        let joined = self.work.try_join_next_with_id()?;
        Some(self.settle(joined))
    }

    fn settle(&mut self, joined: Result<(Id, T), JoinError>) -> Joined<T> {
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(task) = self.tasks.remove(&id) else { return Joined::Gone };
        self.handles.remove(&task);
        joined.map_or(Joined::Lost(task), |(_, value)| Joined::Done(task, value))
    }

    /// Cancels everything and waits for it to end, within a time limit: work that never yields
    /// cannot be cancelled.
    pub(crate) async fn close(mut self) {
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.work.shutdown()).await;
    }
}
