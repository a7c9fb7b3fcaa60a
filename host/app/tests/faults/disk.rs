//! The disk is full, for the cache and the journal: the test runs itself once more, where files may not grow.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use syrch::Stop;

use crate::world::{Chance, LAMP, World, each, ending, right};

/// Tells the second process that it is one, and where to write.
const FOLDER: &str = "SYRCH_TEST_FULL_DISK";
/// A disk of its own, which holds 256 KiB, in a namespace of its own.
const SMALL_DISK: &str = r#"mount -t tmpfs -o size=256k none "$0" && exec "$@""#;
/// Searches on it.
const SEARCHES: usize = 12;

fn on_a_small_disk(folder: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", SMALL_DISK]).arg(folder);
    command
}

#[test]
fn a_full_disk_costs_the_cache_and_the_journal_and_nothing_else() {
    let name = "disk::a_full_disk_costs_the_cache_and_the_journal_and_nothing_else";
    #[allow(clippy::disallowed_methods, reason = "how one process of the test tells the other")]
    if let Some(folder) = std::env::var_os(FOLDER) {
        return with_less_and_less_room(Path::new(&folder));
    }
    let folder = syrch_kit::scratch();
    if !on_a_small_disk(folder.path()).arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this machine lets its users mount nothing, not even in a namespace of their own");
        return;
    }
    let mut again = on_a_small_disk(folder.path());
    let again = again.arg(std::env::current_exe().unwrap()).args([name, "--exact", "--nocapture"]);
    let ran = again.env(FOLDER, folder.path()).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains(&format!("\"right\": {SEARCHES}")), "{said}");
    println!("{said}");
}

/// Searches whose cache and journal have less and less room.
fn with_less_and_less_room(folder: &Path) {
    let folder = folder.to_owned();
    let counts = each(0..SEARCHES as u64, move |seed| one(folder.clone(), seed));
    assert_eq!(counts["right"], SEARCHES, "{counts:?}");
    assert!(counts["cache warned"] > 0 && counts["journal warned"] > 0, "{counts:?}");
}

async fn one(folder: PathBuf, seed: u64) -> Vec<&'static str> {
    let mut world = World::new(seed, 0);
    let own = folder.join(seed.to_string());
    std::fs::create_dir(&own).unwrap();
    world.settings.cache.folder = Some(own.join("cache"));
    world.settings.journal.folder = Some(own.join("runs"));
    let room = Chance::new(seed, 1).below(200);
    leave_room(&own.join("filler"), room);
    let report = world.search(&Stop::new()).await;
    let end = ending(&report, &[right(LAMP)]);
    let document = report.unwrap().document;
    assert_eq!(document.cost.calls as usize, world.endpoint.count());
    let mut names = vec![end];
    for (name, word) in [("cache warned", "cache"), ("journal warned", "journal")] {
        let told = document
            .warnings
            .iter()
            .filter(|warning| {
                warning.contains(&format!("{word} `")) || warning.contains("no journal") && word == "journal"
            })
            .count();
        assert!(told <= 1, "{:?}", document.warnings);
        names.extend((told == 1).then_some(name));
    }
    println!("{seed}: room {room} KiB: {:?}", document.warnings);
    std::fs::remove_dir_all(&own).unwrap();
    names
}

/// Fills the disk but for so many KiB; elsewhere, as far as a file may grow.
fn leave_room(filler: &Path, room: u64) {
    let mut file = File::create(filler).unwrap();
    for _ in 0..256 - room {
        if file.write_all(&[1; 1_024]).is_err() {
            break;
        }
    }
}
