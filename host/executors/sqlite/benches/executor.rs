//! Benchmarks of the executor: a small statement, a check, and finding values. A million rows are
//! measured by `tests/bench`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark may fail loudly"
)]

use divan::Bencher;
use rusqlite::Connection;
use syrch_core::ports::{CellIndex, Database, Match, SqlQuery};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

/// A database of `rows` rows and ten columns.
fn open(rows: u32) -> (TempDir, Runtime, SqliteDatabase) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.sqlite");
    let script = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT, c REAL, d REAL, e TEXT, f TEXT, \
         g TEXT, h INT, i REAL);
         WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {rows})
         INSERT INTO t SELECT n, n % 7, n * 3, n / 2.0, n * 1.5, 'name ' || (n % 5000), 'city \
           ' || (n % 100), 'x', n % 2, 0.5 FROM r;"
    );
    Connection::open(&path).unwrap().execute_batch(&script).unwrap();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    (folder, runtime, SqliteDatabase::open(SqliteConfig::new(path)).unwrap())
}

const JOIN: &str = "SELECT x.f, count(*) AS n FROM t AS x JOIN t AS y ON y.id = x.id \
                    WHERE x.e = 'name 7' GROUP BY 1 ORDER BY n DESC";

#[divan::bench]
fn one_small_statement(bencher: Bencher<'_, '_>) {
    let (_folder, runtime, database) = open(10);
    let query = SqlQuery::new(JOIN);
    bencher.bench_local(|| runtime.block_on(database.run(&query)).unwrap().row_count());
}

#[divan::bench]
fn one_check(bencher: Bencher<'_, '_>) {
    let (_folder, runtime, database) = open(10);
    let query = SqlQuery::new(JOIN);
    bencher.bench_local(|| runtime.block_on(database.check(&query)).unwrap().tables.len());
}

#[divan::bench(args = ["exact", "ngram", "fuzzy"])]
fn thirty_phrases(bencher: Bencher<'_, '_>, how: &str) {
    let (_folder, runtime, database) = open(10_000);
    let phrases: Vec<String> = (0..30).map(|n| format!("name {}", n * 37)).collect();
    let how = match how {
        "exact" => Match::Exact,
        "ngram" => Match::Ngram,
        _ => Match::Fuzzy,
    };
    bencher
        .bench_local(|| runtime.block_on(database.find(&phrases, how.clone(), 5)).unwrap().len());
}
