//! The SQL dialects: one declaration of each, in a file of its own, which everything that reads or
//! writes statements goes by. What statements may do, the guard's rules of a dialect say.

mod ansi;
mod bigquery;
mod duckdb;
mod mysql;
mod postgres;
mod snowflake;
mod spark;
mod sqlite;

use serde::{Deserialize, Serialize};

/// The declarations, by the names of the dialects.
const ALL: [(&str, &Syntax); 9] = [
    ("sqlite", &sqlite::SYNTAX),
    ("postgres", &postgres::SYNTAX),
    ("mysql", &mysql::SYNTAX),
    ("duckdb", &duckdb::SYNTAX),
    ("databricks", &spark::DATABRICKS),
    ("spark", &spark::SYNTAX),
    ("ansi", &ansi::SYNTAX),
    ("bigquery", &bigquery::SYNTAX),
    ("snowflake", &snowflake::SYNTAX),
];

/// The SQL dialect of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// The dialect of SQLite.
    Sqlite,
    /// The dialect of PostgreSQL.
    Postgres,
    /// The dialect of MySQL and MariaDB.
    Mysql,
    /// The dialect of DuckDB.
    Duckdb,
    /// The dialect of Databricks SQL.
    Databricks,
    /// The dialect of Spark SQL.
    Spark,
    /// The SQL of the standard.
    Ansi,
    /// Another dialect, by name.
    Other(String),
}

/// The declaration of a dialect: how its statements are read and written, and how they differ.
#[derive(Debug)]
pub struct Syntax {
    /// The name in prompts.
    pub title: &'static str,
    /// The rules for prompts, a line each: what models get wrong when they write one engine's SQL
    /// for another. Each was checked on the engine. Empty if there are none.
    pub rules: &'static str,
    /// The quote around names that are written.
    pub name_quote: char,
    /// True if `` `a` `` is read as a name.
    pub backtick_names: bool,
    /// True if `[a]` is read as a name.
    pub bracket_names: bool,
    /// True if names without quotes are read in lower case.
    pub folds_names: bool,
    /// True if quotes do not change the meaning of a plain name, so that any word that may be
    /// reserved is quoted.
    pub quotes_freely: bool,
    /// The meaning of a backslash within a text.
    pub escapes: Escapes,
    /// True if a backslash escapes in `E'…'`.
    pub escape_prefix: bool,
    /// True if a backslash stands for itself in `r'…'`.
    pub raw_prefix: bool,
    /// True if `$$…$$` is a text.
    pub dollar_quotes: bool,
    /// The meaning of `"a"`.
    pub double_quotes: DoubleQuotes,
    /// True if a comment may stand within a comment.
    pub nested_comments: bool,
    /// True if `#` begins a comment.
    pub hash_comments: bool,
    /// Characters that open a named or numbered parameter.
    pub parameters: &'static str,
    /// The parser's grammar, where it is not the one of the dialect's name.
    pub grammar: Option<&'static str>,
    /// True if the names of computed columns are known: their texts, and `column1` in VALUES.
    pub names_computed_columns: bool,
    /// The type of texts of any length, for CAST.
    pub text_type: &'static str,
    /// True if the type of a column is a preference, as in SQLite: a cell may hold a value of any
    /// type, a text and a number are compared by their types, and dates are texts.
    pub has_affinities: bool,
    /// True if a BOOLEAN column is compared with TRUE and FALSE, not with numbers.
    pub has_booleans: bool,
    /// True if `a.b` may be a field of a structure.
    pub has_structures: bool,
    /// True if the engine refuses to compare texts with numbers, or fails at the first text that is
    /// not a number.
    pub is_typed: bool,
    /// True if there is `TRY_CAST`.
    pub has_try_cast: bool,
    /// True if a quotient of whole numbers drops its fraction.
    pub truncates_quotients: bool,
    /// The place of NULL in an order.
    pub nulls: Nulls,
    /// True if there is `NULLS LAST`.
    pub has_nulls_last: bool,
    /// True if the columns beside the one `min` or `max` of a group are those of its row.
    pub picks_rows_of_extremes: bool,
    /// True if the columns that a grouped or DISTINCT query selects or orders by must be grouped,
    /// aggregated or selected.
    pub groups_strictly: bool,
    /// The operator that compares with a pattern whatever the letter case.
    pub like: &'static str,
    /// Its opposite.
    pub not_like: &'static str,
    /// The function that counts the characters of a text.
    pub length: &'static str,
    /// The function that finds a text within another.
    pub find: &'static str,
    /// Writes the condition that a value matches a regular expression, which is a literal; `None`
    /// if there is none.
    pub matches: Option<fn(value: &str, pattern: &str) -> String>,
}

/// The meaning of a backslash within a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escapes {
    /// It stands for itself.
    Never,
    /// It depends on settings or versions, and tokens end as if it stood for itself.
    Unclear,
    /// It escapes the character after it, by rules that differ; tokens end accordingly.
    Some,
    /// It escapes as Spark says.
    Spark,
}

/// The meaning of `"a"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoubleQuotes {
    /// A name.
    Name,
    /// A name, or a text where there is no such name.
    NameOrText,
    /// A text.
    Text,
}

/// The place of NULL in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// Before all values, after them in descending order.
    Least,
    /// After all values, before them in descending order.
    Greatest,
    /// After all values in either direction.
    Last,
    /// It is not known.
    Unknown,
}

impl Nulls {
    /// Returns true if NULL is known to come first.
    #[must_use]
    pub fn is_first(self, is_descending: bool) -> bool {
        match self {
            Self::Least => !is_descending,
            Self::Greatest => is_descending,
            Self::Last | Self::Unknown => false,
        }
    }
}

impl Syntax {
    /// Returns true if a backslash within a text escapes the character after it.
    #[must_use]
    pub fn has_backslashes(&self) -> bool {
        matches!(self.escapes, Escapes::Some | Escapes::Spark)
    }

    /// A text as a literal. Spark and Databricks join `'it''s'` to `its`, depending on the version;
    /// all that know escapes read `\'`.
    #[must_use]
    pub fn literal(&self, text: &str) -> String {
        if self.has_backslashes() {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
        } else {
            format!("'{}'", text.replace('\'', "''"))
        }
    }
}

impl Dialect {
    /// The names of the dialects that have a variant of their own.
    pub const NAMES: &'static [&'static str] =
        &["sqlite", "postgres", "mysql", "duckdb", "databricks", "spark", "ansi"];

    /// Returns the dialect of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let known = [
            Self::Sqlite,
            Self::Postgres,
            Self::Mysql,
            Self::Duckdb,
            Self::Databricks,
            Self::Spark,
            Self::Ansi,
        ];
        let found = known.into_iter().find(|dialect| dialect.name() == name);
        found.unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// Returns the declaration; that of the standard for a dialect without one.
    #[must_use]
    pub fn syntax(&self) -> &'static Syntax {
        self.declaration().unwrap_or(&ansi::SYNTAX)
    }

    fn declaration(&self) -> Option<&'static Syntax> {
        let name = self.name();
        ALL.iter().find(|(known, _)| *known == name).map(|(_, syntax)| *syntax)
    }

    /// The name of the parser's grammar.
    #[must_use]
    pub fn grammar(&self) -> &str {
        self.syntax().grammar.unwrap_or(self.name())
    }

    /// A name in the quotes of the dialect, which may be any text.
    #[must_use]
    pub fn quote(&self, name: &str) -> String {
        syrch_basics::quote_name(name, self.syntax().name_quote)
    }

    /// A name as it is where every dialect reads it as one word and it is not reserved, else
    /// [`Dialect::quote`].
    #[must_use]
    pub fn identifier(&self, name: &str, is_reserved: bool) -> String {
        if syrch_basics::is_word(name) && !is_reserved { name.to_owned() } else { self.quote(name) }
    }

    /// The type of texts of any length, for CAST.
    #[must_use]
    pub fn text_type(&self) -> &'static str {
        self.syntax().text_type
    }

    /// The name in prompts: the declared one, or its own for a dialect without a declaration.
    #[must_use]
    pub fn title(&self) -> &str {
        self.declaration().map_or(self.name(), |syntax| syntax.title)
    }

    /// The rules for prompts; empty for a dialect without a declaration.
    #[must_use]
    pub fn rules(&self) -> &'static str {
        self.declaration().map_or("", |syntax| syntax.rules)
    }

    /// The dialect's name in output.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Duckdb => "duckdb",
            Self::Databricks => "databricks",
            Self::Spark => "spark",
            Self::Ansi => "ansi",
            Self::Other(name) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_a_declaration_by_its_name() {
        for name in Dialect::NAMES {
            assert!(ALL.iter().any(|(known, _)| known == name), "{name}");
            assert!(!matches!(Dialect::from_name(name), Dialect::Other(_)), "{name}");
        }
        assert_eq!(Dialect::from_name("bigquery").quote("a`b"), "`a``b`");
        assert_eq!(Dialect::from_name("kdb").quote("a\"b"), "\"a\"\"b\"");
        assert_eq!(Dialect::from_name("redshift").grammar(), "redshift");
        assert_eq!(Dialect::Spark.grammar(), "databricks");
        for (name, syntax) in ALL {
            let reads_backticks = syntax.name_quote != '`' || syntax.backtick_names;
            assert!(reads_backticks, "{name} writes names that it does not read");
            let is_text = syntax.double_quotes == DoubleQuotes::Text;
            assert!(syntax.name_quote != '"' || !is_text, "{name} writes names that are texts");
        }
    }

    #[test]
    fn every_declaration_has_a_few_rules_of_its_own() {
        for (name, syntax) in ALL {
            let rules = syntax.rules;
            if rules.is_empty() {
                assert!(matches!(Dialect::from_name(name), Dialect::Other(_)), "{name}");
                continue;
            }
            assert!(
                rules.lines().all(|line| line.starts_with("- ") && !line.contains("  ")),
                "{rules}"
            );
            assert!(rules.ends_with(".\n") && rules.len() < 1_200, "{} bytes", rules.len());
            let folds = syntax.folds_names;
            for topic in ["Names in ", "Dates", "Texts: ", "/ ", "Limits: "] {
                assert!(rules.contains(topic) || topic == "Names in " && folds, "{topic}: {rules}");
            }
        }
        let kdb = Dialect::from_name("kdb");
        assert_eq!((kdb.title(), kdb.rules()), ("kdb", ""));
        assert_eq!(Dialect::Databricks.title(), "Databricks SQL");
        assert_eq!(Dialect::Databricks.rules(), Dialect::Spark.rules());
        assert!(!Dialect::Sqlite.rules().contains("ILIKE ignores"));
        assert!(Dialect::Duckdb.rules().contains("ILIKE ignores"));
    }

    #[test]
    fn texts_have_the_escapes_of_their_dialect() {
        for (dialect, literal) in [
            (Dialect::Sqlite, "'O''Neil\\s'"),
            (Dialect::Duckdb, "'O''Neil\\s'"),
            (Dialect::Spark, "'O\\'Neil\\\\s'"),
            (Dialect::Mysql, "'O\\'Neil\\\\s'"),
        ] {
            assert_eq!(dialect.syntax().literal("O'Neil\\s"), literal);
        }
    }

    #[test]
    fn null_comes_first_where_it_is_least_or_greatest() {
        for (dialect, first) in [
            (Dialect::Sqlite, [true, false]),
            (Dialect::Postgres, [false, true]),
            (Dialect::Duckdb, [false, false]),
            (Dialect::Ansi, [false, false]),
        ] {
            let nulls = dialect.syntax().nulls;
            assert_eq!([false, true].map(|down| nulls.is_first(down)), first, "{dialect:?}");
        }
    }
}
