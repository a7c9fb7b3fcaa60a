//! The rows of an answer, for Arrow and for plain Python.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};
use syrch::arrow_array::RecordBatchIterator;
use syrch::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use syrch::arrow_schema::ffi::FFI_ArrowSchema;
use syrch::syrch_core::encode::{decode, encode};
use syrch::syrch_core::{ResultSet, Value};

/// Rows in Arrow's memory, which other libraries read by the Arrow PyCapsule interface.
#[pyclass(frozen, module = "syrch_host._native")]
pub(crate) struct Data {
    rows: Arc<ResultSet>,
}

impl Data {
    pub(crate) fn new(rows: Arc<ResultSet>) -> Self {
        Self { rows }
    }
}

#[pymethods]
impl Data {
    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> u64 {
        self.rows.row_count()
    }

    /// The names of the columns, in order. Several may be equal.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.rows.schema().fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// True if a limit cut the rows.
    #[getter(truncated)]
    fn is_truncated(&self) -> bool {
        self.rows.is_truncated()
    }

    /// The rows from `offset` on, `limit` at most, as tuples of Python's own values.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        limit: u64,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let rows = self.rows.rows(offset, limit).into_iter();
        rows.map(|row| {
            let cells = row.into_iter().map(|cell| python_value(py, cell));
            PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)
        })
        .collect()
    }

    /// The rows as bytes, which `from_bytes` reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| encode(&self.rows));
        let bytes = bytes.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The rows of bytes that `to_bytes` returned.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let rows = py.detach(|| decode(bytes));
        let rows = rows.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self::new(Arc::new(rows)))
    }

    /// The rows as a stream of Arrow's C interface. Nothing is copied; a schema that is requested
    /// is not converted to, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.rows.batches().to_vec().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(self.rows.schema()));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The types of the columns as a schema of Arrow's C interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.rows.schema().as_ref());
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// A cell as Python's own value.
fn python_value(py: Python<'_>, cell: Value) -> PyResult<Bound<'_, PyAny>> {
    static DECIMAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(match cell {
        Value::Null => py.None().into_bound(py),
        Value::Boolean(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Real(value) => value.into_pyobject(py)?.into_any(),
        Value::Decimal(digits) => {
            let decimal = DECIMAL.get_or_try_init(py, || {
                PyResult::Ok(py.import("decimal")?.getattr("Decimal")?.unbind())
            })?;
            decimal.bind(py).call1((digits,))?
        }
        Value::Text(text) | Value::Temporal(text) | Value::Other(text) => {
            text.into_pyobject(py)?.into_any()
        }
        Value::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
    })
}
