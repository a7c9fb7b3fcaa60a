//! The bench on a live server: what compares equal and what does not, limits, faults, and who else
//! writes.

use std::time::{Duration, Instant};

use syrch_core::SqlErrorKind;
use syrch_core::ports::{
    Admitted, Bench, BenchLimits, CANDIDATE, Compared, Database, OVERRUN, TOO_MANY_ROWS,
    UNSUPPORTED_TYPE,
};
use syrch_kit::acceptance::{COMPARISON, missing};
use syrch_kit::postgres::Server;

use crate::common::config;

const SCRIPT: &str = "CREATE TABLE t(id int PRIMARY KEY, g int, n numeric, r float8, s text, \
    j jsonb, o json, i interval, a int[], x bytea, p point); INSERT INTO t \
    SELECT k, k % 3, k / 3.0, k / 3.0, 'text ' || k, jsonb_build_object('a', k), '{\"a\": 1}', \
    make_interval(days => k), ARRAY[k, 2], 'x', '(1,2)' FROM generate_series(1, 100) AS k; \
    CREATE TABLE u(id int); INSERT INTO u VALUES (1); CREATE TABLE secret(v int); \
    CREATE TABLE other(id int); ANALYZE;";

async fn bench(server: &Server, limits: BenchLimits) -> Box<dyn Bench> {
    syrch_postgres::open(config(server, "admin", "shop"))
        .await
        .unwrap()
        .bench(limits)
        .await
        .unwrap()
}

async fn admit_statement(bench: &mut dyn Bench, sql: &str) -> Admitted {
    bench.admit(sql, None).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
}

async fn compare_statements(bench: &mut dyn Bench, original: &str, candidate: &str) -> Compared {
    let original = admit_statement(bench, original).await;
    let candidate = admit_statement(bench, candidate).await;
    bench.compare(&original, &candidate).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_admitted_with_their_tables_and_columns() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SCRIPT);
    let mut bench = bench(&server, BenchLimits::default()).await;
    let statement = admit_statement(
        bench.as_mut(),
        "SELECT t.id AS id, r AS ratio FROM t JOIN u ON u.id = t.id -- why\n ORDER BY 1",
    )
    .await;
    assert_eq!(
        (statement.tables.clone(), statement.is_ordered),
        (vec!["t".to_owned(), "u".to_owned()], true)
    );
    assert!(!statement.sql.contains("why"), "{}", statement.sql);
    assert_eq!(bench.admit(&statement.sql, None).await.unwrap(), statement);
    let columns = bench.columns(&statement).await.unwrap();
    let shown: Vec<_> =
        columns.iter().map(|column| format!("{} {}", column.name, column.sql_type)).collect();
    assert_eq!(shown, ["id int4", "ratio float8"]);
    let plan = bench.explain(&statement).await.unwrap();
    assert!(
        plan.format == "postgres-explain" && plan.cost.is_some() && plan.text.contains("Scan"),
        "{plan:?}"
    );
    // A candidate reads no table that the original does not.
    let within = ["t".to_owned()];
    for sql in [
        "SELECT t.id AS id FROM t JOIN u ON t.id = u.id AND (SELECT max(v) FROM secret) = 42",
        "WITH c AS (SELECT v AS id FROM secret) SELECT id AS id FROM c UNION ALL \
         SELECT id AS id FROM t",
        "SELECT id AS id FROM t WHERE id IN (SELECT v FROM secret)",
    ] {
        assert!(bench.admit(sql, Some(&within)).await.unwrap_err().kind.is_refusal(), "{sql}");
        assert!(bench.admit(sql, None).await.is_ok(), "{sql}");
    }
    for sql in [
        "SELECT id FROM t LIMIT 1",
        "DELETE FROM t",
        "SELECT now() AS n FROM t",
        "SELECT pg_read_file('x') AS x FROM t",
        "SELECT 1 AS a; SELECT 2 AS b",
    ] {
        let error = bench.admit(sql, None).await.unwrap_err();
        assert!(error.rule.is_some(), "{sql}: {error:?}");
    }
    assert_eq!(
        bench.admit("SELECT nothing AS n FROM t", None).await.unwrap_err().kind,
        SqlErrorKind::UnknownColumn
    );
    assert_eq!(
        bench.admit("SELECT FROM WHERE", None).await.unwrap_err().kind,
        SqlErrorKind::Syntax
    );
    let point = Admitted { sql: "SELECT p FROM public.t".to_owned(), ..statement };
    assert_eq!(bench.columns(&point).await.unwrap_err().rule.as_deref(), Some(UNSUPPORTED_TYPE));
    assert_eq!(
        bench.compare(&point, &point).await.unwrap_err().rule.as_deref(),
        Some(UNSUPPORTED_TYPE)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_compared_as_they_are() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SCRIPT);
    let mut bench = bench(&server, BenchLimits::default()).await;
    let bench = bench.as_mut();
    let values = [
        // More digits than a double, or a decimal of 28 digits, has.
        (
            "AR-D5",
            "12345678901234567890123456789012345",
            "12345678901234567890123456789012346",
            false,
        ),
        ("AR-D5", "1.0000000000000000000000000000001", "1.0", false),
        ("AR-24", "1.50", "1.5", true),
        ("AR-D5", "n + 1", "n", false),
        ("AR-24", "n / 10 * 10", "n", false),
        ("AR-D5", "n + 1e-30", "n", false),
        // Digits of numbers in JSON, and keys that occur twice.
        ("AR-D6", "'{\"a\": 1.00000000000000000001}'::jsonb", "'{\"a\": 1.0}'::jsonb", false),
        ("AR-D6", "'{\"a\": 1, \"b\": 2}'::jsonb", "'{\"b\": 2,  \"a\": 1}'::jsonb", true),
        ("AR-D6", "'{\"a\": 1, \"a\": 2}'::json", "'{\"a\": 2}'::json", false),
        ("AR-D6", "'{\"a\" : 1}'::json", "'{\"a\":1}'::json", true),
        ("AR-24", "'NaN'::float8", "-'NaN'::float8", true),
        ("AR-24", "0.0::float8", "-0.0::float8", false),
        ("AR-24", "r * 3", "g::float8", false),
        ("AR-24", "0.1::float8 + 0.2::float8", "0.3::float8", false),
        ("AR-24", "1::int", "1::bigint", false),
        ("AR-24", "'a'::text", "'a '::text", false),
        ("AR-24", "'1 day'::interval", "'24 hours'::interval", false),
        ("AR-24", "'30 days'::interval", "'1 month'::interval", false),
        ("AR-24", "ARRAY[1, 2]", "ARRAY[2, 1]", false),
        ("AR-24", "ARRAY[1, NULL]", "ARRAY[1, NULL]::int[]", true),
        ("AR-24", "NULL::text", "''::text", false),
        ("AR-24", "'2024-01-01 12:00+02'::timestamptz", "'2024-01-01 10:00+00'::timestamptz", true),
    ];
    assert_eq!(
        missing(COMPARISON, values.iter().map(|(row, ..)| *row)),
        Vec::<&str>::new(),
        "rows without a case"
    );
    for (row, one, two, is_equal) in values {
        fn statement(value: &str) -> String {
            format!("SELECT {value} AS v FROM t")
        }
        let found = compare_statements(bench, &statement(one), &statement(two)).await;
        let expected = if is_equal { Compared::Equal(100) } else { Compared::Different };
        assert_eq!(found, expected, "{row}: {one} {two}");
    }
    for (original, candidate, expected) in [
        ("SELECT id FROM t ORDER BY id", "SELECT id FROM t ORDER BY id DESC", Compared::Reordered),
        ("SELECT id FROM t", "SELECT id FROM t ORDER BY id DESC", Compared::Equal(100)),
        ("SELECT g FROM t", "SELECT DISTINCT g FROM t", Compared::Different),
        ("SELECT id FROM t", "SELECT id FROM t WHERE id < 100", Compared::Different),
        ("SELECT id FROM t WHERE id < 0", "SELECT id FROM t WHERE id < -5", Compared::Equal(0)),
        (
            "SELECT id, g FROM t",
            "SELECT id, g FROM t AS k WHERE EXISTS (SELECT 1 FROM t WHERE t.id = k.id)",
            Compared::Equal(100),
        ),
    ] {
        assert_eq!(compare_statements(bench, original, candidate).await, expected, "{candidate}");
    }
}

/// AR-21: each type of the list is compared, and others are not.
#[tokio::test(flavor = "multi_thread")]
async fn the_listed_types_are_compared_and_no_others() {
    let Some(server) = Server::start() else { return };
    let listed = "bool bytea int8 int2 int4 text json float4 float8 bpchar varchar date time \
                  timestamp timestamptz interval timetz numeric uuid jsonb _bool _bytea _int2 \
                  _int4 _text _varchar _int8 _timestamp _date _timestamptz _uuid";
    let others = "point money inet macaddr bit varbit int4range xml tsvector name oid _numeric \
                  _float8 _jsonb";
    let script: String = listed
        .split_whitespace()
        .chain(others.split_whitespace())
        .map(|name: &str| {
            format!(
                "CREATE TABLE of_{name}(id int PRIMARY KEY, v {name}); INSERT INTO of_{name} \
                 VALUES (1, NULL);"
            )
        })
        .collect();
    server.database("shop", &script);
    let mut bench = bench(&server, BenchLimits::default()).await;
    for name in listed.split_whitespace() {
        let statement = admit_statement(bench.as_mut(), &format!("SELECT v FROM of_{name}")).await;
        let shown = name.strip_prefix('_').map_or_else(|| name.to_owned(), |of| format!("{of}[]"));
        assert_eq!(bench.columns(&statement).await.unwrap()[0].sql_type, shown);
        assert_eq!(bench.compare(&statement, &statement).await, Ok(Compared::Equal(1)), "{name}");
    }
    for name in others.split_whitespace() {
        let error = match bench.admit(&format!("SELECT v FROM of_{name}"), None).await {
            Ok(statement) => bench.columns(&statement).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(
            matches!(error.rule.as_deref(), Some("type" | UNSUPPORTED_TYPE)),
            "{name}: {error:?}"
        );
    }
}

/// AR-22, AR-D9: limits hold while rows arrive, and the columns are known before any.
#[tokio::test(flavor = "multi_thread")]
async fn results_are_bounded_and_statements_end_in_time() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SCRIPT);
    let limits = BenchLimits {
        rows: 1_000,
        bytes: 100_000,
        statement_ms: 1_500,
        lock_ms: 300,
        real_sums: false,
    };
    let mut bench = bench(&server, limits).await;
    let bench = bench.as_mut();
    let small = admit_statement(bench, "SELECT id AS id FROM t").await;
    let size = bench.size(&small).await.unwrap();
    assert_eq!((size.rows, size.bytes), (100, 800));
    assert_eq!(bench.time(&small).await.unwrap().rows, 100);
    fn rows(error: syrch_core::SqlError) -> (SqlErrorKind, String) {
        (error.kind, error.rule.unwrap_or_default())
    }
    let many =
        admit_statement(bench, "SELECT a.id AS id FROM t AS a, t AS b, t AS c, t AS d, t AS e")
            .await;
    let wide = admit_statement(bench, "SELECT repeat(s, 100000) AS s FROM t").await;
    let large = (SqlErrorKind::TooLarge, TOO_MANY_ROWS.to_owned());
    for statement in [&many, &wide] {
        let started = Instant::now();
        assert_eq!(bench.columns(statement).await.unwrap().len(), 1);
        assert!(started.elapsed() < Duration::from_secs(1), "the rows were read for the columns");
        let started = Instant::now();
        assert_eq!(rows(bench.size(statement).await.unwrap_err()), large);
        assert_eq!(rows(bench.compare(statement, &small).await.unwrap_err()), large);
        assert_eq!(bench.compare(&small, statement).await, Ok(Compared::TooLarge));
        assert_eq!(rows(bench.time(statement).await.unwrap_err()), large);
        assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    }
    // One that computes for ever.
    let slow =
        admit_statement(bench, "SELECT count(*) AS n FROM t AS a, t AS b, t AS c, t AS d, t AS e")
            .await;
    assert_eq!(
        rows(bench.time(&slow).await.unwrap_err()),
        (SqlErrorKind::Timeout, "deadline".to_owned())
    );
    let one = admit_statement(bench, "SELECT count(*) AS n FROM t").await;
    let failed = rows(bench.compare(&one, &slow).await.unwrap_err());
    assert_eq!(failed, (SqlErrorKind::Timeout, format!("{CANDIDATE}: deadline")));
    assert_ne!(failed.1, OVERRUN);
    // One that fails on a row.
    let failing = admit_statement(bench, "SELECT 1 / (g - g) AS n FROM t").await;
    let failed = bench.compare(&one, &failing).await.unwrap_err();
    assert!(
        failed.rule.as_deref() == Some(CANDIDATE) && failed.message.contains("division by zero"),
        "{failed:?}"
    );
    // A table that somebody holds.
    let held = std::thread::scope(|scope| {
        let holder =
            scope.spawn(|| server.psql("shop", "BEGIN; LOCK TABLE u; SELECT pg_sleep(3); COMMIT"));
        let waited = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let started = Instant::now();
                let error = bench.admit("SELECT id AS id FROM u", None).await.unwrap_err();
                (error.kind, started.elapsed() < Duration::from_millis(1_400))
            })
        });
        holder.join().unwrap().unwrap();
        waited
    });
    assert_eq!(held, (SqlErrorKind::Unavailable, true));
    // Nothing of all this still runs, and the bench is as ready as before.
    assert_eq!(bench.compare(&small, &small).await, Ok(Compared::Equal(100)));
    let running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' \
                   AND application_name = 'syrch-host'";
    assert_eq!(server.psql("shop", running).unwrap(), "0");
}

/// AR-20, AR-D7: both sides of a comparison are run in the snapshot of that comparison.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_stays_and_a_writer_is_seen() {
    let Some(server) = Server::start() else { return };
    server.database("shop", SCRIPT);
    let mut bench = bench(&server, BenchLimits::default()).await;
    let bench = bench.as_mut();
    let all = admit_statement(bench, "SELECT id AS id FROM t").await;
    bench.snapshot().await.unwrap();
    let before = bench.version().await.unwrap();
    assert_eq!(bench.size(&all).await.unwrap().rows, 100);
    assert!(
        bench.admit("SELECT random() AS x FROM t", None).await.is_err()
            && bench.columns(&all).await.is_ok()
    );
    server.psql("shop", "SELECT count(*) FROM t").unwrap();
    assert_eq!(bench.version().await.unwrap(), before, "nobody wrote");
    server.psql("shop", "INSERT INTO t(id) VALUES (1000)").unwrap();
    let after = bench.version().await.unwrap();
    assert_ne!(after, before);
    // The snapshot is that from before, and is until there is another.
    assert_eq!(bench.size(&all).await.unwrap().rows, 100);
    assert_eq!(bench.compare(&all, &all).await, Ok(Compared::Equal(100)));
    bench.snapshot().await.unwrap();
    assert_eq!(bench.size(&all).await.unwrap().rows, 101);
    // The original is run again: rows of an earlier snapshot would differ.
    assert_eq!(bench.compare(&all, &all).await, Ok(Compared::Equal(101)));
    // A transaction that began before and ends now.
    std::thread::scope(|scope| {
        let script = "BEGIN; DELETE FROM t WHERE id = 1000; SELECT pg_sleep(1.5); COMMIT";
        let writer = scope.spawn(|| server.psql("shop", script));
        std::thread::sleep(Duration::from_millis(700));
        let mut version = || {
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(bench.version())
            })
            .unwrap()
        };
        let during = version();
        writer.join().unwrap().unwrap();
        assert_ne!(version(), during);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_is_an_error_and_a_dropped_call_ends_its_statement() {
    let Some(mut server) = Server::start() else { return };
    server.database("shop", SCRIPT);
    let mut bench = bench(&server, BenchLimits::default()).await;
    let bench = bench.as_mut();
    let small = admit_statement(bench, "SELECT id AS id FROM t").await;
    let slow =
        admit_statement(bench, "SELECT count(*) AS n FROM t AS a, t AS b, t AS c, t AS d, t AS e")
            .await;
    assert!(tokio::time::timeout(Duration::from_millis(500), bench.time(&slow)).await.is_err());
    let running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' \
                   AND application_name = 'syrch-host'";
    let started = Instant::now();
    while server.psql("shop", running).unwrap() != "0" {
        assert!(started.elapsed() < Duration::from_secs(5), "the statement still runs");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(bench.size(&small).await.unwrap().rows, 100);
    // An administrator ends the session; the next call has another one.
    server
        .psql(
            "shop",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE application_name = 'syrch-host'",
        )
        .unwrap();
    let _ = bench.size(&small).await;
    assert_eq!(bench.size(&small).await.unwrap().rows, 100);
    assert!(bench.version().await.is_ok() || bench.version().await.is_ok());
    server.kill();
    for _ in 0..2 {
        assert_eq!(bench.size(&small).await.unwrap_err().kind, SqlErrorKind::Unavailable);
        assert_eq!(bench.version().await.unwrap_err().kind, SqlErrorKind::Unavailable);
        assert_eq!(
            bench.admit("SELECT id AS id FROM t", None).await.unwrap_err().kind,
            SqlErrorKind::Unavailable
        );
    }
}
