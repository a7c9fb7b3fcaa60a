//! Proposed statements give the same rows as the original, as a bag, on random rows with NULLs,
//! duplicates and empty tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use syrch_plugin::prelude::*;

use super::generate::{Dice, data, statement};
use super::propose;

/// The rows of a statement, each with the types of its cells, sorted.
fn bag(connection: &Connection, sql: &str) -> rusqlite::Result<(Vec<String>, Vec<String>)> {
    let mut statement = connection.prepare(sql)?;
    let names = statement.column_names().map(str::to_owned).collect::<Vec<_>>();
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut text = String::new();
        for place in 0..names.len() {
            match row.get_ref(place)? {
                ValueRef::Null => text += "null ",
                ValueRef::Integer(number) => write!(text, "i{number} ").unwrap(),
                ValueRef::Real(number) => write!(text, "r{number} ").unwrap(),
                ValueRef::Text(bytes) => {
                    write!(text, "t{} ", String::from_utf8_lossy(bytes)).unwrap()
                }
                ValueRef::Blob(bytes) => write!(text, "b{bytes:?} ").unwrap(),
            }
        }
        found.push(text);
    }
    found.sort();
    Ok((names, found))
}

/// The plan as the host writes it, an indented tree.
fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut text = String::new();
    let mut depths = BTreeMap::<i64, usize>::new();
    while let Some(row) = rows.next().unwrap() {
        let (id, parent, detail): (i64, i64, String) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(3).unwrap());
        let depth = depths.get(&parent).map_or(0, |depth| depth + 1);
        depths.insert(id, depth);
        writeln!(text, "{}{detail}", "  ".repeat(depth)).unwrap();
    }
    text
}

#[test]
fn proposals_give_the_same_rows() {
    let mut families = BTreeMap::<String, usize>::new();
    for seed in 0..1_200 {
        let mut dice = Dice(syrch_basics::Random::new(seed));
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&data(&mut dice)).unwrap();
        let sql = statement(&mut dice);
        let expected =
            bag(&connection, &sql).unwrap_or_else(|error| panic!("{seed}: {error}: {sql}"));
        for (family, new) in propose(Dialect::Sqlite, &sql, &plan(&connection, &sql)) {
            let found = bag(&connection, &new)
                .unwrap_or_else(|error| panic!("{seed}: {error}\n{sql}\n{new}"));
            assert_eq!(found, expected, "{family}, seed {seed}\n{sql}\n{new}");
            *families.entry(family).or_default() += 1;
        }
    }
    // A rule that never applied would not have been tested.
    let seldom: Vec<_> = crate::rewriter::rules::RULES
        .iter()
        .map(|rule| (rule.family, families.get(rule.family).copied().unwrap_or(0)))
        .filter(|(family, count)| *family != "cte-materialized" && *count < 20)
        .collect();
    assert!(seldom.is_empty(), "{seldom:?} of {families:?}");
}
