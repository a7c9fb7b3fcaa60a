//! The lines that `sql --stdin-jsonl` reads. However long a line is, the memory for it is bounded,
//! and its `id` is found.

use std::cell::Cell;
use std::fmt;
use std::io::{BufRead, Error, ErrorKind, Read, Result};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// Bytes of a line at most that is read whole: the longest statement with all characters escaped,
/// and the other members.
pub(super) const LONGEST: usize = 1 << 20;

/// Bytes of a longer line that are searched for its `id`.
const SEARCHED: usize = 64 << 20;

/// Bytes of the `id` of a longer line.
const LONGEST_ID: usize = 64 << 10;

/// A line as it was read, without its end.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// The bytes of the whole line.
    Text(Vec<u8>),
    /// One of more than [`LONGEST`] bytes: its `id`, null when it has none.
    TooLong(Value),
}

/// The next line; `None` at the end.
pub(super) fn next(input: &mut impl BufRead) -> Result<Option<Line>> {
    let mut head = Vec::new();
    let mut seen = false;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok(seen.then_some(Line::Text(head)));
        }
        seen = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        if head.len() + part.len() > LONGEST {
            return long(&head, input).map(|id| Some(Line::TooLong(id)));
        }
        head.extend_from_slice(part);
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(Some(Line::Text(head)));
        }
    }
}

/// Reads a long line to its end and gives its `id`; `head` is what was read of it before.
fn long(head: &[u8], input: &mut impl BufRead) -> Result<Value> {
    let left = Cell::new(SEARCHED);
    let mut rest = Rest { head, input, ended: false, left: &left };
    let mut id = Value::Null;
    // What is wrong with the line's form does not matter: it is refused for its length.
    let _ = serde_json::Deserializer::from_reader(&mut rest)
        .deserialize_map(Members { id: &mut id, left: &left });
    rest.drain()?;
    Ok(id)
}

/// The rest of a line, as a reader that ends with the line.
struct Rest<'a, R> {
    head: &'a [u8],
    input: &'a mut R,
    ended: bool,
    /// Bytes that may still be read.
    left: &'a Cell<usize>,
}

impl<R: BufRead> Rest<'_, R> {
    /// Reads to the end of the line and discards it.
    fn drain(&mut self) -> Result<()> {
        while !self.ended {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = buffer.iter().position(|byte| *byte == b'\n');
            self.ended = end.is_some() || buffer.is_empty();
            let used = end.map_or(buffer.len(), |end| end + 1);
            self.input.consume(used);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Rest<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let most = out.len().min(self.left.get());
        if most == 0 && !out.is_empty() {
            return Err(Error::new(
                ErrorKind::FileTooLarge,
                "the line is too long to search for its id",
            ));
        }
        let read = if !self.head.is_empty() {
            self.head.read(&mut out[..most])?
        } else if self.ended {
            0
        } else {
            let buffer = self.input.fill_buf()?;
            let part = &buffer[..most.min(buffer.len())];
            let end = part.iter().position(|byte| *byte == b'\n');
            self.ended = end.is_some() || buffer.is_empty();
            let read = end.unwrap_or(part.len());
            out[..read].copy_from_slice(&part[..read]);
            self.input.consume(end.map_or(read, |end| end + 1));
            read
        };
        self.left.set(self.left.get() - read);
        Ok(read)
    }
}

/// The members of a line's object; all but the `id` are passed over.
struct Members<'a> {
    id: &'a mut Value,
    left: &'a Cell<usize>,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "id" {
                *self.id = map.next_value_seed(Id { left: self.left })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// An `id`, which ends the search when it is too long itself.
struct Id<'a> {
    left: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Id<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Value, D::Error> {
        let before = self.left.get();
        let granted = before.min(LONGEST_ID);
        self.left.set(granted);
        let id = <Value as serde::Deserialize>::deserialize(deserializer);
        self.left.set(before - (granted - self.left.get()));
        id
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn all(text: &[u8]) -> Vec<Line> {
        // A buffer of its own size, so that lines end anywhere in it.
        let mut input = BufReader::with_capacity(61, Cursor::new(text));
        std::iter::from_fn(|| next(&mut input).unwrap()).collect()
    }

    #[test]
    fn lines_are_read_whatever_their_length() {
        let long = [vec![b'x'; LONGEST + 1], b"\nend".to_vec()].concat();
        assert_eq!(all(&long), [Line::TooLong(Value::Null), Line::Text(b"end".to_vec())]);
        assert_eq!(all(&vec![b'x'; LONGEST]), [Line::Text(vec![b'x'; LONGEST])]);
        assert_eq!(
            all(b"a\n\nb\n"),
            [Line::Text(b"a".to_vec()), Line::Text(vec![]), Line::Text(b"b".to_vec())]
        );
        assert_eq!(all(b""), []);
    }

    #[test]
    fn a_long_line_is_known_by_its_id_wherever_it_stands() {
        let sql = "x".repeat(LONGEST);
        let deep = "[".repeat(LONGEST);
        for (line, id) in [
            (format!("{{\"id\": 7, \"sql\": \"{sql}\"}}"), json!(7)),
            (format!("{{\"sql\": \"{sql}\", \"id\": \"a\\n\"}}\r"), json!("a\n")),
            (
                format!("{{\"sql\": \"{sql}\\\"\", \"x\": [1, {{}}], \"id\": {{\"a\": [1]}}}}"),
                json!({"a": [1]}),
            ),
            (format!("{{\"id\": 1, \"id\": 2, \"sql\": \"{sql}"), json!(2)),
            (format!("{{\"id\": 3, \"sql\": {deep}"), json!(3)),
            (format!("{{\"sql\": \"{sql}\", \"id\": \"{sql}\"}}"), Value::Null),
            (format!("[{{\"id\": 4}}, \"{sql}\"]"), Value::Null),
            (format!("{{\"id\": {deep}"), Value::Null),
        ] {
            let lines = all(format!("{line}\n{{\"id\": 9}}\n").as_bytes());
            assert_eq!(lines, [Line::TooLong(id), Line::Text(b"{\"id\": 9}".to_vec())]);
        }
    }

    proptest! {
        #[test]
        fn the_parts_of_any_text_are_its_lines(
            bytes in prop::collection::vec(any::<u8>(), 0..300)
        ) {
            let lines = all(&bytes);
            let texts = lines.iter().map(|line| match line {
                Line::Text(text) => text.as_slice(),
                Line::TooLong(_) => panic!("no line is long"),
            });
            let joined = texts.collect::<Vec<_>>().join(&b'\n');
            prop_assert_eq!(&joined, bytes.strip_suffix(b"\n").unwrap_or(&bytes));
        }
    }
}
