//! Names in SQL: when they need quotes, and which.

use crate::bindings::types::Dialect;

// Words that stand unquoted only as keywords in at least one of the dialects.
const RESERVED: &[&str] = &[
    "all",
    "alter",
    "and",
    "any",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "cross",
    "current",
    "default",
    "delete",
    "desc",
    "distinct",
    "drop",
    "else",
    "end",
    "except",
    "exists",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "in",
    "index",
    "inner",
    "insert",
    "intersect",
    "into",
    "is",
    "join",
    "key",
    "left",
    "like",
    "limit",
    "natural",
    "not",
    "null",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "primary",
    "range",
    "references",
    "right",
    "row",
    "rows",
    "select",
    "set",
    "some",
    "table",
    "then",
    "to",
    "transaction",
    "trigger",
    "true",
    "union",
    "unique",
    "update",
    "user",
    "using",
    "values",
    "view",
    "when",
    "where",
    "window",
    "with",
];

/// The name in the dialect's quotes.
#[must_use]
pub fn quote(dialect: &Dialect, name: &str) -> String {
    match dialect {
        Dialect::Mysql | Dialect::Databricks | Dialect::Spark => format!("`{}`", name.replace('`', "``")),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The name as a person would write it: quoted only when it would not be read as that name otherwise.
#[must_use]
pub fn quote_if_odd(dialect: &Dialect, name: &str) -> String {
    if is_plain(dialect, name) { name.to_owned() } else { quote(dialect, name) }
}

fn is_plain(dialect: &Dialect, name: &str) -> bool {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let goes_on = characters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    // PostgreSQL folds unquoted names to lower case.
    let folds = *dialect == Dialect::Postgres && name.chars().any(|c| c.is_ascii_uppercase());
    starts && goes_on && !folds && RESERVED.binary_search(&name.to_ascii_lowercase().as_str()).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_quoted() {
        let plain = |name: &str| quote_if_odd(&Dialect::Sqlite, name);
        assert_eq!(plain("customers"), "customers");
        assert_eq!(plain("Order"), "\"Order\"");
        assert_eq!(plain("two words"), "\"two words\"");
        assert_eq!(plain("a\"b"), "\"a\"\"b\"");
        assert_eq!(plain("1st"), "\"1st\"");
        assert_eq!(plain(""), "\"\"");
        assert_eq!(plain("größe"), "\"größe\"");
    }

    #[test]
    fn each_dialect_has_its_quotes() {
        assert_eq!(quote(&Dialect::Mysql, "a`b"), "`a``b`");
        assert_eq!(quote_if_odd(&Dialect::Postgres, "Orders"), "\"Orders\"");
        assert_eq!(quote_if_odd(&Dialect::Spark, "select"), "`select`");
    }

    #[test]
    fn reserved_words_are_sorted_for_the_search() {
        assert!(RESERVED.is_sorted());
    }
}
