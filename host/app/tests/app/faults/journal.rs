//! The journal cannot be written: the search is unharmed and says so once.

use std::path::Path;

use syrch::Stop;

use super::world::{LAMP, World, each, ending, right};

/// Ways in which journals cannot be made.
const FAULTS: [&str; 4] =
    ["file in place of the folder", "folder below a file", "link to nowhere", "not writable"];

fn break_folder(fault: &str, folder: &Path) {
    match fault {
        "file in place of the folder" => std::fs::write(folder, "a file").unwrap(),
        "folder below a file" => std::fs::write(folder.parent().unwrap(), "a file").unwrap(),
        "link to nowhere" => std::os::unix::fs::symlink("/nowhere/at/all", folder).unwrap(),
        // Nobody may make files there, not even who may do everything else.
        _ => std::os::unix::fs::symlink("/proc/self", folder).unwrap(),
    }
}

#[test]
fn a_run_without_a_journal_is_a_run() {
    let counts = each(0..12, |seed| async move {
        let fault = FAULTS[usize::try_from(seed).unwrap() % FAULTS.len()];
        let mut world = World::new(seed, 0);
        let below = fault == "folder below a file";
        let folder = world.folder.path().join(if below { "file/runs" } else { "runs" });
        break_folder(fault, &folder);
        world.settings.journal.folder = Some(folder);
        let report = world.search(&Stop::new()).await;
        let end = ending(&report, &[right(LAMP)]);
        let document = report.unwrap().document;
        let reported =
            document.warnings.iter().filter(|warning| warning.contains("no journal")).count();
        assert_eq!(reported, 1, "{fault}: {:?}", document.warnings);
        assert_eq!(document.cost.calls as usize, world.endpoint.count());
        vec![end, fault]
    });
    assert_eq!(counts["right"], 12, "{counts:?}");
}
