//! The ends of work, as Python gets them.

use pyo3::prelude::*;
use serde::Serialize;
use syrch::{Error, QueryError, QueryResult};

use crate::causes::Causes;
use crate::data::Data;
use crate::handle::Host;

/// The class of an end without error.
const ANSWERED: &str = "answered";

/// The end of work: the class of the command line's exit codes, a message for people, the document
/// that describes it, the value that it is about (the rows of an answer, a host, or the outcomes
/// of a batch), and the exception that caused an error, if a function of the program raised it.
pub(crate) type Outcome =
    (&'static str, String, Option<String>, Option<Py<PyAny>>, Option<Py<PyAny>>);

/// The end of work, before Python has it.
pub(crate) struct Ended {
    class: &'static str,
    message: String,
    document: Option<String>,
    value: Value,
    /// The exceptions among which the cause of an error is.
    causes: Vec<Causes>,
}

enum Value {
    None,
    Rows(Data),
    Host(Box<Host>),
    Many(Vec<Ended>),
}

/// The document of an answer, with what a [`QueryResult`] has besides.
#[derive(Serialize)]
struct Answered<'a> {
    #[serde(flatten)]
    trace: &'a syrch::report::AnswerDocument,
    tables: &'a [String],
}

impl Ended {
    fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            document: None,
            value: Value::None,
            causes: Vec::new(),
        }
    }

    /// The end of work that was cancelled.
    pub(crate) fn from_cancel() -> Self {
        Self::new("interrupted", "interrupted")
    }

    /// The end of work that panicked, which is a fault of the host.
    pub(crate) fn from_panic() -> Self {
        Self::new("unexpected", "the host failed by an error of its own")
    }

    /// The end of opening a host.
    pub(crate) fn from_opened(opened: Result<Host, Error>) -> Self {
        match opened {
            Ok(host) => Self { value: Value::Host(Box::new(host)), ..Self::new(ANSWERED, "") },
            Err(error) => error.into(),
        }
    }

    /// The end of a search.
    pub(crate) fn from_search(found: Result<QueryResult, QueryError>) -> Self {
        let message = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
        match found {
            Ok(found) => {
                let answered = Answered { trace: &found.trace, tables: &found.tables };
                let rows = Value::Rows(Data::new(found.data.clone()));
                Self { value: rows, ..Self::with_document(ANSWERED, message, &answered) }
            }
            Err(QueryError::NoAnswer(trace)) => Self::with_document("no-answer", message, &trace),
            Err(QueryError::Unclear { trace, .. }) => {
                Self::with_document("clarification-needed", message, &trace)
            }
            Err(QueryError::Failed(error)) => error.into(),
        }
    }

    /// The end of a batch.
    pub(crate) fn from_batch(ends: Vec<Self>) -> Self {
        Self { value: Value::Many(ends), ..Self::new(ANSWERED, "") }
    }

    /// The end of a run that has a report. `stopped` is the class and the message of what stopped
    /// it.
    pub(crate) fn from_report(
        report: &impl Serialize,
        stopped: Option<(&'static str, String)>,
    ) -> Self {
        let (class, message) = stopped.unwrap_or((ANSWERED, String::new()));
        Self::with_document(class, message, report)
    }

    fn with_document(class: &'static str, message: String, document: &impl Serialize) -> Self {
        match serde_json::to_string(document) {
            Ok(document) => Self { document: Some(document), ..Self::new(class, message) },
            Err(error) => {
                Self::new("unexpected", format!("the document cannot be written: {error}"))
            }
        }
    }

    /// Adds the exceptions among which the cause of an error is, the likeliest first.
    pub(crate) fn with_causes(mut self, causes: impl IntoIterator<Item = Causes>) -> Self {
        self.causes.extend(causes);
        self
    }

    /// The end as Python gets it.
    pub(crate) fn into_outcome(self, py: Python<'_>) -> PyResult<Outcome> {
        let Self { class, message, document, value, causes } = self;
        let cause = match class {
            ANSWERED => None,
            _ => causes.iter().find_map(|one| one.find(py, &message, document.as_deref())),
        };
        let value = match value {
            Value::None => None,
            Value::Rows(data) => Some(Py::new(py, data)?.into_any()),
            Value::Host(host) => Some(Py::new(py, *host)?.into_any()),
            Value::Many(ends) => {
                let outcomes: PyResult<Vec<Outcome>> =
                    ends.into_iter().map(|end| end.into_outcome(py)).collect();
                Some(outcomes?.into_pyobject(py)?.unbind())
            }
        };
        Ok((class, message, document, value, cause))
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::new(error.class(), error.to_string())
    }
}
