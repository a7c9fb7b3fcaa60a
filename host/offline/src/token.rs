//! The tokens of a question.

use syrch_words::stem;

use super::lexicon;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    /// A number; `lower` has its digits.
    Number,
    /// A quoted text; `text` is without the quotes.
    Quoted,
    /// A date such as 2024-10-16.
    Date,
    /// A comma, a bracket or the end of a sentence.
    Break,
    /// A sign that is no punctuation, such as `<`, `%` or `&`.
    Sign,
}

/// One word, number, quoted text or punctuation mark of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) lower: String,
    pub(crate) stem: String,
    pub(crate) kind: Kind,
    /// The place in the question, in characters.
    pub(crate) place: std::ops::Range<usize>,
}

impl Token {
    pub(crate) fn new(text: &str, kind: Kind, place: std::ops::Range<usize>) -> Self {
        let lower = text.to_lowercase();
        let lower = if kind == Kind::Number { lower.replace(',', "") } else { lower };
        Self { text: text.to_owned(), stem: stem(&lower), lower, kind, place }
    }

    /// Returns true if the token ends a sentence.
    pub(crate) fn ends_sentence(&self) -> bool {
        self.kind == Kind::Break && matches!(self.text.as_str(), "." | "?" | ";" | "!")
    }

    /// Returns true if the token ends like a form of a verb in `-ed` or `-ing`: `borrowed`,
    /// `lending`, but not `written`.
    pub(crate) fn is_participle(&self) -> bool {
        self.lower.len() > 4 && (self.lower.ends_with("ed") || self.lower.ends_with("ing"))
    }

    /// Returns true if the token is the past form of a regular verb, and not a noun that ends like
    /// one, such as `breed`.
    pub(crate) fn is_past(&self) -> bool {
        self.is_participle() && self.lower.ends_with("ed") && !self.stem.ends_with("ed")
    }

    /// Returns true if the token says that something happened: `shipped`, `paid`, `born`.
    pub(crate) fn is_event(&self) -> bool {
        self.is_past() || lexicon::PARTICIPLES.contains(&self.lower.as_str())
    }

    /// Returns true if the token begins with a capital letter.
    pub(crate) fn is_capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

/// Returns true if the token is a stop word; one in capitals, such as `IN` for Indiana, is not.
pub(crate) fn is_stop(token: &Token) -> bool {
    let shouted = token.text.len() > 1 && token.text.chars().all(char::is_uppercase);
    token.kind == Kind::Word && !shouted && lexicon::is_stop_word(&token.lower)
}
