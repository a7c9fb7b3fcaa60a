//! The handle that ends a run from outside.

use std::sync::Arc;

use tokio::sync::watch;

/// Ends a run: no further task starts, those under way are dropped, and what is done is returned. Clones are the same handle.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// A handle that nobody has triggered.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends it, now and for good.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }

    /// Whether somebody ended it.
    #[must_use]
    pub fn is_triggered(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until somebody ends it.
    pub async fn triggered(&self) {
        // The wait can only fail when the sender is gone, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}
