//! The file of an embedded database: where it is, and whether it changed.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;
use syrch_core::text::nearest;

/// The absolute path of a file that exists, without links.
///
/// # Errors
/// [`DatabaseError::Missing`] with similar names, and [`DatabaseError::NotADatabase`] for a folder.
pub(crate) fn locate(path: &Path, shown: &str) -> Result<PathBuf, DatabaseError> {
    let located = fs::canonicalize(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            DatabaseError::Missing { path: shown.to_owned(), similar: similar(path) }
        }
        ErrorKind::PermissionDenied => unavailable(shown, "no permission to read it"),
        _ => unavailable(shown, error.to_string()),
    })?;
    match located.is_file() {
        true => Ok(located),
        false => Err(DatabaseError::NotADatabase {
            path: shown.to_owned(),
            reason: "it is not a file".to_owned(),
        }),
    }
}

fn unavailable(shown: &str, reason: impl Into<String>) -> DatabaseError {
    DatabaseError::Unavailable { path: shown.to_owned(), reason: reason.into() }
}

/// Names in the folder of a path that nearly match its own.
fn similar(path: &Path) -> Vec<String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    let entries =
        fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.path().is_file());
    let names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    nearest(&wanted, names.iter().map(String::as_str))
}

/// The state of a database's file and of its log, which any change to the data changes. Times are
/// in nanoseconds where the file system has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<[u64; 7]>);

impl Stamp {
    /// # Errors
    /// When the file is gone.
    pub(crate) fn read(path: &Path, dialect: &Dialect) -> io::Result<Self> {
        let mut states = vec![state(&fs::metadata(path)?)];
        let mut log = OsString::from(path);
        log.push(if *dialect == Dialect::Sqlite { "-wal" } else { ".wal" });
        states.extend(fs::metadata(log).ok().as_ref().map(state));
        Ok(Self(states))
    }

    /// A digest of the state of the file at this path.
    pub(crate) fn digest(&self, path: &Path) -> String {
        let mut hasher = Sha256::new();
        hasher.update(path.as_os_str().as_encoded_bytes());
        for number in self.0.iter().flatten() {
            hasher.update(number.to_le_bytes());
        }
        syrch_core::text::hex(&hasher.finalize()[..16])
    }
}

#[cfg(unix)]
fn state(about: &Metadata) -> [u64; 7] {
    use std::os::unix::fs::MetadataExt;
    let [modified, nanos, changed, more] =
        [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()]
            .map(i64::cast_unsigned);
    [about.dev(), about.ino(), about.size(), modified, nanos, changed, more]
}

#[cfg(not(unix))]
fn state(about: &Metadata) -> [u64; 7] {
    let modified =
        about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.unwrap_or_default();
    [about.len(), modified.as_secs(), u64::from(modified.subsec_nanos()), 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_missing_and_a_folder_no_database() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("shop.duckdb"), "").unwrap();
        let missing = locate(&folder.path().join("shpo.duckdb"), "duckdb:shpo.duckdb").unwrap_err();
        let expected = DatabaseError::Missing {
            path: "duckdb:shpo.duckdb".into(),
            similar: vec!["shop.duckdb".into()],
        };
        assert_eq!(missing, expected);
        assert!(!folder.path().join("shpo.duckdb").exists());
        assert!(matches!(locate(folder.path(), "x"), Err(DatabaseError::NotADatabase { .. })));
    }

    #[test]
    fn changes_of_the_file_and_of_its_log_change_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.duckdb");
        let digest = || Stamp::read(&file, &Dialect::Duckdb).unwrap().digest(&file);
        fs::write(&file, "a").unwrap();
        let first = digest();
        assert_eq!(digest(), first);
        fs::write(folder.path().join("shop.duckdb.wal"), "b").unwrap();
        let second = digest();
        assert_ne!(second, first);
        fs::write(&file, "ab").unwrap();
        assert!(digest() != first && digest() != second);
    }
}
