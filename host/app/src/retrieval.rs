//! The port `search` of one search: an index over the granted catalog and what the user added to it, and vectors from a model.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::join_all;
use syrch_core::ports::{
    Embedder, LlmError, Message, ModelCall, ModelProvider, PortError, Purpose, Request, SearchPort, Shape, Speaker,
};
use syrch_core::{Catalog, Hit, Lookup, Problem, encode};
use syrch_search::Index;

use crate::knowledge::Knowledge;

/// Texts of one model call.
const BATCH: usize = 32;

/// What calls for vectors are made for, in costs and routes.
pub(crate) const EMBED: &str = "embed";

/// Retrieval for one search. The index is made when it is first asked for: most searches over small catalogs never do.
pub(crate) struct Retrieval {
    catalog: Arc<Catalog>,
    knowledge: Arc<Knowledge>,
    embedder: Option<Arc<dyn Embedder>>,
    index: OnceLock<Index>,
}

impl Retrieval {
    /// Retrieval over that catalog; without an embedder there are no vectors.
    pub(crate) fn new(catalog: &Arc<Catalog>, knowledge: &Arc<Knowledge>, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let (catalog, knowledge) = (Arc::clone(catalog), Arc::clone(knowledge));
        Self { catalog, knowledge, embedder, index: OnceLock::new() }
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(&self.catalog, &self.knowledge.sources, self.embedder.clone()))
    }
}

#[async_trait]
impl SearchPort for Retrieval {
    async fn look_up(&self, looks: &[Lookup]) -> Vec<Result<Vec<Hit>, PortError>> {
        self.index().look_up(looks).await
    }
}

#[async_trait]
impl Embedder for Retrieval {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.index().embed(texts).await
    }
}

/// Vectors of a model of one search; those that the index on disk holds are not asked for again.
pub(crate) struct ModelEmbedder {
    /// The search's models, with all that stands around them.
    pub(crate) model: Arc<dyn ModelProvider>,
    /// The name among them.
    pub(crate) name: String,
    pub(crate) knowledge: Arc<Knowledge>,
    pub(crate) problem: Arc<Problem>,
    pub(crate) catalog: Arc<Catalog>,
}

impl ModelEmbedder {
    /// Vectors of at most [`BATCH`] texts.
    async fn batch(&self, texts: &[&String]) -> Result<Vec<Vec<f32>>, PortError> {
        let message = |text: &&String| Message { speaker: Speaker::User, text: (*text).clone() };
        let request = Request {
            purpose: Purpose::Other(EMBED.to_owned()),
            messages: texts.iter().map(message).collect(),
            expect: Shape::Vectors,
            model: Some(self.name.clone()),
            subjects: Vec::new(),
            temperature: None,
            top_p: None,
            // It writes none.
            max_tokens: Some(1),
            stop: Vec::new(),
            logprobs: false,
            sample: 0,
        };
        let (problem, catalog) = (Arc::clone(&self.problem), Arc::clone(&self.catalog));
        let reply = self.model.complete(&ModelCall { request, problem, task: None, catalog }).await.result;
        let vectors = encode::vectors_of(&reply.map_err(refusal)?.text).filter(|vectors| vectors.len() == texts.len());
        vectors.ok_or_else(|| PortError::Other("the model for embeddings gave other vectors than asked for".to_owned()))
    }
}

fn refusal(error: LlmError) -> PortError {
    match error {
        LlmError::Budget => PortError::Budget,
        LlmError::Denied(reason) => PortError::Denied(reason),
        LlmError::Unsupported(_) => PortError::Unsupported,
        LlmError::TooLarge => PortError::Other("the texts are too long".to_owned()),
        // What a recording holds is not for a guest.
        LlmError::Missed(_) => PortError::Unavailable("the recording has no answer to this call".to_owned()),
        error => PortError::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl Embedder for ModelEmbedder {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let stored: Vec<Option<&Vec<f32>>> = texts.iter().map(|text| self.knowledge.vector(&self.name, text)).collect();
        let missing: Vec<&String> =
            texts.iter().zip(&stored).filter(|(_, stored)| stored.is_none()).map(|(text, _)| text).collect();
        let batches = join_all(missing.chunks(BATCH).map(|batch| self.batch(batch))).await;
        let mut asked = batches.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
        let vectors = stored.into_iter().map(|stored| stored.cloned().or_else(|| asked.next()));
        vectors.collect::<Option<_>>().ok_or_else(|| PortError::Other("a vector is missing".to_owned()))
    }
}
