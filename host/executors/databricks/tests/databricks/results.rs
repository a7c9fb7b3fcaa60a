//! Results: chunks in replies and behind links, caps, links that expire or lead elsewhere,
//! transfers that break off.

use syrch_core::{SqlErrorKind, Value};
use syrch_databricks::open;
use syrch_kit::databricks::Behaviour;

use crate::common::{config, mock, open_database, refusal, rows, run};

const ALL: &str = "SELECT i, half FROM numbers ORDER BY i";

#[tokio::test(flavor = "multi_thread")]
async fn all_chunks_arrive_from_links_and_in_replies() {
    let mock = mock();
    let database = open_database(&mock).await;
    let mut inline = config(&mock);
    inline.url = format!("{}&disposition=inline", mock.workspace.url()).into();
    let inline = open(inline).await.unwrap();
    for chunk_rows in [400, 100_000] {
        mock.workspace.set_chunk_rows(chunk_rows);
        let result = run(&database, ALL).await.unwrap();
        let cells = result.rows(0, u64::MAX);
        assert_eq!(
            (cells.len(), &cells[2_499]),
            (2_500, &vec![Value::Integer(2_500), Value::Real(1_250.0)])
        );
        assert!(!result.is_truncated() && result.columns()[0].sql_type == "BIGINT");
        assert_eq!(run(&inline, ALL).await.unwrap().rows(0, u64::MAX), cells);
    }
    let requests = mock.workspace.requests();
    let links: Vec<_> =
        requests.iter().filter(|request| request.path.starts_with("/results/")).collect();
    assert!(
        links.len() == 8 && links.iter().all(|request| request.authorization.is_none()),
        "{links:?}"
    );
    for database in [&database, &inline] {
        let empty = run(database, "SELECT name, id FROM customers WHERE id > 99").await.unwrap();
        assert_eq!((empty.row_count(), empty.columns()[1].name.as_str()), (0, "id"));
        assert_eq!(
            rows(database, "SELECT name FROM customers WHERE id = 1").await,
            [[Value::Text("Ada".into())]]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_cut_at_the_caps() {
    let mock = mock();
    mock.workspace.set_chunk_rows(400);
    let with = |rows: u64, bytes: usize| {
        let mut config = config(&mock);
        (config.limits.rows, config.limits.result_bytes, config.limits.cell_bytes) =
            (rows, bytes, 1_000);
        open(config)
    };
    for (rows, cut) in [(2_500, false), (2_499, true), (10, true)] {
        let result = run(&with(rows, 16 << 20).await.unwrap(), ALL).await.unwrap();
        assert_eq!((result.row_count(), result.is_truncated()), (rows, cut));
    }
    let result = run(&with(10_000, 10_000).await.unwrap(), ALL).await.unwrap();
    assert!(
        result.is_truncated() && (100..2_500).contains(&result.row_count()),
        "{}",
        result.row_count()
    );
    // Chunks after the cap are not fetched.
    let before = mock.workspace.count_of("/results/");
    run(&with(10, 16 << 20).await.unwrap(), ALL).await.unwrap();
    assert_eq!(mock.workspace.count_of("/results/"), before + 1);
    mock.workspace
        .change("UPDATE shop.customers SET name = printf('%.*c', 1001, 'x') WHERE id = 2");
    let error = refusal(&with(10, 16 << 20).await.unwrap(), "SELECT name FROM customers").await;
    assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::TooLarge, Some("cell-bytes")));
}

#[tokio::test(flavor = "multi_thread")]
async fn links_that_expire_are_renewed() {
    let mock = mock();
    mock.workspace.set_chunk_rows(1_000);
    let database = open_database(&mock).await;
    mock.workspace.expire_links(2);
    assert_eq!(rows(&database, ALL).await.len(), 2_500);
    mock.workspace.give_stale_links(2);
    let fetched = mock.workspace.count_of("/results/");
    assert_eq!(rows(&database, ALL).await.len(), 2_500);
    // The first link says that it has expired and is not tried; its replacement is, and has
    // expired, too.
    assert_eq!(mock.workspace.count_of("/results/"), fetched + 4);
    mock.workspace.expire_links(1_000);
    let error = refusal(&database, ALL).await;
    assert!(
        error.kind == SqlErrorKind::Unavailable && error.message.contains("links"),
        "{error:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_that_break_off_are_made_again_without_rows_twice() {
    let mock = mock();
    let database = open_database(&mock).await;
    mock.workspace.break_transfers(2);
    let cells = rows(&database, ALL).await;
    assert!(
        cells.len() == 2_500 && cells.iter().zip(1..).all(|(row, i)| row[0] == Value::Integer(i))
    );
    mock.workspace.break_transfers(1_000);
    assert_eq!(
        refusal(&database, "SELECT name FROM customers").await.kind,
        SqlErrorKind::Unavailable
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_lead_nowhere_else() {
    let mock = mock();
    mock.workspace.set_chunk_rows(1_000);
    let database = open_database(&mock).await;
    for (behaviour, shown) in [
        (Behaviour::Damaged, "no Arrow stream"),
        (Behaviour::LeadsTo("http://h.example/results/x"), "over https"),
        (Behaviour::LeadsTo("https://user:pw@h.example/x"), "over https"),
        (Behaviour::LeadsTo("file:///etc/passwd"), "over https"),
        (Behaviour::Continues("//h.example/api/2.0/sql/statements/x"), "none of the workspace's"),
        (
            Behaviour::Continues("https://h.example/api/2.0/sql/statements/x"),
            "none of the workspace's",
        ),
        (Behaviour::Continues("/api/2.0/sql/statements/../../../x"), "none of the workspace's"),
        (Behaviour::Continues("/api/2.0/sql/statementsx"), "none of the workspace's"),
    ] {
        mock.workspace.on("half", behaviour.clone());
        let error = refusal(&database, ALL).await;
        assert!(
            error.kind == SqlErrorKind::Unavailable && error.message.contains(shown),
            "{behaviour:?}: {error:?}"
        );
    }
}
