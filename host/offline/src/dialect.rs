//! The differences between dialects in the statements that the rules write.

use syrch_core::{Dialect, Syntax};

/// The forms of statements that differ by the dialect.
#[derive(Clone, Copy)]
pub(crate) struct Forms(&'static Syntax);

impl Forms {
    pub(crate) fn for_dialect(dialect: &Dialect) -> Self {
        Self(dialect.syntax())
    }

    /// The type to which values are cast that are compared as texts; `None` where the engine casts
    /// by itself.
    pub(crate) fn text_type(self) -> Option<&'static str> {
        self.0.is_typed.then_some(self.0.text_type)
    }

    /// Returns true if NULL would come first in that direction and can be put last.
    pub(crate) fn puts_null_first(self, is_descending: bool) -> bool {
        self.0.has_nulls_last && self.0.nulls.is_first(is_descending)
    }

    /// A text as a number, NULL where it is none.
    pub(crate) fn number_of(self, text: &str) -> String {
        if self.0.has_try_cast {
            return format!("TRY_CAST({text} AS DOUBLE)");
        }
        format!(
            "CAST(CASE WHEN {text} ~ '^-?[0-9]+([.][0-9]+)?$' THEN {text} END AS DOUBLE PRECISION)"
        )
    }

    /// A text as a date, NULL where it does not have the form of one.
    pub(crate) fn date_of(self, text: &str) -> String {
        if self.0.has_try_cast {
            return format!("TRY_CAST({text} AS DATE)");
        }
        format!(
            "CAST(CASE WHEN {text} ~ '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}' THEN {text} END AS DATE)"
        )
    }

    /// A pattern in quotes. Where a backslash escapes within a text, it does so within a pattern,
    /// too.
    pub(crate) fn pattern(self, text: &str) -> String {
        match self.0.has_backslashes() {
            true => self.0.literal(&text.replace('\\', "\\\\")),
            false => self.0.literal(text),
        }
    }
}

/// The identifier as the dialect needs it: quoted unless it is a plain word that no grammar
/// reserves.
pub(crate) fn identifier(dialect: &Dialect, name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let folds = dialect.syntax().folds_names && name.chars().any(|c| c.is_ascii_uppercase());
    let may_be_reserved =
        dialect.syntax().quotes_freely && RESERVED_BY_SOME.contains(&lower.as_str());
    dialect.identifier(name, RESERVED.contains(&lower.as_str()) || folds || may_be_reserved)
}

/// Returns true if a column of that declared type, in lower case, holds texts.
pub(crate) fn is_text(declared: &str) -> bool {
    ["char", "text", "string", "clob"].iter().any(|kind| declared.contains(kind))
}

/// Returns true if a column of that declared type, in lower case, holds numbers.
pub(crate) fn is_number(declared: &str) -> bool {
    !declared.starts_with("interval")
        && ["int", "real", "num", "dec", "doub", "float", "serial"]
            .iter()
            .any(|kind| declared.contains(kind))
}

/// Returns true if a column of that declared type, in lower case, holds dates, with or without the
/// time of day.
pub(crate) fn is_date(declared: &str) -> bool {
    ["date", "timestamp"].iter().any(|kind| declared.contains(kind))
}

/// Returns true if a column of that declared type, in lower case, holds dates with the time of day.
pub(crate) fn is_timestamp(declared: &str) -> bool {
    ["timestamp", "datetime"].iter().any(|kind| declared.contains(kind))
}

/// Words that most grammars reserve.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "add", "all", "alter", "and", "as", "asc", "between", "by", "case", "check", "collate",
    "column", "commit",
    "constraint", "create", "cross", "current", "current_date", "current_time", "current_timestamp",
    "database",
    "default", "delete", "desc", "distinct", "drop", "else", "end", "escape", "except", "exists",
    "false", "for",
    "foreign", "from", "full", "function", "grant", "group", "having", "if", "in", "index", "inner",
    "insert",
    "intersect", "interval", "into", "is", "join", "key", "left", "like", "limit", "natural", "not",
    "null", "offset",
    "on", "or", "order", "outer", "over", "partition", "primary", "references", "right", "row",
    "rows", "select",
    "set", "table", "then", "to", "trigger", "true", "union", "unique", "update", "user", "using",
    "values", "view",
    "when", "where", "window", "with",
];

/// Words that DuckDB or Spark reserves besides, or takes for the beginning of a clause.
#[rustfmt::skip]
const RESERVED_BY_SOME: &[&str] = &[
    "analyse", "analyze", "anti", "any", "array", "asof", "asymmetric", "at", "authorization",
    "binary", "both",
    "cast", "collation", "columns", "concurrently", "cube", "deferrable", "describe", "do",
    "exclude", "fetch",
    "generated", "glob", "ilike", "initially", "isnull", "lambda", "lateral", "leading", "map",
    "minus", "notnull",
    "only", "overlaps", "pivot", "placing", "positional", "qualify", "returning", "rollup", "semi",
    "show", "similar",
    "some", "sort", "struct", "summarize", "symmetric", "tablesample", "trailing", "try_cast",
    "tuple", "unpivot",
    "variadic", "verbose", "within",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_the_escapes_of_their_dialect() {
        for (dialect, pattern) in [
            (Dialect::Sqlite, "'%\\''%'"),
            (Dialect::Duckdb, "'%\\''%'"),
            (Dialect::Spark, "'%\\\\\\\\\\'%'"),
            (Dialect::Databricks, "'%\\\\\\\\\\'%'"),
        ] {
            assert_eq!(Forms::for_dialect(&dialect).pattern("%\\'%"), pattern);
        }
    }

    #[test]
    fn names_have_the_quotes_of_their_dialect_where_they_need_them() {
        let of = |name: &str| {
            [Dialect::Sqlite, Dialect::Postgres, Dialect::Duckdb, Dialect::Spark]
                .map(|d| identifier(&d, name))
        };
        assert_eq!(of("city"), ["city"; 4]);
        assert_eq!(of("City"), ["City", "\"City\"", "City", "City"]);
        assert_eq!(of("order"), ["\"order\"", "\"order\"", "\"order\"", "`order`"]);
        assert_eq!(of("Semi"), ["Semi", "\"Semi\"", "\"Semi\"", "`Semi`"]);
        assert_eq!(of("a`b"), ["\"a`b\"", "\"a`b\"", "\"a`b\"", "`a``b`"]);
        assert!(RESERVED.is_sorted() && RESERVED_BY_SOME.is_sorted());
    }
}
