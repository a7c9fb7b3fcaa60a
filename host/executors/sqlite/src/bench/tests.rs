//! The bench over files of its own.

use std::time::Instant;

use syrch_core::ports::Database;
use tempfile::TempDir;

use super::*;
use crate::{SqliteConfig, SqliteDatabase};

const SCRIPT: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, r REAL); \
    INSERT INTO t VALUES (1, 5, 'x', 0.5), (2, 6, 'y', NULL), (3, 5, CAST(x'ff41' AS TEXT), 1.0); \
    CREATE TABLE folded(id INTEGER, word TEXT COLLATE NOCASE); INSERT INTO folded \
    VALUES (1, 'a'), (2, 'A'); CREATE TABLE secret(v INTEGER); INSERT INTO secret VALUES (42); \
    CREATE VIEW seen AS SELECT v FROM secret; CREATE VIRTUAL TABLE words USING fts5(text); \
    CREATE TABLE strict_any(v ANY) STRICT; CREATE TABLE descending(id INTEGER PRIMARY KEY \
    DESC, v INTEGER);";

struct Place {
    folder: TempDir,
    database: SqliteDatabase,
}

impl Place {
    fn new() -> Self {
        crate::memory::count_memory();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.sqlite");
        rusqlite::Connection::open(&path).unwrap().execute_batch(SCRIPT).unwrap();
        let database = SqliteDatabase::open(SqliteConfig::new(path)).unwrap();
        Self { folder, database }
    }

    async fn bench(&self, limits: BenchLimits) -> Box<dyn Bench> {
        self.database.bench(limits).await.unwrap()
    }

    fn other(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join("t.sqlite")).unwrap()
    }
}

async fn admit_statement(bench: &mut dyn Bench, sql: &str) -> Admitted {
    bench.admit(sql, None).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
}

async fn rule(bench: &mut dyn Bench, sql: &str, within: Option<&[String]>) -> String {
    match bench.admit(sql, within).await {
        Ok(admitted) => panic!("{sql} passes as {}", admitted.sql),
        Err(error) => error.rule.unwrap_or_default(),
    }
}

/// A sum of reals is admitted where the limits say so, and compared with all of its digits.
#[tokio::test(flavor = "multi_thread")]
async fn sums_of_reals_are_compared_bit_for_bit() {
    let place = Place::new();
    let limits = BenchLimits { real_sums: true, ..BenchLimits::default() };
    let mut bench = place.bench(limits).await;
    let sum = admit_statement(bench.as_mut(), "SELECT sum(r) FROM t").await;
    assert_eq!(sum.unnamed, ["sum(r)"]);
    bench.snapshot().await.unwrap();
    let same = admit_statement(bench.as_mut(), "SELECT sum(r) AS s FROM t WHERE id < 9").await;
    assert_eq!(bench.compare(&sum, &same).await.unwrap(), Compared::Equal(1));
    let near = admit_statement(bench.as_mut(), "SELECT sum(r) + 2e-16 FROM t").await;
    assert_eq!(bench.compare(&sum, &near).await.unwrap(), Compared::Different);
    assert_eq!(
        rule(place.bench(BenchLimits::default()).await.as_mut(), "SELECT sum(r) FROM t", None)
            .await,
        "float-aggregate"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_reports_the_tables_behind_common_table_expressions() {
    let place = Place::new();
    let mut bench = place.bench(BenchLimits::default()).await;
    let sql = "WITH c AS (SELECT v FROM secret) SELECT a FROM t UNION ALL SELECT v FROM c";
    assert_eq!(admit_statement(&mut *bench, sql).await.tables, ["secret", "t"]);
    let only = ["t".to_owned()];
    assert_eq!(rule(&mut *bench, sql, Some(&only)).await, "within");
    let hidden =
        "SELECT t.a FROM t JOIN t AS u ON t.id = u.id AND (SELECT max(v) FROM secret) = 42";
    assert_eq!(rule(&mut *bench, hidden, Some(&only)).await, "within");
    for sql in ["SELECT v FROM seen", "SELECT text FROM words"] {
        assert_eq!(rule(&mut *bench, sql, None).await, "ordinary-table", "{sql}");
    }
    assert_eq!(rule(&mut *bench, "SELECT word FROM folded GROUP BY word", None).await, "collation");
    admit_statement(&mut *bench, "SELECT id FROM folded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_compared_by_type_and_bytes() {
    let place = Place::new();
    let mut bench = place.bench(BenchLimits::default()).await;
    for (original, candidate, expected) in [
        ("SELECT id FROM t", "SELECT id FROM t WHERE id > 0", Compared::Equal(3)),
        ("SELECT id FROM t ORDER BY id", "SELECT id FROM t ORDER BY id DESC", Compared::Reordered),
        ("SELECT id FROM t", "SELECT id FROM t ORDER BY id DESC", Compared::Equal(3)),
        ("SELECT a FROM t", "SELECT DISTINCT a FROM t", Compared::Different),
        ("SELECT a FROM t", "SELECT a * 1.0 FROM t", Compared::Different),
        ("SELECT r FROM t WHERE id = 3", "SELECT 1 FROM t WHERE id = 3", Compared::Different),
        ("SELECT a FROM t", "SELECT CAST(a AS TEXT) FROM t", Compared::Different),
        ("SELECT b FROM t", "SELECT b || '' FROM t", Compared::Equal(3)),
        ("SELECT b FROM t WHERE id = 3", "SELECT '�A' FROM t WHERE id = 3", Compared::Different),
        ("SELECT r FROM t WHERE id = 2", "SELECT NULL FROM t WHERE id = 2", Compared::Equal(1)),
    ] {
        let one = admit_statement(&mut *bench, original).await;
        let two = admit_statement(&mut *bench, candidate).await;
        assert_eq!(bench.compare(&one, &two).await.unwrap(), expected, "{original} / {candidate}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_reads_one_snapshot_and_a_writer_is_noticed() {
    let place = Place::new();
    place.other().pragma_update(None, "journal_mode", "wal").unwrap();
    // A second connection: the file is not at rest then, and is read in WAL mode.
    let writer = place.other();
    writer.execute("UPDATE t SET a = 8 WHERE id = 1", []).unwrap();
    let mut bench = place.bench(BenchLimits::default()).await;
    let all = admit_statement(&mut *bench, "SELECT id, a FROM t").await;
    bench.snapshot().await.unwrap();
    let before = bench.version().await.unwrap();
    assert_eq!(bench.version().await.unwrap(), before);
    writer.execute("INSERT INTO t VALUES (4, 7, 'z', 1)", []).unwrap();
    assert_ne!(bench.version().await.unwrap(), before);
    assert_eq!(bench.size(&all).await.unwrap().rows, 3);
    bench.snapshot().await.unwrap();
    assert_eq!(bench.size(&all).await.unwrap().rows, 4);
}

/// AR-22, AR-D9: limits hold while rows arrive, and the columns are known before any.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_endless_or_too_large_ends_within_its_limits() {
    let place = Place::new();
    let limits =
        BenchLimits { rows: 100, bytes: 10_000, statement_ms: 300, lock_ms: 50, real_sums: false };
    let mut bench = place.bench(limits).await;
    let joins: String =
        (0..12).map(|n| format!(" CROSS JOIN t AS t{n} CROSS JOIN t AS u{n}")).collect();
    let many = format!("SELECT t.id FROM t{joins}");
    let one = admit_statement(&mut *bench, "SELECT id FROM t").await;
    let endless = admit_statement(&mut *bench, &format!("SELECT count(*) FROM t{joins}")).await;
    let many = admit_statement(&mut *bench, &many).await;
    let started = Instant::now();
    assert_eq!(bench.columns(&many).await.unwrap().len(), 1);
    assert!(started.elapsed() < Duration::from_millis(200), "the rows were read for the columns");
    assert_eq!(bench.size(&many).await.unwrap_err().rule.as_deref(), Some(TOO_MANY_ROWS));
    assert_eq!(bench.compare(&one, &many).await.unwrap(), Compared::TooLarge);
    let started = Instant::now();
    assert_eq!(bench.time(&endless).await.unwrap_err().kind, SqlErrorKind::Timeout);
    assert_eq!(
        bench.compare(&one, &endless).await.unwrap_err().rule.as_deref(),
        Some("candidate: deadline")
    );
    assert!(started.elapsed() < Duration::from_secs(5));
    // The bench is ready for the next statement.
    let timing = bench.time(&one).await.unwrap();
    assert!(timing.rows == 3 && timing.work.is_some_and(|work| work > 3), "{timing:?}");
    let dropped = tokio::time::timeout(Duration::from_millis(50), bench.time(&endless)).await;
    assert!(dropped.is_err());
    assert_eq!(bench.size(&one).await.unwrap().rows, 3);
    let plan = bench.explain(&one).await.unwrap();
    assert!(plan.format == "sqlite-eqp" && plan.text.contains("SCAN"), "{plan:?}");
}

/// AR-20: a wait for a lock has a deadline.
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_database_is_an_error_in_time() {
    let place = Place::new();
    let mut bench = place.bench(BenchLimits { lock_ms: 50, ..BenchLimits::default() }).await;
    let writer = place.other();
    writer.execute_batch("BEGIN EXCLUSIVE; UPDATE t SET a = 9;").unwrap();
    let error = bench.snapshot().await.unwrap_err();
    assert_eq!(error.kind, SqlErrorKind::Unavailable, "{error:?}");
    writer.execute_batch("ROLLBACK").unwrap();
    bench.snapshot().await.unwrap();
    let named = admit_statement(&mut *bench, "SELECT id AS n FROM t").await;
    assert_eq!(bench.columns(&named).await.unwrap()[0].name, "n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_depends_on_the_plan_or_the_clock_is_refused_in_every_disguise() {
    let place = Place::new();
    let mut bench = place.bench(BenchLimits::default()).await;
    for (sql, expected) in [
        ("SELECT id FROM t WHERE date(('now')) > b", "clock"),
        ("SELECT id FROM t WHERE date('no' || 'w') > b", "clock"),
        ("SELECT id FROM t WHERE datetime(lower('NOW')) > b", "clock"),
        ("SELECT id FROM t WHERE datetime(CAST('now' AS TEXT)) > b", "clock"),
        ("SELECT date(z.q) AS d FROM (SELECT 'no' || 'w' AS q FROM t) AS z", "clock"),
        ("SELECT a AS id, r FROM t ORDER BY id LIMIT 2", "limit"),
        ("SELECT a AS id, r FROM t ORDER BY (id) LIMIT 2", "limit"),
        ("SELECT DISTINCT v FROM strict_any", "mixed-values"),
        ("SELECT max(v) AS m FROM strict_any", "mixed-values"),
        ("SELECT min(-r) AS m FROM t", "mixed-values"),
        ("SELECT DISTINCT r * -0.0 AS m FROM t", "mixed-values"),
        ("SELECT id FROM t RIGHT JOIN secret AS s USING (id)", "merged-column"),
        ("SELECT id, v FROM descending GROUP BY id", "bare-column"),
    ] {
        assert_eq!(rule(&mut *bench, sql, None).await, expected, "{sql}");
    }
    for sql in [
        "SELECT date(b, '+1 day') AS d FROM t",
        "SELECT strftime('%Y', date(b)) AS d FROM t",
        "SELECT a AS n, id FROM t ORDER BY id LIMIT 2",
        "SELECT min(r) AS m FROM t",
    ] {
        admit_statement(&mut *bench, sql).await;
    }
}
