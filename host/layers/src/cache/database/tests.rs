//! Cached results are the same as before, and never from another state of the data.

use std::collections::HashMap;

use arrow_array::{ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use futures::future::join_all;
use syrch_cache::Found;
use syrch_core::Ledger;
use syrch_core::ledger::Budgets;
use syrch_core::ports::Relation;
use syrch_core::result_set::SQL_TYPE;
use tokio::sync::Semaphore;

use super::*;
use crate::BudgetedDatabase;
use crate::cache::fakes::{ScriptedDatabase, scratch};
use crate::fakes::numbers;

fn over(database: &Arc<ScriptedDatabase>, cache: &Arc<Cache>) -> CachedDatabase {
    CachedDatabase::new(Arc::clone(database) as _, Arc::clone(cache), &Limits::default())
}

async fn rows(database: &impl Database, sql: &str) -> u64 {
    database.run(&SqlQuery::new(sql)).await.unwrap().row_count()
}

#[tokio::test]
async fn a_changed_file_never_gives_a_stale_answer() {
    let (_folder, cache) = scratch();
    let database = Arc::new(ScriptedDatabase::new("before", Ok(numbers(5))));
    let cached = over(&database, &cache);
    assert_eq!((rows(&cached, "SELECT n").await, rows(&cached, "SELECT n").await), (5, 5));
    database.change(Some("after"), numbers(7));
    assert_eq!(
        (rows(&cached, "SELECT n").await, rows(&cached, "SELECT n").await, database.runs()),
        (7, 7, 2)
    );
    // The state of the data is unknown.
    database.change(None, numbers(8));
    assert_eq!(
        (rows(&cached, "SELECT n").await, rows(&cached, "SELECT n").await, database.runs()),
        (8, 8, 4)
    );
}

#[tokio::test]
async fn a_file_that_changes_while_a_statement_runs_has_nothing_cached() {
    let (_folder, cache) = scratch();
    let mut database = ScriptedDatabase::new("before", Ok(numbers(5)));
    database.is_restless = true;
    let database = Arc::new(database);
    let cached = over(&database, &cache);
    assert_eq!(rows(&cached, "SELECT n").await, 5);
    database.change(Some("before"), numbers(6));
    assert_eq!((rows(&cached, "SELECT n").await, database.runs()), (6, 2));
    assert_eq!(cache.stats().await.unwrap().all.entries, 0);
}

#[tokio::test]
async fn two_databases_never_share_a_result() {
    let (_folder, cache) = scratch();
    let one = Arc::new(ScriptedDatabase::new("/a/orders.db", Ok(numbers(5))));
    let two = Arc::new(ScriptedDatabase::new("/b/orders.db", Ok(numbers(7))));
    for _ in 0..2 {
        assert_eq!(
            (
                rows(&over(&one, &cache), "SELECT n").await,
                rows(&over(&two, &cache), "SELECT n").await
            ),
            (5, 7)
        );
    }
    assert_eq!((one.runs(), two.runs()), (1, 1));
}

#[tokio::test]
async fn found_cells_are_cached_until_the_file_changes() {
    let (_folder, cache) = scratch();
    let database = Arc::new(ScriptedDatabase::new("before", Ok(numbers(1))));
    let cached = over(&database, &cache);
    let found = || database.finds.load(std::sync::atomic::Ordering::SeqCst);
    let find = |phrases: &[&str], how: Match, limit: u32| {
        let cached = &cached;
        let phrases = phrases.iter().map(|phrase| (*phrase).to_owned()).collect::<Vec<_>>();
        async move { cached.find(&phrases, how, limit).await }
    };
    let first = find(&["Vienna"], Match::Exact, 5).await.unwrap();
    assert_eq!((find(&["Vienna"], Match::Exact, 5).await.unwrap(), found()), (first.clone(), 1));
    for (phrases, how, limit) in
        [(["Wien"], Match::Exact, 5), (["Vienna"], Match::Ngram, 5), (["Vienna"], Match::Exact, 6)]
    {
        assert_ne!(find(&phrases, how, limit).await.unwrap(), first);
    }
    assert_eq!(found(), 4);
    assert_eq!(find(&["Vienna"], Match::Vector, 5).await, Err(PortError::Unsupported));
    database.change(Some("after"), numbers(1));
    assert_ne!((find(&["Vienna"], Match::Exact, 5).await.unwrap(), found()), (first, 4));
}

#[tokio::test]
async fn samples_of_tables_are_cached_and_those_of_views_are_not() {
    let (_folder, cache) = scratch();
    let mut database = ScriptedDatabase::new("before", Ok(numbers(1)));
    database.views = vec!["recent".into()];
    let database = Arc::new(database);
    let cached = over(&database, &cache);
    let asked = || database.finds.load(std::sync::atomic::Ordering::SeqCst);
    let sample = async |table: &str, column: &str, limit: u32| {
        cached.samples(table, &[column.into()], limit).await
    };
    let first = sample("t", "n", 5).await.unwrap();
    assert_eq!((sample("t", "n", 5).await.unwrap(), asked()), (first.clone(), 1));
    assert_ne!(sample("t", "m", 5).await.unwrap(), first);
    assert_ne!(sample("t", "n", 6).await.unwrap(), first);
    assert_ne!(sample("recent", "n", 5).await, sample("recent", "n", 5).await);
    database.change(Some("after"), numbers(1));
    assert_ne!(sample("t", "n", 5).await.unwrap(), first);
    assert_eq!(asked(), 6);
}

#[tokio::test]
async fn cells_of_an_index_that_ended_early_are_not_cached() {
    let (_folder, cache) = scratch();
    let mut database = ScriptedDatabase::new("d", Ok(numbers(1)));
    database.is_late = true;
    let database = Arc::new(database);
    for _ in 0..2 {
        over(&database, &cache).find(&["Vienna".to_owned()], Match::Exact, 5).await.unwrap();
    }
    assert_eq!(database.finds.load(std::sync::atomic::Ordering::SeqCst), 2);
}

#[tokio::test]
async fn relations_and_caps_are_part_of_what_is_asked() {
    let (_folder, cache) = scratch();
    let database = Arc::new(ScriptedDatabase::new("d", Ok(numbers(3))));
    let cached = over(&database, &cache);
    fn from_task(sql: &str) -> syrch_core::ports::SqlQuery {
        SqlQuery {
            text: "SELECT n FROM task_a".into(),
            relations: vec![Relation {
                name: "task_a".into(),
                sql: sql.into(),
                columns: Vec::new(),
            }],
        }
    }
    for sql in ["SELECT 1 AS n", "SELECT 2 AS n", "SELECT 1 AS n"] {
        cached.run(&from_task(sql)).await.unwrap();
    }
    assert_eq!(database.runs(), 2);
    let limits = Limits { rows: 2, ..Limits::default() };
    let short = CachedDatabase::new(Arc::clone(&database) as _, Arc::clone(&cache), &limits);
    short.run(&from_task("SELECT 1 AS n")).await.unwrap();
    assert_eq!(database.runs(), 3);
}

#[tokio::test]
async fn every_value_comes_back_as_it_was() {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec![Some("006"), None, Some("")])),
        Arc::new(Float64Array::from(vec![Some(315.0), Some(0.123_456_789_012_345_67), None])),
        Arc::new(Int64Array::from(vec![i64::MIN, 315, i64::MAX])),
        Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\x00\xff"), None, Some(b"")])),
    ];
    // All of one name.
    let schema = Arc::new(Schema::new(
        columns
            .iter()
            .map(|column: &ArrayRef| {
                let typed = HashMap::from([(SQL_TYPE.to_owned(), "VARCHAR(3)".to_owned())]);
                Field::new("same", column.data_type().clone(), true).with_metadata(typed)
            })
            .collect::<Vec<_>>(),
    ));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let exact = ResultSet::new(
        schema,
        vec![batch.clone(), batch],
        true,
        vec!["cut".into()],
        "SELECT '006'".into(),
    );
    let (folder, cache) = scratch();
    let database = Arc::new(ScriptedDatabase::new("d", Ok(exact.clone())));
    assert_eq!(over(&database, &cache).run(&SqlQuery::new("SELECT a")).await, Ok(exact.clone()));
    let again = Cache::open(folder.path(), syrch_cache::Options::default());
    let hit = over(&database, &again).run(&SqlQuery::new("SELECT a")).await.unwrap();
    assert_eq!((hit.profile(), hit.rows(0, 9)), (exact.profile(), exact.rows(0, 9)));
    assert_eq!((hit, database.runs()), (exact, 1));
}

#[tokio::test]
async fn errors_chance_and_views_are_not_cached() {
    let (_folder, cache) = scratch();
    let refused = Err(SqlError::new(SqlErrorKind::UnknownColumn, "no such column: b"));
    let mut database = ScriptedDatabase::new("d", refused.clone());
    database.views = vec!["recent".into()];
    let database = Arc::new(database);
    let cached = over(&database, &cache);
    assert_eq!(cached.run(&SqlQuery::new("SELECT b")).await, refused);
    // A column was added, and no more than that.
    database.change(Some("d"), numbers(1));
    assert_eq!((rows(&cached, "SELECT b").await, database.runs()), (1, 2));
    for sql in ["SELECT random()", "SELECT date('now')", "SELECT * FROM recent"] {
        let before = database.runs();
        rows(&cached, sql).await;
        rows(&cached, sql).await;
        assert_eq!(database.runs() - before, 2, "{sql}");
    }
}

#[tokio::test]
async fn equal_statements_of_two_searches_run_once_and_each_is_charged() {
    let (_folder, cache) = scratch();
    for result in
        [Ok(numbers(2)), Err(SqlError::new(SqlErrorKind::Timeout, "late").rule("deadline"))]
    {
        let mut database =
            ScriptedDatabase::new(if result.is_ok() { "d" } else { "e" }, result.clone());
        database.permits = Some(Semaphore::new(0));
        let database = Arc::new(database);
        let cached = Arc::new(over(&database, &cache));
        let limits = Limits { sql_in_flight: 4, ..Limits::default() };
        let searches: Vec<_> = (0..3)
            .map(|_| {
                let ledger = Ledger::new(Budgets::default());
                (
                    Arc::clone(&ledger),
                    BudgetedDatabase::new(Arc::clone(&cached) as _, ledger, &limits),
                )
            })
            .collect();
        let query = SqlQuery::new("SELECT n");
        let all = join_all(searches.iter().map(|(_, database)| database.run(&query)));
        let (results, ()) =
            futures::join!(all, async { database.permits.as_ref().unwrap().add_permits(1) });
        assert!(results.iter().all(|one| *one == result), "{results:?}");
        assert_eq!(database.runs(), 1);
        assert!(searches.iter().all(|(ledger, _)| ledger.spending().sql_runs == 1));
    }
}

#[tokio::test]
async fn a_follower_runs_the_statement_when_the_leader_is_cancelled() {
    let (_folder, cache) = scratch();
    let mut database = ScriptedDatabase::new("d", Ok(numbers(2)));
    database.permits = Some(Semaphore::new(0));
    let database = Arc::new(database);
    let one = over(&database, &cache);
    let two = over(&database, &cache);
    let query = SqlQuery::new("SELECT n");
    let mut leader = Box::pin(one.run(&query));
    while database.runs() < 1 {
        assert!(futures::poll!(leader.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    let mut follower = Box::pin(two.run(&query));
    assert!(futures::poll!(follower.as_mut()).is_pending());
    drop(leader);
    database.permits.as_ref().unwrap().add_permits(1);
    assert_eq!((follower.await.unwrap().row_count(), database.runs()), (2, 2));
    assert_eq!((rows(&one, "SELECT n").await, database.runs()), (2, 2));
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_made_anew() {
    for unreadable in [b"".as_slice(), b"?", b"rest", b"error"] {
        let (_folder, cache) = scratch();
        let database = Arc::new(ScriptedDatabase::new("d", Ok(numbers(2))));
        let cached = over(&database, &cache);
        let (_, key) = cached.key("SELECT n").await.unwrap();
        let Found::Lead(lead) = cache.find(key).await else { panic!("nothing is cached") };
        lead.store(unreadable.into()).await;
        assert_eq!((rows(&cached, "SELECT n").await, rows(&cached, "SELECT n").await), (2, 2));
        assert_eq!((rows(&cached, "SELECT n").await, database.runs()), (2, 2));
    }
}
