//! Words of questions, descriptions and identifiers, and the stems by which they meet.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use syrch_words::{abbreviation, is_stop_word};

/// Further stop words: they occur in the wording of a question and do not name what it asks for.
/// Sorted.
const STOPS: &[&str] = &[
    "after",
    "ascending",
    "before",
    "between",
    "calculate",
    "compute",
    "descending",
    "different",
    "distinct",
    "either",
    "include",
    "including",
    "more",
    "most",
    "no",
    "not",
    "ordered",
    "over",
    "respectively",
    "s",
    "sorted",
    "t",
    "why",
    "without",
];

/// Forms of irregular verbs.
const VERBS: &[(&str, &str)] = &[
    ("bought", "buy"),
    ("drove", "drive"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("given", "give"),
    ("held", "hold"),
    ("made", "make"),
    ("paid", "pay"),
    ("sang", "sing"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("sung", "sing"),
    ("taught", "teach"),
    ("won", "win"),
    ("written", "write"),
    ("wrote", "write"),
];

/// The stems of an identifier.
#[derive(Debug)]
pub(crate) struct Named {
    /// The stems of its words.
    pub(crate) words: Vec<String>,
    /// The stems of the words that its abbreviations stand for; empty if it has none.
    pub(crate) long: Vec<String>,
}

/// A stemmer with a cache, since a catalog has few different words. It knows irregular plurals and
/// verbs.
#[derive(Default)]
pub(crate) struct Stems {
    known: RefCell<HashMap<String, String>>,
    names: RefCell<HashMap<String, Rc<Named>>>,
}

impl Stems {
    /// The stem of a word in lower case.
    pub(crate) fn stem(&self, word: &str) -> String {
        if let Some(stem) = self.known.borrow().get(word) {
            return stem.clone();
        }
        let stem = syrch_words::stem(
            VERBS.iter().find(|(form, _)| *form == word).map_or(word, |(_, verb)| verb),
        );
        self.known.borrow_mut().insert(word.to_owned(), stem.clone());
        stem
    }

    /// The stems of a text's words without stop words; of all words if there are only stop words.
    pub(crate) fn stem_text(&self, text: &str) -> Vec<String> {
        content(text).iter().map(|word| self.stem(word)).collect()
    }

    /// The stems of an identifier, from the cache if it occurred before.
    pub(crate) fn stem_name(&self, name: &str) -> Rc<Named> {
        if let Some(named) = self.names.borrow().get(name) {
            return Rc::clone(named);
        }
        let parts = parts(name);
        let long = parts.iter().filter_map(|part| abbreviation(part));
        let long = long.flat_map(|long| long.split(' ')).map(|word| self.stem(word)).collect();
        let named =
            Rc::new(Named { words: parts.iter().map(|part| self.stem(part)).collect(), long });
        self.names.borrow_mut().insert(name.to_owned(), Rc::clone(&named));
        named
    }
}

/// The words of a text in lower case, with its identifiers divided into words, and without stop
/// words unless there are no others.
pub(crate) fn content(text: &str) -> Vec<String> {
    let mut words = parts(text);
    if words.iter().any(|word| !is_stop(word)) {
        words.retain(|word| !is_stop(word));
    }
    words
}

fn is_stop(word: &str) -> bool {
    is_stop_word(word) || STOPS.binary_search(&word).is_ok()
}

/// The words of an identifier or a text in lower case. It is divided at everything that is neither
/// letter nor digit, at changes of case, and between letters and digits.
pub(crate) fn parts(name: &str) -> Vec<String> {
    let mut chars = name.chars().peekable();
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut before = None;
    while let Some(c) = chars.next() {
        let is_new = !c.is_alphanumeric()
            || before.is_some_and(|before| begins_word(before, c, chars.peek()));
        if is_new && !current.is_empty() {
            words.push(std::mem::take(&mut current));
        }
        if c.is_alphanumeric() {
            push_lower(&mut current, c);
        }
        before = Some(c);
    }
    if !current.is_empty() {
        words.push(current);
    }
    words
}

fn push_lower(text: &mut String, c: char) {
    if c.is_ascii() {
        text.push(c.to_ascii_lowercase());
    } else {
        text.extend(c.to_lowercase());
    }
}

fn begins_word(before: char, c: char, after: Option<&char>) -> bool {
    let hump = before.is_lowercase() && c.is_uppercase();
    let last_capital =
        before.is_uppercase() && c.is_uppercase() && after.is_some_and(|next| next.is_lowercase());
    hump || last_capital || before.is_numeric() != c.is_numeric()
}

/// Letters and digits only, in lower case.
pub(crate) fn compact(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    text.chars().filter(|c| c.is_alphanumeric()).for_each(|c| push_lower(&mut letters, c));
    letters
}

/// The length in bytes of the common prefix of the names, letter case aside, if there are at least
/// three names and it has at least two bytes; else 0. Such a prefix names the table and not the
/// column (`custName`, `custCity`).
pub(crate) fn common_prefix(names: &[&str]) -> usize {
    let Some((first, others)) = names.split_first().filter(|_| names.len() >= 3) else { return 0 };
    let length = others
        .iter()
        .map(|other: &&str| {
            let same = first
                .bytes()
                .zip(other.bytes())
                .take_while(|(a, b)| a.eq_ignore_ascii_case(b) && a.is_ascii());
            same.count()
        })
        .min()
        .unwrap_or(0);
    if length < 2 { 0 } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_can_be_searched() {
        assert!(STOPS.is_sorted());
    }

    #[test]
    fn identifiers_are_cut_into_words() {
        assert_eq!(parts("song_release-year"), ["song", "release", "year"]);
        assert_eq!(parts("FullName"), ["full", "name"]);
        assert_eq!(parts("ISBNCode"), ["isbn", "code"]);
        assert_eq!(parts("address2b"), ["address", "2", "b"]);
        assert_eq!(parts("18_49_Rating"), ["18", "49", "rating"]);
        assert!(parts("--").is_empty());
    }

    #[test]
    fn plurals_meet_their_singulars() {
        let stems = Stems::default();
        for (one, many) in
            [("city", "cities"), ("person", "people"), ("singer", "singers"), ("woman", "women")]
        {
            assert_eq!(stems.stem(one), stems.stem(many), "{one}");
        }
    }

    #[test]
    fn questions_keep_what_they_are_about() {
        assert_eq!(content("Show the names of all singers."), ["names", "singers"]);
        assert_eq!(content("how many?"), ["how", "many"]);
    }

    #[test]
    fn short_words_are_written_out() {
        assert_eq!(Stems::default().stem_name("cust_no").long, ["custom", "number"]);
        assert!(Stems::default().stem_name("city").long.is_empty());
    }

    #[test]
    fn a_prefix_of_all_columns_is_found() {
        assert_eq!(common_prefix(&["sbCustId", "sbCustName", "sbcustCity"]), 6);
        assert_eq!(common_prefix(&["id", "name", "city"]), 0);
        assert_eq!(common_prefix(&["ab_x", "ab_y"]), 0);
    }
}
