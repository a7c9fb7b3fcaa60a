//! A database server that crashes while searches run on it.

use std::process::Command;
use std::time::{Duration, Instant};

use syrch::{Host, QueryError};
use syrch_kit::postgres::Server;

use super::world::Chance;

const SHOP: &str = "CREATE TABLE customers(id int PRIMARY KEY, name text, country text);
    INSERT INTO customers SELECT n, 'customer ' || n, CASE WHEN n % 3 = 0 THEN 'France' ELSE \
      'Spain' END FROM generate_series(1, 30000) n;
    CREATE ROLE reader LOGIN; GRANT SELECT ON customers TO reader; ANALYZE";
const QUESTION: &str = "How many customers are there in each country?";

/// Ends one of the server's connections with SIGKILL, at which the server ends all others and
/// recovers as after a power cut.
fn crash(server: &Server) {
    let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'syrch-host' \
               ORDER BY random() LIMIT 1";
    // It may be recovering from the last crash.
    if let Ok(pid) = server.psql("shop", sql).map(|pid| pid.trim().to_owned())
        && !pid.is_empty()
    {
        drop(Command::new("kill").args(["-KILL", &pid]).status());
    }
}

fn connections(server: &Server) -> u32 {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'syrch-host'";
    server.psql("shop", sql).map_or(u32::MAX, |count| count.parse().unwrap())
}

/// The question's answer, or the error's words.
async fn ask(host: &Host) -> Result<Vec<String>, String> {
    match host.query(QUESTION).run().await {
        Ok(answer) => {
            let mut rows: Vec<String> =
                answer.data.rows(0, 10).iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            Ok(rows)
        }
        Err(QueryError::Failed(error)) => Err(error.to_string()),
        // Every candidate failed: the trace says why.
        Err(QueryError::NoAnswer(trace)) => Err(format!("{:?}", trace.warnings)),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_gives_a_right_answer_or_an_error_and_the_next_search_is_fine() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SHOP);
    let host =
        Host::builder().database(server.url("reader", "shop").as_str()).open().await.unwrap();
    let right = ask(&host).await.unwrap();
    assert_eq!(right.len(), 2);
    let mut chance = Chance::new(7, 0);
    let mut failed = 0;
    for run in 0..syrch_kit::scale(10, 100) {
        let (answer, ()) = tokio::join!(ask(&host), async {
            tokio::time::sleep(chance.millis(40)).await;
            tokio::task::block_in_place(|| crash(&server));
        });
        match answer {
            Ok(rows) => assert_eq!(rows, right, "run {run}"),
            Err(error) => {
                failed += 1;
                assert!(!error.is_empty(), "run {run}");
            }
        }
        // Recovering takes a moment; then a search is as before.
        let started = Instant::now();
        loop {
            match ask(&host).await {
                Ok(rows) => break assert_eq!(rows, right, "after run {run}"),
                Err(error) => {
                    assert!(started.elapsed() < Duration::from_secs(30), "after run {run}: {error}")
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let open = connections(&server);
        assert!(open <= 5, "after run {run} there are {open} connections");
    }
    println!("{failed} searches failed");
    drop(host);
    let started = Instant::now();
    while connections(&server) > 0 {
        assert!(started.elapsed() < Duration::from_secs(10), "connections are left open");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
