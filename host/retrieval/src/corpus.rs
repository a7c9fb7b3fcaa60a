//! A corpus with its four retrievers.

use syrch_core::Hit;
use syrch_core::ports::{Embedder, MAX_EMBEDDED, PortError};
use syrch_core::text::clip;
use tokio::sync::OnceCell;

use crate::bm25::Bm25;
use crate::fuzzy::share;
use crate::names::{Names, Wanted};
use crate::segments::Segments;
use crate::sources::Documents;
use crate::words::Stems;

/// The documents of a corpus, indexed for each retriever.
#[derive(Debug)]
pub(crate) struct IndexedCorpus {
    hits: Vec<Hit>,
    bm25: Bm25,
    names: Names,
    segments: Segments,
    texts: Vec<String>,
    /// One vector for each document, once they were needed.
    vectors: OnceCell<Vec<Vec<f32>>>,
}

impl IndexedCorpus {
    pub(crate) fn new(documents: Documents) -> Self {
        let Documents { hits, words, names, mut segments, texts } = documents;
        segments.close();
        Self { hits, bm25: Bm25::new(words), names, segments, texts, vectors: OnceCell::new() }
    }

    /// The text of each document for the model for embeddings.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The retriever `lexical`. The score is a fraction of the highest score that a document could
    /// have.
    pub(crate) fn lexical(&self, text: &str, limit: usize) -> Vec<Hit> {
        self.make_hits(
            self.take_best(self.bm25.find(&Stems::default().stem_text(text)), limit),
            |_| None,
        )
    }

    /// The retriever `path-fuzzy`. The score is s / (1 + s) for sift's score s.
    pub(crate) fn path_fuzzy(&self, text: &str, limit: usize) -> Vec<Hit> {
        let found = self.names.find(&Wanted::new(text));
        let scored = found.into_iter().map(|(number, score)| (number, share(score))).collect();
        self.make_hits(self.take_best(scored, limit), |_| None)
    }

    /// The retriever `segment-fuzzy`. The best line is the snippet. The score is s / (1 + s) for
    /// sift's score s.
    pub(crate) fn segment_fuzzy(&self, text: &str, limit: usize) -> Vec<Hit> {
        let found = self.segments.find(&Wanted::new(text));
        let scored = found.iter().map(|found| (found.document, share(found.score))).collect();
        self.make_hits(self.take_best(scored, limit), |number: usize| {
            let place = found.binary_search_by_key(&number, |found| found.document).ok()?;
            found.get(place).map(|found| clip(found.line, LINE))
        })
    }

    /// The retriever `vector`. The score is the dot product of vectors of length 1; documents with
    /// 0 or less are no hits.
    pub(crate) async fn vector(
        &self,
        text: &str,
        limit: usize,
        model: &dyn Embedder,
    ) -> Result<Vec<Hit>, PortError> {
        if self.hits.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.vectors.get_or_try_init(|| embed_all(&self.texts, model)).await?;
        let asked = model.embed_queries(&[text.to_owned()]).await?;
        let asked = asked.first().map(Vec::as_slice).unwrap_or_default();
        let score = |vector: &Vec<f32>| {
            vector.iter().zip(asked).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
        };
        let scored = vectors.iter().map(score).enumerate();
        let above = scored.filter(|(_, score)| score.is_finite() && *score > 0.0);
        let scored = above.map(|(number, score)| (number, score.min(1.0))).collect();
        Ok(self.make_hits(self.take_best(scored, limit), |_| None))
    }

    /// The best `limit` of the scored documents; those of equal scores in the order of their ids.
    fn take_best(&self, mut scored: Vec<(usize, f64)>, limit: usize) -> Vec<(usize, f64)> {
        let id = |number: usize| self.hits.get(number).map(|hit| &hit.id);
        let order = |a: &(usize, f64), b: &(usize, f64)| {
            b.1.total_cmp(&a.1).then_with(|| id(a.0).cmp(&id(b.0)))
        };
        if scored.len() > limit {
            scored.select_nth_unstable_by(limit, order);
            scored.truncate(limit);
        }
        scored.sort_unstable_by(order);
        scored
    }

    /// The hits for documents. `line` returns the snippet if it is not the document's own. Hits
    /// that do not fit into [`BYTES`] any more are left out.
    fn make_hits<'l>(
        &self,
        best: Vec<(usize, f64)>,
        line: impl Fn(usize) -> Option<&'l str>,
    ) -> Vec<Hit> {
        let mut left = BYTES;
        let mut hits = Vec::with_capacity(best.len());
        for (number, score) in best {
            let Some(known) = self.hits.get(number) else { continue };
            let snippet = line(number).or(known.snippet.as_deref());
            let Some(rest) = left.checked_sub(hit_bytes(known, snippet)) else { continue };
            left = rest;
            let snippet = snippet.map(str::to_owned);
            let Hit { corpus, id, path, table, column, payload, .. } = known.clone();
            hits.push(Hit { corpus, id, path, table, column, snippet, payload, score });
        }
        hits
    }
}

/// Bytes of a hit with that snippet.
fn hit_bytes(hit: &Hit, snippet: Option<&str>) -> usize {
    let others = [hit.table.as_deref(), hit.column.as_deref(), hit.payload.as_deref(), snippet];
    hit.id.len() + hit.path.len() + others.into_iter().flatten().map(str::len).sum::<usize>()
}

/// Bytes of the hits of one query.
pub(crate) const BYTES: usize = 256 << 10;
/// Bytes of a line that is a hit's snippet, as in sift.
const LINE: usize = 220;

/// The vectors of any number of texts, in as many calls as needed.
async fn embed_all(texts: &[String], model: &dyn Embedder) -> Result<Vec<Vec<f32>>, PortError> {
    let mut all = Vec::with_capacity(texts.len());
    for some in texts.chunks(MAX_EMBEDDED) {
        let vectors = model.embed(some).await?;
        if vectors.len() != some.len() {
            return Err(PortError::Other(format!(
                "{} vectors were returned for {} texts",
                vectors.len(),
                some.len()
            )));
        }
        all.extend(vectors);
    }
    Ok(all)
}
