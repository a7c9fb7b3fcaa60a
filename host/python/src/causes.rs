//! The exceptions that functions and databases of the program raised, which become the causes of
//! the host's own errors.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

/// The exceptions that are retained: those of the searches under way and of a few before.
const RETAINED: usize = 32;

/// Exceptions, each with the text that stands for it in messages and documents.
#[derive(Clone, Default)]
pub(crate) struct Causes(Arc<Mutex<VecDeque<(String, PyErr)>>>);

impl Causes {
    /// Retains an exception under the text that stands for it; an empty one is in each message.
    pub(crate) fn retain(&self, py: Python<'_>, text: &str, error: &PyErr) {
        let mut retained = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        retained.push_back((text.to_owned(), error.clone_ref(py)));
        let oldest = if retained.len() > RETAINED { retained.pop_front() } else { None };
        drop(retained);
        // The end of an exception may run code of the program.
        drop(oldest);
    }

    /// The last exception whose text a message or a document has; `None` if they have none of any.
    pub(crate) fn find(
        &self,
        py: Python<'_>,
        message: &str,
        document: Option<&str>,
    ) -> Option<Py<PyAny>> {
        let retained = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = retained.iter().rev().find(|(text, _)| {
            message.contains(text.as_str())
                || document.is_some_and(|document| {
                    serde_json::to_string(text)
                        .is_ok_and(|quoted| document.contains(quoted.trim_matches('"')))
                })
        });
        let error = found.map(|(_, error)| error.clone_ref(py));
        drop(retained);
        error.map(|error| error.into_value(py).into_any())
    }
}
