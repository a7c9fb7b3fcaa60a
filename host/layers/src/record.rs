//! Records what a model was asked and what it answered, so that the recording can stand in for the
//! model.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{ModelCall, ModelLayer, ModelOutcome, ModelProvider, Request};
use syrch_journal::{Ask, Recorded, Recording, RowRetention};

/// A provider whose exchanges are recorded: every try that was sent and has ended, with its
/// outcome.
///
/// It is below the layer that tries again, so that each try is recorded, and above the budget, so
/// that a request is recorded as it was made, without the budget's output limit. There is no cache
/// above it, since the recording would lack what the cache answers.
pub struct RecordedModel {
    inner: Arc<dyn ModelProvider>,
    recording: Arc<Recording>,
    rows: RowRetention,
}

impl RecordedModel {
    /// Creates the layer around a provider. `rows` decides whether prompts are recorded, or only
    /// their digests.
    #[must_use]
    pub fn new(
        inner: Arc<dyn ModelProvider>,
        recording: Arc<Recording>,
        rows: RowRetention,
    ) -> Self {
        Self { inner, recording, rows }
    }
}

/// A request as a journal or a recording with this retention stores it.
#[must_use]
pub fn request_for_retention(request: &Request, rows: RowRetention) -> Request {
    match Ask::Llm(Box::new(request.clone())).for_retention(rows) {
        Ask::Llm(request) => *request,
        _ => request.clone(),
    }
}

#[async_trait]
impl ModelLayer for RecordedModel {
    fn layer(&self) -> &'static str {
        "recording"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        let outcome = self.inner.complete(call).await;
        if outcome.sent || outcome.result.is_ok() {
            self.recording
                .note(&Recorded::new(request_for_retention(&call.request, self.rows), &outcome));
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use syrch_core::Limits;
    use syrch_core::ledger::{Budgets, Ledger};
    use syrch_core::ports::{LlmError, Retry};

    use super::*;
    use crate::fakes::{ScriptedModel, answer_outcome, call, failure_outcome};
    use crate::{BudgetedModel, RetriedModel, Retries};

    fn recording() -> (tempfile::TempDir, std::path::PathBuf, Arc<Recording>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let recording = Recording::open(&path, &["scripted".to_owned()]).unwrap();
        (folder, path, Arc::new(recording))
    }

    #[tokio::test(start_paused = true)]
    async fn each_try_that_was_sent_is_noted_as_it_was_asked() {
        let (_folder, path, recording) = recording();
        let inner = ScriptedModel::new(vec![
            failure_outcome(Retry::After(Duration::from_secs(1))),
            answer_outcome(),
        ]);
        let ledger = Ledger::new(Budgets { llm_calls: 2, ..Budgets::default() });
        let budgeted = BudgetedModel::new(Arc::new(inner), ledger, Limits::default());
        let noted = RecordedModel::new(Arc::new(budgeted), recording, RowRetention::Full);
        let model = RetriedModel::new(Arc::new(noted), Retries::default());
        assert!(model.complete(&call("one")).await.result.is_ok());
        // Nothing is left for this one, so it is not sent.
        assert_eq!(model.complete(&call("two")).await.result, Err(LlmError::Budget));
        let (_, all) = Recording::read(&path).unwrap();
        assert_eq!(all.len(), 2);
        assert!(all.iter().all(|recorded| recorded.request == call("one").request));
        assert_eq!(all[0].clone().outcome(), failure_outcome(Retry::After(Duration::from_secs(1))));
        assert!(all[1].result.is_ok());
    }

    #[tokio::test]
    async fn without_prompts_a_recording_holds_digests() {
        let (_folder, path, recording) = recording();
        let model = RecordedModel::new(
            Arc::new(ScriptedModel::new(Vec::new())),
            recording,
            RowRetention::None,
        );
        assert!(model.complete(&call("a secret cell")).await.result.is_ok());
        assert!(!std::fs::read_to_string(&path).unwrap().contains("secret"));
        assert_eq!(
            Recording::read(&path).unwrap().1[0].request,
            request_for_retention(&call("a secret cell").request, RowRetention::None)
        );
    }
}
