//! The way in which a file stores its changes, from its header and the files beside it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The method by which SQLite makes changes of a file atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// The content that a change replaces is saved beside the file until the change is done.
    Rollback,
    /// Changes are appended to a file beside the database and copied into it now and then.
    WriteAhead {
        /// Bytes of that file.
        bytes: u64,
    },
}

impl Journal {
    /// Reads it from a file's header: byte 18 is 2 for a write-ahead log (the SQLite file format,
    /// "file format version numbers"). A file that cannot be read has a rollback journal.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let mut head = [0; 20];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
        if read.is_err() || head[18] != 2 {
            return Self::Rollback;
        }
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Self::WriteAhead {
            bytes: std::fs::metadata(PathBuf::from(log)).map_or(0, |data| data.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_and_the_log_beside_it_are_read() {
        crate::count_memory();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        assert_eq!(Journal::read(&path), Journal::Rollback);
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t(a)").unwrap();
        assert_eq!(Journal::read(&path), Journal::Rollback);
        writer.execute_batch("PRAGMA journal_mode = WAL; INSERT INTO t VALUES (1)").unwrap();
        assert!(matches!(Journal::read(&path), Journal::WriteAhead { bytes } if bytes > 0));
    }
}
