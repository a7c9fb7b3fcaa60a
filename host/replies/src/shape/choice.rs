//! The shape `choice`: one word of a list.

use std::ops::Range;

use syrch_core::text::clip;

use super::thinking::without_thinking;

/// Words after which a model names its choice.
const MARKERS: [&str; 6] = ["answer", "choice", "verdict", "decision", "result", "conclusion"];

/// Occurrences of one word that are examined.
const MAX_OCCURRENCES: usize = 1_000;

/// The word, as a JSON string in the request's spelling: the whole reply, else the one after
/// `Answer:`, else the only one of the words that occurs at all. Two different words are no choice.
pub(super) fn parse(text: &str, words: &[String]) -> Option<String> {
    let text = without_thinking(text);
    let words: Vec<&str> =
        words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
    let chosen = match_whole_text(&text, &words)
        .or_else(|| find_marked(&text, &words))
        .or_else(|| only(&text, &words))?;
    serde_json::to_string(chosen).ok()
}

/// The word of a reply that was cut off: the whole text or its first line. A word that begins
/// another one, and may have been cut, is none.
pub(super) fn parse_cut(text: &str, words: &[String]) -> Option<String> {
    let text = without_thinking(text);
    let text = text.trim_start();
    let words: Vec<&str> =
        words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
    let (first, is_ended) = text.split_once('\n').map_or((text, false), |(first, _)| (first, true));
    let chosen = match_whole_text(first, &words)?;
    let lower = chosen.to_lowercase();
    let begins_another =
        words.iter().any(|word| *word != chosen && word.to_lowercase().starts_with(&lower));
    (is_ended || !begins_another).then(|| serde_json::to_string(chosen).ok())?
}

/// The word that is the whole text, without quotes and markup.
fn match_whole_text<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    fn strip_marks(text: &str) -> String {
        text.trim_matches(|c: char| c.is_whitespace() || "*_`'\".,:;!()[]{}".contains(c))
            .to_lowercase()
    }
    let text = strip_marks(text);
    words.iter().copied().find(|word| {
        word.to_lowercase() == text.as_str() || strip_marks(word) == text && !text.is_empty()
    })
}

/// The word after a marker; several markers must agree.
fn find_marked<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    let lower = text.to_ascii_lowercase();
    let mut named =
        MARKERS.iter().flat_map(|marker| lower.match_indices(marker)).filter_map(|(at, marker)| {
            let rest = text[at + marker.len()..]
                .trim_start_matches(|c: char| c == ' ' || "*_`'\"".contains(c));
            let rest = rest.strip_prefix([':', '=']).or_else(|| rest.strip_prefix("is "))?;
            let rest =
                rest.trim_start_matches(|c: char| c.is_whitespace() || "*_`'\"([:".contains(c));
            let rest = clip(rest, 256);
            let phrase =
                rest.split(['\n', '"', '\'', '}', ',', ';', '.']).next().unwrap_or_default();
            let head = occurrences(rest, words).into_iter().find(|(place, _)| place.start == 0);
            head.map(|(_, word)| word).or_else(|| match_whole_text(phrase, words))
        });
    let first = named.next()?;
    named.all(|word| word == first).then_some(first)
}

/// The word that occurs, if no other does.
fn only<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    let mut found = occurrences(text, words).into_iter().map(|(_, word)| word);
    let first = found.next()?;
    found.all(|word| word == first).then_some(first)
}

/// The places of whole words, letter case aside. Longer words go first, so that `not equal` is not
/// `equal`. Words of one letter must have the same case, since `a` is a word of prose.
fn occurrences<'a>(text: &str, words: &[&'a str]) -> Vec<(Range<usize>, &'a str)> {
    let lower = text.to_ascii_lowercase();
    let mut sorted: Vec<&str> = words.to_vec();
    sorted.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let mut found: Vec<(Range<usize>, &str)> = Vec::new();
    for word in sorted {
        let exact = word.chars().count() == 1;
        let wanted = if exact { word.to_owned() } else { word.to_ascii_lowercase() };
        let text = if exact { text } else { lower.as_str() };
        for (at, _) in text.match_indices(wanted.as_str()).take(MAX_OCCURRENCES) {
            let place = at..at + wanted.len();
            fn is_word_char(c: char) -> bool {
                c.is_alphanumeric() || c == '_'
            }
            let is_whole = !text[..place.start].ends_with(is_word_char)
                && !text[place.end..].starts_with(is_word_char);
            if is_whole
                && found
                    .iter()
                    .all(|(other, _)| other.end <= place.start || place.end <= other.start)
            {
                found.push((place, word));
            }
        }
    }
    found.sort_by_key(|(place, _)| place.start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, words: &[&str]) -> Option<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        parse(text, &words).map(|json| serde_json::from_str(&json).unwrap())
    }

    #[test]
    fn the_chosen_word_is_found() {
        for text in [
            "B",
            "b",
            " **B**. ",
            "\"B\"",
            "Answer: B",
            "The answer is B, since a join is needed.",
            "{\"answer\": \"b\"}",
            "<think>A?</think>B",
            "I prefer B",
        ] {
            assert_eq!(read(text, &["A", "B"]).as_deref(), Some("B"), "{text}");
        }
        assert_eq!(
            read("They are not equal.", &["equal", "not equal"]).as_deref(),
            Some("not equal")
        );
        assert_eq!(read("Clearly YES.", &["yes", "no"]).as_deref(), Some("yes"));
    }

    #[test]
    fn of_a_reply_that_was_cut_off_the_first_word_counts_if_it_is_whole() {
        fn cut(text: &str, words: &[&str]) -> Option<String> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            parse_cut(text, &words).map(|json| serde_json::from_str::<String>(&json).unwrap())
        }
        for text in ["B", "**B**", "<think>A</think>\nB", "B\nsince A lacks"] {
            assert_eq!(cut(text, &["A", "B"]).as_deref(), Some("B"), "{text}");
        }
        for text in ["I prefer B to", "Answer: A is tempting, but", "<think>B", "Is it A"] {
            assert_eq!(cut(text, &["A", "B"]), None, "{text}");
        }
        assert_eq!(cut("not", &["not", "not equal"]), None);
        assert_eq!(cut("not\nb", &["not", "not equal"]).as_deref(), Some("not"));
    }

    #[test]
    fn no_or_two_words_are_no_choice() {
        for text in ["", "C", "A or B", "Answer: A. No, the answer is B.", "ABBA"] {
            assert_eq!(read(text, &["A", "B"]), None, "{text}");
        }
        assert_eq!(read("yesterday", &["yes", "no"]), None);
    }
}
