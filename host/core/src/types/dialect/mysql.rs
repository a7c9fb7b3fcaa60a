//! The dialect of MySQL and MariaDB. Their function `LENGTH` counts bytes.

use super::{DoubleQuotes, Escapes, Nulls, Syntax, ansi};

pub(super) const SYNTAX: Syntax = Syntax {
    name_quote: '`',
    backtick_names: true,
    escapes: Escapes::Some,
    double_quotes: DoubleQuotes::Text,
    nested_comments: false,
    hash_comments: true,
    text_type: "CHAR",
    has_structures: false,
    nulls: Nulls::Least,
    has_nulls_last: false,
    length: "CHAR_LENGTH",
    matches: Some(|value, pattern| format!("CAST({value} AS CHAR) REGEXP {pattern}")),
    ..ansi::SYNTAX
};
