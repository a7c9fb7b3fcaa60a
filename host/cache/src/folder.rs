//! The folder that a cache lies in: the user's own, and nobody else's to write. The file is made here, and set aside here, under a
//! lock that all processes share.

use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};

use crate::error::{CacheError, Trouble};

/// The file's name.
pub(crate) const FILE: &str = "cache.sqlite";
const LOCK: &str = "cache.lock";
/// Between the name of a file that was set aside and the time.
const ASIDE: &str = "cache.sqlite.corrupt-";
/// The engine's own files beside each file; the empty one is the file itself.
const COMPANIONS: [&str; 3] = ["", "-wal", "-shm"];

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

/// An opened folder.
pub(crate) struct Folder {
    dir: Dir,
    path: PathBuf,
}

/// The right to make or move the file. The lock ends with the value.
pub(crate) struct Turn<'a> {
    folder: &'a Folder,
    _lock: std::fs::File,
}

impl Folder {
    /// Opens the folder, and makes it when it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, CacheError> {
        let refuse = |reason: String| CacheError::Folder { path: path.display().to_string(), reason };
        make(path).map_err(|error| refuse(error.to_string()))?;
        let real = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(|error| refuse(error.to_string()))?;
        let is_private = is_private(&dir).map_err(|error| refuse(error.to_string()))?;
        if !is_private {
            return Err(refuse("it is somebody else's, or others may write to it".to_owned()));
        }
        Ok(Self { dir, path: real })
    }

    /// Where the file lies.
    pub(crate) fn file(&self) -> PathBuf {
        self.path.join(FILE)
    }

    /// The file that has the name now. It is never opened here: whoever closes a file loses the locks that the engine holds on it.
    pub(crate) fn id(&self) -> Option<FileId> {
        let metadata = self.dir.symlink_metadata(FILE).ok().filter(|metadata| metadata.is_file())?;
        Some(FileId(metadata.dev(), metadata.ino()))
    }

    /// Bytes of the file and the engine's own files beside it.
    pub(crate) fn bytes(&self) -> u64 {
        let size = |suffix: &&str| self.dir.symlink_metadata(format!("{FILE}{suffix}")).ok().map(|found| found.len());
        COMPANIONS.iter().filter_map(size).sum()
    }

    /// Waits for the lock.
    pub(crate) fn turn(&self, wait: Duration) -> Result<Turn<'_>, Trouble> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600);
        let lock = self.dir.open_with(LOCK, &options).map_err(trouble)?.into_std();
        let until = Instant::now().checked_add(wait);
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Turn { folder: self, _lock: lock }),
                Err(TryLockError::Error(error)) => return Err(trouble(error)),
                Err(TryLockError::WouldBlock) if until.is_some_and(|until| Instant::now() >= until) => {
                    return Err(Trouble::Locked);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl Turn<'_> {
    /// Makes the file, empty; or sees to it that nobody else reads the one that is there.
    pub(crate) fn make_file(&self) -> Result<(), Trouble> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        match self.folder.dir.open_with(FILE, &options) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.hide();
                Ok(())
            }
            Err(error) => Err(trouble(error)),
        }
    }

    /// By name, since opening and closing it would cost the engine its locks.
    fn hide(&self) {
        for name in COMPANIONS.map(|suffix| format!("{FILE}{suffix}")) {
            let found = self.folder.dir.symlink_metadata(&name).ok();
            if found.is_some_and(|found| found.is_file() && found.mode() & 0o077 != 0) {
                let only_owner = std::fs::Permissions::from_mode(0o600);
                let _ = std::fs::set_permissions(self.folder.path.join(&name), only_owner);
            }
        }
    }

    /// Sets the file aside, with what the engine keeps beside it; what was set aside before is deleted. The new name.
    pub(crate) fn set_aside(&self, now_seconds: i64) -> Result<String, Trouble> {
        let dir = &self.folder.dir;
        for entry in dir.entries().map_err(trouble)?.flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(ASIDE)) {
                let _ = entry.remove_file();
            }
        }
        let name = format!("{ASIDE}{now_seconds}");
        for suffix in COMPANIONS {
            match dir.rename(format!("{FILE}{suffix}"), dir, format!("{name}{suffix}")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(trouble(error)),
                _ => {}
            }
        }
        Ok(name)
    }
}

fn make(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Whether the folder is this user's, and nobody else may write to it.
fn is_private(dir: &Dir) -> io::Result<bool> {
    // A file that this process makes belongs to the user that it runs as.
    static PROBES: AtomicU64 = AtomicU64::new(0);
    let probe = format!("cache.owner-{}-{}", std::process::id(), PROBES.fetch_add(1, Ordering::Relaxed));
    let made = dir.create(&probe)?.metadata();
    dir.remove_file(&probe)?;
    let (made, folder) = (made?, dir.dir_metadata()?);
    Ok(folder.uid() == made.uid() && folder.mode() & 0o022 == 0)
}

fn trouble(error: io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Trouble::Full(error.to_string()),
        _ => Trouble::Other(error.to_string()),
    }
}
