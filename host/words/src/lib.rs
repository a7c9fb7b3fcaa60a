//! English words and the short names in schemas, for retrieval and for the rules of the offline
//! provider.
//!
//! Both compare questions with identifiers by the stems of their words. What only one of them needs
//! to know is in that crate.

use rust_stemmers::{Algorithm, Stemmer};

/// Words that occur in questions about anything, sorted.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "both",
    "but",
    "by",
    "can",
    "corresponding",
    "could",
    "did",
    "display",
    "do",
    "does",
    "each",
    "every",
    "find",
    "for",
    "from",
    "get",
    "give",
    "had",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "list",
    "many",
    "me",
    "much",
    "my",
    "of",
    "on",
    "only",
    "or",
    "our",
    "out",
    "per",
    "please",
    "provide",
    "return",
    "show",
    "so",
    "some",
    "such",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "under",
    "us",
    "use",
    "using",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Usual abbreviations in identifiers and what they stand for, sorted.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("abbrev", "abbreviation"),
    ("acct", "account"),
    ("addr", "address"),
    ("alt", "altitude"),
    ("amt", "amount"),
    ("arr", "arrival"),
    ("avg", "average"),
    ("cat", "category"),
    ("ccy", "currency"),
    ("cnt", "count"),
    ("ctry", "country"),
    ("cust", "customer"),
    ("datetime", "date time"),
    ("dep", "departure"),
    ("dept", "department"),
    ("desc", "description"),
    ("dest", "destination"),
    ("dist", "distance"),
    ("dob", "birth date"),
    ("dt", "date"),
    ("emp", "employee"),
    ("fname", "first name"),
    ("inv", "invoice"),
    ("lat", "latitude"),
    ("lname", "last name"),
    ("loc", "location"),
    ("lon", "longitude"),
    ("max", "maximum"),
    ("mgr", "manager"),
    ("min", "minimum"),
    ("mpg", "miles per gallon"),
    ("msg", "message"),
    ("nbr", "number"),
    ("no", "number"),
    ("num", "number"),
    ("org", "organization"),
    ("pct", "percent"),
    ("pop", "population"),
    ("prod", "product"),
    ("pub", "publication"),
    ("pwd", "password"),
    ("qty", "quantity"),
    ("ref", "reference"),
    ("stu", "student"),
    ("tel", "phone"),
    ("temp", "temperature"),
    ("ts", "timestamp"),
    ("tx", "transaction"),
    ("txn", "transaction"),
    ("yr", "year"),
];

/// Returns whether a word in lower case occurs in questions about anything, and so does not
/// distinguish one question from another.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Returns the words that an abbreviation in lower case stands for, such as `birth date` for `dob`;
/// one word or more, with spaces between them.
#[must_use]
pub fn abbreviation(word: &str) -> Option<&'static str> {
    let place = ABBREVIATIONS.binary_search_by_key(&word, |(short, _)| short).ok()?;
    ABBREVIATIONS.get(place).map(|(_, full)| *full)
}

/// Returns true if a word in lower case looks like a plural.
#[must_use]
pub fn looks_plural(word: &str) -> bool {
    singular(word) != word
        || (word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us"))
}

/// The singular of an irregular plural; any other word as it is.
#[must_use]
pub fn singular(word: &str) -> &str {
    match word {
        "people" | "persons" => "person",
        "salespeople" | "salespersons" => "salesperson",
        "children" => "child",
        "men" => "man",
        "women" => "woman",
        "mice" => "mouse",
        "feet" => "foot",
        "geese" => "goose",
        "teeth" => "tooth",
        other => other,
    }
}

/// The stem of a word in lower case, by Porter's second algorithm for English, after [`singular`].
#[must_use]
pub fn stem(word: &str) -> String {
    // A stemmer is a table of functions: making one costs nothing.
    Stemmer::create(Algorithm::English).stem(singular(word)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_can_be_searched() {
        assert!(STOP_WORDS.is_sorted() && ABBREVIATIONS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("singer"));
        assert_eq!((abbreviation("dob"), abbreviation("city")), (Some("birth date"), None));
    }

    #[test]
    fn plurals_and_singulars_have_one_stem() {
        for (one, many) in [
            ("country", "countries"),
            ("person", "people"),
            ("singer", "singers"),
            ("woman", "women"),
        ] {
            assert_eq!(stem(one), stem(many), "{one}");
        }
    }
}
