//! The names of plugins.

use crate::{Error, Language};

/// Characters of a name at most.
const LONGEST: usize = 64;

/// Names that a Rust package cannot have: the language's words, and the crates that stand beside
/// it.
const NOT_IN_RUST: [&str; 55] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "syrch-basics",
    "syrch-plugin",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "use",
    "where",
    "while",
];

/// The name of a plugin in kebab-case, such as `short-answers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// When it is no name that every language can have, with the reason.
    pub fn new(name: &str) -> Result<Self, Error> {
        let wrong = |why: String| Error::Name { name: name.to_owned(), why };
        if name.len() > LONGEST {
            return Err(wrong(format!("it is longer than {LONGEST} characters")));
        }
        if !name.starts_with(|first: char| first.is_ascii_lowercase())
            || !name.split('-').all(|word: &str| {
                !word.is_empty()
                    && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            })
        {
            return Err(wrong(
                "a name has lower-case letters and digits, begins with a letter, and has single \
                 hyphens between words"
                    .to_owned(),
            ));
        }
        Ok(Self(name.to_owned()))
    }

    /// Checks that a project of this language can have the name.
    ///
    /// # Errors
    /// When the language uses it for something else.
    pub fn fits(&self, language: Language) -> Result<(), Error> {
        if language == Language::Rust && NOT_IN_RUST.contains(&self.as_str()) {
            let why = "Rust uses it for something else".to_owned();
            return Err(Error::Name { name: self.0.clone(), why });
        }
        Ok(())
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with underscores: `short_answers`.
    pub(crate) fn snake(&self) -> String {
        self.0.replace('-', "_")
    }

    /// The name as a type has it: `ShortAnswers`.
    pub(crate) fn pascal(&self) -> String {
        pascal(&self.0)
    }
}

/// Words with hyphens between them, each with a capital letter and without the hyphens.
pub(crate) fn pascal(words: &str) -> String {
    words
        .split('-')
        .map(|word: &str| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(letters)
                .collect::<String>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case() {
        let name = Name::new("short-answers-2").unwrap();
        assert_eq!(
            (name.snake().as_str(), name.pascal().as_str()),
            ("short_answers_2", "ShortAnswers2")
        );
        for wrong in
            ["", "-a", "a-", "a--b", "A", "a_b", "1a", "ä", "a b", "a/b", "..", &"a".repeat(65)]
        {
            assert!(matches!(Name::new(wrong), Err(Error::Name { .. })), "{wrong}");
        }
        assert!(Name::new(&"a".repeat(64)).is_ok());
    }

    #[test]
    fn a_word_of_rust_is_no_name_of_a_crate() {
        let name = Name::new("match").unwrap();
        assert!(name.fits(Language::Rust).is_err() && name.fits(Language::Go).is_ok());
        assert!(NOT_IN_RUST.is_sorted());
    }
}
