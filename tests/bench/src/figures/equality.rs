//! Measures the checks of the verified optimizer: whether a statement of 4 KiB has the same rows on
//! every plan, and whether 10,000 rows are the same.

use std::time::Instant;

use rusqlite::Connection;
use syrch_core::ports::{BenchLimits, Compared, Database};
use syrch_core::{Catalog, Column, Dialect, Table};
use syrch_guard::deterministic::admit;
use syrch_sqlite::{SqliteConfig, SqliteDatabase};

use super::guard::{by_cases, by_terms, fill_statement};
use crate::Outcome;
use crate::figure::Figure;
use crate::samples::median;
use crate::world::World;

const RUNS: usize = 2_000;
const COMPARED: usize = 20;
const ROWS: u32 = 10_000;

/// The 99th percentile of admission, for each engine, and the median time of a comparison.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    Ok(vec![admission(&Dialect::Sqlite)?, admission(&Dialect::Postgres)?, comparison(world)?])
}

fn admission(dialect: &Dialect) -> Outcome<Figure> {
    let catalog = catalog(dialect);
    let statements = [by_terms(), by_unions(), by_cases(), by_subqueries()];
    let mut times = Vec::with_capacity(RUNS);
    for run in 0..RUNS {
        let statement = &statements[run % statements.len()];
        let begin = Instant::now();
        let admitted = admit(statement, &catalog, dialect);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        admitted.map_err(|error| format!("{error:?}: {statement}"))?;
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let what = format!(
        "the optimizer's check of a statement of 4 KiB for {}, 99th percentile",
        dialect.name()
    );
    Ok(Figure::new(what, at(0.99), "ms")
        .at_most(2.0)
        .note(format!("median {:.2} ms, {RUNS} statements", at(0.5))))
}

fn catalog(dialect: &Dialect) -> Catalog {
    let columns =
        [("id", "integer"), ("customer_id", "integer"), ("amount", "integer"), ("status", "text")];
    let tables = ["orders", "customers", "products"]
        .map(|name: &str| Table {
            name: name.to_owned(),
            schema_name: (*dialect == Dialect::Postgres).then(|| "public".to_owned()),
            columns: columns
                .map(|(name, sql_type): (&str, &str)| Column {
                    name: name.to_owned(),
                    sql_type: sql_type.to_owned(),
                    ..Column::default()
                })
                .to_vec(),
            ..Table::default()
        })
        .to_vec();
    Catalog { database: "shop".to_owned(), dialect: dialect.clone(), tables }
}

fn by_unions() -> String {
    fill_statement(
        "SELECT id, amount FROM orders",
        |number| {
            format!(
                " UNION ALL SELECT id, sum(amount) FROM orders WHERE status <> 's{number}' \
                 GROUP BY id"
            )
        },
        " ORDER BY 1",
    )
}

fn by_subqueries() -> String {
    fill_statement(
        "SELECT id FROM customers WHERE id > 0",
        |number| format!(" AND id IN (SELECT customer_id FROM orders WHERE amount > {number})"),
        "",
    )
}

/// Both statements run, and their rows come in other orders.
fn comparison(world: &World) -> Outcome<Figure> {
    let path = world.place("equality")?.join("rows.sqlite");
    let script = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, customer INT, day DATE, city TEXT);
         WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS})
         INSERT INTO t SELECT n, n % 700, date('2020-01-01', (n % 1000) || ' days'), 'city ' || (n \
           % 100) FROM r;
         CREATE INDEX by_city ON t(city);"
    );
    Connection::open(&path)?.execute_batch(&script)?;
    let database = SqliteDatabase::open(SqliteConfig::new(&path))?;
    let mut times = Vec::with_capacity(COMPARED);
    world.runtime.block_on(async {
        let mut bench =
            database.bench(BenchLimits::default()).await.map_err(|error| error.to_string())?;
        let original = bench.admit("SELECT id, customer, day, city FROM t", None).await?;
        let candidate =
            bench.admit("SELECT id, customer, day, city FROM t WHERE city > ''", None).await?;
        bench.snapshot().await?;
        for _ in 0..COMPARED {
            let begin = Instant::now();
            let found = bench.compare(&original, &candidate).await?;
            times.push(begin.elapsed().as_secs_f64() * 1e3);
            if found != Compared::Equal(u64::from(ROWS)) {
                return Err(format!("{found:?}").into());
            }
        }
        Outcome::Ok(())
    })?;
    let what = "two statements run and their 10,000 rows of four columns compared, in SQLite";
    Ok(Figure::new(what, median(times), "ms").at_most(20.0).note(format!("median of {COMPARED}")))
}
