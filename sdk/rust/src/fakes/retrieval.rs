//! Retrieval with the hits of a test's script.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::bindings::types::{Corpus, Hit, PortError, Problem, RetrievalQuery, Retriever};

/// Without a script it finds nothing, and there is no model for embeddings.
#[derive(Debug, Default)]
pub struct FakeRetrieval {
    /// The vectors by text; `None` if there is no model for embeddings.
    pub vectors: Option<BTreeMap<String, Vec<f32>>>,
    hits: BTreeMap<String, Vec<Hit>>,
    asked: RefCell<Vec<RetrievalQuery>>,
}

impl FakeRetrieval {
    /// The hits of queries to that corpus by that retriever, whatever the text.
    pub fn script(&mut self, corpus: &Corpus, retriever: &Retriever, hits: Vec<Hit>) -> &mut Self {
        self.hits.insert(key(corpus, retriever), hits);
        self
    }

    /// The queries so far.
    #[must_use]
    pub fn queries(&self) -> Vec<RetrievalQuery> {
        self.asked.borrow().clone()
    }

    pub(super) fn find(&self, query: &RetrievalQuery) -> Result<Vec<Hit>, PortError> {
        self.asked.borrow_mut().push(query.clone());
        match (&query.corpus, &query.retriever, &self.vectors) {
            (Corpus::Cells, ..) => {
                return Err(PortError::Denied("the port `cells` has them".to_owned()));
            }
            (_, Retriever::Vector, None) => return Err(PortError::Unsupported),
            _ => {}
        }
        let mut hits =
            self.hits.get(&key(&query.corpus, &query.retriever)).cloned().unwrap_or_default();
        hits.truncate(query.limit as usize);
        Ok(hits)
    }

    pub(super) fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let vectors = self.vectors.as_ref().ok_or(PortError::Unsupported)?;
        texts
            .iter()
            .map(|text: &String| {
                vectors.get(text).cloned().ok_or_else(|| PortError::UnknownName(text.clone()))
            })
            .collect()
    }
}

fn key(corpus: &Corpus, retriever: &Retriever) -> String {
    format!("{corpus:?} by {retriever:?}")
}

/// A question with a solved example, which is left out first where a prompt is too long.
#[must_use]
pub fn problem_with_example(question: &str) -> Problem {
    let payload = serde_json::json!({ "question": "How many?", "sql": "SELECT 0" });
    let example = Hit {
        corpus: Corpus::Examples,
        id: "1".to_owned(),
        path: "example 1".to_owned(),
        table: None,
        column: None,
        snippet: None,
        payload: Some(payload.to_string()),
        score: 1.0,
    };
    Problem { hints: vec![example], ..Problem::new(question) }
}
