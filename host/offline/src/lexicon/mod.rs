//! General English and the usual words of schemas, as tables. Nothing here knows any particular
//! database.

mod negations;
mod scales;
mod spellings;

use std::sync::LazyLock;

pub(crate) use negations::{NEGATIONS, describes_order, means_absence, opens_clause};
pub(crate) use scales::{JUDGEMENTS, Scale, comparative_scale, extent, measure, superlative_scale};
pub(crate) use spellings::spellings;

/// Words that carry no meaning of their own for the rules, beside the stop words of every question.
const STOP: &[&str] = &[
    "across",
    "along",
    "am",
    "among",
    "associated",
    "based",
    "being",
    "belong",
    "belonging",
    "belongs",
    "come",
    "comes",
    "correspond",
    "database",
    "done",
    "ever",
    "exist",
    "exists",
    "fetch",
    "given",
    "go",
    "goes",
    "got",
    "happen",
    "happened",
    "happens",
    "occur",
    "occurred",
    "occurs",
    "went",
    "having",
    "he",
    "her",
    "his",
    "information",
    "listed",
    "live",
    "lives",
    "living",
    "made",
    "make",
    "makes",
    "off",
    "one",
    "placed",
    "record",
    "records",
    "report",
    "reside",
    "resides",
    "residing",
    "respective",
    "result",
    "results",
    "retrieve",
    "select",
    "she",
    "situated",
    "table",
    "together",
    "used",
    "uses",
    "value",
    "values",
    "well",
];

/// Returns true if a word in lower case carries no meaning of its own in a question.
pub(crate) fn is_stop_word(lower: &str) -> bool {
    syrch_words::is_stop_word(lower) || STOP.contains(&lower)
}

/// Returns whether a word in lower case mostly carries no meaning, and may still be a column or a
/// cell: `done`.
pub(crate) fn is_filler(lower: &str) -> bool {
    STOP.contains(&lower)
}

/// Stems of words for superiors.
pub(crate) const SUPERIORS: &[&str] =
    &["manag", "supervisor", "boss", "superior", "chief", "leader", "report"];

/// Words that open a condition: what follows them is rarely asked for.
pub(crate) const TRIGGERS: &[&str] = &[
    "who", "whose", "whom", "that", "which", "where", "with", "having", "has", "have", "had",
    "when", "without", "whenever", "if", "in", "from", "named", "called", "titled", "using",
    "used", "made", "located", "written", "by", "above", "below", "under", "over", "after",
    "before", "on", "between",
];

/// Stems in the names of tables that only mean a table.
pub(crate) const CONTAINERS: &[&str] =
    &["data", "list", "info", "inform", "detail", "tabl", "record", "refer", "tbl"];

/// Stems too general to stand for a table alone.
pub(crate) const GENERAL: &[&str] =
    &["name", "id", "type", "code", "number", "state", "date", "year", "in", "status"];

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
pub(crate) const REQUESTS: &[&str] = &[
    "list", "show", "return", "give", "find", "display", "provide", "tell", "get", "report",
    "sort", "order",
];

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
    &["manufacturer", "mfr", "mfg", "maker", "producer"],
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
    &["weight", "weigh", "heavy", "mass"],
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
    &["population", "people", "inhabitant", "resident"],
    &["kill", "death", "dead"],
    &["creation", "create", "created"],
    &["text", "message", "content"],
];

/// The stems of the words that mean the same as the word of that stem.
pub(crate) fn synonyms(stem: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    static STEMS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
        SYNONYMS
            .iter()
            .map(|group| group.iter().map(|word| syrch_words::stem(word)).collect())
            .collect()
    });
    let groups = STEMS.iter().filter(move |group| group.iter().any(|member| member == stem));
    groups.flatten().map(String::as_str).filter(move |member| *member != stem)
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
        ("thirteen", "13"),
        ("fourteen", "14"),
        ("fifteen", "15"),
        ("sixteen", "16"),
        ("seventeen", "17"),
        ("eighteen", "18"),
        ("nineteen", "19"),
        ("twenty", "20"),
        ("thirty", "30"),
        ("forty", "40"),
        ("fifty", "50"),
        ("sixty", "60"),
        ("seventy", "70"),
        ("eighty", "80"),
        ("ninety", "90"),
        ("hundred", "100"),
        ("thousand", "1000"),
        ("million", "1000000"),
        ("once", "1"),
        ("twice", "2"),
    ];
    WORDS.iter().find(|(word, _)| *word == lower).map(|(_, digits)| *digits)
}

/// Returns the factor by which a word multiplies the number before it.
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

/// Words before what holds the values of which one is frequent.
pub(crate) const WITHIN: &[&str] = &["across", "among", "amongst", "in", "within"];

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
    "share",
    "fraction",
    "mode",
    "variance",
    "deviation",
    "quartile",
    "percentile",
    "range",
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
    "non",
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

/// Words for times that depend on today or that no column holds.
pub(crate) const TIMES: &[&str] = &[
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "now",
    "currently",
    "ago",
    "recently",
    "morning",
    "afternoon",
    "evening",
    "night",
    "midnight",
    "noon",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "weekday",
    "weekdays",
    "spring",
    "summer",
    "autumn",
    "winter",
    "quarter",
    "hourly",
    "yearly",
    "decade",
    "century",
];

/// Words for the rows of any table.
pub(crate) const ROWS: &[&str] =
    &["row", "rows", "record", "records", "entry", "entries", "observation", "observations"];

/// Words of columns whose values are added up where a total of rows is asked for.
pub(crate) const AMOUNTS: &[&str] = &["amount", "total", "revenue", "value"];

/// Further words of columns whose values are added up.
pub(crate) const ADDED: &[&str] = &[
    "sales",
    "profit",
    "quantity",
    "units",
    "turnover",
    "earnings",
    "spending",
    "precipitation",
    "rain",
    "rainfall",
    "snowfall",
    "votes",
    "goals",
    "deaths",
];

/// Words of columns whose values are not added up, whatever else their names say.
pub(crate) const RATES: &[&str] = &[
    "price",
    "rate",
    "average",
    "avg",
    "mean",
    "median",
    "margin",
    "percent",
    "percentage",
    "ratio",
    "share",
    "max",
    "min",
    "rank",
    "per",
    "target",
];

/// Words of columns of which more is worse.
pub(crate) const HARMS: &[&str] = &[
    "delay",
    "late",
    "lateness",
    "mortality",
    "death",
    "deaths",
    "murder",
    "crime",
    "accident",
    "error",
    "loss",
    "losses",
    "pollution",
    "poverty",
    "unemployment",
    "inflation",
    "debt",
    "defect",
    "complaint",
    "injury",
    "failure",
    "price",
    "cost",
    "waiting",
    "rank",
    "place",
    "position",
    "time",
];

/// Words of columns that hold how much there is at a time: the numbers of several times do not add
/// up.
pub(crate) const STANDING: &[&str] = &[
    "population",
    "pop",
    "inhabitant",
    "stock",
    "inventory",
    "balance",
    "headcount",
    "staff",
    "capacity",
    "debt",
];

/// Words of columns of money, whose whole numbers number no rows.
pub(crate) const MONEY: &[&str] = &[
    "salary", "wage", "price", "cost", "amount", "fee", "tip", "bill", "income", "revenue",
    "sales", "payment", "profit", "expense", "budget", "score", "rating",
];

/// Words for the whole of an amount, at the end of a question.
pub(crate) const TOTALS: &[&str] = &["total", "altogether", "overall"];

/// Participles of irregular verbs.
pub(crate) const PARTICIPLES: &[&str] = &[
    "paid", "sent", "sold", "left", "built", "born", "begun", "seen", "taken", "given", "lost",
    "won", "written", "made", "bought",
];

/// Words that belong to the verb before them: `signed up`.
pub(crate) const PARTICLES: &[&str] = &["up", "in", "out", "off", "down"];

/// Participles before `on` and `at` that say where something is, and not when it happened.
pub(crate) const LOCATED: &[&str] =
    &["based", "located", "hosted", "situated", "employed", "focused", "deployed"];

/// Words of columns that say when the rows of a table happened.
pub(crate) const HAPPENINGS: &[&str] = &[
    "started",
    "begun",
    "began",
    "opened",
    "ordered",
    "placed",
    "occurred",
    "happened",
    "booked",
    "visited",
    "admitted",
    "event",
    "transaction",
];

/// Words of columns that say when something began that may last.
pub(crate) const OPENINGS: &[&str] = &["started", "begun", "began", "opened"];

/// Words of columns that say when something ended.
pub(crate) const ENDS: &[&str] = &["end", "finished", "closed", "until", "expired", "completed"];

/// Words for a column of dates or years.
pub(crate) const TIME_WORDS: &[&str] = scales::TIME;
