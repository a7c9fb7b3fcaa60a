//! Looks at the pages of a Parquet file before they are unpacked: how large they say to be, which
//! decides what unpacking costs.
//!
//! The headers are structures of Thrift's compact protocol, as `parquet.thrift` of the Parquet
//! project describes them.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

/// Bytes of a page at most, unpacked.
const PAGE: u64 = 64 << 20;
/// Bytes of the largest pages of all columns of a group together.
const GROUP: u64 = 1 << 30;
/// Bytes of a header at most.
const HEADER: u64 = 1 << 20;
/// Pages of a column in a group at most.
const PAGES: usize = 1_000_000;
/// Levels of structures in a header.
const DEPTH: u32 = 16;
/// `DELTA_BYTE_ARRAY`: each value repeats a part of the one before.
const DELTA_BYTE_ARRAY: i64 = 7;

/// Looks at all pages. Returns how many bytes a row may have at most in columns whose values repeat
/// parts of others.
///
/// # Errors
/// When unpacking would cost too much, or the file is damaged.
pub(crate) fn check(file: &File, metadata: &ParquetMetaData) -> Result<u64, String> {
    let mut repeating = 0;
    // A group without rows has no pages where its columns begin.
    for group in metadata.row_groups().iter().filter(|group| group.num_rows() > 0) {
        let mut largest = 0;
        let mut repeated = 0;
        for column in group.columns() {
            let pages = column_pages(file, column)?;
            largest += pages.data + pages.dictionary;
            repeated += if pages.repeats { pages.data } else { 0 };
        }
        if largest > GROUP {
            return Err(format!(
                "unpacking a group of its rows takes more than {GROUP} bytes; write it in \
                 smaller pages"
            ));
        }
        repeating = repeated.max(repeating);
    }
    Ok(repeating)
}

/// The sizes of a column's pages.
#[derive(Default)]
struct Pages {
    /// Bytes of the largest page of values.
    data: u64,
    /// Bytes of the dictionary.
    dictionary: u64,
    /// True if values repeat parts of those before.
    repeats: bool,
}

fn column_pages(file: &File, column: &ColumnChunkMetaData) -> Result<Pages, String> {
    let name = column.column_path().string();
    let damaged = || format!("the pages of column `{name}` are damaged");
    let packing = column.compression();
    if !matches!(
        packing,
        Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::ZSTD(_)
            | Compression::LZ4_RAW
    ) {
        return Err(format!(
            "column `{name}` is compressed by {packing}; write it with Zstandard, Snappy or gzip"
        ));
    }
    let number = |number: i64| u64::try_from(number).map_err(|_| damaged());
    let begin = first_page(column);
    let size = number(column.compressed_size())?;
    let mut at = number(begin)?;
    let end = at.checked_add(size).ok_or_else(damaged)?;
    let mut pages = Pages::default();
    let mut file = file;
    for _ in 0..PAGES {
        if at >= end {
            return Ok(pages);
        }
        file.seek(SeekFrom::Start(at)).map_err(|error| error.to_string())?;
        let mut reader =
            Thrift { inner: BufReader::with_capacity(4_096, file.take(HEADER)), read: 0 };
        let header = reader.page_header().ok_or_else(damaged)?;
        if header.unpacked > PAGE {
            return Err(format!(
                "a page of column `{name}` has {} bytes, {PAGE} at most are read",
                header.unpacked
            ));
        }
        let begin = at + reader.read;
        if matches!(packing, Compression::GZIP(_))
            && is_larger(file, begin, &header).map_err(|error| error.to_string())?
        {
            return Err(damaged());
        }
        match header.is_dictionary {
            true => pages.dictionary = header.unpacked.max(pages.dictionary),
            false => pages.data = header.unpacked.max(pages.data),
        }
        pages.repeats |= header.repeats;
        at = begin.checked_add(header.packed).ok_or_else(damaged)?;
    }
    Err(format!("column `{name}` has more than {PAGES} pages in a group of rows"))
}

/// Returns true if a page that is packed by gzip has more bytes than its header says, which the
/// unpacking does not look at.
fn is_larger(mut file: &File, begin: u64, header: &Header) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(begin.saturating_add(header.levels)))?;
    let packed = file.take(header.packed.saturating_sub(header.levels));
    let mut unpacked = MultiGzDecoder::new(BufReader::new(packed)).take(header.unpacked + 1);
    let mut bytes = 0;
    let mut piece = [0; 4_096];
    loop {
        // What is no gzip ends the reading as well.
        match unpacked.read(&mut piece) {
            Ok(0) | Err(_) => return Ok(bytes > header.unpacked),
            Ok(read) => bytes += read as u64,
        }
    }
}

fn first_page(column: &ColumnChunkMetaData) -> i64 {
    let data = column.data_page_offset();
    column.dictionary_page_offset().map_or(data, |dictionary| dictionary.min(data))
}

/// The header of a page, as far as it counts here.
#[derive(Debug, PartialEq)]
struct Header {
    unpacked: u64,
    packed: u64,
    /// Bytes of levels before the packed values.
    levels: u64,
    is_dictionary: bool,
    repeats: bool,
}

/// A reader of Thrift's compact protocol.
struct Thrift<R> {
    inner: R,
    /// Bytes that were read.
    read: u64,
}

/// The types of the compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

impl<R: Read> Thrift<R> {
    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.inner.read_exact(&mut byte).ok()?;
        self.read += 1;
        Some(byte[0])
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some(i64::try_from(value >> 1).ok()? ^ -i64::from(value & 1 == 1))
    }

    /// The fields of a structure: each number with its type. `take` reads the value of a field, or
    /// returns `None` to have it skipped.
    fn fields(
        &mut self,
        depth: u32,
        mut take: impl FnMut(&mut Self, i64, u8) -> Option<Option<()>>,
    ) -> Option<()> {
        let mut number = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            let delta = head >> 4;
            let kind = head & 0x0f;
            number = if delta == 0 { self.integer()? } else { number.checked_add(delta.into())? };
            if take(self, number, kind)?.is_none() {
                self.skip(kind, depth)?;
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            I16..=I64 => drop(self.varint()?),
            DOUBLE => self.pass(8)?,
            BINARY => {
                let length = self.varint()?;
                self.pass(length)?;
            }
            LIST | SET => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    // A truth value in a list takes a byte.
                    let item = head & 0x0f;
                    self.skip(if matches!(item, TRUE | FALSE) { BYTE } else { item }, depth)?;
                }
            }
            STRUCT => self.fields(depth, |_, _, _| Some(None))?,
            // A page's header has no maps.
            _ => return None,
        }
        Some(())
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        let passed =
            std::io::copy(&mut self.inner.by_ref().take(bytes), &mut std::io::sink()).ok()?;
        self.read += passed;
        (passed == bytes).then_some(())
    }

    fn page_header(&mut self) -> Option<Header> {
        let mut kind = None;
        let mut unpacked = None;
        let mut packed = None;
        let mut encoding = 0;
        let mut levels = 0_u64;
        self.fields(DEPTH, |thrift, number, _| {
            // The fields of the two headers for pages of values that hold the encoding.
            let (encoding_field, level_fields) = match number {
                1 => {
                    kind = Some(thrift.integer()?);
                    return Some(Some(()));
                }
                2 | 3 => {
                    let size = u64::try_from(thrift.integer()?).ok()?;
                    *(if number == 2 { &mut unpacked } else { &mut packed }) = Some(size);
                    return Some(Some(()));
                }
                5 => (2, 0..0),
                8 => (4, 5..7),
                _ => return Some(None),
            };
            thrift.fields(DEPTH, |thrift, number, _| {
                match number {
                    _ if number == encoding_field => encoding = thrift.integer()?,
                    _ if level_fields.contains(&number) => {
                        levels += u64::from(u32::try_from(thrift.integer()?).ok()?)
                    }
                    _ => return Some(None),
                }
                Some(Some(()))
            })?;
            Some(Some(()))
        })?;
        let is_dictionary = kind? == 2;
        let repeats = encoding == DELTA_BYTE_ARRAY;
        Some(Header { unpacked: unpacked?, packed: packed?, levels, is_dictionary, repeats })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(bytes: &[u8]) -> Option<(Header, u64)> {
        let mut thrift = Thrift { inner: bytes, read: 0 };
        let header = thrift.page_header()?;
        Some((header, thrift.read))
    }

    #[test]
    fn sizes_and_encoding_are_read_and_the_rest_is_passed_over() {
        // type 0, 300 bytes, 20 packed, a checksum, values of encoding 7 with statistics {1: "ab"}.
        let bytes = [
            0x15, 0, 0x15, 0xd8, 4, 0x15, 40, 0x15, 2, 0x1c, 0x15, 8, 0x15, 14, 0x15, 6, 0x15, 6,
            0x1c, 0x18, 2, b'a', b'b', 0, 0, 0,
        ];
        let expected =
            Header { unpacked: 300, packed: 20, levels: 0, is_dictionary: false, repeats: true };
        assert_eq!(header(&bytes), Some((expected, bytes.len() as u64)));
        let dictionary = [0x15, 4, 0x15, 20, 0x15, 20, 0x4c, 0x15, 2, 0x15, 0, 0x12, 0, 0];
        let (read, _) = header(&dictionary).unwrap();
        assert!(read.is_dictionary && !read.repeats);
        assert_eq!(header(&[0x15, 0, 0]), None);
        assert_eq!(header(&bytes[..10]), None);
    }

    #[test]
    fn nesting_ends() {
        assert_eq!(header(&[0x9c; 100_000]), None);
        assert_eq!(header(&[vec![0x99], vec![0xf9; 100_000]].concat()), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            header(&bytes);
        }
    }
}
