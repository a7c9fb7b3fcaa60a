//! Comma-separated values and the like, by the rules of RFC 4180. A line names the columns, unless
//! all lines are alike.

mod layout;
mod quotes;
mod totals;

use std::cell::Cell as Counter;
use std::io::Read;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use syrch_core::imports::{Note, ReadOptions};

use super::{COLUMNS, Counted, Shape, Sink, Work, names};
use crate::cell::{Cell, integer};
use crate::column::{Column, decide};
use crate::error::ImportError;
use crate::sources::Source;
use crate::text::{self, BUFFER};
pub(super) use layout::Layout;
use quotes::{Quotes, Walk};
use totals::Sums;

pub(super) fn shape(source: &Source, work: &Work<'_>) -> Result<Shape, ImportError> {
    let mut layout = Layout::find(source, work)?;
    let options = work.options;
    let mut first: Option<Vec<String>> = None;
    let mut columns: Vec<Column> = Vec::new();
    // The last row, which may be one of totals, and its place.
    let mut last = ByteRecord::new();
    let mut place = None;
    // A row of totals that has fewer values than the others, which must be the last one.
    let mut short: Option<(u64, ByteRecord)> = None;
    each_record(source, work, layout.delimiter, |row, record| {
        if row < layout.titles {
            return Ok(());
        }
        if first.is_none() {
            let fields = texts(source, work, &layout, row, record)?;
            if fields.len() > COLUMNS {
                let reason = format!("there are more than {COLUMNS} columns");
                return Err(ImportError::content(
                    &source.name,
                    line_of(source, work, &layout, row),
                    reason,
                ));
            }
            columns = vec![Column::new(options); fields.len()];
            first = Some(fields.into_iter().map(str::to_owned).collect());
            return Ok(());
        }
        work.take_row()?;
        if let Some((row, record)) = &short {
            check_width(source, work, &layout, *row, record, columns.len())?;
        }
        if record.len() < columns.len() && place.is_some() && totals::is_labelled(record) {
            short = Some((row, record.clone()));
            return Ok(());
        }
        check_width(source, work, &layout, row, record, columns.len())?;
        if let Some(before) = place {
            add(&mut columns, source, work, &layout, before, &last)?;
        }
        std::mem::swap(record, &mut last);
        place = Some(row);
        Ok(())
    })?;
    let first =
        first.ok_or_else(|| ImportError::content(&source.name, None, "the file is empty"))?;
    let mut notes = title_notes(&layout);
    if let Some((row, _)) = short {
        layout.totals = Some(row);
        notes.push(
            "the last row is called a total and has fewer values than the others: it is left out"
                .to_owned(),
        );
    }
    if let Some(row) = place {
        if layout.totals.is_none() && totals::is_labelled(&last) {
            let is_sum = is_total(source, work, &layout, &columns, row, &last)?;
            layout.totals = is_sum.then_some(row);
            notes.push(match is_sum {
                true => "the row of totals at the end is left out".to_owned(),
                false => "the last row is called a total, was not found to be the sum of the \
                          others, and stays"
                    .to_owned(),
            });
        }
        if layout.totals != Some(row) {
            add(&mut columns, source, work, &layout, row, &last)?;
        }
    }
    layout.has_header = has_header(&first, &columns, options);
    let names = match layout.has_header {
        true => names(source, first.iter().map(String::as_str))?,
        false => {
            notes.push("no line names the columns, which are called column_1 and so on".to_owned());
            let cells = first.iter().map(|text| cell(text));
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.add(&cell, options));
            names(source, first.iter().map(|_| ""))?
        }
    };
    let mut shape = Shape::new(names, decide(&columns, options));
    shape.notes.splice(0..0, notes.into_iter().map(|text| Note::new(None, text)));
    shape.layout = Some(layout);
    Ok(shape)
}

fn title_notes(layout: &Layout) -> Vec<String> {
    match layout.titles {
        0 => Vec::new(),
        1 => vec!["a line above the table is left out".to_owned()],
        titles => vec![format!("{titles} lines above the table are left out")],
    }
}

pub(super) fn rows(
    source: &Source,
    shape: &Shape,
    work: &Work<'_>,
    sink: Sink<'_>,
) -> Result<(), ImportError> {
    let Some(layout) = shape.layout else { return Ok(()) };
    let options = work.options;
    let width = shape.names.len();
    let begin = layout.titles + u64::from(layout.has_header);
    each_record(source, work, layout.delimiter, |row, record| {
        if row < begin || layout.totals == Some(row) {
            return Ok(());
        }
        work.take_row()?;
        check_width(source, work, &layout, row, record, width)?;
        let fields = texts(source, work, &layout, row, record)?;
        let read = fields.into_iter().take(width).zip(&shape.decisions);
        let cells: Vec<Cell<'_>> =
            read.map(|(field, decision)| decision.read(cell(field), options)).collect();
        sink(&cells)
    })
}

/// A value that is empty is none.
fn cell(field: &str) -> Cell<'_> {
    if field.is_empty() { Cell::Null } else { Cell::Untyped(field) }
}

fn add(
    columns: &mut [Column],
    source: &Source,
    work: &Work<'_>,
    layout: &Layout,
    row: u64,
    record: &ByteRecord,
) -> Result<(), ImportError> {
    for (column, value) in columns.iter_mut().zip(record) {
        column.add(&cell(text(source, work, layout, row, value)?), work.options);
    }
    Ok(())
}

/// Returns whether a row that is called one of totals has the sum of a column.
fn is_total(
    source: &Source,
    work: &Work<'_>,
    layout: &Layout,
    columns: &[Column],
    last: u64,
    total: &ByteRecord,
) -> Result<bool, ImportError> {
    let decisions = decide(columns, work.options);
    let mut sums = Sums::new(&decisions, columns, work.options);
    each_record(source, &work.renew(), layout.delimiter, |row, record| {
        if row > layout.titles && row < last {
            sums.add(record);
        }
        Ok(())
    })?;
    Ok(sums.are_in(total))
}

/// Returns true if the first row names the columns: it does unless its values are like those below
/// it, and at least one of these is no text.
fn has_header(first: &[String], columns: &[Column], options: &ReadOptions) -> bool {
    let likeness =
        first.iter().zip(columns).map(|(name, column)| column.is_like(&cell(name), options));
    let mut likeness: Vec<Option<bool>> = likeness.collect();
    // Programs leave the name of the column empty that counts the rows.
    if first.len() > 1 && first[0].trim().is_empty() {
        likeness[0] = Some(false);
    }
    let is_alike = likeness.contains(&Some(true)) && !likeness.contains(&Some(false));
    let numbers: Vec<i64> = first.iter().filter_map(|name| integer(name.trim())).collect();
    let is_counted = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
        && numbers.first().is_some_and(|first| *first <= 1);
    // Columns may be called 0, 1, 2, as programs call those without a name, or by numbers behind a
    // first name.
    let is_numbered = is_counted
        && match numbers.len() == first.len() {
            true => numbers.len() > 1 && numbers[0] == 0,
            false => numbers.len() > 2,
        };
    !is_alike || is_numbered
}

/// A row may be longer than the first by empty values.
fn check_width(
    source: &Source,
    work: &Work<'_>,
    layout: &Layout,
    row: u64,
    record: &ByteRecord,
    width: usize,
) -> Result<(), ImportError> {
    if record.len() == width
        || (record.len() > width && record.iter().skip(width).all(<[u8]>::is_empty))
    {
        return Ok(());
    }
    let values = syrch_core::text::count(record.len(), "value");
    let first = if layout.titles == 0 { "first line" } else { "line with the names" };
    let line = line_of(source, work, layout, row);
    Err(ImportError::content(
        &source.name,
        line,
        format!("it has {values}, and the {first} has {width}"),
    ))
}

fn texts<'r>(
    source: &Source,
    work: &Work<'_>,
    layout: &Layout,
    row: u64,
    record: &'r ByteRecord,
) -> Result<Vec<&'r str>, ImportError> {
    record.iter().map(|value| text(source, work, layout, row, value)).collect()
}

fn text<'r>(
    source: &Source,
    work: &Work<'_>,
    layout: &Layout,
    row: u64,
    value: &'r [u8],
) -> Result<&'r str, ImportError> {
    std::str::from_utf8(value).map_err(|_| {
        let line = line_of(source, work, layout, row);
        ImportError::content(&source.name, line, text::not_utf8(source, value))
    })
}

/// The line at which a row begins, counted from 0; the file is read again to it.
fn line_of(source: &Source, work: &Work<'_>, layout: &Layout, row: u64) -> Option<u64> {
    let mut bytes = text::open(source, work.options).ok()?;
    let mut walk = Walk::new(layout.delimiter);
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = bytes.read(&mut buffer).ok().filter(|read| *read > 0)?;
        if let Some(line) = walk.line_of(&buffer[..read], row + 1) {
            return Some(line);
        }
    }
}

fn each_record(
    source: &Source,
    work: &Work<'_>,
    delimiter: u8,
    mut each: impl FnMut(u64, &mut ByteRecord) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let row = Counter::new(0);
    let ended = Counter::new(None);
    let counted =
        Counted { inner: text::open(source, work.options)?, work, row: &row, ended: &ended };
    let quotes = Quotes { inner: counted, source, walk: Walk::new(delimiter) };
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).buffer_capacity(BUFFER);
    let mut reader: Reader<Quotes<'_>> = builder.from_reader(quotes);
    let mut record = ByteRecord::new();
    let mut count = 0;
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => {
                row.set(0);
                each(count, &mut record)?;
                count += 1;
            }
            Err(error) => {
                let line = reader.position().line();
                return Err(ended.take().unwrap_or_else(|| content_error(source, line, &error)));
            }
        }
    }
}

fn content_error(source: &Source, line: u64, error: &csv::Error) -> ImportError {
    let reason = match error.kind() {
        ErrorKind::Io(error) => error.to_string(),
        _ => error.to_string(),
    };
    ImportError::content(&source.name, line, reason)
}
