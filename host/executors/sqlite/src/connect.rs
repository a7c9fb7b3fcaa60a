//! Opening: what the path names is found out before the engine touches it, nothing is ever created,
//! and every connection is hardened before it sees a statement.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;
use syrch_core::text::nearest;

use crate::authorizer::authorize;
use crate::config::SqliteConfig;
use crate::deadline::{self, Allowance, Deadline};
use crate::functions;
use crate::guard::Authorizer;
use crate::memory;
use crate::state::FileState;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Other files that people take for a database, by how they begin.
const OTHERS: [(&[u8], &str); 6] = [
    (b"PAR1", "it is a Parquet file"),
    (b"PK\x03\x04", "it is a ZIP archive"),
    (b"\x1f\x8b", "it is a gzip file"),
    (b"\0asm", "it is a WebAssembly module"),
    (b"PGDMP", "it is a PostgreSQL dump"),
    (b"-- ", "it is an SQL script"),
];

/// Bytes of any text or blob, and of any row.
pub(crate) const LENGTH: i32 = 2_000_000;

/// Bytes of one statement.
pub(crate) const SQL_LENGTH: usize = 64 << 10;

/// Columns of one result, and of one table where no table is wider.
pub(crate) const COLUMNS: i32 = 500;

/// Time for reading the schema once, and for all views together.
pub(crate) const SCHEMA: Duration = Duration::from_secs(10);

/// The file behind a path, once it is certain that it is a database.
///
/// # Errors
/// Every [`DatabaseError`] but `Corrupt` and `Locked`, which only the engine can detect.
pub(crate) fn locate(config: &SqliteConfig) -> Result<PathBuf, DatabaseError> {
    fn not_a_database(config: &SqliteConfig, reason: &str) -> DatabaseError {
        DatabaseError::NotADatabase { path: config.display_name(), reason: reason.to_owned() }
    }
    let path = fs::canonicalize(&config.path).map_err(|error| unreachable_path(config, &error))?;
    let metadata = fs::metadata(&path).map_err(|error| unreachable_path(config, &error))?;
    if metadata.is_dir() {
        return Err(not_a_database(config, "it is a folder"));
    }
    // Opening a FIFO would wait for a writer.
    if !metadata.is_file() {
        return Err(not_a_database(config, "it is a special file, such as a pipe or a device"));
    }
    let mut head = Vec::new();
    File::open(&path)
        .and_then(|file| file.take(100).read_to_end(&mut head))
        .map_err(|error| unreachable_path(config, &error))?;
    if head.is_empty() {
        return Err(not_a_database(config, "the file is empty"));
    }
    if !head.starts_with(MAGIC) {
        let known = OTHERS.iter().find(|(magic, _)| head.starts_with(magic));
        let duck = head.get(8..12) == Some(b"DUCK".as_slice());
        return Err(not_a_database(
            config,
            match known {
                Some((_, what)) => what,
                None if duck => "it is a DuckDB database",
                None => "it does not begin like a SQLite file (it may be encrypted)",
            },
        ));
    }
    Ok(path)
}

fn unreachable_path(config: &SqliteConfig, error: &std::io::Error) -> DatabaseError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            DatabaseError::Missing { path: config.display_name(), similar: similar(&config.path) }
        }
        ErrorKind::PermissionDenied => config.unavailable("no permission to read it"),
        _ => config.unavailable(error.to_string()),
    }
}

/// Names in the folder of a path that nearly match its own, or the path from the working folder,
/// which `sqlite:///shop.db` means to SQLAlchemy.
#[must_use]
pub fn similar(path: &Path) -> Vec<String> {
    if let Ok(relative) = path.strip_prefix("/")
        && relative.is_file()
    {
        return vec![relative.display().to_string()];
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    let Some(wanted) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Vec::new();
    };
    let names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    nearest(&wanted, names.iter().map(String::as_str))
}

/// A hardened connection to a located file. `columns` is the widest table's width.
///
/// # Errors
/// The engine's own error; see [`opening_error`].
pub(crate) fn connect(
    path: &Path,
    state: &FileState,
    config: &SqliteConfig,
    columns: i32,
    authorizer: &Authorizer,
) -> rusqlite::Result<Connection> {
    memory::count_memory();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = if state.is_at_rest() {
        // Reading in WAL mode would make a log and its index beside the file. Nobody uses it now,
        // so its content is all in it; that it stays so is checked after every statement.
        Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        // The path is absolute, so the engine cannot take it for a URI, and without links, so
        // nobody can redirect it.
        Connection::open_with_flags(path, flags)?
    };
    connection.busy_timeout(config.busy)?;
    harden(&connection)?;
    limit(&connection, columns)?;
    functions::add(&connection)?;
    authorize(&connection, authorizer.clone())?;
    read_schema(&mut connection, authorizer, config)?;
    Ok(connection)
}

/// The file as a URI of our own making.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}

fn harden(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    // For the whole process. Where statements' memory is not counted, nothing else ends the
    // compiling of views that double: it asks nobody but the allocator.
    connection.query_row(&format!("PRAGMA hard_heap_limit = {}", memory::HEAP), [], |_| Ok(()))?;
    connection.execute_batch(
        "PRAGMA query_only = 1; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA \
         cell_size_check = 1; PRAGMA cache_size = -8192;",
    )
}

/// Bounds what any statement may make of anything. `columns` is the widest table's width.
pub(crate) fn limit(connection: &Connection, columns: i32) -> rusqlite::Result<()> {
    limit_values(connection)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_LENGTH as i32),
        // The limit holds for the schema too: a wide table would make all of it unreadable.
        (Limit::SQLITE_LIMIT_COLUMN, columns.max(COLUMNS)),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 1_000),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    Ok(())
}

/// Bounds the size of values and of programs; each statement's compiler sets these two anew.
pub(crate) fn limit_values(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LENGTH)?;
    connection.set_limit(Limit::SQLITE_LIMIT_VDBE_OP, 50_000).map(|_| ())
}

/// Says whether a name in double quotes that nothing has is a text, as it is to the engine by
/// itself, and in the texts that made views.
pub(crate) fn read_names_as_texts(connection: &Connection, are_read: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, are_read).map(|_| ())
}

/// Reads the schema and connects the virtual tables, whose modules then run statements of their
/// own: later, while a guest's is being compiled, the authorizer could not distinguish these from
/// the guest's.
///
/// Whoever made the file wrote what runs here, so that it ends like a statement does.
pub(crate) fn read_schema(
    connection: &mut Connection,
    authorizer: &Authorizer,
    config: &SqliteConfig,
) -> rusqlite::Result<()> {
    let ends_at =
        Deadline::start(Allowance { deadline: SCHEMA, memory: config.memory }, &Arc::default());
    deadline::install(connection, authorizer, &ends_at)?;
    let result = connect_tables(connection);
    deadline::remove(connection, authorizer)?;
    result
}

fn connect_tables(connection: &Connection) -> rusqlite::Result<()> {
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage = 0")?;
    let names = tables
        .query_map([], |row| Ok(name(row, 0)?.ok()))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    for name in names.into_iter().flatten() {
        // One that cannot be connected, for want of its module or because it is damaged, cannot be
        // read later either.
        let _ =
            connection.prepare(&format!("SELECT 1 FROM {} LIMIT 0", Dialect::Sqlite.quote(&name)));
    }
    Ok(())
}

/// A name in the schema; as an error, one that is not UTF-8 as messages show it.
pub(crate) fn name(
    row: &rusqlite::Row<'_>,
    column: usize,
) -> rusqlite::Result<Result<String, String>> {
    let bytes = row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default();
    Ok(std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|_| String::from_utf8_lossy(bytes).into_owned()))
}

/// Converts an engine's error at opening.
pub(crate) fn opening_error(error: &rusqlite::Error, config: &SqliteConfig) -> DatabaseError {
    let reason = crate::error::message(error);
    match crate::error::code(error) {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed,
        ) => DatabaseError::Locked { path: config.display_name() },
        Some(ErrorCode::NotADatabase) => {
            DatabaseError::NotADatabase { path: config.display_name(), reason }
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            DatabaseError::Corrupt { path: config.display_name(), reason }
        }
        Some(ErrorCode::Unknown) if reason.starts_with("malformed") => {
            DatabaseError::Corrupt { path: config.display_name(), reason }
        }
        Some(
            ErrorCode::OperationInterrupted
            | ErrorCode::AuthorizationForStatementDenied
            | ErrorCode::OutOfMemory,
        ) => config.unavailable("reading its schema takes too much time or memory"),
        Some(ErrorCode::ReadOnly) => config.unavailable(
            "a change was interrupted and must be taken back first: open it once with a program \
             that may write to it",
        ),
        _ => config.unavailable(reason),
    }
}

#[cfg(test)]
mod tests {
    /// Checks what `.cargo/config.toml` sets for the whole workspace.
    #[test]
    fn the_engine_finds_tables_in_a_schema_of_any_size_at_once() {
        crate::count_memory();
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let sql = "SELECT sqlite_compileoption_used('MALLOC_SOFT_LIMIT=0')";
        assert_eq!(connection.query_row(sql, [], |row| row.get::<_, i32>(0)).unwrap(), 1);
    }
}
