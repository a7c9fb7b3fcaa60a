//! The tasks under way: started on the async runtime, cancelled one by one, and dropped together.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

/// How long cancelled work may take to let go before it is left to itself.
const GRACE: Duration = Duration::from_secs(1);

/// What came out of a place in the pool.
#[derive(Debug)]
pub(crate) enum Joined<T> {
    /// A task's result.
    Done(usize, T),
    /// A task panicked, or the runtime is shutting down.
    Lost(usize),
    /// A cancelled task has let go of its place.
    Gone,
}

/// Work under way, by the position of its task.
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

    /// Ends a task's work. Its place is free only when the work has really let go, so that no more than the limit ever runs.
    pub(crate) fn cancel(&mut self, task: usize) {
        if let Some(handle) = self.handles.remove(&task) {
            self.tasks.remove(&handle.id());
            handle.abort();
        }
    }

    /// Places in use, cancelled work that has not let go yet included.
    pub(crate) fn places(&self) -> usize {
        self.work.len()
    }

    /// Whether nothing is under way but what was cancelled.
    pub(crate) fn is_idle(&self) -> bool {
        self.handles.is_empty()
    }

    /// Waits for the next result; for ever when nothing is under way.
    pub(crate) async fn next(&mut self) -> Joined<T> {
        match self.work.join_next_with_id().await {
            Some(joined) => self.settle(joined),
            None => std::future::pending().await,
        }
    }

    /// The next result that is there already.
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

    /// Cancels all and waits for it to let go, though not for ever: work that never yields cannot be cancelled.
    pub(crate) async fn close(mut self) {
        let _ = tokio::time::timeout(GRACE, self.work.shutdown()).await;
    }
}
