//! The dialect of PostgreSQL. A backslash stands for itself with `standard_conforming_strings`,
//! which sessions set.

use super::{Escapes, Nulls, Syntax, ansi};

pub(super) const SYNTAX: Syntax = Syntax {
    folds_names: true,
    escapes: Escapes::Never,
    escape_prefix: true,
    dollar_quotes: true,
    parameters: "$",
    text_type: "TEXT",
    has_booleans: true,
    is_typed: true,
    truncates_quotients: true,
    nulls: Nulls::Greatest,
    groups_strictly: true,
    like: "ILIKE",
    not_like: "NOT ILIKE",
    find: "strpos",
    matches: Some(|value, pattern| format!("CAST({value} AS TEXT) ~ {pattern}")),
    ..ansi::SYNTAX
};
