//! The rules on texts, the order of proposals, and the rows of what is proposed.

mod equivalence;
mod generate;
mod order;
mod postgres;
mod texts;

use syrch_plugin::prelude::*;

use crate::Settings;
use crate::rewriter::proposals;
use crate::rewriter::sql::Engine;

/// A column; one whose type ends in `!` is NOT NULL.
fn column(text: &str) -> Column {
    let (name, sql_type) = text.split_once(' ').unwrap();
    let nullable = !sql_type.ends_with('!');
    Column {
        name: name.into(),
        sql_type: sql_type.trim_end_matches('!').into(),
        nullable,
        ..Column::default()
    }
}

fn table(name: &str, rows: u64, columns: &[&str]) -> Table {
    Table {
        name: name.into(),
        columns: columns.iter().map(|text| column(text)).collect(),
        primary_key: vec!["id".into()],
        row_estimate: Some(rows),
        ..Table::default()
    }
}

fn index(name: &str, columns: &[&str]) -> Index {
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    Index { name: name.into(), columns, is_unique: false, method: None, predicate: None }
}

/// The tables of all tests.
fn catalog(dialect: Dialect) -> Catalog {
    let day = if dialect == Dialect::Sqlite { "day TEXT" } else { "day date" };
    let mut customers =
        table("customers", 1_000, &["id INTEGER!", "name TEXT", "country TEXT!", "level INTEGER"]);
    customers.indexes.push(index("customers_country", &["country"]));
    let orders = table(
        "orders",
        50_000,
        &["id INTEGER!", "customer_id INTEGER", "total INTEGER", day, "state TEXT!"],
    );
    Catalog {
        database: "shop".into(),
        dialect,
        tables: vec![customers, orders],
        ..Catalog::default()
    }
}

/// All proposals for a statement, as (family, text).
fn propose(dialect: Dialect, sql: &str, plan: &str) -> Vec<(String, String)> {
    let catalog = catalog(dialect);
    let engine = Engine::for_dialect(&catalog.dialect).unwrap();
    let all = proposals(&Settings::default(), engine, sql, plan, &catalog);
    all.into_iter().map(|proposal| (proposal.family, proposal.sql)).collect()
}

/// The first proposal of a family.
fn first(dialect: Dialect, family: &str, sql: &str) -> Option<String> {
    propose(dialect, sql, "").into_iter().find(|(own, _)| own == family).map(|(_, sql)| sql)
}
