//! The file: lines that are appended whole, in mode 0600, by one process at a time. A line that was written survives the end of the
//! process, however it comes; only a failing machine can lose what the system has not yet put on disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::read::Journal;
use crate::record::{Header, Record};

/// Bytes of one journal at most, whatever a plugin does; then it ends, and says so.
const MOST: u64 = 512 << 20;

/// Bytes of one line at most: the rows of an answer of the greatest size as JSON.
pub(crate) const LINE: u64 = 256 << 20;

/// How often a lock that somebody else holds is tried again, and after how long.
pub(crate) const LOOKS: u32 = 20;
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// Why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file or its folder.
    #[error("the journal `{path}`: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no journal, or a damaged one.
    #[error("the journal `{path}`, line {line}: {reason}")]
    Malformed {
        /// Which.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Another version of the format.
    #[error("the journal `{path}` has version {found} of the format; this host reads version {known}")]
    Version {
        /// Which.
        path: PathBuf,
        /// What it has.
        found: u64,
        /// What this host knows.
        known: u32,
    },
    /// A process still writes it.
    #[error("the journal `{path}` is being written: its run is still going on")]
    Busy {
        /// Which.
        path: PathBuf,
    },
    /// No run has that id.
    #[error("there is no run `{run}`")]
    Unknown {
        /// What was asked for.
        run: String,
        /// Ids that nearly match.
        similar: Vec<String>,
    },
    /// Several runs have ids that begin so.
    #[error("several runs begin with `{run}`: {}", matches.join(", "))]
    Several {
        /// What was asked for.
        run: String,
        /// Which.
        matches: Vec<String>,
    },
}

impl JournalError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// Appends to one journal, which it holds locked.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Bytes that may still be written.
    left: u64,
    /// Why nothing is written any more.
    broken: Option<String>,
}

impl Writer {
    /// Begins a new journal.
    ///
    /// # Errors
    /// When the file is there already or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let fail = |error| JournalError::io(path, error);
        // A journal appears with its header: what is killed before leaves none.
        let part = path.with_extension("part");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        private(&mut options);
        let file = options.open(&part).map_err(fail)?;
        let mut writer = Self::locked(file, path)?;
        let mut line = serde_json::to_vec(header).map_err(|error| fail(error.into()))?;
        line.push(b'\n');
        let written = writer.file.write_all(&line).and_then(|()| std::fs::hard_link(&part, path));
        let removed = std::fs::remove_file(&part);
        written.and(removed).map_err(fail)?;
        writer.left = writer.left.saturating_sub(line.len() as u64);
        Ok(writer)
    }

    /// Goes on with a journal: a last line that was cut off is removed. The journal is read under the lock, so nobody else adds to it.
    ///
    /// # Errors
    /// When it cannot be read or written, is no journal, or another process writes it.
    pub fn resume(path: &Path) -> Result<(Self, Journal), JournalError> {
        let file =
            OpenOptions::new().read(true).write(true).open(path).map_err(|error| JournalError::io(path, error))?;
        let mut writer = Self::locked(file, path)?;
        let journal = Journal::read(path)?;
        let fail = |error| JournalError::io(path, error);
        writer.file.set_len(journal.whole_bytes).map_err(fail)?;
        writer.file.seek(SeekFrom::End(0)).map_err(fail)?;
        Ok((writer, journal))
    }

    fn locked(file: File, path: &Path) -> Result<Self, JournalError> {
        // Whoever only looks whether a run still goes on holds the lock for a moment.
        for _ in 0..LOOKS {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file, path: path.to_owned(), left: MOST, broken: None }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
                Err(TryLockError::Error(error)) => return Err(JournalError::io(path, error)),
            }
        }
        Err(JournalError::Busy { path: path.to_owned() })
    }

    /// Appends one record. When that fails (a full disk, too many bytes), the journal ends there and the run goes on; [`Writer::broken`] says so.
    pub(crate) fn append(&mut self, record: &Record) {
        if self.broken.is_some() {
            return;
        }
        let written = serde_json::to_vec(record).map_err(std::io::Error::from).and_then(|mut line| {
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
            self.broken = Some(format!("the journal `{}` is incomplete: {error}", self.path.display()));
        }
    }

    /// Why the journal is incomplete, if it is.
    #[must_use]
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(unix)]
pub(crate) fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
pub(crate) fn private(_: &mut OpenOptions) {}
