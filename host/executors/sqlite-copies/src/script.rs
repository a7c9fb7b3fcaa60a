//! A private database that the statements of a script make, for cases of plugins.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use syrch_core::Limits;
use syrch_core::ports::DatabaseError;
use syrch_core::text::clip;
use syrch_sqlite::bounded::{Bounds, is_listed_function, release};
use syrch_sqlite::{SqliteConfig, SqliteDatabase, count_memory};

/// Bytes of the longest script.
pub const SCRIPT_BYTES: usize = 4 << 20;
/// Pages of the file, of 4,096 bytes each: 64 MiB.
const PAGES: u32 = 1 << 14;
/// Time for all statements.
const DEADLINE: Duration = Duration::from_secs(20);
/// Bytes of memory that the engine may take for them.
const MEMORY: usize = 256 << 20;
/// Bytes of the engine's message that an error shows, which quotes the statement.
const MESSAGE: usize = 400;
/// The name of the database in messages.
const SHOWN: &str = "the database of the script";

/// Runs a script on a new private file and opens the file as a search does, under that name. The
/// file is removed with the database. The script may be anybody's: it reaches no other file, and
/// its time, its memory and the size of the file are bounded. An empty script makes a database
/// without tables.
///
/// # Errors
/// When a statement fails, is not allowed, or takes too much.
pub fn open_script(
    script: &str,
    name: &str,
    limits: Limits,
) -> Result<SqliteDatabase, DatabaseError> {
    fn unavailable(reason: String) -> DatabaseError {
        DatabaseError::Unavailable { path: SHOWN.to_owned(), reason }
    }
    if script.len() > SCRIPT_BYTES {
        return Err(unavailable(format!("the script has more than {} MiB", SCRIPT_BYTES >> 20)));
    }
    let file = tempfile::Builder::new().prefix("syrch-").suffix(".sqlite").tempfile();
    let path = file.map_err(|error| unavailable(error.to_string()))?.into_temp_path();
    let made = run(&path, script);
    release();
    made.map_err(unavailable)?;
    let shown_as = Some(SHOWN.to_owned());
    let name = Some(name.to_owned());
    let config = SqliteConfig { shown_as, name, limits, ..SqliteConfig::new(path.to_path_buf()) };
    SqliteDatabase::open_holding(config, Box::new(path))
}

/// The error, in words.
fn run(path: &Path, script: &str) -> Result<(), String> {
    let said = |error: rusqlite::Error| clip(&error.to_string(), MESSAGE).to_owned();
    let (connection, bounds) = open(path).map_err(said)?;
    let result = connection.execute_batch(script).and_then(|()| match connection.is_autocommit() {
        true => Ok(()),
        false => connection.execute_batch("COMMIT"),
    });
    if bounds.is_over() {
        return Err(format!(
            "its statements take more than {} s or {} MiB of memory",
            DEADLINE.as_secs(),
            MEMORY >> 20
        ));
    }
    result.map_err(said)?;
    drop(bounds);
    connection.close().map_err(|(_, error)| said(error))
}

fn open(path: &Path) -> rusqlite::Result<(Connection, Bounds)> {
    count_memory();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;",
    )?;
    connection.query_row(&format!("PRAGMA max_page_count = {PAGES}"), [], |_| Ok(()))?;
    // A file without tables gets its header, too.
    connection.execute_batch("PRAGMA user_version = 1")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    let bounds = Bounds::set(&mut connection, DEADLINE, MEMORY, judge)?;
    connection.set_limit(
        Limit::SQLITE_LIMIT_SQL_LENGTH,
        i32::try_from(SCRIPT_BYTES).unwrap_or(i32::MAX),
    )?;
    connection.set_limit(Limit::SQLITE_LIMIT_COMPOUND_SELECT, 500)?;
    Ok((connection, bounds))
}

/// A script makes, fills and changes tables, views and indexes of its own file, and nothing else.
fn judge(context: &AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Pragma { .. }
        | AuthAction::CreateVtable { .. } => Authorization::Deny,
        AuthAction::Function { function_name } if !is_listed_function(function_name) => {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_case(script: &str) -> Result<SqliteDatabase, DatabaseError> {
        open_script(script, "case", Limits::default())
    }

    fn open_error(script: &str) -> String {
        open_case(script).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn scripts_make_databases_also_without_tables() {
        assert!(open_case("").is_ok());
        assert!(
            open_case(
                "BEGIN; CREATE TABLE t(a); INSERT INTO t VALUES (1), (2); DELETE FROM t \
                 WHERE a = 1;"
            )
            .is_ok()
        );
        assert!(
            open_case("CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t; DROP TABLE t").is_ok()
        );
    }

    #[test]
    fn a_script_reaches_no_other_file_and_takes_no_more_than_its_share() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other.sqlite");
        for script in [
            format!("ATTACH '{}' AS o; CREATE TABLE o.t(a)", other.display()),
            format!("CREATE TABLE t(a); VACUUM INTO '{}'", other.display()),
            "PRAGMA writable_schema = 1".to_owned(),
            "SELECT load_extension('x')".to_owned(),
        ] {
            assert!(!open_error(&script).is_empty(), "{script}");
            assert!(!other.exists());
        }
        let grows = "CREATE TABLE t(a); INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL \
                     SELECT i + 1 FROM n) SELECT printf('%1000000d', i) FROM n";
        assert!(!open_error(grows).is_empty());
        assert!(open_error(&" ".repeat(SCRIPT_BYTES + 1)).contains("4 MiB"));
        assert!(open_error("CREATE TABLE t(").contains("incomplete input"));
    }
}
