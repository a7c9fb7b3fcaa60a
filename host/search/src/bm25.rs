//! Ranking by words: BM25 with the constants of sift (k1 1.2, b 0.75).

use std::collections::{BTreeMap, HashMap};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How rare a term is: `count` documents, `found` of them with the term.
fn idf(count: f64, found: f64) -> f64 {
    ((count - found + 0.5) / (found + 0.5) + 1.0).ln()
}

/// What a term that occurs `times` in a document adds. `length` is the document's over the average.
fn weight(idf: f64, times: f64, length: f64) -> f64 {
    idf * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length))
}

/// What a word counts that is only the beginning or the end of a longer one, as in `sbcustomer` and `petname`.
const COMPOUND: f64 = 0.6;
/// Letters of the shortest word that is looked for within longer ones.
const COMPOUND_LETTERS: usize = 4;

/// A document under construction: terms, and how much each occurrence counts.
#[derive(Debug, Default)]
pub(crate) struct Words {
    counts: HashMap<String, f64>,
    length: f64,
}

impl Words {
    /// Adds terms that stand side by side; each pair of neighbours is a term too, so that what is named by two words is found
    /// before what has them apart.
    pub(crate) fn add(&mut self, terms: &[String], weight: f64) {
        self.length += terms.len() as f64;
        for term in terms {
            *self.counts.entry(term.clone()).or_default() += weight;
        }
        for pair in pairs(terms) {
            *self.counts.entry(pair).or_default() += weight;
        }
    }
}

fn pairs(terms: &[String]) -> impl Iterator<Item = String> {
    terms.windows(2).map(|pair| pair.join(" "))
}

/// An index over documents that are known by their number.
#[derive(Debug)]
pub(crate) struct Bm25 {
    /// Documents and how often each has the term, in their order.
    postings: HashMap<String, Vec<(u32, f64)>>,
    /// The single words among the terms that are long enough to hold another.
    words: Vec<String>,
    /// Length over the average.
    lengths: Vec<f64>,
}

impl Bm25 {
    pub(crate) fn new(documents: Vec<Words>) -> Self {
        let total: f64 = documents.iter().map(|document| document.length).sum();
        let average = (total / documents.len().max(1) as f64).max(1.0);
        let mut postings: HashMap<String, Vec<(u32, f64)>> = HashMap::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for (number, document) in (0_u32..).zip(documents) {
            lengths.push(document.length / average);
            for (term, times) in document.counts {
                postings.entry(term).or_default().push((number, times));
            }
        }
        let is_long = |term: &&String| term.len() > COMPOUND_LETTERS && !term.contains(' ');
        let mut words: Vec<String> = postings.keys().filter(is_long).cloned().collect();
        words.sort_unstable();
        Self { postings, words, lengths }
    }

    /// The documents that have any of the terms, each with a score of 0 to 1: the BM25 score over the most that a document could
    /// have for those of the terms that occur at all. Unsorted.
    pub(crate) fn find(&self, terms: &[String]) -> Vec<(usize, f64)> {
        let mut wanted: Vec<String> = terms.iter().cloned().chain(pairs(terms)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut scores = vec![0.0; self.lengths.len()];
        let mut most = 0.0;
        for term in &wanted {
            let found = self.with_compounds(term);
            if found.is_empty() {
                continue;
            }
            let idf = idf(self.lengths.len() as f64, found.len() as f64);
            most += idf * (K1 + 1.0);
            for (number, times) in found {
                let number = number as usize;
                if let (Some(score), Some(length)) = (scores.get_mut(number), self.lengths.get(number)) {
                    *score += weight(idf, times, *length);
                }
            }
        }
        let found = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0);
        found.map(|(number, score)| (number, score / most)).collect()
    }

    /// The documents that have a term, and those with a longer word that begins or ends with it.
    fn with_compounds(&self, term: &str) -> BTreeMap<u32, f64> {
        let exact = self.postings.get(term).into_iter().flatten();
        let mut found: BTreeMap<u32, f64> = exact.copied().collect();
        if term.len() < COMPOUND_LETTERS || term.contains(' ') {
            return found;
        }
        for word in &self.words {
            if word.len() > term.len() && (word.ends_with(term) || word.starts_with(term)) {
                for (number, times) in self.postings.get(word).into_iter().flatten() {
                    let kept = found.entry(*number).or_default();
                    *kept = kept.max(COMPOUND * times);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Bm25 {
        let document = |text: &&str| {
            let mut words = Words::default();
            words.add(&text.split(' ').map(str::to_owned).collect::<Vec<_>>(), 1.0);
            words
        };
        Bm25::new(texts.iter().map(document).collect())
    }

    fn order(index: &Bm25, text: &str) -> Vec<usize> {
        let terms: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let mut found = index.find(&terms);
        assert!(found.iter().all(|(_, score)| *score > 0.0 && *score < 1.0));
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.into_iter().map(|(number, _)| number).collect()
    }

    // The fixture of sift: ten documents, two with the term, three times in one of 100 words where the average is 120.
    #[test]
    fn the_formula_is_the_known_one() {
        let score = weight(idf(10.0, 2.0), 3.0, 100.0 / 120.0);
        assert!((score - 2.414_466_659_283_907).abs() < 1e-12, "{score}");
    }

    #[test]
    fn rare_words_and_short_documents_come_first() {
        let index = index(&["name city", "name city street house", "name", "price"]);
        assert_eq!(order(&index, "city"), [0, 1]);
        assert_eq!(order(&index, "name price"), [3, 2, 0, 1]);
        assert!(order(&index, "unknown").is_empty());
    }

    #[test]
    fn words_within_longer_ones_count_less() {
        let index = index(&["sbcustomer", "customer", "customersupport", "house"]);
        assert_eq!(order(&index, "customer"), [1, 0, 2]);
        assert!(order(&index, "hous").contains(&3));
        assert!(order(&index, "cus").is_empty());
    }

    #[test]
    fn neighbours_are_found_before_words_apart() {
        let index = index(&["revenue of all net", "net revenue of all", "other words stand here"]);
        assert_eq!(order(&index, "net revenue"), [1, 0]);
    }
}
