//! Retrieval that finds what the test wrote down.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::bindings::types::{Corpus, Hit, Lane, PortError, Query};

/// Without a script it finds nothing, and there is no model for embeddings.
#[derive(Debug, Default)]
pub struct FakeSearch {
    /// The vector of a text; none: there is no model for embeddings.
    pub vectors: Option<BTreeMap<String, Vec<f32>>>,
    hits: BTreeMap<String, Vec<Hit>>,
    asked: RefCell<Vec<Query>>,
}

impl FakeSearch {
    /// What a look into that corpus by that lane finds, whatever the text.
    pub fn script(&mut self, corpus: &Corpus, lane: &Lane, hits: Vec<Hit>) -> &mut Self {
        self.hits.insert(key(corpus, lane), hits);
        self
    }

    /// The queries so far.
    #[must_use]
    pub fn queries(&self) -> Vec<Query> {
        self.asked.borrow().clone()
    }

    pub(super) fn found(&self, query: &Query) -> Result<Vec<Hit>, PortError> {
        self.asked.borrow_mut().push(query.clone());
        match (&query.corpus, &query.lane, &self.vectors) {
            (Corpus::Cells, ..) => return Err(PortError::Denied("the port `cells` has them".to_owned())),
            (_, Lane::Vector, None) => return Err(PortError::Unsupported),
            _ => {}
        }
        let mut hits = self.hits.get(&key(&query.corpus, &query.lane)).cloned().unwrap_or_default();
        hits.truncate(query.limit as usize);
        Ok(hits)
    }

    pub(super) fn embedded(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let vectors = self.vectors.as_ref().ok_or(PortError::Unsupported)?;
        let vector = |text: &String| vectors.get(text).cloned().ok_or_else(|| PortError::UnknownName(text.clone()));
        texts.iter().map(vector).collect()
    }
}

fn key(corpus: &Corpus, lane: &Lane) -> String {
    format!("{corpus:?} by {lane:?}")
}
