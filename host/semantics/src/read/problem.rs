//! The problems of semantics files, each with its place.

use std::fmt;

use syrch_core::text::nearest;

use crate::Place;

/// The limit on the number of problems that are reported.
const LIMIT: usize = 100;

/// The limit on the number of names that are searched for one near to a wrong name.
const COMPARED: usize = 1_000;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// A mistake in a semantics file: shown as `file:line:column: message`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    /// Its place.
    pub place: Place,
    /// The reason, and what to do.
    pub message: String,
}

/// The problems that were found so far, at most [`LIMIT`] and a last one that says so.
#[derive(Debug, Default)]
pub(super) struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    pub(super) fn add(&mut self, place: &Place, message: impl Into<String>) {
        let message = match self.list.len() {
            LIMIT => "further problems are not listed; correct those above first".to_owned(),
            count if count > LIMIT => return,
            _ => message.into(),
        };
        self.list.push(Problem { place: place.clone(), message });
    }

    /// Reports a name that nothing has, with those that are near.
    pub(super) fn add_unknown<'a>(
        &mut self,
        place: &Place,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        if !self.is_full() {
            self.add(place, unknown(what, name, known));
        }
    }

    /// Returns true once the limit is reached, so that callers need not look for more problems.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() > LIMIT
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<Problem> {
        self.list
    }
}

/// The message about a name that nothing has.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let near = nearest(name, known.into_iter().take(COMPARED));
    let hint = match near.as_slice() {
        [] => String::new(),
        near => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("; did you mean {}?", near.join(" or "))
        }
    };
    format!("there is no {what} `{name}`{hint}")
}
