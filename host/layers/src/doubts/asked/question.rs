//! The words of a question, and those of names.

use std::collections::HashSet;

use syrch_words::stem;

/// Characters of a question that are read.
const LONGEST: usize = 4_000;
/// Words that may stand before the one with which a question begins.
const BEFORE: [&str; 7] = ["and", "at", "for", "from", "in", "on", "please"];

/// A question as its words.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    words: Vec<String>,
    stems: HashSet<String>,
}

impl Question {
    pub(crate) fn new(text: &str) -> Self {
        let words = words(&text.chars().take(LONGEST).collect::<String>());
        let stems = words.iter().map(|word| stem(word)).collect();
        Self { words, stems }
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
