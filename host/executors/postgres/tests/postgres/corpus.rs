//! The corpus of hostile and benign statements against a live server, as the owner of its tables:
//! every hostile one is refused or stopped without effect and discloses nothing, no benign one is
//! refused.

use std::time::Duration;

use crate::common::config;
use futures::StreamExt;
use serde_json::Value as Json;
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError, SqlErrorKind, text::clip};
use syrch_guard::{Bounds, Granted, admit};
use syrch_kit::corpus::{lines, text};
use syrch_kit::data_root;
use syrch_kit::postgres::Server;
use syrch_postgres::PostgresDatabase;

/// Everything of the database and the server that a statement could change.
fn state(server: &Server) -> String {
    let script = "SELECT md5(string_agg(t, ',' ORDER BY t)) FROM ( \
          SELECT concat(c.oid, c.relname, c.relkind, c.relacl::text, c.relowner) AS t \
          FROM pg_class c WHERE c.relnamespace NOT IN (SELECT oid FROM pg_namespace \
          WHERE nspname IN ('pg_toast', 'pg_catalog')) UNION ALL SELECT concat(proname, prosrc) \
          FROM pg_proc WHERE oid >= 16384 UNION ALL SELECT concat(rolname, rolsuper) FROM pg_roles \
          UNION ALL SELECT concat(name, setting) FROM pg_settings WHERE source <> 'client' \
          AND name <> 'transaction_read_only' UNION ALL SELECT oid::text \
          FROM pg_largeobject_metadata UNION ALL SELECT slot_name::text FROM pg_replication_slots \
          UNION ALL SELECT roname FROM pg_replication_origin UNION ALL SELECT gid \
          FROM pg_prepared_xacts) s; SELECT (SELECT md5(string_agg(o::text, '' ORDER BY id)) \
          FROM orders o), (SELECT count(*) FROM order_items), (SELECT count(*) \
          FROM canary), (SELECT count(*) FROM audit_log), (SELECT concat(last_value, is_called) \
          FROM invoice_seq), (SELECT md5(string_agg(c::text, '' ORDER BY id)) \
          FROM customers c), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')";
    server.psql("shop", script).unwrap()
}

/// The server's major version.
fn version(server: &Server) -> u64 {
    let number = server.psql("postgres", "SHOW server_version_num").unwrap();
    number.parse::<u64>().unwrap() / 10_000
}

async fn verdicts(
    database: &PostgresDatabase,
    lines: &[Json],
) -> Vec<(usize, String, Result<ResultSet, SqlError>)> {
    let runs: Vec<_> = lines
        .iter()
        .enumerate()
        .map(|(index, line): (usize, &Json)| {
            let sql = text(line);
            async move {
                let verdict = database.run(&SqlQuery::new(sql.as_str())).await;
                (index, sql, verdict)
            }
        })
        .collect();
    futures::stream::iter(runs).buffer_unordered(4).collect().await
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_statements_have_no_effect_and_benign_ones_run() {
    let (Some(data), Some(server)) = (data_root(), Server::start()) else { return };
    let data = data.join("sql-guard");
    let mut schema = std::fs::read_to_string(data.join("schema_postgres.sql")).unwrap();
    // Versions from 17 on have no such extension.
    let adminpack = "SELECT count(*) FROM pg_available_extensions WHERE name = 'adminpack'";
    if server.psql("postgres", adminpack).unwrap() == "0" {
        schema = schema.replace("CREATE EXTENSION adminpack;", "");
    }
    server.psql("postgres", &schema).unwrap();
    server.psql("shop", "ANALYZE").unwrap();
    let mut config = config(&server, "app_owner", "shop");
    config.limits.sql_deadline = Duration::from_secs(1);
    config.tables = [
        "customers",
        "products",
        "order*",
        "employees",
        "events",
        "tickets",
        "canary",
        "v_revenue",
        "mv_rev",
        "v_evil",
    ]
    .map(str::to_owned)
    .to_vec();
    let before = state(&server);
    let database = syrch_postgres::open(config.clone()).await.unwrap();
    let mut wrong = Vec::new();
    let hostile = lines(&data.join("hostile.jsonl"), "postgres");
    for (index, sql, verdict) in verdicts(&database, &hostile).await {
        let line = &hostile[index];
        let is_stopped = match (&verdict, line["stop"].as_str().unwrap()) {
            // Refused for what it is, never for the time it took.
            (Err(error), "static" | "policy" | "catalog") => {
                (error.rule.is_some() || error.kind == SqlErrorKind::Syntax)
                    && !matches!(error.rule.as_deref(), Some("deadline" | "overrun" | "memory"))
            }
            (Err(_), "limit") => true,
            (Ok(result), "limit") => result.is_truncated() || line["class"] == "dos_time",
            _ => false,
        };
        let shown = match &verdict {
            Ok(result) => format!("{:?}", result.rows(0, u64::MAX)),
            Err(error) => format!("{error:?}"),
        };
        if !is_stopped || shown.contains("sk-SECRET") || shown.contains("root:x") {
            wrong.push(format!("{} {}: {}", line["id"], clip(&shown, 300), clip(&sql, 200)));
        }
    }
    // The benign ones run on the sessions that the hostile ones left behind.
    config.limits.sql_deadline = Duration::from_secs(20);
    let calm = syrch_postgres::open(config).await.unwrap();
    let mut benign = lines(&data.join("benign.jsonl"), "postgres");
    // `date_bin` came with version 14.
    let version = version(&server);
    benign.retain(|line| version >= 14 || !text(line).contains("date_bin("));
    for (database, time_matters) in [(&database, false), (&calm, true)] {
        for (index, sql, verdict) in verdicts(database, &benign).await {
            if let Err(error) = verdict
                && (time_matters || error.rule.as_deref() != Some("deadline"))
            {
                wrong.push(format!("{} {error:?}: {}", benign[index]["id"], clip(&sql, 300)));
            }
        }
    }
    for line in &benign {
        if let Err(error) = calm.check(&SqlQuery::new(text(line))).await {
            wrong.push(format!("{} check {error:?}", line["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(hostile.len() > 100 && benign.len() > 50, "{} {}", hostile.len(), benign.len());
    assert_eq!(state(&server), before);
}

/// The tables that the statements of the table of forms speak of.
const FORMS: &str = "CREATE TABLE customers (id integer, name text NOT NULL, city text); \
    CREATE TABLE orders (id integer, customer_id integer, total double precision, ordered_on \
    date); CREATE TABLE events (id integer, payload jsonb); INSERT INTO customers \
    VALUES (1, 'Ada', 'Vienna'), (2, 'Bo', NULL), (3, 'Åsa', 'Graz'), (4, 'Dee', 'Vienna'); \
    INSERT INTO orders VALUES (1, 1, 10.5, '2024-01-05'), (2, 1, 30, '2024-02-29'), (3, 2, 22, \
    '2023-12-31'), (4, 4, 7.25, '2024-06-01'); INSERT INTO events VALUES (1, '{\"kind\": \
    \"login\", \"tags\": [\"a\", \"b\"]}'), (2, '{\"kind\": \"logout\", \"tags\": []}')";

// What runs is what the guard has written again: it has to mean what the user wrote.
#[tokio::test(flavor = "multi_thread")]
async fn each_form_that_is_read_gives_the_same_rows_when_it_was_written_again() {
    let Some(server) = Server::start() else { return };
    let grant = "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader";
    server.database("forms", &format!("{FORMS}; {grant}"));
    let database = syrch_postgres::open(config(&server, "reader", "forms")).await.unwrap();
    let granted = Granted::new(&database.catalog().await.unwrap(), Vec::new());
    let mut forms = lines(&syrch_kit::repository().join("tests/sql/forms.jsonl"), "postgres");
    let version = version(&server);
    forms.retain(|line| line["since"].as_u64().is_none_or(|since| version >= since));
    let mut wrong = Vec::new();
    for line in forms.iter().filter(|line| line["reading"] == "read") {
        let sql = text(line);
        let written = admit(&sql, &granted, &Bounds::default()).unwrap().sql;
        let rows = (server.psql("forms", &sql), server.psql("forms", &written));
        let run = database.run(&SqlQuery::new(sql.as_str())).await;
        fn lines(text: &str) -> Vec<String> {
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        }
        let is_same = matches!(
            &rows, (Ok(given), Ok(written)) if syrch_kit::corpus::is_same(
                &sql, &lines(given), &lines(written)
            )
        );
        if !is_same || run.is_err() {
            wrong.push(format!("{sql}\n  {written}\n  {rows:?}\n  {:?}", run.err()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
