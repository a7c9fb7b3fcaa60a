//! Denies model calls that would send something before the user has agreed to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use syrch_core::ports::{LlmError, ModelCall, ModelLayer, ModelOutcome, ModelProvider};

/// The consent of the user. Clones share it, and nobody can take it back.
#[derive(Debug, Clone, Default)]
pub struct Consent(Arc<AtomicBool>);

impl Consent {
    /// Called when the user has agreed.
    pub fn give(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether the user has agreed.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A provider that denies calls which would send something, unless the user has agreed. What sends
/// nothing (the offline rules, a recording) is answered.
pub struct ConsentedModel {
    inner: Arc<dyn ModelProvider>,
    consent: Consent,
}

impl ConsentedModel {
    /// Creates the layer around a provider.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, consent: Consent) -> Self {
        Self { inner, consent }
    }
}

#[async_trait]
impl ModelLayer for ConsentedModel {
    fn layer(&self) -> &'static str {
        "consent"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        if !self.consent.is_given() && self.inner.preview(call).is_some() {
            let reason = "the user has not agreed that this is sent to a model".to_owned();
            return ModelOutcome::unsent(LlmError::Denied(reason));
        }
        self.inner.complete(call).await
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Estimate, Preview};

    use super::*;
    use crate::fakes::{FakeModel, call};

    /// A model that would send something.
    struct Sends(FakeModel);

    #[async_trait]
    impl ModelProvider for Sends {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn models(&self) -> Vec<String> {
            self.0.models()
        }

        fn estimate(&self, call: &ModelCall) -> Estimate {
            self.0.estimate(call)
        }

        fn preview(&self, _: &ModelCall) -> Option<Preview> {
            let method = "POST".to_owned();
            let url = "http://localhost/v1".to_owned();
            Some(Preview { method, url, headers: Vec::new(), body: "x".into() })
        }

        async fn complete(&self, call: &ModelCall) -> ModelOutcome {
            self.0.complete(call).await
        }
    }

    #[tokio::test]
    async fn nothing_is_sent_before_the_user_agrees() {
        let consent = Consent::default();
        let model = Arc::new(Sends(FakeModel::using(1, 1)));
        let layer = ConsentedModel::new(Arc::clone(&model) as _, consent.clone());
        let denied = layer.complete(&call("x")).await;
        assert!(matches!(denied.result, Err(LlmError::Denied(_))) && model.0.last().is_none());
        consent.give();
        assert!(layer.complete(&call("x")).await.result.is_ok() && model.0.last().is_some());
    }

    #[tokio::test]
    async fn what_sends_nothing_needs_no_consent() {
        let layer = ConsentedModel::new(Arc::new(FakeModel::using(1, 1)), Consent::default());
        assert!(layer.complete(&call("x")).await.result.is_ok());
    }
}
