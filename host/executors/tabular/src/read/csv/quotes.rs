//! The bytes of a file of values, followed from value to value: quotes that do not close, and the
//! lines at which rows begin.

use std::io::{self, Read};

use crate::error::ImportError;
use crate::read::Counted;
use crate::sources::Source;

/// A place in a file of values.
#[derive(Clone, Copy)]
enum Place {
    /// At the start of a row. Empty lines are no rows.
    Row,
    /// At the start of a value, where a quote opens.
    Start,
    Plain,
    Quoted,
    /// Behind a quote within quotes, which closes them unless another follows.
    Closing,
}

/// A walk through the bytes of a file.
pub(super) struct Walk {
    delimiter: u8,
    place: Place,
    line: u64,
    /// The line of the quote that opened last.
    opened: u64,
    /// Rows that have begun, and the line of the last.
    rows: u64,
    row_line: u64,
    is_after_return: bool,
}

impl Walk {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            place: Place::Row,
            line: 1,
            opened: 1,
            rows: 0,
            row_line: 1,
            is_after_return: false,
        }
    }

    /// Goes on through these bytes.
    fn follow(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.step(*byte));
    }

    /// Goes on through these bytes until so many rows have begun; returns the line of the last of
    /// them.
    pub(super) fn line_of(&mut self, bytes: &[u8], rows: u64) -> Option<u64> {
        bytes.iter().find_map(|byte| {
            self.step(*byte);
            (self.rows >= rows).then_some(self.row_line)
        })
    }

    fn step(&mut self, byte: u8) {
        if matches!(self.place, Place::Row) && !matches!(byte, b'\n' | b'\r') {
            self.rows += 1;
            self.row_line = self.line;
            self.place = Place::Start;
        }
        self.place = match (self.place, byte) {
            (Place::Start, b'"') => {
                self.opened = self.line;
                Place::Quoted
            }
            (Place::Closing, b'"') => Place::Quoted,
            (Place::Quoted, b'"') => Place::Closing,
            (Place::Quoted, _) => Place::Quoted,
            (_, b'\n' | b'\r') => Place::Row,
            (_, byte) if byte == self.delimiter => Place::Start,
            _ => Place::Plain,
        };
        // A return ends a line, and a line feed behind it belongs to it.
        let is_return = byte == b'\r';
        self.line += u64::from(is_return || (byte == b'\n' && !self.is_after_return));
        self.is_after_return = is_return;
    }
}

/// The bytes of a file, which must not end within quotes: the reader would take all that follows
/// the first for one value.
pub(super) struct Quotes<'a> {
    pub(super) inner: Counted<'a>,
    pub(super) source: &'a Source,
    pub(super) walk: Walk,
}

impl Read for Quotes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && matches!(self.walk.place, Place::Quoted) {
            let reason = "the quote that opens there is not closed";
            let error = ImportError::content(&self.source.name, self.walk.opened, reason);
            self.inner.ended.set(Some(error));
            return Err(io::Error::other("a quote is not closed"));
        }
        self.walk.follow(&buffer[..read]);
        Ok(read)
    }
}
