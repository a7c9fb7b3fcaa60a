//! The index over one catalog and what the user added to it.

use std::collections::BTreeSet;

use syrch_core::ports::{Embedder, MAX_HITS, MAX_LOOKUP_TEXT, PortError};
use syrch_core::text::clip;
use syrch_core::{Catalog, Corpus, Hit, Lane, Lookup};

use crate::shelf::Shelf;
use crate::sources::{Documents, Sources};
use crate::words::Stems;

/// An index in memory, for any number of searches at once. It is made once for each state of the catalog and the user's files, and
/// never changes but for the documents' vectors, which are kept once they were computed: whoever shares an index has the same model
/// for embeddings.
#[derive(Debug)]
pub struct Index {
    tables: Shelf,
    columns: Shelf,
    notes: Shelf,
    examples: Shelf,
}

impl Index {
    /// Indexes a catalog and what the user added. Vectors are computed when they are first asked for, once for each corpus.
    #[must_use]
    pub fn new(catalog: &Catalog, sources: &Sources) -> Self {
        let stems = Stems::new();
        Self {
            tables: Shelf::new(Documents::of_tables(catalog, sources, &stems)),
            columns: Shelf::new(Documents::of_columns(catalog, sources, &stems)),
            notes: Shelf::new(Documents::of_notes(sources, &stems)),
            examples: Shelf::new(Documents::of_examples(sources, &stems)),
        }
    }

    /// The texts that the lane `vector` compares, each once: for whoever computes their vectors beforehand.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let shelves = [&self.tables, &self.columns, &self.notes, &self.examples];
        let all: BTreeSet<&String> = shelves.into_iter().flat_map(|shelf| shelf.texts()).collect();
        all.into_iter().cloned().collect()
    }

    /// What one look finds, best first; equal scores in the order of their ids. At most 100 hits of 256 KiB in all, whatever the look asks
    /// for; of a longer text the first [`MAX_LOOKUP_TEXT`] bytes are looked for. Without waiting, all lanes but `vector` are computed:
    /// see [`Index::find_now`].
    ///
    /// # Errors
    /// `denied` for cells; `unsupported` for a corpus or a lane that there is not, `vector` without an embedder among them; what the
    /// embedder says.
    pub async fn find(&self, look: &Lookup, embedder: Option<&dyn Embedder>) -> Result<Vec<Hit>, PortError> {
        if let Some(found) = self.find_now(look) {
            return found;
        }
        let model = embedder.ok_or(PortError::Unsupported)?;
        self.shelf(&look.corpus)?.vector(text(look), limit(look), model).await
    }

    /// What one look finds by computing only; none for the lane `vector`, which waits for a model.
    #[must_use]
    pub fn find_now(&self, look: &Lookup) -> Option<Result<Vec<Hit>, PortError>> {
        let shelf = match self.shelf(&look.corpus) {
            Ok(shelf) => shelf,
            Err(error) => return Some(Err(error)),
        };
        match &look.lane {
            Lane::Lexical => Some(Ok(shelf.lexical(text(look), limit(look)))),
            Lane::PathFuzzy => Some(Ok(shelf.path_fuzzy(text(look), limit(look)))),
            Lane::SegmentFuzzy => Some(Ok(shelf.segment_fuzzy(text(look), limit(look)))),
            Lane::Vector => None,
            Lane::Other(_) => Some(Err(PortError::Unsupported)),
        }
    }

    fn shelf(&self, corpus: &Corpus) -> Result<&Shelf, PortError> {
        match corpus {
            Corpus::Tables => Ok(&self.tables),
            Corpus::Columns => Ok(&self.columns),
            Corpus::Notes => Ok(&self.notes),
            Corpus::Examples => Ok(&self.examples),
            Corpus::Cells => Err(PortError::Denied("cells are found through the port `cells`".to_owned())),
            Corpus::Other(_) => Err(PortError::Unsupported),
        }
    }
}

fn text(look: &Lookup) -> &str {
    clip(&look.text, MAX_LOOKUP_TEXT)
}

fn limit(look: &Lookup) -> usize {
    look.limit.min(MAX_HITS) as usize
}
