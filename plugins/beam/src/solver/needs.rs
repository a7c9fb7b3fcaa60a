//! The requirements of a question on the shape of the result, read from its words, since there is
//! no specification of requirements.

use syrch_plugin::prelude::*;

use crate::solver::words::{UNITS, names, words};

/// The requirements that the words state.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Needs {
    /// True if something is counted, added up or averaged.
    pub(crate) aggregates: bool,
    /// The thing that one row stands for, if the words say so: a unit of time, or a word that the
    /// catalog has too.
    pub(crate) grain: Option<String>,
    /// The things that results are grouped by, as far as the catalog has columns or tables of that
    /// name.
    pub(crate) dimensions: Vec<String>,
    /// True if a time is named.
    pub(crate) has_time: bool,
}

const AGGREGATES: &[&str] = &["count", "total", "sum", "average", "avg", "minimum", "maximum"];
const GROUPING: &[&str] = &["per", "each", "every", "by"];
// After these words, `by` names an order or an agent, not a group.
const NOT_GROUPING: &[&str] =
    &["sort", "sorted", "order", "ordered", "rank", "ranked", "followed", "divided", "multiplied"];
const FILLERS: &[&str] = &[
    "the",
    "a",
    "an",
    "of",
    "different",
    "distinct",
    "single",
    "individual",
    "their",
    "its",
    "respective",
];
const ADVERBS: &[(&str, &str)] = &[
    ("daily", "day"),
    ("weekly", "week"),
    ("monthly", "month"),
    ("quarterly", "quarter"),
    ("yearly", "year"),
    ("annual", "year"),
    ("annually", "year"),
];
const MONTHS: &[&str] = &[
    "january",
    "february",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const RELATIVE: &[&str] = &["last", "this", "next", "past", "previous", "current"];

impl Needs {
    /// Reads them from a task's words.
    pub(crate) fn read(text: &str, catalog: &Catalog) -> Self {
        let words = words(text);
        let mut needs =
            Self { aggregates: aggregates(&words), has_time: has_time(&words), ..Self::default() };
        for (index, word) in words.iter().enumerate() {
            let adverb = ADVERBS
                .iter()
                .find(|(adverb, _)| adverb == word)
                .map(|(_, unit)| (*unit).to_owned());
            let Some(unit) = adverb.or_else(|| read_grouping(&words, index)) else { continue };
            let is_known = is_known(catalog, &unit);
            if needs.grain.is_none() && (is_known || UNITS.contains(&unit.as_str())) {
                needs.grain = Some(unit.clone());
            }
            if is_known && !needs.dimensions.contains(&unit) {
                needs.dimensions.push(unit);
            }
        }
        needs
    }
}

fn aggregates(words: &[String]) -> bool {
    let pair = |first: &str, second: &str| {
        words.windows(2).any(|pair| pair[0] == first && pair[1] == second)
    };
    pair("how", "many")
        || pair("number", "of")
        || words.iter().any(|word| AGGREGATES.contains(&word.as_str()))
}

/// The noun after `per`, `each`, `every` or a grouping `by`.
fn read_grouping(words: &[String], index: usize) -> Option<String> {
    let word = words[index].as_str();
    if !GROUPING.contains(&word) {
        return None;
    }
    let before = index.checked_sub(1).map(|before| words[before].as_str());
    if word == "by" && before.is_some_and(|before| NOT_GROUPING.contains(&before)) {
        return None;
    }
    fn is_filler(word: &&String) -> bool {
        FILLERS.contains(&word.as_str()) || GROUPING.contains(&word.as_str())
    }
    words[index + 1..].iter().find(|word| !is_filler(word)).cloned()
}

fn has_time(words: &[String]) -> bool {
    let is_year = |word: &String| word.len() == 4 && matches!(word.parse(), Ok(1900..=2099_u32));
    let is_named = |word: &String| {
        MONTHS.contains(&word.as_str()) || ["today", "yesterday"].contains(&word.as_str())
    };
    words.iter().any(|word| is_year(word) || is_named(word))
        || words.windows(2).any(|pair: &[String]| {
            RELATIVE.contains(&pair[0].as_str()) && UNITS.contains(&pair[1].as_str())
        })
}

fn is_known(catalog: &Catalog, word: &str) -> bool {
    catalog.tables.iter().any(|table| {
        names(&table.name, word) || table.columns.iter().any(|column| names(&column.name, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(text: &str) -> Needs {
        let column = |name: &str| Column { name: name.into(), ..Column::default() };
        let orders = Table {
            name: "orders".into(),
            columns: vec![column("id"), column("country"), column("ordered_at")],
            ..Table::default()
        };
        Needs::read(
            text,
            &Catalog {
                database: "shop".into(),
                dialect: Dialect::Sqlite,
                tables: vec![orders],
                ..Catalog::default()
            },
        )
    }

    fn read_grain_and_dimensions(text: &str) -> (Option<String>, Vec<String>) {
        let needs = needs(text);
        (needs.grain, needs.dimensions)
    }

    #[test]
    fn counting_and_adding_up_are_seen() {
        for text in
            ["How many orders?", "the number of orders", "Total of all orders", "average price"]
        {
            assert!(needs(text).aggregates, "{text}");
        }
        for text in ["Which orders are there?", "how do many orders look", "the phone number"] {
            assert!(!needs(text).aggregates, "{text}");
        }
    }

    #[test]
    fn grouping_words_name_the_grain() {
        fn country() -> (Option<String>, Vec<String>) {
            (Some("country".to_owned()), vec!["country".to_owned()])
        }
        assert_eq!(read_grain_and_dimensions("orders per country"), country());
        assert_eq!(read_grain_and_dimensions("the count for each of the countries"), country());
        assert_eq!(read_grain_and_dimensions("sales by country and by mood"), country());
        assert_eq!(read_grain_and_dimensions("monthly sales"), (Some("month".to_owned()), vec![]));
        // What the catalog does not have, and the order of rows, group nothing.
        assert_eq!(read_grain_and_dimensions("sales per mood, sorted by country"), (None, vec![]));
        assert_eq!(read_grain_and_dimensions("per"), (None, vec![]));
    }

    #[test]
    fn times_are_seen() {
        for text in
            ["orders in 2023", "since April", "the last month's orders", "what came yesterday"]
        {
            assert!(needs(text).has_time, "{text}");
        }
        for text in ["order 20231", "order 1500", "the last order", "each year"] {
            assert!(!needs(text).has_time, "{text}");
        }
    }
}
