//! A trace that tests can read.

use std::cell::RefCell;

use serde_json::Value;

use crate::bindings::trace::Level;
use crate::bindings::types::Candidate;

/// An entry of the log.
#[derive(Debug, Clone, PartialEq)]
pub enum Traced {
    /// A note with its level and text.
    Note(Level, String),
    /// A candidate was reported to the host.
    Proposed(Candidate),
    /// A candidate was chosen, and why.
    Kept(String, String),
    /// A candidate was not chosen, and why.
    Discarded(String, String),
    /// A step of the strategy's own.
    Event(Option<String>, String, Value),
}

/// The log of all entries, in order.
#[derive(Debug, Default)]
pub struct FakeTrace(RefCell<Vec<Traced>>);

impl FakeTrace {
    /// Returns all entries so far.
    #[must_use]
    pub fn lines(&self) -> Vec<Traced> {
        self.0.borrow().clone()
    }

    /// The texts of all notes so far.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.0
            .borrow()
            .iter()
            .filter_map(|line: &Traced| match line {
                Traced::Note(_, text) => Some(text.clone()),
                _ => None,
            })
            .collect()
    }

    /// Returns the reason why a candidate was not chosen; `None` if there is no such entry.
    #[must_use]
    pub fn discarded(&self, id: &str) -> Option<String> {
        self.0.borrow().iter().find_map(|line| match line {
            Traced::Discarded(candidate, reason) if candidate == id => Some(reason.clone()),
            _ => None,
        })
    }

    /// Returns the reason why a candidate was chosen; `None` if there is no such entry.
    #[must_use]
    pub fn kept(&self, id: &str) -> Option<String> {
        self.0.borrow().iter().find_map(|line| match line {
            Traced::Kept(candidate, reason) if candidate == id => Some(reason.clone()),
            _ => None,
        })
    }

    pub(super) fn record(&self, line: Traced) {
        self.0.borrow_mut().push(line);
    }
}
