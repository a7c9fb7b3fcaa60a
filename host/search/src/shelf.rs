//! One corpus with all of its lanes.

use syrch_core::Hit;
use syrch_core::ports::{Embedder, MAX_EMBEDDED, PortError};
use tokio::sync::OnceCell;

use crate::bm25::Bm25;
use crate::fuzzy::share;
use crate::names::{Names, Wanted};
use crate::segments::Segments;
use crate::sources::Documents;
use crate::words::Stems;

/// The documents of a corpus.
#[derive(Debug)]
pub(crate) struct Shelf {
    hits: Vec<Hit>,
    bm25: Bm25,
    names: Names,
    segments: Segments,
    texts: Vec<String>,
    /// One vector for each document, once they were asked for.
    vectors: OnceCell<Vec<Vec<f32>>>,
}

impl Shelf {
    pub(crate) fn new(documents: Documents) -> Self {
        let Documents { hits, words, names, segments, texts } = documents;
        Self { hits, bm25: Bm25::new(words), names, segments, texts, vectors: OnceCell::new() }
    }

    /// What a model for embeddings reads of each document.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// By words. The score is the share of the most that a document could have.
    pub(crate) fn lexical(&self, text: &str, limit: usize) -> Vec<Hit> {
        self.best(self.bm25.find(&Stems::new().of_text(text)), limit)
    }

    /// By spelling. The score is sift's s as s / (1 + s).
    pub(crate) fn path_fuzzy(&self, text: &str, limit: usize) -> Vec<Hit> {
        let found = self.names.find(&Wanted::new(text));
        self.best(found.into_iter().map(|(number, score)| (number, share(score))).collect(), limit)
    }

    /// By lines; the line is the snippet. The score is sift's s as s / (1 + s).
    pub(crate) fn segment_fuzzy(&self, text: &str, limit: usize) -> Vec<Hit> {
        let found = self.segments.find(&Wanted::new(text));
        let scored = found.iter().map(|found| (found.document, share(found.score))).collect();
        let mut best = self.best(scored, limit);
        for hit in &mut best {
            let of_hit = |number: usize| self.hits.get(number).is_some_and(|document| document.id == hit.id);
            if let Some(found) = found.iter().find(|found| of_hit(found.document)) {
                hit.snippet = Some(syrch_core::text::clip(found.line, SNIPPET).to_owned());
            }
        }
        best
    }

    /// By embeddings. The score is the dot product of vectors of length 1, where it is above 0.
    pub(crate) async fn vector(&self, text: &str, limit: usize, model: &dyn Embedder) -> Result<Vec<Hit>, PortError> {
        if self.hits.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.vectors.get_or_try_init(|| embedded(&self.texts, model)).await?;
        let asked = embedded(&[text.to_owned()], model).await?;
        let asked = asked.first().map(Vec::as_slice).unwrap_or_default();
        let score =
            |vector: &Vec<f32>| vector.iter().zip(asked).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let scored = vectors.iter().map(score).enumerate();
        let above = scored.filter(|(_, score)| score.is_finite() && *score > 0.0);
        Ok(self.best(above.map(|(number, score)| (number, score.min(1.0))).collect(), limit))
    }

    /// The best of them; equal scores in the order of their ids.
    fn best(&self, mut scored: Vec<(usize, f64)>, limit: usize) -> Vec<Hit> {
        let id = |number: usize| self.hits.get(number).map(|hit| &hit.id);
        let order = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then_with(|| id(a.0).cmp(&id(b.0)));
        if scored.len() > limit {
            scored.select_nth_unstable_by(limit, order);
            scored.truncate(limit);
        }
        scored.sort_unstable_by(order);
        let hit = |(number, score): (usize, f64)| self.hits.get(number).map(|hit| Hit { score, ..hit.clone() });
        scored.into_iter().filter_map(hit).collect()
    }
}

/// Bytes of a line that is a hit's snippet, as in sift.
const SNIPPET: usize = 220;

/// Vectors of any number of texts, in as many calls as that takes.
async fn embedded(texts: &[String], model: &dyn Embedder) -> Result<Vec<Vec<f32>>, PortError> {
    let mut all = Vec::with_capacity(texts.len());
    for some in texts.chunks(MAX_EMBEDDED) {
        let vectors = model.embed(some).await?;
        if vectors.len() != some.len() {
            return Err(PortError::Other(format!("{} vectors came for {} texts", vectors.len(), some.len())));
        }
        all.extend(vectors);
    }
    Ok(all)
}
