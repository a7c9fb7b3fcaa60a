use proptest::prelude::*;
use syrch_core::ports::Facts;
use syrch_core::{Catalog, Column, Dialect, Table};

use super::find_departures;
use crate::compile::tests::kit::{compile_for, period, request, shop};
use crate::{Aggregate, Comparison, Grain, Order, Request};

/// The tables and columns of the example shop.
const TABLES: &[(&str, &[&str])] = &[
    ("customers", &["customer_id", "country", "deleted"]),
    ("categories", &["category_id", "category"]),
    ("products", &["product_id", "category_id", "cost"]),
    ("orders", &["order_id", "customer_id", "order_date", "status", "total"]),
    ("order_items", &["order_id", "product_id", "quantity", "price", "discount"]),
    ("returns", &["product_id", "returned_on", "amount"]),
];

fn catalog(dialect: Dialect) -> Catalog {
    let tables = TABLES.iter().map(|(name, columns)| Table {
        name: (*name).to_owned(),
        columns: columns.iter().map(|name| make_column(name)).collect(),
        ..Table::default()
    });
    Catalog { database: "shop".into(), dialect, tables: tables.collect() }
}

fn make_column(name: &str) -> Column {
    Column { name: name.to_owned(), ..Column::default() }
}

fn read(sql: &str, dialect: Dialect) -> Facts {
    syrch_guard::facts(sql, &[], &catalog(dialect)).unwrap_or_else(|error| panic!("{error}: {sql}"))
}

fn departures(question: &str, sql: &str) -> Vec<String> {
    find_departures(&shop(), question, &read(sql, Dialect::Sqlite))
}

#[test]
fn another_sum_is_named_with_the_definition() {
    let found = departures("What is the revenue?", "SELECT SUM(o.total) FROM orders AS o");
    let expected = "shop.semantics.yml defines revenue as sum(order_items.quantity * \
                    order_items.price), and the statement computes SUM(o.total)";
    assert_eq!(found, [expected]);
    for sql in [
        "SELECT SUM(price) FROM order_items",
        "SELECT order_id, SUM(quantity) FROM order_items GROUP BY 1",
        "SELECT SUM(quantity * cost) FROM order_items JOIN products USING (product_id)",
        "SELECT AVG(i.quantity * i.discount) FROM order_items i",
    ] {
        assert_eq!(departures("revenue of each order", sql).len(), 1, "{sql}");
    }
}

#[test]
fn a_condition_that_always_holds_may_not_be_dropped() {
    let found = departures("How many cancelled orders are there?", "SELECT COUNT(*) FROM orders");
    assert_eq!(
        found,
        ["shop.semantics.yml defines cancelled orders as count(orders.order_id) where \
          orders.status = 'cancelled', and the statement lacks that condition"]
    );
    let kept = "SELECT COUNT(*) FROM orders WHERE status = 'cancelled'";
    assert_eq!(departures("How many cancelled orders are there?", kept), [""; 0]);
}

fn count(question: &str, sql: &str) -> usize {
    departures(question, sql).len()
}

#[test]
fn an_aggregate_of_another_kind_that_is_not_asked_for_is_named() {
    let found = departures("What is the revenue?", "SELECT AVG(quantity * price) FROM order_items");
    let expected = "shop.semantics.yml defines revenue as sum(order_items.quantity * \
                    order_items.price), and the statement computes AVG(quantity * price)";
    assert_eq!(found, [expected]);
    for (question, sql, number) in [
        ("What is the revenue?", "SELECT MAX(quantity * price) FROM order_items", 1),
        ("What is the revenue?", "SELECT COUNT(*) FROM order_items", 1),
        ("What is the revenue?", "SELECT COUNT(DISTINCT order_id) FROM order_items", 1),
        ("revenue by product", "SELECT product_id, MIN(price) FROM order_items GROUP BY 1", 1),
        ("What is the highest revenue?", "SELECT MAX(quantity * price) FROM order_items", 0),
        ("average revenue", "SELECT AVG(quantity * price) FROM order_items", 0),
        ("How many items had revenue?", "SELECT COUNT(*) FROM order_items", 0),
        ("What is the revenue?", "SELECT AVG(quantity * price) * COUNT(*) FROM order_items", 0),
        ("revenue and orders", "SELECT COUNT(*) FROM order_items", 0),
        ("the mean price", "SELECT SUM(price) FROM order_items", 1),
        ("the mean price", "SELECT MAX(price) FROM order_items", 1),
        ("the mean price", "SELECT SUM(price) / COUNT(*) FROM order_items", 0),
        ("the mean price", "SELECT AVG(price) FROM order_items", 0),
        ("How many buyers are there?", "SELECT COUNT(customer_id) FROM orders", 1),
        ("How many buyers are there?", "SELECT COUNT(*) FROM orders", 1),
        ("How many buyers are there?", "SELECT COUNT(DISTINCT customer_id) FROM orders", 0),
        (
            "How many buyers are there?",
            "SELECT COUNT(*) FROM (SELECT DISTINCT customer_id FROM orders) AS t",
            0,
        ),
        (
            "How many buyers are there?",
            "SELECT COUNT(*) FROM customers WHERE customer_id IN (SELECT customer_id FROM orders)",
            0,
        ),
        (
            "How many cancelled orders are there?",
            "SELECT COUNT(DISTINCT customer_id) FROM orders WHERE status = 'cancelled'",
            1,
        ),
        (
            "How many cancelled orders are there?",
            "SELECT COUNT(DISTINCT order_id) FROM orders WHERE status = 'cancelled'",
            0,
        ),
    ] {
        assert_eq!(count(question, sql), number, "{question}: {sql}");
    }
}

#[test]
fn a_condition_that_leaves_other_values_is_not_that_of_the_definition() {
    let question = "How many cancelled orders are there?";
    for (condition, number) in [
        ("WHERE status <> 'cancelled'", 1),
        ("WHERE status NOT IN ('cancelled', 'done')", 1),
        ("WHERE status IN ('cancelled', 'done')", 1),
        ("WHERE status = 'done'", 1),
        ("WHERE status IS NULL", 1),
        ("GROUP BY status", 1),
        ("WHERE 'cancelled' = status", 0),
        ("WHERE status IN ('cancelled')", 0),
        ("WHERE LOWER(status) = 'cancelled'", 0),
        ("WHERE status LIKE 'cancel%'", 0),
        ("WHERE NOT (status <> 'cancelled')", 0),
        ("WHERE status = 'done' OR status = 'cancelled'", 0),
        ("AS o JOIN customers AS c ON o.status = c.country", 0),
    ] {
        let sql = format!("SELECT COUNT(*) FROM orders {condition}");
        assert_eq!(count(question, &sql), number, "{sql}");
    }
    for (question, condition, number) in [
        ("orders that are not cancelled orders", "status <> 'cancelled'", 0),
        ("all except done and cancelled orders", "status NOT IN ('done', 'cancelled')", 0),
        ("orders that aren't cancelled orders", "status <> 'cancelled'", 0),
        ("orders that are not cancelled orders", "status = 'done'", 1),
        ("cancelled orders that are not done", "status <> 'cancelled'", 1),
        ("cancelled orders vs done", "status IN ('cancelled', 'done')", 0),
        ("cancelled orders vs done", "status IN ('cancelled', 'open')", 1),
        ("cancelled orders vs done", "status = 'done'", 1),
    ] {
        let sql = format!("SELECT COUNT(*) FROM orders WHERE {condition}");
        assert_eq!(count(question, &sql), number, "{question}: {sql}");
    }
    let hidden = "SELECT COUNT(*) FROM (SELECT * FROM orders) AS t WHERE t.status = 'cancelled'";
    assert_eq!(count(question, hidden), 0);
}

/// The shop with rows that never count.
fn filter_semantics() -> crate::Semantics {
    let mut shop = shop();
    shop.tables[0].filter = Some(crate::compile::tests::kit::parse("orders.status <> 'test'"));
    shop
}

#[test]
fn the_condition_on_the_rows_of_a_table_may_not_be_dropped() {
    for (question, sql, number) in [
        ("How many orders are there?", "SELECT COUNT(*) FROM orders", 1),
        ("How many orders are there?", "SELECT COUNT(*) FROM orders WHERE status = 'test'", 1),
        ("How many orders are there?", "SELECT COUNT(*) FROM orders WHERE status <> 'test'", 0),
        ("How many orders are there?", "SELECT COUNT(*) FROM orders WHERE status = 'done'", 0),
        ("orders by status", "SELECT status, COUNT(*) FROM orders GROUP BY status", 1),
        ("How many buyers are there?", "SELECT COUNT(DISTINCT customer_id) FROM orders", 1),
        ("What is the cancellation rate?", "SELECT COUNT(*) FROM orders", 1),
        ("What is the revenue?", "SELECT SUM(price * quantity) FROM order_items", 0),
        ("Which orders are there?", "SELECT order_id FROM orders", 0),
    ] {
        let found = find_departures(&filter_semantics(), question, &read(sql, Dialect::Sqlite));
        assert_eq!(found.len(), number, "{question}: {sql}: {found:?}");
    }
}

#[test]
fn the_same_computation_in_another_spelling_is_none() {
    for sql in [
        "SELECT SUM(i.price * i.quantity) FROM order_items i",
        "SELECT ROUND(SUM(CAST(price AS REAL) * (quantity)), 2) FROM order_items",
        "SELECT SUM(quantity * price) / 100.0 FROM order_items",
        "SELECT SUM(CASE WHEN status = 'done' THEN quantity * price ELSE 0 END) \
         FROM order_items JOIN orders USING (order_id)",
        "SELECT SUM(v) FROM (SELECT quantity * price AS v FROM order_items) AS t",
        "WITH t AS (SELECT order_id, SUM(quantity * price) AS v FROM order_items GROUP BY 1) \
         SELECT AVG(v) FROM t",
        "SELECT SUM(quantity * price * (1 - discount)) + SUM(quantity * price * discount) \
         FROM order_items",
        "SELECT country FROM customers",
        "SELECT COUNT(*) FROM customers",
        "SELECT price FROM order_items ORDER BY quantity * price DESC LIMIT 1",
        "SELECT MAX(v) FROM (SELECT SUM(quantity * price) AS v FROM order_items) AS t",
    ] {
        assert_eq!(departures("What is the revenue?", sql), [""; 0], "{sql}");
    }
    let other = "SELECT SUM(total) FROM orders";
    assert_eq!(departures("What do the orders come to?", other), [""; 0]);
    assert_eq!(departures("What is the profit?", other), [""; 0]);
    // The column stands in a condition of the question, as in `products in stock`.
    let condition = "SELECT AVG(discount) FROM order_items JOIN returns USING (product_id) \
                     WHERE amount > 0";
    assert_eq!(departures("average discount of products with refunds", condition), [""; 0]);
}

#[test]
fn two_spellings_of_one_product_are_equal() {
    let mut shop = shop();
    let of_discount = crate::compile::tests::kit::measure(
        "net",
        Aggregate::Sum,
        "order_items.quantity * order_items.price * (1 - order_items.discount)",
        "order_items",
        None,
    );
    shop.metrics.push(of_discount);
    for (sql, count) in [
        ("SELECT SUM(price * quantity - discount * price * quantity) FROM order_items", 0),
        ("SELECT SUM(price * quantity) - SUM(discount * price * quantity) FROM order_items", 0),
        ("SELECT SUM(price * quantity) FROM order_items", 1),
    ] {
        let facts = read(sql, Dialect::Sqlite);
        assert_eq!(find_departures(&shop, "the net", &facts).len(), count, "{sql}");
    }
}

#[test]
fn what_is_not_read_is_no_departure() {
    let deep = format!("SELECT SUM({}1) FROM orders", "1 + ".repeat(5_000));
    let nested = format!("SELECT SUM({}1{}) FROM orders", "(".repeat(3_000), ")".repeat(3_000));
    let short = ["", "SELECT SUM(", "DELETE FROM x"].map(str::to_owned);
    for normalized in short.into_iter().chain([deep, nested]) {
        let facts = Facts { normalized, ..Facts::default() };
        assert_eq!(find_departures(&shop(), "revenue", &facts), [""; 0]);
    }
}

const METRICS: &[&str] = &[
    "revenue",
    "cost",
    "orders",
    "cancelled orders",
    "buyers",
    "mean price",
    "refunds",
    "cancellation rate",
    "profit",
    "net revenue",
];
const DIMENSIONS: &[&str] = &["status", "country", "category"];
static GRAINS: [Option<Grain>; 4] = [None, Some(Grain::Day), Some(Grain::Month), Some(Grain::Year)];
static COMPARISONS: [Option<Comparison>; 5] = [
    None,
    Some(Comparison::Growth),
    Some(Comparison::PreviousPeriod),
    Some(Comparison::ShareOfTotal),
    Some(Comparison::RunningTotal),
];
static DIALECTS: [Dialect; 4] =
    [Dialect::Sqlite, Dialect::Postgres, Dialect::Duckdb, Dialect::Databricks];

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn what_the_compiler_writes_is_no_departure(
        metrics in proptest::sample::subsequence(METRICS, 1..4),
        by in proptest::sample::subsequence(DIMENSIONS, 0..3),
        grain in proptest::sample::select(&GRAINS[..]),
        comparison in proptest::sample::select(&COMPARISONS[..]),
        is_bounded in any::<bool>(),
        dialect in proptest::sample::select(&DIALECTS[..]),
    ) {
        let whole = Request {
            grain,
            comparison,
            period: if is_bounded { period("2024-01-01", "2025-01-01") } else { None },
            order: is_bounded.then(|| Order { by: metrics[0].to_owned(), descending: true }),
            limit: is_bounded.then_some(3),
            ..request(&metrics, &by)
        };
        let question = format!("{} by {}", metrics.join(" and "), by.join(" and "));
        if let Ok(compiled) = compile_for(&shop(), &whole, &dialect) {
            let facts = read(&compiled.sql, dialect.clone());
            let found = find_departures(&shop(), &question, &facts);
            prop_assert!(found.is_empty(), "{found:?}: {}", compiled.sql);
        }
        if let Ok(compiled) = compile_for(&filter_semantics(), &whole, &dialect) {
            let facts = read(&compiled.sql, dialect);
            let found = find_departures(&filter_semantics(), &question, &facts);
            prop_assert!(found.is_empty(), "{found:?}: {}", compiled.sql);
        }
    }
}
