//! Measures how fast rows come out of PostgreSQL and of DuckDB: ours into Arrow, against psycopg
//! into pandas from the same server in the same run, alternately.

use std::sync::Arc;

use syrch_adbc::{AdbcConfig, AdbcDatabase, digest};
use syrch_core::Limits;
use syrch_core::ports::Database;
use syrch_kit::duckdb;
use syrch_kit::postgres::Server;
use syrch_postgres::PostgresConfig;

use super::arrow::{Python, QUERY, RUNS, rate, thousands};
use crate::Outcome;
use crate::figure::Figure;
use crate::samples::median;
use crate::world::World;

/// Reads the table in the way of a Python user, once for each line that it is sent.
const SCRIPT: &str = "
import sys, time
import pandas, psycopg
print(psycopg.__version__, pandas.__version__, flush=True)
for _ in sys.stdin:
    with psycopg.connect(sys.argv[1]) as connection:
        begin = time.perf_counter()
        cursor = connection.execute(sys.argv[2])
        frame = pandas.DataFrame(cursor.fetchall(), columns=[column.name for column in \
          cursor.description])
        taken = time.perf_counter() - begin
    rows = len(frame)
    del frame, cursor
    print(rows, taken, flush=True)
";

/// Measures all three and the two ratios.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let rows = world.rows;
    let Some(server) = Server::start() else { return Ok(Vec::new()) };
    server.database("large", &script(rows));
    let limits = Limits { rows: u64::MAX, result_bytes: 1 << 30, ..Limits::default() };
    let url = server.url("reader", "large");
    let config = PostgresConfig { limits: limits.clone(), ..PostgresConfig::new(url.clone()) };
    let postgres: Arc<dyn Database> =
        Arc::new(world.runtime.block_on(syrch_postgres::open(config))?);
    let folder = world.place("postgres")?;
    let duckdb: Option<Arc<dyn Database>> = match duckdb::library() {
        None => None,
        Some(library) => {
            let file = folder.join("large.duckdb");
            duckdb::script(&library, &file, &[&duckdb_script(rows), "CHECKPOINT"]);
            let sha256 = Some(digest(&library)?);
            let config = AdbcConfig { limits, sha256, ..AdbcConfig::duckdb(library, &file) };
            Some(Arc::new(world.runtime.block_on(AdbcDatabase::open(config))?))
        }
    };
    let mut python = Python::start(&folder, &["pandas", "psycopg[binary]"], SCRIPT, &[&url, QUERY]);
    let mut ours = Vec::new();
    let mut embedded = Vec::new();
    for _ in 0..RUNS {
        ours.push(rate(world, &postgres)?);
        if let Some(duckdb) = &duckdb {
            embedded.push(rate(world, duckdb)?);
        }
        python = python.and_then(|script| script.read(rows));
    }
    let ours = median(ours);
    let embedded = duckdb.map(|_| median(embedded));
    let median_of = format!("median of {RUNS}");
    let what = format!("PostgreSQL to Arrow, {} rows × 10 columns", thousands(rows));
    let mut figures = vec![Figure::new(what, ours, "rows/s").note(median_of.clone())];
    let ratio = "that against psycopg into pandas";
    let duckdb_ratio = "DuckDB by ADBC against psycopg into pandas";
    figures.push(match embedded {
        Some(rate) => {
            Figure::new("DuckDB by ADBC to Arrow, the same rows", rate, "rows/s").note(median_of)
        }
        None => Figure::without_measure(
            duckdb_ratio,
            "DuckDB's library is not installed: tests/databases/install.sh",
        ),
    });
    match python {
        Ok(python) => {
            let theirs = median(python.rates.clone());
            figures.extend([
                Figure::new("psycopg into pandas, the same rows", theirs, "rows/s")
                    .note(format!("psycopg and pandas {}", python.versions)),
                Figure::new(ratio, ours / theirs, "×").at_least(3.0),
            ]);
            figures.extend(
                embedded.map(|rate| Figure::new(duckdb_ratio, rate / theirs, "×").at_least(10.0)),
            );
        }
        Err(error) => {
            figures.push(Figure::without_measure(ratio, format!("psycopg cannot be had: {error}")))
        }
    }
    Ok(figures)
}

/// Whole numbers, reals, short and long texts, dates and some NULLs, as in the table for SQLite.
fn script(rows: u32) -> String {
    format!(
        "CREATE TABLE t(id int PRIMARY KEY, shop int, quantity bigint, price double precision, \
         discount double precision,
                        customer text, city text, day date, parent int, remark text);
         INSERT INTO t SELECT n, n % 7, n * 3, n / 2.0, (n % 10) / 100.0, 'customer ' || (n % \
           5000), 'city ' || (n % 100),
                date '2020-01-01' + n % 1000, CASE WHEN n % 5 <> 0 THEN n / 5 END,
                CASE WHEN n % 3 <> 0 THEN 'delivered on time to the door of ' || n END \
                  FROM generate_series(1, {rows}) n;
         CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader; ANALYZE t;"
    )
}

/// The same table in DuckDB's words.
fn duckdb_script(rows: u32) -> String {
    format!(
        "CREATE TABLE t AS SELECT n::INT AS id, (n % 7)::INT AS shop, n * 3 AS quantity, \
         (n / 2)::DOUBLE AS price,
                ((n % 10) / 100)::DOUBLE AS discount, 'customer ' || (n % 5000) AS customer, 'city \
                  ' || (n % 100) AS city,
                DATE '2020-01-01' + (n % 1000)::INT AS day, CASE WHEN n % 5 <> 0 THEN n // 5 \
                  END AS parent,
                CASE WHEN n % 3 <> 0 THEN 'delivered on time to the door of ' || n END AS remark \
                  FROM range(1, {rows} + 1) r(n)"
    )
}
