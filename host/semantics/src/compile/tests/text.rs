//! The text of statements in each dialect, and the words about them.

use sqlparser::dialect::{
    DatabricksDialect, Dialect as Grammar, DuckDbDialect, GenericDialect, MySqlDialect,
    PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use syrch_core::Dialect;

use crate::{Comparison, CompileError, Grain, Literal, Operator, Order, Request, WeekStart};

use super::kit::{compile_for, filter, period, request, shop};

const GRAINS: [Grain; 5] = [Grain::Day, Grain::Week, Grain::Month, Grain::Quarter, Grain::Year];

const COMPARISONS: [Option<Comparison>; 8] = [
    None,
    Some(Comparison::PreviousPeriod),
    Some(Comparison::SamePeriodLastYear),
    Some(Comparison::Growth),
    Some(Comparison::GrowthLastYear),
    Some(Comparison::ShareOfTotal),
    Some(Comparison::ShareOfAll),
    Some(Comparison::RunningTotal),
];

#[test]
fn every_dialect_reads_its_statements() {
    let dialects: [(Dialect, &dyn Grammar); 7] = [
        (Dialect::Sqlite, &SQLiteDialect {}),
        (Dialect::Postgres, &PostgreSqlDialect {}),
        (Dialect::Duckdb, &DuckDbDialect {}),
        (Dialect::Mysql, &MySqlDialect {}),
        (Dialect::Spark, &DatabricksDialect {}),
        (Dialect::Databricks, &DatabricksDialect {}),
        (Dialect::Ansi, &GenericDialect {}),
    ];
    for (dialect, grammar) in dialects {
        for week_start in [WeekStart::Monday, WeekStart::Sunday] {
            let semantics = crate::Semantics { week_start, ..shop() };
            for grain in GRAINS {
                for comparison in COMPARISONS {
                    let request = Request {
                        grain: Some(grain),
                        comparison,
                        filters: vec![filter("category", Operator::Contains, &["o_y"])],
                        period: period("2023-01-01", "2024-01-01"),
                        order: Some(Order { by: "return rate".to_owned(), descending: true }),
                        limit: Some(3),
                        ..request(&["net revenue", "return rate", "refunds"], &["category"])
                    };
                    let compiled = compile_for(&semantics, &request, &dialect);
                    let begins_within = grain == Grain::Week
                        && matches!(
                            compiled,
                            Err(CompileError::Begins { .. } | CompileError::Ends { .. })
                        );
                    let has_no_weeks = grain == Grain::Week && dialect == Dialect::Ansi;
                    if begins_within || has_no_weeks {
                        continue;
                    }
                    let sql = compiled.unwrap().sql;
                    let tree = Parser::parse_sql(grammar, &sql);
                    let tree = tree.unwrap_or_else(|error| panic!("{dialect:?}: {error}\n{sql}"));
                    assert_eq!(tree.len(), 1, "{sql}");
                }
            }
        }
    }
}

#[test]
fn a_week_needs_a_dialect_with_weekdays() {
    let request = Request { grain: Some(Grain::Week), ..request(&["orders"], &[]) };
    let error = compile_for(&shop(), &request, &Dialect::Ansi).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the grain `week` cannot be written in the dialect `ansi`: its dates have no weekday"
    );
}

#[test]
fn a_statement_reads_as_a_person_would_write_it() {
    let request = Request {
        grain: Some(Grain::Month),
        filters: vec![filter("country", Operator::In, &["Cote d'Ivoire"])],
        period: period("2024-01-01", "2025-01-01"),
        limit: Some(5),
        ..request(&["cancellation rate"], &["country"])
    };
    let sql = compile_for(&shop(), &request, &Dialect::Postgres).unwrap().sql;
    assert_eq!(
        sql,
        "WITH measured AS (
  SELECT
    to_char(CAST(orders.order_date AS DATE), 'YYYY-MM') AS t0,
    customers.country AS d0,
    COUNT(CASE WHEN orders.\"status\" = 'cancelled' THEN orders.order_id END) AS m0,
    COUNT(*) AS m1
  FROM orders AS orders
  LEFT JOIN customers AS customers ON orders.customer_id = customers.customer_id \
         AND (customers.deleted = 0)
  WHERE customers.country = 'Cote d''Ivoire'
    AND orders.order_date >= '2024-01-01'
    AND orders.order_date < '2025-01-01'
  GROUP BY to_char(CAST(orders.order_date AS DATE), 'YYYY-MM'), customers.country
)
SELECT measured.t0 AS \"month\", measured.d0 AS country, \
         CAST(measured.m0 AS DOUBLE PRECISION) / NULLIF(measured.m1, 0) AS \"cancellation rate\"
FROM measured
ORDER BY measured.t0 NULLS LAST, measured.d0 NULLS LAST
LIMIT 5"
    );
}

fn list_notes(names: &[&str]) -> Vec<String> {
    let request = request(names, &["category"]);
    compile_for(&shop(), &request, &Dialect::Sqlite).unwrap().applied.notes
}

#[test]
fn a_difference_of_two_tables_has_no_value_where_one_has_no_rows() {
    let note = "net revenue has no value where there are no rows of refunds or of revenue";
    assert_eq!(list_notes(&["net revenue"]), [note]);
    assert!(list_notes(&["profit", "return rate"]).is_empty());
}

#[test]
fn what_a_statement_applies_is_said_in_words() {
    let request = Request {
        grain: Some(Grain::Year),
        filters: vec![
            filter("country", Operator::NotIn, &["France", "Spain"]),
            crate::Filter {
                dimension: "orders.status".to_owned(),
                operator: Operator::NotIn,
                values: vec![Literal::Null],
            },
        ],
        period: period("2024-01-01", "2026-01-01"),
        comparison: Some(Comparison::Growth),
        ..request(&["cancellation rate"], &["country"])
    };
    assert_eq!(
        request.describe(),
        "cancellation rate by country and year, from 2024-01-01 to 2025-12-31, where country not \
         in ('France', 'Spain') and orders.status is not NULL, with the growth from the period \
         before"
    );
    let applied = compile_for(&shop(), &request, &Dialect::Sqlite).unwrap().applied;
    let names: Vec<&str> = applied.metrics.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cancelled orders", "orders", "cancellation rate"]);
    assert_eq!(
        applied.filters,
        [
            "country not in ('France', 'Spain')",
            "status is not NULL",
            "cancelled orders counts where orders.status = 'cancelled'",
            "customers joined where customers.deleted = 0",
        ]
    );
    assert_eq!(applied.time, ["orders.order_date"]);
    assert_eq!(applied.notes, ["the year 2025 is not over on 2025-06-30, so its values may grow"]);
    assert!(applied.words().ends_with(
        "with the growth from the period before; dated by orders.order_date; cancelled orders \
         counts where orders.status = 'cancelled'; customers joined where customers.deleted = 0; \
         the year 2025 is not over on 2025-06-30, so its values may grow"
    ));
}
