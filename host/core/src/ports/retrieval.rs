//! Retrieval over names, descriptions, notes and solved examples.

use async_trait::async_trait;

use super::PortError;
use crate::{Hit, RetrievalQuery};

/// The most queries of one call.
pub const MAX_QUERIES: usize = 64;
/// The most hits of one query.
pub const MAX_HITS: u32 = 100;
/// The bytes of a query's text that are searched for; longer texts are cut.
pub const MAX_QUERY_TEXT: usize = 1 << 10;
/// The most bytes of one text that is embedded.
pub const MAX_EMBEDDED_TEXT: usize = 8 << 10;
/// The most texts that one call embeds.
pub const MAX_EMBEDDED: usize = 256;

/// A source of embeddings.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Called to embed texts, by a guest or for queries of [`crate::Retriever::Vector`]. Returns
    /// one vector of length 1 for each text, in order.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] without a model for embeddings; [`PortError::Budget`] or
    /// [`PortError::Unavailable`] when its call fails.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError>;

    /// Embeds texts that are compared with others, such as questions: some models want another
    /// prefix for these than for what is searched.
    ///
    /// # Errors
    /// Those of [`embed`](Self::embed).
    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.embed(texts).await
    }
}

/// The port `retrieval` of one role call.
#[async_trait]
pub trait RetrievalPort: Embedder {
    /// Called when a guest searches, with all queries of its call. Returns the hits of each query,
    /// best first, in the order of the queries; each query has its own error: [`PortError::Denied`]
    /// for cells, [`PortError::Unsupported`] for a corpus or a retriever that does not exist.
    async fn find(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>>;
}
