//! Writes the private SQLite file.

use std::path::Path;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement};
use syrch_core::Dialect;
use syrch_sqlite::count_memory;

use crate::cell::{Cell, ColumnType, boolean, integer, real};
use crate::error::ImportError;
use crate::read::Shape;

/// Bytes of a page of the file.
const PAGE: u32 = 4_096;

/// The file under construction.
pub(crate) struct Target {
    connection: Connection,
    /// Pages that the file may have.
    pages: u32,
}

impl Target {
    /// Opens a new, empty file, which is to have at most so many bytes. Nobody else reads it yet, so nothing of it has to be taken back.
    pub(crate) fn create(path: &Path, bytes: u64) -> Result<Self, ImportError> {
        count_memory();
        let pages = u32::try_from(bytes / u64::from(PAGE)).unwrap_or(u32::MAX - 1).clamp(16, u32::MAX - 1);
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.pragma_update(None, "page_size", PAGE)?;
            connection.pragma_update(None, "journal_mode", "OFF")?;
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.pragma_update(None, "max_page_count", pages)?;
            connection.execute_batch("BEGIN")?;
            Ok(connection)
        };
        Ok(Self { connection: open().map_err(|error| ImportError::Write(error.to_string()))?, pages })
    }

    /// Makes a table, and returns what takes its rows.
    pub(crate) fn table(&self, name: &str, shape: &Shape) -> Result<Rows<'_>, ImportError> {
        let columns = shape.names.iter().zip(&shape.types);
        let columns: Vec<_> =
            columns.map(|(name, kind)| format!("{} {}", Dialect::Sqlite.quoted(name), kind.name())).collect();
        let places = vec!["?"; columns.len()].join(", ");
        let make = format!("CREATE TABLE {} ({})", Dialect::Sqlite.quoted(name), columns.join(", "));
        let insert = format!("INSERT INTO {} VALUES ({places})", Dialect::Sqlite.quoted(name));
        let made = self.connection.execute_batch(&make).and_then(|()| self.connection.prepare(&insert));
        let statement = made.map_err(|error| self.failed(&error))?;
        Ok(Rows { target: self, statement, types: shape.types.clone() })
    }

    /// Counts the rows of each table for the engine's planner, and closes the file.
    pub(crate) fn finish(self) -> Result<(), ImportError> {
        let done = self.connection.execute_batch("COMMIT; PRAGMA analysis_limit = 1000; ANALYZE");
        done.map_err(|error| self.failed(&error))?;
        self.connection.close().map_err(|(_, error)| ImportError::Write(error.to_string()))
    }

    fn failed(&self, error: &rusqlite::Error) -> ImportError {
        let is_full = matches!(error, rusqlite::Error::SqliteFailure(code, _) if code.code == ErrorCode::DiskFull);
        match is_full {
            true => ImportError::TooMuch {
                what: format!(
                    "the disk is full, or the tables take more than {} bytes of it",
                    u64::from(self.pages) * u64::from(PAGE)
                ),
                knob: "--max-import-bytes",
            },
            false => ImportError::Write(error.to_string()),
        }
    }
}

/// Takes the rows of a table.
pub(crate) struct Rows<'t> {
    target: &'t Target,
    statement: Statement<'t>,
    types: Vec<ColumnType>,
}

impl Rows<'_> {
    /// Adds a row. Values that it lacks are none.
    pub(crate) fn add(&mut self, cells: &[Cell<'_>]) -> Result<(), ImportError> {
        let nothing = std::iter::repeat(&Cell::Null);
        for (at, (kind, cell)) in self.types.iter().zip(cells.iter().chain(nothing)).enumerate() {
            let bound = self.statement.raw_bind_parameter(at + 1, value(cell, *kind));
            bound.map_err(|error| self.target.failed(&error))?;
        }
        self.statement.raw_execute().map_err(|error| self.target.failed(&error))?;
        Ok(())
    }
}

/// A value as the engine stores it in a column of that type.
fn value<'c>(cell: &'c Cell<'_>, kind: ColumnType) -> ToSqlOutput<'c> {
    let owned = |value: Value| ToSqlOutput::Owned(value);
    let text = |text: &'c str| ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()));
    match cell {
        Cell::Null => owned(Value::Null),
        Cell::Untyped(written) => {
            let typed = match kind {
                ColumnType::Boolean => boolean(written).map(|truth| Value::Integer(truth.into())),
                ColumnType::Integer => integer(written).map(Value::Integer),
                ColumnType::Real => real(written).map(Value::Real),
                _ => None,
            };
            typed.map_or_else(|| text(written), owned)
        }
        Cell::Text(written) => text(written),
        // A column of several kinds of values is one of texts.
        Cell::Boolean(truth) if kind == ColumnType::Text => text(if *truth { "true" } else { "false" }),
        Cell::Boolean(truth) => owned(Value::Integer((*truth).into())),
        Cell::Integer(number) => owned(Value::Integer(*number)),
        Cell::Real(number) => owned(Value::Real(*number)),
        Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
    }
}
