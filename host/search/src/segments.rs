//! The lane `segment-fuzzy`: the lines of descriptions and notes, with the constants of sift.

use std::collections::HashMap;

use crate::fuzzy::{Spelling, THRESHOLD, component};
use crate::names::Wanted;
use crate::words::parts;

/// Words of a window at most.
const WINDOW: usize = 6;
/// Words of a line that windows look at.
const LINE_WORDS: usize = 64;
/// Lines that are compared with one variant: those that share the most groups of three letters with it.
const COMPARED: usize = 48;

const EXACT: f64 = 0.35;
const LABEL: f64 = 0.45;
const DEFINITION: f64 = 0.08;

/// One line of a document.
#[derive(Debug)]
struct Line {
    document: usize,
    text: String,
    lower: String,
    words: Vec<String>,
    whole: Spelling,
    label: Spelling,
    /// The part before a colon, an equals sign or `means`, in lower case: what the line defines.
    defined: Option<String>,
}

/// All lines of a corpus.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    lines: Vec<Line>,
    groups: HashMap<[u8; 3], Vec<u32>>,
}

/// A document's best line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found<'a> {
    pub(crate) document: usize,
    pub(crate) score: f64,
    pub(crate) line: &'a str,
}

impl Segments {
    /// Adds the lines of a document; `label` says what they are about.
    pub(crate) fn add(&mut self, document: usize, label: &str, text: &str) {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let mut words = parts(line);
            words.truncate(LINE_WORDS);
            let lower = line.to_lowercase();
            let number = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
            for group in groups(&words) {
                self.groups.entry(group).or_default().push(number);
            }
            self.lines.push(Line {
                document,
                text: line.to_owned(),
                defined: defined(&lower),
                lower,
                words,
                whole: Spelling::new(line),
                label: Spelling::new(label),
            });
        }
    }

    /// The documents with a line that fits one of the variants, each with its best line. Unsorted.
    pub(crate) fn find(&self, wanted: &Wanted) -> Vec<Found<'_>> {
        let mut best: HashMap<usize, Found<'_>> = HashMap::new();
        for variant in &wanted.variants {
            for line in self.near(variant) {
                let score = line.score(variant);
                if score < THRESHOLD {
                    continue;
                }
                let found = Found { document: line.document, score, line: &line.text };
                let kept = best.entry(line.document).or_insert_with(|| found.clone());
                if score > kept.score {
                    *kept = found;
                }
            }
        }
        let mut found: Vec<Found<'_>> = best.into_values().collect();
        found.sort_by_key(|found| found.document);
        found
    }

    /// The lines that share the most groups of letters with a variant, in their order.
    fn near(&self, variant: &Spelling) -> impl Iterator<Item = &Line> {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for group in groups(variant.words()) {
            for line in self.groups.get(&group).into_iter().flatten() {
                *counts.entry(*line).or_default() += 1;
            }
        }
        let mut lines: Vec<(u32, u32)> = counts.into_iter().collect();
        lines.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        lines.truncate(COMPARED);
        lines.sort_unstable();
        lines.into_iter().filter_map(|(line, _)| self.lines.get(line as usize))
    }
}

impl Line {
    /// The best of the whole line and its windows, more for the exact text, for a fitting label and for what the line defines.
    fn score(&self, variant: &Spelling) -> f64 {
        let phrase = variant.words().join(" ");
        let text = component(variant, &self.whole).max(self.best_window(variant));
        let exact = if self.lower.contains(&phrase) { EXACT } else { 0.0 };
        if text == 0.0 {
            return 0.0;
        }
        let defines = self.defined.as_ref().is_some_and(|defined| defined.contains(&phrase));
        let bonus = if defines { DEFINITION } else { 0.0 };
        // A label that only has letters in common says nothing.
        let label = Some(component(variant, &self.label)).filter(|label| *label >= THRESHOLD).unwrap_or(0.0);
        text + exact + LABEL * label + bonus
    }

    /// Windows of one word less to two words more than the variant has.
    fn best_window(&self, variant: &Spelling) -> f64 {
        let count = variant.words().len();
        let sizes = count.saturating_sub(1).max(1)..=(count + 2).min(WINDOW);
        let windows = sizes.flat_map(|size| self.words.windows(size));
        windows.map(|window| component(variant, &Spelling::new(&window.join(" ")))).fold(0.0, f64::max)
    }
}

/// What a line such as `churned: no order in 90 days` defines.
fn defined(lower: &str) -> Option<String> {
    let end = [":", "=", " means "].iter().filter_map(|mark| lower.find(mark)).min()?;
    lower.get(..end).map(|part| part.trim().to_owned())
}

/// The different groups of three bytes of words that are padded with a space on either side.
fn groups(words: &[String]) -> Vec<[u8; 3]> {
    let mut groups: Vec<[u8; 3]> = Vec::new();
    for word in words {
        let padded = format!(" {word} ");
        groups.extend(padded.as_bytes().windows(3).filter_map(|group| <[u8; 3]>::try_from(group).ok()));
    }
    groups.sort_unstable();
    groups.dedup();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments() -> Segments {
        let mut segments = Segments::default();
        segments.add(0, "customers", "churned: no order in the last 90 days\n\nloyal means ten orders a year");
        segments.add(1, "orders.total", "gross amount in cents, tax included");
        segments
    }

    fn best(text: &str) -> Option<(usize, String)> {
        let segments = segments();
        let mut found = segments.find(&Wanted::new(text));
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.first().map(|found| (found.document, found.line.to_owned()))
    }

    #[test]
    fn the_line_that_fits_is_the_snippet() {
        assert_eq!(best("churnd"), Some((0, "churned: no order in the last 90 days".to_owned())));
        assert_eq!(best("loyal"), Some((0, "loyal means ten orders a year".to_owned())));
        assert_eq!(best("gros amount"), Some((1, "gross amount in cents, tax included".to_owned())));
        assert_eq!(best("weather"), None);
    }

    #[test]
    fn exact_text_labels_and_definitions_count() {
        let score = |label: &str, line: &str, text: &str| {
            let mut segments = Segments::default();
            segments.add(0, label, line);
            segments.find(&Wanted::new(text)).first().map_or(0.0, |found| found.score)
        };
        assert!(score("x", "the churn rate", "churn rate") > score("x", "the churm rate", "churn rate"));
        assert!(score("churn", "the churn rate", "churn rate") > score("x", "the churn rate", "churn rate"));
        assert!(score("x", "churn rate: what left", "churn rate") > score("x", "churn rate, what left", "churn rate"));
    }
}
