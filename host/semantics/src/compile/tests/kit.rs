//! A shop as semantics and as a database, and the comparison of two statements' rows.

use chrono::NaiveDate;
use rusqlite::Connection;
use rusqlite::types::Value;
use sqlparser::ast::{Expr, visit_expressions};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use std::ops::ControlFlow;
use syrch_core::Dialect;

use crate::{
    Aggregate, Cardinality, CompileError, Compiled, Dimension, Expression, Filter, Join, Literal,
    Measure, Metric, MetricKind, Operator, Period, Place, Request, Semantics, Table, compile,
};

/// Orders with items, of customers, and products in categories: with a month without orders, an
/// order without a customer, one without a date, a product without a category, a customer that was
/// deleted, and returns, which hang on items.
pub(crate) const SHOP: &str = "
CREATE TABLE customers (customer_id INTEGER, country TEXT, deleted INTEGER);
INSERT INTO customers VALUES (1, 'France', 0), (2, 'Spain', 0), (3, 'France', 1), (4, NULL, 0);
CREATE TABLE categories (category_id INTEGER, category TEXT);
INSERT INTO categories VALUES (1, 'Toys'), (2, 'Books');
CREATE TABLE products (product_id INTEGER, category_id INTEGER, cost REAL);
INSERT INTO products VALUES (1, 1, 2.0), (2, 2, 3.0), (3, NULL, 1.0), (4, 2, 0.5);
CREATE TABLE orders (order_id INTEGER, customer_id INTEGER, order_date TEXT, status TEXT);
INSERT INTO orders VALUES
  (1, 1, '2023-01-15', 'done'), (2, 2, '2023-02-01', 'done'), (3, 3, '2023-02-28', 'cancelled'),
  (4, 1, '2023-12-31', 'done'), (5, 1, '2024-01-01', 'done'), (6, 2, '2024-01-31', 'cancelled'),
  (7, 2, '2024-02-29', 'done'), (8, NULL, '2024-04-10', 'done'), (9, 4, '2024-05-05', 'test'),
  (10, 3, '2024-05-06', 'done'), (11, 2, NULL, 'done'), (12, 1, '2024-12-30', 'done');
CREATE TABLE order_items (order_id INTEGER, product_id INTEGER, quantity INTEGER, price REAL);
INSERT INTO order_items VALUES
  (1, 1, 2, 5.0), (1, 2, 1, 10.0), (2, 1, 1, 5.0), (3, 2, 3, 10.0), (4, 3, 1, 7.0), (5, 1, 4, 5.0),
  (5, 4, 2, 1.5), (6, 2, 1, 12.0), (7, 3, 5, 7.0), (8, 1, 1, 6.0), (8, 2, 2, 10.0), (9, 1, 9, 9.0),
  (10, 4, 3, 2.0), (11, 2, 1, 11.0), (12, 1, 1, 5.5);
CREATE TABLE returns (product_id INTEGER, returned_on TEXT, amount REAL);
INSERT INTO returns VALUES (1, '2024-01-20', 5.0), (1, '2024-03-02', 10.0), (4, '2024-05-07', 2.0),
  (NULL, '2024-03-09', 1.0);
";

pub(crate) fn parse(text: &str) -> Expression {
    let tree = Parser::new(&GenericDialect {}).try_with_sql(text).unwrap().parse_expr().unwrap();
    let mut tables: Vec<String> = Vec::new();
    let _: ControlFlow<()> = visit_expressions(&tree, |expr| {
        if let Expr::CompoundIdentifier(parts) = expr
            && !tables.contains(&parts[0].value)
        {
            tables.push(parts[0].value.clone());
        }
        ControlFlow::Continue(())
    });
    Expression { text: text.to_owned(), tree, tables, place: place() }
}

fn place() -> Place {
    Place { file: "shop.semantics.yml".to_owned(), line: 1, column: 1 }
}

pub(crate) fn table(name: &str) -> Table {
    Table {
        name: name.to_owned(),
        source: name.to_owned(),
        synonyms: Vec::new(),
        description: None,
        grain: None,
        key: Vec::new(),
        time: None,
        filter: None,
        place: place(),
    }
}

pub(crate) fn dimension(table: &str, name: &str, is_time: bool) -> Dimension {
    Dimension {
        name: name.to_owned(),
        table: table.to_owned(),
        expression: parse(&format!("{table}.\"{}\"", name.replace('"', "\"\""))),
        is_time,
        names_row: false,
        synonyms: Vec::new(),
        labels: Vec::new(),
        description: None,
        place: place(),
    }
}

pub(crate) fn join(from: (&str, &str), to: (&str, &str)) -> Join {
    Join {
        from: from.0.to_owned(),
        from_columns: vec![from.1.to_owned()],
        to: to.0.to_owned(),
        to_columns: vec![to.1.to_owned()],
        cardinality: Cardinality::ManyToOne,
        place: place(),
    }
}

fn metric(name: &str, kind: MetricKind) -> Metric {
    Metric {
        name: name.to_owned(),
        synonyms: Vec::new(),
        description: None,
        kind,
        format: crate::Format::Number,
        unit: None,
        place: place(),
    }
}

pub(crate) fn measure(
    name: &str,
    aggregate: Aggregate,
    argument: &str,
    base: &str,
    filter: Option<&str>,
) -> Metric {
    let measure = Measure {
        aggregate,
        argument: (argument != "*").then(|| parse(argument)),
        base: base.to_owned(),
        filter: filter.map(parse),
        time: None,
    };
    metric(name, MetricKind::Measure(measure))
}

pub(crate) fn ratio(name: &str, numerator: &str, denominator: &str) -> Metric {
    let numerator = numerator.to_owned();
    metric(name, MetricKind::Ratio { numerator, denominator: denominator.to_owned() })
}

pub(crate) fn derive(name: &str, text: &str) -> Metric {
    metric(name, MetricKind::Derived(parse(text)))
}

pub(crate) fn shop() -> Semantics {
    let orders = Table { time: Some("order_date".to_owned()), ..table("orders") };
    let customers = Table { filter: Some(parse("customers.deleted = 0")), ..table("customers") };
    Semantics {
        tables: vec![
            orders,
            customers,
            table("order_items"),
            table("products"),
            table("categories"),
            Table { time: Some("returned_on".to_owned()), ..table("returns") },
        ],
        joins: vec![
            join(("orders", "customer_id"), ("customers", "customer_id")),
            join(("order_items", "order_id"), ("orders", "order_id")),
            join(("order_items", "product_id"), ("products", "product_id")),
            join(("products", "category_id"), ("categories", "category_id")),
            join(("returns", "product_id"), ("products", "product_id")),
        ],
        dimensions: vec![
            dimension("orders", "order_date", true),
            dimension("orders", "status", false),
            dimension("customers", "country", false),
            dimension("categories", "category", false),
            dimension("returns", "returned_on", true),
        ],
        metrics: vec![
            measure(
                "revenue",
                Aggregate::Sum,
                "order_items.quantity * order_items.price",
                "order_items",
                None,
            ),
            measure(
                "cost",
                Aggregate::Sum,
                "order_items.quantity * products.cost",
                "order_items",
                None,
            ),
            measure("orders", Aggregate::Count, "*", "orders", None),
            measure(
                "cancelled orders",
                Aggregate::Count,
                "orders.order_id",
                "orders",
                Some("orders.status = 'cancelled'"),
            ),
            measure("buyers", Aggregate::CountDistinct, "orders.customer_id", "orders", None),
            measure("mean price", Aggregate::Avg, "order_items.price", "order_items", None),
            measure("refunds", Aggregate::Sum, "returns.amount", "returns", None),
            ratio("cancellation rate", "cancelled orders", "orders"),
            derive("profit", "revenue - cost"),
            derive("margin", "profit / revenue"),
            derive("net revenue", "revenue - refunds"),
            ratio("return rate", "refunds", "revenue"),
        ],
        ..Semantics::default()
    }
}

pub(crate) fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

pub(crate) fn period(from: &str, until: &str) -> Option<Period> {
    Some(Period { from: Some(day(from)), until: Some(day(until)) })
}

pub(crate) fn request(metrics: &[&str], by: &[&str]) -> Request {
    Request {
        metrics: metrics.iter().map(|name| (*name).to_owned()).collect(),
        by: by.iter().map(|name| (*name).to_owned()).collect(),
        ..Request::default()
    }
}

pub(crate) fn filter(dimension: &str, operator: Operator, values: &[&str]) -> Filter {
    let values = values.iter().map(|value| match value.parse() {
        Ok(day) => Literal::Date(day),
        Err(_) => Literal::Text((*value).to_owned()),
    });
    let values = values.collect();
    Filter { dimension: dimension.to_owned(), operator, values }
}

pub(crate) fn compile_for(
    semantics: &Semantics,
    request: &Request,
    dialect: &Dialect,
) -> Result<Compiled, CompileError> {
    compile(semantics, request, dialect, day("2025-06-30"))
}

pub(crate) fn open(script: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(script).unwrap();
    connection
}

/// The rows of a statement in its order, numbers with six digits behind the point.
pub(crate) fn rows(connection: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let width = statement.column_count();
    let mut found = Vec::new();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let cells = (0..width).map(|index| match row.get::<_, Value>(index).unwrap() {
            Value::Null => "NULL".to_owned(),
            Value::Integer(number) => format!("{:.6}", number as f64),
            Value::Real(number) => format!("{number:.6}"),
            Value::Text(text) => text,
            Value::Blob(_) => "blob".to_owned(),
        });
        found.push(cells.collect());
    }
    found
}

/// Asserts that a request gives the rows of a statement, in the same order.
pub(crate) fn assert_rows(request: &Request, by_hand: &str) {
    let connection = open(SHOP);
    let compiled = compile_for(&shop(), request, &Dialect::Sqlite).unwrap();
    let expected = rows(&connection, by_hand);
    assert!(!expected.is_empty());
    assert_eq!(rows(&connection, &compiled.sql), expected, "{}", compiled.sql);
    assert_eq!(compiled.columns.len(), expected[0].len());
}
