//! The forms and functions that statements for Spark and Databricks may use. Left out is whatever
//! runs code, reads files or secrets, calls other services or models, or discloses the session, and
//! what grows without a bound, such as `aggregate`.

use syrch_core::WordList;

use super::rules::{Form, Names, Rules};
use crate::grammar::Spark;

/// The functions, in order of the alphabet.
static LISTED: WordList = WordList::new(include_str!("../functions/spark.txt"));

/// Types that the parser has no structure for.
static TYPES: WordList = WordList::new(include_str!("../types/spark.txt"));

pub(super) static RULES: Rules = Rules {
    grammar: &Spark,
    is_for_facts: true,
    listed: &LISTED,
    bare: &["current_date", "current_timestamp", "localtimestamp"],
    values: &[
        "current_catalog",
        "current_database",
        "current_date",
        "current_schema",
        "current_time",
        "current_timestamp",
        "current_user",
        "grouping__id",
        "localtimestamp",
        "session_user",
        "user",
    ],
    tables: Some(&[
        "explode",
        "explode_outer",
        "inline",
        "inline_outer",
        "json_tuple",
        "posexplode",
        "posexplode_outer",
        "range",
        "stack",
    ]),
    lambdas: &[
        "array_sort",
        "exists",
        "filter",
        "forall",
        "map_filter",
        "map_zip_with",
        "transform",
        "transform_keys",
        "transform_values",
        "zip_with",
    ],
    sized: &[
        ("array_repeat", 1),
        ("format_number", 1),
        ("histogram_numeric", 1),
        ("lpad", 1),
        ("repeat", 1),
        ("rpad", 1),
        ("space", 0),
        ("stack", 0),
    ],
    inserts: &[],
    series: &["range", "sequence"],
    aggregates: &[],
    formats: &["format_string", "printf"],
    patterns: &[
        ("regexp", 1),
        ("regexp_count", 1),
        ("regexp_extract", 1),
        ("regexp_extract_all", 1),
        ("regexp_instr", 1),
        ("regexp_like", 1),
        ("regexp_replace", 1),
        ("regexp_substr", 1),
        ("rlike", 1),
        ("split", 1),
    ],
    types: &TYPES,
    names: Names::Quoted('`'),
    ignores_case: true,
    system: &["global_temp", "information_schema", "system"],
    text: super::literal::quote_with_escapes,
    is_hex_text: true,
    forms: &[
        Form::ColumnAliases,
        Form::GroupByAll,
        Form::GroupByModifier,
        Form::IgnoreNulls,
        Form::IntegerDivide,
        Form::IntervalExpression,
        Form::Lambda,
        Form::LateralView,
        Form::Minus,
        Form::OrderByAll,
        Form::Pivot,
        Form::Qualify,
        Form::Rlike,
        Form::Sample,
        Form::SemiJoin,
        Form::Spaceship,
        Form::Structures,
        Form::TryCast,
        Form::WildcardChanges,
    ],
};
