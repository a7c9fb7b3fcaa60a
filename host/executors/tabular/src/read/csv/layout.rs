//! The layout of a file of values, from its first lines: the separator of values, and the line that
//! names the columns.

use std::io::Read;

use csv::{ByteRecord, ReaderBuilder};

use crate::cell::{integer, is_date, real};
use crate::error::ImportError;
use crate::read::Work;
use crate::sources::{Format, Source};
use crate::text::{self, BUFFER};

/// The characters that may stand between two values of a `.csv` file. The comma comes last: it also
/// stands in numbers and texts.
const DELIMITERS: [u8; 4] = *b";\t|,";
/// The number of rows that are looked at.
const ROWS: usize = 1_000;

/// The layout of a file of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) delimiter: u8,
    /// Rows above the one that names the columns.
    pub(crate) titles: u64,
    /// True if a row names the columns.
    pub(crate) has_header: bool,
    /// The row of totals, which is left out, counted from 0 with all rows above.
    pub(crate) totals: Option<u64>,
}

impl Layout {
    /// Finds the layout in the first bytes of a file.
    pub(crate) fn find(source: &Source, work: &Work<'_>) -> Result<Self, ImportError> {
        let mut head = Vec::new();
        let read = text::open(source, work.options)?.take(BUFFER as u64).read_to_end(&mut head);
        read.map_err(|error| ImportError::io(&source.name, &error))?;
        if let Some(reason) = text::detect_utf16(&head) {
            return Err(ImportError::content(&source.name, 1, reason));
        }
        let is_whole = head.len() < BUFFER;
        let known: &[u8] = if source.format == Format::Tsv { b"\t" } else { &DELIMITERS };
        let samples = known.iter().map(|delimiter| Sample::read(&head, *delimiter, is_whole));
        let best =
            samples.reduce(|best, other| if other.rank() > best.rank() { other } else { best });
        let titles = best.as_ref().map_or(0, |sample| sample.titles() as u64);
        let best = best.filter(|sample| source.format == Format::Tsv || sample.width > 1);
        Ok(Self::new(best.map_or(b',', |sample| sample.delimiter), titles))
    }

    fn new(delimiter: u8, titles: u64) -> Self {
        Self { delimiter, titles, has_header: true, totals: None }
    }
}

/// The first rows of a file, with one character between their values.
struct Sample {
    delimiter: u8,
    rows: Vec<ByteRecord>,
    /// The number of values that most rows have; 1 if none has several.
    width: usize,
    /// The number of rows that have that width.
    fitting: usize,
}

impl Sample {
    fn read(head: &[u8], delimiter: u8, is_whole: bool) -> Self {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(head);
        let mut rows: Vec<ByteRecord> =
            reader.byte_records().take(ROWS).map_while(Result::ok).collect();
        if !is_whole && rows.len() > 1 && rows.len() < ROWS {
            // The last one is cut.
            rows.pop();
        }
        let count = |width: usize| rows.iter().filter(|row| row.len() == width).count();
        let mut widths: Vec<usize> =
            rows.iter().map(ByteRecord::len).filter(|width| *width > 1).collect();
        widths.sort_unstable();
        widths.dedup();
        let best = widths.into_iter().map(|width| (count(width), width)).max();
        let (fitting, width) = best.unwrap_or((0, 1));
        Self { delimiter, rows, width, fitting }
    }

    /// Ranks the separator by how well it explains the rows: by how many have the same number of
    /// values, and by those of the first row.
    fn rank(&self) -> (usize, usize) {
        (self.fitting, self.rows.first().map_or(0, ByteRecord::len))
    }

    /// The number of rows above the one that names the columns. The separators decide: titles have
    /// fewer values than the table below them.
    fn titles(&self) -> usize {
        let titles =
            self.rows.iter().take_while(|row| row.len() != self.width || is_padded(row)).count();
        let (Some(header), Some(below)) = (self.rows.get(titles), self.rows.get(titles + 1..))
        else {
            return 0;
        };
        let above = &self.rows[..titles];
        // Rows that end with a separator too many have as many values as the first row names.
        let longest = below.iter().map(value_count).max().unwrap_or_default();
        // A row that is too short or too long is an error of its own.
        let fitting = below.iter().filter(|row| row.len() == self.width).count();
        let is_table =
            below.first().is_some_and(|row| row.len() == self.width) && fitting * 2 >= below.len();
        let is_above = above.iter().all(|row| row.len() < self.width || is_padded(row));
        let is_shorter = above.iter().all(|row| value_count(row) < longest);
        // A row with one name too few names the columns of a file whose rows have a name of their
        // own.
        let is_one_short =
            titles == 1 && value_count(&above[0]) + 1 == self.width && self.width > 2;
        let has_titles = is_table && is_above && is_shorter && !is_one_short && has_names(header);
        if has_titles { titles } else { 0 }
    }
}

/// Returns true if a row has a value in its first place alone, as titles have in the files of
/// spreadsheets, or none.
fn is_padded(row: &ByteRecord) -> bool {
    row.len() > 1 && value_count(row) <= 1
}

/// The number of values up to the last that is not empty.
fn value_count(row: &ByteRecord) -> usize {
    row.iter().rposition(|value| !value.is_empty()).map_or(0, |at| at + 1)
}

/// Returns true if a row names columns: it has no empty value before its end, and none that is a
/// number or a date, but for years behind the first.
fn has_names(row: &ByteRecord) -> bool {
    row.iter().take(value_count(row)).enumerate().all(|(at, name)| {
        let is_year = at > 0 && name.len() == 4 && matches!(name, [b'1' | b'2', ..]);
        !name.is_empty() && (is_year || !is_value(name))
    })
}

/// Returns true if a text is a number or a date, which hardly names a column.
fn is_value(text: &[u8]) -> bool {
    std::str::from_utf8(text)
        .is_ok_and(|text| integer(text).is_some() || real(text).is_some() || is_date(text))
}
