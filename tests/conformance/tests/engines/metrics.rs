//! Requests for metrics on every engine: their rows are those of a statement that is written by
//! hand and runs on SQLite, periods as the same texts.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{Dialect, Value};
use syrch_semantics::{RequestText, Semantics, Source, WeekStart, compile};

/// The tables, with the types of texts and dates left open.
const TABLES: [&str; 3] = [
    "CREATE TABLE buyers (buyer_id INTEGER, country TEXT, is_deleted INTEGER)",
    "CREATE TABLE sales (sale_id INTEGER, buyer_id INTEGER, sold_on DATE, amount INTEGER, status \
     TEXT, note TEXT)",
    "CREATE TABLE refunds (buyer_id INTEGER, refunded_on DATE, amount INTEGER)",
];

/// The rows, days as in SQLite.
const ROWS: [&str; 3] = [
    "INSERT INTO buyers VALUES (1, 'France', 0), (2, 'Spain', 0), (3, 'France', 1), (4, NULL, 0)",
    "INSERT INTO sales VALUES (1, 1, '2023-01-15', 10, 'done', 'a'), (2, 2, '2023-02-01', 20, \
     'done', NULL), \
     (3, 3, '2023-02-28', 30, 'cancelled', 'It is 100%'), (4, 1, '2023-12-31', 40, 'done', 'b'), \
     (5, 1, '2024-01-01', 50, 'done', 'A%b'), (6, 2, '2024-01-31', 65, 'cancelled', 'x'), \
     (7, 2, '2024-02-29', 70, 'done', 'y'), (8, NULL, '2024-04-10', 80, 'done', 'z'), \
     (9, 4, '2024-05-05', 95, 'test', 'z'), (10, 3, '2024-05-06', 100, 'done', 'z'), \
     (11, 2, NULL, 110, 'done', 'z'), (12, 1, '2024-12-30', 125, 'done', 'z'), \
     (13, 2, '2024-12-30', 0, 'done', 'z')",
    "INSERT INTO refunds VALUES (1, '2024-01-20', 5), (1, '2024-03-02', 10), (4, '2024-05-07', 2), \
     (NULL, '2024-03-09', 1)",
];

/// Returns the statements that make the tables in a dialect.
pub(crate) fn script(dialect: &Dialect) -> Vec<String> {
    let is_spark = matches!(dialect, Dialect::Spark | Dialect::Databricks);
    let tables = TABLES.map(|table| {
        if is_spark {
            format!("{} USING parquet", table.replace("TEXT", "STRING"))
        } else {
            table.to_owned()
        }
    });
    let rows = ROWS.map(|rows| {
        if *dialect == Dialect::Sqlite {
            rows.to_owned()
        } else {
            rows.replace("'202", "DATE '202")
        }
    });
    tables.into_iter().chain(rows).collect()
}

/// A request as JSON, and the statement on SQLite.
const REQUESTS: [(&str, &str); 22] = [
    (
        r#"{"metrics": ["revenue"], "by": ["status"], "within": ["country"], "limit": 1,
            "order": "revenue:desc"}"#,
        "WITH m AS (SELECT country AS k, status AS g, SUM(amount) AS v FROM s GROUP BY 1, 2) \
         SELECT k, g, v FROM m WHERE v = (SELECT MAX(b.v) FROM m b WHERE b.k IS m.k) \
         ORDER BY 1 NULLS LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["status"], "within": ["year"], "period": "2023..2024",
            "limit": 1, "order": "revenue:desc"}"#,
        "WITH m AS (SELECT substr(sold_on, 1, 4) AS k, status AS g, SUM(amount) AS v FROM s \
         WHERE sold_on IS NOT NULL GROUP BY 1, 2) \
         SELECT k, g, v FROM m WHERE v = (SELECT MAX(b.v) FROM m b WHERE b.k = m.k) ORDER BY 1",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["country", "status"], "within": ["country"],
            "compare": "share_of_total"}"#,
        "WITH m AS (SELECT country AS k, status AS g, SUM(amount) AS v FROM s GROUP BY 1, 2) \
         SELECT k, g, v, 1.0 * v / (SELECT SUM(b.v) FROM m b WHERE b.k IS m.k) FROM m \
         ORDER BY 1 NULLS LAST, 2",
    ),
    (
        r#"{"metrics": ["revenue", "sales", "buyers", "mean amount", "half",
            "cancellation rate"]}"#,
        "SELECT SUM(amount), COUNT(*), COUNT(DISTINCT buyer_id), AVG(amount), COUNT(*) / 2.0, \
         1.0 * SUM(status = 'cancelled') / COUNT(*) FROM sales WHERE status <> 'test'",
    ),
    (
        r#"{"metrics": ["revenue", "mean amount"], "by": ["country"], "order": "revenue:desc"}"#,
        "SELECT country, SUM(amount), AVG(amount) FROM s GROUP BY 1 ORDER BY 2 DESC",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["year"]}"#,
        "SELECT substr(sold_on, 1, 4), SUM(amount) FROM s GROUP BY 1 ORDER BY 1 NULLS LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["quarter"]}"#,
        "SELECT q, SUM(amount) FROM s GROUP BY 1 ORDER BY 1 NULLS LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["month"], "period": "2023-02..2024-04"}"#,
        "SELECT substr(sold_on, 1, 7), SUM(amount) FROM s WHERE sold_on BETWEEN '2023-02-01' AND \
         '2024-04-30' \
         GROUP BY 1 ORDER BY 1",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["week"]}"#,
        "SELECT date(sold_on, '-6 days', 'weekday 1'), SUM(amount) FROM s GROUP BY 1 ORDER BY 1 \
         NULLS LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["day"], "period": "2024"}"#,
        "SELECT sold_on, SUM(amount) FROM s WHERE sold_on LIKE '2024%' GROUP BY 1 ORDER BY 1",
    ),
    (
        r#"{"metrics": ["sales"], "by": ["note"],
            "where": "note LIKE '%IT IS%' AND country IS NULL"}"#,
        "SELECT note, COUNT(*) FROM s WHERE note LIKE '%it is%' AND country IS NULL GROUP BY 1",
    ),
    (
        r#"{"metrics": ["sales"],
            "where": "country <> 'France' AND sold_on >= DATE '2024-01-31'"}"#,
        "SELECT COUNT(*) FROM s WHERE country IS NOT 'France' AND sold_on >= '2024-01-31'",
    ),
    (
        r#"{"metrics": ["net revenue", "refunds", "refund count", "per refund"],
            "by": ["country"]}"#,
        "WITH a AS (SELECT country AS k, SUM(amount) AS v FROM s GROUP BY 1), \
         b AS (SELECT country AS k, SUM(amount) AS v, COUNT(*) AS n FROM refunds r \
         LEFT JOIN buyers b ON b.buyer_id = r.buyer_id AND is_deleted = 0 GROUP BY 1) \
         SELECT COALESCE(a.k, b.k), a.v - b.v, b.v, COALESCE(b.n, 0), 1.0 * a.v / NULLIF(b.n, 0) \
         FROM a FULL JOIN b ON a.k IS b.k ORDER BY 1 NULLS LAST",
    ),
    (
        r#"{"metrics": ["sales", "refunds", "cancelled"], "by": ["month"], "period": "2024"}"#,
        "WITH k AS (SELECT substr(sold_on, 1, 7) AS k FROM s UNION SELECT substr(refunded_on, 1, \
         7) FROM refunds) \
         SELECT k, (SELECT COUNT(*) FROM s WHERE substr(sold_on, 1, 7) = k), \
         (SELECT SUM(amount) FROM refunds WHERE substr(refunded_on, 1, 7) = k), \
         (SELECT COUNT(*) FROM s WHERE substr(sold_on, 1, 7) = k AND status = 'cancelled') \
         FROM k WHERE k LIKE '2024%' ORDER BY 1",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["month"], "period": "2024",
            "compare": "previous_period"}"#,
        "WITH m AS (SELECT substr(sold_on, 1, 7) AS t, SUM(amount) AS v FROM s GROUP BY 1) \
         SELECT m.t, m.v, b.v FROM m LEFT JOIN m b ON b.t = substr(date(m.t || '-01', '-1 \
         month'), 1, 7) \
         WHERE m.t LIKE '2024%' ORDER BY 1",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["month", "country"], "period": "2024",
            "compare": "growth_last_year"}"#,
        "WITH m AS (SELECT substr(sold_on, 1, 7) AS t, country AS k, SUM(amount) AS v FROM s \
         GROUP BY 1, 2) \
         SELECT m.t, m.k, m.v, 1.0 * (m.v - b.v) / NULLIF(b.v, 0) FROM m LEFT JOIN m b ON b.k IS \
         m.k \
         AND b.t = substr(date(m.t || '-01', '-1 year'), 1, 7) WHERE m.t LIKE '2024%' ORDER BY \
         1, 2 NULLS LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["day"], "compare": "previous_period"}"#,
        "WITH m AS (SELECT sold_on AS t, SUM(amount) AS v FROM s GROUP BY 1) \
         SELECT m.t, m.v, b.v FROM m LEFT JOIN m b ON b.t = date(m.t, '-1 day') ORDER BY 1 NULLS \
         LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["week"], "compare": "growth"}"#,
        "WITH m AS (SELECT date(sold_on, '-6 days', 'weekday 1') AS t, SUM(amount) AS v FROM s \
         GROUP BY 1) \
         SELECT m.t, m.v, 1.0 * (m.v - b.v) / NULLIF(b.v, 0) FROM m \
         LEFT JOIN m b ON b.t = date(m.t, '-7 days') ORDER BY 1 NULLS LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["quarter"], "compare": "same_period_last_year"}"#,
        "WITH m AS (SELECT q AS t, SUM(amount) AS v FROM s GROUP BY 1) \
         SELECT m.t, m.v, b.v FROM m LEFT JOIN m b ON b.t = (substr(m.t, 1, 4) - 1) || \
         substr(m.t, 5) \
         ORDER BY 1 NULLS LAST",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["country"], "compare": "share_of_total",
            "order": "share_of_total:desc", "limit": 2}"#,
        "SELECT country, SUM(amount), 1.0 * SUM(amount) / (SELECT SUM(amount) FROM s) FROM s \
         GROUP BY 1 \
         ORDER BY 2 DESC LIMIT 2",
    ),
    (
        r#"{"metrics": ["revenue"], "by": ["country", "month"], "period": "2024",
            "compare": "running_total"}"#,
        "WITH m AS (SELECT substr(sold_on, 1, 7) AS t, country AS k, SUM(amount) AS v FROM s \
         WHERE sold_on LIKE '2024%' GROUP BY 1, 2) SELECT t, k, v, \
         (SELECT SUM(b.v) FROM m b WHERE b.k IS m.k AND b.t <= m.t) FROM m ORDER BY 1, 2 NULLS \
         LAST",
    ),
    (
        r#"{"metrics": ["cancelled", "cancellation rate"], "by": ["year", "country"], "limit": 3}"#,
        "SELECT substr(sold_on, 1, 4), country, SUM(status = 'cancelled'), \
         1.0 * SUM(status = 'cancelled') / COUNT(*) FROM s GROUP BY 1, 2 ORDER BY 1 NULLS LAST, \
         2 NULLS LAST LIMIT 3",
    ),
];

/// A number with four digits behind the point, any other cell as its text.
fn text(cell: &Value) -> String {
    match cell {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => format!("{:.4}", *number as f64),
        Value::Real(number) => format!("{number:.4}"),
        Value::Decimal(digits) => format!("{:.4}", digits.parse::<f64>().unwrap()),
        Value::Text(text) | Value::Temporal(text) | Value::Other(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn run_by_hand(connection: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let width = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let cells = (0..width).map(|at| match row.get::<_, Cell>(at).unwrap() {
            Cell::Null => "NULL".to_owned(),
            Cell::Integer(number) => format!("{:.4}", number as f64),
            Cell::Real(number) => format!("{number:.4}"),
            Cell::Text(text) => text,
            Cell::Blob(_) => "bytes".to_owned(),
        });
        found.push(cells.collect());
    }
    found
}

/// Asserts that every request gives the rows of its statement on a database with the tables of
/// [`script`].
pub(crate) async fn check(database: &Arc<dyn Database>) {
    let reference = Connection::open_in_memory().unwrap();
    reference.execute_batch(&script(&Dialect::Sqlite).join(";")).unwrap();
    reference
        .execute_batch(
            "CREATE VIEW s AS SELECT sale_id, country, sold_on, amount, status, note, \
             substr(sold_on, 1, 4) \
             || '-Q' || ((substr(sold_on, 6, 2) + 2) / 3) AS q FROM sales \
             LEFT JOIN buyers ON buyers.buyer_id = sales.buyer_id AND is_deleted = 0 WHERE \
             status <> 'test'",
        )
        .unwrap();
    let source =
        Source { file: "metrics.yml".to_owned(), text: include_str!("metrics.yml").to_owned() };
    let semantics = Semantics::read(&[source]).unwrap();
    let today = "2025-01-01".parse().unwrap();
    for (request, by_hand) in REQUESTS {
        let request = RequestText::from_json(request).unwrap();
        let request = request.read(today, WeekStart::Monday).unwrap();
        let compiled = compile(&semantics, &request, &database.dialect(), today).unwrap();
        let found = database.run(&SqlQuery::new(compiled.sql.clone())).await;
        let found = found.unwrap_or_else(|error| panic!("{error}: {}", compiled.sql));
        let found: Vec<Vec<String>> =
            found.rows(0, 1_000).iter().map(|row| row.iter().map(text).collect()).collect();
        assert_eq!(found, run_by_hand(&reference, by_hand), "{}", compiled.sql);
    }
}
