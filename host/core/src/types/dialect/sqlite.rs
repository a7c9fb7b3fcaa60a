//! The dialect of SQLite.

use super::{DoubleQuotes, Escapes, Nulls, Syntax, ansi};

const RULES: &str = "\
    - Names in double quotes, texts in single quotes; a quote inside is doubled.\n\
    - Dates are texts such as '2024-05-31': date(d, '-7 days'), strftime('%Y-%m', d), \
    CAST(strftime('%Y', d) AS INTEGER); days between: julianday(a) - julianday(b). There \
    is no EXTRACT, INTERVAL or date_trunc.\n\
    - Texts: a || b, substr, instr, group_concat(x, ', '). LIKE ignores the case of \
    letters, = does not; there is no ILIKE.\n\
    - / between integers drops the fraction: write 1.0 * a / b.\n\
    - Booleans are 0 and 1. NULL sorts as the least value. Limits: LIMIT n OFFSET m.\n";

pub(super) const SYNTAX: Syntax = Syntax {
    title: "SQLite",
    rules: RULES,
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
