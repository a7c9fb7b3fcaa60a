//! The texts of periods in the dialects of engines.

use syrch_core::Dialect;

/// The texts of the periods that a day lies in, as a dialect writes them, where `@` stands for the
/// day; empty where it cannot. In SQLite a time will do in place of the day.
pub(super) struct Labels {
    pub(super) day: &'static str,
    pub(super) week_from_monday: &'static str,
    pub(super) week_from_sunday: &'static str,
    pub(super) month: &'static str,
    pub(super) quarter: &'static str,
    pub(super) year: &'static str,
}

impl Labels {
    /// The labels of a dialect; of one that is not known, those of the standard.
    pub(super) fn for_dialect(dialect: &Dialect) -> &'static Self {
        match dialect {
            Dialect::Sqlite => &SQLITE,
            Dialect::Postgres => &POSTGRES,
            Dialect::Duckdb => &DUCKDB,
            Dialect::Spark | Dialect::Databricks => &SPARK,
            Dialect::Mysql => &MYSQL,
            Dialect::Ansi | Dialect::Other(_) => &ANSI,
        }
    }
}

const SQLITE: Labels = Labels {
    day: "strftime('%Y-%m-%d', @)",
    week_from_monday: "strftime('%Y-%m-%d', @, '-6 days', 'weekday 1')",
    week_from_sunday: "strftime('%Y-%m-%d', @, '-6 days', 'weekday 0')",
    month: "strftime('%Y-%m', @)",
    quarter: "strftime('%Y', @) || '-Q' || ((CAST(strftime('%m', @) AS INTEGER) + 2) / 3)",
    year: "strftime('%Y', @)",
};

const POSTGRES: Labels = Labels {
    day: "to_char(@, 'YYYY-MM-DD')",
    week_from_monday: "to_char(date_trunc('week', @), 'YYYY-MM-DD')",
    week_from_sunday: "to_char(CAST(date_trunc('week', @ + 1) AS DATE) - 1, 'YYYY-MM-DD')",
    month: "to_char(@, 'YYYY-MM')",
    quarter: "to_char(@, 'YYYY') || '-Q' || to_char(@, 'Q')",
    year: "to_char(@, 'YYYY')",
};

const DUCKDB: Labels = Labels {
    day: "strftime(@, '%Y-%m-%d')",
    week_from_monday: "strftime(date_trunc('week', @), '%Y-%m-%d')",
    week_from_sunday: "strftime(CAST(date_trunc('week', @ + 1) AS DATE) - 1, '%Y-%m-%d')",
    month: "strftime(@, '%Y-%m')",
    quarter: "strftime(@, '%Y') || '-Q' || CAST(quarter(@) AS VARCHAR)",
    year: "strftime(@, '%Y')",
};

const SPARK: Labels = Labels {
    day: "date_format(@, 'yyyy-MM-dd')",
    week_from_monday: "date_format(trunc(@, 'WEEK'), 'yyyy-MM-dd')",
    week_from_sunday: "date_format(date_sub(trunc(date_add(@, 1), 'WEEK'), 1), 'yyyy-MM-dd')",
    month: "date_format(@, 'yyyy-MM')",
    quarter: "concat(date_format(@, 'yyyy'), '-Q', CAST(quarter(@) AS STRING))",
    year: "date_format(@, 'yyyy')",
};

const MYSQL: Labels = Labels {
    day: "DATE_FORMAT(@, '%Y-%m-%d')",
    week_from_monday: "DATE_FORMAT(DATE_SUB(@, INTERVAL WEEKDAY(@) DAY), '%Y-%m-%d')",
    week_from_sunday: "DATE_FORMAT(DATE_SUB(@, INTERVAL DAYOFWEEK(@) - 1 DAY), '%Y-%m-%d')",
    month: "DATE_FORMAT(@, '%Y-%m')",
    quarter: "CONCAT(YEAR(@), '-Q', QUARTER(@))",
    year: "DATE_FORMAT(@, '%Y')",
};

/// The standard has no weekday.
const ANSI: Labels = Labels {
    day: "CAST(@ AS VARCHAR(10))",
    week_from_monday: "",
    week_from_sunday: "",
    month: "SUBSTRING(CAST(@ AS VARCHAR(10)) FROM 1 FOR 7)",
    quarter: "SUBSTRING(CAST(@ AS VARCHAR(10)) FROM 1 FOR 4) || \
              CASE WHEN EXTRACT(MONTH FROM @) < 4 THEN '-Q1' \
              WHEN EXTRACT(MONTH FROM @) < 7 THEN '-Q2' \
              WHEN EXTRACT(MONTH FROM @) < 10 THEN '-Q3' ELSE '-Q4' END",
    year: "SUBSTRING(CAST(@ AS VARCHAR(10)) FROM 1 FOR 4)",
};
