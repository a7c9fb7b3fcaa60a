//! An open host as Python holds it.

use pyo3::prelude::*;

use crate::causes::Causes;

/// A database, a model and a strategy that are open.
#[pyclass(frozen, module = "syrch_host._native")]
pub(crate) struct Host {
    pub(crate) host: syrch::Host,
    /// The exceptions of its model and its database.
    pub(crate) causes: Causes,
}
