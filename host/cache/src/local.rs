//! The file of this machine as the place of entries. It is opened on first use; a damaged one is
//! set aside, and so is noticed when another process did that. After a failure it waits before it
//! tries again.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::activity::Activity;
use crate::backend::{Backend, Claim, Request};
use crate::error::{CacheError, StoreError};
use crate::folder::{FILE, FileId, Folder, FolderLock};
use crate::options::Options;
use crate::store::{Entry, Size, Store};
use crate::{Key, Kind};

/// Entries that this process writes between two sweeps of expired entries; the first write sweeps.
const SWEEP_EVERY: u64 = 256;
/// The limit on the number of batches that one sweep deletes.
const SWEEP_BATCHES: usize = 4;
/// One entry may have this fraction of all bytes: an eighth.
const LARGEST_FRACTION: u64 = 8;
/// The interval at which leases of other processes are checked.
const POLL_EVERY: Duration = Duration::from_millis(25);

/// The time for which nothing is tried after a failure.
const BACKOFF: Duration = Duration::from_secs(10);
/// The most files that one process sets aside; with the next damaged one it gives up.
const MOST_ASIDE: u32 = 3;

/// The access of an operation: whether it only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The open file with what is known of it.
pub(crate) struct LocalFile {
    folder: PathBuf,
    options: Options,
    activity: Arc<Activity>,
    opened: Option<Opened>,
    backoff: Option<Backoff>,
    aside: u32,
    writes: u64,
}

struct Opened {
    folder: Folder,
    store: Store,
    id: Option<FileId>,
}

/// A failure that is returned until a time instead of trying again. After a failure of writing,
/// reading is still tried.
struct Backoff {
    until: Instant,
    error: CacheError,
    access: Access,
}

impl LocalFile {
    /// The file in this folder, which is not opened yet.
    pub(crate) fn new(folder: PathBuf, options: Options, activity: Arc<Activity>) -> Self {
        Self { folder, options, activity, opened: None, backoff: None, aside: 0, writes: 0 }
    }

    /// Runs an operation on the file; if the file is damaged, once more on a new one.
    pub(crate) fn work<T>(
        &mut self,
        access: Access,
        work: impl Fn(&Store) -> Result<T, StoreError>,
    ) -> Result<T, CacheError> {
        if let Some(backoff) = self.backoff.as_ref().filter(|backoff| backoff.covers(access)) {
            return Err(backoff.error.clone());
        }
        let result = match self.attempt(&work) {
            Err(Attempt::Aside) => self.attempt(&work),
            other => other,
        };
        result.map_err(|attempt| {
            let (error, access) = match attempt {
                Attempt::Aside => {
                    (self.damage_error("a new one is damaged, too".to_owned()), Access::Read)
                }
                Attempt::Unopened(error) => (error, Access::Read),
                Attempt::Failed(error) => (error, access),
            };
            self.backoff =
                Some(Backoff { until: Instant::now() + BACKOFF, error: error.clone(), access });
            error
        })
    }

    fn attempt<T>(&mut self, work: impl Fn(&Store) -> Result<T, StoreError>) -> Result<T, Attempt> {
        let opened = self.open_file().map_err(Attempt::Unopened)?;
        let id = opened.id;
        match work(&opened.store) {
            Ok(value) => Ok(value),
            // Another process has set the file aside meanwhile, or it was deleted.
            Err(_) if opened.folder.id() != id => {
                self.opened = None;
                Err(Attempt::Aside)
            }
            Err(StoreError::Damaged(reason)) => {
                self.opened = None;
                self.set_aside(id, &reason).map_err(Attempt::Unopened)?;
                Err(Attempt::Aside)
            }
            Err(store_error) => Err(Attempt::Failed(store_error.at(&opened.folder.file()))),
        }
    }

    /// The file that has the name at present, opened.
    fn open_file(&mut self) -> Result<&Opened, CacheError> {
        let current = self
            .opened
            .take()
            .filter(|opened| opened.id.is_some() && opened.folder.id() == opened.id);
        let opened = match current {
            Some(opened) => opened,
            None => self.open()?,
        };
        Ok(self.opened.insert(opened))
    }

    fn open(&mut self) -> Result<Opened, CacheError> {
        let folder = Folder::open(&self.folder)?;
        let path = folder.file();
        let wait = self.options.wait;
        fn error_at(path: &std::path::Path, store_error: StoreError) -> CacheError {
            store_error.at(path)
        }
        let lock = folder.lock(wait).map_err(|store_error| error_at(&path, store_error))?;
        lock.make_file().map_err(|store_error| error_at(&path, store_error))?;
        let store = match Store::open(&path, wait) {
            Err(StoreError::Damaged(reason)) => {
                self.move_aside(&lock, &reason)?;
                lock.make_file().and_then(|()| Store::open(&path, wait))
            }
            other => other,
        };
        let store = store.map_err(|store_error| error_at(&path, store_error))?;
        let id = folder.id();
        drop(lock);
        Ok(Opened { folder, store, id })
    }

    /// Sets a damaged file aside, unless another process did so before.
    fn set_aside(&mut self, id: Option<FileId>, reason: &str) -> Result<(), CacheError> {
        let folder = Folder::open(&self.folder)?;
        let lock =
            folder.lock(self.options.wait).map_err(|store_error| store_error.at(&folder.file()))?;
        if id.is_some() && folder.id() == id { self.move_aside(&lock, reason) } else { Ok(()) }
    }

    fn move_aside(&mut self, lock: &FolderLock<'_>, reason: &str) -> Result<(), CacheError> {
        if self.aside >= MOST_ASIDE {
            return Err(
                self.damage_error(format!("{reason}; {MOST_ASIDE} before it were set aside"))
            );
        }
        self.aside += 1;
        let name = lock
            .set_aside(self.options.now() / 1_000)
            .map_err(|store_error| store_error.at(&self.path()))?;
        let path = self.path().display().to_string();
        self.activity.warn(format!(
            "the cache `{path}` was damaged ({reason}); it was set aside as `{name}`"
        ));
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn damage_error(&self, reason: String) -> CacheError {
        StoreError::Damaged(reason).at(&self.path())
    }
}

impl Backend for LocalFile {
    fn claim(&mut self, key: &Key, request: Request) -> Result<Claim, CacheError> {
        match self.work(Access::Read, |store| store.lookup(key, request))? {
            Claim::Free => Ok(self
                .work(Access::Write, |store| store.take(key, request))
                .unwrap_or(Claim::Free)),
            seen => Ok(seen),
        }
    }

    fn put(&mut self, key: &Key, entry: Entry<'_>, most: u64) -> Result<(), CacheError> {
        let sweeps = self.writes.is_multiple_of(SWEEP_EVERY);
        self.writes += 1;
        self.work(Access::Write, |store| {
            if sweeps {
                store.sweep(entry.created, SWEEP_BATCHES)?;
            }
            store.put(key, entry, most)
        })
    }

    fn delete(&mut self, key: &Key) -> Result<(), CacheError> {
        self.work(Access::Write, |store| store.delete(key))
    }

    fn renew(&mut self, held: &HashSet<Key>, owner: i64, now: i64) -> Result<(), CacheError> {
        self.work(Access::Write, |store| store.renew(held, owner, now))
    }

    fn release(&mut self, key: &Key, owner: i64) -> Result<(), CacheError> {
        self.work(Access::Write, |store| store.release(key, owner))
    }

    fn entry_sizes(&mut self) -> Result<BTreeMap<Kind, Size>, CacheError> {
        self.work(Access::Read, Store::entry_sizes)
    }

    fn clear(&mut self, kind: Option<Kind>) -> Result<Size, CacheError> {
        self.work(Access::Write, |store| store.clear(kind))
    }

    /// Bytes of the file and of the engine's own files.
    fn bytes(&mut self) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.folder.bytes())
    }

    fn largest(&self, most: u64) -> u64 {
        most / LARGEST_FRACTION
    }

    fn poll_every(&self) -> Duration {
        POLL_EVERY
    }

    #[cfg(test)]
    fn local(&mut self) -> Option<&mut LocalFile> {
        Some(self)
    }
}

/// The reason why an attempt failed.
enum Attempt {
    /// The file was set aside or deleted.
    Aside,
    Unopened(CacheError),
    Failed(CacheError),
}

impl Backoff {
    fn covers(&self, access: Access) -> bool {
        Instant::now() < self.until && (access == Access::Write || self.access == Access::Read)
    }
}
