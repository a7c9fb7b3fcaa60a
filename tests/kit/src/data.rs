//! Scratch folders, databases made from a script, and where the shared test data lie.

use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// The repository's root.
#[must_use]
pub fn repository() -> PathBuf {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    kit.ancestors().nth(2).unwrap_or(kit).to_owned()
}

#[allow(clippy::disallowed_methods, reason = "how tests are run is the test runner's to say")]
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

/// How often a test repeats what it checks: `usual` times, or `soak` times where `SYRCH_SOAK` is 1, as `make soak` sets it.
#[must_use]
pub fn scale(usual: usize, soak: usize) -> usize {
    if variable("SYRCH_SOAK").is_some_and(|value| value == "1") { soak } else { usual }
}

/// The folder of the shared test data: `SYRCH_TEST_DATA`, else `shared/data` beside the repository. If there is none, this is reported on
/// standard error and as a line of `target/skipped-tests`, which `make test` counts, so that a test that returns early does not look like
/// one that passed.
///
/// # Panics
/// If there is none and `SYRCH_REQUIRE_DATA` is 1.
#[must_use]
pub fn data_root() -> Option<PathBuf> {
    let named = variable("SYRCH_TEST_DATA").map(PathBuf::from);
    let beside = repository().parent().map(|parent| parent.join("shared/data"));
    let root = named.or(beside).filter(|root| root.is_dir());
    if root.is_none() {
        let is_required = variable("SYRCH_REQUIRE_DATA").is_some_and(|value| value == "1");
        assert!(
            !is_required,
            "no test data; set SYRCH_TEST_DATA to the folder that holds them, or unset SYRCH_REQUIRE_DATA"
        );
        let _ = skipped();
        #[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
        {
            eprintln!("skipped: no test data; set SYRCH_TEST_DATA to the folder that holds them");
        }
    }
    root
}

/// Counts a test that is skipped.
fn skipped() -> std::io::Result<()> {
    let list = repository().join("target/skipped-tests");
    let mut list = std::fs::OpenOptions::new().create(true).append(true).open(list)?;
    writeln!(list, "{}", std::thread::current().name().unwrap_or_default())
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
