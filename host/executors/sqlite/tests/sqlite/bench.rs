//! The bench of the verified optimizer by the rows of its acceptance list: the engine's own check, exact comparison, and measurement. How work
//! ends that would not end by itself is tested beside the bench.
use std::time::Duration;

use crate::common::{Fixture, runtime};
use syrch_core::SqlError;
use syrch_core::ports::{Admitted, Bench, BenchLimits, Compared, Database, SqlQuery};
use syrch_sqlite::SqliteDatabase;

const SHOP: &str = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT COLLATE NOCASE);
    INSERT INTO customers VALUES (1, 'Anna', 'Rome'), (2, 'Bert', 'rome'), (3, 'Carl', 'Oslo');
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT REFERENCES customers, pieces INT, total REAL);
    WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 60)
        INSERT INTO orders SELECT n, n % 3 + 1, n % 5, n / 4.0 FROM r;
    CREATE TABLE secret(id INTEGER PRIMARY KEY, v INT); INSERT INTO secret VALUES (1, 42);
    CREATE TABLE odd(id INTEGER PRIMARY KEY, a INT, b REAL, c TEXT, d TEXT);
    INSERT INTO odd VALUES (1, 1, 1, CAST(x'ff' AS TEXT), CAST(x'fe' AS TEXT));
    CREATE VIEW big AS SELECT id FROM orders WHERE total > 5;
    CREATE VIRTUAL TABLE notes USING fts5(title); INSERT INTO notes VALUES ('fox');";

fn tight() -> BenchLimits {
    BenchLimits { rows: 100, bytes: 20_000, statement_ms: 700, lock_ms: 200 }
}

fn open(fixture: &Fixture) -> (SqliteDatabase, tokio::runtime::Runtime, Box<dyn Bench>) {
    let (database, runtime) = (fixture.open(), runtime());
    let bench = runtime.block_on(database.bench(tight())).unwrap();
    (database, runtime, bench)
}

fn rule(result: Result<Admitted, SqlError>) -> String {
    result.unwrap_err().rule.unwrap_or_default()
}

#[test]
fn the_engines_view_decides_which_tables_a_statement_reads() {
    let fixture = Fixture::new(SHOP);
    let (_database, runtime, mut bench) = open(&fixture);
    let mut admit = |text: &str, within: Option<&[String]>| runtime.block_on(bench.admit(text, within));
    for (text, expected) in [
        ("SELECT id FROM big", "ordinary-table"),
        ("SELECT title FROM notes", "ordinary-table"),
        ("SELECT city FROM customers", "collation"),
        (
            "SELECT c.id FROM customers AS c WHERE EXISTS (SELECT 1 FROM customers AS d WHERE d.city = c.name)",
            "collation",
        ),
        ("SELECT name FROM sqlite_schema", "granted-tables"),
        ("SELECT id FROM orders WHERE id > random()", "function"),
        ("SELECT group_concat(name) FROM customers", "aggregate"),
        ("SELECT id FROM orders WHERE id = ?1", "parameters"),
        ("SELECT CURRENT_TIMESTAMP, id FROM orders", "clock"),
    ] {
        assert_eq!(rule(admit(text, None)), expected, "{text}");
    }
    for (text, tables) in [
        ("SELECT id FROM orders", vec!["orders"]),
        ("SELECT id, name FROM customers", vec!["customers"]),
        // The tables behind a common table expression, of which a column is used or none.
        (
            "WITH t1 AS (SELECT id FROM secret) SELECT id FROM t1 UNION ALL SELECT id FROM orders",
            vec!["orders", "secret"],
        ),
        ("WITH t1 AS (SELECT id FROM secret) SELECT o.id FROM orders AS o, t1", vec!["orders", "secret"]),
        (
            "SELECT o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer AND (SELECT max(v) FROM secret) = 42",
            vec!["customers", "orders", "secret"],
        ),
    ] {
        let admitted = admit(text, None).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(admitted.tables, tables, "{text}");
    }
    // A candidate reads no table that the original does not, however it is written.
    let within = ["customers".to_owned(), "orders".to_owned()];
    admit("SELECT o.id FROM orders AS o", Some(&within)).unwrap();
    for text in [
        "SELECT id FROM secret",
        "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM secret)",
        "WITH t1 AS (SELECT id FROM secret) SELECT o.id FROM orders AS o, t1",
        "SELECT o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer AND (SELECT max(v) FROM secret) = 42",
    ] {
        assert_eq!(rule(admit(text, Some(&within))), "within", "{text}");
    }
}

#[test]
fn a_check_returns_the_tables_that_the_engine_reads() {
    let fixture = Fixture::new(SHOP);
    let database = fixture.open();
    let tables = |text: &str| {
        let mut tables = runtime().block_on(database.check(&SqlQuery::new(text))).unwrap().tables;
        tables.sort_unstable();
        tables
    };
    // What the text takes for the common table expression is the table to the engine.
    assert_eq!(tables("WITH t1 AS (SELECT id FROM secret) SELECT 1 FROM t1, orders"), ["orders", "secret"]);
    assert_eq!(tables("SELECT id FROM big"), ["big"]);
}

#[test]
fn rows_are_compared_exactly_and_always_against_the_original() {
    let fixture = Fixture::new(SHOP);
    let (_database, runtime, mut bench) = open(&fixture);
    let mut compare = |original: &str, candidate: &str| {
        runtime.block_on(async {
            let original = bench.admit(original, None).await.unwrap();
            let candidate = bench.admit(candidate, None).await.unwrap();
            bench.compare(&original, &candidate).await.unwrap()
        })
    };
    for (original, candidate, expected) in [
        ("SELECT id FROM orders", "SELECT id FROM orders ORDER BY id DESC", Compared::Equal(60)),
        (
            "SELECT id FROM orders ORDER BY pieces",
            "SELECT id FROM orders ORDER BY pieces, id DESC",
            Compared::Reordered,
        ),
        ("SELECT id FROM orders ORDER BY id", "SELECT id FROM orders WHERE id > 0 ORDER BY id", Compared::Equal(60)),
        ("SELECT pieces FROM orders", "SELECT DISTINCT pieces FROM orders", Compared::Different),
        (
            "SELECT c.id FROM customers AS c LEFT JOIN secret AS s ON s.id = c.id",
            "SELECT c.id FROM customers AS c JOIN secret AS s ON s.id = c.id",
            Compared::Different,
        ),
        // 1 and 1.0, and two texts that are no UTF-8 and would be mended to the same.
        ("SELECT a FROM odd", "SELECT b FROM odd", Compared::Different),
        ("SELECT c FROM odd", "SELECT d FROM odd", Compared::Different),
        (
            "SELECT id + 9007199254740992 AS x FROM odd",
            "SELECT id + 9007199254740993 AS x FROM odd",
            Compared::Different,
        ),
        (
            "SELECT id FROM orders",
            "SELECT a.id FROM orders AS a, orders AS b, orders AS c, orders AS d, orders AS e, orders AS f",
            Compared::TooLarge,
        ),
    ] {
        assert_eq!(compare(original, candidate), expected, "{candidate}");
    }
}

#[test]
fn names_are_known_before_any_row_and_unnamed_columns_have_one() {
    let fixture = Fixture::new(SHOP);
    let (_database, runtime, mut bench) = open(&fixture);
    let mut names = |text: &str| -> Vec<String> {
        let admitted = runtime.block_on(bench.admit(text, None)).unwrap();
        let columns = runtime.block_on(bench.columns(&admitted)).unwrap();
        columns.into_iter().map(|column| column.name).collect()
    };
    assert_eq!(names("SELECT NAME, count( * ) FROM customers GROUP BY name"), ["name", "count(*)"]);
    assert_eq!(names("SELECT name, count(*) FROM customers GROUP BY name"), ["name", "count(*)"]);
    assert_eq!(names("SELECT * FROM secret"), ["id", "v"]);
}

#[test]
fn a_writer_is_seen_by_the_version_and_waits_for_the_snapshot() {
    let fixture = Fixture::new(SHOP);
    let (_database, runtime, mut bench) = open(&fixture);
    runtime.block_on(async {
        let before = bench.version().await.unwrap();
        assert_eq!(bench.version().await.unwrap(), before);
        fixture.writer().execute_batch("INSERT INTO secret VALUES (2, 43)").unwrap();
        assert_ne!(bench.version().await.unwrap(), before);
        // Both sides of a comparison read the snapshot that is taken here.
        bench.snapshot().await.unwrap();
        let all = bench.admit("SELECT id FROM secret", None).await.unwrap();
        let writer = fixture.writer();
        writer.busy_timeout(Duration::from_millis(50)).unwrap();
        assert!(writer.execute_batch("INSERT INTO secret VALUES (3, 44)").is_err(), "a reader holds its lock");
        assert_eq!(bench.compare(&all, &all).await.unwrap(), Compared::Equal(2));
        drop(bench);
        writer.execute_batch("INSERT INTO secret VALUES (3, 44)").unwrap();
    });
}

#[test]
fn what_a_statement_takes_is_counted_and_its_plan_is_that_of_the_executor() {
    let fixture = Fixture::new(SHOP);
    let (database, runtime, mut bench) = open(&fixture);
    runtime.block_on(async {
        let keyed = bench.admit("SELECT total FROM orders WHERE id = 7", None).await.unwrap();
        let scanned = bench.admit("SELECT total FROM orders WHERE id + 0 = 7", None).await.unwrap();
        bench.snapshot().await.unwrap();
        let (fast, slow) = (bench.time(&keyed).await.unwrap(), bench.time(&scanned).await.unwrap());
        assert_eq!((fast.rows, slow.rows), (1, 1));
        assert!(
            fast.work.unwrap() < slow.work.unwrap() && fast.wall_ns > 0 && fast.cpu_ns.is_some(),
            "{fast:?} {slow:?}"
        );
        // The count is that of one run.
        assert_eq!(bench.time(&keyed).await.unwrap().work, fast.work);
        let plan = bench.explain(&keyed).await.unwrap();
        assert_eq!(plan, database.explain(&SqlQuery::new(keyed.sql.as_str())).await.unwrap());
        assert!(plan.text.contains("SEARCH"), "{}", plan.text);
    });
}
