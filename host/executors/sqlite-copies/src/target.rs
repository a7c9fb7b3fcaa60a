//! Writing: a new file that gets its name only when it is whole.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi, params_from_iter};
use syrch_core::Dialect;
use syrch_sqlite::bounded::{Bounds, COLUMNS, error_code, is_listed_function};
use syrch_sqlite::count_memory;

use crate::VariantError;
use crate::source::{Declaration, Sampled};

/// Pages of the file, of 4,096 bytes each: half a GiB.
const PAGES: u32 = 1 << 17;
/// Bytes of a statement: those of our own that insert have a name and a place for each column.
const SQL_BYTES: i32 = 1 << 20;

/// The file under construction.
pub(crate) struct Target {
    path: PathBuf,
    /// The path of the file until it is whole.
    part: PathBuf,
    connection: Connection,
    bounds: Bounds,
}

impl Target {
    /// Makes the file. The time counts from now: whoever made the database wrote the conditions,
    /// generated columns and indexes that run here.
    pub(crate) fn create(
        path: &Path,
        deadline: Duration,
        memory: usize,
    ) -> Result<Self, VariantError> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let part = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        for file in [path, &part] {
            if fs::symlink_metadata(file).is_ok() {
                return Err(VariantError::Exists { path: file.to_owned() });
            }
        }
        let made = OpenOptions::new().write(true).create_new(true).open(&part);
        made.map_err(|source| VariantError::Make { path: path.to_owned(), source })?;
        match open(&part, PAGES, deadline, memory) {
            Ok((connection, bounds)) => {
                Ok(Self { path: path.to_owned(), part, connection, bounds })
            }
            Err(source) => {
                drop(fs::remove_file(&part));
                Err(VariantError::Write { path: path.to_owned(), source })
            }
        }
    }

    fn write_error(&self, source: rusqlite::Error) -> VariantError {
        // The authorizer denies everything once the time is over.
        let source = if self.bounds.is_over() { interrupt_error() } else { source };
        VariantError::Write { path: self.path.clone(), source }
    }

    /// Makes the tables, and the unique indexes. The names of those that the engine does not take.
    pub(crate) fn make_tables(
        &self,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, VariantError> {
        self.connection.execute_batch("BEGIN").map_err(|error| self.write_error(error))?;
        self.declare(declarations.iter().filter(|declaration: &&Declaration| {
            declaration.kind == "table" || is_unique(declaration)
        }))
    }

    /// Makes everything else: indexes and views, which nobody looks into here.
    pub(crate) fn make_others(
        &self,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, VariantError> {
        let skipped = self.declare(declarations.iter().filter(|declaration: &&Declaration| {
            declaration.kind != "table" && !is_unique(declaration)
        }))?;
        self.connection.execute_batch("COMMIT").map_err(|error| self.write_error(error))?;
        Ok(skipped)
    }

    /// Declarations come from the file's own text, which may have been tampered with: only the
    /// first statement of each is compiled, and the authorizer lets it make nothing but what it
    /// declares.
    fn declare<'a>(
        &self,
        declarations: impl Iterator<Item = &'a Declaration>,
    ) -> Result<Vec<String>, VariantError> {
        let mut skipped = Vec::new();
        for Declaration { name, sql, .. } in declarations {
            match self.connection.execute(sql, []) {
                Ok(_) => {}
                // It ended half way, and without a journal nothing of it is taken back.
                Err(error) if self.bounds.is_over() || is_bound(&error) => {
                    return Err(self.write_error(error));
                }
                Err(_) => skipped.push(name.clone()),
            }
        }
        Ok(skipped)
    }

    /// Inserts the rows of a table; for each, whether the schema took it.
    pub(crate) fn insert(&self, table: &Sampled) -> Result<Vec<bool>, VariantError> {
        let names = table
            .columns
            .iter()
            .map(|name| Dialect::Sqlite.quote(name))
            .collect::<Vec<_>>()
            .join(", ");
        let places = vec!["?"; table.columns.len()].join(", ");
        let sql = format!(
            "INSERT OR IGNORE INTO {} ({names}) VALUES ({places})",
            Dialect::Sqlite.quote(&table.name)
        );
        if table.rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement =
            self.connection.prepare(&sql).map_err(|error| self.write_error(error))?;
        let mut insert = |row| match statement.execute(params_from_iter(row)) {
            // One row takes fewer steps than the engine makes between two checks of the deadline.
            Ok(_) if self.bounds.is_over() => Err(self.write_error(interrupt_error())),
            Ok(count) => Ok(count > 0),
            // What IGNORE does not cover, such as the types of a strict table.
            Err(error) if error_code(&error) == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                Ok(false)
            }
            Err(error) => Err(self.write_error(error)),
        };
        table.rows.iter().map(|row| insert(row.iter())).collect()
    }

    /// Closes the file and gives it its name.
    pub(crate) fn finish(self) -> Result<(), VariantError> {
        let Self { path, part, connection, .. } = self;
        let closed = connection
            .close()
            .map_err(|(_, source)| VariantError::Write { path: path.clone(), source });
        // A link, unlike a new name, never replaces a file.
        let named = closed.and_then(|()| {
            fs::hard_link(&part, &path).map_err(|source| match source.kind() {
                ErrorKind::AlreadyExists => VariantError::Exists { path: path.clone() },
                _ => VariantError::Make { path: path.clone(), source },
            })
        });
        drop(fs::remove_file(&part));
        named
    }

    /// Takes it away again.
    pub(crate) fn discard(self) {
        drop(self.connection.close());
        drop(fs::remove_file(&self.part));
    }
}

fn is_unique(declaration: &Declaration) -> bool {
    let mut words = declaration.sql.split_whitespace().skip(1);
    declaration.kind == "index"
        && words.next().is_some_and(|word| word.eq_ignore_ascii_case("unique"))
}

/// The error of work that is ended from outside.
fn interrupt_error() -> rusqlite::Error {
    let reason = "it takes too much time or memory".to_owned();
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), Some(reason))
}

/// Returns true if a statement grew over a bound while it ran.
fn is_bound(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DiskFull, OperationInterrupted, OutOfMemory, TooBig};
    matches!(error_code(error), Some(DiskFull | OperationInterrupted | OutOfMemory | TooBig))
}

/// Opens the file with the bounds that any statement has, and with those of time and size.
fn open(
    part: &Path,
    pages: u32,
    deadline: Duration,
    memory: usize,
) -> rusqlite::Result<(Connection, Bounds)> {
    count_memory();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection =
        Connection::open_with_flags(fs::canonicalize(part).as_deref().unwrap_or(part), flags)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA \
         temp_store = MEMORY;",
    )?;
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    let bounds = Bounds::set(&mut connection, deadline, memory, judge)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_VARIABLE_NUMBER, COLUMNS)?;
    Ok((connection, bounds))
}

/// Allows what a declaration and the statements here need, and nothing else.
fn judge(context: &AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Pragma { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateVtable { .. }
        | AuthAction::DropTable { .. }
        | AuthAction::Delete { .. } => Authorization::Deny,
        AuthAction::Function { function_name } if !is_listed_function(function_name) => {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_does_not_grow_over_its_pages() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("part");
        fs::write(&part, []).unwrap();
        let (connection, _bounds) =
            open(&part, 16, Duration::from_secs(3_600), usize::MAX).unwrap();
        connection.execute_batch("CREATE TABLE t(a)").unwrap();
        connection.execute("INSERT INTO t VALUES (zeroblob(20000))", []).unwrap();
        let error = connection.execute("INSERT INTO t VALUES (zeroblob(100000))", []).unwrap_err();
        assert!(
            is_bound(&error) && error.sqlite_error_code() == Some(ErrorCode::DiskFull),
            "{error}"
        );
    }
}
