//! The dialect of PostgreSQL. A backslash stands for itself with `standard_conforming_strings`,
//! which sessions set.

use super::{Escapes, Nulls, Syntax, ansi};

const RULES: &str = "\
    - Names with capitals or odd characters in double quotes, since others are folded to \
    lower case; texts in single quotes, a quote inside is doubled.\n\
    - Dates: d - INTERVAL '7 days', date_trunc('month', d), EXTRACT(YEAR FROM d), \
    to_char(d, 'YYYY-MM'); a date minus a date is a number of days. There is no \
    strftime, datediff or julianday.\n\
    - Texts: a || b, substring(x FROM 1 FOR 3), position('a' IN x), string_agg(x, ', '). \
    ILIKE ignores the case of letters, LIKE and = do not.\n\
    - / between integers drops the fraction: write a::numeric / b. ROUND(x, 2) needs a \
    numeric.\n\
    - A text is not compared with a number, nor a boolean with 0 or 1: cast, write TRUE \
    and FALSE.\n\
    - All that is selected beside aggregates stands in GROUP BY. NULL sorts as the \
    greatest value: write DESC NULLS LAST. Limits: LIMIT n OFFSET m.\n";

pub(super) const SYNTAX: Syntax = Syntax {
    title: "PostgreSQL",
    rules: RULES,
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
