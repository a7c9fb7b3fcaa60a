//! The native half of the Python package `syrch_host`, imported as `syrch_host._native`.
//!
//! Everything here takes and returns plain values: options and documents are JSON, and each piece
//! of work is a [`Task`] whose end is an outcome with the class of an error. The package's own
//! Python makes keyword arguments, results and exceptions of them.

mod ask;
mod catalog;
mod causes;
mod column;
mod data;
mod engine;
mod failure;
mod handle;
mod host;
mod model;
mod options;
mod outcome;
mod rows;
mod runtime;
mod statement;
mod suite;
mod task;
mod watch;

use pyo3::prelude::*;

use crate::data::Data;
use crate::handle::Host;
use crate::task::Task;

/// The module `syrch_host._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Data>()?;
    module.add_class::<Host>()?;
    module.add_class::<Task>()?;
    module.add_function(wrap_pyfunction!(host::open, module)?)?;
    module.add_function(wrap_pyfunction!(suite::run_suite, module)?)
}
