//! DuckDB's library, and databases made by it without a guard.

use std::path::{Path, PathBuf};

use adbc_core::options::{AdbcVersion, OptionDatabase};
use adbc_core::{Connection as _, Database as _, Driver as _, Statement as _};
use adbc_driver_manager::ManagedDriver;

/// The library that `tests/databases/install.sh` has installed; if there is none, this is counted
/// as [`crate::find_installed`] does it.
///
/// # Panics
/// If there is none and `SYRCH_REQUIRE_DATABASES` is 1.
#[must_use]
pub fn library() -> Option<PathBuf> {
    let library = crate::find_installed("adbc/libduckdb.so")?;
    Some(library.canonicalize().expect("the library has a path"))
}

/// Makes a database by statements, one after the other, or changes one.
///
/// # Panics
/// When a statement fails.
pub fn script(library: &Path, file: &Path, statements: &[&str]) {
    const WORKS: &str = "DuckDB works";
    let entry = Some(b"duckdb_adbc_init".as_slice());
    let mut driver =
        ManagedDriver::load_dynamic_from_filename(library, entry, AdbcVersion::V110).expect(WORKS);
    let options =
        [(OptionDatabase::from("path"), file.to_str().expect("paths of tests are UTF-8").into())];
    let mut connection =
        driver.new_database_with_opts(options).expect(WORKS).new_connection().expect(WORKS);
    for sql in statements {
        let mut statement = connection.new_statement().expect(WORKS);
        statement.set_sql_query(sql).expect(WORKS);
        statement.execute_update().unwrap_or_else(|error| panic!("`{sql}`: {error}"));
    }
}
