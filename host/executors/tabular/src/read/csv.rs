//! Comma-separated values and the like, by the rules of RFC 4180. The first line names the columns.

use std::cell::Cell as Counter;
use std::io::{self, Read};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::{BUFFER, Counted, Shape, Sink, Work, names, opened};
use crate::cell::{Cell, Guess};
use crate::error::ImportError;
use crate::sources::{Format, Source};

/// What may stand between two values of a `.csv` file.
const DELIMITERS: [u8; 4] = *b",;\t|";

pub(super) fn shape(source: &Source, work: &Work<'_>) -> Result<Shape, ImportError> {
    let mut header: Option<Vec<String>> = None;
    let mut guesses: Vec<Guess> = Vec::new();
    each_record(source, work, |line, record| {
        let fields = texts(source, line, record)?;
        if header.is_none() {
            let names = names(source, fields.iter().copied())?;
            guesses = vec![Guess::default(); names.len()];
            header = Some(names);
            return Ok(());
        }
        work.take_row()?;
        for (guess, field) in guesses.iter_mut().zip(fields) {
            guess.add(&cell(field));
        }
        Ok(())
    })?;
    let names = header.ok_or_else(|| ImportError::content(&source.name, None, "the file is empty"))?;
    Ok(Shape { names, types: guesses.into_iter().map(Guess::column_type).collect(), nested: Vec::new() })
}

pub(super) fn rows(source: &Source, shape: &Shape, work: &Work<'_>, sink: Sink<'_>) -> Result<(), ImportError> {
    let mut is_header = true;
    each_record(source, work, |line, record| {
        if std::mem::take(&mut is_header) {
            return Ok(());
        }
        work.take_row()?;
        let fields = texts(source, line, record)?;
        let cells: Vec<Cell<'_>> = fields.into_iter().take(shape.names.len()).map(cell).collect();
        sink(&cells)
    })
}

/// A value that is empty is none.
fn cell(field: &str) -> Cell<'_> {
    if field.is_empty() { Cell::Null } else { Cell::Untyped(field) }
}

fn texts<'r>(source: &Source, line: u64, record: &'r ByteRecord) -> Result<Vec<&'r str>, ImportError> {
    let text = |field: &'r [u8]| std::str::from_utf8(field);
    let not_text =
        |_| ImportError::content(&source.name, line, "the text is not UTF-8; save the file in that encoding");
    record.iter().map(text).collect::<Result<_, _>>().map_err(not_text)
}

fn each_record(
    source: &Source,
    work: &Work<'_>,
    mut each: impl FnMut(u64, &ByteRecord) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let (row, ended) = (Counter::new(0), Counter::new(None));
    let delimiter = match source.format {
        Format::Tsv => b'\t',
        _ => delimiter(source)?,
    };
    let counted = Counted { inner: opened(source)?, work, row: &row, ended: &ended };
    let quotes = Quotes { inner: counted, source, delimiter, place: Place::Start, line: 1, opened: 1, is_begun: false };
    let mut reader: Reader<Quotes<'_>> =
        ReaderBuilder::new().has_headers(false).delimiter(delimiter).buffer_capacity(BUFFER).from_reader(quotes);
    let mut record = ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => {
                row.set(0);
                let line = record.position().map_or(0, csv::Position::line);
                each(line, &record)?;
            }
            Err(error) => {
                let line = reader.position().line();
                return Err(ended.take().unwrap_or_else(|| wrong(source, line, &error)));
            }
        }
    }
}

/// Where a byte stands.
#[derive(Clone, Copy)]
enum Place {
    /// At the start of a value, where a quote opens.
    Start,
    Plain,
    Quoted,
    /// Behind a quote within quotes, which closes them unless another follows.
    Closing,
}

/// The bytes of a file, which must not end within quotes: the reader would take all that follows the first for one value.
struct Quotes<'a> {
    inner: Counted<'a>,
    source: &'a Source,
    delimiter: u8,
    place: Place,
    line: u64,
    /// The line of the quote that opened last.
    opened: u64,
    is_begun: bool,
}

impl Read for Quotes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && matches!(self.place, Place::Quoted) {
            let error =
                ImportError::content(&self.source.name, self.opened, "the quote that opens there is not closed");
            self.inner.ended.set(Some(error));
            return Err(io::Error::other("a quote is not closed"));
        }
        let mut bytes = &buffer[..read];
        if !std::mem::replace(&mut self.is_begun, true) {
            // The reader skips a byte order mark as well.
            bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        }
        for byte in bytes {
            self.place = match (self.place, byte) {
                (Place::Start, b'"') => {
                    self.opened = self.line;
                    Place::Quoted
                }
                (Place::Closing, b'"') => Place::Quoted,
                (Place::Quoted, b'"') => Place::Closing,
                (Place::Quoted, _) => Place::Quoted,
                (_, b'\n' | b'\r') => Place::Start,
                (_, byte) if *byte == self.delimiter => Place::Start,
                _ => Place::Plain,
            };
            self.line += u64::from(*byte == b'\n');
        }
        Ok(read)
    }
}

fn wrong(source: &Source, line: u64, error: &csv::Error) -> ImportError {
    match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(line, csv::Position::line);
            let values = |count: u64| if count == 1 { "1 value".to_owned() } else { format!("{count} values") };
            ImportError::content(
                &source.name,
                line,
                format!("it has {}, and the first line has {expected_len}", values(*len)),
            )
        }
        ErrorKind::Io(error) => ImportError::content(&source.name, line, error.to_string()),
        _ => ImportError::content(&source.name, line, error.to_string()),
    }
}

/// The character that stands most often between the values of the first line, outside of quotes.
fn delimiter(source: &Source) -> Result<u8, ImportError> {
    let mut head = Vec::new();
    let read = opened(source)?.take(BUFFER as u64).read_to_end(&mut head);
    read.map_err(|error: io::Error| ImportError::io(&source.name, &error))?;
    let (mut counts, mut is_quoted) = ([0_usize; DELIMITERS.len()], false);
    for byte in head {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            _ if !is_quoted => {
                let known = DELIMITERS.iter().zip(&mut counts).find(|(delimiter, _)| **delimiter == byte);
                known.into_iter().for_each(|(_, count)| *count += 1);
            }
            _ => {}
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    let found = DELIMITERS.iter().zip(counts).find(|(_, count)| *count == most);
    Ok(found.map_or(b',', |(delimiter, _)| *delimiter))
}
