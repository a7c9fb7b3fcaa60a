//! The shared folder: what two hosts see of each other, and what may happen to its files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::*;
use crate::fixture::{fetch, key, value};
use crate::{Cache, Found, Options, Place};

fn open(folder: &Path) -> Arc<Cache> {
    Cache::open_at(Place::Shared(folder.to_owned()), Options::default())
}

#[tokio::test]
async fn hosts_pay_equal_calls_once() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = [open(folder.path()), open(folder.path()), open(folder.path())];
    let all = hosts.iter().flat_map(|host| (0..40).map(move |number| fetch(host, number)));
    let found = join_all(all).await;
    assert_eq!(found.iter().filter(|found| !**found).count(), 40);
    let stats = hosts[0].stats().await.unwrap();
    let bytes: u64 = (0..40).map(|number| value(number).len() as u64).sum();
    assert_eq!((stats.all.entries, stats.all.bytes), (40, bytes));
    assert_eq!(hosts[1].clear(Some(Kind::Sql)).await.unwrap().entries, 20);
    assert!(fetch(&hosts[2], 0).await && !fetch(&hosts[2], 1).await);
    hosts[0].forget(key(0)).await;
    assert!(!fetch(&hosts[2], 0).await);
    assert!(hosts.iter().all(|host| host.take_warnings().is_empty()));
}

#[tokio::test]
async fn a_dropped_leader_lets_the_next_host_lead_and_a_killed_one_does_so_later() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    let two = open(folder.path());
    let Found::Lead(lead) = one.find(key(1)).await else { panic!("nothing is stored") };
    let mut waiting = Box::pin(two.find(key(1)));
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    drop(lead);
    let Found::Lead(lead) = waiting.await else { panic!("nothing is stored") };
    lead.store(value(1)).await;
    assert!(fetch(&one, 1).await);
    // A lease that nobody extends any more.
    let entries = folder.path().join(ROOT);
    std::fs::create_dir_all(entries.join(folder_of(&key(2)))).unwrap();
    std::fs::write(entries.join(path_of(&key(2), LEASE_FILE)), "7 1").unwrap();
    let began = Instant::now();
    assert!(!fetch(&one, 2).await);
    assert!(began.elapsed() >= LEASE, "{:?}", began.elapsed());
    assert!(fetch(&two, 2).await);
}

#[tokio::test]
async fn a_leader_that_works_for_long_keeps_its_lease() {
    let folder = tempfile::tempdir().unwrap();
    let one = open(folder.path());
    let two = open(folder.path());
    let Found::Lead(lead) = one.find(key(1)).await else { panic!("nothing is stored") };
    let mut waiting = Box::pin(two.find(key(1)));
    let longer = LEASE + Duration::from_secs(2);
    assert!(tokio::time::timeout(longer, waiting.as_mut()).await.is_err());
    lead.store(value(1)).await;
    assert!(matches!(waiting.await, Found::Value(_)));
}

#[tokio::test]
async fn a_damaged_entry_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    let entry = folder.path().join(ROOT).join(path_of(&key(1), ENTRY));
    for damage in
        ["", "short", "syrch-1\nbut no entry of this key, however long it may be, is this"]
    {
        fetch(&cache, 1).await;
        std::fs::write(&entry, damage).unwrap();
        assert!(!fetch(&cache, 1).await && fetch(&cache, 1).await);
    }
    std::fs::remove_file(&entry).unwrap();
    std::fs::create_dir(&entry).unwrap();
    // It cannot be replaced: the value is used and not stored.
    assert!(!fetch(&cache, 1).await);
    assert_eq!(cache.take_warnings().len(), 1);
}

#[tokio::test]
async fn the_oldest_entries_make_room() {
    let folder = tempfile::tempdir().unwrap();
    // 4 KiB for each folder.
    let options = Options { bytes: 4_096 * FOLDERS, ..Options::default() };
    let cache = Cache::open_at(Place::Shared(folder.path().to_owned()), options);
    for number in 0..3_000_usize {
        let key = Key::new(Kind::Llm, "who", &number.to_le_bytes());
        let Found::Lead(lead) = cache.find(key).await else { panic!("nothing is stored") };
        lead.store(vec![1; 1_000].into()).await;
    }
    let stats = cache.stats().await.unwrap();
    assert!(stats.all.entries < 2_900, "{stats:?}");
    let Found::Lead(lead) = cache.find(key(1)).await else { panic!("nothing is stored") };
    lead.store(vec![1; 3_000].into()).await;
    assert!(matches!(cache.find(key(1)).await, Found::Lead(_)), "larger than one may be");
}

#[tokio::test]
async fn a_folder_of_others_is_refused_and_every_request_a_miss() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    let cache = open(folder.path());
    assert!(!fetch(&cache, 1).await && !fetch(&cache, 1).await);
    let warnings = cache.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("others may write"), "{warnings:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
