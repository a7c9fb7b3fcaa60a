//! The corpus of benign statements: what runs is what the guard has written again, so it has to
//! mean what the user wrote.

use syrch_arrow_engine::ArrowEngine;
use syrch_core::{Catalog, Dialect};
use syrch_guard::{Bounds, Granted, admit};
use syrch_kit::spark::{Kind, Server};

use crate::common::{run, usual};

const TABLES: [&str; 6] = [
    "CREATE TABLE customers (id INT, name STRING, city STRING) USING parquet",
    "CREATE TABLE orders (id INT, customer_id INT, total DOUBLE, ordered_on DATE) USING parquet",
    "CREATE TABLE events (id INT, payload STRING) USING parquet",
    "INSERT INTO customers VALUES (1, 'Ada', 'Vienna'), (2, 'Bo', NULL), (3, 'Åsa', 'Graz'), (4, \
     'Dee', 'Vienna')",
    "INSERT INTO orders VALUES (1, 1, 10.5, DATE'2024-01-05'), (2, 1, 30, DATE'2024-02-29'), (3, \
     2, 22, DATE'2023-12-31'), (4, 4, 7.25, DATE'2024-06-01')",
    "INSERT INTO events VALUES (1, '{\"kind\": \"login\", \"tags\": [\"a\", \"b\"]}'), (2, \
     '{\"kind\": \"logout\", \"tags\": []}')",
];

/// Statements that pysail does not run, with the guard or without it: `* EXCEPT` and `GROUP BY
/// ALL`.
const NOT_IN_SAIL: [&str; 2] = ["benign-110", "benign-111"];

pub(crate) async fn what_the_guard_wrote_again_gives_the_same_rows(server: &'static Server) {
    server.script(&TABLES).unwrap();
    let engine = usual(server).await;
    let schema = engine.schema().await.unwrap();
    let catalog =
        Catalog { database: "corpus".to_owned(), dialect: Dialect::Spark, tables: schema.tables };
    let granted = Granted::new(&catalog, schema.path);
    let lines =
        syrch_kit::corpus::lines(&syrch_kit::repository().join("tests/sql/benign.jsonl"), "spark");
    let mut wrong = Vec::new();
    let mut lacking = Vec::new();
    for line in &lines {
        let sql = syrch_kit::corpus::text(line);
        let admitted = admit(&sql, &granted, &Bounds::default()).unwrap().sql;
        match (run(&engine, &sql).await, run(&engine, &admitted).await) {
            (Ok(given), Ok(written))
                if syrch_kit::corpus::is_same(
                    &sql,
                    &given.rows(0, u64::MAX),
                    &written.rows(0, u64::MAX),
                ) => {}
            // pysail takes the letter case of names for a difference, and the guard writes names as
            // the catalog spells them.
            (Err(error), Ok(_))
                if server.kind() == Kind::Sail
                    && error.message.contains("not found: Customers") => {}
            (Err(_), Err(error)) => {
                lacking.push(format!("{}: {sql}\n  {}", line["id"], error.message))
            }
            (given, written) => {
                let rows = [given, written].map(|result| result.map(|result| result.rows(0, 9)));
                wrong.push(format!("{sql}\n  {admitted}\n  {rows:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known: &[&str] = if server.kind() == Kind::Sail { &NOT_IN_SAIL } else { &[] };
    let is_known = lacking.iter().zip(known).all(|(line, id)| line.contains(id));
    assert!(is_known && lacking.len() == known.len(), "{}", lacking.join("\n"));
    assert!(lines.len() > 50, "{}", lines.len());
}
