//! The aggregates and the values that the words of a question ask for.

use super::aggregates::Kind;
use crate::read::stems;

/// Words that ask for an aggregate.
const ASKING: &[(Kind, &[&str])] = &[
    (Kind::Sum, &["all", "altogether", "overall", "sum", "total", "totals"]),
    (Kind::Mean, &["average", "averages", "avg", "mean", "per", "typical", "typically"]),
    (Kind::Count, &["count", "counts", "frequency", "many", "number", "numbers", "often", "times"]),
    (Kind::Distinct, &["different", "distinct", "unique"]),
    (
        Kind::Max,
        &[
            "best", "biggest", "greatest", "highest", "largest", "last", "latest", "max",
            "maximum", "most", "newest", "peak", "recent", "top",
        ],
    ),
    (
        Kind::Min,
        &[
            "bottom", "earliest", "fewest", "first", "least", "lowest", "min", "minimum", "oldest",
            "smallest", "worst",
        ],
    ),
];

/// Returns the aggregates that a question asks for.
pub(super) fn find_asked(question: &str) -> Vec<Kind> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let asked = ASKING.iter().filter(|(_, asking)| asking.iter().any(|one| words.contains(one)));
    asked.map(|(kind, _)| *kind).collect()
}

/// The stems of words that leave out a value behind them; `t` is the end of `weren't`.
const WITHOUT: &[&str] = &[
    "but", "except", "exclud", "ignor", "neither", "never", "non", "nor", "not", "omit", "outsid",
    "t", "without",
];
/// The limit on the words between such a word and the value: `except returned and cancelled`.
const BETWEEN: usize = 3;

/// Returns whether the question has the words of a value.
pub(super) fn is_said(question: &str, value: &str) -> bool {
    let question = stems(question);
    let value = stems(value);
    find_place(&list(&question), &list(&value)).is_some()
}

/// Returns whether the question leaves out a value: `orders that were not cancelled`.
pub(super) fn is_without(question: &str, value: &str) -> bool {
    let question = stems(question);
    let value = stems(value);
    let words = list(&question);
    let Some(at) = find_place(&words, &list(&value)) else { return false };
    words[at.saturating_sub(BETWEEN + 1)..at].iter().any(|word| WITHOUT.contains(word))
}

fn list(stems: &str) -> Vec<&str> {
    stems.split(' ').filter(|word| !word.is_empty()).collect()
}

/// The place of the first of these words, where all stand in a row.
fn find_place(words: &[&str], value: &[&str]) -> Option<usize> {
    if value.is_empty() {
        return None;
    }
    words.windows(value.len()).position(|part| part == value)
}
