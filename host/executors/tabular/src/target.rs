//! Writes the private SQLite file on a thread of its own, so that reading and writing share two
//! cores.

use std::cell::RefCell;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement};
use syrch_core::Dialect;
use syrch_sqlite::count_memory;

use crate::cell::{Cell, ColumnType, boolean, integer, real};
use crate::error::ImportError;
use crate::read::Shape;

/// Bytes of a page of the file.
const PAGE: u32 = 4_096;

/// Batches of rows that wait to be written.
const WAITING: usize = 4;
/// Values and bytes of texts from which on a batch is written.
const VALUES: usize = 8 << 10;
const BYTES: usize = 256 << 10;

/// The file under construction. A thread of its own writes it, while the next rows are read.
pub(crate) struct Target {
    /// `None` once the file is finished.
    parts: Option<SyncSender<Part>>,
    thread: RefCell<Option<JoinHandle<Result<(), ImportError>>>>,
}

/// A part of what is written, in order.
enum Part {
    /// The statement that makes a table, the one that adds a row to it, and its number of columns.
    Table {
        make: String,
        insert: String,
        columns: usize,
    },
    /// Rows of the last table.
    Rows(Batch),
    Finish,
}

/// Rows, one value after the other.
#[derive(Default)]
struct Batch {
    values: Vec<Stored>,
    bytes: Vec<u8>,
}

/// A value; a text or a blob has so many bytes of the batch after those of the one before it.
enum Stored {
    Null,
    Integer(i64),
    Real(f64),
    Text(usize),
    Blob(usize),
}

impl Target {
    /// Opens a new, empty file, which is to have at most so many bytes. Nobody else reads it yet,
    /// so nothing of it has to be taken back.
    pub(crate) fn create(path: &Path, bytes: u64) -> Result<Self, ImportError> {
        count_memory();
        let pages =
            u32::try_from(bytes / u64::from(PAGE)).unwrap_or(u32::MAX - 1).clamp(16, u32::MAX - 1);
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.pragma_update(None, "page_size", PAGE)?;
            connection.pragma_update(None, "journal_mode", "OFF")?;
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            connection.pragma_update(None, "max_page_count", pages)?;
            connection.execute_batch("BEGIN")?;
            Ok(connection)
        };
        fn write_error(error: String) -> ImportError {
            ImportError::Write(error)
        }
        let file = WrittenFile {
            connection: open().map_err(|error| write_error(error.to_string()))?,
            pages,
        };
        let (parts, written) = sync_channel(WAITING);
        let thread =
            thread::Builder::new().name("import".to_owned()).spawn(move || file.write(&written));
        let thread = thread.map_err(|error| write_error(error.to_string()))?;
        Ok(Self { parts: Some(parts), thread: RefCell::new(Some(thread)) })
    }

    /// Makes a table, and returns what takes its rows.
    pub(crate) fn table(&self, name: &str, shape: &Shape) -> Result<Rows<'_>, ImportError> {
        let columns = shape.names.iter().zip(&shape.types);
        let columns: Vec<_> = columns
            .map(|(name, kind)| format!("{} {}", Dialect::Sqlite.quote(name), kind.name()))
            .collect();
        let places = vec!["?"; columns.len()].join(", ");
        let make = format!("CREATE TABLE {} ({})", Dialect::Sqlite.quote(name), columns.join(", "));
        let insert = format!("INSERT INTO {} VALUES ({places})", Dialect::Sqlite.quote(name));
        self.send(Part::Table { make, insert, columns: columns.len() })?;
        Ok(Rows { target: self, batch: Batch::default(), types: shape.types.clone() })
    }

    /// Sends a part; if the thread has ended, for the reason that it had.
    fn send(&self, part: Part) -> Result<(), ImportError> {
        match self.parts.as_ref().is_some_and(|parts| parts.send(part).is_ok()) {
            true => Ok(()),
            false => self.wait().and_then(|()| Err(ImportError::Write("it has ended".to_owned()))),
        }
    }

    /// Counts the rows of each table for the engine's planner, and closes the file.
    pub(crate) fn finish(mut self) -> Result<(), ImportError> {
        self.send(Part::Finish)?;
        self.parts = None;
        self.wait()
    }

    /// Waits for the end of the thread, and returns what it ended with, once.
    fn wait(&self) -> Result<(), ImportError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread
            .join()
            .unwrap_or_else(|_| Err(ImportError::Write("the thread that writes failed".to_owned())))
    }
}

impl Drop for Target {
    /// The thread ends without what it waits for.
    fn drop(&mut self) {
        self.parts = None;
        drop(self.wait());
    }
}

/// The file on its thread.
struct WrittenFile {
    connection: Connection,
    /// Pages that the file may have.
    pages: u32,
}

impl WrittenFile {
    /// Writes what is sent. Ends without an error where nobody finishes the file.
    fn write(self, parts: &Receiver<Part>) -> Result<(), ImportError> {
        let mut table: Option<(Statement<'_>, usize)> = None;
        for part in parts {
            match part {
                Part::Table { make, insert, columns } => {
                    let made = self
                        .connection
                        .execute_batch(&make)
                        .and_then(|()| self.connection.prepare(&insert));
                    table = Some((made.map_err(|error| self.write_error(&error))?, columns));
                }
                Part::Rows(batch) => {
                    if let Some((insert, columns)) = &mut table {
                        insert_rows(insert, *columns, &batch)
                            .map_err(|error| self.write_error(&error))?;
                    }
                }
                Part::Finish => {
                    drop(table);
                    let done = self
                        .connection
                        .execute_batch("COMMIT; PRAGMA analysis_limit = 1000; ANALYZE");
                    done.map_err(|error| self.write_error(&error))?;
                    return self
                        .connection
                        .close()
                        .map_err(|(_, error)| ImportError::Write(error.to_string()));
                }
            }
        }
        Ok(())
    }

    fn write_error(&self, error: &rusqlite::Error) -> ImportError {
        let is_full = matches!(
            error, rusqlite::Error::SqliteFailure(code, _) if code.code == ErrorCode::DiskFull
        );
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

fn insert_rows(insert: &mut Statement<'_>, columns: usize, batch: &Batch) -> rusqlite::Result<()> {
    let mut rest = &batch.bytes[..];
    let mut take = |length: usize| {
        let (taken, others) = rest.split_at_checked(length).unwrap_or_default();
        rest = others;
        taken
    };
    for row in batch.values.chunks(columns.max(1)) {
        for (value, place) in row.iter().zip(1..) {
            let bound = match value {
                Stored::Null => ToSqlOutput::Owned(Value::Null),
                Stored::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
                Stored::Real(number) => ToSqlOutput::Owned(Value::Real(*number)),
                Stored::Text(length) => ToSqlOutput::Borrowed(ValueRef::Text(take(*length))),
                Stored::Blob(length) => ToSqlOutput::Borrowed(ValueRef::Blob(take(*length))),
            };
            insert.raw_bind_parameter(place, bound)?;
        }
        insert.raw_execute()?;
    }
    Ok(())
}

/// Takes the rows of a table.
pub(crate) struct Rows<'t> {
    target: &'t Target,
    batch: Batch,
    types: Vec<ColumnType>,
}

impl Rows<'_> {
    /// Adds a row. Values that it lacks are none.
    pub(crate) fn add(&mut self, cells: &[Cell<'_>]) -> Result<(), ImportError> {
        let nothing = std::iter::repeat(&Cell::Null);
        for (kind, cell) in self.types.iter().zip(cells.iter().chain(nothing)) {
            self.batch.add(&value(cell, *kind));
        }
        if self.batch.values.len() >= VALUES || self.batch.bytes.len() >= BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ImportError> {
        self.target.send(Part::Rows(std::mem::take(&mut self.batch)))
    }
}

impl Drop for Rows<'_> {
    /// Sends the last rows. Whether they were written is known when the file is finished.
    fn drop(&mut self) {
        drop(self.flush());
    }
}

impl Batch {
    fn add(&mut self, value: &ToSqlOutput<'_>) {
        let value = match value {
            ToSqlOutput::Borrowed(value) => *value,
            ToSqlOutput::Owned(value) => ValueRef::from(value),
            // Nothing else is made of a cell.
            _ => ValueRef::Null,
        };
        self.values.push(match value {
            ValueRef::Null => Stored::Null,
            ValueRef::Integer(number) => Stored::Integer(number),
            ValueRef::Real(number) => Stored::Real(number),
            ValueRef::Text(bytes) => {
                self.bytes.extend_from_slice(bytes);
                Stored::Text(bytes.len())
            }
            ValueRef::Blob(bytes) => {
                self.bytes.extend_from_slice(bytes);
                Stored::Blob(bytes.len())
            }
        });
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
        Cell::Boolean(truth) if kind == ColumnType::Text => {
            text(if *truth { "true" } else { "false" })
        }
        Cell::Boolean(truth) => owned(Value::Integer((*truth).into())),
        Cell::Integer(number) => owned(Value::Integer(*number)),
        Cell::Real(number) => owned(Value::Real(*number)),
        Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
    }
}
