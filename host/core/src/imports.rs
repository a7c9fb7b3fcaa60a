//! Files of rows that are read into a database: the options, which are what the user knows of
//! them that their bytes do not say, the limits, and what is reported while they are read.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Options of reading files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// The encoding of texts; `None` if they are UTF-8, or UTF-16 with its mark.
    pub encoding: Option<Encoding>,
    /// Texts that are NULL in every column.
    pub nulls: Vec<String>,
    /// The mark before the decimals of a number; `None` if the values of a column decide.
    pub decimal: Option<Decimal>,
    /// The order of day, month and year where all three are numbers; `None` if the values of a
    /// column decide.
    pub date_order: Option<DateOrder>,
}

/// An encoding of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// Returns the encoding of that name, as the web knows it, such as `windows-1252` or `latin1`.
    #[must_use]
    pub fn for_name(name: &str) -> Option<Self> {
        encoding_rs::Encoding::for_label_no_replacement(name.trim().as_bytes()).map(Self)
    }

    /// The encoding that decodes texts.
    #[must_use]
    pub fn decoding(self) -> &'static encoding_rs::Encoding {
        self.0
    }

    /// The name of the encoding.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl From<Encoding> for String {
    fn from(encoding: Encoding) -> Self {
        encoding.name().to_owned()
    }
}

impl TryFrom<String> for Encoding {
    type Error = UnknownWord;

    fn try_from(name: String) -> Result<Self, UnknownWord> {
        Self::for_name(&name).ok_or(UnknownWord)
    }
}

/// The mark before the decimals of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decimal {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

impl Decimal {
    /// The marks as they are written.
    pub const NAMES: &[&str] = &[",", "."];

    /// The mark.
    #[must_use]
    pub const fn mark(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    /// The mark that is not this one, which may stand between groups of three digits.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

/// A word that is none of those that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown word")]
pub struct UnknownWord;

impl FromStr for Decimal {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        [Self::Point, Self::Comma]
            .into_iter()
            .find(|mark| text == mark.mark().to_string())
            .ok_or(UnknownWord)
    }
}

/// The order of day, month and year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DateOrder {
    /// `31/12/2024`
    DayMonthYear,
    /// `12/31/2024`
    MonthDayYear,
    /// `24-12-31`
    YearMonthDay,
}

impl DateOrder {
    /// The orders by name.
    pub const NAMES: &[&str] = &["dmy", "mdy", "ymd"];

    /// All orders.
    pub const ALL: [Self; 3] = [Self::DayMonthYear, Self::MonthDayYear, Self::YearMonthDay];

    /// The name of the order.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DayMonthYear => "dmy",
            Self::MonthDayYear => "mdy",
            Self::YearMonthDay => "ymd",
        }
    }
}

impl FromStr for DateOrder {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|order| order.name() == text).ok_or(UnknownWord)
    }
}

/// A note about what reading a file changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The column that it is about; `None` if it is about the table.
    pub column: Option<String>,
    /// The note.
    pub text: String,
}

impl Note {
    /// Makes a note about a column, or about the table.
    pub fn new(column: impl Into<Option<String>>, text: impl Into<String>) -> Self {
        Self { column: column.into(), text: text.into() }
    }
}

/// Receives the progress of reading, possibly on another thread.
pub type OnProgress = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

/// The limits on what is read, of all files of a database together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportCaps {
    /// Bytes, unpacked where a file is compressed.
    pub bytes: u64,
    /// Rows of all tables.
    pub rows: u64,
}

impl Default for ImportCaps {
    /// 4 GB and 50 million rows.
    fn default() -> Self {
        Self { bytes: 4_000_000_000, rows: 50_000_000 }
    }
}

/// An event while files are read.
#[derive(Debug)]
pub enum Progress<'a> {
    /// More rows of a file were read; sent every 100,000 rows.
    Reading {
        /// The name of the file, without its folder.
        file: &'a str,
        /// Its rows so far.
        rows: u64,
    },
    /// A file has become a table.
    Read(&'a Imported),
}

/// A table that a file has become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The name of the file, without its folder.
    pub file: String,
    /// The name of the table.
    pub table: String,
    /// The columns with their types, in the order of the file.
    pub columns: Vec<(String, &'static str)>,
    /// The number of rows.
    pub rows: u64,
    /// Columns of the file that the table lacks, since their values are lists or structures.
    pub nested: Vec<String>,
    /// Notes about what reading changed, those about the table first.
    pub notes: Vec<Note>,
}

/// Private databases and indexes of values of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stored {
    /// The number of databases and indexes.
    pub count: usize,
    /// The bytes of their files together.
    pub bytes: u64,
}
