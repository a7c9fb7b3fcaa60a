//! The words of a question, and those of names.

use std::collections::HashSet;

use syrch_core::Hit;
use syrch_words::{is_stop_word, stem};

use super::copied::Solved;

/// Characters of a question that are read.
const LONGEST: usize = 4_000;
/// Words that say of what there is none.
pub(super) const NOT: &[&str] = &["except", "neither", "never", "no", "not", "t", "without"];
/// Words that may stand before the one with which a question begins.
const BEFORE: [&str; 7] = ["and", "at", "for", "from", "in", "on", "please"];

/// A question as its words.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    text: String,
    words: Vec<String>,
    stems: HashSet<String>,
    /// The stems of numbers, and of words with a capital letter behind the first word.
    names: HashSet<String>,
    /// The solved examples that prompts for its answer show.
    examples: Vec<Solved>,
    /// The evidence beside the question, in lower case.
    evidence: String,
}

impl Question {
    pub(crate) fn new(text: &str) -> Self {
        let text: String = text.chars().take(LONGEST).collect();
        let words = words(&text);
        let stems = words.iter().map(|word| stem(word)).collect();
        Self {
            names: names(&text),
            words,
            stems,
            examples: Vec::new(),
            evidence: String::new(),
            text,
        }
    }

    /// Adds the solved examples among the hints that prompts show.
    pub(crate) fn with_examples(self, hints: &[Hit]) -> Self {
        Self { examples: hints.iter().filter_map(Solved::from_hit).collect(), ..self }
    }

    /// Adds what is known beside the question.
    pub(crate) fn with_evidence(self, evidence: &str) -> Self {
        Self { evidence: evidence.chars().take(LONGEST).collect::<String>().to_lowercase(), ..self }
    }

    pub(super) fn evidence(&self) -> &str {
        &self.evidence
    }

    /// The question as it was asked.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn examples(&self) -> &[Solved] {
        &self.examples
    }

    pub(super) fn stems(&self) -> &HashSet<String> {
        &self.stems
    }

    /// Returns true if the stem is that of a number or a name.
    pub(super) fn is_name(&self, stem: &str) -> bool {
        self.names.contains(stem)
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// The word at a place.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(String::as_str)
    }

    /// The place of the first word that counts.
    pub(super) fn start(&self) -> usize {
        self.words.iter().take_while(|word| BEFORE.contains(&word.as_str())).count()
    }

    pub(super) fn first(&self) -> Option<&str> {
        self.word(self.start())
    }

    /// Returns whether the first words that count are each one of these.
    pub(super) fn begins_with(&self, words: &[&[&str]]) -> bool {
        let start = self.start();
        words
            .iter()
            .enumerate()
            .all(|(at, any)| self.word(start + at).is_some_and(|word| any.contains(&word)))
    }

    pub(super) fn has_any(&self, any: &[&str]) -> bool {
        self.words().any(|word| any.contains(&word))
    }

    /// Returns whether one of `next` stands directly behind the word.
    pub(super) fn has_pair(&self, word: &str, next: &[&str]) -> bool {
        self.words.windows(2).any(|pair| pair[0] == word && next.contains(&pair[1].as_str()))
    }

    pub(super) fn has_stem(&self, stem: &str) -> bool {
        self.stems.contains(stem)
    }
}

/// The stems of the numbers in a text, and of its words with a capital letter, but for the first.
fn names(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .enumerate()
        .filter(|(at, word)| {
            word.starts_with(|c: char| c.is_numeric() || *at > 0 && c.is_uppercase())
        })
        .map(|(_, word)| word.to_lowercase())
        .filter(|word| !is_stop_word(word))
        .map(|word| stem(&word))
        .collect()
}

/// The words of a text or a name in lower case, split where a small letter meets a capital one.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_small = false;
    for c in text.chars() {
        if !word.is_empty() && (!c.is_alphanumeric() || (was_small && c.is_uppercase())) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The stems of a name's words.
pub(super) fn stems(name: &str) -> Vec<String> {
    words(name).iter().map(|word| stem(word)).collect()
}
