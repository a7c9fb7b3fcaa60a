//! Each rule on texts of SQLite: what it makes of a statement, and what it leaves alone.

use syrch_plugin::prelude::*;

use super::{first, propose};

/// Asserts what the first proposal of a family is.
fn becomes(family: &str, sql: &str, expected: &str) {
    assert_eq!(first(Dialect::Sqlite, family, sql).as_deref(), Some(expected), "{family}: {sql}");
}

/// Asserts that a family has no proposal.
fn stays(family: &str, sql: &str) {
    assert_eq!(first(Dialect::Sqlite, family, sql), None, "{family}");
}

#[test]
fn scalar_to_join() {
    becomes(
        "scalar-to-join",
        "SELECT c.name, (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id \
         AND o.total > 5) AS n FROM customers c",
        "SELECT c.name, COALESCE(r1.v1, 0) AS n FROM customers c LEFT JOIN (SELECT o.customer_id \
         AS k1, COUNT(*) AS v1 FROM orders o WHERE o.total > 5 GROUP BY o.customer_id) AS r1 ON \
         r1.k1 = c.id",
    );
    becomes(
        "scalar-to-join",
        "SELECT o.id FROM orders o WHERE o.total > (SELECT AVG(q.total) FROM orders q \
         WHERE q.customer_id = o.customer_id)",
        "SELECT o.id FROM orders o LEFT JOIN (SELECT q.customer_id AS k1, AVG(q.total) AS v1 \
         FROM orders q GROUP BY q.customer_id) AS r1 ON r1.k1 = o.customer_id \
         WHERE o.total > r1.v1",
    );
    becomes(
        "scalar-to-join",
        "SELECT o.id, (SELECT c.name FROM customers c WHERE c.id = o.customer_id) AS n \
         FROM orders o",
        "SELECT o.id, r1.v1 AS n FROM orders o LEFT JOIN (SELECT c.id AS k1, c.name AS v1 \
         FROM customers c) AS r1 ON r1.k1 = o.customer_id",
    );
    becomes(
        "scalar-to-join",
        "SELECT *, (SELECT COALESCE(SUM(total), 0) FROM orders WHERE customer_id = c.id) AS s \
         FROM customers c",
        "SELECT c.*, COALESCE(r1.v1, 0) AS s FROM customers c LEFT JOIN (SELECT customer_id AS k1, \
         SUM(total) AS v1 FROM orders GROUP BY customer_id) AS r1 ON r1.k1 = c.id",
    );
    stays("scalar-to-join", "SELECT c.name, (SELECT COUNT(*) FROM orders o) AS n FROM customers c");
    stays(
        "scalar-to-join",
        "SELECT c.name, (SELECT COUNT(*) FROM orders o WHERE o.customer_id < c.id) AS n \
         FROM customers c",
    );
    stays(
        "scalar-to-join",
        "SELECT c.name, (SELECT o.total FROM orders o WHERE o.customer_id = c.id) AS n \
         FROM customers c",
    );
    stays(
        "scalar-to-join",
        "SELECT c.name, (SELECT COUNT(*) FROM orders o WHERE o.state = c.level) AS n \
         FROM customers c",
    );
    stays(
        "scalar-to-join",
        "SELECT c.level, (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.level) AS n \
         FROM customers c GROUP BY c.level",
    );
    stays(
        "scalar-to-join",
        "SELECT c.name, (SELECT SUM(o.total) FROM orders o WHERE o.customer_id = c.id \
         LIMIT 1) AS n FROM customers c",
    );
}

#[test]
fn count_to_exists() {
    becomes(
        "count-to-exists",
        "SELECT name FROM customers c WHERE (SELECT COUNT(*) FROM orders o \
         WHERE o.customer_id = c.id) > 0",
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id)",
    );
    becomes(
        "count-to-exists",
        "SELECT name FROM customers c WHERE 0 = (SELECT COUNT(o.total) FROM orders o \
         WHERE o.customer_id = c.id)",
        "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id AND o.total IS NOT NULL)",
    );
    stays(
        "count-to-exists",
        "SELECT name FROM customers c WHERE (SELECT COUNT(*) FROM orders o \
         WHERE o.customer_id = c.id) > 1",
    );
    stays(
        "count-to-exists",
        "SELECT name FROM customers c WHERE (SELECT COUNT(*) FROM orders o \
         WHERE o.customer_id = c.id GROUP BY o.state) > 0",
    );
}

#[test]
fn exists_to_in() {
    becomes(
        "exists-to-in",
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id AND o.total > 5)",
        "SELECT name FROM customers c WHERE c.id IN (SELECT o.customer_id FROM orders o \
         WHERE o.total > 5)",
    );
    becomes(
        "exists-to-in",
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id AND c.level = o.total)",
        "SELECT name FROM customers c WHERE (c.id, c.level) IN (SELECT o.customer_id, o.total \
         FROM orders o)",
    );
    stays(
        "exists-to-in",
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id > c.id)",
    );
    stays(
        "exists-to-in",
        "SELECT name FROM customers c WHERE EXISTS (SELECT COUNT(*) FROM orders o \
         WHERE o.customer_id = c.id)",
    );
    stays(
        "exists-to-in",
        "SELECT name FROM customers c WHERE (EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id)) IS NOT TRUE",
    );
}

#[test]
fn not_exists_to_not_in() {
    becomes(
        "not-exists-to-not-in",
        "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id)",
        "SELECT name FROM customers c WHERE c.id NOT IN (SELECT o.customer_id FROM orders o \
         WHERE o.customer_id IS NOT NULL)",
    );
    stays(
        "not-exists-to-not-in",
        "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id AND o.total = c.level)",
    );
}

#[test]
fn in_to_exists() {
    becomes(
        "in-to-exists",
        "SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE total > 5)",
        "SELECT name FROM customers WHERE EXISTS (SELECT 1 FROM orders WHERE total > 5 \
         AND customers.id = customer_id)",
    );
    becomes(
        "in-to-exists",
        "SELECT id FROM orders WHERE customer_id IN (SELECT customer_id FROM orders \
         WHERE total > 5)",
        "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM orders AS t1 WHERE t1.total > 5 \
         AND orders.customer_id = t1.customer_id)",
    );
    stays(
        "in-to-exists",
        "SELECT name FROM customers c WHERE id IN (SELECT customer_id FROM orders o \
         WHERE o.total = c.level)",
    );
    stays(
        "in-to-exists",
        "SELECT name FROM customers WHERE id IN (SELECT MAX(customer_id) FROM orders)",
    );
    stays(
        "in-to-exists",
        "SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders LIMIT 3)",
    );
}

#[test]
fn not_in_to_not_exists() {
    becomes(
        "not-in-to-not-exists",
        "SELECT name FROM customers WHERE level NOT IN (SELECT customer_id FROM orders)",
        "SELECT name FROM customers WHERE (NOT EXISTS (SELECT 1 FROM orders \
         WHERE customers.level = customer_id) AND NOT EXISTS (SELECT 1 FROM orders \
         WHERE customer_id IS NULL) AND (customers.level IS NOT NULL OR NOT EXISTS (SELECT 1 \
         FROM orders)))",
    );
    becomes(
        "not-in-to-not-exists",
        "SELECT name FROM customers WHERE id NOT IN (SELECT id FROM orders)",
        "SELECT name FROM customers WHERE (NOT EXISTS (SELECT 1 FROM orders \
         WHERE customers.id = id))",
    );
    stays(
        "not-in-to-not-exists",
        "SELECT name FROM customers WHERE NOT (id NOT IN (SELECT customer_id FROM orders)) IS NULL",
    );
}

#[test]
fn or_to_union() {
    becomes(
        "or-to-union",
        "SELECT id, state FROM orders WHERE customer_id = 1 OR total = 5 ORDER BY day, id",
        "SELECT u1.c1 AS id, u1.c2 AS state FROM (SELECT id AS c1, state AS c2, day AS c3 \
         FROM orders WHERE customer_id = 1 UNION ALL SELECT id AS c1, state AS c2, day AS c3 \
         FROM orders WHERE total = 5 AND (customer_id = 1) IS NOT TRUE) AS u1 ORDER BY u1.c3, id",
    );
    becomes(
        "or-to-union",
        "SELECT COUNT(*) AS n FROM customers c JOIN orders o ON c.id = o.customer_id OR \
         c.level = o.total WHERE o.total > 1",
        "SELECT COUNT(*) AS n FROM (SELECT 1 AS c1 FROM customers c \
         JOIN orders o ON c.id = o.customer_id WHERE o.total > 1 UNION ALL SELECT 1 AS c1 \
         FROM customers c JOIN orders o ON c.level = o.total AND (c.id = o.customer_id) IS NOT \
         TRUE WHERE o.total > 1) AS u1",
    );
    stays("or-to-union", "SELECT id FROM orders WHERE total = 1 OR total = 5");
    stays("or-to-union", "SELECT * FROM orders WHERE total = 1 OR customer_id = 5");
    stays(
        "or-to-union",
        "SELECT o.id FROM orders o LEFT JOIN customers c ON c.id = o.customer_id OR \
         c.level = o.total",
    );
}

#[test]
fn function_to_range() {
    becomes(
        "function-to-range",
        "SELECT id FROM orders WHERE strftime('%Y', day) = '2023' AND total + 1 > 5",
        "SELECT id FROM orders WHERE (day >= '2023-01-01' AND day < '2024-01-01') AND total > 4",
    );
    becomes(
        "function-to-range",
        "SELECT id FROM orders WHERE CAST(strftime('%Y', day) AS INTEGER) BETWEEN 2022 AND 2023",
        "SELECT id FROM orders WHERE (day >= '2022-01-01' AND day < '2024-01-01')",
    );
    becomes(
        "function-to-range",
        "SELECT id FROM orders WHERE '2023-05' <= substr(day, 1, 7) AND substr(state, 1, 2) = 'op' \
         AND date(day) = '2023-12-31'",
        "SELECT id FROM orders WHERE day >= '2023-05-01' AND (state >= 'op' AND state < 'oq') \
         AND (day >= '2023-12-31' AND day < '2024-01-01')",
    );
    stays("function-to-range", "SELECT id FROM orders WHERE strftime('%Y', day) = 2023");
    stays("function-to-range", "SELECT id FROM orders WHERE strftime('%Y', day) = '23'");
    stays("function-to-range", "SELECT id FROM orders WHERE strftime('%m', day) = '05'");
    stays("function-to-range", "SELECT id FROM orders WHERE lower(state) = 'a'");
    stays("function-to-range", "SELECT id FROM orders WHERE substr(state, 2, 2) = 'pe'");
    stays("function-to-range", "SELECT id FROM orders WHERE total + 9223372036854775807 > -9");
}

#[test]
fn distinct_to_exists() {
    becomes(
        "distinct-to-exists",
        "SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id \
         WHERE o.total > 5 AND c.level = 1",
        "SELECT DISTINCT c.name FROM customers c WHERE c.level = 1 AND EXISTS (SELECT 1 \
         FROM orders o WHERE o.customer_id = c.id AND o.total > 5)",
    );
    becomes(
        "distinct-to-exists",
        "SELECT DISTINCT c.id, c.name FROM customers c, orders o WHERE o.customer_id = c.id",
        "SELECT c.id, c.name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o \
         WHERE o.customer_id = c.id)",
    );
    stays(
        "distinct-to-exists",
        "SELECT DISTINCT c.name, o.total FROM customers c JOIN orders o ON o.customer_id = c.id",
    );
    stays(
        "distinct-to-exists",
        "SELECT DISTINCT c.name FROM customers c LEFT JOIN orders o ON o.customer_id = c.id",
    );
    stays("distinct-to-exists", "SELECT c.name FROM customers c, orders o");
}

#[test]
fn push_down() {
    becomes(
        "push-down",
        "SELECT d.k FROM (SELECT customer_id AS k, SUM(total) AS s FROM orders \
         GROUP BY customer_id) AS d WHERE d.k = 5 AND d.s > 3",
        "SELECT d.k FROM (SELECT customer_id AS k, SUM(total) AS s FROM orders \
         WHERE customer_id = 5 GROUP BY customer_id) AS d WHERE d.k = 5 AND d.s > 3",
    );
    becomes(
        "push-down",
        "SELECT d.k FROM (SELECT customer_id AS k FROM orders UNION ALL SELECT level \
         FROM customers) AS d WHERE d.k = 5",
        "SELECT d.k FROM (SELECT customer_id AS k FROM orders WHERE customer_id = 5 UNION ALL \
         SELECT level FROM customers WHERE level = 5) AS d WHERE d.k = 5",
    );
    stays(
        "push-down",
        "SELECT d.k FROM (SELECT customer_id AS k, SUM(total) AS s FROM orders \
         GROUP BY customer_id) AS d WHERE d.s > 3",
    );
    stays(
        "push-down",
        "SELECT d.k FROM (SELECT customer_id AS k FROM orders LIMIT 5) AS d WHERE d.k = 5",
    );
    stays(
        "push-down",
        "SELECT d.k FROM (SELECT customer_id AS k, ROW_NUMBER() OVER (ORDER BY id) AS n \
         FROM orders) AS d WHERE d.k = 5",
    );
    stays(
        "push-down",
        "SELECT d.k FROM (SELECT customer_id AS k FROM orders) AS d WHERE d.k IS NULL",
    );
}

#[test]
fn cte_inlined() {
    becomes(
        "cte-inlined",
        "WITH w AS (SELECT customer_id AS k FROM orders) SELECT a.k FROM w AS a \
         JOIN w ON w.k = a.k",
        "SELECT a.k FROM (SELECT customer_id AS k FROM orders) AS a JOIN (SELECT customer_id AS k \
         FROM orders) AS w ON w.k = a.k",
    );
    stays("cte-inlined", "WITH w AS (SELECT customer_id AS k FROM orders) SELECT k FROM w");
}

#[test]
fn join_order() {
    becomes(
        "join-order",
        "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id \
         WHERE c.country = 'AT'",
        "SELECT c.name FROM customers c CROSS JOIN orders o WHERE c.id = o.customer_id \
         AND c.country = 'AT'",
    );
    stays(
        "join-order",
        "SELECT c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer_id",
    );
    stays("join-order", "SELECT name FROM customers");
}

#[test]
fn an_index_that_the_plan_uses_is_switched_off() {
    let plan = "SEARCH customers USING INDEX customers_country (country=?)\n";
    let sql = "SELECT name FROM customers WHERE country = 'AT' AND level = 1";
    let all = propose(Dialect::Sqlite, sql, plan);
    assert!(
        all.contains(&(
            "index-off".into(),
            "SELECT name FROM customers WHERE +country = 'AT' AND level = 1".into()
        )),
        "{all:?}"
    );
    assert!(
        propose(Dialect::Sqlite, sql, "SCAN customers\n")
            .iter()
            .all(|(family, _)| family != "index-off")
    );
    // A number compared with a text would no longer be converted.
    let odd = "SELECT name FROM customers WHERE country = 7";
    assert!(propose(Dialect::Sqlite, odd, plan).iter().all(|(family, _)| family != "index-off"));
}
