//! The backends that the role calls of a search share.

use std::sync::Arc;

use syrch_core::Problem;
use syrch_core::ports::{Definitions, ModelProvider};
use syrch_layers::{Author, GrantedCells, statement_stack};
use tokio::sync::Semaphore;

use super::{Backends, Context, RunState};
use crate::defined::{Defined, add_terms};
use crate::host::Host;
use crate::model_calls;
use crate::retrieval::{ModelEmbedder, Retrieval};

impl Context {
    /// The context of a search for one wording of its problem.
    pub(crate) fn new(host: &Host, problem: Problem, run: &Arc<RunState>) -> Self {
        let limits = &host.settings.limits;
        let model = model_calls::for_run(host, run);
        // Those of a journal stay as they are: a replay has no files.
        let problem =
            if problem.terms.is_empty() { add_terms(host, problem, &run.catalog) } else { problem };
        let problem = Arc::new(problem);
        let definitions = host.semantics.as_ref().map(|semantics| {
            let dialect = run.catalog.dialect.clone();
            Arc::new(Defined::new(semantics, &run.requests, dialect, &problem))
                as Arc<dyn Definitions>
        });
        let embedder = embedder(host, run, &model, &problem);
        let author = match host.settings.model.rules() {
            Some(_) => Author::Rules,
            None => Author::Other,
        };
        let memo = statement_stack(
            Arc::clone(&host.database),
            host.cache.as_ref(),
            &run.ledger,
            limits,
            host.settings.rows,
            author,
        );
        let limited = run
            .audited
            .iter()
            .map(|(digest, one)| (digest.clone(), one.allowance.limit_model(&model, limits)));
        let backends = Backends {
            models: limited.collect(),
            model,
            retrieval: Arc::new(Retrieval::new(
                &run.catalog,
                &host.known.index,
                embedder,
                &run.given_up,
            )),
            cells: GrantedCells {
                index: Arc::clone(memo.database()) as _,
                grant: host.settings.rows,
            },
            memo,
            definitions,
        };
        Self {
            run: Arc::clone(run),
            problem,
            catalog: Arc::clone(&run.catalog),
            notes: Arc::default(),
            backends,
            nested: Arc::new(Semaphore::new(limits.nested)),
            within: None,
            apart: None,
        }
    }
}

/// The embedder of a run; `None` without a model for embeddings.
fn embedder(
    host: &Host,
    run: &RunState,
    model: &Arc<dyn ModelProvider>,
    problem: &Arc<Problem>,
) -> Option<Arc<ModelEmbedder>> {
    let name =
        host.settings.model.embeddings.clone().filter(|name| model.models().contains(name))?;
    let model = Arc::clone(model);
    let knowledge = Arc::clone(&host.known.knowledge);
    let problem = Arc::clone(problem);
    let catalog = Arc::clone(&run.catalog);
    let in_flight = host.settings.limits.llm_in_flight;
    let prefixes = host.settings.model.embedding_prefixes.clone();
    let embedder =
        ModelEmbedder::new(model, name, prefixes, knowledge, problem, catalog, in_flight);
    Some(Arc::new(embedder))
}
