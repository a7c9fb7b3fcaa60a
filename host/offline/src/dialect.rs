//! The differences between dialects in the statements that the rules write.

use syrch_core::Dialect;

/// The differences between a dialect and SQLite's. Each entry was checked on the engine itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Syntax {
    /// True if the columns that a grouped or DISTINCT query selects or orders by must be grouped,
    /// aggregated or selected.
    pub(crate) is_strict: bool,
    /// True if NULL is the greatest value, and so the first in descending order.
    pub(crate) nulls_are_greatest: bool,
    /// True if NULL is the least value, and so the first in ascending order.
    pub(crate) nulls_are_least: bool,
    /// The operators that compare with a pattern whatever the letter case.
    pub(crate) like: &'static str,
    pub(crate) not_like: &'static str,
    /// The type to which values are cast that are compared as texts; `None` where the engine casts
    /// by itself.
    pub(crate) text: Option<&'static str>,
    /// True if a BOOLEAN column is compared with TRUE and FALSE, not with numbers.
    pub(crate) has_booleans: bool,
    /// True if the engine refuses to compare texts with numbers, or fails at the first text that is
    /// not a number.
    pub(crate) casts: bool,
    /// True if a backslash in a text escapes the character after it.
    pub(crate) escapes: bool,
    /// The function that counts the characters of a text.
    pub(crate) length: &'static str,
    /// True if the engine has `TRY_CAST`.
    has_try_cast: bool,
    /// True if quotes do not change the meaning of a plain name, so that any word that may be
    /// reserved is quoted.
    quotes_freely: bool,
}

/// The dialect of SQLite, but for the year of a date.
const PLAIN: Syntax = Syntax {
    is_strict: false,
    nulls_are_greatest: false,
    nulls_are_least: false,
    like: "LIKE",
    not_like: "NOT LIKE",
    text: None,
    has_booleans: false,
    casts: false,
    has_try_cast: false,
    escapes: false,
    length: "LENGTH",
    quotes_freely: false,
};

/// The syntax that PostgreSQL and the engines derived from it have in common.
const STRICT: Syntax = Syntax {
    is_strict: true,
    like: "ILIKE",
    not_like: "NOT ILIKE",
    has_booleans: true,
    casts: true,
    ..PLAIN
};

impl Syntax {
    pub(crate) fn for_dialect(dialect: &Dialect) -> Self {
        match dialect {
            Dialect::Postgres => Self { nulls_are_greatest: true, text: Some("TEXT"), ..STRICT },
            Dialect::Duckdb => {
                Self { text: Some("VARCHAR"), has_try_cast: true, quotes_freely: true, ..STRICT }
            }
            Dialect::Spark | Dialect::Databricks => {
                let plain = Self { text: Some("STRING"), has_try_cast: true, ..STRICT };
                Self { escapes: true, quotes_freely: true, nulls_are_least: true, ..plain }
            }
            // The plain function of MySQL counts bytes.
            Dialect::Mysql => Self { escapes: true, length: "CHAR_LENGTH", ..PLAIN },
            Dialect::Sqlite => Self { nulls_are_least: true, ..PLAIN },
            Dialect::Ansi | Dialect::Other(_) => PLAIN,
        }
    }

    /// A text as a number, NULL where it is none.
    pub(crate) fn number_of(self, text: &str) -> String {
        if self.has_try_cast {
            return format!("TRY_CAST({text} AS DOUBLE)");
        }
        format!(
            "CAST(CASE WHEN {text} ~ '^-?[0-9]+([.][0-9]+)?$' THEN {text} END AS DOUBLE PRECISION)"
        )
    }

    /// A text as a date, NULL where it does not have the form of one.
    pub(crate) fn date_of(self, text: &str) -> String {
        if self.has_try_cast {
            return format!("TRY_CAST({text} AS DATE)");
        }
        format!(
            "CAST(CASE WHEN {text} ~ '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}' THEN {text} END AS DATE)"
        )
    }

    /// A text in quotes. Spark and Databricks join `'it''s'` to `its`, depending on the version;
    /// all read `\'`.
    pub(crate) fn literal(&self, text: &str) -> String {
        if self.escapes {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
        } else {
            format!("'{}'", text.replace('\'', "''"))
        }
    }

    /// A pattern in quotes. Where a backslash escapes within a text, it does so within a pattern,
    /// too.
    pub(crate) fn pattern(&self, text: &str) -> String {
        if self.escapes { self.literal(&text.replace('\\', "\\\\")) } else { self.literal(text) }
    }
}

/// The identifier as the dialect needs it: quoted unless it is a plain word that no grammar
/// reserves.
pub(crate) fn identifier(dialect: &Dialect, name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let folds = *dialect == Dialect::Postgres && name.chars().any(|c| c.is_ascii_uppercase());
    let may_be_reserved =
        Syntax::for_dialect(dialect).quotes_freely && RESERVED_BY_SOME.contains(&lower.as_str());
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
    "add", "all", "alter", "and", "as", "asc", "between", "by", "case", "check", "collate", "column", "commit",
    "constraint", "create", "cross", "current", "current_date", "current_time", "current_timestamp", "database",
    "default", "delete", "desc", "distinct", "drop", "else", "end", "escape", "except", "exists", "false", "for",
    "foreign", "from", "full", "function", "grant", "group", "having", "if", "in", "index", "inner", "insert",
    "intersect", "interval", "into", "is", "join", "key", "left", "like", "limit", "natural", "not", "null", "offset",
    "on", "or", "order", "outer", "over", "partition", "primary", "references", "right", "row", "rows", "select",
    "set", "table", "then", "to", "trigger", "true", "union", "unique", "update", "user", "using", "values", "view",
    "when", "where", "window", "with",
];

/// Words that DuckDB or Spark reserves besides, or takes for the beginning of a clause.
#[rustfmt::skip]
const RESERVED_BY_SOME: &[&str] = &[
    "analyse", "analyze", "anti", "any", "array", "asof", "asymmetric", "at", "authorization", "binary", "both",
    "cast", "collation", "columns", "concurrently", "cube", "deferrable", "describe", "do", "exclude", "fetch",
    "generated", "glob", "ilike", "initially", "isnull", "lambda", "lateral", "leading", "map", "minus", "notnull",
    "only", "overlaps", "pivot", "placing", "positional", "qualify", "returning", "rollup", "semi", "show", "similar",
    "some", "sort", "struct", "summarize", "symmetric", "tablesample", "trailing", "try_cast", "tuple", "unpivot",
    "variadic", "verbose", "within",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_patterns_have_the_escapes_of_their_dialect() {
        let of = |dialect: &Dialect| {
            (
                Syntax::for_dialect(dialect).literal("O'Neil\\s"),
                Syntax::for_dialect(dialect).pattern("%\\'%"),
            )
        };
        assert_eq!(of(&Dialect::Sqlite), ("'O''Neil\\s'".into(), "'%\\''%'".into()));
        assert_eq!(of(&Dialect::Duckdb), of(&Dialect::Sqlite));
        assert_eq!(of(&Dialect::Spark), ("'O\\'Neil\\\\s'".into(), "'%\\\\\\\\\\'%'".into()));
        assert_eq!(of(&Dialect::Databricks), of(&Dialect::Spark));
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
