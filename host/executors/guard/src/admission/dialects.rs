//! The rules of each dialect.

use syrch_core::Dialect;

use super::rules::Rules;
use super::{duckdb, postgres, spark, standard};

impl Rules {
    pub(super) fn for_dialect(dialect: &Dialect) -> &'static Self {
        match dialect {
            Dialect::Postgres => &postgres::RULES,
            Dialect::Duckdb => &duckdb::RULES,
            Dialect::Spark | Dialect::Databricks => &spark::RULES,
            Dialect::Sqlite => &standard::SQLITE,
            Dialect::Mysql => &standard::MYSQL,
            Dialect::Other(name) if name == "bigquery" => &standard::BIGQUERY,
            Dialect::Other(name) if name == "snowflake" => &standard::SNOWFLAKE,
            Dialect::Ansi | Dialect::Other(_) => &standard::ANSI,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched_and_agree() {
        let other = |name: &str| Dialect::Other(name.to_owned());
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
            assert!(rules.listed.is_sorted(), "{dialect:?}");
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
