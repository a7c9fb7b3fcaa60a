//! Retrieval over names, descriptions, notes and solved examples.

use async_trait::async_trait;

use super::PortError;
use crate::{Hit, Lookup};

/// Looks that one call of the port may bring.
pub const MAX_LOOKUPS: usize = 64;
/// Hits of one look.
pub const MAX_HITS: u32 = 100;
/// Bytes of a look's text that are looked for; what is longer is cut.
pub const MAX_LOOKUP_TEXT: usize = 1 << 10;
/// Bytes of one text that is embedded.
pub const MAX_EMBEDDED_TEXT: usize = 8 << 10;
/// Texts that one call may have embedded.
pub const MAX_EMBEDDED: usize = 256;

/// Vectors of texts, from a model for embeddings.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector of length 1 for each text, in order.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] without a model for embeddings; a spent budget, or an outage.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError>;
}

/// The port `search` of one role call.
#[async_trait]
pub trait SearchPort: Embedder {
    /// What each look finds, best first, in the order of the looks.
    ///
    /// # Errors
    /// Of each look its own: [`PortError::Denied`] for cells, [`PortError::Unsupported`] for a corpus or a lane that there is not.
    async fn look_up(&self, looks: &[Lookup]) -> Vec<Result<Vec<Hit>, PortError>>;
}
