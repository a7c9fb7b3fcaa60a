//! The key under which a question is the same as another: its words without what politeness and
//! grammar add.

use syrch_words::stem;

/// Words that change nothing in a question, wherever they stand.
const IDLE: &[&str] = &["a", "an", "the", "please", "is", "are", "there", "do", "does", "we"];
/// Words that change nothing before the first that means something.
const OPENING: &[&str] = &[
    "me", "us", "can", "could", "would", "you", "i", "show", "tell", "give", "display", "find",
    "get", "want", "like", "know", "see", "what", "whats", "what's", "to", "kindly",
];
/// Words with the same meaning at the beginning of a question.
const COUNTS: &[&[&str]] = &[
    &["how", "many"],
    &["number", "of"],
    &["total", "number", "of"],
    &["count", "of"],
    &["count"],
];

/// Returns the stems of a question's words that mean something, in their order, with one blank
/// between them; two questions with the same key ask the same. Numbers, names, negations and
/// everything between quotes stay as they are. Empty if nothing is left.
#[must_use]
pub fn question_key(question: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut quoted = None;
    for word in question.split_whitespace() {
        let opens = word.starts_with(['"', '\'', '`', '“', '‘']);
        if quoted.is_none() && opens {
            quoted = Some(kept.len());
        }
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '-' | '%'));
        let bare = bare.trim_matches(['“', '”', '‘', '’', '¿', '¡', '…']);
        if quoted.is_some() {
            kept.push(word.trim_end_matches(['?', '.', '!']).to_owned());
        } else if !bare.is_empty() {
            let lower = bare.to_lowercase();
            let is_opening = kept.is_empty() && OPENING.contains(&lower.as_str());
            if !is_opening && !IDLE.contains(&lower.as_str()) {
                let is_word = lower.chars().all(char::is_alphabetic);
                kept.push(if is_word { stem(&lower) } else { lower });
            }
        }
        let end = word.trim_end_matches(['?', '.', '!', ',', ';', ':']);
        if quoted.is_some() && end.ends_with(['"', '\'', '`', '”', '’']) {
            quoted = None;
        }
    }
    for start in COUNTS {
        let stems: Vec<String> = start.iter().map(|word| stem(word)).collect();
        if kept.len() > stems.len() && kept.starts_with(&stems) {
            kept.splice(..stems.len(), ["how many".to_owned()]);
            // "How many orders do we have" has a verb at its end that says no more.
            if kept.last().is_some_and(|last| *last == stem("have") || *last == stem("exist")) {
                kept.pop();
            }
            break;
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn are_same(left: &str, right: &str) -> bool {
        question_key(left) == question_key(right)
    }

    #[test]
    fn politeness_and_grammar_change_nothing() {
        for (left, right) in [
            ("How many customers are there?", "how many customers are there"),
            ("How many customers are there?", "Number of customers"),
            ("How many customers do we have?", "count customers"),
            ("What is the total revenue in 2024?", "Please show me the total revenue in 2024."),
            ("Which customers live in Vienna?", "which customer lives in vienna"),
        ] {
            assert!(are_same(left, right), "{left} | {right}: {}", question_key(left));
        }
    }

    #[test]
    fn what_means_something_stays() {
        for (left, right) in [
            ("How many customers are there?", "Which customers are there?"),
            ("revenue in 2024", "revenue in 2023"),
            ("orders that were cancelled", "orders that were not cancelled"),
            ("customers in Vienna", "customers without Vienna"),
            ("top 5 products", "top 50 products"),
            ("orders above 10", "orders below 10"),
            ("most expensive product", "least expensive product"),
            ("products named 'The A'", "products named 'A'"),
            ("products named 'the a'", "products named 'The A'"),
            ("growth of 5%", "growth of 5"),
            ("orders since -5", "orders since 5"),
            ("customers who have orders", "customers who want orders"),
            ("orders to Vienna", "orders from Vienna"),
            ("products like chairs", "products chairs"),
        ] {
            assert!(!are_same(left, right), "{left} | {right}: {}", question_key(left));
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_key(text in "\\PC{0,60}") {
            let key = question_key(&text);
            prop_assert_eq!(key.clone(), question_key(&format!("  {text}  ")));
        }
    }
}
