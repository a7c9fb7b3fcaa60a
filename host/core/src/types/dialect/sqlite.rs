//! The dialect of SQLite.

use super::{DoubleQuotes, Escapes, Nulls, Syntax, ansi};

pub(super) const SYNTAX: Syntax = Syntax {
    backtick_names: true,
    bracket_names: true,
    escapes: Escapes::Never,
    double_quotes: DoubleQuotes::NameOrText,
    nested_comments: false,
    parameters: "?:@$",
    names_computed_columns: true,
    text_type: "TEXT",
    has_affinities: true,
    has_structures: false,
    truncates_quotients: true,
    nulls: Nulls::Least,
    picks_rows_of_extremes: true,
    matches: Some(|value, pattern| format!("{value} REGEXP {pattern}")),
    ..ansi::SYNTAX
};
