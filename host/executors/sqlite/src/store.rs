//! The folder of private databases, where indexes of values are stored as well. Each database has a
//! lock beside it, which whoever uses the database holds together with others, and which is as old
//! as its last use.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use syrch_core::imports::Stored;
use syrch_files::{make_folder, private};

use crate::cells::INDEX;

/// The extension of databases.
const DATABASE: &str = "sqlite";
/// The extension of locks.
const LOCK: &str = "lock";
/// The extension of databases that are being written.
const PART: &str = "part";

/// The extension of the notes about databases.
const NOTES: &str = "notes";

/// The time between two checks whether somebody else has written a database.
const WAIT: Duration = Duration::from_millis(20);

/// A place in the folder, which nobody takes away as long as this lives.
pub struct Place {
    path: PathBuf,
    lock: File,
}

impl Place {
    /// Opens the place of that name, and makes the folder if it is missing.
    ///
    /// # Errors
    /// When the folder or the lock cannot be made.
    pub fn open(folder: &Path, name: &str) -> io::Result<Self> {
        make_folder(folder)?;
        let path = folder.join(name).with_extension(DATABASE);
        let lock = private(OpenOptions::new().write(true).create(true).truncate(false))
            .open(path.with_extension(LOCK))?;
        // While somebody writes the database, `fill` waits for it.
        match lock.try_lock_shared() {
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
        }
        lock.set_modified(SystemTime::now())?;
        Ok(Self { path, lock })
    }

    /// The path of the private database, which may not exist yet.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the notes about the database.
    #[must_use]
    pub fn notes(&self) -> PathBuf {
        self.path.with_extension(NOTES)
    }

    /// Returns true if the database is there.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        self.path.is_file()
    }

    /// Calls `write` to write the database to a new file of another name, unless it is there or
    /// somebody else writes it meanwhile. Returns whether it was written here.
    ///
    /// # Errors
    /// When `write` fails, or the place cannot be locked.
    pub fn fill<E>(
        &self,
        write: impl FnOnce(&Path) -> Result<(), E>,
        wrong: fn(io::Error) -> E,
        cancelled: &AtomicBool,
    ) -> Result<bool, E> {
        let mut is_written = false;
        while !self.is_filled() {
            // Without a lock of its own it is not in the way of others who try the same.
            self.lock.unlock().map_err(wrong)?;
            match self.lock.try_lock() {
                Ok(()) if self.is_filled() => {}
                Ok(()) => {
                    self.write(write, wrong)?;
                    is_written = true;
                    break;
                }
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
                Err(TryLockError::WouldBlock) if cancelled.load(Ordering::Relaxed) => {
                    return Err(wrong(io::ErrorKind::Interrupted.into()));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
            }
        }
        self.lock.lock_shared().map_err(wrong)?;
        Ok(is_written)
    }

    fn write<E>(
        &self,
        write: impl FnOnce(&Path) -> Result<(), E>,
        wrong: fn(io::Error) -> E,
    ) -> Result<(), E> {
        let part = self.path.with_extension(format!("{}.{PART}", std::process::id()));
        let made = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&part);
        let written = made.map_err(wrong).and_then(|_| write(&part));
        let named = written.and_then(|()| fs::rename(&part, &self.path).map_err(wrong));
        named.inspect_err(|_| drop(fs::remove_file(&part)))
    }
}

/// Returns the number and the size of the private databases and indexes of values in a folder. It
/// blocks.
///
/// # Errors
/// When the folder cannot be read; one that does not exist has none.
pub fn store_size(folder: &Path) -> io::Result<Stored> {
    let sizes: Vec<u64> = entries(folder)?.into_iter().map(|entry| entry.bytes).collect();
    Ok(Stored { count: sizes.len(), bytes: sizes.iter().sum() })
}

/// Removes the private databases of a folder that nobody uses now and all indexes of values, and
/// returns which. It blocks.
///
/// # Errors
/// When the folder cannot be read.
pub fn clear(folder: &Path) -> io::Result<Stored> {
    let removed = entries(folder)?.into_iter().filter(Entry::remove);
    Ok(removed.fold(Stored::default(), |sum, entry| Stored {
        count: sum.count + 1,
        bytes: sum.bytes + entry.bytes,
    }))
}

/// Removes what nobody used for so long, and the longest unused while all of them take more than so
/// many bytes.
pub fn prune(folder: &Path, retained: Duration, bytes: u64) {
    let Ok(mut entries) = entries(folder) else { return };
    entries.sort_by_key(|entry| entry.used);
    let mut sum: u64 = entries.iter().map(|entry| entry.bytes).sum();
    for entry in entries {
        let is_old = entry.used.elapsed().is_ok_and(|age| age > retained);
        if (is_old || sum > bytes) && entry.remove() {
            sum -= entry.bytes;
        }
    }
}

/// A database of the folder, an index of values, or what is left of one that was being written.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl Entry {
    /// Removes it, unless somebody uses it.
    fn remove(&self) -> bool {
        // The name of a part has the number of its process before the ending.
        let stem = self
            .path
            .file_name()
            .and_then(|name| name.to_str()?.split('.').next())
            .unwrap_or_default();
        let lock_path = self.path.with_file_name(stem).with_extension(LOCK);
        let lock = OpenOptions::new().write(true).open(&lock_path);
        let is_free = lock.as_ref().map_or(true, |lock| lock.try_lock().is_ok());
        if is_free && fs::remove_file(&self.path).is_ok() {
            drop(fs::remove_file(lock_path.with_extension(NOTES)));
            drop(fs::remove_file(lock_path));
            return true;
        }
        false
    }
}

fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    let entry = |path: PathBuf| {
        let ending = path.extension()?.to_str()?.to_owned();
        let metadata = fs::symlink_metadata(&path)
            .ok()
            .filter(|_| [DATABASE, INDEX, PART].contains(&ending.as_str()))?;
        let locked = fs::metadata(path.with_extension(LOCK)).ok();
        let used = locked.as_ref().unwrap_or(&metadata).modified().ok()?;
        metadata.is_file().then_some(Entry { path, bytes: metadata.len(), used })
    };
    Ok(listed.filter_map(|found| entry(found.ok()?.path())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_place(folder: &Path, name: &str) -> Place {
        let place = Place::open(folder, name).unwrap();
        place.fill(|path| fs::write(path, "data"), |error| error, &AtomicBool::new(false)).unwrap();
        place
    }

    fn names(folder: &Path) -> Vec<String> {
        let all = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut all: Vec<String> = all.collect();
        all.sort();
        all
    }

    #[test]
    fn a_database_is_written_once_and_stays_while_it_is_used() {
        use std::os::unix::fs::PermissionsExt;
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("tables");
        let place = fill_place(&folder, "one");
        let again = Place::open(&folder, "one").unwrap();
        assert!(again.is_filled());
        // Not written twice, and whoever comes second does not wait for the first to end.
        again
            .fill(
                |_| Err(io::Error::other("written twice")),
                |error| error,
                &AtomicBool::new(false),
            )
            .unwrap();
        drop(again);
        for name in ["one.sqlite", "one.lock"] {
            assert_eq!(
                fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777,
                0o600,
                "{name}"
            );
        }
        assert_eq!(store_size(&folder).unwrap(), Stored { count: 1, bytes: 4 });
        assert_eq!(clear(&folder).unwrap(), Stored::default());
        drop(place);
        assert_eq!(clear(&folder).unwrap(), Stored { count: 1, bytes: 4 });
        assert_eq!(names(&folder), Vec::<String>::new());
        assert_eq!(store_size(&base.path().join("none")).unwrap(), Stored::default());
        // An index of values is a file of its own, which needs no lock.
        fs::write(folder.join("two.values"), "values").unwrap();
        assert_eq!(store_size(&folder).unwrap(), Stored { count: 1, bytes: 6 });
        assert_eq!(clear(&folder).unwrap(), Stored { count: 1, bytes: 6 });
        assert_eq!(names(&folder), Vec::<String>::new());
    }

    #[test]
    fn what_failed_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::open(folder.path(), "one").unwrap();
        place
            .fill(
                |path: &Path| fs::write(path, "x").and(Err(io::Error::other("bad"))),
                |error| error,
                &AtomicBool::new(false),
            )
            .unwrap_err();
        assert_eq!(names(folder.path()), ["one.lock"]);
    }

    #[test]
    fn the_longest_unused_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let hour = Duration::from_secs(3_600);
        for (name, hours) in [("old", 30), ("older", 50), ("new", 0)] {
            let place = fill_place(folder.path(), name);
            place.lock.set_modified(SystemTime::now() - hour * hours).unwrap();
        }
        fs::write(folder.path().join("dead.77.part"), "half").unwrap();
        prune(folder.path(), hour * 40, u64::MAX);
        assert_eq!(
            names(folder.path()),
            ["dead.77.part", "new.lock", "new.sqlite", "old.lock", "old.sqlite"]
        );
        prune(folder.path(), hour * 40, 8);
        assert_eq!(names(folder.path()), ["dead.77.part", "new.lock", "new.sqlite"]);
    }
}
