//! The rules of each dialect.

use syrch_core::Dialect;

use super::rules::Rules;
use super::{duckdb, postgres, spark, standard};

/// The rules, by the names of the dialects.
static ALL: [(&str, &Rules); 9] = [
    ("sqlite", &standard::SQLITE),
    ("postgres", &postgres::RULES),
    ("mysql", &standard::MYSQL),
    ("duckdb", &duckdb::RULES),
    ("databricks", &spark::RULES),
    ("spark", &spark::RULES),
    ("ansi", &standard::ANSI),
    ("bigquery", &standard::BIGQUERY),
    ("snowflake", &standard::SNOWFLAKE),
];

impl Rules {
    /// Returns the rules of a dialect; those of the standard for one without rules of its own.
    pub(crate) fn for_dialect(dialect: &Dialect) -> &'static Self {
        let name = dialect.name();
        let found = ALL.iter().find(|(known, _)| *known == name);
        found.map_or(&standard::OTHER, |(_, rules)| rules)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::Names;
    use super::*;

    #[test]
    fn the_lists_can_be_searched_and_agree() {
        fn other(name: &str) -> Dialect {
            Dialect::Other(name.to_owned())
        }
        for dialect in [
            Dialect::Postgres,
            Dialect::Duckdb,
            Dialect::Spark,
            Dialect::Databricks,
            Dialect::Sqlite,
            Dialect::Mysql,
            Dialect::Ansi,
            other("bigquery"),
            other("snowflake"),
            other("flight"),
        ] {
            let rules = Rules::for_dialect(&dialect);
            assert_eq!(rules.names.quote(), dialect.syntax().name_quote, "{dialect:?}");
            assert_eq!(rules.names == Names::Folded, dialect.syntax().folds_names, "{dialect:?}");
            assert!(
                rules.is_listed("count")
                    && !rules.is_listed("pg_sleep")
                    && !rules.is_listed("current_user")
            );
            let sized =
                rules.sized.iter().chain(rules.patterns).chain(rules.inserts).map(|(name, _)| name);
            let named = [
                rules.bare,
                rules.lambdas,
                rules.series,
                rules.formats,
                rules.aggregates,
                rules.tables.unwrap_or_default(),
            ];
            for name in named.into_iter().flatten().chain(sized) {
                assert!(rules.is_listed(name), "{name} in {dialect:?}");
            }
            for name in [
                "read_csv",
                "query",
                "reflect",
                "aggregate",
                "list_reduce",
                "secret",
                "ai_query",
                "getvariable",
                "damerau_levenshtein",
            ] {
                assert!(!rules.is_listed(name) || rules.is_postgres(), "{name} in {dialect:?}");
            }
            assert!(rules.values.is_sorted());
        }
    }
}
