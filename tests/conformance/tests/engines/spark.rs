//! Spark: on pysail's server, and on Spark itself.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_conformance::{Capabilities, Engine, run};
use syrch_core::ports::Database;
use syrch_core::{Dialect, Limits};
use syrch_kit::spark::{Kind, Server};
use syrch_spark::SparkConfig;

use crate::metrics;

/// The fixture in Spark's types. Its tables have no keys, and Spark's catalog takes no space in the
/// name of a table.
const FIXTURE: [&str; 8] = [
    "CREATE TABLE numbers (n INT NOT NULL) USING parquet",
    "INSERT INTO numbers SELECT CAST(id + 1 AS INT) FROM range(100)",
    "CREATE TABLE people (id INT NOT NULL, name STRING NOT NULL, height DOUBLE, note STRING) \
     USING parquet",
    "INSERT INTO people VALUES (1, 'Zoë', 1.75, NULL), (2, 'Łukasz', NULL, ''), (3, '名前 🦆', \
     2.5, 'It\\'s')",
    "CREATE TABLE orders (id INT NOT NULL, person INT NOT NULL, total INT) USING parquet",
    "INSERT INTO orders VALUES (10, 1, 5), (11, 1, NULL), (12, 3, 7)",
    "CREATE TABLE Order_Details (`Product \"Name\"` STRING, `select` INT) USING parquet",
    "INSERT INTO Order_Details VALUES ('Lamp', 1)",
];

struct Spark(Server);

#[async_trait]
impl Engine for Spark {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            quote: '`',
            // Spark writes the names of tables in small letters.
            odd_table: if self.0.kind() == Kind::Spark { "order_details" } else { "Order_Details" },
            has_not_null: self.0.kind() == Kind::Sail,
            has_identity: false,
            has_keys: false,
            // The join of the long statement hands on no row, and both servers notice an interrupt
            // only between rows. Deadlines and cancelling are tested beside the executor, with
            // statements that they can interrupt.
            can_interrupt: false,
            is_concurrent: false,
            ..Capabilities::all(Dialect::Spark)
        }
    }

    async fn open(&self, limits: Limits) -> Arc<dyn Database> {
        let config = SparkConfig { limits, ..SparkConfig::new(self.0.address()) };
        Arc::new(syrch_spark::open(config).await.unwrap())
    }

    async fn change(&self) {
        self.0.script(&["INSERT INTO orders VALUES (13, 3, 9)"]).unwrap();
    }
}

async fn passes(kind: Kind) {
    let Some(server) = tokio::task::spawn_blocking(move || Server::start(kind)).await.unwrap()
    else {
        return;
    };
    server.script(&FIXTURE).unwrap();
    let report = run(&Spark(server)).await;
    assert_eq!(
        (report.failures(), report.names_of_skipped()),
        (vec![], vec!["deadline", "dropped_statements_end", "keys", "short_beside_long"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn spark_on_pysail_passes() {
    passes(Kind::Sail).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spark_itself_passes() {
    passes(Kind::Spark).await;
}

async fn answers_metrics(kind: Kind) {
    let Some(server) = tokio::task::spawn_blocking(move || Server::start(kind)).await.unwrap()
    else {
        return;
    };
    let statements = metrics::script(&Dialect::Spark);
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    server.script(&statements).unwrap();
    metrics::check(&Spark(server).open(Limits::default()).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_on_pysail_are_those_of_statements_by_hand() {
    answers_metrics(Kind::Sail).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_on_spark_are_those_of_statements_by_hand() {
    answers_metrics(Kind::Spark).await;
}
