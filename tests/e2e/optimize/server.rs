//! The whole loop over a server of PostgreSQL: what is accepted and what is not, the journal, and
//! its replay when the server is gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use syrch_kit::postgres::Server;
use syrch_kit::{MockEndpoint, Reply, Script};

use super::resumed::{count_timings, journal};
use super::{FAST, SLOW, Slow, document};
use crate::bad_input::{assert_refused, finish, read_streams};

/// A database in which [`SLOW`] takes some tenths of a second, and a role that may read it.
fn slow_database(server: &Server) -> String {
    server.database(
        "slow",
        "CREATE TABLE customers(id int PRIMARY KEY, name text NOT NULL);
         CREATE TABLE orders(id int PRIMARY KEY, customer_id int NOT NULL, total int NOT NULL);
         CREATE TABLE secret(id int PRIMARY KEY);
         INSERT INTO customers SELECT i, 'customer ' || i FROM generate_series(1, 200) AS i;
         INSERT INTO orders SELECT i, 1 + i * 7919 % 190, i * 31 % 1000 FROM generate_series(1, \
           20000) AS i;
         CREATE ROLE reader LOGIN PASSWORD 'pw-S3kr1t'; GRANT SELECT ON ALL TABLES IN SCHEMA \
           public TO reader; ANALYZE;",
    );
    server.url("reader", "slow")
}

fn rows(server: &Server, sql: &str) -> String {
    server
        .psql(
            "slow",
            &format!(
                "SELECT md5(string_agg(r::text, ',' ORDER BY r::text)) FROM ({}) AS r",
                sql.trim().trim_end_matches(';')
            ),
        )
        .unwrap()
}

fn states(found: &Value) -> Vec<&str> {
    found["iterations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|iteration| iteration["state"].as_str().unwrap())
        .collect()
}

/// AR-23: columns are compared before rows. The whole loop over a server, and its journal without
/// it.
#[test]
fn the_whole_loop_over_a_server_is_replayed_without_it() {
    let Some(mut server) = Server::start() else { return };
    let slow = Slow::with_rows(20, 100);
    let url = slow_database(&server);
    // One statement after the other: another type, fewer rows, a table of others, no statement, and
    // the one that is right.
    let proposals = [
        SLOW.replace("count(*)", "count(*)::int"),
        FAST.replace("LEFT JOIN", "JOIN"),
        format!("{FAST} LEFT JOIN secret AS s ON s.id = c.id"),
        "SELECT FROM WHERE".to_owned(),
        FAST.to_owned(),
    ];
    let endpoint = MockEndpoint::start(Script::new().with(move |_, count| {
        let sql = proposals.get(count)?;
        Some(Reply::json(
            &json!({"optimized_sql": sql, "explanation": "faster", "unchanged": false}),
        ))
    }));
    let mut command = slow.words(
        "optimize --min-gain-ms 1 --rewriter model --llm openai --model m --accept-data-sent --db",
    );
    command.args([&url, "--base-url", &endpoint.url(), SLOW]);
    let found = document(&mut command, 0);
    assert_eq!(
        states(&found),
        ["FAILED_SCHEMA", "FAILED_MISMATCH", "FAILED_SAFETY", "CANDIDATE_ERROR", "KEPT"],
        "{found:#}"
    );
    assert!(
        found["iterations"][0]["detail"]
            .as_str()
            .unwrap()
            .contains("`n` int4 in place of `n` int8"),
        "{found:#}"
    );
    assert!(found["iterations"][2]["detail"].as_str().unwrap().contains("secret"), "{found:#}");
    assert_eq!(
        (&found["outcome"], &found["confirmation"]["confirmed"]),
        (&json!("OPTIMIZED"), &json!(true))
    );
    assert_eq!(
        found["iterations"][4]["copies"],
        json!(0),
        "there are no copies of a database at a server"
    );
    assert_eq!(rows(&server, found["best"].as_str().unwrap()), rows(&server, SLOW));
    assert!(found["plans"]["before"]["text"].as_str().unwrap().contains("Scan"), "{found:#}");

    // By rules alone, to the end of a pipe.
    let mut by_rules = slow.words("optimize --min-gain-ms 1 --db");
    let output = finish(by_rules.args([&url, SLOW]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(rows(&server, &stdout), rows(&server, SLOW));
    assert!(stderr.contains(" × faster (") && stderr.contains("equal on 200 rows\n"), "{stderr}");

    // Nothing of rows, of the place or of the password is in a journal, which is all that a replay
    // needs.
    server.kill();
    let run = found["run"].as_str().unwrap();
    let journal = slow.path().join(format!("home/.local/state/syrch/runs/{run}.jsonl"));
    let journal = std::fs::read_to_string(journal).unwrap();
    for never in
        ["customer 17", "S3kr1t", server.folder().to_str().unwrap(), endpoint.url().as_str()]
    {
        assert!(!journal.contains(never), "{never}");
    }
    assert_eq!(document(&mut slow.words(&format!("trace replay --strict {run}")), 0), found);
    // A server that is gone.
    assert_refused(slow.words("optimize --db").args([&url, SLOW]), 11, &[]);
}

#[test]
fn a_writer_and_a_server_that_dies_end_with_an_error_and_no_verdict() {
    let Some(mut server) = Server::start() else { return };
    let slow = Slow::with_rows(20, 100);
    let url = slow_database(&server);
    let optimize = |extra: &str| {
        let mut command = slow.words("optimize --min-gain-ms 1 --db");
        command.args([url.as_str(), SLOW]).args(extra.split_whitespace());
        command
    };
    let stop = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut id = 100_000;
            while !stop.load(Ordering::Relaxed) {
                id += 1;
                server.psql("slow", &format!("INSERT INTO secret VALUES ({id})")).unwrap();
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let found = std::panic::catch_unwind(|| document(&mut optimize(""), 11));
        stop.store(true, Ordering::Relaxed);
        found.unwrap()
    });
    assert_eq!(
        (&found["outcome"], &found["best"]),
        (&json!("ERROR"), &found["original"]),
        "{found:#}"
    );
    assert!(found["reason"].as_str().unwrap().contains("written to"), "{found:#}");

    // While the statement is measured.
    std::fs::remove_dir_all(slow.path().join("home/.local/state/syrch/runs")).unwrap();
    let child = std::thread::scope(|scope| {
        let work = scope.spawn(|| finish(&mut optimize(""), ""));
        while count_timings(&journal(&slow)) < 3 && !work.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
        }
        server.kill();
        work.join().unwrap()
    });
    let (stdout, stderr) = read_streams(&child);
    assert_eq!(child.status.code(), Some(11), "{stdout}{stderr}");
}
