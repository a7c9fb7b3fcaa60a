//! How much one name is spelled like another: subsequence, edit distance and common beginnings, with the constants of sift.

use crate::words::{compact, parts};

/// The least score that is a match.
pub(crate) const THRESHOLD: f64 = 0.78;

/// A text made ready for comparison.
#[derive(Debug, Clone)]
pub(crate) struct Spelling {
    /// In lower case, with what stands between its words.
    lower: Vec<char>,
    /// Whether a word begins at each character of `lower`.
    begins: Vec<bool>,
    compact: String,
    words: Vec<String>,
    letters: Letters,
}

/// How often each letter and digit occurs, as a cheap bound on similarity.
#[derive(Debug, Clone, Copy)]
struct Letters {
    counts: [u8; 37],
    all: u32,
}

impl Letters {
    fn of(compact: &str) -> Self {
        let mut letters = Self { counts: [0; 37], all: 0 };
        for byte in compact.bytes() {
            let slot = match byte {
                b'a'..=b'z' => byte - b'a',
                b'0'..=b'9' => byte - b'0' + 26,
                _ => 36,
            };
            let count = &mut letters.counts[slot as usize];
            *count = count.saturating_add(1);
            letters.all += 1;
        }
        letters
    }

    /// How many letters both have.
    fn shared(&self, other: &Self) -> u32 {
        self.counts.iter().zip(&other.counts).map(|(a, b)| u32::from(*a.min(b))).sum()
    }
}

impl Spelling {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut lower = Vec::with_capacity(chars.len());
        let mut begins = Vec::with_capacity(chars.len());
        for (at, c) in chars.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| chars.get(at));
            let is_begin = c.is_alphanumeric()
                && before.is_none_or(|b| !b.is_alphanumeric() || (b.is_lowercase() && c.is_uppercase()));
            // Only the first of several lower-case letters that stand for one.
            lower.push(c.to_lowercase().next().unwrap_or(*c));
            begins.push(is_begin);
        }
        let compact = compact(text);
        Self { letters: Letters::of(&compact), lower, begins, compact, words: parts(text) }
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }
}

/// The letters of `query` in order within `text`: 1 each, 0.3 more where a word begins, 0.35 more next to the one before; over the query's
/// length, times half and the share of the stretch that they fill. 0 when they are not all there.
fn subsequence(query: &Spelling, text: &Spelling) -> f64 {
    let wanted: Vec<char> = query.compact.chars().collect();
    let (mut score, mut first, mut last) = (0.0, None, None);
    let mut at = 0;
    for c in &wanted {
        let Some(found) = (at..text.lower.len()).find(|at| text.lower[*at] == *c) else { return 0.0 };
        score += 1.0;
        if text.begins[found] {
            score += 0.3;
        }
        if last.is_some_and(|last| last + 1 == found) {
            score += 0.35;
        }
        first = first.or(Some(found));
        last = Some(found);
        at = found + 1;
    }
    let (Some(first), Some(last)) = (first, last) else { return 0.0 };
    let length = wanted.len() as f64;
    score / length * (0.5 + length / (last - first + 1) as f64)
}

/// How well a name fits: the best of subsequence, edit distance and common beginning, and more where it contains the query, begins
/// with it or shares whole words. 0 when nothing of it is convincing.
pub(crate) fn component(query: &Spelling, text: &Spelling) -> f64 {
    if query.compact.is_empty() || text.compact.is_empty() {
        return 0.0;
    }
    let overlap = 0.08 * overlap(query, text) as f64;
    let shared = query.letters.shared(&text.letters);
    // With fewer than half of the shorter one's letters in common, it is not worth measuring.
    if 2 * shared < query.letters.all.min(text.letters.all) {
        return 0.0;
    }
    let contains = query.compact.len() > 1 && text.compact.contains(&query.compact);
    let prefix = contains && text.compact.starts_with(&query.compact);
    let sequence = if shared < query.letters.all { 0.0 } else { subsequence(query, text) };
    let edit = 0.95 * strsim::normalized_levenshtein(&query.compact, &text.compact);
    let beginning = 0.9 * strsim::jaro_winkler(&query.compact, &text.compact);
    let base = sequence.max(edit).max(beginning);
    if base < 0.5 && !contains && overlap < 0.16 {
        return 0.0;
    }
    base + if contains { 0.55 } else { 0.0 } + if prefix { 0.45 } else { 0.0 } + overlap
}

/// Words of at least two letters that both have.
pub(crate) fn overlap(query: &Spelling, text: &Spelling) -> usize {
    query.words.iter().filter(|word| word.len() >= 2 && text.words.contains(word)).count()
}

/// A score of 0 or more as one of 0 to 1 in the same order.
pub(crate) fn share(score: f64) -> f64 {
    score / (1.0 + score)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(query: &str, text: &str) -> f64 {
        component(&Spelling::new(query), &Spelling::new(text))
    }

    // The fixtures of sift.
    #[test]
    fn subsequences_are_weighed_as_known() {
        let score = |query, text| subsequence(&Spelling::new(query), &Spelling::new(text));
        assert!((score("cust", "customers") - 2.006_25_f64).abs() < 1e-12);
        assert!((score("ctid", "customer_type_id") - 0.928_125_f64).abs() < 1e-12);
        assert_eq!(score("custx", "customers"), 0.0);
    }

    #[test]
    fn what_contains_the_query_is_better_than_what_is_like_it() {
        let begins = scored("cust", "customers");
        let contains = scored("cust", "sbcustomer");
        let like = scored("costomer", "customer");
        assert!(begins > contains && contains > like && like > THRESHOLD, "{begins} {contains} {like}");
        assert!((begins - (2.006_25 + 1.0)).abs() < 1e-9);
        assert_eq!(scored("price", "wool"), 0.0);
        assert_eq!(scored("", "wool"), 0.0);
    }

    #[test]
    fn whole_words_in_common_count() {
        assert!(scored("account state", "state of the account") > 0.16);
        assert!(scored("release year", "year_of_release") > scored("release yaer", "year_of_release"));
    }

    #[test]
    fn scores_keep_their_order_below_one() {
        assert!(share(0.8) < share(2.0) && share(1e9) <= 1.0);
    }
}
