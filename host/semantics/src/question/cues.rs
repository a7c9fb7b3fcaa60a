//! The words of questions that name no metric, dimension or value: those that ask for something,
//! and those that change nothing.

use super::time;

/// Words that change nothing where no rule applies to them.
const FILLERS: &[&str] = &[
    "a",
    "about",
    "achieve",
    "achieved",
    "all",
    "also",
    "altogether",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "both",
    "breakdown",
    "bring",
    "brought",
    "calculate",
    "came",
    "can",
    "come",
    "comes",
    "coming",
    "compute",
    "could",
    "did",
    "display",
    "do",
    "does",
    "figures",
    "find",
    "for",
    "from",
    "generate",
    "generated",
    "get",
    "give",
    "got",
    "had",
    "happened",
    "has",
    "have",
    "i",
    "in",
    "is",
    "like",
    "list",
    "made",
    "make",
    "me",
    "need",
    "of",
    "on",
    "only",
    "our",
    "please",
    "plot",
    "produce",
    "produced",
    "provide",
    "record",
    "recorded",
    "report",
    "saw",
    "see",
    "show",
    "tell",
    "that",
    "the",
    "there",
    "those",
    "to",
    "total",
    "us",
    "want",
    "was",
    "we",
    "were",
    "what",
    "with",
    "would",
    "you",
];

/// Further words that mean something to the rules.
const OTHERS: &[&str] = &[
    "ascending",
    "average",
    "before",
    "after",
    "between",
    "bottom",
    "by",
    "change",
    "compared",
    "cumulative",
    "current",
    "descending",
    "each",
    "every",
    "except",
    "excluding",
    "first",
    "growth",
    "highest",
    "largest",
    "last",
    "least",
    "lowest",
    "may",
    "march",
    "mean",
    "most",
    "number",
    "percent",
    "previous",
    "running",
    "second",
    "share",
    "since",
    "sorted",
    "third",
    "this",
    "today",
    "top",
    "trend",
    "until",
    "versus",
    "vs",
    "without",
    "yesterday",
];

/// Words that ask for the greatest.
const MOST: &[&str] = &["biggest", "greatest", "highest", "largest", "maximum", "most"];
/// Words that ask for the least.
const LEAST: &[&str] = &["fewest", "least", "lowest", "minimum", "smallest"];

/// Prepositions before values that say nothing of whose values they are.
pub(super) const PLACED: &[&str] = &["at", "for", "from", "in", "of", "outside", "to"];
/// Words in the names of dimensions that hold places.
pub(super) const PLACES: &[&str] = &[
    "address",
    "airport",
    "city",
    "continent",
    "country",
    "county",
    "district",
    "land",
    "location",
    "nation",
    "place",
    "province",
    "region",
    "state",
    "territory",
    "town",
];
/// Words that ask for rows rather than for a number of them.
pub(super) const LISTS: &[&str] = &["find", "get", "list", "name", "return"];
/// Words that refer to something before them where they end a question.
pub(super) const REFERENCES: &[&str] = &["that", "these", "this", "those"];
/// Words that ask for rows, or for a number where it is asked for as such.
pub(super) const SHOWS: &[&str] = &["display", "give", "provide", "see", "show", "tell"];
/// Words before these.
pub(super) const POLITE: &[&str] =
    &["can", "could", "i", "like", "need", "please", "to", "us", "want", "we", "would", "you"];
/// Words that exclude what follows.
pub(super) const NEGATIONS: &[&str] = &[
    "apart from",
    "all but",
    "all except",
    "but not",
    "drop",
    "everything but",
    "everything except",
    "except",
    "except for",
    "exclude",
    "excluding",
    "hide",
    "ignore",
    "ignoring",
    "leave out",
    "non",
    "not",
    "omit",
    "other than",
    "remove",
    "outside",
    "outside of",
    "without",
];
/// Words that begin a breakdown.
pub(super) const GROUPS: &[&str] = &[
    "across",
    "break down by",
    "break it down by",
    "break them down by",
    "broken down by",
    "broken out by",
    "by",
    "by each",
    "each",
    "every",
    "for each",
    "for every",
    "grouped by",
    "in each",
    "in every",
    "inside each",
    "of each",
    "per",
    "split by",
    "split it by",
    "split up by",
    "within each",
    "within every",
];
/// Those of them that make groups of their own for a ranking.
pub(super) const EACH: &[&str] = &[
    "each",
    "every",
    "for each",
    "for every",
    "in each",
    "in every",
    "inside each",
    "of each",
    "per",
    "within each",
    "within every",
];
/// Those of them that make wholes for shares.
pub(super) const WITHIN: &[&str] =
    &["in each", "in every", "inside each", "within each", "within every"];
/// Words that begin a comparison.
pub(super) const COMPARISONS: &[&str] = &[
    "against",
    "compare to",
    "compare with",
    "compared against",
    "compared to",
    "compared with",
    "in comparison to",
    "in comparison with",
    "relative to",
    "versus",
    "vs",
];
/// The same period a year before.
pub(super) const YEAR_AGO: &[&str] = &[
    "a year ago",
    "a year before",
    "a year earlier",
    "one year ago",
    "one year before",
    "one year earlier",
    "the same period a year ago",
    "the same period a year before",
    "the same period a year earlier",
    "the same period last year",
    "the same period of last year",
    "the same period of the previous year",
    "the same period in the previous year",
];
/// Words for a relative change.
pub(super) const GROWTHS: &[&str] = &[
    "grew",
    "grow",
    "grown",
    "growth",
    "growth rate",
    "percent change",
    "percent change in",
    "percentage change",
    "percentage change in",
    "percentage change of",
    "percent growth",
    "percentage growth",
    "relative change",
    "relative change in",
    "relative change of",
];
/// Words for a running total.
pub(super) const RUNNING: &[&str] = &[
    "accumulated",
    "cumulated",
    "cumulative",
    "cumulatively",
    "running sum",
    "running sum of",
    "running total",
    "running total of",
];
/// Words for a share.
pub(super) const SHARES: &[&str] = &[
    "fraction",
    "percent",
    "percent of the total",
    "percent of total",
    "percentage",
    "percentage of the total",
    "percentage of total",
    "proportion",
    "share",
    "share of the total",
    "share of total",
    "shares",
];
/// Words for the values over time.
pub(super) const TRENDS: &[&str] =
    &["development of", "evolution of", "over time", "trend for", "trend in", "trend of", "trend"];
/// Verbs that ask for the values over time behind `how did`.
pub(super) const CHANGES: &[&str] =
    &["change", "changed", "develop", "developed", "evolve", "evolved"];
/// Words before a number of things.
pub(super) const COUNTS: &[&str] =
    &["count of", "how many", "how many of", "number of", "total number of", "total count of"];
/// Words before a mean.
pub(super) const AVERAGES: &[&str] =
    &["average", "average number of", "average of", "mean", "mean number of", "on average"];
/// Words before a sum.
pub(super) const TOTALS: &[&str] = &["in total", "overall", "sum of", "total", "total of"];
/// Words for an order.
pub(super) const SORTS: &[&str] = &[
    "ordered by",
    "order by",
    "order it by",
    "order them by",
    "rank by",
    "ranked by",
    "sort by",
    "sort it by",
    "sort them by",
    "sorted by",
];
/// Words for an order by the names of the groups.
pub(super) const BY_NAME: &[&str] = &[
    "alphabetically",
    "in alphabetical order",
    "order alphabetically",
    "ordered by name",
    "sort alphabetically",
    "sort by name",
    "sort it by name",
    "sort them alphabetically",
    "sort them by name",
    "sorted alphabetically",
    "sorted by name",
];
/// Words for an order from the greatest on.
pub(super) const DESCENDING: &[&str] = &[
    "biggest first",
    "descending",
    "from highest to lowest",
    "from largest to smallest",
    "greatest first",
    "highest first",
    "in descending order",
    "largest first",
    "most first",
    "the highest first",
    "the largest first",
    "desc",
];
/// Words for an order from the least on.
pub(super) const ASCENDING: &[&str] = &[
    "asc",
    "ascending",
    "from lowest to highest",
    "from smallest to largest",
    "in ascending order",
    "least first",
    "lowest first",
    "smallest first",
    "the lowest first",
    "the smallest first",
];

/// Returns true if a word in lower case changes nothing where no rule applies to it.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.binary_search(&word).is_ok()
}

/// Returns true if a word in lower case means something to the rules, whatever cells there are.
pub(super) fn is_cue(word: &str) -> bool {
    OTHERS.contains(&word) || time::unit(word).is_some() || time::adverb(word).is_some()
}

/// True for the greatest and false for the least, where a word asks for one.
pub(super) fn superlative(word: &str) -> Option<bool> {
    if MOST.contains(&word) {
        return Some(true);
    }
    LEAST.contains(&word).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_can_be_searched() {
        let mut sorted = FILLERS.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, FILLERS);
    }
}
