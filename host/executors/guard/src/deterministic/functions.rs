//! The functions of statements that give the same rows on every plan, by dialect.

use syrch_core::WordList;

use crate::admission::LISTED;

/// The class of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Aggregate,
    /// A window function whose result does not depend on the order of equal rows.
    Ranking,
    Scalar,
    /// Its result depends on the order of rows.
    Ordered,
    /// Its result depends on the time of day.
    Clock,
    /// A table function: it returns rows.
    Rows,
    /// It is not listed.
    Unknown,
}

/// Functions of SQLite. `syrch_sqlite` lists those that may run at all.
pub(crate) static SQLITE: WordList =
    WordList::new(include_str!("../functions/sqlite-deterministic.txt"));

/// Aggregates whose result does not depend on the order of rows, where sums are exact.
static AGGREGATES: WordList = WordList::new(include_str!("aggregates.txt"));

const RANKINGS: [&str; 4] = ["cume_dist", "dense_rank", "percent_rank", "rank"];

/// Functions whose result depends on the order of rows: aggregates that list what they find, and
/// window functions that count or pick rows.
static ORDERED: WordList = WordList::new(include_str!("ordered.txt"));

static CLOCKS: WordList = WordList::new(include_str!("clocks.txt"));

/// Functions of PostgreSQL that make rows.
static ROWS: WordList = WordList::new(include_str!("rows.txt"));

/// The class of a function, by its name in lower case and the number of its arguments.
pub(super) fn class(name: &str, arguments: usize, is_sqlite: bool) -> Class {
    if ORDERED.has(name) {
        Class::Ordered
    } else if CLOCKS.has(name) || (!is_sqlite && name == "age" && arguments == 1) {
        Class::Clock
    } else if ROWS.has(name) {
        Class::Rows
    } else if !((if is_sqlite { &SQLITE } else { &LISTED }).has(name)
        || (name == "row" && !is_sqlite))
    {
        Class::Unknown
    } else if RANKINGS.contains(&name) {
        Class::Ranking
    } else if is_sqlite && arguments != 1 && matches!(name, "max" | "min") {
        Class::Scalar
    } else if AGGREGATES.has(name) {
        Class::Aggregate
    } else {
        Class::Scalar
    }
}

/// Functions of SQLite that read texts as times, and from which argument on.
pub(super) fn time_arguments(name: &str) -> Option<usize> {
    match name {
        "date" | "time" | "datetime" | "julianday" | "unixepoch" | "timediff" => Some(0),
        "strftime" => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_has_one_class() {
        for name in [&ORDERED, &CLOCKS, &ROWS].into_iter().flat_map(WordList::words) {
            assert!(!SQLITE.has(name) && !AGGREGATES.has(name), "{name}");
        }
        assert_eq!(class("max", 1, true), Class::Aggregate);
        assert_eq!(class("max", 2, true), Class::Scalar);
        assert_eq!(class("age", 1, false), Class::Clock);
        assert_eq!(class("age", 2, false), Class::Scalar);
        assert_eq!(class("random", 0, false), Class::Unknown);
    }
}
