//! The port `retrieval` of one search: an index over the granted catalog and what the user added to
//! it, and vectors from a model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use syrch_core::ports::{
    Embedder, LlmError, MAX_EMBEDDED_TEXT, Message, ModelCall, ModelProvider, PortError, Purpose,
    Request, RetrievalPort, Shape, Speaker,
};
use syrch_core::text::clip;
use syrch_core::{Catalog, Hit, Problem, RetrievalQuery, Retriever, blocking, encode};
use syrch_retrieval::Index;

use crate::given_up::GivenUp;
use crate::knowledge::Knowledge;
use crate::settings::EmbeddingPrefixes;

/// Texts of one model call, and their bytes.
const BATCH: usize = 32;
const BATCH_BYTES: usize = 64 << 10;

/// The limit on one wait of a search for vectors, with its tries and the waits between them.
const WAITED: Duration = Duration::from_secs(10);
/// The limit on the computation of a query, with the index itself; most take milliseconds.
const COMPUTED: Duration = Duration::from_secs(30);

/// The purpose of calls for vectors, in costs and routes.
pub(crate) const EMBED: &str = "embed";

/// The index of a host: made when a search first asks for it, and again when the catalog has
/// changed.
pub(crate) struct SharedIndex {
    knowledge: Arc<Knowledge>,
    made: tokio::sync::Mutex<Option<(Arc<Catalog>, Arc<Index>)>>,
}

impl SharedIndex {
    pub(crate) fn new(knowledge: Arc<Knowledge>) -> Arc<Self> {
        Arc::new(Self { knowledge, made: tokio::sync::Mutex::default() })
    }

    /// The index of this catalog, if it is made already.
    fn get_if_made(&self, catalog: &Arc<Catalog>) -> Option<Arc<Index>> {
        let made = self.made.try_lock().ok()?;
        made.as_ref()
            .filter(|(known, _)| Arc::ptr_eq(known, catalog))
            .map(|(_, index)| Arc::clone(index))
    }

    async fn get_or_make(&self, catalog: &Arc<Catalog>) -> Result<Arc<Index>, PortError> {
        let mut made = self.made.lock().await;
        fn is_same_catalog(catalog: &Arc<Catalog>, known: &Arc<Catalog>) -> bool {
            Arc::ptr_eq(known, catalog) || known == catalog
        }
        if let Some((_, index)) = made.as_ref().filter(|(known, _)| is_same_catalog(catalog, known))
        {
            return Ok(Arc::clone(index));
        }
        let knowledge = Arc::clone(&self.knowledge);
        let of = Arc::clone(catalog);
        let index = Arc::new(compute_aside(move || Index::new(&of, &knowledge.sources)).await?);
        *made = Some((Arc::clone(catalog), Arc::clone(&index)));
        Ok(index)
    }
}

/// Work that computes for long, where it keeps nobody waiting.
async fn compute_aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PortError> {
    let done = blocking::await_work(tokio::task::spawn_blocking(work)).await;
    done.map_err(|_| PortError::Unavailable("the index could not be searched".to_owned()))
}

/// Retrieval for one search. Each retriever has a time limit of its own, after which the search
/// continues without it.
pub(crate) struct Retrieval {
    catalog: Arc<Catalog>,
    shared: Arc<SharedIndex>,
    embedder: Option<Arc<ModelEmbedder>>,
    given_up: GivenUp,
}

/// The hits of each query; `None` for one that waits for a model.
type Computed = Vec<Option<Result<Vec<Hit>, PortError>>>;

impl Retrieval {
    /// Retrieval over that catalog; without an embedder there are no vectors.
    pub(crate) fn new(
        catalog: &Arc<Catalog>,
        shared: &Arc<SharedIndex>,
        embedder: Option<Arc<ModelEmbedder>>,
        given_up: &GivenUp,
    ) -> Self {
        Self {
            catalog: Arc::clone(catalog),
            shared: Arc::clone(shared),
            embedder,
            given_up: given_up.clone(),
        }
    }

    /// The hits of queries that need no model, computed on another thread unless there is nothing
    /// to search.
    async fn compute(
        &self,
        queries: &[RetrievalQuery],
    ) -> Result<(Arc<Index>, Computed), PortError> {
        let known = self.shared.get_if_made(&self.catalog);
        if let Some(index) =
            known.filter(|index| queries.iter().all(|query| index.is_empty(&query.corpus)))
        {
            let found = queries.iter().map(|query| index.find_now(query)).collect();
            return Ok((index, found));
        }
        let shared = Arc::clone(&self.shared);
        let catalog = Arc::clone(&self.catalog);
        let all = queries.to_vec();
        // An index that is late for this search is made all the same, for the next one.
        let work = tokio::spawn(async move {
            let index = shared.get_or_make(&catalog).await?;
            let of = Arc::clone(&index);
            let found =
                compute_aside(move || all.iter().map(|query| of.find_now(query)).collect()).await?;
            Ok((index, found))
        });
        let retrievers = queries.iter().map(|query| &query.retriever);
        self.given_up
            .work_within(retrievers, COMPUTED, async {
                work.await.map_err(|_| {
                    PortError::Unavailable("the index could not be searched".to_owned())
                })?
            })
            .await
    }

    /// Searches with each query: first those that are computed, then those that wait for a model.
    async fn look_into(
        &self,
        queries: &[RetrievalQuery],
    ) -> Result<Vec<Result<Vec<Hit>, PortError>>, PortError> {
        let (index, computed) = self.compute(queries).await?;
        let model = self.embedder.as_deref().filter(|embedder| embedder.knows_the_schema());
        let mut found = Vec::with_capacity(queries.len());
        for (query, computed) in queries.iter().zip(computed) {
            found.push(match computed {
                Some(computed) => computed,
                None => {
                    let work = index.find(query, model.map(|model| model as &dyn Embedder));
                    self.given_up.work_within([&query.retriever], WAITED, work).await
                }
            });
        }
        Ok(found)
    }
}

#[async_trait]
impl RetrievalPort for Retrieval {
    async fn find(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        let is_left: Vec<bool> =
            queries.iter().map(|query| !self.given_up.has_given_up(&query.retriever)).collect();
        let left: Vec<RetrievalQuery> = queries
            .iter()
            .zip(&is_left)
            .filter(|(_, left)| **left)
            .map(|(query, _)| query.clone())
            .collect();
        let found = match left.is_empty() {
            true => Ok(Vec::new()),
            false => self.look_into(&left).await,
        };
        let mut found = found
            .unwrap_or_else(|error| left.iter().map(|_| Err(error.clone())).collect())
            .into_iter();
        is_left
            .into_iter()
            .filter_map(|left| if left { found.next() } else { Some(Err(PortError::Unsupported)) })
            .collect()
    }
}

#[async_trait]
impl Embedder for Retrieval {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        match &self.embedder {
            Some(embedder) => {
                self.given_up
                    .work_within([&Retriever::Vector], WAITED, embedder.embed_queries(texts))
                    .await
            }
            None => Err(PortError::Unsupported),
        }
    }
}

/// Vectors of a model of one search; those that the index on disk holds, or that this search has,
/// are not asked for again.
pub(crate) struct ModelEmbedder {
    /// The search's models, with all that stands around them.
    model: Arc<dyn ModelProvider>,
    /// The name among them.
    name: String,
    /// The prefixes of the texts that are searched, and of those that are compared with them.
    prefixes: EmbeddingPrefixes,
    knowledge: Arc<Knowledge>,
    problem: Arc<Problem>,
    catalog: Arc<Catalog>,
    /// The limit on the number of calls under way at once.
    in_flight: usize,
    known: Mutex<BTreeMap<String, Vec<f32>>>,
}

impl ModelEmbedder {
    /// Returns whether the index on disk holds vectors of the schema: those of a large one are too
    /// many for a search to ask for.
    fn knows_the_schema(&self) -> bool {
        self.knowledge.vector_length(&self.prefixes.vectors_key(&self.name)).is_some()
    }

    pub(crate) fn new(
        model: Arc<dyn ModelProvider>,
        name: String,
        prefixes: EmbeddingPrefixes,
        knowledge: Arc<Knowledge>,
        problem: Arc<Problem>,
        catalog: Arc<Catalog>,
        in_flight: usize,
    ) -> Self {
        Self {
            model,
            name,
            prefixes,
            knowledge,
            problem,
            catalog,
            in_flight: in_flight.max(1),
            known: Mutex::default(),
        }
    }

    /// The vector of a text with its prefix.
    fn look_up_vector(&self, text: &str) -> Option<Vec<f32>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .get(text)
            .or_else(|| {
                let text = text.strip_prefix(&self.prefixes.document)?;
                self.knowledge.vector(&self.prefixes.vectors_key(&self.name), text)
            })
            .cloned()
    }

    /// Vectors of some texts, in one call.
    async fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let purpose = Purpose::Other(EMBED.to_owned());
        let messages = texts
            .iter()
            .map(|text: &String| Message {
                speaker: Speaker::User,
                text: clip(text, MAX_EMBEDDED_TEXT).to_owned(),
            })
            .collect();
        let request = Request {
            model: Some(self.name.clone()),
            // It writes none.
            max_tokens: Some(1),
            ..Request::new(purpose, messages, Shape::Vectors)
        };
        let problem = Arc::clone(&self.problem);
        let catalog = Arc::clone(&self.catalog);
        let reply =
            self.model.complete(&ModelCall { request, problem, task: None, catalog }).await.result;
        let vectors = encode::vectors_of(&reply.map_err(refusal)?.text).unwrap_or_default();
        let length = self.knowledge.vector_length(&self.prefixes.vectors_key(&self.name));
        if vectors.len() != texts.len() {
            return Err(PortError::Other(
                "the model for embeddings gave other vectors than asked for".to_owned(),
            ));
        }
        match vectors.iter().find(|vector| length.is_some_and(|length| vector.len() != length)) {
            Some(vector) => Err(PortError::Other(format!(
                "the model for embeddings gives {} numbers, those of the index have {}: \
                 run build-index again",
                vector.len(),
                length.unwrap_or_default()
            ))),
            None => Ok(vectors),
        }
    }
}

/// The texts in calls of at most [`BATCH`] texts and [`BATCH_BYTES`] bytes.
fn batches(texts: Vec<String>) -> Vec<Vec<String>> {
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        let size = text.len().min(MAX_EMBEDDED_TEXT);
        match batches.last_mut().filter(|last| last.len() < BATCH && bytes + size <= BATCH_BYTES) {
            Some(last) => {
                last.push(text);
                bytes += size;
            }
            None => {
                batches.push(vec![text]);
                bytes = size;
            }
        }
    }
    batches
}

fn refusal(error: LlmError) -> PortError {
    match error {
        LlmError::Budget => PortError::Budget,
        LlmError::Denied(reason) => PortError::Denied(reason),
        LlmError::Unsupported(_) => PortError::Unsupported,
        LlmError::TooLarge | LlmError::Overflow(_) => {
            PortError::Other("the texts are too long".to_owned())
        }
        // What a recording holds is not for a guest.
        LlmError::Missed(_) => {
            PortError::Unavailable("the recording has no answer to this call".to_owned())
        }
        error => PortError::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl Embedder for ModelEmbedder {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.embed_with_prefix(&self.prefixes.document, texts).await
    }

    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.embed_with_prefix(&self.prefixes.query, texts).await
    }
}

impl ModelEmbedder {
    async fn embed_with_prefix(
        &self,
        prefix: &str,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, PortError> {
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut missing: Vec<String> =
            texts.iter().filter(|text| self.look_up_vector(text).is_none()).cloned().collect();
        missing.sort();
        missing.dedup();
        let calls = batches(missing).into_iter().map(|batch| async move {
            let vectors = self.batch(&batch).await?;
            Ok::<_, PortError>(batch.into_iter().zip(vectors).collect::<Vec<_>>())
        });
        let came: Vec<_> = stream::iter(calls).buffered(self.in_flight).collect().await;
        for vectors in came {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).extend(vectors?);
        }
        let all = texts.iter().map(|text| self.look_up_vector(text)).collect::<Option<Vec<_>>>();
        all.ok_or_else(|| PortError::Other("a vector is missing".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_bounded_in_texts_and_in_bytes() {
        let short = "x".to_owned();
        let long = "y".repeat(MAX_EMBEDDED_TEXT);
        let counts = |texts: Vec<String>| batches(texts).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(counts(vec![short; 2 * BATCH + 1]), [BATCH, BATCH, 1]);
        let most = BATCH_BYTES / MAX_EMBEDDED_TEXT;
        assert_eq!(counts(vec![long; 2 * most + 1]), [most, most, 1]);
        assert_eq!(counts(Vec::new()), Vec::<usize>::new());
    }
}
