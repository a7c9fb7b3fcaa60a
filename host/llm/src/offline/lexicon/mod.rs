//! General English and the usual words of schemas, as tables. Nothing here knows any particular database.

mod negations;
mod scales;
mod spellings;

use std::sync::LazyLock;

pub(crate) use negations::{NEGATIONS, directed, lacks, opens_clause};
pub(crate) use scales::{JUDGEMENTS, Scale, comparative, extent, measure, superlative};
pub(crate) use spellings::spellings;

use super::words;

/// Words that carry no meaning of their own in a question.
pub(crate) const STOP: &[&str] = &[
    "a",
    "about",
    "across",
    "all",
    "also",
    "am",
    "among",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "belong",
    "belonging",
    "belongs",
    "both",
    "but",
    "by",
    "can",
    "come",
    "comes",
    "could",
    "corresponding",
    "correspond",
    "database",
    "did",
    "display",
    "do",
    "does",
    "ever",
    "exist",
    "exists",
    "fetch",
    "find",
    "for",
    "from",
    "get",
    "give",
    "got",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "his",
    "i",
    "if",
    "in",
    "information",
    "into",
    "is",
    "it",
    "its",
    "list",
    "listed",
    "many",
    "me",
    "much",
    "my",
    "of",
    "off",
    "on",
    "one",
    "only",
    "or",
    "our",
    "out",
    "please",
    "provide",
    "record",
    "records",
    "report",
    "respective",
    "result",
    "results",
    "retrieve",
    "return",
    "select",
    "she",
    "show",
    "so",
    "some",
    "such",
    "table",
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
    "together",
    "under",
    "us",
    "used",
    "using",
    "use",
    "uses",
    "value",
    "values",
    "was",
    "we",
    "well",
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
    "along",
    "each",
    "every",
    "per",
    "along",
    "given",
    "how",
    "associated",
    "done",
    "made",
    "make",
    "makes",
    "placed",
    "live",
    "lives",
    "living",
    "reside",
    "resides",
    "residing",
    "based",
    "situated",
];

/// Stems of the words for those to whom others report.
pub(crate) const SUPERIORS: &[&str] = &["manag", "supervisor", "boss", "superior", "chief", "leader", "report"];

/// Words that open a condition: what follows them is rarely asked for.
pub(crate) const TRIGGERS: &[&str] = &[
    "who", "whose", "whom", "that", "which", "where", "with", "having", "has", "have", "had", "when", "without",
    "whenever", "if", "in", "from", "named", "called", "titled", "using", "used", "made", "located", "written", "by",
    "above", "below", "under", "over", "after", "before", "on", "between",
];

/// Stems that say that a table is one.
pub(crate) const CONTAINERS: &[&str] = &["data", "list", "info", "inform", "detail", "tabl", "record", "ref", "tbl"];

/// Stems too general to stand for a table alone.
pub(crate) const GENERAL: &[&str] = &["name", "id", "type", "code", "number", "state", "date", "year", "in", "status"];

/// Words that are stop words unless they are, with their neighbours, the whole name of a column.
pub(crate) const SOFT: &[&str] = &[
    "result",
    "results",
    "value",
    "values",
    "record",
    "records",
    "information",
    "table",
    "tables",
    "list",
    "report",
    "made",
    "make",
    "makes",
    "used",
    "given",
    "last",
    "first",
];

/// Verbs that open a request.
pub(crate) const REQUESTS: &[&str] =
    &["list", "show", "return", "give", "find", "display", "provide", "tell", "get", "report", "sort", "order"];

const SYNONYMS: &[&[&str]] = &[
    &["nation", "country", "nationality"],
    &["town", "city"],
    &["location", "place", "locate", "located"],
    &["salary", "wage", "pay", "income", "earning"],
    &["price", "cost", "expense", "expensive", "cheap"],
    &["gender", "sex"],
    &["pupil", "student"],
    &["instructor", "teacher"],
    &["store", "shop"],
    &["title", "name", "named", "titled"],
    &["worker", "employee", "staff"],
    &["movie", "film"],
    &["vehicle", "automobile", "car"],
    &["manufacturer", "maker", "producer"],
    &["company", "firm", "organization", "business"],
    &["phone", "telephone"],
    &["kind", "type", "category"],
    &["author", "writer"],
    &["song", "track"],
    &["client", "customer", "buyer"],
    &["choice", "option"],
    &["number", "count", "amount", "quantity"],
    &["person", "individual", "member"],
    &["seller", "salesperson"],
    &["age", "old"],
    &["height", "tall"],
    &["weight", "weigh", "heavy"],
    &["length", "long"],
    &["birth", "born"],
    &["destination", "arrive", "arrival", "land", "arriving"],
    &["source", "origin", "depart", "departure", "leave"],
    &["rate", "rating", "score"],
    &["speed", "fast"],
    &["altitude", "elevation", "height"],
    &["salesperson", "salesman", "seller"],
    &["begin", "start"],
    &["finish", "end"],
    &["user", "reader"],
    &["picture", "photo", "image"],
    &["spend", "spent", "expense"],
    &["kill", "death", "dead"],
    &["creation", "create", "created"],
    &["text", "message", "content"],
];

/// The stems of the words that mean the same as the word of that stem.
pub(crate) fn synonyms(stem: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    static STEMS: LazyLock<Vec<Vec<String>>> =
        LazyLock::new(|| SYNONYMS.iter().map(|group| group.iter().map(|word| words::stem(word)).collect()).collect());
    let groups = STEMS.iter().filter(move |group| group.iter().any(|member| member == stem));
    groups.flatten().map(String::as_str).filter(move |member| *member != stem)
}

/// The regular form of an irregular plural.
pub(crate) fn regular(lower: &str) -> &str {
    match lower {
        "people" | "persons" => "person",
        "children" => "child",
        "men" => "man",
        "women" => "woman",
        "mice" => "mouse",
        "feet" => "foot",
        "salespeople" | "salespersons" => "salesperson",
        "data" => "data",
        other => other,
    }
}

/// Digits of a number in words.
pub(crate) fn number_word(lower: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("one", "1"),
        ("single", "1"),
        ("two", "2"),
        ("three", "3"),
        ("four", "4"),
        ("five", "5"),
        ("six", "6"),
        ("seven", "7"),
        ("eight", "8"),
        ("nine", "9"),
        ("ten", "10"),
        ("eleven", "11"),
        ("twelve", "12"),
        ("twenty", "20"),
        ("fifty", "50"),
        ("hundred", "100"),
        ("thousand", "1000"),
        ("million", "1000000"),
        ("once", "1"),
        ("twice", "2"),
    ];
    WORDS.iter().find(|(word, _)| *word == lower).map(|(_, digits)| *digits)
}

/// What a word multiplies the number before it by.
pub(crate) fn power_of_ten(lower: &str) -> Option<f64> {
    match lower {
        "dozen" => Some(12.0),
        "hundred" => Some(1e2),
        "thousand" => Some(1e3),
        "million" | "millions" => Some(1e6),
        "billion" | "billions" => Some(1e9),
        _ => None,
    }
}

/// What usual abbreviations in identifiers stand for.
pub(crate) fn abbreviation(word: &str) -> Option<&'static str> {
    const FULL: &[(&str, &str)] = &[
        ("num", "number"),
        ("no", "number"),
        ("nbr", "number"),
        ("fname", "first name"),
        ("lname", "last name"),
        ("qty", "quantity"),
        ("amt", "amount"),
        ("desc", "description"),
        ("dob", "birth date"),
        ("addr", "address"),
        ("tel", "phone"),
        ("cust", "customer"),
        ("stu", "student"),
        ("emp", "employee"),
        ("dept", "department"),
        ("mgr", "manager"),
        ("prod", "product"),
        ("avg", "average"),
        ("cnt", "count"),
        ("yr", "year"),
        ("loc", "location"),
        ("org", "organization"),
        ("dest", "destination"),
        ("abbrev", "abbreviation"),
        ("mpg", "miles per gallon"),
        ("tx", "transaction"),
        ("txn", "transaction"),
        ("ccy", "currency"),
        ("lat", "latitude"),
        ("lon", "longitude"),
        ("pct", "percent"),
        ("temp", "temperature"),
        ("msg", "message"),
        ("cat", "category"),
        ("dt", "date"),
        ("ts", "timestamp"),
        ("pwd", "password"),
        ("acct", "account"),
        ("dist", "distance"),
        ("max", "maximum"),
        ("min", "minimum"),
        ("datetime", "date time"),
    ];
    FULL.iter().find(|(short, _)| *short == word).map(|(_, full)| *full)
}

/// Usual last words of identifiers that are written together with the word before.
pub(crate) const TAILS: &[&str] = &[
    "name",
    "code",
    "date",
    "type",
    "number",
    "email",
    "phone",
    "address",
    "city",
    "state",
    "country",
    "status",
    "price",
    "amount",
    "symbol",
    "exchange",
    "currency",
    "volume",
    "datetime",
    "shares",
    "commission",
    "abbrev",
    "no",
    "id",
];

/// Words that end like a tail and are whole.
pub(crate) const WHOLE: &[&str] = &[
    "estate",
    "username",
    "paid",
    "said",
    "avoid",
    "grid",
    "valid",
    "solid",
    "raid",
    "rapid",
    "liquid",
    "update",
    "candidate",
    "piano",
    "volcano",
    "casino",
    "capacity",
    "void",
    "android",
    "interstate",
    "surname",
    "nickname",
    "domino",
    "techno",
    "kimono",
    "inferno",
    "prototype",
    "velocity",
    "unpaid",
    "covid",
    "hybrid",
    "orchid",
    "pyramid",
];

/// Adjectives of frequency after `most` and `least`.
pub(crate) const FREQUENT: &[&str] =
    &["common", "commonly", "popular", "frequent", "frequently", "prevalent", "often", "times"];

/// Stems of columns that hold texts in words.
pub(crate) const PROSE: &[&str] =
    &["comment", "descript", "text", "note", "messag", "content", "summari", "remark", "bodi"];

/// Words that ask for arithmetic that no rule makes.
pub(crate) const BEYOND: &[&str] = &[
    "ratio",
    "proportion",
    "percentage",
    "percent",
    "difference",
    "change",
    "rank",
    "growth",
    "rate",
    "median",
    "relative",
    "monthly",
    "weekly",
    "daily",
    "quarterly",
    "annual",
    "week",
    "weeks",
    "weekend",
    "weekends",
    "past",
    "same",
    "correlation",
    "cumulative",
    "second",
    "third",
    "fourth",
    "fifth",
    "next",
    "previous",
    "consecutive",
    "unless",
    "exactly",
    "nearly",
    "almost",
    "approximately",
];

/// Words of columns that hold places.
pub(crate) const PLACES: &[&str] = &[
    "city",
    "country",
    "state",
    "town",
    "location",
    "place",
    "address",
    "region",
    "county",
    "hometown",
    "street",
    "destination",
    "origin",
    "nationality",
    "venue",
    "district",
    "continent",
    "neighbourhood",
    "neighborhood",
    "airport",
    "village",
    "province",
    "site",
    "capital",
];

/// Words that say that a column of dates or years is meant.
pub(crate) const TIME_WORDS: &[&str] = scales::TIME;
