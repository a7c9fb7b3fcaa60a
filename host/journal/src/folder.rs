//! The folder of the user's journals: one file per run, named by the run's id.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use syrch_core::text::nearest;

use crate::file::{JournalError, remove};

/// The extension of a journal's file name.
const ENDING: &str = "jsonl";

/// A folder of journals. It is created with the first journal.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

/// One journal of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The id of the run.
    pub run: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The size of the file.
    pub bytes: u64,
    /// The time of the last write.
    pub changed: SystemTime,
}

impl Folder {
    /// The folder at that path, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path for the journal of a new run. The folder is created in mode 0700 when it is
    /// missing.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn place(&self, run: &str) -> Result<PathBuf, JournalError> {
        syrch_files::make_folder(&self.0).map_err(|error| JournalError::io(&self.0, error))?;
        Ok(self.0.join(format!("{run}.{ENDING}")))
    }

    /// All journals, the latest first; none when the folder is missing.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, JournalError> {
        let fail = |error| JournalError::io(&self.0, error);
        let files = match fs::read_dir(&self.0) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut entries = Vec::new();
        for file in files {
            let path = file.map_err(fail)?.path();
            // Another process may remove it meanwhile.
            let Ok(data) = fs::metadata(&path) else { continue };
            let is_journal =
                path.extension().is_some_and(|ending| ending == ENDING) && data.is_file();
            let Some(run) = path.file_stem().filter(|_| is_journal) else { continue };
            let run = run.to_string_lossy().into_owned();
            let changed = data.modified().map_err(fail)?;
            entries.push(Entry { run, bytes: data.len(), changed, path });
        }
        entries.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.run.cmp(&b.run)));
        Ok(entries)
    }

    /// The journal of a run, named by its id or by the beginning of it; `last` is the latest.
    ///
    /// # Errors
    /// [`JournalError::Unknown`] when there is none, [`JournalError::Several`] when the name is
    /// ambiguous, and when the folder cannot be read.
    pub fn find(&self, run: &str) -> Result<Entry, JournalError> {
        let entries = self.list()?;
        find_run(&entries, |entry| &entry.run, run).cloned().map_err(|unnamed| match unnamed {
            Unnamed::Unknown(similar) => JournalError::Unknown { run: run.to_owned(), similar },
            Unnamed::Several(matches) => JournalError::Several { run: run.to_owned(), matches },
        })
    }

    /// The journals that exceed a bound: all but the `keep` latest, those older than `age`, and the
    /// oldest of the others until they have at most `bytes` together. The latest never exceeds the
    /// bytes, and a journal that is being written stays.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn over(&self, keep: usize, age: Duration, bytes: u64) -> Result<Vec<Entry>, JournalError> {
        let now = SystemTime::now();
        let mut over = Vec::new();
        let mut sum = 0_u64;
        let mut is_full = false;
        for (place, entry) in self.list()?.into_iter().enumerate() {
            let is_old = now.duration_since(entry.changed).is_ok_and(|since| since > age);
            is_full |= place > 0 && sum.saturating_add(entry.bytes) > bytes;
            if (place >= keep || is_old || is_full) && !entry.is_written() {
                over.push(entry);
            } else {
                sum = sum.saturating_add(entry.bytes);
            }
        }
        Ok(over)
    }

    /// Removes the journals that exceed a bound (see [`Folder::over`]), and returns those that were
    /// removed.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn prune(
        &self,
        keep: usize,
        age: Duration,
        bytes: u64,
    ) -> Result<Vec<Entry>, JournalError> {
        let mut removed = self.over(keep, age, bytes)?;
        removed.retain(|entry| remove(&entry.path));
        Ok(removed)
    }
}

impl Entry {
    /// Returns whether a process is writing the journal, so that its run is in progress.
    #[must_use]
    pub fn is_written(&self) -> bool {
        is_busy(&self.path)
    }
}

/// The reason why a name does not identify one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unnamed {
    /// No run has the name; these have similar ids.
    Unknown(Vec<String>),
    /// The ids of these runs begin with it.
    Several(Vec<String>),
}

/// The run that a user names by its id or by the beginning of it, in a list that has the latest
/// first; `last` is the first of the list.
///
/// # Errors
/// When no run has the name, or several ids begin with it.
pub fn find_run<'a, T>(
    entries: &'a [T],
    id: impl Fn(&T) -> &str,
    run: &str,
) -> Result<&'a T, Unnamed> {
    if run == "last"
        && let Some(latest) = entries.first()
    {
        return Ok(latest);
    }
    if let Some(entry) = entries.iter().find(|entry| id(entry) == run) {
        return Ok(entry);
    }
    let matching: Vec<&T> =
        entries.iter().filter(|entry| !run.is_empty() && id(entry).starts_with(run)).collect();
    match matching.as_slice() {
        [entry] => Ok(entry),
        [] => Err(Unnamed::Unknown(nearest(run, entries.iter().map(id)))),
        several => {
            Err(Unnamed::Several(several.iter().map(|entry| id(entry).to_owned()).collect()))
        }
    }
}

fn is_busy(path: &Path) -> bool {
    fs::File::open(path)
        .is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    /// A folder of runs by age in days, 100 bytes each, and one larger.
    fn folder(runs: &[(&str, u32, usize)]) -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::new(place.path().join("runs"));
        for (run, days, bytes) in runs {
            let path = folder.place(run).unwrap();
            fs::write(&path, vec![b'x'; *bytes]).unwrap();
            let changed = SystemTime::now() - DAY * *days;
            fs::File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        }
        (place, folder)
    }

    fn names(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.run.as_str()).collect()
    }

    #[test]
    fn runs_are_found_by_id_beginning_and_last() {
        let (_place, folder) = folder(&[("ab1", 2, 1), ("ab2", 1, 1), ("c", 3, 1)]);
        assert_eq!(names(&folder.list().unwrap()), ["ab2", "ab1", "c"]);
        fn run(folder: &Folder, name: &str) -> Result<String, JournalError> {
            folder.find(name).map(|entry| entry.run)
        }
        assert_eq!(
            (
                run(&folder, "last").unwrap(),
                run(&folder, "ab1").unwrap(),
                run(&folder, "c").unwrap()
            ),
            ("ab2".into(), "ab1".into(), "c".into())
        );
        assert_eq!(
            run(&folder, "ab").unwrap_err().to_string(),
            "several runs begin with `ab`: ab2, ab1"
        );
        assert!(matches!(
            run(&folder, "ab3").unwrap_err(),
            JournalError::Unknown { similar, .. } if similar.len() == 2
        ));
        assert!(matches!(run(&folder, "").unwrap_err(), JournalError::Unknown { .. }));
        let missing = Folder::new(folder.path().join("none"));
        assert!(missing.list().unwrap().is_empty() && missing.find("last").is_err());
    }

    #[test]
    fn each_bound_removes_the_oldest() {
        let runs = [("new", 0, 100), ("mid", 5, 300), ("old", 10, 100), ("ancient", 40, 100)];
        let (_place, folder) = folder(&runs);
        let over = |keep, days: u32, bytes| {
            let over = folder.over(keep, DAY * days, bytes).unwrap();
            names(&over).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(over(4, 100, 1_000).is_empty());
        assert_eq!(over(2, 100, 1_000), ["old", "ancient"]);
        assert_eq!(over(4, 30, 1_000), ["ancient"]);
        assert_eq!(over(4, 100, 400), ["old", "ancient"]);
        assert_eq!(over(4, 100, 399), ["mid", "old", "ancient"]);
        assert_eq!(over(0, 100, 1_000).len(), 4);
        assert_eq!(names(&folder.prune(1, DAY * 100, 1_000).unwrap()), ["mid", "old", "ancient"]);
        assert_eq!(names(&folder.list().unwrap()), ["new"]);
    }

    #[test]
    fn a_journal_that_is_written_stays() {
        let (_place, folder) = folder(&[("a", 0, 1), ("b", 1, 1)]);
        let entry = folder.find("b").unwrap();
        let writer = fs::File::open(&entry.path).unwrap();
        writer.try_lock().unwrap();
        assert!(entry.is_written() && folder.over(0, DAY, 0).unwrap().len() == 1);
        drop(writer);
        assert!(!entry.is_written() && folder.over(0, DAY, 0).unwrap().len() == 2);
    }
}
