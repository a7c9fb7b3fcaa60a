//! The second check and the comparison on a running server.
#![cfg(unix)]

mod admission;
mod golds;

use syrch_core::SqlError;
use syrch_core::ports::{Bench, BenchLimits};
use syrch_kit::postgres::Server;

use super::{PostgresBench, analyse, clock_word};
use crate::PostgresConfig;

/// A bench as the user of that name.
async fn bench(server: &Server, user: &str, database: &str) -> PostgresBench {
    let config = PostgresConfig::new(server.url(user, database));
    let database = crate::open(config).await.unwrap();
    let snapshot = database.snapshot().await.unwrap();
    database.engine().open_bench(snapshot, BenchLimits::default()).await.unwrap()
}

/// The tables of a statement by the second check alone, which sees it as it is.
async fn second(bench: &mut PostgresBench, sql: &str) -> Result<Vec<String>, SqlError> {
    let checked = bench.connection.work(sql, |pinned, sql| Box::pin(analyse(pinned, sql))).await;
    let (used, objects) = checked.and_then(|checked| checked)?;
    objects.judge(&used, &bench.snapshot.catalog, bench.limits.real_sums)
}

/// AR-20: what every session of a bench is, whatever the role, the database and a statement before
/// it have set.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_read_only_with_fixed_settings_and_a_snapshot() {
    let Some(server) = Server::start() else { return };
    server.database(
        "fixed",
        "CREATE TABLE t(id int); CREATE ROLE odd LOGIN; GRANT SELECT ON t TO odd",
    );
    for setting in [
        "timezone = 'Asia/Tokyo'",
        "datestyle = 'German'",
        "intervalstyle = 'postgres'",
        "statement_timeout = 0",
    ] {
        server.psql("fixed", &format!("ALTER ROLE odd SET {setting}")).unwrap();
    }
    let mut bench = bench(&server, "odd", "fixed").await;
    bench.snapshot().await.unwrap();
    let pinned = bench.connection.take_session().await.unwrap();
    for (setting, expected) in [
        ("transaction_isolation", "repeatable read"),
        ("transaction_read_only", "on"),
        ("TimeZone", "UTC"),
        ("DateStyle", "ISO, YMD"),
        ("extra_float_digits", "3"),
        ("IntervalStyle", "iso_8601"),
        ("bytea_output", "hex"),
        ("statement_timeout", "2min"),
        ("lock_timeout", "5s"),
        // Tables are written with their schemas.
        ("search_path", "pg_catalog"),
    ] {
        let row = pinned
            .client()
            .query_one(&format!("SELECT current_setting('{setting}')"), &[])
            .await
            .unwrap();
        assert_eq!(row.get::<_, String>(0), expected, "{setting}");
    }
}

#[test]
fn words_of_the_clock_are_found_in_texts_alone() {
    let unclear = Some("a text with escapes or in parts");
    for (sql, word) in [
        ("SELECT 1 FROM t WHERE d < 'today'", Some("today")),
        ("SELECT 1 FROM t WHERE d < ' NOW '", Some("now")),
        ("SELECT 1 FROM t WHERE d < E'yesterday 10:00'", Some("yesterday")),
        ("SELECT 1 FROM t WHERE d < E'\\156ow'", unclear),
        ("SELECT 1 FROM t WHERE d < 'no'\n'w'", unclear),
        ("SELECT 1 FROM t WHERE d < '\\today'", Some("today")),
        ("SELECT today FROM t WHERE d < 'known'", None),
        ("SELECT \"now\" FROM t", None),
    ] {
        assert_eq!(clock_word(sql), word, "{sql}");
    }
}
