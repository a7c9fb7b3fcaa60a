//! The whole cache: several caches over one file, damaged files, and what may happen to a folder.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use futures::future::join_all;
use rusqlite::Connection;

use crate::folder::FILE;
use crate::local::Access;
use crate::{Cache, CacheError, Found, Key, Kind, Options};

fn key(number: usize) -> Key {
    Key::new(Kind::ALL[number % 2], "who", &number.to_le_bytes())
}

/// Returns the value that belongs under a key: up to some pages.
fn value(number: usize) -> Arc<[u8]> {
    (0..number * 997 % 20_000).map(|at| (at + number) as u8).chain([1]).collect()
}

/// The value of a key, found or stored. Returns whether it was found.
async fn fetch(cache: &Cache, number: usize) -> bool {
    match cache.find(key(number)).await {
        Found::Value(found) => {
            assert_eq!(found, value(number));
            true
        }
        Found::Lead(lead) => {
            lead.store(value(number)).await;
            false
        }
    }
}

fn open(folder: &Path) -> Arc<Cache> {
    Cache::open(folder, Options { wait: Duration::from_secs(20), ..Options::default() })
}

fn set_aside(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| {
            name.contains(".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
        })
        .collect()
}

#[tokio::test]
async fn a_stored_value_is_found_by_the_next_process() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("made").join("here");
    let cache = open(&folder);
    assert!(!folder.exists());
    assert!(!fetch(&cache, 1).await && !fetch(&cache, 2).await && fetch(&cache, 1).await);
    drop(cache);
    let cache = open(&folder);
    assert!(fetch(&cache, 1).await && fetch(&cache, 2).await && !fetch(&cache, 4).await);
    let stats = cache.stats().await.unwrap();
    assert_eq!(
        (stats.all.entries, stats.kinds[&Kind::Sql].entries, stats.hits, stats.misses),
        (3, 1, 2, 1)
    );
    assert_eq!(
        stats.all.bytes,
        [1, 2, 4].map(|number| value(number).len() as u64).iter().sum::<u64>()
    );
    assert!(stats.file_bytes > stats.all.bytes && stats.path.is_file());
    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }
    assert_eq!(
        (mode(&folder), mode(&stats.path), mode(&folder.join("cache.sqlite-wal"))),
        (0o700, 0o600, 0o600)
    );
    cache.forget(key(1)).await;
    assert!(!fetch(&cache, 1).await);
    assert_eq!(cache.clear(Some(Kind::Sql)).await.unwrap().entries, 1);
    assert_eq!(cache.clear(None).await.unwrap().entries, 2);
    assert_eq!(cache.take_warnings(), Vec::<String>::new());
}

#[tokio::test]
async fn entries_end_with_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let seconds = Arc::new(AtomicU64::new(1_000_000));
    let with_ttl = |ttl| {
        let seconds = Arc::clone(&seconds);
        Cache::open(
            folder.path(),
            Options {
                ttl: Duration::from_secs(ttl),
                clock: Arc::new(move || {
                    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::SeqCst))
                }),
                ..Options::default()
            },
        )
    };
    let day = with_ttl(86_400);
    let minute = with_ttl(60);
    assert!(!fetch(&day, 1).await && fetch(&minute, 1).await);
    seconds.fetch_add(60, Ordering::SeqCst);
    assert!(fetch(&day, 1).await && !fetch(&minute, 1).await);
    // Written again by the second: it ends for both after a minute.
    seconds.fetch_add(60, Ordering::SeqCst);
    assert!(!fetch(&day, 1).await);
    seconds.fetch_add(86_399, Ordering::SeqCst);
    assert!(fetch(&day, 1).await);
    seconds.fetch_add(1, Ordering::SeqCst);
    // The first write of a cache sweeps.
    assert!(!fetch(&with_ttl(5), 2).await);
    assert_eq!(day.stats().await.unwrap().all.entries, 1);
}

/// Keys that the caches of a test fight over.
const KEYS: usize = 61;

/// Uses a cache as one of four processes. Returns the number of values that it had to make.
async fn hammer(cache: &Cache, worker: usize) -> usize {
    let mut made = 0;
    for round in 0..120_usize {
        // Eight at once, some of them equal.
        let asked: Vec<usize> =
            (0..8).map(|at| (round * (worker + 1) * 3 + at * at) % KEYS).collect();
        let there = join_all(asked.iter().map(|number| fetch(cache, *number))).await;
        made += there.iter().filter(|there| !**there).count();
        if round % 40 == 7 * worker {
            cache.clear(Some(Kind::Sql)).await.unwrap();
        }
        assert!(round % 10 > 0 || cache.stats().await.unwrap().all.entries > 0);
    }
    assert_eq!(cache.take_warnings(), Vec::<String>::new());
    made
}

fn is_whole(folder: &Path) -> bool {
    let file = Connection::open(folder.join(FILE)).unwrap();
    let verdict: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    verdict == "ok"
}

#[test]
fn four_caches_over_one_file_give_right_values() {
    let folder = tempfile::tempdir().unwrap();
    let made = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let path = folder.path();
            let made = &made;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                made.fetch_add(runtime.block_on(hammer(&open(path), worker)), Ordering::SeqCst);
            });
        }
    });
    // All values, and those of one kind again after each of the twelve clearings; twice where a
    // leader was held up past its lease.
    assert!((KEYS..=2 * (KEYS + KEYS.div_ceil(2) * 12)).contains(&made.load(Ordering::SeqCst)));
    assert!(is_whole(folder.path()) && set_aside(folder.path()).is_empty());
}

const WORKER: &str = "SYRCH_TEST_CACHE_WORKER";

#[tokio::test]
#[ignore = "one process of the test below, which starts it"]
async fn one_process() {
    #[allow(clippy::disallowed_methods, reason = "the test below configures its processes so")]
    let reported = std::env::var(WORKER).unwrap();
    let (worker, folder) = reported.split_once(' ').unwrap();
    hammer(&open(Path::new(folder)), worker.parse().unwrap()).await;
}

#[test]
fn four_processes_over_one_file_give_right_values() {
    let folder = tempfile::tempdir().unwrap();
    for process in [0, 1, 2, 3].map(|worker: usize| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "tests::one_process"])
            .env(WORKER, format!("{worker} {}", folder.path().display()))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }) {
        let output = process.wait_with_output().unwrap();
        let warnings = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && warnings.contains("1 passed"), "{warnings}");
    }
    assert!(is_whole(folder.path()) && set_aside(folder.path()).is_empty());
}

#[tokio::test]
async fn equal_requests_wait_for_the_first_and_one_takes_over_when_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    let Found::Lead(lead) = cache.find(key(1)).await else { panic!("nothing is stored") };
    let mut others = Box::pin(join_all((0..5).map(|_| fetch(&cache, 1))));
    assert!(futures::poll!(others.as_mut()).is_pending());
    drop(lead);
    let there = others.await;
    assert_eq!(there.iter().filter(|there| !**there).count(), 1);
    // A value that is only shared is not stored.
    let Found::Lead(lead) = cache.find(key(2)).await else { panic!("nothing is stored") };
    let mut waiting = Box::pin(cache.find(key(2)));
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    lead.share(b"error".as_slice().into());
    assert!(matches!(waiting.await, Found::Value(value) if *value == *b"error"));
    assert!(matches!(cache.find(key(2)).await, Found::Lead(_)));
}

#[tokio::test]
async fn a_value_is_stored_though_the_write_is_not_awaited() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    let Found::Lead(lead) = cache.find(key(1)).await else { panic!("nothing is stored") };
    let (release, held) = std::sync::mpsc::channel::<()>();
    let mut busy = Box::pin(cache.ask(move |_| Ok(held.recv().is_ok())));
    assert!(futures::poll!(busy.as_mut()).is_pending());
    {
        let mut storing = Box::pin(lead.store(value(1)));
        assert!(futures::poll!(storing.as_mut()).is_pending());
    }
    release.send(()).unwrap();
    assert!(fetch(&cache, 1).await && busy.await.unwrap());
}

type Damage<'a> = &'a dyn Fn(&Path);

/// A cache of some entries on disk, with nothing left in the log.
async fn fill_cache(folder: &Path) {
    let cache = open(folder);
    for number in 0..40 {
        assert!(!fetch(&cache, number).await);
    }
    drop(cache);
    // The cache's own thread closes the file a little later. Until then SQLite takes the file's
    // size from the log, and a file that was cut is found to be damaged late. The log can be
    // switched off when nobody else has the file open.
    let file = Connection::open(folder.join(FILE)).unwrap();
    let start = Instant::now();
    for mode in ["delete", "wal"] {
        while let Err(error) =
            file.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(()))
        {
            assert!(start.elapsed() < Duration::from_secs(20), "{error}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test]
async fn a_file_that_is_not_whole_is_set_aside_and_a_new_one_made() {
    let damages: [(&str, Damage<'_>); 7] = [
        ("other", &|file: &Path| {
            std::fs::remove_file(file).unwrap();
            Connection::open(file).unwrap().execute_batch("CREATE TABLE theirs(a)").unwrap();
        }),
        ("newer", &|file: &Path| {
            Connection::open(file).unwrap().pragma_update(None, "user_version", 999).unwrap()
        }),
        ("bare", &|file: &Path| {
            Connection::open(file).unwrap().execute_batch("DROP TABLE entries").unwrap()
        }),
        ("garbage", &|file: &Path| {
            std::fs::write(
                file,
                b"this is no database, but long enough to be taken for one".repeat(99),
            )
            .unwrap()
        }),
        ("half", &|file: &Path| {
            let bytes = std::fs::read(file).unwrap();
            std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("middle", &|file: &Path| {
            let mut bytes = std::fs::read(file).unwrap();
            bytes[4_096..].fill(0x5a);
            std::fs::write(file, bytes).unwrap();
        }),
        ("stub", &|file: &Path| std::fs::write(file, b"SQLite format 3\0").unwrap()),
    ];
    for (name, damage) in damages {
        let folder = tempfile::tempdir().unwrap();
        fill_cache(folder.path()).await;
        damage(&folder.path().join(FILE));
        let cache = open(folder.path());
        for number in 0..80 {
            fetch(&cache, number).await;
        }
        for number in 0..80 {
            assert!(fetch(&cache, number).await, "{name}");
        }
        let aside = set_aside(folder.path());
        let warnings = cache.take_warnings();
        assert_eq!((aside.len(), warnings.len()), (1, 1), "{name}: {warnings:?}");
        assert!(warnings[0].contains(&aside[0]), "{name}: {warnings:?}");
        assert!(cache.take_warnings().is_empty());
    }
}

#[tokio::test]
async fn two_caches_notice_damage_under_them_and_set_the_file_aside_once() {
    let folder = tempfile::tempdir().unwrap();
    fill_cache(folder.path()).await;
    let one = open(folder.path());
    let two = open(folder.path());
    assert!(fetch(&one, 1).await && fetch(&two, 1).await);
    {
        // In place, as a broken disk would.
        use std::os::unix::fs::FileExt;
        let size = std::fs::metadata(folder.path().join(FILE)).unwrap().len();
        let program =
            std::fs::OpenOptions::new().write(true).open(folder.path().join(FILE)).unwrap();
        program.write_all_at(&vec![0x5a; size as usize - 4_096], 4_096).unwrap();
        std::mem::forget(program);
    }
    for number in 41..80 {
        fetch(&one, number).await;
        fetch(&two, number).await;
    }
    for number in 41..80 {
        assert!(fetch(&one, number).await && fetch(&two, number).await);
    }
    assert_eq!(set_aside(folder.path()).len(), 1);
    assert_eq!(one.take_warnings().len() + two.take_warnings().len(), 1);
    assert!(is_whole(folder.path()));
}

#[tokio::test]
async fn a_folder_that_goes_away_is_made_again() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("cache");
    let cache = open(&folder);
    assert!(!fetch(&cache, 1).await && fetch(&cache, 1).await);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(!fetch(&cache, 1).await && fetch(&cache, 1).await);
    assert!(folder.join(FILE).is_file() && cache.take_warnings().is_empty());
}

#[tokio::test]
async fn a_folder_that_cannot_be_had_makes_every_request_a_miss() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("file"), b"").unwrap();
    let open_to_all = scratch.path().join("open");
    std::fs::create_dir(&open_to_all).unwrap();
    std::fs::set_permissions(&open_to_all, std::fs::Permissions::from_mode(0o777)).unwrap();
    for folder in
        [scratch.path().join("file"), scratch.path().join("file/below"), open_to_all.clone()]
    {
        let cache = open(&folder);
        assert!(!fetch(&cache, 1).await && !fetch(&cache, 1).await);
        let warnings = cache.take_warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].ends_with("; 4 accesses failed"), "{warnings:?}");
        assert!(matches!(cache.stats().await, Err(CacheError::Folder { .. })));
        assert!(matches!(cache.clear(None).await, Err(CacheError::Folder { .. })));
    }
    assert_eq!(std::fs::read_dir(&open_to_all).unwrap().count(), 0);
}

#[tokio::test]
async fn a_locked_file_makes_requests_misses() {
    let folder = tempfile::tempdir().unwrap();
    fill_cache(folder.path()).await;
    fn brief(folder: &tempfile::TempDir) -> Arc<Cache> {
        Cache::open(
            folder.path(),
            Options { wait: Duration::from_millis(20), ..Options::default() },
        )
    }
    let other = Connection::open(folder.path().join(FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let cache = brief(&folder);
    assert!(fetch(&cache, 1).await && !fetch(&cache, 41).await && !fetch(&cache, 41).await);
    // Reading continues while nothing is written.
    assert!(fetch(&cache, 2).await);
    let warnings = cache.take_warnings();
    assert!(
        warnings.len() == 1 && warnings[0].contains("locked by another process; 2"),
        "{warnings:?}"
    );
    other.execute_batch("ROLLBACK").unwrap();
    assert!(!fetch(&brief(&folder), 41).await);
    assert!(fetch(&brief(&folder), 41).await);
}

#[tokio::test]
async fn a_full_disk_makes_requests_misses() {
    let folder = tempfile::tempdir().unwrap();
    fill_cache(folder.path()).await;
    let cache = open(folder.path());
    cache
        .ask(|worker: &mut crate::worker::Worker| {
            worker.backend.local().unwrap().work(Access::Read, |store| {
                Ok(store.connection.pragma_update(None, "max_page_count", 1)?)
            })
        })
        .await
        .unwrap();
    let big: Arc<[u8]> = vec![1; 1 << 20].into();
    for _ in 0..2 {
        let Found::Lead(lead) = cache.find(key(41)).await else { panic!("nothing is stored") };
        lead.store(Arc::clone(&big)).await;
    }
    assert!(fetch(&cache, 1).await);
    let warnings = cache.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("no space"), "{warnings:?}");
}
