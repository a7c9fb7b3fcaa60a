//! The cache cannot be used: the search continues without it, says so, and counts right.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use syrch::{Host, Stop};

use super::database::Neighbour;
use super::world::{Chance, LAMP, World, each, ending, names, right, search};

/// Ways in which a cache's folder cannot be used, or its file.
const FAULTS: [&str; 9] = [
    "file in place of the folder",
    "folder in place of the file",
    "another program's database",
    "no database",
    "damaged",
    "folder that others may write to",
    "folder that nobody may write to",
    "locked",
    "table without space",
];

/// Brings the fault about, in a cache that was used once; who holds the lock must live on.
fn break_cache(fault: &str, folder: &Path) -> Option<Connection> {
    let file = folder.join("cache.sqlite");
    let remove = || {
        ["", "-wal", "-shm"]
            .iter()
            .for_each(|end| drop(std::fs::remove_file(folder.join(format!("cache.sqlite{end}")))))
    };
    match fault {
        "file in place of the folder" => {
            std::fs::remove_dir_all(folder).unwrap();
            std::fs::write(folder, "a file").unwrap();
        }
        "folder in place of the file" => {
            remove();
            std::fs::create_dir(&file).unwrap();
        }
        "another program's database" => {
            remove();
            syrch_kit::sqlite(&file, "CREATE TABLE bookmarks(url TEXT)");
        }
        "no database" => {
            remove();
            std::fs::write(&file, [7; 10_000]).unwrap();
        }
        "damaged" => {
            let connection = Connection::open(&file).unwrap();
            connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
            drop(connection);
            let mut bytes = std::fs::read(&file).unwrap();
            bytes.iter_mut().skip(4_096).for_each(|byte| *byte = !*byte);
            std::fs::write(&file, bytes).unwrap();
        }
        "folder that others may write to" => {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        "folder that nobody may write to" => {
            std::fs::remove_dir_all(folder).unwrap();
            std::os::unix::fs::symlink("/proc/self", folder).unwrap();
        }
        "locked" => {
            let connection = Connection::open(&file).unwrap();
            connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
            return Some(connection);
        }
        _ => {
            let connection = Connection::open(&file).unwrap();
            let refuse = "CREATE TRIGGER full BEFORE INSERT ON entries BEGIN \
                          SELECT RAISE(ABORT, 'no room'); END";
            connection.execute_batch(refuse).unwrap();
        }
    }
    None
}

#[test]
fn a_cache_that_cannot_be_used_is_done_without() {
    // Each fault as often.
    let searches = 9 * syrch_kit::scale(2, 5);
    let counts = each(0..searches as u64, |seed| async move {
        let fault = FAULTS[usize::try_from(seed).unwrap() % FAULTS.len()];
        // In every other world the endpoint fails too.
        let mut world = World::new(seed, seed / 9 % 2 * 10);
        let folder = world.folder.path().join("cache");
        world.settings.cache.folder = Some(folder.clone());
        fill(&world).await;
        let holder = break_cache(fault, &folder);
        let report = world.search(&Stop::new()).await;
        drop(holder);
        let end = ending(&report, &[right(LAMP)]);
        if let Ok(report) = &report {
            let reported =
                report.document.warnings.iter().filter(|warning| warning.contains("cache")).count();
            assert_eq!(reported, 1, "{fault}: {:?}", report.document.warnings);
        }
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        names(&world.tally()).chain([end, fault]).collect()
    });
    assert!(counts["right"] >= searches * 7 / 9, "{counts:?}");
}

/// Makes the cache's file, with an entry that no search asks for.
async fn fill(world: &World) {
    let cache = syrch::cache::open_cache(&world.settings).unwrap();
    let key = syrch::cache::Key::new(syrch::cache::Kind::Llm, "nobody", b"nothing");
    let syrch::cache::Found::Lead(lead) = cache.find(key).await else {
        panic!("it holds what nobody stored")
    };
    lead.store(Arc::from([1; 9_000].as_slice())).await;
}

#[test]
fn a_cache_that_breaks_while_a_search_runs_gives_no_wrong_answer() {
    let searches = syrch_kit::scale(10, 24);
    let counts = each(0..searches as u64, |seed| async move {
        let mut world = World::new(seed, 0);
        let folder = world.folder.path().join("cache");
        let mut chance = Chance::new(seed, 1 << 32);
        world.settings.cache.folder = Some(folder.clone());
        fill(&world).await;
        let host = world.host().await.unwrap();
        let neighbour = Neighbour::new(move || {
            std::thread::sleep(chance.millis(80));
            let file = folder.join("cache.sqlite");
            let broken = match chance.below(3) {
                0 => std::fs::remove_file(file),
                1 => std::fs::write(file, [9; 8_192]),
                _ => std::fs::File::create(file).map(drop),
            };
            // Whoever set it aside took it from under us.
            drop(broken);
        });
        let report = search(&host, &Stop::new()).await;
        neighbour.leave().await;
        let end = ending(&report, &[right(LAMP)]);
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        again(&world, &host).await;
        vec![end]
    });
    assert_eq!(counts["right"], searches, "{counts:?}");
}

/// A second search, which may find what the first one stored, answers rightly too.
async fn again(world: &World, host: &Host) {
    let before = world.endpoint.count();
    let report = search(host, &Stop::new()).await;
    assert_eq!(ending(&report, &[right(LAMP)]), "right");
    let made = world.endpoint.count() - before;
    assert_eq!(report.unwrap().document.cost.calls as usize, made);
}
