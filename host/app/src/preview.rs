//! What a search would send first, without sending it.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use syrch_core::Problem;
use syrch_core::ports::{Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Preview};
use syrch_journal::Mode;
use syrch_scheduler::Stop;

use crate::host::Host;
use crate::search::{Outside, run_id};
use crate::{Error, Silent};

/// The requests that a search would have sent, in their order.
pub(crate) type Previews = Arc<Mutex<Vec<Preview>>>;

/// A provider that notes what would be sent, and fails the call. What needs nothing sent (the offline rules, a recording) is answered.
pub(crate) struct PreviewedModel {
    pub(crate) inner: Arc<dyn ModelProvider>,
    pub(crate) previews: Previews,
}

#[async_trait]
impl ModelProvider for PreviewedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn models(&self) -> Vec<String> {
        self.inner.models()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        self.inner.identity(call)
    }

    fn estimate(&self, call: &ModelCall) -> Estimate {
        self.inner.estimate(call)
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        self.inner.preview(call)
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let Some(preview) = self.inner.preview(call) else { return self.inner.complete(call).await };
        self.previews.lock().unwrap_or_else(PoisonError::into_inner).push(preview);
        ModelOutcome::unsent(LlmError::Unavailable("nothing is sent in a dry run".to_owned()))
    }
}

impl Host {
    /// The exact requests that a search for this problem would send first, without secrets; empty when it needs none. What the cache holds is
    /// used, and each call that is not in it fails in place of being sent, so a search whose later requests depend on a reply ends there.
    /// Nothing leaves the machine, and no journal and no recording is written.
    ///
    /// # Errors
    /// When the search fails before it would send anything.
    pub async fn preview(&self, problem: Problem) -> Result<Vec<Preview>, Error> {
        if problem.question.trim().is_empty() {
            return Err(Error::Config("the question is empty".to_owned()));
        }
        let _slot = self.searches.acquire().await;
        let (id, stop) = (run_id(&problem.question), Stop::new());
        let catalog = self.database.catalog().await?;
        let mode = Mode::Live(None, self.settings.journal.kept);
        let previews = Previews::default();
        let mut run = self.run_state(&id, mode, catalog, &(Arc::new(Silent) as _), &stop);
        run.previews = Some(Arc::clone(&previews));
        let report = self.follow(problem, &run, &Outside { ask: None, stop: &stop }).await;
        let found = std::mem::take(&mut *previews.lock().unwrap_or_else(PoisonError::into_inner));
        match report {
            Err(error) if found.is_empty() => Err(error),
            _ => Ok(found),
        }
    }
}
