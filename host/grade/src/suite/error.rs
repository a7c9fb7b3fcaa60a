//! Why a suite cannot be used: everything that is wrong with it, at once, each with its place.

use std::fmt;
use std::path::PathBuf;

use super::Format;

/// Where a question stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// On the line of this number, from 1, in files of lines and of comma-separated values.
    Line(u64),
    /// The item of this number, from 1, of a JSON array.
    Item(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Item(item) => write!(f, "item {item}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteFault {
    /// Where.
    pub place: Place,
    /// The question's id, when it has one.
    pub id: Option<String>,
    /// What.
    pub reason: String,
    /// In how many further places the same is wrong.
    pub more: u64,
}

impl fmt::Display for SuiteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "{}, `{id}`: {}", self.place, self.reason),
            None => write!(f, "{}: {}", self.place, self.reason),
        }?;
        match self.more {
            0 => Ok(()),
            more => write!(f, " (and {more} more like it)"),
        }
    }
}

/// Why a suite cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file is missing, or may not be read.
    #[error("suite `{path}` cannot be read: {reason}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The content is of no known format.
    #[error("`{path}` is no suite: {reason}; {}", Format::KNOWN)]
    Unknown {
        /// Which file.
        path: PathBuf,
        /// What it is.
        reason: String,
    },
    /// There is nothing to ask.
    #[error("suite `{path}` has no questions")]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// Questions are wrong.
    #[error("suite `{path}` has {}", Listed { faults, count: *count })]
    Faults {
        /// Which file.
        path: PathBuf,
        /// The first of each kind, [`syrch_core::text::NAMED`] at most, in the order of the file.
        faults: Vec<SuiteFault>,
        /// How many there are.
        count: u64,
    },
}

/// The faults, a line each.
struct Listed<'a> {
    faults: &'a [SuiteFault],
    count: u64,
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:", self.count, if self.count == 1 { "fault" } else { "faults" })?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n{fault}"))?;
        match self.count - self.faults.iter().map(|fault| 1 + fault.more).sum::<u64>() {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}
