//! Measures how long the guard looks at a statement of 4 KiB before it runs.

use std::time::Instant;

use syrch_core::{Catalog, Column, Dialect, Table};
use syrch_guard::Bounds;
use syrch_guard::admission::{Granted, admit};

use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

const RUNS: usize = 2_000;
const BYTES: usize = 4 << 10;

/// The 99th percentile over statements of different shapes.
pub(crate) fn measure(_world: &World) -> Outcome<Vec<Figure>> {
    let granted = Granted::new(&catalog(), vec!["public".to_owned()]);
    let statements = [by_terms(), by_unions(), by_cases(), by_subqueries()];
    let mut times = Vec::with_capacity(RUNS);
    for run in 0..RUNS {
        let statement = &statements[run % statements.len()];
        let begin = Instant::now();
        let admitted = admit(statement, &granted, &Bounds::default());
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        admitted.map_err(|error| format!("{error:?}: {statement}"))?;
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let what = "the guard on a PostgreSQL statement of 4 KiB, 99th percentile";
    Ok(vec![
        Figure::new(what, at(0.99), "ms")
            .at_most(1.0)
            .note(format!("median {:.2} ms, {RUNS} statements", at(0.5))),
    ])
}

fn catalog() -> Catalog {
    let tables = ["orders", "customers", "products"]
        .map(|name: &str| Table {
            name: name.to_owned(),
            schema_name: Some("public".to_owned()),
            columns: ["id", "customer_id", "amount", "status"]
                .map(|name: &str| Column {
                    name: name.to_owned(),
                    sql_type: "integer".to_owned(),
                    ..Column::default()
                })
                .to_vec(),
            ..Table::default()
        })
        .to_vec();
    Catalog { database: "shop".to_owned(), dialect: Dialect::Postgres, tables }
}

/// A statement as long as it may be, of a beginning, pieces by number and an end.
pub(super) fn fill_statement(begin: &str, piece: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = begin.to_owned();
    for number in 0.. {
        let next = piece(number);
        if text.len() + next.len() + end.len() > BYTES {
            break;
        }
        text.push_str(&next);
    }
    text + end
}

pub(super) fn by_terms() -> String {
    fill_statement(
        "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = 1",
        |number| format!(" OR (o.amount > {number} AND lower(o.status) LIKE 'a{number}%')"),
        "",
    )
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

pub(super) fn by_cases() -> String {
    fill_statement(
        "SELECT customer_id",
        |number| {
            format!(", sum(CASE WHEN status = 's{number}' THEN amount ELSE 0 END) AS n{number}")
        },
        " FROM orders GROUP BY customer_id",
    )
}

fn by_subqueries() -> String {
    fill_statement(
        "SELECT id FROM customers WHERE id > 0",
        |number| {
            format!(" AND id IN (SELECT customer_id FROM orders WHERE amount > {number} LIMIT 5)")
        },
        "",
    )
}
