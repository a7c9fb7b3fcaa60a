//! Two caches over one file, as two processes have.

use std::path::Path;
use std::time::SystemTime;

use rusqlite::Connection;

use super::*;
use crate::folder::FILE;
use crate::local::Access;
use crate::{Found, Kind, Options};

fn key(number: usize) -> Key {
    Key::new(Kind::Llm, "who", &number.to_le_bytes())
}

fn open(folder: &Path) -> Arc<Cache> {
    Cache::open(folder, Options { wait: Duration::from_secs(20), ..Options::default() })
}

fn value(text: &str) -> Arc<[u8]> {
    text.as_bytes().into()
}

/// The owners of leases.
fn owners(folder: &Path) -> Vec<i64> {
    let file = Connection::open(folder.join(FILE)).unwrap();
    let mut statement = file.prepare("SELECT owner FROM leases ORDER BY owner").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Leaves a lease of key 1 that ends so many milliseconds from now, as a process that is no more
/// would.
fn leave(folder: &Path, owner: i64, from_now: i64) {
    let now = i64::try_from(SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let file = Connection::open(folder.join(FILE)).unwrap();
    let sql = "INSERT OR REPLACE INTO leases (key, owner, until_ms) VALUES (?1, ?2, ?3)";
    file.execute(sql, params![key(1).digest(), owner, now + from_now]).unwrap();
}

/// Returns whether the cache has a request that waits for another process.
async fn is_waiting(cache: &Cache) -> bool {
    cache.ask(|worker| Ok(!worker.leases.waiting.is_empty())).await.unwrap()
}

async fn lead(cache: &Cache, number: usize) -> crate::Lead<'_> {
    match cache.find(key(number)).await {
        Found::Lead(lead) => lead,
        Found::Value(_) => panic!("nothing is stored"),
    }
}

async fn leave_nothing_over(cache: &Cache) {
    cache
        .ask(|worker: &mut Worker| {
            let now = worker.options.now();
            let local = worker.backend.local().unwrap();
            local.work(Access::Write, |store| store.sweep(now, 1))
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn another_process_waits_for_the_leader_s_value() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    let two = open(folder.path());
    let led = lead(&one, 1).await;
    let mut waiting = Box::pin(two.find(key(1)));
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    // Other keys are free, and leases are no entries.
    drop(lead(&two, 2).await);
    assert!(is_waiting(&two).await);
    assert_eq!(two.stats().await.unwrap().all.entries, 0);
    led.store(value("found")).await;
    assert!(matches!(waiting.await, Found::Value(found) if found == value("found")));
    assert_eq!((two.stats().await.unwrap().hits, two.stats().await.unwrap().misses), (1, 1));
    assert_eq!(owners(folder.path()), Vec::<i64>::new());
}

#[tokio::test]
async fn another_process_takes_over_from_a_leader_that_stores_nothing() {
    for shares in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let one = open(folder.path());
        let two = open(folder.path());
        let led = lead(&one, 1).await;
        let mut waiting = Box::pin(two.find(key(1)));
        assert!(futures::poll!(waiting.as_mut()).is_pending() && is_waiting(&two).await);
        match shares {
            true => led.share(value("an error")),
            false => drop(led),
        }
        let Found::Lead(led) = waiting.await else { panic!("nothing is stored") };
        // Now it is the first that waits.
        let mut waiting = Box::pin(one.find(key(1)));
        assert!(futures::poll!(waiting.as_mut()).is_pending() && is_waiting(&one).await);
        led.store(value("second")).await;
        assert!(matches!(waiting.await, Found::Value(found) if found == value("second")));
    }
}

#[tokio::test]
async fn a_request_that_was_dropped_holds_no_lease() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    let two = open(folder.path());
    let led = lead(&one, 1).await;
    let mut gone = Box::pin(two.find(key(1)));
    assert!(futures::poll!(gone.as_mut()).is_pending() && is_waiting(&two).await);
    drop(gone);
    drop(led);
    one.stats().await.unwrap();
    // Dropped with the answer on its way. The answer may be there at once; then another request is
    // tried.
    let mut number = 2;
    let gone = loop {
        let mut gone = Box::pin(two.find(key(number)));
        if futures::poll!(gone.as_mut()).is_pending() {
            break gone;
        }
        number += 1;
    };
    two.stats().await.unwrap();
    assert_eq!(owners(folder.path()).len(), 1);
    drop(gone);
    two.stats().await.unwrap();
    assert_eq!(owners(folder.path()), Vec::<i64>::new());
    lead(&one, 2).await.store(value("x")).await;
}

#[tokio::test]
async fn a_killed_process_is_waited_for_until_its_lease_ends() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    lead(&cache, 2).await.store(value("makes the file")).await;
    let started = Instant::now();
    leave(folder.path(), 7, 1_500);
    let led = lead(&cache, 1).await;
    assert!(started.elapsed() >= Duration::from_millis(1_400), "it did not wait");
    assert_ne!(owners(folder.path()), [7]);
    drop(led);
    // One from before the clock was set back, or of a broken clock, is over.
    leave(folder.path(), 7, 3_600_000);
    let led = lead(&cache, 1).await;
    assert_ne!(owners(folder.path()), [7]);
    drop(led);
    leave(folder.path(), 7, -1);
    leave_nothing_over(&cache).await;
    assert_eq!(owners(folder.path()), Vec::<i64>::new());
}

#[tokio::test]
async fn a_leader_extends_its_lease() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    let two = open(folder.path());
    let led = lead(&one, 1).await;
    let [owner] = owners(folder.path())[..] else { panic!("one lease") };
    // What was set aside or cleared comes back, too, unless another process was faster.
    assert_eq!(two.clear(None).await.unwrap().entries, 0);
    assert_eq!(owners(folder.path()), Vec::<i64>::new());
    let renew = |worker: &mut Worker| {
        worker.leases.renew_at = Instant::now();
        worker.maintain_leases();
        Ok(())
    };
    one.ask(renew).await.unwrap();
    assert_eq!(owners(folder.path()), [owner]);
    fn ends(folder: &tempfile::TempDir) -> i64 {
        let file = Connection::open(folder.path().join(FILE)).unwrap();
        file.query_row("SELECT until_ms FROM leases", [], |row| row.get::<_, i64>(0)).unwrap()
    }
    leave(folder.path(), owner, 10);
    let before = ends(&folder);
    one.ask(renew).await.unwrap();
    assert!(ends(&folder) > before);
    leave(folder.path(), 7, 4_000);
    one.ask(renew).await.unwrap();
    assert_eq!(owners(folder.path()), [7]);
    // By itself, from the cache's own thread.
    leave(folder.path(), owner, 4_000);
    let before = ends(&folder);
    while ends(&folder) == before {
        std::thread::sleep(Duration::from_millis(20));
    }
    led.store(value("found")).await;
    assert!(matches!(two.find(key(1)).await, Found::Value(_)));
}

#[tokio::test]
async fn a_process_that_cannot_take_a_lease_leads_without() {
    let folder = tempfile::tempdir().unwrap();
    let before = open(folder.path());
    drop(lead(&before, 1).await);
    before.stats().await.unwrap();
    let refuse =
        "CREATE TRIGGER refuse BEFORE INSERT ON leases BEGIN SELECT RAISE(ABORT, 'no'); END";
    let locked = Connection::open(folder.path().join(FILE)).unwrap();
    locked.execute_batch("BEGIN IMMEDIATE").unwrap();
    fn brief(folder: &tempfile::TempDir) -> std::sync::Arc<crate::cache::Cache> {
        Cache::open(
            folder.path(),
            Options { wait: Duration::from_millis(20), ..Options::default() },
        )
    }
    let one = brief(&folder);
    let two = brief(&folder);
    let both = (lead(&one, 1).await, lead(&two, 1).await);
    assert_eq!(one.take_warnings(), Vec::<String>::new());
    drop(both);
    locked.execute_batch("ROLLBACK").unwrap();
    // The same of a file that refuses leases for good: it is set aside, and the next one holds
    // them.
    locked.execute_batch(refuse).unwrap();
    let cache = open(folder.path());
    let led = lead(&cache, 1).await;
    assert_eq!((owners(folder.path()).len(), cache.take_warnings().len()), (1, 1));
    led.store(value("found")).await;
    assert!(matches!(cache.find(key(1)).await, Found::Value(_)));
}
