//! The dialect of DuckDB.

use super::{Nulls, Syntax, postgres};

pub(super) const SYNTAX: Syntax = Syntax {
    folds_names: false,
    quotes_freely: true,
    parameters: "?$",
    text_type: "VARCHAR",
    has_try_cast: true,
    truncates_quotients: false,
    nulls: Nulls::Last,
    find: "instr",
    matches: Some(|value, pattern| format!("regexp_matches(CAST({value} AS VARCHAR), {pattern})")),
    ..postgres::SYNTAX
};
