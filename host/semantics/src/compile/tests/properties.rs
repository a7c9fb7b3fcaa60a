//! Properties that hold for all data and all trees of joins.

use proptest::prelude::*;
use rusqlite::Connection;
use syrch_core::Dialect;

use crate::{Aggregate, Comparison, Operator, Order, Request, Semantics};

use super::kit::{
    compile_for, dimension, filter, join, measure, open, parse, request, rows, table,
};

/// The largest number of tables.
const TABLES: usize = 6;

/// A row: its key, its value, and its dimension with the keys of the tables that it is joined to.
type Row = (Option<u8>, i64, Vec<Option<u8>>);

/// Data of tables `t0` and so on: each has a key `k`, a dimension `d`, a value `v` and a key `p1`
/// and so on of each table that it is joined to. Keys may be missing on either side.
#[derive(Debug, Clone)]
struct Model {
    /// For each table but the first, the one that is joined to it.
    parents: Vec<usize>,
    /// The tables with a condition.
    filters: Vec<bool>,
    rows: Vec<Vec<Row>>,
}

fn models() -> impl Strategy<Value = Model> {
    let row = (
        proptest::option::of(0_u8..4),
        -50_i64..50,
        proptest::collection::vec(proptest::option::weighted(0.8, 0_u8..6), TABLES),
    );
    (
        proptest::collection::vec(any::<proptest::sample::Index>(), 1..TABLES),
        proptest::collection::vec(any::<bool>(), TABLES),
        proptest::collection::vec(proptest::collection::vec(row, 0..12), TABLES),
    )
        .prop_map(|(parents, filters, rows)| Model {
            parents: parents.iter().enumerate().map(|(at, index)| index.index(at + 1)).collect(),
            filters,
            rows,
        })
}

impl Model {
    fn semantics(&self) -> Semantics {
        let mut semantics = Semantics::default();
        for at in 0..=self.parents.len() {
            let name = format!("t{at}");
            let filter = (at > 0 && self.filters[at]).then(|| parse(&format!("t{at}.k % 2 = 0")));
            semantics.tables.push(crate::Table { filter, ..table(&name) });
            let mut by = dimension(&name, "d", false);
            by.name = format!("d{at}");
            semantics.dimensions.push(by);
            semantics.metrics.push(measure(
                &format!("sum{at}"),
                Aggregate::Sum,
                &format!("t{at}.v"),
                &name,
                None,
            ));
            semantics.metrics.push(measure(
                &format!("rows{at}"),
                Aggregate::Count,
                "*",
                &name,
                None,
            ));
        }
        for (at, parent) in self.parents.iter().enumerate() {
            let child = format!("t{}", at + 1);
            let key = format!("p{}", at + 1);
            semantics.joins.push(join((&format!("t{parent}"), &key), (&child, "k")));
        }
        semantics
    }

    fn database(&self) -> Connection {
        let connection = open("");
        for (at, rows) in self.rows.iter().enumerate() {
            let keys: Vec<String> = (0..TABLES).map(|key| format!("p{}", key + 1)).collect();
            let sql =
                format!("CREATE TABLE t{at} (k INTEGER, d TEXT, v INTEGER, {})", keys.join(", "));
            connection.execute_batch(&sql).unwrap();
            for (key, (group, value, parents)) in rows.iter().enumerate() {
                let keys =
                    parents.iter().map(|cell| cell.map_or("NULL".to_owned(), |it| it.to_string()));
                let keys: Vec<String> = keys.collect();
                let group = group.map_or("NULL".to_owned(), |group| format!("'g{group}'"));
                let sql = format!(
                    "INSERT INTO t{at} VALUES ({key}, {group}, {value}, {})",
                    keys.join(", ")
                );
                connection.execute_batch(&sql).unwrap();
            }
        }
        connection
    }

    fn run(&self, request: &Request) -> Vec<Vec<String>> {
        let sql = compile_for(&self.semantics(), request, &Dialect::Sqlite).unwrap().sql;
        rows(&self.database(), &sql)
    }
}

fn number(cell: &str) -> f64 {
    if cell == "NULL" { 0.0 } else { cell.parse().unwrap() }
}

fn total(rows: &[Vec<String>], column: usize) -> f64 {
    rows.iter().map(|row| number(&row[column])).sum()
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-3
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_groups_of_any_dimensions_add_up_to_the_total(
        model in models(),
        chosen in proptest::collection::vec(any::<bool>(), TABLES),
    ) {
        let by: Vec<String> = (0..=model.parents.len())
            .filter(|at| chosen[at % TABLES])
            .map(|at| format!("d{at}"))
            .collect();
        let by: Vec<&str> = by.iter().map(String::as_str).collect();
        let rows = model.run(&request(&["sum0", "rows0"], &by));
        let values: i64 = model.rows[0].iter().map(|row| row.1).sum();
        prop_assert!(is_near(total(&rows, by.len()), values as f64));
        prop_assert!(is_near(total(&rows, by.len() + 1), model.rows[0].len() as f64));
    }

    #[test]
    fn a_metric_of_another_table_changes_no_value(model in models()) {
        let last = model.parents.len();
        let by = format!("d{last}");
        let alone = model.run(&request(&["sum0"], &[&by]));
        let other = format!("sum{last}");
        let both = model.run(&request(&["sum0", &other], &[&by]));
        for row in &alone {
            let same = both.iter().find(|it| it[0] == row[0]);
            prop_assert_eq!(same.map(|it| &it[1]), Some(&row[1]));
        }
        let reverse = model.run(&request(&[&other, "sum0"], &[&by]));
        let swapped = reverse
            .into_iter()
            .map(|row| vec![row[0].clone(), row[2].clone(), row[1].clone()]);
        let swapped: Vec<Vec<String>> = swapped.collect();
        prop_assert_eq!(both, swapped);
    }

    #[test]
    fn shares_add_up_to_one(model in models()) {
        let by = format!("d{}", model.parents.len());
        let request = Request {
            comparison: Some(Comparison::ShareOfTotal),
            ..request(&["rows0"], &[&by])
        };
        let rows = model.run(&request);
        prop_assert!(rows.is_empty() || is_near(total(&rows, 2), 1.0));
    }

    #[test]
    fn a_limit_keeps_the_first_rows(
        model in models(),
        limit in 1_u64..6,
        descending in any::<bool>(),
    ) {
        let by = format!("d{}", model.parents.len());
        let order = Some(Order { by: "sum0".to_owned(), descending });
        let whole = Request { order, ..request(&["sum0"], &["d0", &by]) };
        let all = model.run(&whole);
        let some = model.run(&Request { limit: Some(limit), ..whole });
        let count = all.len().min(limit as usize);
        prop_assert_eq!(&some[..], &all[..count]);
    }

    #[test]
    fn a_condition_and_its_opposite_divide_the_rows(model in models(), value in 0_u8..4) {
        let by = format!("d{}", model.parents.len());
        let value = format!("g{value}");
        let mut found = 0.0;
        for operator in [Operator::In, Operator::NotIn] {
            let filters = vec![filter(&by, operator, &[&value])];
            found += total(&model.run(&Request { filters, ..request(&["rows0"], &[]) }), 0);
        }
        prop_assert!(is_near(found, model.rows[0].len() as f64));
    }
}
