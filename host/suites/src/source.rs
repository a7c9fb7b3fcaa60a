//! The containers that suites come in: JSON objects a line, a JSON array of objects,
//! comma-separated values. Whichever it is, one object at a time is in memory, and none may be
//! longer than [`LONGEST`].

use std::cell::Cell;
use std::fmt;
use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::ops::ControlFlow;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::record::{GOLDS, QUESTION};
use super::{Place, table};

/// Bytes of one question at most, as it is written.
pub(super) const LONGEST: usize = 1 << 20;
/// Bytes that are read to recognise the container; a header of columns may be as long.
pub(super) const HEAD: u64 = 64 << 10;

/// The container of the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// A JSON object a line.
    Lines,
    /// A JSON array of objects.
    Array,
    /// A header of columns, and a row an object. Cells are texts; empty ones are left out.
    Table,
}

/// An object, or the reason why it is none.
pub(super) struct Item {
    /// The place of the object.
    pub(super) place: Place,
    /// The members of the object.
    pub(super) object: std::result::Result<Map<String, Value>, String>,
}

/// A function that takes the items one by one, until it breaks.
pub(super) type Taker<'a> = dyn FnMut(Item) -> ControlFlow<()> + 'a;

/// Recognises the container by the beginning of the content, after the byte order mark. The error
/// describes the content.
pub(super) fn container(head: &[u8]) -> std::result::Result<Container, &'static str> {
    match head.trim_ascii_start().first() {
        Some(b'{') => return Ok(Container::Lines),
        Some(b'[') => return Ok(Container::Array),
        _ => {}
    }
    if head.starts_with(b"SQLite format 3\0") {
        return Err("it is a database");
    }
    let mut header = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(head);
    let mut names = csv::StringRecord::new();
    match header.read_record(&mut names) {
        Ok(true) => {}
        _ => return Err("it is not UTF-8 text"),
    }
    let has = |wanted: &str| names.iter().any(|name| name.trim() == wanted);
    if has(QUESTION) && GOLDS.iter().any(|gold| has(gold)) {
        return Ok(Container::Table);
    }
    Err("its first line is neither JSON nor a header with `question` and what is expected")
}

/// Gives every object to `take`, in order.
///
/// # Errors
/// When the input cannot be read.
pub(super) fn each(
    container: Container,
    input: &mut impl BufRead,
    take: &mut Taker<'_>,
) -> Result<()> {
    match container {
        Container::Lines => lines(input, take),
        Container::Array => array(input, take),
        Container::Table => table::each(input, take),
    }
}

pub(super) fn too_long() -> String {
    format!("is longer than {LONGEST} bytes")
}

fn lines(input: &mut impl BufRead, take: &mut Taker<'_>) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.take(LONGEST as u64 + 1).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let object = if line.len() > LONGEST && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            Err(too_long())
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            parse(&line)
        };
        if take(Item { place: Place::Line(number), object }).is_break() {
            break;
        }
    }
    Ok(())
}

fn parse(line: &[u8]) -> std::result::Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "is not UTF-8 text".to_owned())?;
    object(serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message);
        format!("is not JSON: {what} at column {}", error.column())
    })?)
}

fn object(value: Value) -> std::result::Result<Map<String, Value>, String> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err("is not a JSON object".to_owned()),
    }
}

/// A reader that gives no more than it is granted.
pub(super) struct Granted<'a, R> {
    pub(super) input: R,
    pub(super) left: &'a Cell<usize>,
}

impl<R: Read> Read for Granted<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let most = out.len().min(self.left.get());
        if most == 0 && !out.is_empty() {
            return Err(Error::new(ErrorKind::FileTooLarge, too_long()));
        }
        let read = self.input.read(&mut out[..most])?;
        self.left.set(self.left.get() - read);
        Ok(read)
    }
}

fn array(input: &mut impl BufRead, take: &mut Taker<'_>) -> Result<()> {
    let left = Cell::new(LONGEST);
    let mut count = 0;
    let mut stopped = false;
    let mut reader = serde_json::Deserializer::from_reader(Granted { input, left: &left });
    let items = Items { take, left: &left, count: &mut count, stopped: &mut stopped };
    let read = reader.deserialize_seq(items).and_then(|()| {
        left.set(LONGEST);
        reader.end()
    });
    let Err(error) = read else { return Ok(()) };
    if stopped {
        return Ok(());
    }
    let reason = match (error.io_error_kind(), error.classify()) {
        (Some(ErrorKind::FileTooLarge), _) => too_long(),
        (Some(_), _) => return Err(error.into()),
        _ => format!("is not JSON: {error}; what follows was not read"),
    };
    // Nothing can be read after it, so it does not matter whether more is wanted.
    let _ = take(Item { place: Place::Item(count + 1), object: Err(reason) });
    Ok(())
}

/// The items of an array, each read when the one before was taken.
struct Items<'a, 'b> {
    take: &'a mut Taker<'b>,
    left: &'a Cell<usize>,
    count: &'a mut u64,
    stopped: &'a mut bool,
}

impl<'de> Visitor<'de> for Items<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of questions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        self.left.set(LONGEST);
        while let Some(value) = items.next_element::<Value>()? {
            *self.count += 1;
            if (self.take)(Item { place: Place::Item(*self.count), object: object(value) })
                .is_break()
            {
                *self.stopped = true;
                return Err(serde::de::Error::custom("no more is wanted"));
            }
            self.left.set(LONGEST);
        }
        Ok(())
    }
}
