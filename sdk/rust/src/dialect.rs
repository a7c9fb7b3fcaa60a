//! The rules of each SQL dialect for prompts: what models get wrong when they write one engine's
//! SQL for another. One line a rule; each was checked on the engine.

use crate::bindings::types::Dialect;

const SQLITE: &str = "\
- Names in double quotes, texts in single quotes; a quote inside is doubled.
- Dates are texts such as '2024-05-31': date(d, '-7 days'), strftime('%Y-%m', d), CAST(strftime('%Y', d) AS INTEGER); days between: \
julianday(a) - julianday(b). There is no EXTRACT, INTERVAL or date_trunc.
- Texts: a || b, substr, instr, group_concat(x, ', '). LIKE ignores the case of letters, = does not; there is no ILIKE.
- / between integers drops the fraction: write 1.0 * a / b.
- Booleans are 0 and 1. NULL sorts as the least value. Limits: LIMIT n OFFSET m.
";

const POSTGRES: &str = "\
- Names with capitals or odd characters in double quotes, since others are folded to lower case; texts in single quotes, a quote inside is \
doubled.
- Dates: d - INTERVAL '7 days', date_trunc('month', d), EXTRACT(YEAR FROM d), to_char(d, 'YYYY-MM'); a date minus a date is a number of days. \
There is no strftime, datediff or julianday.
- Texts: a || b, substring(x FROM 1 FOR 3), position('a' IN x), string_agg(x, ', '). ILIKE ignores the case of letters, LIKE and = do not.
- / between integers drops the fraction: write a::numeric / b. ROUND(x, 2) needs a numeric.
- A text is not compared with a number, nor a boolean with 0 or 1: cast, write TRUE and FALSE.
- All that is selected beside aggregates stands in GROUP BY. NULL sorts as the greatest value: write DESC NULLS LAST. Limits: LIMIT n OFFSET m.
";

const DUCKDB: &str = "\
- Names in double quotes, texts in single quotes; a quote inside is doubled. Names do not depend on letter case.
- Dates: d - INTERVAL 7 DAY, date_trunc('month', d), EXTRACT(YEAR FROM d), strftime(d, '%Y-%m'); days from a to b: date_diff('day', a, b). \
There is no julianday or to_char. A text is no date until it is cast: CAST(x AS DATE).
- Texts: a || b, substr, instr, string_agg(x, ', '). ILIKE ignores the case of letters, LIKE and = do not.
- / gives a fraction, // drops it. A text column is not compared with a number or added up: TRY_CAST(x AS DOUBLE) gives NULL where it is none.
- Booleans are TRUE and FALSE. All that is selected beside aggregates stands in GROUP BY.
- NULL sorts last, ascending and descending. Limits: LIMIT n OFFSET m.
";

const SPARK: &str = "\
- Names in `backticks`; texts in single quotes, a quote inside as \\'. Double quotes hold a text, too, not a name.
- Dates: d - INTERVAL 7 DAYS, date_add(d, 7), add_months(d, 1), date_trunc('MONTH', d), year(d), date_format(d, 'yyyy-MM'); days: \
datediff(end, start). There is no strftime, julianday or to_char of dates.
- Texts: concat(a, b) or a || b, NULL where one is NULL; substring, instr, array_join(collect_list(x), ', '). ILIKE ignores the case of \
letters, LIKE and = do not.
- / gives a fraction, a div b drops it. TRY_CAST(x AS DOUBLE) gives NULL where a text is no number; CAST fails.
- A boolean is not compared with 0 or 1: write TRUE and FALSE. The types are STRING and TIMESTAMP, not TEXT and DATETIME.
- All that is selected beside aggregates stands in GROUP BY; after DISTINCT, ORDER BY has only what is selected.
- NULL sorts as the least value. Limits: LIMIT n OFFSET m, no FETCH FIRST.
";

const MYSQL: &str = "\
- Names in `backticks`, texts in single quotes, a quote inside is doubled.
- Dates: d - INTERVAL 7 DAY, YEAR(d), DATE_FORMAT(d, '%Y-%m'); days: DATEDIFF(end, start).
- Texts: CONCAT(a, b), since || is OR; SUBSTRING, LOCATE, GROUP_CONCAT(x SEPARATOR ', '). = and LIKE ignore the case of letters by default.
- / gives a fraction, DIV drops it. Booleans are 1 and 0. NULL sorts as the least value. Limits: LIMIT n OFFSET m; there is no FULL JOIN.
";

const ANSI: &str = "\
- Names in double quotes, texts in single quotes; a quote inside is doubled.
- Dates: DATE '2024-05-31', d - INTERVAL '7' DAY, EXTRACT(YEAR FROM d). Texts: a || b, SUBSTRING(x FROM 1 FOR 3), UPPER(a) = UPPER(b).
- / between integers may drop the fraction: cast first. Limits: OFFSET m ROWS FETCH FIRST n ROWS ONLY. All that is selected beside aggregates \
stands in GROUP BY.
";

impl Dialect {
    /// The dialect's name in prompts.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Duckdb => "DuckDB",
            Self::Databricks => "Databricks SQL",
            Self::Spark => "Spark SQL",
            Self::Ansi => "standard SQL",
            Self::Other(name) => name,
        }
    }

    /// The rules of the dialect for the prompt of a statement, a line each; empty for a dialect
    /// that is not known here.
    #[must_use]
    pub fn rules(&self) -> &'static str {
        match self {
            Self::Sqlite => SQLITE,
            Self::Postgres => POSTGRES,
            Self::Mysql => MYSQL,
            Self::Duckdb => DUCKDB,
            Self::Databricks | Self::Spark => SPARK,
            Self::Ansi => ANSI,
            Self::Other(_) => "",
        }
    }

    /// A text as a literal of a statement. Spark and Databricks read `''` within a text in several
    /// ways, by version; all read `\'`.
    #[must_use]
    pub fn literal(&self, text: &str) -> String {
        match self {
            Self::Databricks | Self::Spark => {
                format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
            }
            Self::Mysql => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            _ => format!("'{}'", text.replace('\'', "''")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_a_few_rules_of_its_own() {
        let all = [
            Dialect::Sqlite,
            Dialect::Postgres,
            Dialect::Mysql,
            Dialect::Duckdb,
            Dialect::Databricks,
            Dialect::Spark,
            Dialect::Ansi,
        ];
        for dialect in &all {
            let rules = dialect.rules();
            assert!(
                rules.lines().all(|line| line.starts_with("- ") && !line.contains("  ")),
                "{rules}"
            );
            assert!(rules.ends_with(".\n") && rules.len() < 1_200, "{} bytes", rules.len());
            for topic in ["Names in ", "Dates", "Texts: ", "/ ", "Limits: "] {
                assert!(
                    rules.contains(topic) || topic == "Names in " && *dialect == Dialect::Postgres,
                    "{topic}: {rules}"
                );
            }
        }
        assert_eq!(Dialect::Other("kdb".into()).rules(), "");
        assert!(
            !Dialect::Sqlite.rules().contains("ILIKE ignores")
                && Dialect::Duckdb.rules().contains("ILIKE ignores")
        );
    }

    #[test]
    fn literals_have_the_escapes_of_their_dialect() {
        let literal = |dialect: Dialect| dialect.literal("O'Brien\\");
        assert_eq!(literal(Dialect::Sqlite), "'O''Brien\\'");
        assert_eq!(literal(Dialect::Duckdb), "'O''Brien\\'");
        assert_eq!(literal(Dialect::Mysql), "'O''Brien\\\\'");
        assert_eq!(literal(Dialect::Spark), "'O\\'Brien\\\\'");
        assert_eq!(literal(Dialect::Databricks), literal(Dialect::Spark));
    }
}
