//! The index over one catalog and what the user added to it.

use std::collections::BTreeSet;

use syrch_core::ports::{Embedder, MAX_HITS, MAX_QUERY_TEXT, PortError};
use syrch_core::text::clip;
use syrch_core::{Catalog, Corpus, Hit, RetrievalQuery, Retriever};

use crate::corpus::IndexedCorpus;
use crate::sources::{Documents, Sources};
use crate::words::Stems;

/// An index in memory, for any number of searches at once. It is made once for each state of the
/// catalog and the user's files. Only the documents' vectors are added later, when they are first
/// needed; so all searches that share an index must use the same model for embeddings.
#[derive(Debug)]
pub struct Index {
    tables: IndexedCorpus,
    columns: IndexedCorpus,
    notes: IndexedCorpus,
    examples: IndexedCorpus,
}

impl Index {
    /// Indexes a catalog and what the user added. Vectors are computed when they are first needed,
    /// once for each corpus.
    #[must_use]
    pub fn new(catalog: &Catalog, sources: &Sources) -> Self {
        let stems = Stems::default();
        Self {
            tables: IndexedCorpus::new(Documents::from_tables(catalog, sources, &stems)),
            columns: IndexedCorpus::new(Documents::from_columns(catalog, sources, &stems)),
            notes: IndexedCorpus::new(Documents::from_notes(sources, &stems)),
            examples: IndexedCorpus::new(Documents::from_examples(sources, &stems)),
        }
    }

    /// The texts that the retriever `vector` compares, each once, so that their vectors can be
    /// computed beforehand.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let corpora = [&self.tables, &self.columns, &self.notes, &self.examples];
        let all: BTreeSet<&String> =
            corpora.into_iter().flat_map(|corpus| corpus.texts()).collect();
        all.into_iter().cloned().collect()
    }

    /// The hits of a retrieval query, best first; hits of equal scores in the order of their ids.
    /// There are at most 100 hits of 256 KiB in all, whatever the query's limit; of a longer text
    /// the first [`MAX_QUERY_TEXT`] bytes are used. Only `vector` waits: see [`Index::find_now`].
    ///
    /// # Errors
    /// [`PortError::Denied`] for cells; [`PortError::Unsupported`] for an unknown corpus or
    /// retriever, and for `vector` without an embedder; the embedder's errors.
    pub async fn find(
        &self,
        query: &RetrievalQuery,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Vec<Hit>, PortError> {
        if let Some(found) = self.find_now(query) {
            return found;
        }
        let model = embedder.ok_or(PortError::Unsupported)?;
        self.corpus(&query.corpus)?.vector(text(query), limit(query), model).await
    }

    /// Does the same as [`Index::find`], without waiting; `None` for the retriever `vector`, which
    /// waits for a model. Where [`Index::is_empty`] holds, nothing is computed.
    #[must_use]
    pub fn find_now(&self, query: &RetrievalQuery) -> Option<Result<Vec<Hit>, PortError>> {
        let corpus = match self.corpus(&query.corpus) {
            Ok(corpus) => corpus,
            Err(error) => return Some(Err(error)),
        };
        let is_empty = corpus.texts().is_empty();
        match &query.retriever {
            Retriever::Lexical | Retriever::PathFuzzy | Retriever::SegmentFuzzy if is_empty => {
                Some(Ok(Vec::new()))
            }
            Retriever::Lexical => Some(Ok(corpus.lexical(text(query), limit(query)))),
            Retriever::PathFuzzy => Some(Ok(corpus.path_fuzzy(text(query), limit(query)))),
            Retriever::SegmentFuzzy => Some(Ok(corpus.segment_fuzzy(text(query), limit(query)))),
            Retriever::Vector => None,
            Retriever::Other(_) => Some(Err(PortError::Unsupported)),
        }
    }

    /// Returns true if that corpus has no documents.
    #[must_use]
    pub fn is_empty(&self, corpus: &Corpus) -> bool {
        self.corpus(corpus).is_ok_and(|corpus| corpus.texts().is_empty())
    }

    fn corpus(&self, corpus: &Corpus) -> Result<&IndexedCorpus, PortError> {
        match corpus {
            Corpus::Tables => Ok(&self.tables),
            Corpus::Columns => Ok(&self.columns),
            Corpus::Notes => Ok(&self.notes),
            Corpus::Examples => Ok(&self.examples),
            Corpus::Cells => {
                Err(PortError::Denied("cells are found through the port `cells`".to_owned()))
            }
            Corpus::Other(_) => Err(PortError::Unsupported),
        }
    }
}

fn text(query: &RetrievalQuery) -> &str {
    clip(&query.text, MAX_QUERY_TEXT)
}

fn limit(query: &RetrievalQuery) -> usize {
    query.limit.min(MAX_HITS) as usize
}
