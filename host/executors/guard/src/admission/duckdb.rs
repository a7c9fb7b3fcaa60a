//! The forms and functions that statements for DuckDB may use. Left out is whatever reads files,
//! settings, secrets or other statements, and what runs a function by its name or grows without a
//! bound, such as `list_aggregate` and `list_reduce`. `damerau_levenshtein` needs memory for the
//! product of its two lengths, of which `memory_limit` counts nothing: 3 GB for two texts of 20,000
//! letters.

use syrch_core::WordList;

use super::rules::{Form, Names, Rules};
use crate::grammar::DuckDb;

/// The functions, in order of the alphabet.
static LISTED: WordList = WordList::new(include_str!("../functions/duckdb.txt"));

/// Types that the parser has no structure for.
static TYPES: WordList = WordList::new(include_str!("../types/duckdb.txt"));

pub(super) static RULES: Rules = Rules {
    grammar: &DuckDb,
    is_for_facts: true,
    listed: &LISTED,
    bare: &["current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"],
    values: &[
        "current_catalog",
        "current_date",
        "current_role",
        "current_schema",
        "current_time",
        "current_timestamp",
        "current_user",
        "localtime",
        "localtimestamp",
        "session_user",
        "user",
    ],
    tables: Some(&[
        "generate_series",
        "generate_subscripts",
        "json_each",
        "json_tree",
        "range",
        "regexp_split_to_table",
        "unnest",
    ]),
    lambdas: &[
        "array_filter",
        "array_transform",
        "filter",
        "list_apply",
        "list_filter",
        "list_transform",
    ],
    sized: &[("list_resize", 1), ("lpad", 1), ("repeat", 1), ("rpad", 1)],
    inserts: &[("concat_ws", 0), ("regexp_replace", 2), ("replace", 2)],
    series: &["generate_series", "range"],
    aggregates: &["array_aggr", "array_aggregate", "list_aggr", "list_aggregate"],
    formats: &["format", "printf"],
    patterns: &[],
    types: &TYPES,
    names: Names::Quoted('"'),
    ignores_case: true,
    system: &["information_schema", "pg_catalog", "system", "temp"],
    text: super::literal::quote_with_doubling,
    is_hex_text: false,
    forms: &[
        Form::ArrayQuery,
        Form::AsOf,
        Form::ByName,
        Form::DistinctOn,
        Form::ExtractText,
        Form::FromFirst,
        Form::Glob,
        Form::GroupByAll,
        Form::IgnoreNulls,
        Form::IntegerDivide,
        Form::IntervalExpression,
        Form::JsonOperators,
        Form::Lambda,
        Form::NamedArguments,
        Form::OrderByAll,
        Form::Pivot,
        Form::Positional,
        Form::Power,
        Form::Qualify,
        Form::RegexOperators,
        Form::SemiJoin,
        Form::Structures,
        Form::TryCast,
        Form::UsingSample,
        Form::WildcardChanges,
    ],
};
