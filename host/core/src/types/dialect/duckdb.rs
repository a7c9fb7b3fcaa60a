//! The dialect of DuckDB.

use super::{Nulls, Syntax, postgres};

const RULES: &str = "\
    - Names in double quotes, texts in single quotes; a quote inside is doubled. Names \
    do not depend on letter case.\n\
    - Dates: d - INTERVAL 7 DAY, date_trunc('month', d), EXTRACT(YEAR FROM d), \
    strftime(d, '%Y-%m'); days from a to b: date_diff('day', a, b). There is no \
    julianday or to_char. A text is no date until it is cast: CAST(x AS DATE).\n\
    - Texts: a || b, substr, instr, string_agg(x, ', '). ILIKE ignores the case of \
    letters, LIKE and = do not.\n\
    - / gives a fraction, // drops it. A text column is not compared with a number or \
    added up: TRY_CAST(x AS DOUBLE) gives NULL where it is none.\n\
    - Booleans are TRUE and FALSE. All that is selected beside aggregates stands in \
    GROUP BY.\n\
    - NULL sorts last, ascending and descending. Limits: LIMIT n OFFSET m.\n";

pub(super) const SYNTAX: Syntax = Syntax {
    title: "DuckDB",
    rules: RULES,
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
