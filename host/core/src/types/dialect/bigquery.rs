//! The dialect of BigQuery.

use super::{DoubleQuotes, Escapes, Syntax, ansi};

pub(super) const SYNTAX: Syntax = Syntax {
    title: "BigQuery",
    rules: "",
    name_quote: '`',
    backtick_names: true,
    escapes: Escapes::Some,
    raw_prefix: true,
    double_quotes: DoubleQuotes::Text,
    nested_comments: false,
    hash_comments: true,
    text_type: "STRING",
    ..ansi::SYNTAX
};
