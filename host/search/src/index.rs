//! The index over one catalog and what the user added to it.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{Embedder, MAX_EMBEDDED, MAX_HITS, MAX_LOOKUPS, PortError, SearchPort};
use syrch_core::{Catalog, Corpus, Hit, Lane, Lookup};

use crate::shelf::Shelf;
use crate::sources::{Documents, Sources};
use crate::words::Stems;

/// An index in memory. It is made once for each state of the catalog and the user's files, and never changes.
pub struct Index {
    tables: Shelf,
    columns: Shelf,
    notes: Shelf,
    examples: Shelf,
    embedder: Option<Arc<dyn Embedder>>,
}

impl Index {
    /// Indexes a catalog and what the user added. Vectors are computed when they are first asked for, once for each corpus.
    #[must_use]
    pub fn new(catalog: &Catalog, sources: &Sources, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let stems = Stems::new();
        Self {
            tables: Shelf::new(Documents::of_tables(catalog, sources, &stems)),
            columns: Shelf::new(Documents::of_columns(catalog, sources, &stems)),
            notes: Shelf::new(Documents::of_notes(sources, &stems)),
            examples: Shelf::new(Documents::of_examples(sources, &stems)),
            embedder,
        }
    }

    /// The texts that the lane `vector` compares, each once: for whoever computes their vectors beforehand.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let shelves = [&self.tables, &self.columns, &self.notes, &self.examples];
        let all: std::collections::BTreeSet<&String> = shelves.into_iter().flat_map(|shelf| shelf.texts()).collect();
        all.into_iter().cloned().collect()
    }

    /// What one look finds, best first; equal scores in the order of their ids. At most 100 hits, whatever the look asks for.
    ///
    /// # Errors
    /// `denied` for cells; `unsupported` for a corpus or a lane that there is not, `vector` without an embedder among them; what the
    /// embedder says.
    pub async fn find(&self, look: &Lookup) -> Result<Vec<Hit>, PortError> {
        let shelf = match &look.corpus {
            Corpus::Tables => &self.tables,
            Corpus::Columns => &self.columns,
            Corpus::Notes => &self.notes,
            Corpus::Examples => &self.examples,
            Corpus::Cells => return Err(PortError::Denied("cells are found through the port `cells`".to_owned())),
            Corpus::Other(_) => return Err(PortError::Unsupported),
        };
        let limit = look.limit.min(MAX_HITS) as usize;
        match &look.lane {
            Lane::Lexical => Ok(shelf.lexical(&look.text, limit)),
            Lane::PathFuzzy => Ok(shelf.path_fuzzy(&look.text, limit)),
            Lane::SegmentFuzzy => Ok(shelf.segment_fuzzy(&look.text, limit)),
            Lane::Vector => match &self.embedder {
                Some(model) => shelf.vector(&look.text, limit, &**model).await,
                None => Err(PortError::Unsupported),
            },
            Lane::Other(_) => Err(PortError::Unsupported),
        }
    }
}

#[async_trait]
impl Embedder for Index {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        if texts.len() > MAX_EMBEDDED {
            return Err(PortError::Other(format!("{} texts; one call may have {MAX_EMBEDDED}", texts.len())));
        }
        match &self.embedder {
            Some(model) => model.embed(texts).await,
            None => Err(PortError::Unsupported),
        }
    }
}

#[async_trait]
impl SearchPort for Index {
    async fn look_up(&self, looks: &[Lookup]) -> Vec<Result<Vec<Hit>, PortError>> {
        let mut all = Vec::with_capacity(looks.len());
        for (number, look) in looks.iter().enumerate() {
            let too_many = || Err(PortError::Other(format!("{} looks; one call may have {MAX_LOOKUPS}", looks.len())));
            all.push(if number < MAX_LOOKUPS { self.find(look).await } else { too_many() });
        }
        all
    }
}
