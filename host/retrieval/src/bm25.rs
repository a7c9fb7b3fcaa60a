//! Ranking by words: BM25 with the constants of sift (k1 1.2, b 0.75).

use std::collections::{BTreeSet, HashMap};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The inverse document frequency of a term that `found` of `count` documents have.
fn idf(count: f64, found: f64) -> f64 {
    ((count - found + 0.5) / (found + 0.5) + 1.0).ln()
}

/// Returns what a term that occurs `times` times in a document adds to its score. `length` is the
/// document's length over the average.
fn weight(idf: f64, times: f64, length: f64) -> f64 {
    idf * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length))
}

/// The weight of a word that is only the beginning or the end of a longer one, as in `sbcustomer`
/// and `petname`.
const COMPOUND: f64 = 0.6;
/// Letters of the shortest word that is searched within longer ones.
const COMPOUND_LETTERS: usize = 4;
/// Different terms of a text that are searched, and as many pairs of them.
pub(crate) const TERMS: usize = 64;

/// The occurrences of a term in a document, by their weights.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    document: u32,
    times: f32,
}

/// The key of a pair of words: the first word's number plus 1 in the upper half. The key of one
/// word is its number.
fn pair_key(first: u32, second: u32) -> u64 {
    (u64::from(first) + 1) << 32 | u64::from(second)
}

/// Documents under construction: terms, and how much each occurrence counts.
#[derive(Debug, Default)]
pub(crate) struct Words {
    numbers: HashMap<String, u32>,
    entries: Vec<Entry>,
    /// The number of words of each complete document.
    lengths: Vec<f64>,
    /// The number of words of the present document.
    length: f64,
}

impl Words {
    /// Adds consecutive terms to the present document. Each pair of neighbours is a term, too, so
    /// that a document with both words side by side ranks above one that has them apart.
    pub(crate) fn add(&mut self, terms: &[String], weight: f32) {
        let Ok(document) = u32::try_from(self.lengths.len()) else { return };
        self.length += terms.len() as f64;
        let mut before = None;
        for term in terms {
            let Some(number) = self.number(term) else { return };
            let keys = [Some(u64::from(number)), before.map(|before| pair_key(before, number))];
            self.entries.extend(keys.into_iter().flatten().map(|key| Entry {
                key,
                document,
                times: weight,
            }));
            before = Some(number);
        }
    }

    /// Completes the present document.
    pub(crate) fn end(&mut self) {
        self.lengths.push(std::mem::take(&mut self.length));
    }

    fn number(&mut self, term: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(term) {
            return Some(*number);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.numbers.insert(term.to_owned(), number);
        Some(number)
    }
}

/// An index over documents, which have numbers from 0.
#[derive(Debug)]
pub(crate) struct Bm25 {
    /// The words of all documents, sorted: a word's place is its number.
    words: Vec<String>,
    /// The numbers of the words, sorted by the words read backwards.
    by_end: Vec<u32>,
    /// Sorted by key and document, each pair once.
    entries: Vec<Entry>,
    /// The length of each document over the average.
    lengths: Vec<f64>,
}

impl Bm25 {
    pub(crate) fn new(documents: Words) -> Self {
        let Words { numbers, mut entries, mut lengths, .. } = documents;
        let average = (lengths.iter().sum::<f64>() / lengths.len().max(1) as f64).max(1.0);
        lengths.iter_mut().for_each(|length| *length /= average);
        let mut words: Vec<(String, u32)> = numbers.into_iter().collect();
        words.sort_unstable();
        let mut places = vec![0; words.len()];
        for (place, (_, number)) in (0_u32..).zip(&words) {
            places[*number as usize] = place;
        }
        let place = |number: u64| places.get(number as u32 as usize).copied().unwrap_or(0);
        for entry in &mut entries {
            entry.key = match (entry.key >> 32).checked_sub(1) {
                Some(first) => pair_key(place(first), place(entry.key)),
                None => u64::from(place(entry.key)),
            };
        }
        entries.sort_unstable_by_key(|entry| (entry.key, entry.document));
        entries.dedup_by(|next, entry| {
            let is_same = (next.key, next.document) == (entry.key, entry.document);
            entry.times += if is_same { next.times } else { 0.0 };
            is_same
        });
        entries.shrink_to_fit();
        let words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
        let mut by_end: Vec<u32> = (0_u32..).take(words.len()).collect();
        by_end.sort_unstable_by(|a, b| {
            words[*a as usize].bytes().rev().cmp(words[*b as usize].bytes().rev())
        });
        Self { words, by_end, entries, lengths }
    }

    /// The documents that have any of the terms, unsorted, each with a score from 0 to 1: its BM25
    /// score over the highest that a document could have for those terms that occur at all. At most
    /// [`TERMS`] different terms are searched.
    pub(crate) fn find(&self, terms: &[String]) -> Vec<(usize, f64)> {
        let (terms, pairs) = self.terms_and_pairs(terms);
        let mut scores = vec![0.0; self.lengths.len()];
        let mut most = 0.0;
        let mut found = Times::new(self.lengths.len());
        for term in terms {
            let number = self.number(term).map(u64::from);
            number.into_iter().for_each(|key| self.add_entries(key, 1.0, &mut found));
            self.add_compounds(term, &mut found);
            self.add_scores(&mut found, &mut scores, &mut most);
        }
        for key in pairs {
            self.add_entries(key, 1.0, &mut found);
            self.add_scores(&mut found, &mut scores, &mut most);
        }
        let found = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0);
        found.map(|(number, score)| (number, score / most)).collect()
    }

    /// The different terms, and the keys of neighbouring pairs whose words occur in the index.
    fn terms_and_pairs<'t>(&self, terms: &'t [String]) -> (BTreeSet<&'t str>, BTreeSet<u64>) {
        let mut different = BTreeSet::new();
        let mut pairs = BTreeSet::new();
        let mut before = None;
        for term in terms {
            if different.len() >= TERMS && !different.contains(term.as_str()) {
                break;
            }
            different.insert(term.as_str());
            let number = self.number(term);
            let pair = before.zip(number).map(|(before, number)| pair_key(before, number));
            pairs.extend(pair.filter(|_| pairs.len() < TERMS));
            before = number;
        }
        (different, pairs)
    }

    fn number(&self, term: &str) -> Option<u32> {
        let place = self.words.binary_search_by(|word| word.as_str().cmp(term)).ok()?;
        u32::try_from(place).ok()
    }

    /// Adds the documents that have a term, by its key.
    fn add_entries(&self, key: u64, share: f64, found: &mut Times) {
        let start = self.entries.partition_point(|entry| entry.key < key);
        let entries = self.entries.get(start..).unwrap_or_default();
        for entry in entries.iter().take_while(|entry| entry.key == key) {
            found.add(entry.document, share * f64::from(entry.times));
        }
    }

    /// Adds the documents with a longer word that begins or ends with the term.
    fn add_compounds(&self, term: &str, found: &mut Times) {
        if term.len() < COMPOUND_LETTERS {
            return;
        }
        let start = self.words.partition_point(|word| word.as_str() < term);
        let beginning = (start..).zip(self.words.get(start..).unwrap_or_default());
        let beginning =
            beginning.take_while(|(_, word)| word.starts_with(term)).map(|(number, _)| number);
        let end = |number: &u32| self.words.get(*number as usize).map_or("", String::as_str);
        let start = self
            .by_end
            .partition_point(|number| end(number).bytes().rev().cmp(term.bytes().rev()).is_lt());
        let ending = self.by_end.get(start..).unwrap_or_default().iter();
        let ending =
            ending.take_while(|number| end(number).ends_with(term)).map(|number| *number as usize);
        for number in
            beginning.chain(ending).filter(|number| self.words[*number].len() > term.len())
        {
            self.add_entries(number as u64, COMPOUND, found);
        }
    }

    /// Adds a term's part of the score to the documents found for it, and clears them.
    fn add_scores(&self, found: &mut Times, scores: &mut [f64], most: &mut f64) {
        if found.documents.is_empty() {
            return;
        }
        let idf = idf(self.lengths.len() as f64, found.documents.len() as f64);
        *most += idf * (K1 + 1.0);
        for (number, times) in found.take() {
            if let (Some(score), Some(length)) = (scores.get_mut(number), self.lengths.get(number))
            {
                *score += weight(idf, times, *length);
            }
        }
    }
}

/// The occurrences of one term in the documents that have it.
struct Times {
    /// 0 for a document without it.
    times: Vec<f64>,
    documents: Vec<u32>,
}

impl Times {
    fn new(documents: usize) -> Self {
        Self { times: vec![0.0; documents], documents: Vec::new() }
    }

    /// Adds a document. If it is added again, the higher number holds.
    fn add(&mut self, document: u32, times: f64) {
        if let Some(known) = self.times.get_mut(document as usize) {
            if *known == 0.0 {
                self.documents.push(document);
            }
            *known = known.max(times);
        }
    }

    fn take(&mut self) -> impl Iterator<Item = (usize, f64)> {
        let Self { times, documents } = self;
        documents.drain(..).filter_map(|number: u32| {
            times.get_mut(number as usize).map(|times| (number as usize, std::mem::take(times)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Bm25 {
        let mut words = Words::default();
        for text in texts {
            words.add(&text.split(' ').map(str::to_owned).collect::<Vec<_>>(), 1.0);
            words.end();
        }
        Bm25::new(words)
    }

    fn order(index: &Bm25, text: &str) -> Vec<usize> {
        let terms: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let mut found = index.find(&terms);
        assert!(found.iter().all(|(_, score)| *score > 0.0 && *score < 1.0));
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.into_iter().map(|(number, _)| number).collect()
    }

    // The fixture of sift: ten documents, two with the term, three times in one of 100 words where
    // the average is 120.
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

    #[test]
    fn a_text_has_so_many_terms() {
        let index = index(&["a b", "c"]);
        let mut terms: Vec<String> = (0..500).map(|number| format!("x{}", number % 100)).collect();
        let (different, pairs) = index.terms_and_pairs(&terms);
        assert_eq!((different.len(), pairs.len()), (TERMS, 0));
        terms = ["a", "b", "a", "b", "c"].repeat(100).into_iter().map(str::to_owned).collect();
        let (different, pairs) = index.terms_and_pairs(&terms);
        assert_eq!((different.len(), pairs.len()), (3, 4), "a b, b a, b c, c a");
        let many: Vec<String> = ["unknown", "a"]
            .repeat(40)
            .into_iter()
            .map(str::to_owned)
            .chain(["c".into()])
            .collect();
        assert_eq!(index.find(&many).len(), 2, "a repeated term does not count again");
    }

    #[test]
    fn a_word_that_occurs_again_is_one_entry() {
        let index = index(&["a b a b a", "b"]);
        assert_eq!(index.entries.len(), 5, "a, b, a b, b a, and b of the second");
        assert!(index.entries.iter().any(|entry| entry.times == 3.0));
    }
}
