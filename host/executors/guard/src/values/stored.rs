//! An index of values as bytes, from which it is read again.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use super::{CHARACTERS, Values};

/// The first bytes: another format has others.
const FORMAT: &str = "syrch-values/1";
/// Bytes of an identity or of a name at most.
const NAME: usize = 64 << 10;
/// Bytes of a value at most.
const VALUE: usize = CHARACTERS * 4;

impl Values {
    /// Writes an index that was finished, with the identity of the data that it is of.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, identity: &str, out: &mut impl Write) -> io::Result<()> {
        write_text(out, FORMAT)?;
        write_text(out, identity)?;
        write_number(out, usize::from(self.is_partial))?;
        write_number(out, usize::from(self.is_out_of_space))?;
        write_number(out, self.read.len())?;
        for table in &self.read {
            write_text(out, table)?;
        }
        write_number(out, self.places.len())?;
        let mut cells = &self.cells[..];
        for ((table, column), place) in self.places.iter().zip(0..) {
            let (own, others) = cells.split_at(cells.partition_point(|cell| cell.place <= place));
            cells = others;
            write_text(out, table)?;
            write_text(out, column)?;
            write_number(out, own.len())?;
            for cell in own {
                write_text(out, &cell.text)?;
            }
        }
        Ok(())
    }

    /// Reads an index, ready to be found in; `None` if it is of other data or of another format.
    ///
    /// # Errors
    /// Those of the reader, and when the bytes are damaged.
    pub fn read(identity: &str, from: &mut impl Read) -> io::Result<Option<Self>> {
        if read_text(from, NAME)? != FORMAT || read_text(from, NAME)? != identity {
            return Ok(None);
        }
        let mut values = Self::new(Duration::ZERO);
        values.is_partial = read_number(from)? > 0;
        let is_out_of_space = read_number(from)? > 0;
        for _ in 0..read_number(from)? {
            values.read.insert(read_text(from, NAME)?.into());
        }
        for place in 0..read_number(from)? {
            let table: Arc<str> = read_text(from, NAME)?.into();
            values.places.push((table, read_text(from, NAME)?));
            for _ in 0..read_number(from)? {
                values.add(place, &read_text(from, VALUE)?);
            }
        }
        values.is_out_of_space |= is_out_of_space;
        // The end, where a reader that checks a digest finds what is wrong.
        match from.read(&mut [0])? {
            0 => values.finish(),
            _ => return Err(ErrorKind::InvalidData.into()),
        }
        Ok(Some(values))
    }
}

fn write_number(out: &mut impl Write, number: usize) -> io::Result<()> {
    let number = u32::try_from(number).map_err(|_| ErrorKind::InvalidData)?;
    out.write_all(&number.to_le_bytes())
}

fn write_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    write_number(out, text.len())?;
    out.write_all(text.as_bytes())
}

fn read_number(from: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| ErrorKind::InvalidData.into())
}

fn read_text(from: &mut impl Read, most: usize) -> io::Result<String> {
    let length = read_number(from)?;
    if length > most {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Match;

    use super::*;
    use crate::values::Phrase;

    fn bytes() -> Vec<u8> {
        let mut index = Values::new(Duration::from_secs(3_600));
        let towns: Arc<str> = "towns".into();
        let code = index.place(&towns, "code");
        let name = index.place(&towns, "name");
        index.add(name, "Vienna");
        index.add(code, "VIE");
        index.add(name, "Graz");
        index.complete(&towns);
        index.finish();
        let mut bytes = Vec::new();
        index.write("one", &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_was_written_is_read_again() {
        let bytes = bytes();
        let read = Values::read("one", &mut &bytes[..]).unwrap().unwrap();
        assert!(read.is_complete("towns") && !read.is_complete("people") && !read.is_partial);
        let phrases = Phrase::all(&["graz".to_owned(), "vie".to_owned()]).unwrap();
        let found = read.find(&phrases, &Match::Exact, 5, || Ok(())).unwrap();
        let ids =
            found.iter().flatten().map(|hit| (hit.id.as_str(), hit.snippet.as_deref().unwrap()));
        assert_eq!(ids.collect::<Vec<_>>(), [("towns.name#2", "Graz"), ("towns.code#0", "VIE")]);
        let mut again = Vec::new();
        read.write("one", &mut again).unwrap();
        assert_eq!(again, bytes);
        assert!(Values::read("two", &mut &bytes[..]).unwrap().is_none());
    }

    #[test]
    fn damaged_bytes_are_an_error_and_no_panic() {
        let whole = bytes();
        for end in 0..whole.len() {
            assert!(Values::read("one", &mut &whole[..end]).is_err(), "{end}");
        }
        assert!(Values::read("one", &mut &[&whole[..], b"x"].concat()[..]).is_err());
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            drop(Values::read("one", &mut &bytes[..]));
        }
    }
}
