//! The errors of suites: all mistakes at once, each with its place.

use std::fmt;
use std::path::PathBuf;

use super::Format;

/// The place of a question in its file.
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

/// A mistake in a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteFault {
    /// The place of the question.
    pub place: Place,
    /// The question's id, when it has one.
    pub id: Option<String>,
    /// The mistake in words.
    pub reason: String,
    /// The number of further places with the same mistake.
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

/// The reason why a suite cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file is missing, or may not be read.
    #[error("suite `{path}` cannot be read: {reason}")]
    Unreadable {
        /// The path of the suite.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The content is of no known format.
    #[error("`{path}` is no suite: {reason}; {}", Format::KNOWN)]
    Unknown {
        /// The path of the suite.
        path: PathBuf,
        /// A description of what the content is instead.
        reason: String,
    },
    /// The suite has no questions.
    #[error("suite `{path}` has no questions")]
    Empty {
        /// The path of the suite.
        path: PathBuf,
    },
    /// Questions of the suite are malformed.
    #[error("suite `{path}` has {}", Listed { faults, count: *count })]
    Faults {
        /// The path of the suite.
        path: PathBuf,
        /// The first of each kind, [`syrch_core::text::NAMED`] at most, in the order of the file.
        faults: Vec<SuiteFault>,
        /// The number of all mistakes.
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
