//! The functions of statements that give the same rows on every plan, by dialect.

use crate::admission::LISTED;
use crate::functions::{Functions, words};

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

/// Functions of SQLite, in order of the alphabet. `syrch_sqlite` lists those that may run at all.
pub(crate) static SQLITE: Functions =
    Functions::new(|| words(include_str!("../functions/sqlite-deterministic.txt")));

/// Aggregates whose result does not depend on the order of rows, where sums are exact.
const AGGREGATES: &[&str] = &[
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "covar_pop",
    "covar_samp",
    "every",
    "max",
    "min",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "total",
    "var_pop",
    "var_samp",
    "variance",
];

const RANKINGS: [&str; 4] = ["cume_dist", "dense_rank", "percent_rank", "rank"];

/// Functions whose result depends on the order of rows: aggregates that list what they find, and
/// window functions that count or pick rows.
const ORDERED: &[&str] = &[
    "any_value",
    "array_agg",
    "first_value",
    "group_concat",
    "json_agg",
    "json_arrayagg",
    "json_group_array",
    "json_group_object",
    "json_object_agg",
    "json_objectagg",
    "jsonb_agg",
    "jsonb_group_array",
    "jsonb_group_object",
    "jsonb_object_agg",
    "lag",
    "last_value",
    "lead",
    "median",
    "mode",
    "nth_value",
    "ntile",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "range_agg",
    "row_number",
    "string_agg",
    "xmlagg",
];

const CLOCKS: &[&str] = &[
    "clock_timestamp",
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "now",
    "statement_timestamp",
    "timeofday",
    "transaction_timestamp",
];

/// Functions of PostgreSQL that make rows.
const ROWS: &[&str] = &[
    "generate_series",
    "generate_subscripts",
    "json_array_elements",
    "json_array_elements_text",
    "json_each",
    "json_each_text",
    "json_object_keys",
    "json_to_record",
    "json_to_recordset",
    "json_tree",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_object_keys",
    "jsonb_path_query",
    "jsonb_to_record",
    "jsonb_to_recordset",
    "regexp_matches",
    "regexp_split_to_table",
    "unnest",
];

/// The class of a function, by its name in lower case and the number of its arguments.
pub(super) fn class(name: &str, arguments: usize, is_sqlite: bool) -> Class {
    let is_among = |list: &[&str]| list.contains(&name);
    if is_among(ORDERED) {
        Class::Ordered
    } else if is_among(CLOCKS) || (!is_sqlite && name == "age" && arguments == 1) {
        Class::Clock
    } else if is_among(ROWS) {
        Class::Rows
    } else if !(is_among(if is_sqlite { &SQLITE } else { &LISTED })
        || (name == "row" && !is_sqlite))
    {
        Class::Unknown
    } else if is_among(&RANKINGS) {
        Class::Ranking
    } else if is_sqlite && arguments != 1 && matches!(name, "max" | "min") {
        Class::Scalar
    } else if is_among(AGGREGATES) {
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
    fn lists_are_sorted_and_each_function_has_one_class() {
        for list in [SQLITE.as_slice(), AGGREGATES, ORDERED, CLOCKS, ROWS] {
            assert!(list.is_sorted());
        }
        for name in ORDERED.iter().chain(CLOCKS).chain(ROWS) {
            assert!(!SQLITE.contains(name) && !AGGREGATES.contains(name), "{name}");
        }
        assert_eq!(class("max", 1, true), Class::Aggregate);
        assert_eq!(class("max", 2, true), Class::Scalar);
        assert_eq!(class("age", 1, false), Class::Clock);
        assert_eq!(class("age", 2, false), Class::Scalar);
        assert_eq!(class("random", 0, false), Class::Unknown);
    }
}
