//! Findings about a semantics file and a database, each with its place in the file.

use std::fmt;

use crate::Place;

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A request would fail, or answer wrongly.
    Error,
    /// A request may answer something else than is meant.
    Warning,
    /// Something that may be intended.
    Note,
}

impl Severity {
    /// Returns the word for it in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A finding: shown as `file:line:column: severity: message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The weight.
    pub severity: Severity,
    /// The place in the file that it is about.
    pub place: Place,
    /// The reason, and what to do.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(severity: Severity, place: &Place, message: impl Into<String>) -> Self {
        Self { severity, place: place.clone(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.severity.name(), self.message)
    }
}
