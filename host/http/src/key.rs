//! The keys of endpoints, and which of them are secrets.

/// The placeholders that people give to local endpoints that want any key at all. They are no
/// secrets, and hiding such common words would damage answers.
const PLACEHOLDERS: [&str; 12] = [
    "lm-studio",
    "not-needed",
    "not-required",
    "sk-no-key-required",
    "no-key-required",
    "anything",
    "whatever",
    "placeholder",
    "changeme",
    "password",
    "localhost",
    "undefined",
];

/// A shorter key is no secret either: it may be a word of the data, or a part of one.
const SHORTEST: usize = 8;

/// Returns true if a key is a secret, which no text may show: it is no placeholder, and long enough
/// to be no word.
#[must_use]
pub fn is_secret(key: &str) -> bool {
    key.len() >= SHORTEST && !PLACEHOLDERS.contains(&key)
}
