//! JSON Lines: an object in each line, whose names are the columns. What is nested is the text of
//! its JSON.

use std::borrow::Cow;
use std::cell::Cell as Counter;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{COLUMNS, Counted, ROW_BYTES, Shape, Sink, Work, names};
use crate::cell::Cell;
use crate::column::{Column, decide};
use crate::error::ImportError;
use crate::sources::Source;
use crate::text::{self, BUFFER};

pub(super) fn shape(source: &Source, work: &Work<'_>) -> Result<Shape, ImportError> {
    let mut places = HashMap::new();
    let mut written = Vec::new();
    let mut columns = Vec::new();
    each_line(source, work, |line, pairs| {
        work.take_row()?;
        for (name, value) in &pairs.0 {
            let at = match places.get(name.as_ref()) {
                Some(at) => *at,
                None if written.len() >= COLUMNS => {
                    let reason = format!("there are more than {COLUMNS} columns");
                    return Err(ImportError::content(&source.name, line, reason));
                }
                None => {
                    places.insert(name.clone().into_owned(), written.len());
                    written.push(name.clone().into_owned());
                    columns.push(Column::new(work.options));
                    written.len() - 1
                }
            };
            columns[at].add(&cell(value), work.options);
        }
        Ok(())
    })?;
    if written.is_empty() {
        return Err(ImportError::content(&source.name, None, "no line has an object with names"));
    }
    let names = names(source, written.iter().map(String::as_str))?;
    // The columns are found by what the file calls them.
    Ok(Shape::new(names, decide(&columns, work.options)))
}

pub(super) fn rows(
    source: &Source,
    shape: &Shape,
    work: &Work<'_>,
    sink: Sink<'_>,
) -> Result<(), ImportError> {
    let mut places: HashMap<String, usize> = HashMap::new();
    each_line(source, work, |_, pairs| {
        work.take_row()?;
        let mut cells = vec![Cell::Null; shape.names.len()];
        for (name, value) in &pairs.0 {
            // New names come in the order in which the columns were found.
            let at = match places.get(name.as_ref()) {
                Some(at) => *at,
                None => {
                    let at = places.len();
                    places.insert(name.clone().into_owned(), at);
                    at
                }
            };
            match cells.get_mut(at) {
                Some(place) => *place = shape.decisions[at].read(cell(value), work.options),
                None => {
                    return Err(ImportError::content(
                        &source.name,
                        None,
                        "it changed while it was read; try again",
                    ));
                }
            }
        }
        sink(&cells)
    })
}

fn cell(value: &RawValue) -> Cell<'_> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'n') => Cell::Null,
        Some(b't') => Cell::Boolean(true),
        Some(b'f') => Cell::Boolean(false),
        Some(b'"') => {
            Cell::Text(serde_json::from_str(text).map_or(Cow::Borrowed(text), Cow::Owned))
        }
        Some(b'[' | b'{') => Cell::Text(Cow::Borrowed(text)),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => Cell::Integer(number),
            // A whole number that is too great would lose digits.
            (_, Ok(number)) if number.is_finite() && text.contains(['.', 'e', 'E']) => {
                Cell::Real(number)
            }
            _ => Cell::Text(Cow::Borrowed(text)),
        },
    }
}

/// The pairs of an object whose values are not read yet.
struct Pairs<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'l> serde::Deserialize<'l> for Pairs<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'l> Visitor<'l> for Read {
            type Value = Pairs<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object in each line")
            }

            fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Pairs<'l>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    if pairs.len() >= COLUMNS {
                        return Err(A::Error::custom(format!(
                            "an object has more than {COLUMNS} names"
                        )));
                    }
                    pairs.push((name, map.next_value()?));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// A name, which stays in its line where nothing in it is escaped.
#[derive(serde::Deserialize)]
struct Name<'l>(#[serde(borrow)] Cow<'l, str>);

fn each_line(
    source: &Source,
    work: &Work<'_>,
    mut each: impl FnMut(u64, Pairs<'_>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let row = Counter::new(0);
    let ended = Counter::new(None);
    let counted =
        Counted { inner: text::open(source, work.options)?, work, row: &row, ended: &ended };
    let mut reader = BufReader::with_capacity(BUFFER, counted);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        row.set(0);
        number += 1;
        let wrong = |reason: String| ImportError::content(&source.name, number, reason);
        match reader.by_ref().take(ROW_BYTES as u64 + 1).read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(bytes) if bytes > ROW_BYTES => {
                return Err(wrong(format!("the line has more than {ROW_BYTES} bytes")));
            }
            Ok(_) => {}
            Err(error) => return Err(ended.take().unwrap_or_else(|| wrong(error.to_string()))),
        }
        let text = line.as_slice();
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let pairs = serde_json::from_slice(text).map_err(|error| {
            if number == 1
                && let Some(reason) = text::detect_utf16(text)
            {
                return wrong(reason);
            }
            if std::str::from_utf8(text).is_err() {
                return wrong(text::not_utf8(source, text));
            }
            // The line is that of the file, and the error's own says 1.
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            wrong(format!("{reason}, at byte {} of the line", error.column()))
        })?;
        each(number, pairs)?;
    }
}
