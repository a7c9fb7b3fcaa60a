//! Comma-separated values: a header of columns, and a row a question. Cells are texts; empty ones
//! are left out.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{BufRead, ErrorKind, Read, Result};

use serde_json::{Map, Value};

use super::Place;
use super::source::{Granted, Item, LONGEST, Taker, too_long};

/// Bytes that the reader buffers beyond the current row.
const AHEAD: usize = 64 << 10;

/// The line breaks that were read and not passed yet. The parser gives the begin of a row in bytes,
/// before the rest of the break and the empty lines that it skips.
struct Breaks {
    /// The number of bytes read.
    read: u64,
    /// The places of the line-break characters in them, each with whether it ends a line.
    ahead: VecDeque<(u64, bool)>,
    /// The line that the next break ends.
    line: u64,
}

impl Breaks {
    fn note(&mut self, bytes: &[u8]) {
        for (at, byte) in (self.read..).zip(bytes) {
            if matches!(byte, b'\r' | b'\n') {
                self.ahead.push_back((at, *byte == b'\n'));
            }
        }
        self.read += bytes.len() as u64;
    }

    /// The line of the first text from this byte on. Bytes are asked for in their order.
    fn line(&mut self, mut byte: u64) -> u64 {
        while let Some((at, ends)) = self.ahead.front().copied().filter(|(at, _)| *at <= byte) {
            self.line += u64::from(ends);
            self.ahead.pop_front();
            byte += u64::from(at == byte);
        }
        self.line
    }
}

/// A reader whose line breaks are noted.
struct Noted<'a, R> {
    input: R,
    breaks: &'a RefCell<Breaks>,
}

impl<R: Read> Read for Noted<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let read = self.input.read(out)?;
        self.breaks.borrow_mut().note(&out[..read]);
        Ok(read)
    }
}

/// Gives every row to `take`, in order.
pub(super) fn each(input: &mut impl BufRead, take: &mut Taker<'_>) -> Result<()> {
    let left = Cell::new(LONGEST + AHEAD);
    let breaks = RefCell::new(Breaks { read: 0, ahead: VecDeque::new(), line: 1 });
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .buffer_capacity(AHEAD)
        .from_reader(Noted { input: Granted { input, left: &left }, breaks: &breaks });
    let mut record = csv::ByteRecord::new();
    let mut header: Option<Vec<String>> = None;
    loop {
        left.set(LONGEST + AHEAD);
        let start = reader.position().byte();
        let object = match reader.read_byte_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => match &header {
                Some(names) => row(names, &record),
                None => match columns(&record) {
                    Ok(names) => {
                        header = Some(names);
                        continue;
                    }
                    Err(reason) => Err(reason),
                },
            },
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(error) if error.kind() == ErrorKind::FileTooLarge => {
                    Err(too_long())
                }
                csv::ErrorKind::Io(error) => return Err(error),
                other => Err(format!("is not CSV: {other:?}")),
            },
        };
        let is_over =
            header.is_none() || object.as_ref().is_err_and(|reason| *reason == too_long());
        let place = Place::Line(breaks.borrow_mut().line(start));
        if take(Item { place, object }).is_break() || is_over {
            return Ok(());
        }
    }
}

fn columns(record: &csv::ByteRecord) -> std::result::Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for cell in record {
        let name = std::str::from_utf8(cell).map_err(|_| "is not UTF-8 text".to_owned())?.trim();
        if names.iter().any(|known| known == name) {
            return Err(format!("has two columns `{name}`"));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn row(
    names: &[String],
    record: &csv::ByteRecord,
) -> std::result::Result<Map<String, Value>, String> {
    if record.len() != names.len() {
        return Err(format!("has {} cells, and the header {}", record.len(), names.len()));
    }
    let mut object = Map::new();
    for (name, cell) in names.iter().zip(record) {
        let text = std::str::from_utf8(cell).map_err(|_| "is not UTF-8 text".to_owned())?;
        if !text.is_empty() {
            object.insert(name.clone(), Value::String(text.to_owned()));
        }
    }
    Ok(object)
}
