//! The folder of a cache, which must be the user's own and writable for nobody else. The file is
//! made and set aside here, under a lock that all processes share.

use std::fs::TryLockError;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use syrch_files::{FILE_MODE, OTHERS, OTHERS_WRITE, make_folder};

use crate::error::{CacheError, StoreError};

pub(crate) const FILE: &str = "cache.sqlite";
const LOCK: &str = "cache.lock";
/// The name of a file that was set aside, without the time at its end.
const ASIDE: &str = "cache.sqlite.corrupt-";
/// The suffixes of the names of the file itself and of the engine's own files.
const COMPANIONS: [&str; 3] = ["", "-wal", "-shm"];

/// The identity of a file, whatever its name: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

/// The folder of the cache, which only this user can write to.
pub(crate) struct Folder {
    dir: Dir,
    path: PathBuf,
}

/// The right to make or move the file. Dropping it releases the lock.
pub(crate) struct FolderLock<'a> {
    folder: &'a Folder,
    _lock: std::fs::File,
}

impl Folder {
    /// Opens the folder, and makes it when it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, CacheError> {
        let (dir, real) = open_private(path)?;
        Ok(Self { dir, path: real })
    }

    /// The path of the file.
    pub(crate) fn file(&self) -> PathBuf {
        self.path.join(FILE)
    }

    /// The file that has the name at present. It is never opened here: closing a file releases the
    /// locks that the engine of this process holds on it.
    pub(crate) fn id(&self) -> Option<FileId> {
        let metadata =
            self.dir.symlink_metadata(FILE).ok().filter(|metadata| metadata.is_file())?;
        Some(FileId(metadata.dev(), metadata.ino()))
    }

    /// Bytes of the file and the engine's own files beside it.
    pub(crate) fn bytes(&self) -> u64 {
        COMPANIONS
            .iter()
            .filter_map(|suffix: &&str| {
                self.dir.symlink_metadata(format!("{FILE}{suffix}")).ok().map(|found| found.len())
            })
            .sum()
    }

    /// Takes the lock; waits for it at most so long.
    pub(crate) fn lock(&self, wait: Duration) -> Result<FolderLock<'_>, StoreError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(FILE_MODE);
        let lock = self.dir.open_with(LOCK, &options).map_err(store_error)?.into_std();
        let until = Instant::now().checked_add(wait);
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(FolderLock { folder: self, _lock: lock }),
                Err(TryLockError::Error(error)) => return Err(store_error(error)),
                Err(TryLockError::WouldBlock)
                    if until.is_some_and(|until| Instant::now() >= until) =>
                {
                    return Err(StoreError::Locked);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl FolderLock<'_> {
    /// Makes an empty file, or makes an existing one private.
    pub(crate) fn make_file(&self) -> Result<(), StoreError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(FILE_MODE);
        match self.folder.dir.open_with(FILE, &options) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.make_private();
                Ok(())
            }
            Err(error) => Err(store_error(error)),
        }
    }

    /// Makes the files private, by name, since closing a file releases the locks that the engine
    /// holds on it.
    fn make_private(&self) {
        for name in COMPANIONS.map(|suffix| format!("{FILE}{suffix}")) {
            let found = self.folder.dir.symlink_metadata(&name).ok();
            if found.is_some_and(|found| found.is_file() && found.mode() & OTHERS != 0) {
                let only_owner = std::fs::Permissions::from_mode(FILE_MODE);
                let _ = std::fs::set_permissions(self.folder.path.join(&name), only_owner);
            }
        }
    }

    /// Renames the file and the engine's own files, deletes those that were set aside before, and
    /// returns the new name.
    pub(crate) fn set_aside(&self, now_seconds: i64) -> Result<String, StoreError> {
        let dir = &self.folder.dir;
        for entry in dir.entries().map_err(store_error)?.flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(ASIDE)) {
                let _ = entry.remove_file();
            }
        }
        let name = format!("{ASIDE}{now_seconds}");
        for suffix in COMPANIONS {
            match dir.rename(format!("{FILE}{suffix}"), dir, format!("{name}{suffix}")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(store_error(error));
                }
                _ => {}
            }
        }
        Ok(name)
    }
}

/// Opens a folder, and makes it when it is not there. It must be this user's, and nobody else may
/// write to it. Returns its path without symbolic links, too.
pub(crate) fn open_private(path: &Path) -> Result<(Dir, PathBuf), CacheError> {
    fn folder_error(path: &Path, reason: String) -> CacheError {
        CacheError::Folder { path: path.display().to_string(), reason }
    }
    make_folder(path).map_err(|error| folder_error(path, error.to_string()))?;
    let real = path.canonicalize().map_err(|error| folder_error(path, error.to_string()))?;
    let dir = Dir::open_ambient_dir(&real, ambient_authority())
        .map_err(|error| folder_error(path, error.to_string()))?;
    let is_private = is_private(&dir).map_err(|error| folder_error(path, error.to_string()))?;
    if !is_private {
        return Err(folder_error(
            path,
            "another user owns it, or others may write to it".to_owned(),
        ));
    }
    Ok((dir, real))
}

/// Returns whether the folder is this user's, and nobody else may write to it. The owner of a new
/// file is compared, since file systems over a network may store another owner than the process's
/// user.
pub(crate) fn is_private(dir: &Dir) -> io::Result<bool> {
    static PROBES: AtomicU64 = AtomicU64::new(0);
    // Processes of several hosts may have the same id.
    let random = RandomState::new().hash_one(std::process::id());
    let probe = format!("cache.owner-{random:016x}-{}", PROBES.fetch_add(1, Ordering::Relaxed));
    let made = dir.create(&probe)?.metadata();
    dir.remove_file(&probe)?;
    let made = made?;
    let folder = dir.dir_metadata()?;
    Ok(folder.uid() == made.uid() && folder.mode() & OTHERS_WRITE == 0)
}

fn store_error(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::Full(error.to_string())
        }
        _ => StoreError::Other(error.to_string()),
    }
}
