//! Degrees: what comparatives, superlatives and `how old` measure, and in which direction.

/// A direction with words of the columns that it applies to; without words, to any column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Greatest first, or more than.
    pub(crate) up: bool,
    /// Words of columns that it measures; a leading `-` reverses the direction.
    pub(crate) of: &'static [&'static str],
    /// True if it counts the things named after it: `the most books`, but not `the biggest books`.
    pub(crate) counts: bool,
}

impl Scale {
    /// Returns true if it measures a length, which for a text is the number of its characters.
    pub(crate) fn is_length(&self) -> bool {
        self.of.contains(&"length")
    }
}

const fn scale(up: bool, of: &'static [&'static str]) -> Scale {
    Scale { up, of, counts: false }
}

const AGE: &[&str] =
    &["age", "-birth", "-born", "-year", "-date", "-founded", "-built", "-established", "-opened"];
pub(crate) const TIME: &[&str] =
    &["date", "year", "time", "datetime", "timestamp", "founded", "created"];
const PRICE: &[&str] = &["price", "cost", "amount"];
const HEIGHT: &[&str] = &["height", "altitude", "elevation"];
/// Words of columns with ratings.
pub(crate) const JUDGEMENTS: &[&str] = &["rating", "score", "star", "grade"];
const LENGTH: &[&str] = &["length", "duration", "distance"];
const WEIGHT: &[&str] = &["weight", "mass"];
const DISTANCE: &[&str] = &["distance"];
const PEOPLE: &[&str] = &["population"];
const HEAT: &[&str] = &["temperature"];

/// Returns the scale on which a superlative measures: `oldest`, `highest`, `most`.
pub(crate) fn superlative_scale(lower: &str) -> Option<Scale> {
    Some(match lower {
        "most" => Scale { counts: true, ..scale(true, &[]) },
        "least" | "fewest" => Scale { counts: true, ..scale(false, &[]) },
        "highest" | "largest" | "biggest" | "greatest" | "maximum" | "max" | "maximal" | "best"
        | "top" => scale(true, &[]),
        "lowest" | "smallest" | "minimum" | "min" | "minimal" | "worst" => scale(false, &[]),
        "oldest" => scale(true, AGE),
        "youngest" => scale(false, AGE),
        "tallest" => scale(true, HEIGHT),
        "shortest" => scale(false, &["length", "duration", "distance", "height"]),
        "longest" => scale(true, LENGTH),
        "heaviest" => scale(true, WEIGHT),
        "lightest" => scale(false, WEIGHT),
        "earliest" => scale(false, TIME),
        "latest" | "newest" | "recent" | "recently" => scale(true, TIME),
        "cheapest" => scale(false, PRICE),
        "priciest" | "expensive" => scale(true, PRICE),
        "fastest" => scale(true, &["speed"]),
        "slowest" => scale(false, &["speed"]),
        "farthest" | "furthest" => scale(true, DISTANCE),
        "nearest" | "closest" => scale(false, DISTANCE),
        "deepest" => scale(true, &["depth"]),
        "shallowest" => scale(false, &["depth"]),
        "widest" => scale(true, &["width"]),
        "narrowest" => scale(false, &["width"]),
        "hottest" | "warmest" => scale(true, HEAT),
        "coldest" | "coolest" => scale(false, HEAT),
        "wettest" | "rainiest" => scale(true, &["precipitation", "rain", "rainfall"]),
        "windiest" => scale(true, &["wind"]),
        "richest" => scale(true, &["wealth", "worth", "income", "revenue", "salary"]),
        "poorest" => scale(false, &["wealth", "worth", "income", "revenue", "salary"]),
        "populous" => scale(true, PEOPLE),
        "profitable" => scale(true, &["profit", "earnings", "income"]),
        "powerful" => scale(true, &["power", "horsepower", "hp"]),
        _ => return None,
    })
}

/// Returns the names of the columns with the extent that a superlative means of a thing itself: the
/// highest mountain, the largest lake. A table that has several of these does not say which is
/// meant.
pub(crate) fn extent(lower: &str) -> &'static [&'static str] {
    match lower {
        "highest" | "lowest" => HEIGHT,
        "largest" | "biggest" | "smallest" | "greatest" => &[
            "size",
            "area",
            "population",
            "capacity",
            "volume",
            "budget",
            "revenue",
            "amount",
            "total",
            "length",
            "weight",
        ],
        "best" | "worst" | "top" => JUDGEMENTS,
        _ => &[],
    }
}

/// Returns the scale on which a comparative measures: `older`, `higher`, `more`.
pub(crate) fn comparative_scale(lower: &str) -> Option<Scale> {
    Some(match lower {
        "more" | "greater" | "higher" | "larger" | "bigger" | "above" | "over" | "exceeding"
        | "exceeds" | "exceed" => scale(true, &[]),
        "less" | "fewer" | "lower" | "smaller" | "below" | "under" => scale(false, &[]),
        "older" => scale(true, AGE),
        "younger" => scale(false, AGE),
        "taller" => scale(true, HEIGHT),
        "shorter" => scale(false, &["length", "duration", "height"]),
        "longer" => scale(true, LENGTH),
        "heavier" => scale(true, WEIGHT),
        "lighter" => scale(false, WEIGHT),
        "later" | "newer" | "after" => scale(true, TIME),
        "earlier" | "before" => scale(false, TIME),
        "cheaper" => scale(false, PRICE),
        "faster" => scale(true, &["speed"]),
        "slower" => scale(false, &["speed"]),
        _ => return None,
    })
}

/// Returns the names of the columns that `how old` or `how tall` asks for.
pub(crate) fn measure(lower: &str) -> &'static [&'static str] {
    match lower {
        "old" => &["age"],
        "tall" | "high" => HEIGHT,
        "long" => LENGTH,
        "heavy" | "weigh" => WEIGHT,
        "expensive" => PRICE,
        "fast" => &["speed"],
        _ => &[],
    }
}
