//! Semantics against catalogs and rows.

use rusqlite::Connection;
use syrch_core::{Column, ForeignKey, Table as SourceTable};

use super::*;
use crate::Source;

const SHOP: &str = include_str!("../../../../examples/shop.semantics.yml");

fn read(text: &str) -> Semantics {
    let source = Source { file: "f.yml".to_owned(), text: text.to_owned() };
    Semantics::read(&[source]).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn table(name: &str, columns: &[(&str, &str)]) -> SourceTable {
    SourceTable {
        name: name.into(),
        columns: columns
            .iter()
            .map(|(name, sql_type)| Column {
                name: (*name).into(),
                sql_type: (*sql_type).into(),
                ..Column::default()
            })
            .collect(),
        primary_key: vec!["id".into()],
        ..SourceTable::default()
    }
}

fn catalog(dialect: Dialect) -> Catalog {
    let mut status = table(
        "orders",
        &[
            ("id", "INTEGER"),
            ("customer_id", "INTEGER"),
            ("day", "DATE"),
            ("day_text", "TEXT"),
            ("status", "VARCHAR"),
            ("total", "NUMERIC(10,2)"),
            ("paid", "BOOLEAN"),
        ],
    );
    status.columns[4].set_values(["open".to_owned(), "done".to_owned()], 0);
    status.foreign_keys = vec![ForeignKey {
        columns: vec!["customer_id".into()],
        ref_table: "customers".into(),
        ref_columns: vec!["id".into()],
    }];
    let customers = table("customers", &[("id", "INTEGER"), ("name", "TEXT")]);
    Catalog { database: "d".into(), dialect, tables: vec![status, customers] }
}

fn findings(text: &str, dialect: Dialect) -> String {
    let found = check(&read(text), &catalog(dialect));
    found.iter().map(|finding| format!("{finding}\n")).collect()
}

#[test]
fn names_and_types_are_compared_with_the_catalog() {
    for (text, expected) in [
        ("tables: {order: }", "f.yml:1:10: error: the database has no table or view `order`; did"),
        ("tables: {o: {source: orders, key: idd}}", "`orders` has no column `idd`; did you mean"),
        ("tables: {orders: {dimensions: [stats]}}", "has no column `stats`; did you mean `status`"),
        ("tables: {orders: {dimensions: {status: {type: time}}}}", "is declared as a time and is"),
        ("tables: {orders: {dimensions: {day_text: {type: time}}}}", "is declared as a time and"),
        ("tables: {orders: {filter: status}}", "the filter is a text, no condition"),
        (
            "tables: {orders: {dimensions: {status: {labels: {don: }}}}}",
            "`don` of the labels of `orders.status` is none of the values that the schema allows; \
             did you mean `done`?",
        ),
        ("tables: {orders: }\nmetrics: {m: sum(orders.status)}", "f.yml:2:11: error: sum over wha"),
        ("tables: {orders: }\nmetrics: {m: avg(orders.day)}", "avg over what is a time: use min"),
        ("tables: {orders: }\nmetrics: {m: sum(orders.paid)}", "count the rows with it"),
        ("tables: {orders: }\nmetrics: {m: sum(orders.total * orders.status)}", "write CAST (orde"),
        ("tables: {orders: }\nmetrics: {m: sum(case when orders.paid then 'a' end)}", "is a text"),
        (
            "tables: {orders: , customers: }\njoins: [{from: orders.customer_id, to: \
             customers.name}]",
            "warning: `orders.customer_id` is a number and `customers.name` is a text",
        ),
        ("tables: {customers: {dimensions: [name]}}", "note: nothing uses `id` of `customers`"),
    ] {
        let reported = findings(text, Dialect::Postgres);
        assert!(reported.contains(expected), "{text}\nexpected {expected}\nreported {reported}");
    }
}

#[test]
fn what_is_right_is_not_reported() {
    let text = "tables:
  orders: {key: id, time: day, dimensions: {day: {type: time}, status: {labels: [open, done]}, \
                paid: , day_text: }}
  customers: {key: ID, dimensions: [Name]}
joins: [{from: orders.customer_id, to: customers.id}]
metrics:
  total: sum(orders.total)
  days: avg(julianday(orders.day))
  latest: max(orders.day)
  texts: sum(cast(orders.day_text as integer))
";
    assert_eq!(findings(text, Dialect::Postgres), "");
    // SQLite has neither dates nor truth values.
    let text = "tables: {orders: {dimensions: {day_text: {type: time}}}}\nmetrics: {m: \
                sum(orders.paid)}";
    assert!(!findings(text, Dialect::Sqlite).contains("error"));
}

/// The catalog of a SQLite database, as far as these tests need it.
fn catalog_from(connection: &Connection, tables: &[&str]) -> Catalog {
    let tables = tables
        .iter()
        .map(|name| {
            let mut statement = connection
                .prepare(&format!("SELECT name, type, pk FROM pragma_table_info('{name}')"))
                .unwrap();
            let columns: Vec<(String, String, i64)> = statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let named: Vec<(&str, &str)> =
                columns.iter().map(|(name, kind, _)| (name.as_str(), kind.as_str())).collect();
            let keys = columns.iter().filter(|(.., key)| *key > 0);
            SourceTable {
                primary_key: keys.map(|(name, ..)| name.clone()).collect(),
                ..table(name, &named)
            }
        })
        .collect();
    Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables }
}

fn counts(connection: &Connection, sql: &str) -> Vec<i64> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    statement.query_row([], |row| (0..columns).map(|index| row.get(index)).collect()).unwrap()
}

#[test]
fn probes_find_repeated_rows_orphans_and_labels_that_are_missing() {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE \"Order s\" (\"Id\" INTEGER, customer INTEGER, state TEXT);
             CREATE TABLE customers (id INTEGER PRIMARY KEY, code INTEGER);
             INSERT INTO \"Order s\" VALUES (1, 1, 'open'), (1, 2, 'it''s'), (2, 7, NULL),
                 (3, NULL, 'x');
             INSERT INTO customers VALUES (1, 5), (2, 5), (3, 6);",
        )
        .unwrap();
    let semantics = read(
        "tables:
  o: {source: Order s, key: id, dimensions: {state: {labels: {open: , it's: , gone: }}}}
  customers: {key: id}
  codes: {source: customers}
joins:
  - {from: o.customer, to: customers.id}
  - {from: o.customer, to: codes.code}
",
    );
    let catalog = catalog_from(&connection, &["Order s", "customers"]);
    let probes = probes(&semantics, &catalog, &Dialect::Sqlite);
    let results: Vec<Vec<i64>> =
        probes.iter().map(|probe| counts(&connection, &probe.sql)).collect();
    // The key of `o`, the rows without a customer, the repeated codes, the rows without a code,
    // and the labels. The key of `customers` is one of the schema.
    assert_eq!(results, [vec![1], vec![1], vec![1], vec![3], vec![1, 1, 0]]);
    let columns: Vec<&str> = probes.iter().map(|probe| probe.sql.as_str()).collect();
    assert!(columns[0].contains("t.\"Id\" IS NOT NULL"), "{}", columns[0]);
}

#[test]
fn the_example_fits_its_catalog() {
    let schema = "
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, employee_id INTEGER,
            order_date DATE, shipped_date DATE, status TEXT, payment_method TEXT);
        CREATE TABLE order_items (order_id INTEGER, product_id INTEGER, quantity INTEGER,
            unit_price REAL, discount REAL, PRIMARY KEY (order_id, product_id));
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, email TEXT, city TEXT,
            country TEXT, segment TEXT, signup_date DATE);
        CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, category_id INTEGER,
            supplier_id INTEGER, price REAL, cost REAL, stock INTEGER, discontinued INTEGER);
        CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT, parent_id INTEGER);
        CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, country TEXT);
        CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT, title TEXT,
            manager_id INTEGER, hire_date DATE, salary INTEGER);
        CREATE TABLE reviews (id INTEGER PRIMARY KEY, product_id INTEGER, customer_id INTEGER,
            rating INTEGER, comment TEXT, review_date DATE);";
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(schema).unwrap();
    let tables = [
        "orders",
        "order_items",
        "customers",
        "products",
        "categories",
        "suppliers",
        "employees",
        "reviews",
    ];
    let catalog = catalog_from(&connection, &tables);
    let shop = read(SHOP);
    let wrong: Vec<String> = check(&shop, &catalog)
        .iter()
        .filter(|finding| finding.severity != Severity::Note)
        .map(ToString::to_string)
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
    for probe in probes(&shop, &catalog, &Dialect::Sqlite) {
        let mut statement = connection.prepare(&probe.sql).unwrap();
        assert!(statement.exists([]).unwrap(), "{}", probe.sql);
    }
}
