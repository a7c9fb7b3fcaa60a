//! The port `search` of one search.

use async_trait::async_trait;
use syrch_core::ports::{Embedder, PortError, SearchPort};
use syrch_core::{Catalog, Hit, Lookup};

/// Retrieval over the granted catalog.
pub(crate) struct Retrieval;

impl Retrieval {
    pub(crate) fn new(_: &Catalog) -> Self {
        Self
    }
}

#[async_trait]
impl SearchPort for Retrieval {
    async fn look_up(&self, looks: &[Lookup]) -> Vec<Result<Vec<Hit>, PortError>> {
        looks.iter().map(|_| Err(PortError::Unsupported)).collect()
    }
}

#[async_trait]
impl Embedder for Retrieval {
    async fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        Err(PortError::Unsupported)
    }
}
