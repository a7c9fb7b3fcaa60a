//! Forms of sentences, as lists of words: what is denied, and the verb that it is denied of.

/// The first words of a form and its last ones, which stand behind them in the same clause; the
/// last may be empty.
pub(super) type Form = (&'static str, &'static str);

/// Bytes between the parts of a form at most.
const GAP: usize = 80;

/// Returns true if a sentence in lower case has one of these forms. `is_spaced`: the first part
/// stands at the beginning of a word.
pub(super) fn has_form(sentence: &str, forms: &[Form], is_spaced: bool) -> bool {
    forms.iter().any(|(first, last)| {
        sentence.match_indices(first).any(|(at, _)| {
            let begins = !is_spaced || !sentence[..at].ends_with(|c: char| c.is_alphanumeric());
            begins && ends_with_form(&sentence[at + first.len()..], last)
        })
    })
}

/// Returns true if the last part of a form stands in the same clause.
fn ends_with_form(rest: &str, last: &str) -> bool {
    let clause = rest.split([',', ';', ':', '，', '；', '、']).next().unwrap_or_default();
    let clause = syrch_core::text::clip(clause, GAP + last.len());
    // `cannot count rows to answer` denies something else.
    clause.find(last).is_some_and(|at| {
        !clause[..at].ends_with(" to ") && !clause[..at].contains(|c: char| c.is_ascii_digit())
    })
}
