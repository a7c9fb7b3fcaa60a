//! The dialect of Spark and of Databricks. The parser's own grammar for Spark does not know that a
//! backslash escapes a quote.

use super::{DoubleQuotes, Escapes, Nulls, Syntax, ansi};

pub(super) const SYNTAX: Syntax = Syntax {
    name_quote: '`',
    backtick_names: true,
    quotes_freely: true,
    escapes: Escapes::Spark,
    raw_prefix: true,
    double_quotes: DoubleQuotes::Text,
    grammar: Some("databricks"),
    text_type: "STRING",
    has_booleans: true,
    is_typed: true,
    has_try_cast: true,
    nulls: Nulls::Least,
    groups_strictly: true,
    like: "ILIKE",
    not_like: "NOT ILIKE",
    matches: Some(|value, pattern| format!("CAST({value} AS STRING) RLIKE {pattern}")),
    ..ansi::SYNTAX
};
