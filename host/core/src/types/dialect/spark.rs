//! The dialect of Spark and of Databricks. The parser's own grammar for Spark does not know that a
//! backslash escapes a quote.

use super::{DoubleQuotes, Escapes, Nulls, Syntax, ansi};

const RULES: &str = "\
    - Names in `backticks`; texts in single quotes, a quote inside as \\'. Double quotes \
    hold a text, too, not a name.\n\
    - Dates: d - INTERVAL 7 DAYS, date_add(d, 7), add_months(d, 1), date_trunc('MONTH', \
    d), year(d), date_format(d, 'yyyy-MM'); days: datediff(end, start). There is no \
    strftime, julianday or to_char of dates.\n\
    - Texts: concat(a, b) or a || b, NULL where one is NULL; substring, instr, \
    array_join(collect_list(x), ', '). ILIKE ignores the case of letters, LIKE and = do \
    not.\n\
    - / gives a fraction, a div b drops it. TRY_CAST(x AS DOUBLE) gives NULL where a \
    text is no number; CAST fails.\n\
    - A boolean is not compared with 0 or 1: write TRUE and FALSE. The types are STRING \
    and TIMESTAMP, not TEXT and DATETIME.\n\
    - All that is selected beside aggregates stands in GROUP BY; after DISTINCT, ORDER \
    BY has only what is selected.\n\
    - NULL sorts as the least value. Limits: LIMIT n OFFSET m, no FETCH FIRST.\n";

pub(super) const SYNTAX: Syntax = Syntax {
    title: "Spark SQL",
    rules: RULES,
    name_quote: '`',
    backtick_names: true,
    quotes_freely: true,
    escapes: Escapes::Spark,
    raw_prefix: true,
    double_quotes: DoubleQuotes::Text,
    grammar: Some("databricks"),
    text_type: "STRING",
    has_booleans: true,
    is_typed: true,
    has_try_cast: true,
    nulls: Nulls::Least,
    groups_strictly: true,
    like: "ILIKE",
    not_like: "NOT ILIKE",
    matches: Some(|value, pattern| format!("CAST({value} AS STRING) RLIKE {pattern}")),
    ..ansi::SYNTAX
};

/// The same for Databricks SQL.
pub(super) const DATABRICKS: Syntax = Syntax { title: "Databricks SQL", ..SYNTAX };
