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
    ("mngr", "manager"),
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

/// Units at the end of names of columns, and how sentences have them, sorted.
const UNITS: &[(&str, &str)] = &[
    ("cent", "cents"),
    ("cents", "cents"),
    ("chf", "CHF"),
    ("cm", "cm"),
    ("eur", "EUR"),
    ("gbp", "GBP"),
    ("hours", "hours"),
    ("kg", "kg"),
    ("km", "km"),
    ("minutes", "minutes"),
    ("mm", "mm"),
    ("ms", "ms"),
    ("pct", "percent"),
    ("pence", "pence"),
    ("pennies", "pennies"),
    ("percent", "percent"),
    ("seconds", "seconds"),
    ("usd", "USD"),
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

/// Returns the unit that the last word of a column's name says, as sentences have it, and the
/// length of the name before that word: `cents` of `price_cents` and `priceCents`.
#[must_use]
pub fn unit(column: &str) -> Option<(&'static str, usize)> {
    fn is_sign(c: char) -> bool {
        !c.is_alphanumeric()
    }
    let word = column.rfind(is_sign).map_or(0, |at| at + 1);
    let mut begin = word;
    let mut was_lower = false;
    for (at, c) in column.get(word..)?.char_indices() {
        if was_lower && c.is_uppercase() {
            begin = word + at;
        }
        was_lower = c.is_lowercase();
    }
    let last = column.get(begin..)?.to_lowercase();
    let place = UNITS.binary_search_by_key(&last.as_str(), |(word, _)| word).ok()?;
    Some((UNITS.get(place)?.1, column[..begin].trim_end_matches(is_sign).len()))
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
        assert!(STOP_WORDS.is_sorted() && ABBREVIATIONS.is_sorted() && UNITS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("singer"));
        assert_eq!((abbreviation("dob"), abbreviation("city")), (Some("birth date"), None));
    }

    #[test]
    fn the_last_word_of_a_name_may_be_a_unit() {
        for (name, found) in [
            ("price_cents", Some(("cents", 5))),
            ("priceCents", Some(("cents", 5))),
            ("HEIGHT_CM", Some(("cm", 6))),
            ("discount pct", Some(("percent", 8))),
            ("hours", Some(("hours", 0))),
            ("größe_cm", Some(("cm", 7))),
            ("cents_total", None),
            ("accents", None),
            ("ü", None),
            ("", None),
        ] {
            assert_eq!(unit(name), found, "{name}");
        }
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
