//! Reads files: first their columns with the types that all values fit, then their rows.

mod csv;
mod json_lines;
mod parquet;

use std::cell::Cell as Counter;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use syrch_core::imports::{ImportCaps, Note, ReadOptions};

use crate::cell::{Cell, ColumnType};
use crate::column::Decision;
use crate::error::ImportError;
use crate::sources::{Format, Source};
use crate::text::BUFFER;

/// Columns of a table at most, as the engine has them.
const COLUMNS: usize = 2_000;
/// Bytes of one row at most, as it is written.
const ROW_BYTES: usize = 4 << 20;
/// Bytes of a column's name at most.
const NAME_BYTES: usize = 256;
/// Rows between two looks at whether the work is still wanted.
const LOOK: u64 = 1_024;

/// The columns of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) names: Vec<String>,
    pub(crate) types: Vec<ColumnType>,
    /// The decisions about the columns; empty if the file has types of its own.
    pub(crate) decisions: Vec<Decision>,
    /// Columns that are left out.
    pub(crate) nested: Vec<String>,
    /// Notes about what reading changes.
    pub(crate) notes: Vec<Note>,
    /// The lines of a file of values.
    layout: Option<csv::Layout>,
}

impl Shape {
    fn new(names: Vec<String>, decisions: Vec<Decision>) -> Self {
        let types = decisions.iter().map(|decision| decision.kind).collect();
        let note = |(name, decision): (&String, &Decision)| {
            let notes: Vec<Note> =
                decision.notes.iter().map(|text| Note::new(name.clone(), text.clone())).collect();
            notes
        };
        let notes = names.iter().zip(&decisions).flat_map(note).collect();
        Self { names, types, decisions, nested: Vec::new(), notes, layout: None }
    }
}

/// Is called with each row; a row may be shorter than the columns, which then have no value.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(&[Cell<'_>]) -> Result<(), ImportError>;

/// The columns of a file. Files without types are read to their end.
pub(crate) fn shape(source: &Source, work: &Work<'_>) -> Result<Shape, ImportError> {
    match source.format {
        Format::Csv | Format::Tsv => csv::shape(source, work),
        Format::JsonLines => json_lines::shape(source, work),
        Format::Parquet => parquet::shape(source, work),
    }
}

/// Reads all rows of a file that has these columns. Returns notes about what was found only then.
pub(crate) fn rows(
    source: &Source,
    shape: &Shape,
    work: &Work<'_>,
    sink: Sink<'_>,
) -> Result<Vec<Note>, ImportError> {
    match source.format {
        Format::Csv | Format::Tsv => csv::rows(source, shape, work, sink).map(|()| Vec::new()),
        Format::JsonLines => json_lines::rows(source, shape, work, sink).map(|()| Vec::new()),
        Format::Parquet => parquet::rows(source, shape, work, sink),
    }
}

/// The work of reading files: what may still be read, and whether it was cancelled.
pub(crate) struct Work<'a> {
    caps: ImportCaps,
    pub(crate) options: &'a ReadOptions,
    bytes: Counter<u64>,
    rows: Counter<u64>,
    cancelled: &'a AtomicBool,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        caps: ImportCaps,
        options: &'a ReadOptions,
        cancelled: &'a AtomicBool,
    ) -> Self {
        Self { caps, options, bytes: Counter::new(0), rows: Counter::new(0), cancelled }
    }

    /// Returns the same bounds, for reading a file once more.
    fn renew(&self) -> Self {
        Self::new(self.caps, self.options, self.cancelled)
    }

    fn take_bytes(&self, bytes: u64) -> Result<(), ImportError> {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        match self.bytes.get() > self.caps.bytes {
            true => Err(self.too_many_bytes()),
            false => Ok(()),
        }
    }

    pub(crate) fn too_many_bytes(&self) -> ImportError {
        ImportError::TooMuch {
            what: format!("there are more than {} bytes", self.caps.bytes),
            knob: "--max-import-bytes",
        }
    }

    /// Fails if nobody wants the work any more.
    fn look(&self) -> Result<(), ImportError> {
        match self.cancelled.load(Ordering::Relaxed) {
            true => Err(ImportError::Cancelled),
            false => Ok(()),
        }
    }

    fn take_row(&self) -> Result<(), ImportError> {
        let rows = self.rows.get() + 1;
        self.rows.set(rows);
        if rows > self.caps.rows {
            let what = format!("there are more than {} rows", self.caps.rows);
            return Err(ImportError::TooMuch { what, knob: "--max-import-rows" });
        }
        match rows.is_multiple_of(LOOK) && self.cancelled.load(Ordering::Relaxed) {
            true => Err(ImportError::Cancelled),
            false => Ok(()),
        }
    }
}

/// The bytes of a file, unpacked and counted.
struct Counted<'a> {
    inner: Box<dyn Read>,
    work: &'a Work<'a>,
    /// Bytes of the row that is being read.
    row: &'a Counter<usize>,
    /// The error that ended reading: a limit or a cancellation. The reader itself can pass on only
    /// an `io::Error`.
    ended: &'a Counter<Option<ImportError>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.row.set(self.row.get() + read);
        let taken = match self.work.cancelled.load(Ordering::Relaxed) {
            true => Err(ImportError::Cancelled),
            false => self.work.take_bytes(read as u64),
        };
        taken.map_err(|error| {
            self.ended.set(Some(error));
            io::Error::other("the bytes are used up")
        })?;
        match self.row.get() > ROW_BYTES + BUFFER {
            true => Err(io::Error::other(format!(
                "a row has more than {ROW_BYTES} bytes; is a quote not closed?"
            ))),
            false => Ok(read),
        }
    }
}

/// The names of columns: no two are alike, and none is empty.
fn names<'n>(
    source: &Source,
    written: impl Iterator<Item = &'n str>,
) -> Result<Vec<String>, ImportError> {
    let mut names: Vec<String> = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for (at, name) in written.enumerate() {
        fn header_error(source: &Source, what: String) -> ImportError {
            ImportError::content(&source.name, 1, what)
        }
        let name = name.trim();
        if at >= COLUMNS {
            return Err(header_error(source, format!("there are more than {COLUMNS} columns")));
        }
        if name.len() > NAME_BYTES || name.contains('\0') {
            return Err(header_error(
                source,
                format!(
                    "the name of column {} is too long ({NAME_BYTES} bytes at most) or has a NUL",
                    at + 1
                ),
            ));
        }
        let wanted = if name.is_empty() { format!("column_{}", at + 1) } else { name.to_owned() };
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut all = std::iter::once(wanted.clone()).chain(numbered);
        // The engine compares the letters of ASCII without their case.
        names.extend(all.find(|name| taken.insert(name.to_ascii_lowercase())));
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
