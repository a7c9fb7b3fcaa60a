//! The database is locked, changed, replaced or removed while a search runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use syrch::Stop;

use super::world::{Chance, LAMP, World, each, ending, right, search, shop};

/// The price of a lamp in the file that takes the first one's place.
const NEW_LAMP: f64 = 30.0;

/// Somebody who works beside the search until it has ended.
pub(crate) struct Neighbour {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbour {
    /// Does `work` again and again.
    pub(crate) fn new(mut work: impl FnMut() + Send + 'static) -> Self {
        let is_over = Arc::<AtomicBool>::default();
        let seen = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::SeqCst) {
                work();
            }
        });
        Self { is_over, thread: Some(thread) }
    }

    /// Ends once the neighbour has.
    pub(crate) async fn leave(mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let thread = self.thread.take().unwrap();
        tokio::task::spawn_blocking(|| thread.join().expect("the neighbour fails")).await.unwrap();
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// Locks the file for itself now and then, up to one and a half seconds long, and changes nothing
/// that the question is about.
pub(crate) fn locker(path: PathBuf, is_wal: bool, mut chance: Chance) -> Neighbour {
    Neighbour::new(move || {
        std::thread::sleep(chance.millis(60));
        let connection = Connection::open(&path).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        if is_wal {
            connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE").unwrap();
        }
        // In WAL mode readers may be in the way for longer than anybody waits.
        let started = connection
            .execute_batch("BEGIN EXCLUSIVE; UPDATE products SET name = name || '' WHERE id = 1;");
        let long = if chance.below(4) == 0 { 1_500 } else { 100 };
        std::thread::sleep(chance.millis(long));
        if started.is_ok() {
            connection
                .execute_batch(if chance.below(2) == 0 { "COMMIT" } else { "ROLLBACK" })
                .unwrap();
        }
    })
}

pub(crate) fn use_wal(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn a_database_that_is_locked_now_and_then_gives_the_right_answer_or_an_error() {
    let searches = syrch_kit::scale(16, 40);
    let counts = each(0..searches as u64, |seed| async move {
        let world = World::new(seed, 0);
        let is_wal = seed % 2 == 1;
        if is_wal {
            use_wal(&world.database());
        }
        let host = world.host().await.unwrap();
        let neighbour = locker(world.database(), is_wal, Chance::new(seed, 1 << 32));
        let report = search(&host, &Stop::new()).await;
        neighbour.leave().await;
        let end = ending(&report, &[right(LAMP)]);
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        vec![end, if is_wal { "wal" } else { "rollback" }]
    });
    assert!(counts["right"] >= searches / 4, "{counts:?}");
}

#[test]
fn a_database_that_stays_locked_is_named() {
    let counts = each(0..2, |seed| async move {
        let world = World::new(seed, 0);
        let host = world.host().await.unwrap();
        let lock = Connection::open(world.database()).unwrap();
        lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let report = search(&host, &Stop::new()).await;
        drop(lock);
        let error = report.as_ref().unwrap_err().to_string();
        assert!(error.contains("locked"), "{error}");
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        vec![ending(&report, &[])]
    });
    assert_eq!(counts["database"], 2, "{counts:?}");
}

#[test]
fn a_database_that_is_replaced_or_removed_gives_an_answer_of_one_file_or_an_error() {
    let counts = each(0..40, |seed| async move {
        // The fault comes while the search runs, however slow the machine is just now.
        let undisturbed = World::new(seed, 0);
        let host = undisturbed.host().await.unwrap();
        let began = Instant::now();
        search(&host, &Stop::new()).await.unwrap();
        let usual = began.elapsed();
        let world = World::new(seed, 0);
        if seed % 2 == 1 {
            use_wal(&world.database());
        }
        let host = world.host().await.unwrap();
        let path = world.database();
        let mut chance = Chance::new(seed, 1 << 32);
        let other = world.folder.path().join("other.sqlite");
        let happens = match seed / 2 % 4 {
            0 => {
                std::fs::write(&other, "no database any more").unwrap();
                "garbage"
            }
            1 => "removed",
            _ => {
                syrch_kit::sqlite(&other, &shop(NEW_LAMP));
                "replaced"
            }
        };
        let after = usual.mul_f64(chance.below(1_000) as f64 / 1_000.0);
        let fault = tokio::spawn(async move {
            tokio::time::sleep(after).await;
            match happens {
                "removed" => std::fs::remove_file(path),
                _ => std::fs::rename(other, path),
            }
        });
        let report = search(&host, &Stop::new()).await;
        fault.await.unwrap().unwrap();
        // One statement gives the answer, so it is of one file, whichever.
        let new = if happens == "replaced" { right(NEW_LAMP) } else { right(LAMP) };
        let end = ending(&report, &[right(LAMP), new]);
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        vec![end, happens]
    });
    assert!(counts["right"] >= 10, "{counts:?}");
    assert!(counts.get("database").is_some_and(|count| *count > 0), "{counts:?}");
}
