//! The dialect of MySQL and MariaDB. Their function `LENGTH` counts bytes.

use super::{DoubleQuotes, Escapes, Nulls, Syntax, ansi};

const RULES: &str = "\
    - Names in `backticks`, texts in single quotes, a quote inside is doubled.\n\
    - Dates: d - INTERVAL 7 DAY, YEAR(d), DATE_FORMAT(d, '%Y-%m'); days: DATEDIFF(end, \
    start).\n\
    - Texts: CONCAT(a, b), since || is OR; SUBSTRING, LOCATE, GROUP_CONCAT(x SEPARATOR \
    ', '). = and LIKE ignore the case of letters by default.\n\
    - / gives a fraction, DIV drops it. Booleans are 1 and 0. NULL sorts as the least \
    value. Limits: LIMIT n OFFSET m; there is no FULL JOIN.\n";

pub(super) const SYNTAX: Syntax = Syntax {
    title: "MySQL",
    rules: RULES,
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
