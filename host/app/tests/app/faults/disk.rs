//! The disk is full for the cache and the journal. The test starts itself as a second process, on a
//! small disk.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use syrch::Stop;

use super::world::{Counts, LAMP, World, each, ending, right};

/// The variable that gives the second process the folder of the small disk.
const FOLDER: &str = "SYRCH_TEST_FULL_DISK";
/// A shell command that runs its arguments in a namespace with a disk of 256 KiB.
const SMALL_DISK: &str = r#"mount -t tmpfs -o size=256k none "$0" && exec "$@""#;
/// The number of searches on the small disk.
const SEARCHES: usize = 12;

fn on_a_small_disk(folder: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", SMALL_DISK]).arg(folder);
    command
}

#[test]
fn a_full_disk_costs_the_cache_and_the_journal_and_nothing_else() {
    let name = "faults::disk::a_full_disk_costs_the_cache_and_the_journal_and_nothing_else";
    #[allow(
        clippy::disallowed_methods,
        reason = "how the first process of the test passes the folder to the second"
    )]
    if let Some(folder) = std::env::var_os(FOLDER) {
        return with_less_and_less_room(Path::new(&folder));
    }
    let folder = syrch_kit::scratch();
    if !on_a_small_disk(folder.path()).arg("true").status().is_ok_and(|status| status.success()) {
        syrch_kit::skip(
            "this machine lets its users mount nothing, not even in a namespace of their own",
        );
        return;
    }
    let mut again = on_a_small_disk(folder.path());
    let again = again.arg(std::env::current_exe().unwrap()).args([name, "--exact", "--nocapture"]);
    let ran = again.env(FOLDER, folder.path()).output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("in all: "), "{said}");
    println!("{said}");
}

/// Searches whose cache and journal have more or less space, one after the other.
fn with_less_and_less_room(folder: &Path) {
    let mut counts = Counts::new();
    for number in 0..SEARCHES as u64 {
        let folder = folder.to_owned();
        for (name, count) in each(number..number + 1, move |seed| one(folder.clone(), seed)) {
            *counts.entry(name).or_default() += count;
        }
    }
    println!("in all: {counts:?}");
    assert_eq!(counts["right"], SEARCHES, "{counts:?}");
    assert!(counts["cache warned"] > 2 && counts["journal warned"] > 2, "{counts:?}");
}

async fn one(folder: PathBuf, seed: u64) -> Vec<&'static str> {
    let mut world = World::new(seed, 0);
    world.settings.cache.folder = Some(folder.join("cache"));
    world.settings.journal.folder = Some(folder.join("runs"));
    leave_space(&folder.join("filler"), seed * 16);
    let report = world.search(&Stop::new()).await;
    let end = ending(&report, &[right(LAMP)]);
    let document = report.unwrap().document;
    assert_eq!(document.cost.calls as usize, world.endpoint.count());
    let reported =
        |words: &str| document.warnings.iter().filter(|warning| warning.contains(words)).count();
    let cache = reported("the cache `") + reported("the cache folder `");
    let journal = reported("the journal `");
    assert!(
        cache <= 1 && journal <= 1 && document.warnings.len() == cache + journal,
        "{:?}",
        document.warnings
    );
    println!("{} KiB: {:?}", seed * 16, document.warnings);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
            .unwrap();
    }
    [(cache, "cache warned"), (journal, "journal warned")]
        .into_iter()
        .filter_map(|(count, name)| (count > 0).then_some(name))
        .chain([end])
        .collect()
}

/// Fills the disk but for so many KiB.
fn leave_space(filler: &Path, space: u64) {
    let mut file = File::create(filler).unwrap();
    while file.write_all(&[1; 1_024]).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(space * 1_024)).unwrap();
}
