//! The tables that a strategy's linker selects for a question, and the prompt in which the other
//! roles show them to a model.

use std::sync::Arc;

use syrch_core::ports::Preview;
use syrch_core::{Catalog, Hit, Problem};
use syrch_journal::{Mode, RowRetention};
use syrch_scheduler::Stop;

use crate::context::Context;
use crate::host::Host;
use crate::search::{self, run_id};
use crate::{Error, Silent};

/// The selection of one question's linker.
#[derive(Debug, Clone)]
pub struct Linking {
    /// The tables and columns that are shown; all that are granted if the strategy has no linker or
    /// nothing was selected.
    pub catalog: Arc<Catalog>,
    /// The hints, best first.
    pub hints: Vec<Hit>,
    /// The requests that a search would send after linking, before it has a reply to any of them;
    /// empty if no model is needed.
    pub requests: Vec<Preview>,
}

impl Host {
    /// Calls the linker as a search does, with calls of models where its settings ask for some.
    /// What comes after it is not sent.
    ///
    /// # Errors
    /// When the linker fails, or the search would fail before it sends anything.
    pub async fn linking(self: &Arc<Self>, problem: Problem) -> Result<Linking, Error> {
        let _slot = self.searches.acquire().await;
        let id = run_id(&problem.question);
        let stop = Stop::new();
        let catalog = self.database.catalog().await?;
        let mode = Mode::Record(None, RowRetention::None);
        let run =
            Arc::new(self.run_state(&id, mode, catalog, &(Arc::new(Silent) as _), &stop, None));
        let linked = run.unless_departed(search::link(self, problem, &run)).await?;
        let problem = Arc::clone(&linked.problem);
        let catalog = Arc::clone(&linked.catalog);
        let host = Arc::clone(self);
        let shown = Arc::clone(&catalog);
        let asked = Arc::clone(&problem);
        let requests = tokio::task::spawn_blocking(move || {
            host.dry_run(&asked.question, async |run| {
                let context =
                    Context::new(&host, (*asked).clone(), &run).with_catalog(Arc::clone(&shown));
                run.unless_departed(search::attempt(&Arc::new(context))).await
            })
        });
        let requests = requests.await.map_err(|error| Error::Internal(error.to_string()))??;
        Ok(Linking { catalog, hints: problem.hints.clone(), requests })
    }
}
