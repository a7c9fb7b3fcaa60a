//! How fast rows come out of PostgreSQL and of DuckDB: ours into Arrow, against psycopg into pandas from the same server in the same run.

use std::sync::Arc;
use std::time::Instant;

use syrch_adbc::{AdbcConfig, AdbcDatabase, digest};
use syrch_core::Limits;
use syrch_core::ports::{Database, SqlQuery};
use syrch_kit::duckdb;
use syrch_kit::postgres::Server;
use syrch_postgres::{PostgresConfig, PostgresDatabase};

use super::arrow::{Python, thousands};
use crate::Outcome;
use crate::figure::Figure;
use crate::samples::median;
use crate::world::World;

const RUNS: usize = 5;
const QUERY: &str = "SELECT * FROM t";

/// Reads the table in the way of a Python user; prints seconds.
const SCRIPT: &str = "
import sys, time
import pandas, psycopg
times = []
for _ in range(int(sys.argv[3])):
    with psycopg.connect(sys.argv[1]) as connection:
        begin = time.perf_counter()
        cursor = connection.execute(sys.argv[2])
        frame = pandas.DataFrame(cursor.fetchall(), columns=[column.name for column in cursor.description])
        times.append(time.perf_counter() - begin)
    rows = len(frame)
    del frame
print(rows, sorted(times)[len(times) // 2], psycopg.__version__, pandas.__version__)
";

/// Both, and their ratio.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let rows = world.rows;
    let Some(server) = Server::start() else { return Ok(Vec::new()) };
    server.database("large", &script(rows));
    let limits = Limits { rows: u64::MAX, result_bytes: 1 << 30, ..Limits::default() };
    let config = PostgresConfig { limits: limits.clone(), ..PostgresConfig::new(server.url("reader", "large")) };
    let database = world.runtime.block_on(PostgresDatabase::open(config))?;
    let ours = f64::from(rows) / seconds(world, Arc::new(database))?;
    let what = format!("PostgreSQL to Arrow, {} rows × 10 columns", thousands(rows));
    let mut figures = vec![Figure::new(what, ours, "rows/s").note(format!("median of {RUNS}"))];
    let ratio = "that against psycopg into pandas";
    let folder = world.place("postgres")?;
    let file = folder.join("large.duckdb");
    let embedded = match duckdb::library() {
        None => None,
        Some(library) => {
            duckdb::script(&library, &file, &[&duckdb_script(rows), "CHECKPOINT"]);
            let sha256 = Some(digest(&library)?);
            let config = AdbcConfig { limits, sha256, ..AdbcConfig::duckdb(library, &file) };
            let database = world.runtime.block_on(AdbcDatabase::open(config))?;
            Some(f64::from(rows) / seconds(world, Arc::new(database))?)
        }
    };
    let duckdb_ratio = "DuckDB by ADBC against psycopg into pandas";
    figures.push(match embedded {
        Some(rate) => {
            Figure::new("DuckDB by ADBC to Arrow, the same rows", rate, "rows/s").note(format!("median of {RUNS}"))
        }
        None => Figure::unmeasured(duckdb_ratio, "DuckDB's library is not installed: tests/databases/install.sh"),
    });
    let url = server.url("reader", "large");
    figures.extend(
        match Python::install(&folder, &["pandas", "psycopg[binary]"])
            .and_then(|python| python.rate(SCRIPT, &[&url, QUERY, &RUNS.to_string()], rows))
        {
            Ok((theirs, versions)) => vec![
                Figure::new("psycopg into pandas, the same rows", theirs, "rows/s")
                    .note(format!("psycopg and pandas {versions}")),
                Figure::new(ratio, ours / theirs, "×").at_least(3.0),
            ]
            .into_iter()
            .chain(embedded.map(|rate| Figure::new(duckdb_ratio, rate / theirs, "×").at_least(10.0)))
            .collect(),
            Err(error) => vec![Figure::unmeasured(ratio, format!("psycopg cannot be had: {error}"))],
        },
    );
    Ok(figures)
}

/// Whole numbers, reals, short and long texts, dates and some NULLs, as in the table for SQLite.
fn script(rows: u32) -> String {
    format!(
        "CREATE TABLE t(id int PRIMARY KEY, shop int, quantity bigint, price double precision, discount double precision,
                        customer text, city text, day date, parent int, remark text);
         INSERT INTO t SELECT n, n % 7, n * 3, n / 2.0, (n % 10) / 100.0, 'customer ' || (n % 5000), 'city ' || (n % 100),
                date '2020-01-01' + n % 1000, CASE WHEN n % 5 <> 0 THEN n / 5 END,
                CASE WHEN n % 3 <> 0 THEN 'delivered on time to the door of ' || n END FROM generate_series(1, {rows}) n;
         CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader; ANALYZE t;"
    )
}

/// The same table in DuckDB's words.
fn duckdb_script(rows: u32) -> String {
    format!(
        "CREATE TABLE t AS SELECT n::INT AS id, (n % 7)::INT AS shop, n * 3 AS quantity, (n / 2)::DOUBLE AS price,
                ((n % 10) / 100)::DOUBLE AS discount, 'customer ' || (n % 5000) AS customer, 'city ' || (n % 100) AS city,
                DATE '2020-01-01' + (n % 1000)::INT AS day, CASE WHEN n % 5 <> 0 THEN n // 5 END AS parent,
                CASE WHEN n % 3 <> 0 THEN 'delivered on time to the door of ' || n END AS remark FROM range(1, {rows} + 1) r(n)"
    )
}

/// The median time of the whole table as a search's executor reads it, guard included, but without its caps.
fn seconds(world: &World, database: Arc<dyn Database>) -> Outcome<f64> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let begin = Instant::now();
        // In a task, as a search does.
        let database = Arc::clone(&database);
        let task = world.runtime.spawn(async move { database.run(&SqlQuery::new(QUERY)).await });
        let results = world.runtime.block_on(task)??;
        times.push(begin.elapsed().as_secs_f64());
        if results.row_count() != u64::from(world.rows) || results.schema().fields().len() != 10 {
            return Err(format!("{} of {} rows came", results.row_count(), world.rows).into());
        }
    }
    Ok(median(times))
}
