//! The requests that a search would send first, without sending them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use syrch_core::ports::{ModelCall, ModelLayer, ModelOutcome, ModelProvider, Preview};

/// The requests that a search would have sent, in order. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Previews(Arc<Mutex<Vec<Preview>>>);

impl Previews {
    /// Returns whether no request has been recorded since the last [`take`](Self::take).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list().is_empty()
    }

    /// Returns the requests so far and clears the list.
    #[must_use]
    pub fn take(&self) -> Vec<Preview> {
        std::mem::take(&mut *self.list())
    }

    fn list(&self) -> MutexGuard<'_, Vec<Preview>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A provider that records what would be sent, and never answers. Calls that send nothing (the
/// offline rules, a recording) are answered.
pub struct PreviewedModel {
    inner: Arc<dyn ModelProvider>,
    previews: Previews,
}

impl PreviewedModel {
    /// Creates the layer around a provider.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, previews: Previews) -> Self {
        Self { inner, previews }
    }
}

#[async_trait]
impl ModelLayer for PreviewedModel {
    fn layer(&self) -> &'static str {
        "preview"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        let Some(preview) = self.inner.preview(call) else {
            return self.inner.complete(call).await;
        };
        self.previews.list().push(preview);
        std::future::pending().await
    }
}
