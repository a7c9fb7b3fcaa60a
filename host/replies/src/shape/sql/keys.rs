//! The keys of documents: those of statements, those of a final one, and those of what is no
//! answer.

/// Keys of a JSON reply that may hold the statement, in lower case and without signs between their
/// words.
pub(super) const SQL_KEYS: [&str; 5] = ["sql", "query", "sqlquery", "statement", "sqlstatement"];
/// Words of keys whose values are no answers.
const ASIDES: [&str; 27] = [
    "analysis",
    "attempt",
    "avoid",
    "bad",
    "comment",
    "discarded",
    "draft",
    "example",
    "explanation",
    "failed",
    "incorrect",
    "invalid",
    "note",
    "notes",
    "old",
    "original",
    "previous",
    "question",
    "rationale",
    "reason",
    "reasoning",
    "rejected",
    "step",
    "steps",
    "thinking",
    "thoughts",
    "wrong",
];
/// Those of [`ASIDES`] below which no final statement stands.
const REJECTS: [&str; 12] = [
    "avoid",
    "bad",
    "discarded",
    "example",
    "failed",
    "incorrect",
    "invalid",
    "old",
    "original",
    "previous",
    "rejected",
    "wrong",
];
/// Bytes of a key that are read.
const LONGEST: usize = 64;
/// Keys under which a call of a tool has its arguments.
pub(super) const ARGUMENT_KEYS: [&str; 5] = ["arguments", "args", "input", "parameters", "params"];
/// Keys of the confidence that a document states.
pub(super) const CONFIDENCE_KEYS: [&str; 9] = [
    "confidence",
    "confidencescore",
    "confidencelevel",
    "konfidenz",
    "confiance",
    "confianza",
    "confiança",
    "confidenza",
    "置信度",
];
/// Words of keys that say that a value is the final statement, or a correction.
const FINAL: [&str; 14] = [
    "final",
    "corrected",
    "correct",
    "revised",
    "fixed",
    "improved",
    "updated",
    "amended",
    "refined",
    "repaired",
    "rewritten",
    "better",
    "best",
    "new",
];

/// Returns true for a key of the statement itself.
pub(super) fn is_named(key: &str) -> bool {
    SQL_KEYS.contains(&plain_key(key).as_str())
}

/// Returns true for a key of the final statement or a correction, such as `final_sql`,
/// `correctedQuery`, `sql_fixed`.
pub(super) fn is_final(key: &str) -> bool {
    !is_aside(key) && has_word(key, &FINAL)
}

/// Returns true for a key that says `final` itself.
pub(super) fn is_last(key: &str) -> bool {
    !is_aside(key) && has_word(key, &["final"])
}

/// Returns true for a key of what a document says besides its answer: a draft, what is wrong, why.
pub(super) fn is_aside(key: &str) -> bool {
    has_word(key, &ASIDES)
}

/// Returns true for a key of what a document does not give as its answer, such as an example.
pub(super) fn is_reject(key: &str) -> bool {
    has_word(key, &REJECTS)
}

/// Returns true for a key that ends or begins with one of [`SQL_KEYS`], such as `final_sql`.
pub(super) fn names_statement(key: &str) -> bool {
    let key = plain_key(key);
    SQL_KEYS.iter().any(|name| key.starts_with(name) || key.ends_with(name))
}

/// Returns true for a key of steps, of which the last one is the answer if nothing else is.
pub(super) fn is_steps(key: &str) -> bool {
    const STEPS: [&str; 7] =
        ["steps", "attempts", "iterations", "tries", "revisions", "sqlsteps", "stages"];
    STEPS.contains(&plain_key(key).as_str())
}

/// Returns true for a key of what may be meant in the place of the answer.
pub(super) fn is_alternative(key: &str) -> bool {
    has_word(
        key,
        &["alternative", "alternatives", "alternate", "fallback", "fallbacks", "optional", "other"],
    )
}

/// Returns true for a key that names one of several parts as the answer.
pub(super) fn is_choice(key: &str) -> bool {
    const CHOICES: [&str; 9] = [
        "best",
        "selected",
        "chosen",
        "choice",
        "winner",
        "recommended",
        "preferred",
        "selection",
        "final",
    ];
    has_word(key, &CHOICES)
}

/// Returns true if one of a key's words, which signs or capitals part, is in the list, or stands
/// right before a name of a statement (`finalsql`).
fn has_word(key: &str, list: &[&str]) -> bool {
    let mut parted = String::new();
    let mut before = '_';
    for c in syrch_core::text::clip(key, LONGEST).chars() {
        if c.is_uppercase() && before.is_lowercase() {
            parted.push('_');
        }
        parted.extend(c.to_lowercase());
        before = c;
    }
    parted.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let mut heads = SQL_KEYS.iter().filter_map(|name| word.strip_suffix(name));
        list.contains(&word) || heads.any(|head| list.contains(&head))
    })
}

/// A key in lower case and without signs.
pub(super) fn plain_key(key: &str) -> String {
    syrch_core::text::clip(key, LONGEST)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
