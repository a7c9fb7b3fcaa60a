//! The database at two small scales: its rows, its keys, and every statement of
//! `orders_questions.jsonl` under the host's guard.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syrch_core::Value;
use syrch_core::ports::{Database, SqlQuery};
use syrch_grade::{Question, suite};
use syrch_orders::{Progress, Scale, make_orders};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};
use tempfile::TempDir;
use tokio::runtime::Runtime;

type Rows = Vec<Vec<Value>>;

/// A database of some scale, as the host opens it.
struct Orders {
    runtime: Runtime,
    database: SqliteDatabase,
    folder: TempDir,
}

impl Orders {
    fn new(factor: f64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders_10dim.sqlite");
        make_orders(&path, Scale::new(factor).unwrap(), false, &mut |_| ()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        Self { runtime, database: SqliteDatabase::open(SqliteConfig::new(path)).unwrap(), folder }
    }

    fn run(&self, sql: &str) -> Rows {
        let result = self.runtime.block_on(self.database.run(&SqlQuery::new(sql)));
        result.unwrap_or_else(|error| panic!("{sql}: {error:?}")).rows(0, u64::MAX)
    }

    fn count(&self, sql: &str) -> i64 {
        match self.run(sql)[0][0] {
            Value::Integer(count) => count,
            ref other => panic!("{sql}: {other:?}"),
        }
    }
}

fn questions() -> Vec<Question> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../orders_questions.jsonl");
    suite::read(&file).unwrap().questions
}

/// The statement when ties of its outermost ORDER BY are broken by the output columns, one way or
/// the other.
fn with_ties(sql: &str, direction: &str, width: usize) -> String {
    let breakers: String = (1..=width).map(|column| format!(", {column} {direction}")).collect();
    match sql.rfind(" LIMIT ") {
        Some(limit) => format!("{}{breakers}{}", &sql[..limit], &sql[limit..]),
        None => format!("{sql}{breakers}"),
    }
}

fn bag(rows: &Rows) -> Vec<String> {
    let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

#[test]
fn every_gold_runs_and_has_one_right_answer() {
    let orders = Orders::new(0.01);
    for question in questions() {
        let Question { id, ordered, .. } = &question;
        let sql = question.statements()[0].to_owned();
        let ordered = *ordered;
        let rows = orders.run(&sql);
        assert!(!rows.is_empty(), "{id} has no rows");
        assert!(
            rows.iter().flatten().any(|cell| !matches!(cell, Value::Null | Value::Integer(0))),
            "{id} says nothing: {rows:?}"
        );
        if sql.contains(" LIMIT ") || ordered {
            let [up, down] = ["ASC", "DESC"]
                .map(|direction| orders.run(&with_ties(&sql, direction, rows[0].len())));
            assert_eq!(bag(&up), bag(&down), "{id}: LIMIT cuts a tie");
            assert!(!ordered || up == down, "{id}: the order has ties");
        }
    }
}

#[test]
fn every_gold_runs_at_the_smallest_scale() {
    let orders = Orders::new(0.001);
    for question in questions() {
        orders.run(question.statements()[0]);
    }
}

#[test]
fn questions_are_well_formed() {
    let questions = questions();
    assert!(questions.len() >= 24, "{}", questions.len());
    let texts: BTreeSet<&str> =
        questions.iter().map(|question| question.question.as_str()).collect();
    assert_eq!(texts.len(), questions.len());
    for question in &questions {
        assert_eq!(
            (question.db.as_str(), question.engine.as_deref().unwrap_or_default()),
            ("orders_10dim", "sqlite")
        );
        assert!(
            ["easy", "medium", "hard"].contains(&question.fields["difficulty"].as_str()),
            "{}",
            question.id
        );
    }
}

#[test]
fn rows_are_as_many_as_tpc_h_says() {
    let orders = Orders::new(0.01);
    for (table, rows) in [
        ("regions", 5),
        ("nations", 25),
        ("market_segments", 5),
        ("customers", 1_500),
        ("dates", 2_557),
        ("priorities", 5),
        ("statuses", 3),
        ("clerks", 1_000),
        ("suppliers", 100),
        ("ship_modes", 7),
        ("orders", 15_000),
        // The view joins all ten: an order without one of its dimensions would be missing.
        ("orders_10dim", 15_000),
    ] {
        assert_eq!(orders.count(&format!("SELECT COUNT(*) FROM {table}")), rows, "{table}");
    }
    // A third of the customers never order: TPC-H leaves out every third key.
    assert_eq!(orders.count("SELECT COUNT(*) FROM orders WHERE customer_key % 3 = 0"), 0);
    let sums =
        "SELECT COUNT(*) FROM orders WHERE ABS(list_price - discount_amount - revenue) > 0.001";
    assert_eq!(orders.count(sums), 0);
    let dates = "SELECT COUNT(*) FROM dates WHERE date <> printf('%04d-%02d-%02d', year, month, \
                 day) OR quarter <> (month + 2) / 3 OR strftime('%w', date) <> CASE weekday WHEN \
                 'Sunday' THEN '0' WHEN 'Monday' THEN '1' WHEN 'Tuesday' THEN '2' WHEN 'Wednesday' \
                 THEN '3' WHEN 'Thursday' THEN '4' WHEN 'Friday' THEN '5' ELSE '6' END";
    assert_eq!(orders.count(dates), 0);
}

#[test]
fn the_schema_shows_the_keys_and_no_row_is_an_orphan() {
    let orders = Orders::new(0.01);
    let catalog = orders.runtime.block_on(orders.database.catalog()).unwrap();
    let shown: BTreeMap<&str, usize> = catalog
        .tables
        .iter()
        .map(|table| (table.name.as_str(), table.foreign_keys.len()))
        .collect();
    assert_eq!(shown["orders"], 7);
    assert_eq!((shown["customers"], shown["suppliers"], shown["nations"]), (2, 1, 1));
    for table in catalog.tables.iter().filter(|table| table.name != "orders_10dim") {
        assert_eq!(table.primary_key.len(), 1, "{}", table.name);
        for key in &table.foreign_keys {
            let column = &key.columns[0];
            let other = &key.ref_table;
            let target = &key.ref_columns[0];
            let orphans = format!(
                "SELECT COUNT(*) FROM {0} WHERE {column} NOT IN (SELECT {target} FROM {other})",
                table.name
            );
            assert_eq!(orders.count(&orphans), 0, "{orphans}");
        }
    }
}

#[test]
fn two_runs_write_the_same_bytes_and_tell_how_far_they_are() {
    let orders = Orders::new(0.001);
    let [one, two] =
        ["orders_10dim.sqlite", "two.sqlite"].map(|name| orders.folder.path().join(name));
    let mut reported = Vec::new();
    let made = make_orders(&two, Scale::new(0.001).unwrap(), false, &mut |progress| {
        reported.push(progress)
    })
    .unwrap();
    assert_eq!((made.orders, made.bytes), (1_500, two.metadata().unwrap().len()));
    assert!(std::fs::read(one).unwrap() == std::fs::read(two).unwrap(), "the files differ");
    let dimensions =
        reported.iter().filter(|progress| matches!(progress, Progress::Dimension { .. })).count();
    assert_eq!(dimensions, 10);
    assert!(reported.contains(&Progress::Orders { done: 1_500, total: 1_500 }), "{reported:?}");
}
