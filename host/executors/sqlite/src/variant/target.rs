//! Writing: a new file that gets its name only when it is whole.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::VariantError;
use super::source::{Declaration, Sampled};
use crate::connect::quoted;

/// The file under construction.
pub(super) struct Target {
    path: PathBuf,
    /// What it is called until it is whole.
    part: PathBuf,
    connection: Connection,
}

impl Target {
    pub(super) fn create(path: &Path) -> Result<Self, VariantError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let part = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        for file in [path, &part] {
            if fs::symlink_metadata(file).is_ok() {
                return Err(VariantError::Exists { path: file.to_owned() });
            }
        }
        let made = OpenOptions::new().write(true).create_new(true).open(&part);
        made.map_err(|source| VariantError::Make { path: path.to_owned(), source })?;
        match open(&part) {
            Ok(connection) => Ok(Self { path: path.to_owned(), part, connection }),
            Err(source) => {
                drop(fs::remove_file(&part));
                Err(VariantError::Write { path: path.to_owned(), source })
            }
        }
    }

    fn failed(&self, source: rusqlite::Error) -> VariantError {
        VariantError::Write { path: self.path.clone(), source }
    }

    /// Makes the tables, and the indexes that keep their rows unique. The names of those that the engine does not take.
    pub(super) fn make_tables(&self, declarations: &[Declaration]) -> Result<Vec<String>, VariantError> {
        self.connection.execute_batch("BEGIN").map_err(|error| self.failed(error))?;
        let is_first = |declaration: &&Declaration| declaration.kind == "table" || is_unique(declaration);
        Ok(self.declare(declarations.iter().filter(is_first)))
    }

    /// Makes everything else: indexes and views, which nobody looks into here.
    pub(super) fn make_others(&self, declarations: &[Declaration]) -> Result<Vec<String>, VariantError> {
        let is_other = |declaration: &&Declaration| declaration.kind != "table" && !is_unique(declaration);
        let skipped = self.declare(declarations.iter().filter(is_other));
        self.connection.execute_batch("COMMIT").map_err(|error| self.failed(error))?;
        Ok(skipped)
    }

    /// Declarations come from the file's own text, which may have been tampered with: only the first statement of each is compiled, and the
    /// authorizer lets it make nothing but what it says it is.
    fn declare<'a>(&self, declarations: impl Iterator<Item = &'a Declaration>) -> Vec<String> {
        let failed = |declaration: &&Declaration| self.connection.execute(&declaration.sql, []).is_err();
        declarations.filter(failed).map(|declaration| declaration.name.clone()).collect()
    }

    /// Inserts the rows of a table; for each, whether the schema took it.
    pub(super) fn insert(&self, table: &Sampled) -> Result<Vec<bool>, VariantError> {
        let names = table.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let places = vec!["?"; table.columns.len()].join(", ");
        let sql = format!("INSERT OR IGNORE INTO {} ({names}) VALUES ({places})", quoted(&table.name));
        if table.rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare(&sql).map_err(|error| self.failed(error))?;
        let mut insert = |row| match statement.execute(params_from_iter(row)) {
            Ok(count) => Ok(count > 0),
            // What IGNORE does not cover, such as the types of a strict table.
            Err(error) if crate::error::code(&error) == Some(rusqlite::ErrorCode::ConstraintViolation) => Ok(false),
            Err(error) => Err(self.failed(error)),
        };
        table.rows.iter().map(|row| insert(row.iter())).collect()
    }

    /// Closes the file and gives it its name.
    pub(super) fn finish(self) -> Result<(), VariantError> {
        let Self { path, part, connection } = self;
        let closed = connection.close().map_err(|(_, source)| VariantError::Write { path: path.clone(), source });
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
    pub(super) fn discard(self) {
        drop(self.connection.close());
        drop(fs::remove_file(&self.part));
    }
}

fn is_unique(declaration: &Declaration) -> bool {
    let mut words = declaration.sql.split_whitespace().skip(1);
    declaration.kind == "index" && words.next().is_some_and(|word| word.eq_ignore_ascii_case("unique"))
}

fn open(part: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(fs::canonicalize(part).as_deref().unwrap_or(part), flags)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;",
    )?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.authorizer(Some(judge))?;
    Ok(connection)
}

/// What a declaration and the statements here need, and nothing else.
fn judge(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Pragma { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateVtable { .. }
        | AuthAction::DropTable { .. }
        | AuthAction::Delete { .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }
}
