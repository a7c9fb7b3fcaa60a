//! The table of hostile cases, `tests/zoo/cases.jsonl`: what each of them does, the end that it
//! must come to, and how that is known.

use serde::Deserialize;
use syrch_kit::repository;

/// A hostile case. One of `runs`, `tests` and `never` is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) id: String,
    /// The deed in words.
    pub(super) does: String,
    /// The end that it must come to.
    pub(super) end: String,
    /// The search in which it runs.
    pub(super) runs: Option<Run>,
    /// The tests in which it runs, as `FILE::NAME`.
    pub(super) tests: Option<Vec<String>>,
    /// The reason why it cannot apply.
    pub(super) never: Option<String>,
}

/// A search with the hostile plugin.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) role: String,
    pub(super) behaviour: String,
    /// Words of the end.
    pub(super) words: String,
    /// True if it takes so little time that it is repeated.
    #[serde(default)]
    pub(super) cheap: bool,
}

/// All cases, in the order of the table.
pub(super) fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(repository().join("tests/zoo/cases.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
