//! The journal's file: lines that are appended whole, in mode 0600, by one process at a time. A
//! line that was written survives the end of the process, however it ends; only a failing machine
//! can lose what the system has not yet put on disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use syrch_core::text::clip;

use crate::read::Journal;
use crate::record::{Header, Record};

/// The most bytes of one journal, whatever a plugin does; then the journal ends with a warning.
const MOST: u64 = 512 << 20;

/// The most bytes of one line: the rows of a result of the greatest size as JSON.
pub(crate) const LINE: u64 = 256 << 20;

/// The number of tries of a lock that another process holds.
pub(crate) const LOCK_TRIES: u32 = 20;
/// The time between two of these tries.
pub(crate) const LOCK_WAIT: Duration = Duration::from_millis(5);

/// The reason why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file or its folder cannot be accessed.
    #[error("the journal `{path}`: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a journal, or is damaged.
    #[error("the journal `{path}`, line {line}: {reason}")]
    Malformed {
        /// The path of the journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error in the line.
        reason: String,
    },
    /// The journal has a version of the format that this host does not read.
    #[error(
        "the journal `{path}` has version {found} of the format; this host reads version {known}"
    )]
    Version {
        /// The path of the journal.
        path: PathBuf,
        /// The version that the journal's header names.
        found: u64,
        /// The version that this host writes.
        known: u32,
    },
    /// Another process writes the journal.
    #[error("the journal `{path}` is being written: its run is in progress")]
    Busy {
        /// The path of the journal.
        path: PathBuf,
    },
    /// There is no run of that id.
    #[error("there is no run `{run}`")]
    Unknown {
        /// The id that was given.
        run: String,
        /// Ids that nearly match.
        similar: Vec<String>,
    },
    /// The ids of several runs begin with the given one.
    #[error("several runs begin with `{run}`: {}", matches.join(", "))]
    Several {
        /// The beginning that was given.
        run: String,
        /// The ids that begin with it.
        matches: Vec<String>,
    },
}

/// Bytes of the reason why a line is damaged, at most.
const REASON: usize = 500;

/// The reason why a line is damaged: an error of JSON quotes what it found, which may be all of it.
pub(crate) fn explain_json(error: &serde_json::Error) -> String {
    clip(&error.to_string(), REASON).to_owned()
}

impl JournalError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// The writer of one journal, whose file it locks.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Bytes that may still be written.
    left: u64,
    /// The reason why nothing is written any more.
    broken: Option<String>,
}

/// Removes a journal that no process writes. The lock is held until it is removed, so no process
/// resumes it meanwhile.
pub(crate) fn remove(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok() && std::fs::remove_file(path).is_ok())
}

/// Returns whether the path names the open file. Where files have no numbers, it names one.
fn is_named(file: &File, path: &Path) -> bool {
    let (Ok(opened), Ok(named)) = (file.metadata(), path.symlink_metadata()) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (opened.dev(), opened.ino()) == (named.dev(), named.ino())
    }
    #[cfg(not(unix))]
    {
        opened.len() == named.len()
    }
}

impl Writer {
    /// Creates a new journal with its header.
    ///
    /// # Errors
    /// When the file exists already or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        // The file appears with its header, so a process that is killed before leaves no journal.
        let part = path.with_extension("part");
        // One that a killed process left would keep its run from being begun again. The journal
        // may be there already under its own name, so that nothing is written into this one.
        remove(&part);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        syrch_files::private(&mut options);
        let file = options.open(&part).map_err(|error| JournalError::io(path, error))?;
        let mut writer = Self::lock_file(file, path)?;
        // Another process that begins the same run may have removed it before it was locked.
        if !is_named(&writer.file, &part) {
            return Err(JournalError::Busy { path: path.to_owned() });
        }
        let mut line =
            serde_json::to_vec(header).map_err(|error| JournalError::io(path, error.into()))?;
        line.push(b'\n');
        let written = writer.file.write_all(&line).and_then(|()| std::fs::hard_link(&part, path));
        let removed = std::fs::remove_file(&part);
        written.and(removed).map_err(|error| JournalError::io(path, error))?;
        writer.left = writer.left.saturating_sub(line.len() as u64);
        Ok(writer)
    }

    /// Opens a journal to continue it; a last line that was cut off is removed. The journal is read
    /// under the lock, so no other process adds to it.
    ///
    /// # Errors
    /// When it cannot be read or written, is not a journal, or another process writes it.
    pub fn resume(path: &Path) -> Result<(Self, Journal), JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| JournalError::io(path, error))?;
        let mut writer = Self::lock_file(file, path)?;
        let journal = Journal::read(path)?;
        writer.file.set_len(journal.whole_bytes).map_err(|error| JournalError::io(path, error))?;
        writer.file.seek(SeekFrom::End(0)).map_err(|error| JournalError::io(path, error))?;
        Ok((writer, journal))
    }

    fn lock_file(file: File, path: &Path) -> Result<Self, JournalError> {
        // A process that only checks whether the run is in progress holds the lock for a moment.
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(Self { file, path: path.to_owned(), left: MOST, broken: None });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
                Err(TryLockError::Error(error)) => return Err(JournalError::io(path, error)),
            }
        }
        Err(JournalError::Busy { path: path.to_owned() })
    }

    /// Appends one record. When that fails (a full disk, too many bytes), the journal ends there
    /// and the run continues; [`Writer::broken`] returns the reason.
    pub(crate) fn append(&mut self, record: &Record) {
        if self.broken.is_some() {
            return;
        }
        let written =
            serde_json::to_vec(record).map_err(std::io::Error::from).and_then(|mut line| {
                line.push(b'\n');
                let bytes = line.len() as u64;
                if bytes > LINE || bytes > self.left {
                    return Err(std::io::Error::other(format!(
                        "it would grow over {MOST} bytes, or a line of it over {LINE}"
                    )));
                }
                self.left -= bytes;
                self.file.write_all(&line)
            });
        if let Err(error) = written {
            self.broken =
                Some(format!("the journal `{}` is incomplete: {error}", self.path.display()));
        }
    }

    /// Returns the reason why the journal is incomplete; `None` when it is complete.
    #[must_use]
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_replaced_is_not_the_one_of_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.part");
        let file = File::create(&path).unwrap();
        assert!(is_named(&file, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_named(&file, &path));
        File::create(&path).unwrap();
        assert!(!is_named(&file, &path));
    }
}
