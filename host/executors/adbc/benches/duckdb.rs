//! How fast a million rows of ten columns come out of DuckDB, the guard included but without the caps of a search: the same table as
//! `tests/bench` reads from PostgreSQL.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may fail loudly")]

use std::time::Instant;

use adbc_core::options::{AdbcVersion, OptionDatabase};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use adbc_driver_manager::ManagedDriver;
use syrch_adbc::{AdbcConfig, AdbcDatabase, DUCKDB_ENTRY, digest};
use syrch_core::Limits;
use syrch_core::ports::{Database, SqlQuery};

const ROWS: u64 = 1_000_000;
const RUNS: usize = 5;
const TABLE: &str = "CREATE TABLE t AS SELECT n::INT AS id, (n % 7)::INT AS shop, n * 3 AS quantity, n / 2.0 AS price, \
     (n % 10) / 100.0 AS discount, 'customer ' || (n % 5000) AS customer, 'city ' || (n % 100) AS city, \
     DATE '2020-01-01' + (n % 1000)::INT AS day, CASE WHEN n % 5 <> 0 THEN n // 5 END AS parent, \
     CASE WHEN n % 3 <> 0 THEN 'delivered on time to the door of ' || n END AS remark FROM range(1, 1000001) r(n)";

fn main() {
    let Some(library) = syrch_kit::installed("adbc/libduckdb.so").map(|path| path.canonicalize().unwrap()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.duckdb");
    let entry = Some(DUCKDB_ENTRY.as_bytes());
    let mut driver = ManagedDriver::load_dynamic_from_filename(&library, entry, AdbcVersion::V110).unwrap();
    let path = [(OptionDatabase::from("path"), file.to_str().unwrap().into())];
    let mut connection = driver.new_database_with_opts(path).unwrap().new_connection().unwrap();
    let mut statement = connection.new_statement().unwrap();
    statement.set_sql_query(TABLE).unwrap();
    statement.execute_update().unwrap();
    drop((statement, connection));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let limits = Limits { rows: u64::MAX, result_bytes: 1 << 30, ..Limits::default() };
    let sha256 = Some(digest(&library).unwrap());
    let config = AdbcConfig { limits, sha256, ..AdbcConfig::duckdb(library, file) };
    let database = runtime.block_on(AdbcDatabase::open(config)).unwrap();
    let query = SqlQuery::new("SELECT * FROM t");
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let begin = Instant::now();
            let result = runtime.block_on(database.run(&query)).unwrap();
            assert_eq!((result.row_count(), result.schema().fields().len()), (ROWS, 10));
            begin.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("DuckDB to Arrow, {ROWS} rows × 10 columns: {:.0} rows/s, median of {RUNS}", 1e6 / times[RUNS / 2]);
}
