//! Scratch folders, databases made from a script, and where the shared test data lie.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// The repository's root.
#[must_use]
pub fn repository() -> PathBuf {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    kit.ancestors().nth(2).unwrap_or(kit).to_owned()
}

/// The folder of the shared test data: `SYRCH_TEST_DATA`, else `shared/data` beside the repository. When there is none, says so on
/// standard error, so that a test that returns early does not look like one that passed.
#[must_use]
pub fn data_root() -> Option<PathBuf> {
    #[allow(clippy::disallowed_methods, reason = "where test data lie is the test runner's to say")]
    let named = std::env::var_os("SYRCH_TEST_DATA").map(PathBuf::from);
    let beside = repository().parent().map(|parent| parent.join("shared/data"));
    let root = named.or(beside).filter(|root| root.is_dir());
    if root.is_none() {
        #[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
        {
            eprintln!("skipped: no test data; set SYRCH_TEST_DATA to the folder that holds them");
        }
    }
    root
}

/// An empty folder that goes away when the value is dropped.
///
/// # Panics
/// When the machine gives no temporary folder.
#[must_use]
pub fn scratch() -> TempDir {
    tempfile::Builder::new().prefix("syrch-").tempdir().expect("a temporary folder can be made")
}

/// Makes a database of these statements, in place of one that is there, and gives its path back.
///
/// # Panics
/// When the path cannot be written or the script fails.
pub fn sqlite(path: impl AsRef<Path>, script: &str) -> PathBuf {
    let path = path.as_ref().to_owned();
    let _ = std::fs::remove_file(&path);
    let database = Connection::open(&path).expect("the test database can be made");
    database.execute_batch(script).unwrap_or_else(|error| panic!("the script for {} fails: {error}", path.display()));
    database.close().expect("the test database can be closed");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_made_anew_each_time() {
        let folder = scratch();
        for rows in [1, 2] {
            let path = sqlite(folder.path().join("a.sqlite"), &format!("CREATE TABLE t AS SELECT {rows} AS n"));
            let n: i64 = Connection::open(path).unwrap().query_row("SELECT n FROM t", [], |row| row.get(0)).unwrap();
            assert_eq!(n, rows);
        }
    }

    #[test]
    fn the_repository_is_found() {
        assert!(repository().join("tests/kit/Cargo.toml").is_file());
    }
}
