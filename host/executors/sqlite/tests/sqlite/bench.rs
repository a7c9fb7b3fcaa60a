//! The bench of the verified optimizer by the rows of its acceptance list: the engine's own check,
//! exact comparison, and measurement. How work ends that would not end by itself is tested beside
//! the bench.
use std::time::Duration;

use crate::common::{Fixture, runtime};
use syrch_core::SqlError;
use syrch_core::ports::{Admitted, Bench, BenchLimits, Compared, Database, SqlQuery};
use syrch_kit::acceptance::{ADMISSION, COMPARISON, missing};
use syrch_sqlite::SqliteDatabase;

const SHOP: &str = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT \
                    COLLATE NOCASE);
    INSERT INTO customers VALUES (1, 'Anna', 'Rome'), (2, 'Bert', 'rome'), (3, 'Carl', 'Oslo');
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT REFERENCES customers, pieces INT, \
      total REAL);
    WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 60)
        INSERT INTO orders SELECT n, n % 3 + 1, n % 5, n / 4.0 FROM r;
    CREATE TABLE secret(id INTEGER PRIMARY KEY, v INT); INSERT INTO secret VALUES (1, 42);
    CREATE TABLE odd(id INTEGER PRIMARY KEY, a INT, b REAL, c TEXT, d TEXT);
    INSERT INTO odd VALUES (1, 1, 1, CAST(x'ff' AS TEXT), CAST(x'fe' AS TEXT));
    CREATE VIEW big AS SELECT id FROM orders WHERE total > 5;
    CREATE VIRTUAL TABLE notes USING fts5(title); INSERT INTO notes VALUES ('fox');";

fn tight() -> BenchLimits {
    BenchLimits { rows: 100, bytes: 20_000, statement_ms: 700, lock_ms: 200, real_sums: false }
}

fn open(fixture: &Fixture) -> (SqliteDatabase, tokio::runtime::Runtime, Box<dyn Bench>) {
    let database = fixture.open();
    let runtime = runtime();
    let bench = runtime.block_on(database.bench(tight())).unwrap();
    (database, runtime, bench)
}

fn rule(result: Result<Admitted, SqlError>) -> String {
    result.unwrap_err().rule.unwrap_or_default()
}

/// The row of the acceptance list, a statement, and the rule that refuses it.
const REFUSED: &[(&str, &str, &str)] = &[
    ("AR-01", "DELETE FROM orders", "read-only"),
    ("AR-01", "SELECT id FROM orders; SELECT id FROM secret", "single-statement"),
    ("AR-01", "WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d", "read-only"),
    ("AR-01", "PRAGMA table_info(orders)", "read-only"),
    ("AR-02", "SELECT id FROM orders FOR UPDATE", "locks"),
    ("AR-03", "SELECT id FROM orders LIMIT 3", "limit"),
    (
        "AR-03",
        "SELECT id FROM orders WHERE id IN (SELECT id FROM orders ORDER BY pieces LIMIT 3)",
        "limit",
    ),
    ("AR-03", "SELECT id FROM orders ORDER BY total LIMIT 3 OFFSET 1", "limit"),
    ("AR-04", "SELECT DISTINCT ON (customer) id FROM orders", "distinct-on"),
    ("AR-04", "SELECT id FROM orders TABLESAMPLE SYSTEM (10)", "sample"),
    ("AR-05", "SELECT id FROM orders WHERE id = ?1", "parameters"),
    ("AR-05", "SELECT id FROM orders WHERE id = :id", "parameters"),
    ("AR-06", "SELECT value FROM json_each('[1]')", "table-function"),
    ("AR-06", "SELECT a FROM (VALUES (1), (2)) AS x(a)", "values"),
    ("AR-06", "SELECT 1", "base-table"),
    ("AR-08", "SELECT group_concat(name) FROM customers", "aggregate"),
    ("AR-08", "SELECT json_group_array(id) FROM customers", "aggregate"),
    ("AR-08", "SELECT sum(total) FROM orders", "float-aggregate"),
    ("AR-09", "SELECT row_number() OVER (ORDER BY pieces) FROM orders", "aggregate"),
    ("AR-09", "SELECT lag(id) OVER (ORDER BY id) FROM orders", "aggregate"),
    ("AR-09", "SELECT sum(pieces) OVER (ORDER BY id) FROM orders", "window"),
    ("AR-10", "SELECT id FROM orders WHERE id > random()", "function"),
    ("AR-10", "SELECT id FROM orders WHERE date('now') > 'x'", "clock"),
    ("AR-12", "SELECT CAST(id AS regclass) FROM orders", "type"),
    ("AR-13", "SELECT id FROM big", "ordinary-table"),
    ("AR-13", "SELECT title FROM notes", "ordinary-table"),
    ("AR-13", "SELECT name FROM sqlite_schema", "granted-tables"),
    (
        "AR-15",
        "WITH a AS (SELECT id FROM b), b AS (SELECT id FROM orders) SELECT id FROM a",
        "granted-tables",
    ),
    ("AR-15", "WITH secret AS (SELECT id FROM orders) SELECT id FROM secret", "shadowed-name"),
    (
        "AR-D1",
        "WITH t1 AS (SELECT name FROM sqlite_schema) SELECT name FROM t1 UNION ALL SELECT name \
         FROM customers",
        "granted-tables",
    ),
    ("AR-D3", "SELECT json_group_object(name, id) FROM customers", "aggregate"),
    ("AR-D3", "SELECT json_arrayagg(name) FROM customers", "aggregate"),
    ("AR-D4", "SELECT sum(pieces) OVER w FROM orders WINDOW w AS (ORDER BY id)", "window"),
    (
        "AR-D4",
        "SELECT sum(pieces) OVER w FROM orders WINDOW v AS (ORDER BY id), w AS (v)",
        "window",
    ),
    ("AR-D8", "SELECT id INTO copy FROM orders", "read-only"),
    ("AR-D8", "SELECT CURRENT_TIMESTAMP, id FROM orders", "clock"),
    ("AR-D12", "SELECT date(), length(name) FROM customers", "clock"),
];

/// The row, and a statement that is admitted, with the tables that it reads.
const ADMITTED: &[(&str, &str, &[&str])] = &[
    ("AR-01", "SELECT id FROM orders", &["orders"]),
    ("AR-02", "SELECT id FROM orders WHERE 'FOR UPDATE' <> 'x'", &["orders"]),
    ("AR-03", "SELECT id FROM orders ORDER BY id LIMIT 3", &["orders"]),
    ("AR-04", "SELECT DISTINCT pieces FROM orders", &["orders"]),
    ("AR-05", "SELECT id FROM orders WHERE id = 1", &["orders"]),
    (
        "AR-06",
        "SELECT o.id FROM orders AS o LEFT JOIN (SELECT id FROM secret) AS s ON s.id = o.id",
        &["orders", "secret"],
    ),
    (
        "AR-08",
        "SELECT count(*), sum(pieces), avg(pieces), min(total), max(customer) FROM orders",
        &["orders"],
    ),
    (
        "AR-09",
        "SELECT rank() OVER (ORDER BY pieces), sum(pieces) OVER (PARTITION BY customer) \
         FROM orders",
        &["orders"],
    ),
    (
        "AR-10",
        "SELECT lower(name), coalesce(name, 'x'), date('2024-01-01', '+1 day') FROM customers",
        &["customers"],
    ),
    ("AR-12", "SELECT CAST(id AS TEXT), CAST(total AS INTEGER) FROM orders", &["orders"]),
    ("AR-13", "SELECT v FROM secret", &["secret"]),
    (
        "AR-15",
        "WITH a AS (SELECT id FROM orders), b AS (SELECT id FROM a) SELECT id FROM b",
        &["orders"],
    ),
    ("AR-16", "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM secret)", &["orders", "secret"]),
    (
        "AR-D1",
        "WITH t1 AS (SELECT id FROM secret) SELECT id FROM t1 UNION ALL SELECT id FROM orders",
        &["orders", "secret"],
    ),
    (
        "AR-D2",
        "SELECT o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer AND (SELECT max(v) \
         FROM secret) = 42",
        &["customers", "orders", "secret"],
    ),
    ("AR-D3", "SELECT count(name) FROM customers", &["customers"]),
    (
        "AR-D4",
        "SELECT sum(pieces) OVER w FROM orders WINDOW w AS (PARTITION BY customer)",
        &["orders"],
    ),
    ("AR-D8", "SELECT id FROM orders WHERE 'CURRENT_TIMESTAMP' <> 'into'", &["orders"]),
    (
        "AR-D12",
        "SELECT length(name), name || 'x', replace(name, 'a', 'b') FROM customers",
        &["customers"],
    ),
];

/// The row, and a candidate that is refused where the original reads `customers` and `orders`
/// alone.
const OUTSIDE: &[(&str, &str)] = &[
    ("AR-16", "SELECT v FROM secret"),
    ("AR-16", "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM secret)"),
    (
        "AR-D1",
        "WITH t1 AS (SELECT id FROM secret) SELECT id FROM t1 UNION ALL SELECT id FROM orders",
    ),
    (
        "AR-D2",
        "SELECT o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer AND (SELECT max(v) \
         FROM secret) = 42",
    ),
];

/// Rows about what SQLite does not have: operators, types and casts that users make.
const ELSEWHERE: [&str; 3] = ["AR-11", "AR-14", "AR-17"];

#[test]
fn each_row_of_the_list_refuses_and_admits() {
    let fixture = Fixture::new(SHOP);
    let (_database, runtime, mut bench) = open(&fixture);
    let mut admit =
        |text: &str, within: Option<&[String]>| runtime.block_on(bench.admit(text, within));
    let mut wrong = Vec::new();
    for (row, text, rule) in REFUSED {
        match admit(text, None) {
            Err(error) if error.rule.as_deref() == Some(*rule) => {}
            other => wrong.push(format!("{row}: {text}: {other:?}")),
        }
    }
    for (row, text, tables) in ADMITTED {
        match admit(text, None) {
            Ok(admitted) if admitted.tables == *tables => {}
            other => wrong.push(format!("{row}: {text}: {other:?}")),
        }
    }
    let within = ["customers".to_owned(), "orders".to_owned()];
    for (row, text) in OUTSIDE {
        let alone = admit(text, None);
        let inside = admit(text, Some(&within));
        if alone.is_err()
            || !inside.as_ref().is_err_and(|error| error.rule.as_deref() == Some("within"))
        {
            wrong.push(format!(
                "{row}: {text}: {alone:?}, and within the tables of another: {inside:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let refused = REFUSED.iter().map(|(row, ..)| *row).chain(OUTSIDE.iter().map(|(row, _)| *row));
    assert_eq!(
        missing(ADMISSION, refused.chain(ELSEWHERE)),
        Vec::<&str>::new(),
        "rows without a refused statement"
    );
    let admitted = ADMITTED.iter().map(|(row, ..)| *row);
    assert_eq!(
        missing(ADMISSION, admitted.chain(ELSEWHERE)),
        Vec::<&str>::new(),
        "rows without an admitted statement"
    );
}

#[test]
fn the_engines_view_decides_which_tables_a_statement_reads() {
    let fixture = Fixture::new(SHOP);
    let (_database, runtime, mut bench) = open(&fixture);
    let mut admit =
        |text: &str, within: Option<&[String]>| runtime.block_on(bench.admit(text, within));
    for (text, expected) in [
        ("SELECT city FROM customers", "collation"),
        (
            "SELECT c.id FROM customers AS c WHERE EXISTS (SELECT 1 FROM customers AS d \
             WHERE d.city = c.name)",
            "collation",
        ),
    ] {
        assert_eq!(rule(admit(text, None)), expected, "{text}");
    }
    for (text, tables) in [
        ("SELECT id, name FROM customers", vec!["customers"]),
        // The table behind a common table expression of which no column is used.
        (
            "WITH t1 AS (SELECT id FROM secret) SELECT o.id FROM orders AS o, t1",
            vec!["orders", "secret"],
        ),
    ] {
        let admitted = admit(text, None).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(admitted.tables, tables, "{text}");
    }
    // A candidate reads no table that the original does not, however it is written.
    let within = ["customers".to_owned(), "orders".to_owned()];
    admit("SELECT o.id FROM orders AS o", Some(&within)).unwrap();
    for text in [
        "WITH t1 AS (SELECT id FROM secret) SELECT o.id FROM orders AS o, t1",
        "WITH t1 AS (SELECT id FROM secret) SELECT count(*) FROM orders AS o, t1",
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
    assert_eq!(
        tables("WITH t1 AS (SELECT id FROM secret) SELECT 1 FROM t1, orders"),
        ["orders", "secret"]
    );
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
    let cases = [
        (
            "AR-24",
            "SELECT id FROM orders",
            "SELECT id FROM orders ORDER BY id DESC",
            Compared::Equal(60),
        ),
        (
            "AR-24",
            "SELECT id FROM orders ORDER BY pieces",
            "SELECT id FROM orders ORDER BY pieces, id DESC",
            Compared::Reordered,
        ),
        (
            "AR-24",
            "SELECT id FROM orders ORDER BY id",
            "SELECT id FROM orders WHERE id > 0 ORDER BY id",
            Compared::Equal(60),
        ),
        (
            "AR-24",
            "SELECT pieces FROM orders",
            "SELECT DISTINCT pieces FROM orders",
            Compared::Different,
        ),
        (
            "AR-24",
            "SELECT c.id FROM customers AS c LEFT JOIN secret AS s ON s.id = c.id",
            "SELECT c.id FROM customers AS c JOIN secret AS s ON s.id = c.id",
            Compared::Different,
        ),
        // 1 and 1.0, and two texts that are no UTF-8 and would be mended to the same.
        ("AR-24", "SELECT a FROM odd", "SELECT b FROM odd", Compared::Different),
        ("AR-24", "SELECT c FROM odd", "SELECT d FROM odd", Compared::Different),
        (
            "AR-D5",
            "SELECT id + 9007199254740992 AS x FROM odd",
            "SELECT id + 9007199254740993 AS x FROM odd",
            Compared::Different,
        ),
        (
            "AR-D5",
            "SELECT b * 0.1 + 0.2 AS x FROM odd",
            "SELECT b * 0.3 AS x FROM odd",
            Compared::Different,
        ),
        // JSON is text here, and compared as such.
        (
            "AR-D6",
            "SELECT '{\"a\": 1.00000000000000000001}' AS x FROM odd",
            "SELECT '{\"a\": 1.0}' AS x FROM odd",
            Compared::Different,
        ),
        (
            "AR-24",
            "SELECT id FROM orders",
            "SELECT a.id FROM orders AS a, orders AS b, orders AS c, orders AS d, orders AS \
             e, orders AS f",
            Compared::TooLarge,
        ),
    ];
    assert_eq!(
        missing(COMPARISON, cases.iter().map(|(row, ..)| *row)),
        Vec::<&str>::new(),
        "rows without a case"
    );
    for (row, original, candidate, expected) in cases {
        assert_eq!(compare(original, candidate), expected, "{row}: {candidate}");
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

/// AR-20, AR-D7: both sides of a comparison are run in the snapshot of that comparison, and a
/// writer is noticed.
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
        assert!(
            writer.execute_batch("INSERT INTO secret VALUES (3, 44)").is_err(),
            "a reader holds its lock"
        );
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
        let fast = bench.time(&keyed).await.unwrap();
        let slow = bench.time(&scanned).await.unwrap();
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
