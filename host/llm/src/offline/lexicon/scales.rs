//! Degrees: what comparatives, superlatives and `how old` measure, and in which direction.

/// A direction with words of the columns that it speaks about; none: of any column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Greatest first, or more than.
    pub(crate) up: bool,
    /// Words of columns that it measures; a leading `-` turns the direction around.
    pub(crate) of: &'static [&'static str],
}

const fn scale(up: bool, of: &'static [&'static str]) -> Scale {
    Scale { up, of }
}

const AGE: &[&str] = &["age", "-birth", "-born", "-year", "-date"];
pub(crate) const TIME: &[&str] = &["date", "year", "time", "datetime", "timestamp", "founded", "created"];
const PRICE: &[&str] = &["price", "cost", "amount"];
const HEIGHT: &[&str] = &["height", "altitude", "elevation"];
const LENGTH: &[&str] = &["length", "duration", "distance"];

/// What a superlative measures: `oldest`, `highest`, `most`.
pub(crate) fn superlative(lower: &str) -> Option<Scale> {
    Some(match lower {
        "highest" | "largest" | "biggest" | "greatest" | "most" | "maximum" | "max" | "maximal" | "best" | "top" => {
            scale(true, &[])
        }
        "lowest" | "smallest" | "least" | "fewest" | "minimum" | "min" | "minimal" | "worst" => scale(false, &[]),
        "oldest" => scale(true, AGE),
        "youngest" => scale(false, AGE),
        "tallest" => scale(true, HEIGHT),
        "shortest" => scale(false, &["length", "duration", "distance", "height"]),
        "longest" => scale(true, LENGTH),
        "heaviest" => scale(true, &["weight"]),
        "lightest" => scale(false, &["weight"]),
        "earliest" => scale(false, TIME),
        "latest" | "newest" | "recent" | "recently" => scale(true, TIME),
        "cheapest" => scale(false, PRICE),
        "priciest" | "expensive" => scale(true, PRICE),
        "fastest" => scale(true, &["speed"]),
        "slowest" => scale(false, &["speed"]),
        _ => return None,
    })
}

/// What a comparative measures: `older`, `higher`, `more`.
pub(crate) fn comparative(lower: &str) -> Option<Scale> {
    Some(match lower {
        "more" | "greater" | "higher" | "larger" | "bigger" | "above" | "over" | "exceeding" | "exceeds" | "exceed" => {
            scale(true, &[])
        }
        "less" | "fewer" | "lower" | "smaller" | "below" | "under" => scale(false, &[]),
        "older" => scale(true, AGE),
        "younger" => scale(false, AGE),
        "taller" => scale(true, HEIGHT),
        "shorter" => scale(false, &["length", "duration", "height"]),
        "longer" => scale(true, LENGTH),
        "heavier" => scale(true, &["weight"]),
        "lighter" => scale(false, &["weight"]),
        "later" | "newer" | "after" => scale(true, TIME),
        "earlier" | "before" => scale(false, TIME),
        "cheaper" => scale(false, PRICE),
        "faster" => scale(true, &["speed"]),
        "slower" => scale(false, &["speed"]),
        _ => return None,
    })
}

/// What `how old`, `how tall` ask for.
pub(crate) fn measure(lower: &str) -> &'static [&'static str] {
    match lower {
        "old" => &["age"],
        "tall" | "high" => HEIGHT,
        "long" => LENGTH,
        "heavy" | "weigh" => &["weight"],
        "expensive" => PRICE,
        "fast" => &["speed"],
        _ => &[],
    }
}
