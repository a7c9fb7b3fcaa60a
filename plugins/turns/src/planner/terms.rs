//! Words worth searching for.

use syrch_plugin::text::{clip, is_one_of};

/// Words of one query (sift, heuristic planner).
pub(crate) const QUERY: usize = 6;

// A word is no longer than this in the memo.
const WORD: usize = 40;

// What says nothing about where to look.
const STOP: &[&str] = &[
    "a", "all", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "each", "find",
    "for", "from", "give", "has", "have", "how", "in", "is", "it", "list", "many", "me", "most",
    "much", "no", "of", "on", "or", "show", "than", "that", "the", "their", "them", "there", "to",
    "was", "were", "what", "when", "where", "which", "who", "whose", "with",
];

// What messages of errors are made of.
const ERROR: &str = "after ambiguous attempt attempts byte column columns could did error failed \
                     last name near not result row rows statement such syntax table tables unknown";

/// The words of a text in small letters, each once and in order, without those that say nothing.
/// Underscores, dots and the humps of `camelCase` divide words too, so that names and prose meet.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut after_small = false;
    for c in text.chars().chain([' ']) {
        let hump = c.is_uppercase() && after_small;
        if !c.is_alphanumeric() || hump {
            push(&mut found, &mut word);
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase();
    }
    found
}

fn push(found: &mut Vec<String>, word: &mut String) {
    let word = std::mem::take(word);
    let word = clip(&word, WORD);
    if word.chars().count() > 1
        && STOP.binary_search(&word).is_err()
        && !found.iter().any(|known| known == word)
    {
        found.push(word.to_owned());
    }
}

/// The first words that were not used yet, as many as one query holds.
pub(crate) fn pick_unused(terms: Vec<String>, used: &[String]) -> Vec<String> {
    terms.into_iter().filter(|term| !used.contains(term)).take(QUERY).collect()
}

/// The names that an error is about: what stands in quotes or after `near:`, else whatever is no
/// word of errors.
pub(crate) fn names_of_error(message: &str) -> Vec<String> {
    let quoted = message.split(['`', '"']).skip(1).step_by(2);
    let near = message.split("near: ").skip(1);
    let named: Vec<String> =
        quoted.chain(near).collect::<Vec<_>>().join(" ").split(';').map(str::to_owned).collect();
    let found = terms(&named.join(" "));
    let found = if found.is_empty() { terms(message) } else { found };
    let is_number = |term: &String| term.chars().all(|c| c.is_ascii_digit());
    found.into_iter().filter(|term| !is_one_of(ERROR, term) && !is_number(term)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn prose_and_names_give_the_same_words() {
        assert_eq!(terms("How many French customers?"), ["french", "customers"]);
        assert_eq!(
            terms("main.CustomerOrders.unit_price"),
            ["main", "customer", "orders", "unit", "price"]
        );
        assert_eq!(terms("Größe, größe! A x 10"), ["größe", "10"]);
        assert!(terms("who is it").is_empty());
    }

    #[test]
    fn a_query_holds_six_words_that_were_not_used() {
        let all = terms("one two three four five six seven eight");
        assert_eq!(
            pick_unused(all, &["two".into()]),
            ["one", "three", "four", "five", "six", "seven"]
        );
    }

    #[test]
    fn an_error_is_about_its_names() {
        let message = "no statement did after 3 of 3 attempts: no such column `nation`; near: \
                       country, county";
        assert_eq!(names_of_error(message), ["nation", "country", "county"]);
        assert_eq!(names_of_error("no such column: o.placed at byte 7"), ["placed"]);
        assert!(names_of_error("syntax error").is_empty());
    }
}
