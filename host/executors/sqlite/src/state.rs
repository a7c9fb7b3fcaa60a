//! The state of the file as the file system reports it: which file it is, how it must be opened,
//! and an identity for caches.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use syrch_core::ports::DatabaseError;

use crate::config::SqliteConfig;

/// The state of a file: equal as long as connections to the file stay good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileState {
    device: u64,
    inode: u64,
    /// The time of the last change, the size and the header's counter of changes of a file in WAL
    /// mode that nobody uses; `None` for any other file.
    at_rest: Option<(i64, i64, u64, u32)>,
}

impl FileState {
    /// The state now.
    ///
    /// # Errors
    /// When the file is gone or cannot be read, or when its log needs what only a writer may do.
    pub(crate) fn read(path: &Path, config: &SqliteConfig) -> Result<Self, DatabaseError> {
        let metadata = metadata(path, config)?;
        let head = head(path, config)?;
        // Byte 18 is 2 in WAL mode, bytes 24 to 27 count changes.
        let is_wal = head.get(18) == Some(&2);
        let log = std::fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.size() > 0);
        if is_wal && log && !with_suffix(path, "-shm").is_file() {
            return Err(config.unavailable(
                "it is in WAL mode and has a log (-wal) without the index (-shm) that reading it \
                 needs; open it once with a program that may write to it, or copy all of its files \
                 while nobody uses it",
            ));
        }
        let changes =
            head.get(24..28).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes);
        let at_rest = (is_wal && !log)
            .then(|| (metadata.mtime(), metadata.mtime_nsec(), metadata.size(), changes));
        Ok(Self { device: metadata.dev(), inode: metadata.ino(), at_rest })
    }

    /// Returns true if it is in WAL mode, and nobody uses it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.at_rest.is_some()
    }
}

/// The times of the last changes, and the size. Where they are others and the engine's counters are
/// not, the file was written over by something else than an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    changed: (i64, i64),
    size: u64,
}

impl Stamp {
    /// The stamp now.
    ///
    /// # Errors
    /// When the file is gone or cannot be read.
    pub(crate) fn read(path: &Path, config: &SqliteConfig) -> Result<Self, DatabaseError> {
        let metadata = metadata(path, config)?;
        Ok(Self {
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
        })
    }
}

fn metadata(path: &Path, config: &SqliteConfig) -> Result<Metadata, DatabaseError> {
    std::fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            DatabaseError::Missing { path: config.display_name(), similar: Vec::new() }
        }
        _ => config.unavailable(error.to_string()),
    })
}

/// Bytes of a database's header.
const HEAD: usize = 100;

/// Files whose descriptor stays open at most.
const MOST_HELD: usize = 256;

/// The files whose header was read, by device and inode. They stay open: by POSIX, closing any
/// descriptor of a file gives up all locks that the process has on it, also those of the engine in
/// the middle of a statement (see "How To Corrupt An SQLite Database File", 2.2).
static HELD: Mutex<Vec<(u64, u64, File)>> = Mutex::new(Vec::new());

fn head(path: &Path, config: &SqliteConfig) -> Result<Vec<u8>, DatabaseError> {
    let data = metadata(path, config)?;
    read_head(path, &data).map_err(|error| config.unavailable(error.to_string()))
}

fn read_head(path: &Path, data: &Metadata) -> std::io::Result<Vec<u8>> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    // Of a file that was removed nobody needs the locks.
    held.retain(|(.., file)| file.metadata().is_ok_and(|data| data.nlink() > 0));
    let wanted = (data.dev(), data.ino());
    if let Some((.., file)) = held.iter().find(|(device, inode, _)| (*device, *inode) == wanted) {
        return first_bytes(file);
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    let head = first_bytes(&file)?;
    if held.len() < MOST_HELD {
        held.push((opened.dev(), opened.ino(), file));
    }
    Ok(head)
}

fn first_bytes(file: &File) -> std::io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD];
    let mut read = 0;
    while read < HEAD {
        match file.read_at(&mut head[read..], read as u64)? {
            0 => break,
            bytes => read += bytes,
        }
    }
    head.truncate(read);
    Ok(head)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A digest that changes whenever the content may have changed, equal in every process: path, file,
/// size, time, and the counters of the header; and the log beside it, where commits in WAL mode go
/// first.
pub(crate) fn identity(path: &Path, config: &SqliteConfig) -> Result<String, DatabaseError> {
    let mut hasher = Sha256::new();
    hasher.update(path.as_os_str().as_encoded_bytes());
    let mut add = |metadata: &Metadata| {
        for number in [metadata.dev(), metadata.ino(), metadata.size()] {
            hasher.update(number.to_le_bytes());
        }
        hasher.update(metadata.mtime().to_le_bytes());
        hasher.update(metadata.mtime_nsec().to_le_bytes());
        // The time of a change can be set back, that of the entry cannot.
        hasher.update(metadata.ctime().to_le_bytes());
        hasher.update(metadata.ctime_nsec().to_le_bytes());
    };
    add(&metadata(path, config)?);
    if let Some(log) =
        std::fs::metadata(with_suffix(path, "-wal")).ok().filter(|log| log.size() > 0)
    {
        add(&log);
    }
    hasher.update(head(path, config)?);
    Ok(syrch_core::text::hex(&hasher.finalize()[..16]))
}
