//! Equal calls of a grid's cells are made once: by the user's cache, or, where there is none, by
//! one that only this run has.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use syrch::Settings;

/// The beginning of the names of such caches.
const NAME: &str = ".calls-";
/// The age of a cache that no run uses any more, since its run was killed.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// A cache of this run alone, which is removed when the run ends.
pub(super) struct Calls(Option<PathBuf>);

impl Drop for Calls {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            // What stays is removed by a later run.
            drop(fs::remove_dir_all(folder));
        }
    }
}

/// Gives all cells one cache. Where the user wants no cache it is a new one, which is removed
/// afterwards.
pub(super) fn share(cells: &mut [(String, Settings)], runs: &Path) -> Calls {
    clear(runs);
    if cells.iter().all(|(_, settings)| settings.cache.place().is_some()) {
        return Calls(None);
    }
    let now =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let folder = runs.join(format!("{NAME}{}-{now}", std::process::id()));
    cells.iter_mut().for_each(|(_, settings)| settings.cache.folder = Some(folder.clone()));
    Calls(Some(folder))
}

/// Removes what killed runs left.
fn clear(runs: &Path) {
    let Ok(entries) = fs::read_dir(runs) else { return };
    for entry in entries.flatten().filter(|entry: &fs::DirEntry| {
        let changed = entry.metadata().and_then(|about| about.modified()).ok();
        let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
        entry.file_name().to_string_lossy().starts_with(NAME) && age.is_some_and(|age| age > OLD)
    }) {
        drop(fs::remove_dir_all(entry.path()));
    }
}

/// The reason why equal calls were made more than once. `None` if they were not.
pub(super) fn sharing_obstacle(cells: &[(String, Settings)]) -> Option<String> {
    let is_recorded = cells.iter().any(|(_, settings)| settings.model.record.is_some());
    is_recorded.then(|| {
        "equal calls were made anew in each cell: what is recorded comes from no cache".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(folder: Option<&Path>) -> Vec<(String, Settings)> {
        let mut settings = Settings::default();
        settings.cache.folder = folder.map(Path::to_owned);
        ["a", "b"].map(|name| (name.to_owned(), settings.clone())).to_vec()
    }

    #[test]
    fn without_a_cache_the_run_has_a_temporary_one() {
        let runs = tempfile::tempdir().unwrap();
        let mut without = cells(None);
        let calls = share(&mut without, runs.path());
        let folder = without[0].1.cache.folder.clone().unwrap();
        assert_eq!(without[1].1.cache.folder.as_ref(), Some(&folder));
        fs::create_dir_all(folder.join("x")).unwrap();
        drop(calls);
        assert!(!folder.exists());
        let mut with = cells(Some(runs.path()));
        drop(share(&mut with, runs.path()));
        assert!(with[0].1.cache.folder.as_deref() == Some(runs.path()) && runs.path().exists());
    }

    #[test]
    fn what_a_killed_run_left_is_removed_by_a_later_one() {
        let runs = tempfile::tempdir().unwrap();
        let old = runs.path().join(".calls-1-1");
        let new = runs.path().join(".calls-2-2");
        for folder in [&old, &new] {
            fs::create_dir(folder).unwrap();
        }
        let long_ago = SystemTime::now() - 2 * OLD;
        fs::File::open(&old)
            .unwrap()
            .set_times(fs::FileTimes::new().set_modified(long_ago))
            .unwrap();
        clear(runs.path());
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn what_is_recorded_is_not_shared() {
        let mut recorded = cells(None);
        assert_eq!(sharing_obstacle(&recorded), None);
        recorded[0].1.model.record = Some("r.jsonl".into());
        assert!(sharing_obstacle(&recorded).unwrap().contains("recorded"));
    }
}
