//! Rules on texts of PostgreSQL, as far as they differ.

use syrch_plugin::prelude::*;

use super::first;

fn becomes(family: &str, sql: &str, expected: &str) {
    assert_eq!(first(Dialect::Postgres, family, sql).as_deref(), Some(expected), "{family}: {sql}");
}

fn stays(family: &str, sql: &str) {
    assert_eq!(first(Dialect::Postgres, family, sql), None, "{family}");
}

#[test]
fn dates_have_types() {
    let year = "SELECT id FROM orders WHERE (day >= '2023-01-01' AND day < '2024-01-01')";
    for condition in [
        "EXTRACT(YEAR FROM day) = 2023",
        "2023 = date_part('year', day)",
        "date_trunc('year', day) = DATE '2023-01-01'",
        "to_char(day, 'YYYY') = '2023'",
    ] {
        becomes("function-to-range", &format!("SELECT id FROM orders WHERE {condition}"), year);
    }
    becomes(
        "function-to-range",
        "SELECT id FROM orders WHERE date_trunc('month', day) >= '2023-05-01' \
         AND day::DATE <= '2023-12-31'",
        "SELECT id FROM orders WHERE day >= '2023-05-01' AND day < '2024-01-01'",
    );
    // Not the first day of the month, not a date, and another column type.
    stays(
        "function-to-range",
        "SELECT id FROM orders WHERE date_trunc('month', day) = '2023-05-02'",
    );
    stays("function-to-range", "SELECT id FROM orders WHERE EXTRACT(MONTH FROM day) = 5");
    stays("function-to-range", "SELECT id FROM orders WHERE EXTRACT(YEAR FROM total) = 2023");
    // The order of texts depends on the collation.
    stays("function-to-range", "SELECT id FROM orders WHERE substr(state, 1, 2) = 'op'");
}

#[test]
fn ctes_are_marked() {
    let sql = "WITH w AS (SELECT customer_id AS k FROM orders) SELECT a.k FROM w AS a \
               JOIN w ON w.k = a.k";
    becomes("cte-inlined", sql, &sql.replace("AS (", "AS NOT MATERIALIZED ("));
    stays("cte-materialized", sql);
    let once = "WITH w AS (SELECT customer_id AS k FROM orders) SELECT k FROM w";
    becomes("cte-materialized", once, &once.replace("AS (", "AS MATERIALIZED ("));
    stays("cte-inlined", once);
}

#[test]
fn what_only_sqlite_needs_is_not_proposed() {
    stays(
        "not-exists-to-not-in",
        "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id)",
    );
    stays(
        "join-order",
        "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id \
         WHERE c.country = 'AT'",
    );
}

/// ON of a join sees the tables of its own item of FROM alone.
#[test]
fn what_is_joined_stands_beside_the_table_that_it_needs() {
    becomes(
        "scalar-to-join",
        "SELECT c.id FROM customers AS c, orders AS o WHERE c.level > (SELECT MAX(q.total) \
         FROM orders AS q WHERE q.customer_id = c.id)",
        "SELECT c.id FROM customers AS c LEFT JOIN (SELECT q.customer_id AS k1, MAX(q.total) AS v1 \
         FROM orders AS q GROUP BY q.customer_id) AS r1 ON r1.k1 = c.id, orders AS o \
         WHERE c.level > r1.v1",
    );
    stays(
        "scalar-to-join",
        "SELECT c.id FROM customers AS c, orders AS o WHERE 1 > (SELECT MAX(q.total) \
         FROM orders AS q WHERE q.customer_id = c.id AND q.id = o.id)",
    );
}
