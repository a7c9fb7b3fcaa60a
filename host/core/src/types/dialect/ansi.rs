//! The SQL of the standard, from which other declarations are made.

use super::{DoubleQuotes, Escapes, Nulls, Syntax};

const RULES: &str = "\
    - Names in double quotes, texts in single quotes; a quote inside is doubled.\n\
    - Dates: DATE '2024-05-31', d - INTERVAL '7' DAY, EXTRACT(YEAR FROM d). Texts: a || \
    b, SUBSTRING(x FROM 1 FOR 3), UPPER(a) = UPPER(b).\n\
    - / between integers may drop the fraction: cast first. Limits: OFFSET m ROWS FETCH \
    FIRST n ROWS ONLY. All that is selected beside aggregates stands in GROUP BY.\n";

pub(super) const SYNTAX: Syntax = Syntax {
    title: "standard SQL",
    rules: RULES,
    name_quote: '"',
    backtick_names: false,
    bracket_names: false,
    folds_names: false,
    quotes_freely: false,
    escapes: Escapes::Unclear,
    escape_prefix: false,
    raw_prefix: false,
    dollar_quotes: false,
    double_quotes: DoubleQuotes::Name,
    nested_comments: true,
    hash_comments: false,
    parameters: "?",
    grammar: None,
    names_computed_columns: false,
    text_type: "VARCHAR",
    has_affinities: false,
    has_booleans: false,
    has_structures: true,
    is_typed: false,
    has_try_cast: false,
    truncates_quotients: false,
    nulls: Nulls::Unknown,
    has_nulls_last: true,
    picks_rows_of_extremes: false,
    groups_strictly: false,
    like: "LIKE",
    not_like: "NOT LIKE",
    length: "LENGTH",
    find: "instr",
    matches: None,
};
