//! The similarity of two spellings by subsequence, edit distance and common prefix, with the
//! constants of sift.

use crate::distance::{PATTERN, Pattern};
use crate::words::{compact, parts};

/// The lowest score of a match.
pub(crate) const THRESHOLD: f64 = 0.78;

/// Characters of a name that are compared.
pub(crate) const NAME_CHARS: usize = PATTERN;
/// Characters of a line that are compared.
pub(crate) const LINE_CHARS: usize = 400;

/// The error that a bound may have by rounding.
const ROUNDING: f64 = 1e-9;

/// A text in the forms that comparisons need.
#[derive(Debug, Clone)]
pub(crate) struct Spelling {
    /// The text in lower case, with the characters between its words.
    lower: Vec<char>,
    /// Marks the characters of `lower` at which a word begins.
    begins: Vec<bool>,
    compact: String,
    words: Vec<String>,
    letters: Letters,
}

/// The number of times that each letter and digit occurs: a bound on similarity that is computed
/// quickly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Letters {
    counts: [u16; 37],
    /// The number of bytes.
    all: u32,
    /// The number of characters.
    chars: u32,
}

impl Letters {
    pub(crate) fn from_text(compact: &str) -> Self {
        let mut letters = Self { counts: [0; 37], all: 0, chars: 0 };
        for byte in compact.bytes() {
            let slot = match byte {
                b'a'..=b'z' => byte - b'a',
                b'0'..=b'9' => byte - b'0' + 26,
                _ => 36,
            };
            let count = &mut letters.counts[slot as usize];
            *count = count.saturating_add(1);
            letters.all += 1;
            // A character of several bytes counts with its first.
            letters.chars += u32::from(byte & 0xC0 != 0x80);
        }
        letters
    }

    /// The number of letters that both have.
    fn count_shared(&self, other: &Self) -> u32 {
        self.counts.iter().zip(&other.counts).map(|(a, b)| u32::from(*a.min(b))).sum()
    }
}

impl Spelling {
    /// The spelling of a name, of which the first [`NAME_CHARS`] characters count.
    pub(crate) fn new(text: &str) -> Self {
        Self::from_prefix(text, NAME_CHARS)
    }

    /// The spelling of a line, of which the first [`LINE_CHARS`] characters count.
    pub(crate) fn for_line(text: &str) -> Self {
        Self::from_prefix(text, LINE_CHARS)
    }

    fn from_prefix(text: &str, most: usize) -> Self {
        let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
        let text = text.get(..end).unwrap_or(text);
        let mut lower = Vec::with_capacity(text.len());
        let mut begins = Vec::with_capacity(text.len());
        let mut before: Option<char> = None;
        for c in text.chars() {
            let is_begin = c.is_alphanumeric()
                && before
                    .is_none_or(|b| !b.is_alphanumeric() || (b.is_lowercase() && c.is_uppercase()));
            // Only the first of several lower-case letters that stand for one.
            lower.push(c.to_lowercase().next().unwrap_or(c));
            begins.push(is_begin);
            before = Some(c);
        }
        let compact = compact(text);
        Self { letters: Letters::from_text(&compact), lower, begins, compact, words: parts(text) }
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The whole spelling as a stretch.
    pub(crate) fn whole(&self) -> Stretch<'_> {
        let Self { lower, begins, compact, words, letters } = self;
        Stretch { lower, begins, compact, words, letters }
    }
}

/// A spelling or some consecutive words of one, to be compared with a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch<'t> {
    pub(crate) lower: &'t [char],
    pub(crate) begins: &'t [bool],
    pub(crate) compact: &'t str,
    pub(crate) words: &'t [String],
    pub(crate) letters: &'t Letters,
}

/// The name of a query.
#[derive(Debug, Clone)]
pub(crate) struct Needle {
    compact: String,
    words: Vec<String>,
    letters: Letters,
    pattern: Pattern,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Self {
        let Spelling { compact, words, .. } = Spelling::new(text);
        // A character may have several in lower case.
        let pattern = Pattern::new(&compact);
        let compact = String::from_iter(pattern.chars());
        Self { letters: Letters::from_text(&compact), compact, words, pattern }
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The score of the query's letters as a subsequence of `text`: 1 for each letter, 0.3 more at
    /// the beginning of a word and 0.35 more after the letter before it; divided by the query's
    /// length, times one half plus the fraction of the stretch that the letters fill. 0 if a letter
    /// is missing.
    fn subsequence(&self, text: Stretch<'_>) -> f64 {
        let wanted = self.pattern.chars();
        let mut score = 0.0;
        let mut first = None;
        let mut last = None;
        let mut at = 0;
        for c in wanted {
            let Some(found) = (at..text.lower.len()).find(|at| text.lower[*at] == *c) else {
                return 0.0;
            };
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

    /// The highest of the three similarities. One that cannot reach `least` or exceed the others is
    /// not computed.
    fn similarity(&self, text: Stretch<'_>, shared: u32, least: f64) -> f64 {
        let own = f64::from(self.letters.chars);
        let other = f64::from(text.letters.chars);
        let length = text.letters.chars as usize;
        let mut best = if shared < self.letters.all { 0.0 } else { self.subsequence(text) };
        // At most the characters that both have can be in the right places.
        let same = f64::from(shared).min(own).min(other);
        let edit = 0.95 * same / own.max(other) + ROUNDING;
        if edit > best && edit >= least {
            best = best.max(0.95 * self.pattern.nearness(text.compact, length));
        }
        let jaro = (same / own + same / other + 1.0) / 3.0;
        let first = self
            .pattern
            .chars()
            .iter()
            .zip(text.compact.chars())
            .take(4)
            .take_while(|(a, b)| **a == *b);
        let beginning = 0.9 * (jaro + 0.1 * first.count() as f64 * (1.0 - jaro)) + ROUNDING;
        if beginning > best && beginning >= least {
            best = best.max(0.9 * self.pattern.jaro_winkler(text.compact, length));
        }
        best
    }
}

/// The score of a name: the highest of the three similarities, with bonuses if it contains the
/// query, begins with it or shares whole words. 0 if no similarity is high enough. A score below
/// `needed` may be returned as a lower one.
pub(crate) fn component(query: &Needle, text: Stretch<'_>, needed: f64) -> f64 {
    if query.compact.is_empty() || text.compact.is_empty() {
        return 0.0;
    }
    let shared = query.letters.count_shared(text.letters);
    // Texts that share fewer than half of the shorter one's letters are no match.
    if 2 * shared < query.letters.all.min(text.letters.all) {
        return 0.0;
    }
    let overlap = 0.08 * overlap(query, text) as f64;
    let contains = query.compact.len() > 1
        && shared >= query.letters.all
        && text.compact.contains(&query.compact);
    let prefix = contains && text.compact.starts_with(&query.compact);
    let more = if contains { 0.55 } else { 0.0 } + if prefix { 0.45 } else { 0.0 } + overlap;
    let least = if contains || overlap >= 0.16 { 0.0 } else { 0.5 };
    let base = query.similarity(text, shared, (needed - more - ROUNDING).max(least));
    if base < least { 0.0 } else { base + more }
}

/// The number of words of at least two letters that both have.
fn overlap(query: &Needle, text: Stretch<'_>) -> usize {
    query.words.iter().filter(|word| word.len() >= 2 && text.words.contains(word)).count()
}

/// Maps scores from 0 up to scores from 0 to 1, in the same order.
pub(crate) fn share(score: f64) -> f64 {
    score / (1.0 + score)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score_names(query: &str, text: &str) -> f64 {
        component(&Needle::new(query), Spelling::new(text).whole(), 0.0)
    }

    // The fixtures of sift.
    #[test]
    fn subsequences_are_weighed_as_known() {
        let score = |query, text| Needle::new(query).subsequence(Spelling::new(text).whole());
        assert!((score("cust", "customers") - 2.006_25_f64).abs() < 1e-12);
        assert!((score("ctid", "customer_type_id") - 0.928_125_f64).abs() < 1e-12);
        assert_eq!(score("custx", "customers"), 0.0);
    }

    #[test]
    fn what_contains_the_query_is_better_than_what_is_like_it() {
        let begins = score_names("cust", "customers");
        let contains = score_names("cust", "sbcustomer");
        let like = score_names("costomer", "customer");
        assert!(
            begins > contains && contains > like && like > THRESHOLD,
            "{begins} {contains} {like}"
        );
        assert!((begins - (2.006_25 + 1.0)).abs() < 1e-9);
        assert_eq!(score_names("price", "wool"), 0.0);
        assert_eq!(score_names("", "wool"), 0.0);
    }

    #[test]
    fn whole_words_in_common_count() {
        assert!(score_names("account state", "state of the account") > 0.16);
        assert!(
            score_names("release year", "year_of_release")
                > score_names("release yaer", "year_of_release")
        );
    }

    #[test]
    fn scores_keep_their_order_below_one() {
        assert!(share(0.8) < share(2.0) && share(1e9) <= 1.0);
    }

    #[test]
    fn names_and_lines_have_so_many_characters() {
        let long = "ab_é".repeat(400);
        assert_eq!(Spelling::new(&long).lower.len(), NAME_CHARS);
        assert_eq!(Spelling::for_line(&long).lower.len(), LINE_CHARS);
        assert!(Needle::new(&long).pattern.chars().len() <= NAME_CHARS);
        assert!(score_names(&long, &long) > 1.9, "long names are compared by their beginning");
    }

    // What bounds leave out is never more than what is measured.
    #[test]
    fn what_is_not_measured_would_not_be_the_best() {
        let names = [
            "customer",
            "custEmail",
            "ctid",
            "order_item_total",
            "totals",
            "a",
            "größe",
            "grosse",
            "net revenue",
        ];
        for (a, b) in names.iter().flat_map(|a| names.map(|b| (*a, b))) {
            let query = Needle::new(a);
            let text = Spelling::new(b);
            let edit = 0.95 * strsim::normalized_levenshtein(&query.compact, &text.compact);
            let beginning = 0.9 * strsim::jaro_winkler(&text.compact, &query.compact);
            let best = query.subsequence(text.whole()).max(edit).max(beginning);
            let shared = query.letters.count_shared(&text.letters);
            assert!((query.similarity(text.whole(), shared, 0.0) - best).abs() < 1e-12, "{a} {b}");
        }
    }

    #[test]
    fn a_need_only_lowers_what_is_below_it() {
        let names = [
            "customer",
            "custEmail",
            "order_item_total",
            "totals",
            "net revenue",
            "revenue",
            "staff_id",
        ];
        for (a, b) in names.iter().flat_map(|a| names.map(|b| (*a, b))) {
            let query = Needle::new(a);
            let text = Spelling::new(b);
            let exact = component(&query, text.whole(), 0.0);
            for needed in [0.5, 0.6, 0.7, 0.9, 1.5] {
                let found = component(&query, text.whole(), needed);
                assert!(
                    if exact >= needed { found == exact } else { found <= exact },
                    "{a} {b} {needed}"
                );
            }
        }
    }
}
