//! Words of negation, words that end its scope, and words that distinguish an order of rows from a
//! purchase.

/// Words and phrases that negate what follows, longer ones first. Contractions (`didn't`) are known
/// by their end.
pub(crate) const NEGATIONS: &[&str] = &[
    "other than",
    "rather than",
    "instead of",
    "apart from",
    "aside from",
    "outside of",
    "no one",
    "not",
    "never",
    "without",
    "no",
    "none",
    "nobody",
    "nothing",
    "except",
    "excluding",
    "exclude",
    "excludes",
    "besides",
    "outside",
    "lack",
    "lacks",
    "lacking",
    "missing",
    "neither",
    "nor",
    "cannot",
];

/// Returns true if a word, alone or before a negation, means that something is absent, rather than
/// that it is something else.
pub(crate) fn means_absence(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "no", "without", "lack", "lacks", "lacking", "missing", "have", "has", "had", "having",
        "with", "out",
    ];
    WORDS.contains(&lower)
}

/// Returns true if a word after `and` or `but` opens a clause of its own, which is outside the
/// scope of a negation before it.
pub(crate) fn opens_clause(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "who", "that", "which", "whose", "is", "are", "was", "were", "has", "have", "had", "do",
        "does", "did", "with", "also",
    ];
    WORDS.contains(&lower)
}

/// Returns true if a word after `ordered` describes the order of rows: `ordered in descending
/// order`, but not `ordered in 2020`.
pub(crate) fn describes_order(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "order",
        "ascending",
        "descending",
        "increasing",
        "decreasing",
        "alphabetical",
        "alphabetically",
        "lexicographical",
        "chronological",
        "reverse",
        "to",
    ];
    WORDS.contains(&lower)
}
