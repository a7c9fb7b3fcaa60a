//! Results, their limits, and errors.

use std::time::{Duration, Instant};

use syrch_arrow_engine::ArrowEngine;
use syrch_core::{Limits, SqlErrorKind, Value};
use syrch_kit::spark::{Kind, Server};
use tokio::time::timeout;

use crate::common::{ENDLESS, engine, refusal, rows, run, run_until, soon, text, usual};

pub(crate) async fn every_type_arrives(server: &'static Server) {
    let engine = usual(server).await;
    for (expression, name, expected) in [
        ("CAST(1 AS TINYINT)", "TINYINT", Value::Integer(1)),
        ("CAST(-2 AS SMALLINT)", "SMALLINT", Value::Integer(-2)),
        ("3", "INT", Value::Integer(3)),
        ("9223372036854775807", "BIGINT", Value::Integer(i64::MAX)),
        ("CAST(0.5 AS FLOAT)", "FLOAT", Value::Real(0.5)),
        ("CAST(0.1 AS DOUBLE)", "DOUBLE", Value::Real(0.1)),
        ("CAST('-12.340' AS DECIMAL(38,3))", "DECIMAL(38,3)", Value::Decimal("-12.340".to_owned())),
        ("true", "BOOLEAN", Value::Boolean(true)),
        ("'é😀'", "STRING", text("é😀")),
        ("X'00ff'", "BINARY", Value::Bytes(vec![0, 255])),
        ("NULL", "VOID", Value::Null),
    ] {
        let result = run(&engine, &format!("SELECT {expression} AS c")).await.unwrap();
        assert_eq!(result.rows(0, 9), [[expected]], "{expression}");
        assert_eq!(result.columns()[0].sql_type, name, "{expression}");
    }
    for (expression, name, part) in [
        ("DATE'2020-01-02'", "DATE", "2020-01-02"),
        ("TIMESTAMP_NTZ'2020-01-02 03:04:05.5'", "TIMESTAMP_NTZ", "03:04:05.5"),
        ("TIMESTAMP'2020-01-02 03:04:05'", "TIMESTAMP", "2020-01-02"),
        ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL YEAR TO MONTH", "1"),
        ("INTERVAL '1 02:03:04' DAY TO SECOND", "INTERVAL DAY TO SECOND", "02:03:04"),
        ("array(1, NULL, 2)", "ARRAY<INT>", "1"),
        ("map('a', 1)", "MAP<STRING, INT>", "a"),
        ("named_struct('a', 1, 'b', array('x'))", "STRUCT<a: INT, b: ARRAY<STRING>>", "x"),
    ] {
        let result = run(&engine, &format!("SELECT {expression} AS c")).await.unwrap();
        assert_eq!(result.columns()[0].sql_type, name, "{expression}");
        let found = format!("{:?}", result.rows(0, 9));
        assert!(found.contains(part), "{expression}: {found}");
    }
}

pub(crate) async fn nulls_and_unicode(server: &'static Server) {
    let engine = usual(server).await;
    let found = rows(&engine, "SELECT name, price FROM shop.items ORDER BY id").await;
    let expected = [
        [text("Zoë 🦆"), Value::Decimal("1.50".to_owned())],
        [text("It's"), Value::Null],
        [Value::Null, Value::Decimal("2.25".to_owned())],
    ];
    assert_eq!(found, expected);
    assert_eq!(
        rows(&engine, "SELECT id FROM shop.items WHERE name = 'Zoë 🦆'").await,
        [[Value::Integer(1)]]
    );
    assert_eq!(
        rows(&engine, r"SELECT 'it\'s', 'a\\b', `select` FROM shop.`Mixed_Case`").await,
        [[text("it's"), text(r"a\b"), Value::Integer(1)]]
    );
    let empty = run(&engine, "SELECT id, name FROM shop.items WHERE id < 0").await.unwrap();
    assert_eq!((empty.row_count(), empty.columns().len(), empty.is_truncated()), (0, 2, false));
}

pub(crate) async fn the_order_survives_the_limit(server: &'static Server) {
    let engine = usual(server).await;
    let sql = "SELECT id, id * 7919 % 10007 AS r FROM range(50000) ORDER BY r DESC, id";
    let limits = Limits { rows: 700, ..Limits::default() };
    let result = run_until(&engine, limits, sql, soon()).await.unwrap();
    assert_eq!((result.row_count(), result.is_truncated()), (700, true));
    let mut expected: Vec<(i64, i64)> = (0..50_000).map(|id| (id * 7919 % 10007, id)).collect();
    expected.sort_unstable_by_key(|(r, id)| (-r, *id));
    let expected: Vec<Vec<Value>> = expected[..700]
        .iter()
        .map(|(r, id)| vec![Value::Integer(*id), Value::Integer(*r)])
        .collect();
    assert!(result.rows(0, 700) == expected);
    let own = "SELECT id FROM range(100) ORDER BY id DESC LIMIT 3 OFFSET 1";
    assert_eq!(
        rows(&engine, own).await,
        [[Value::Integer(98)], [Value::Integer(97)], [Value::Integer(96)]]
    );
}

pub(crate) async fn rows_and_bytes_are_capped(server: &'static Server) {
    let engine = usual(server).await;
    let limits = Limits { rows: 3, result_bytes: 100_000, cell_bytes: 20_000, ..Limits::default() };
    let exact =
        run_until(&engine, limits.clone(), "SELECT id FROM range(3)", soon()).await.unwrap();
    assert_eq!((exact.row_count(), exact.is_truncated()), (3, false));
    let started = Instant::now();
    let many = run_until(&engine, limits.clone(), "SELECT id FROM range(100000000000)", soon())
        .await
        .unwrap();
    assert_eq!((many.row_count(), many.is_truncated()), (3, true));
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    let wide = Limits { rows: 10_000, ..limits };
    let sql = "SELECT id, repeat('x', 9000) AS t FROM range(1000000)";
    let large = run_until(&engine, wide.clone(), sql, soon()).await.unwrap();
    assert!(
        large.is_truncated() && (1..12).contains(&large.row_count()),
        "{} rows",
        large.row_count()
    );
    let cell =
        run_until(&engine, wide, "SELECT repeat('x', 20001) AS t", soon()).await.unwrap_err();
    assert_eq!((cell.kind, cell.rule.as_deref()), (SqlErrorKind::TooLarge, Some("cell-bytes")));
    // A message of more bytes than are read at all: the connection stays usable.
    let huge = refusal(&engine, "SELECT repeat('x', 60000000) AS t").await;
    assert_eq!(huge.kind, SqlErrorKind::TooLarge, "{huge:?}");
    assert_eq!(rows(&engine, "SELECT 1").await, [[Value::Integer(1)]]);
}

pub(crate) async fn errors_have_kinds(server: &'static Server) {
    use SqlErrorKind as K;
    let engine = usual(server).await;
    for (sql, spark) in [
        ("SELECT * FROM nope", K::UnknownTable),
        ("SELECT nope FROM shop.items", K::UnknownColumn),
        ("SELECT id FROM shop.items a JOIN shop.items b ON true", K::AmbiguousName),
        ("SELECT id FROM shop.items WHERE (", K::Syntax),
        ("SELECT CAST(name AS INT) FROM shop.items", K::TypeMismatch),
        ("SELECT 1 / 0", K::Other),
    ] {
        let error = refusal(&engine, sql).await;
        // Sail names a class of errors for unknown tables alone.
        let is_named = server.kind() == Kind::Spark || spark == K::UnknownTable;
        assert_eq!(error.kind, if is_named { spark } else { K::Other }, "{sql}: {error:?}");
        assert!(
            !error.message.is_empty()
                && !error.message.contains('\n')
                && !error.message.starts_with('['),
            "{error:?}"
        );
    }
    let error = refusal(&engine, "SELECT nope FROM shop.items").await;
    assert!(error.message.contains("nope"), "{error:?}");
}

pub(crate) async fn errors_while_running_quote_no_cells(server: &'static Server) {
    let engine = usual(server).await;
    for sql in ["SELECT CAST(word AS INT) FROM secrets", "SELECT raise_error(word) FROM secrets"] {
        let error = refusal(&engine, sql).await;
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
        assert!(error.message.starts_with("the statement failed while it ran: "), "{error:?}");
    }
}

pub(crate) async fn only_queries_run(server: &'static Server) {
    let engine = usual(server).await;
    for sql in [
        "CREATE TABLE shop.made AS SELECT 1 AS a",
        "INSERT INTO shop.items VALUES (4, 'x', 1)",
        "WITH x AS (SELECT 9 AS a, 'b' AS b, 1.0 AS c) INSERT INTO shop.items SELECT * FROM x",
        "FROM shop.items INSERT INTO shop.items SELECT *",
        "DROP TABLE shop.items",
        "SET spark.sql.variable.substitute = true",
        "SHOW TABLES IN shop",
        "EXPLAIN SELECT 1",
        "SELECT 1; DROP TABLE shop.items",
        "SELECT 1) UNION ALL (SELECT 2); DROP TABLE shop.items --",
        "BEGIN DROP TABLE shop.items; END",
        "EXECUTE IMMEDIATE 'DROP TABLE shop.items'",
    ] {
        let refused = refusal(&engine, sql).await;
        assert!(
            matches!(refused.kind, SqlErrorKind::Syntax | SqlErrorKind::Other),
            "{sql}: {refused:?}"
        );
        engine.prepare(sql, soon()).await.unwrap_err();
        engine.explain(sql, soon()).await.unwrap_err();
    }
    assert_eq!(rows(&engine, "SELECT count(*) FROM shop.items").await, [[Value::Integer(3)]]);
    assert_eq!(refusal(&engine, "SELECT * FROM shop.made").await.kind, SqlErrorKind::UnknownTable);
}

pub(crate) async fn variables_and_paths_mean_nothing(server: &'static Server) {
    let engine = usual(server).await;
    for written in ["${env:HOME}", "${spark.app.name}", "${system:user.dir}", "${hivevar:x}"] {
        assert_eq!(rows(&engine, &format!("SELECT '{written}'")).await, [[text(written)]]);
    }
    let folder = syrch_kit::scratch();
    let file = folder.path().join("x.csv");
    std::fs::write(&file, "sk-canary\n").unwrap();
    // Sail has no such setting: there the guard alone refuses files.
    if server.kind() == Kind::Spark {
        let error = refusal(&engine, &format!("SELECT * FROM csv.`{}`", file.display())).await;
        assert!(!error.message.contains("canary"), "{error:?}");
    }
}

pub(crate) async fn a_statement_is_analysed_and_explained(server: &'static Server) {
    let engine = usual(server).await;
    timeout(Duration::from_secs(20), engine.prepare(ENDLESS, soon())).await.unwrap().unwrap();
    let unknown = engine.prepare("SELECT * FROM nope", soon()).await.unwrap_err();
    assert_eq!(unknown.kind, SqlErrorKind::UnknownTable);
    let plan = engine.explain("SELECT name FROM shop.items WHERE id > 1", soon()).await.unwrap();
    assert_eq!(plan.format, "spark-explain");
    assert!(plan.text.contains("id"), "{}", plan.text);
}

pub(crate) async fn deadlines_end_statements(server: &'static Server) {
    let limits = Limits { sql_deadline: Duration::from_secs(2), ..Limits::default() };
    let engine = engine(server, limits.clone()).await;
    let started = Instant::now();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(2);
    let error = run_until(&engine, limits, ENDLESS, deadline).await.unwrap_err();
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Timeout, Some("deadline")));
    assert!((2.0..2.75).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    is_idle(server).await;
}

pub(crate) async fn dropped_statements_end(server: &'static Server) {
    let engine = usual(server).await;
    let endless = || timeout(Duration::from_secs(2), run(&engine, ENDLESS));
    // For Spark more than it has processors for. Sail answers no request while all of its threads
    // work.
    let count = if server.kind() == Kind::Spark { 4 } else { 1 };
    let all = futures::future::join_all((0..count).map(|_| endless())).await;
    assert!(all.iter().all(Result::is_err), "{all:?}");
    is_idle(server).await;
}

/// Checks that a statement that needs the server's processors is quick, which it is not while
/// others run for hours.
async fn is_idle(server: &Server) {
    let engine = usual(server).await;
    let sql = "SELECT count(*) FROM range(1000) a JOIN range(1000) b ON a.id <> b.id";
    timeout(Duration::from_secs(30), rows(&engine, sql)).await.unwrap();
}

pub(crate) async fn statements_run_at_once(server: &'static Server) {
    let engine = usual(server).await;
    // Spark gives the tasks of one job all of its slots, and the next job those that are left.
    if server.kind() == Kind::Sail {
        let long = timeout(Duration::from_secs(50), run(&engine, ENDLESS));
        let short = async {
            for number in 0..5_i64 {
                assert_eq!(
                    rows(&engine, &format!("SELECT {number}")).await,
                    [[Value::Integer(number)]]
                );
            }
        };
        tokio::select! {
            outcome = long => panic!("short statements wait for a long one: {outcome:?}"),
            () = short => {}
        }
    }
    let many = (0..20_i64).map(|number| {
        let engine = &engine;
        async move {
            rows(engine, &format!("SELECT id + {number} FROM range(3) ORDER BY id")).await
        }
    });
    for (number, found) in (0..20).zip(futures::future::join_all(many).await) {
        assert_eq!(found, (0..3).map(|id| vec![Value::Integer(id + number)]).collect::<Vec<_>>());
    }
}
