//! Temporary folders, databases made from a script, and the shared test data.

use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// The root folder of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    kit.ancestors().nth(2).unwrap_or(kit).to_owned()
}

#[allow(clippy::disallowed_methods, reason = "the environment configures how tests run")]
pub(crate) fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

/// Returns the number of times that a test repeats what it checks: `usual`, or `soak` where
/// `SYRCH_SOAK` is 1, as `make soak` sets it.
#[must_use]
pub fn scale(usual: usize, soak: usize) -> usize {
    if variable("SYRCH_SOAK").is_some_and(|value| value == "1") { soak } else { usual }
}

/// The folder of the shared test data: `SYRCH_TEST_DATA`, else `shared/data` beside the repository.
/// If there is none, this is reported and counted as [`skip`] does it, so that a test that returns
/// early does not look like one that passed.
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
            "no test data; set SYRCH_TEST_DATA to the folder that holds them, or unset \
             SYRCH_REQUIRE_DATA"
        );
        skip("there are no shared test data: SYRCH_TEST_DATA names their folder");
    }
    root
}

/// A file that `tests/databases/install.sh` has put into its folder, which `SYRCH_TEST_DATABASES`
/// names, else `target/databases`. If there is none, this is reported and counted as [`skip`] does
/// it.
///
/// # Panics
/// If there is none and `SYRCH_REQUIRE_DATABASES` is 1.
#[must_use]
pub fn find_installed(name: &str) -> Option<PathBuf> {
    let folder = variable("SYRCH_TEST_DATABASES").map(PathBuf::from);
    let file = folder.unwrap_or_else(|| repository().join("target/databases")).join(name);
    if file.exists() {
        return Some(file);
    }
    let is_required = variable("SYRCH_REQUIRE_DATABASES").is_some_and(|value| value == "1");
    assert!(!is_required, "there is no `{}`: run tests/databases/install.sh", file.display());
    let (engine, _) = name.split_once('/').unwrap_or((name, ""));
    skip(&format!("there is no `{engine}`: `sh tests/databases/install.sh` installs it"));
    None
}

/// The folder of the MCP clients that `tests/mcp/install.sh` installs, which `SYRCH_TEST_MCP`
/// names, else `target/mcp`. If they are not there, this is reported and counted as [`skip`] does
/// it.
///
/// # Panics
/// If they are not there and `SYRCH_REQUIRE_MCP` is 1.
#[must_use]
pub fn find_mcp_clients() -> Option<PathBuf> {
    let folder = variable("SYRCH_TEST_MCP").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| repository().join("target/mcp"));
    if folder.join("installed").exists() {
        return Some(folder);
    }
    let is_required = variable("SYRCH_REQUIRE_MCP").is_some_and(|value| value == "1");
    assert!(!is_required, "there are no MCP clients: run tests/mcp/install.sh");
    skip("there are no MCP clients of others: `make test-mcp` installs and runs them");
    None
}

/// The SHA-256 of a file in hexadecimal digits.
///
/// # Panics
/// When the file cannot be read.
#[must_use]
pub fn sha256(path: &Path) -> String {
    use sha2::Digest;
    let content = std::fs::read(path).expect("the file can be read");
    sha2::Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reports that a test returns early for want of something, and counts it: the reason, which names
/// what is missing and how to get it, and the test are a line of `target/skipped-tests`, from which
/// `make test` makes its last lines.
pub fn skip(reason: &str) {
    #[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
    {
        eprintln!("skipped: {reason}");
    }
    let list = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(repository().join("target/skipped-tests"));
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // One write, since tests of other processes add their lines at the same time.
    let _ = list.and_then(|mut list| list.write_all(format!("{reason}\t{test}\n").as_bytes()));
}

/// Returns true if a program can be started here. One that cannot is reported and counted as
/// [`skip`] does it.
#[must_use]
pub fn has_program(name: &str, how_to_get_it: &str) -> bool {
    let started = std::process::Command::new(name).arg("--version").output();
    let is_there = !started.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    if !is_there {
        skip(&format!("there is no `{name}`: {how_to_get_it}"));
    }
    is_there
}

/// An empty folder that is removed when the value is dropped.
///
/// # Panics
/// When the machine gives no temporary folder.
///
/// # Panics
/// When the machine gives no temporary folder.
#[must_use]
pub fn scratch() -> TempDir {
    tempfile::Builder::new().prefix("syrch-").tempdir().expect("a temporary folder can be made")
}

/// Creates a database from these statements, replacing one that exists, and returns its path.
///
/// # Panics
/// When the path cannot be written or the script fails.
///
/// # Panics
/// When the path cannot be written or the script fails.
pub fn sqlite(path: impl AsRef<Path>, script: &str) -> PathBuf {
    let path = path.as_ref().to_owned();
    let _ = std::fs::remove_file(&path);
    let database = Connection::open(&path).expect("the test database can be made");
    database
        .execute_batch(script)
        .unwrap_or_else(|error| panic!("the script for {} fails: {error}", path.display()));
    database.close().expect("the test database can be closed");
    path
}

/// A small shop with three tables, made once in that folder.
pub fn shop(folder: &Path) -> PathBuf {
    let path = folder.join("shop.sqlite");
    if path.exists() {
        return path;
    }
    sqlite(
        path,
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
         CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT, price REAL);
         CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id),
                             product_id INTEGER REFERENCES products(id), quantity INTEGER, \
                               ordered TEXT);
         INSERT INTO customers \
           VALUES (1,'Ada','France'),(2,'Ben','Spain'),(3,'Cleo','France'),(4,'Dora','Italy');
         INSERT INTO products VALUES (1,'lamp',20.0),(2,'desk',150.0),(3,'chair',75.5);
         INSERT INTO orders \
           VALUES (1,1,1,2,'2024-01-05'),(2,1,2,1,'2024-02-11'),(3,2,3,4,'2024-02-20'),(4,3,1,1,\
           '2024-03-02');",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_made_anew_each_time() {
        let folder = scratch();
        for rows in [1, 2] {
            let path = sqlite(
                folder.path().join("a.sqlite"),
                &format!("CREATE TABLE t AS SELECT {rows} AS n"),
            );
            let n: i64 = Connection::open(path)
                .unwrap()
                .query_row("SELECT n FROM t", [], |row| row.get(0))
                .unwrap();
            assert_eq!(n, rows);
        }
    }

    #[test]
    fn the_repository_is_found() {
        assert!(repository().join("tests/kit/Cargo.toml").is_file());
    }
}
