//! The requests that a search would send first, without sending them.

use std::sync::Arc;

use syrch_core::ports::Preview;
use syrch_core::{Problem, blocking};
use syrch_journal::{Mode, RowRetention};
use syrch_layers::Previews;
use syrch_scheduler::Stop;
use tokio::runtime::Builder;
use tokio::sync::Notify;

use crate::context::RunState;
use crate::host::Host;
use crate::search::{self, run_id};
use crate::{Error, Silent};

impl Host {
    /// The exact requests that a search for this problem would send before it has a reply to any of
    /// them, without secrets; empty when it needs none. What the cache holds is used. Nothing
    /// leaves the machine, and no journal and no recording is written.
    ///
    /// # Errors
    /// When the search fails before it would send anything.
    pub async fn preview(self: &Arc<Self>, problem: Problem) -> Result<Vec<Preview>, Error> {
        if problem.question.trim().is_empty() {
            return Err(Error::Config("the question is empty".to_owned()));
        }
        let _slot = self.searches.acquire().await;
        let host = Arc::clone(self);
        let found = tokio::task::spawn_blocking(move || host.preview_here(problem)).await;
        found.map_err(|error| Error::Internal(error.to_string()))?
    }

    fn preview_here(&self, problem: Problem) -> Result<Vec<Preview>, Error> {
        self.dry_run(&problem.question.clone(), async |run| {
            run.unless_departed(search::search(self, problem, &run, None)).await.map(drop)
        })
    }

    /// Works on this thread, until all that is left is to wait for replies of models. That is so
    /// when the thread has nothing to do, and no task waits for work on others: no guest computes
    /// then, no statement runs, and nothing is on its way to or from the cache. (A guest that
    /// sleeps by a clock of its own is not waited for.) Returns the requests that the run would
    /// have sent.
    pub(crate) fn dry_run(
        &self,
        question: &str,
        work: impl AsyncFnOnce(Arc<RunState>) -> Result<(), Error>,
    ) -> Result<Vec<Preview>, Error> {
        let previews = Previews::default();
        let over = Arc::<Notify>::default();
        let noted = previews.clone();
        let end = Arc::clone(&over);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || {
                if !blocking::is_awaiting() && !noted.is_empty() {
                    end.notify_one();
                }
            })
            .build();
        let runtime = runtime
            .map_err(|error| Error::Internal(format!("no runtime for a dry run: {error}")))?;
        let report = runtime.block_on(async {
            let catalog = self.database.catalog().await?;
            let id = run_id(question);
            let stop = Stop::new();
            let mode = Mode::Record(None, RowRetention::None);
            let run = self.run_state(&id, mode, catalog, &(Arc::new(Silent) as _), &stop, None);
            let run = Arc::new(RunState { previews: Some(previews.clone()), ..run });
            tokio::select! {
                report = work(run) => report,
                () = over.notified() => Ok(()),
            }
        });
        // What a statement may still do keeps nobody waiting.
        runtime.shutdown_background();
        let found = previews.take();
        match report {
            Err(error) if found.is_empty() => Err(error),
            _ => Ok(found),
        }
    }
}
