//! The handle that stops a run.

use std::sync::Arc;

use tokio::sync::watch;

/// Stops a run: no further task starts, running ones have the grace period to end, and what is done
/// is returned.
/// Clones are the same handle.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// A handle that has not been triggered.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the run for good.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether the run was stopped.
    #[must_use]
    pub fn is_triggered(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when the run is stopped.
    pub async fn wait_until_triggered(&self) {
        // The wait can only fail when the sender is gone, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}
