//! An open host as Python holds it.

use pyo3::prelude::*;

/// A database, a model and a strategy that are open.
#[pyclass(frozen, module = "syrch_host._native")]
pub(crate) struct Host {
    pub(crate) host: syrch::Host,
}
