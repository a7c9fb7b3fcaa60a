//! The disk is full, for the cache and the journal: the test runs itself once more, where files may not grow.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use syrch::Stop;

use crate::world::{Chance, LAMP, World, each, ending, right};

/// Tells the second process that it is one, and where to write.
const FOLDER: &str = "SYRCH_TEST_FULL_DISK";
/// A disk of its own, which holds 256 KiB.
const SMALL_DISK: &str = r#"mount -t tmpfs -o size=256k none "$0" && exec "$@""#;
/// Files of at most 16 KiB; a write over that fails.
const SMALL_FILES: &str = r#"trap '' XFSZ && ulimit -f 32 && exec "$@""#;

#[test]
fn a_full_disk_costs_the_cache_and_the_journal_and_nothing_else() {
    let name = "disk::a_full_disk_costs_the_cache_and_the_journal_and_nothing_else";
    #[allow(clippy::disallowed_methods, reason = "how one process of the test tells the other")]
    if let Some(folder) = std::env::var_os(FOLDER) {
        return on_a_full_disk(Path::new(&folder));
    }
    // Compiled plugins are kept elsewhere, and must be there.
    assert_eq!(each(0..1, |seed| async move { vec![ending(&World::new(seed, 0).search(&Stop::new()).await, &[right(LAMP)])] })["right"], 1);
    let folder = syrch_kit::scratch();
    let again = |command: &mut Command, script: &str| {
        let exe = std::env::current_exe().unwrap();
        let command = command.args(["sh", "-c", script]).arg(folder.path()).arg(exe);
        command.args([name, "--exact", "--nocapture"]).env(FOLDER, folder.path()).output().unwrap()
    };
    let limited = again(&mut Command::new("env"), SMALL_FILES);
    let said = String::from_utf8_lossy(&limited.stdout).into_owned() + &String::from_utf8_lossy(&limited.stderr);
    assert!(limited.status.success() && said.contains("\"right\": 12"), "{said}");
    // Not every machine lets its users mount something in a namespace of their own.
    let may_mount = Command::new("unshare").args(["-Urm", "sh", "-c"]).arg(format!("{SMALL_DISK}")).arg(folder.path()).arg("true").status();
    if may_mount.is_ok_and(|status| status.success()) {
        let full = again(Command::new("unshare").arg("-Urm"), SMALL_DISK);
        let said = String::from_utf8_lossy(&full.stdout).into_owned() + &String::from_utf8_lossy(&full.stderr);
        assert!(full.status.success() && said.contains("\"right\": 12"), "{said}");
        println!("{said}");
    }
}

/// Searches whose cache and journal have less and less room.
fn on_a_full_disk(folder: &Path) {
    let folder = folder.to_owned();
    let counts = each(0..12, move |seed| one(folder.clone(), seed));
    assert_eq!(counts["right"], 12, "{counts:?}");
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
        let told = document.warnings.iter().filter(|warning| warning.contains(&format!("{word} `")) || warning.contains("no journal") && word == "journal").count();
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
