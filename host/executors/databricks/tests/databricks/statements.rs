//! Statements: errors by kind, waiting, patience with a busy server, deadlines and cancelling.

use std::time::{Duration, Instant};

use syrch_core::SqlErrorKind;
use syrch_core::ports::{Database, STARTING, SqlQuery};
use syrch_databricks::open;
use syrch_kit::databricks::Behaviour;

use crate::common::{becomes, config, mock, open_database, refusal, rows, run};

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_kinds_and_quote_no_cells() {
    let mock = mock();
    let database = open_database(&mock).await;
    // The guard and the engine both refuse names; what only the engine knows it says at the check.
    for (behaviour, expected, shown) in [
        (
            Behaviour::Fails(
                "BAD_REQUEST",
                Some("42703"),
                "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `nme` cannot be resolved.",
            ),
            SqlErrorKind::UnknownColumn,
            "`nme`",
        ),
        (
            Behaviour::Fails(
                "BAD_REQUEST",
                None,
                "[CAST_INVALID_INPUT] The value 'sesame' cannot be cast. SQLSTATE: 22018",
            ),
            SqlErrorKind::TypeMismatch,
            "The value",
        ),
        (
            Behaviour::Fails("BAD_REQUEST", Some("42501"), "[INSUFFICIENT_PERMISSIONS] no SELECT"),
            SqlErrorKind::Denied,
            "no SELECT",
        ),
        (
            Behaviour::Fails("TEMPORARILY_UNAVAILABLE", None, ""),
            SqlErrorKind::Unavailable,
            "does not say why",
        ),
        (Behaviour::IsIn("CANCELED"), SqlErrorKind::Cancelled, "cancelled at the server"),
        (Behaviour::IsIn("CLOSED"), SqlErrorKind::Unavailable, "closed"),
        (Behaviour::IsIn("NEW"), SqlErrorKind::Unavailable, "not documented"),
        (
            Behaviour::Refused(400, "no such thing"),
            SqlErrorKind::Unavailable,
            "400: BAD_REQUEST: no such thing",
        ),
        (Behaviour::Refused(302, "elsewhere"), SqlErrorKind::Unavailable, "redirects"),
        (Behaviour::Refused(500, "broken"), SqlErrorKind::Unavailable, "500"),
        (Behaviour::Oversize(1 << 27), SqlErrorKind::TooLarge, "bytes"),
    ] {
        mock.workspace.on("country", behaviour.clone());
        let error = refusal(&database, "SELECT country FROM customers").await;
        assert_eq!(error.kind, expected, "{behaviour:?}: {error:?}");
        assert!(
            error.message.contains(shown) && !error.message.contains("sesame"),
            "{}",
            error.message
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_asks_for_a_plan_and_a_plan_may_be_an_error() {
    let mock = mock();
    let database = open_database(&mock).await;
    let query = SqlQuery::new("SELECT name FROM customers");
    let facts = database.check(&query).await.unwrap();
    assert_eq!(facts.tables.len(), 1);
    let plan = database.explain(&query).await.unwrap();
    assert_eq!((plan.format.as_str(), plan.rows), ("databricks-explain", Some(4.0)));
    assert!(plan.text.contains("== Physical Plan =="));
    assert!(mock.workspace.states("EXPLAIN").iter().all(|state| *state == "SUCCEEDED"));
    let line = "org.apache.spark.sql.AnalysisException: [UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A \
                column with name `nmae` cannot be resolved. SQLSTATE: 42703";
    mock.workspace.on("EXPLAIN", Behaviour::Answers(vec!["== Physical Plan ==", line]));
    let error = database.check(&query).await.unwrap_err();
    assert_eq!(
        (error.kind, error.suggestions),
        (SqlErrorKind::UnknownColumn, vec!["name".to_owned()])
    );
    mock.workspace.on(
        "EXPLAIN",
        Behaviour::Fails(
            "BAD_REQUEST",
            Some("42601"),
            "[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.",
        ),
    );
    assert_eq!(database.explain(&query).await.unwrap_err().kind, SqlErrorKind::Syntax);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_take_time_are_waited_for() {
    let mock = mock();
    let database = open_database(&mock).await;
    mock.workspace.on("country", Behaviour::Takes(4));
    assert_eq!(rows(&database, "SELECT country FROM customers").await.len(), 4);
    let requests = mock.workspace.requests();
    let submitted = requests.iter().rfind(|request| request.method == "POST").unwrap();
    assert_eq!(
        (&submitted.body["wait_timeout"], &submitted.body["on_wait_timeout"]),
        (&"5s".into(), &"CONTINUE".into())
    );
    assert_eq!(
        (&submitted.body["row_limit"], &submitted.body["catalog"], &submitted.body["schema"]),
        (&10_001.into(), &"main".into(), &"shop".into())
    );
    assert_eq!(mock.workspace.count_of("/cancel"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_is_asked_again_within_the_deadline() {
    let mock = mock();
    let database = open_database(&mock).await;
    mock.workspace.throttle(2, "0.1");
    assert_eq!(rows(&database, "SELECT country FROM customers").await.len(), 4);
    // Also while a statement is waited for.
    mock.workspace.on("name", Behaviour::Takes(3));
    let (rows, ()) = tokio::join!(rows(&database, "SELECT name FROM customers"), async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        mock.workspace.throttle(1, "0.1");
    });
    assert_eq!(rows.len(), 4);
    let begun = Instant::now();
    mock.workspace.throttle(1, "3600");
    let error = refusal(&database, "SELECT country FROM customers").await;
    assert_eq!(error.kind, SqlErrorKind::Unavailable);
    assert!(
        error.message.contains("busy") && begun.elapsed() < Duration::from_secs(2),
        "{}",
        error.message
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_nobody_waits_for_is_cancelled() {
    let mock = mock();
    let database = open_database(&mock).await;
    mock.workspace.on("country", Behaviour::Hangs);
    let statement = run(&database, "SELECT country FROM customers");
    assert!(tokio::time::timeout(Duration::from_millis(500), statement).await.is_err());
    becomes(&mock, "country", "CANCELED").await;
    // Also one whose id was not known yet: the server had not answered.
    mock.workspace.on("price", Behaviour::Slow(Duration::from_millis(600)));
    let statement = run(&database, "SELECT price FROM products");
    assert!(tokio::time::timeout(Duration::from_millis(200), statement).await.is_err());
    let begun = Instant::now();
    while mock.workspace.count_of("/cancel") < 2 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warehouse_that_does_not_begin_in_time_is_no_fault_of_the_statement() {
    let mock = mock();
    let mut config = config(&mock);
    config.limits.sql_deadline = Duration::from_secs(1);
    let database = open(config).await.unwrap();
    mock.workspace.on("country", Behaviour::Takes(1_000));
    let error = refusal(&database, "SELECT country FROM customers").await;
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Unavailable, Some(STARTING)));
    assert!(
        error.message.contains("starting") && error.message.contains("1 s"),
        "{}",
        error.message
    );
    becomes(&mock, "country", "CANCELED").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_ends_at_its_deadline() {
    let mock = mock();
    let mut config = config(&mock);
    config.limits.sql_deadline = Duration::from_secs(1);
    let database = open(config).await.unwrap();
    for behaviour in [Behaviour::Hangs, Behaviour::Slow(Duration::from_secs(2))] {
        mock.workspace.on("country", behaviour.clone());
        let begun = Instant::now();
        let error = refusal(&database, "SELECT country FROM customers").await;
        let took = begun.elapsed();
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::Timeout, Some("deadline")),
            "{behaviour:?}"
        );
        assert!(
            error.message.contains("1 s") && took < Duration::from_millis(1_700),
            "{took:?} {}",
            error.message
        );
    }
    let begun = Instant::now();
    while mock.workspace.count_of("/cancel") < 2 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(rows(&database, "SELECT name FROM customers").await.len(), 4);
}
