//! The rows that a database of the program returns: tuples of Python's values, or a stream of
//! Arrow's C interface.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyFloat, PyInt, PyString};
use syrch::arrow_array::ffi_stream::RecordBatchStreamReader;
use syrch::arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use syrch::arrow_schema::{Schema, SchemaRef};
use syrch::syrch_core::Limits;

use crate::column::{Cell, column};

/// The part of a result that was read.
pub(crate) struct Read {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

/// Reads what a statement returned: a pair of column names and rows, or an object that Arrow reads.
/// No more is read than a result may have, and one row or batch more.
///
/// # Errors
/// Those of reading, and when it is neither.
pub(crate) fn read(answer: &Bound<'_, PyAny>, limits: &Limits) -> PyResult<Read> {
    if answer.hasattr("__arrow_c_stream__")? {
        return read_stream(answer, limits);
    }
    let (names, rows): (Vec<String>, Bound<'_, PyAny>) = answer.extract().map_err(|_| {
        PyValueError::new_err("execute returns column names with rows, or a table of Arrow")
    })?;
    let mut columns: Vec<Vec<Cell>> = names.iter().map(|_| Vec::new()).collect();
    let mut bytes = 0;
    let mut count = 0;
    for row in rows.try_iter()? {
        let row = row?;
        let mut cells = row.try_iter()?;
        for cells_of_column in &mut columns {
            let cell = cells.next().ok_or_else(|| wrong_width(names.len()))??;
            let cell = read_cell(&cell)?;
            bytes += cell.size();
            cells_of_column.push(cell);
        }
        if cells.next().is_some() {
            return Err(wrong_width(names.len()));
        }
        count += 1;
        if count > limits.rows || bytes > limits.result_bytes.saturating_add(limits.cell_bytes) {
            break;
        }
    }
    let made = names.iter().zip(columns).map(|(name, cells)| column(name, cells));
    let (fields, arrays): (Vec<_>, Vec<_>) = made.unzip();
    let schema = Arc::new(Schema::new(fields));
    let rows = usize::try_from(count).unwrap_or(usize::MAX);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options);
    let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Read { schema, batches: vec![batch] })
}

fn wrong_width(columns: usize) -> PyErr {
    PyValueError::new_err(format!("a row does not have the {columns} cells of its columns"))
}

fn read_stream(answer: &Bound<'_, PyAny>, limits: &Limits) -> PyResult<Read> {
    const NAME: &std::ffi::CStr = c"arrow_array_stream";
    let capsule = answer.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(NAME))?.cast();
    let reader = {
        // SAFETY: a capsule of this name holds a stream of Arrow's C interface, by the PyCapsule
        // interface. It is moved out, and what is left in the capsule is an empty one.
        #[allow(unsafe_code)]
        unsafe {
            RecordBatchStreamReader::from_raw(stream.as_ptr())
        }
    };
    let reader = reader.map_err(|error| PyValueError::new_err(error.to_string()))?;
    // The stream may run Python again.
    answer.py().detach(|| read_batches(reader, limits)).map_err(PyValueError::new_err)
}

fn read_batches(reader: RecordBatchStreamReader, limits: &Limits) -> Result<Read, String> {
    let schema = reader.schema();
    let mut batches = Vec::new();
    let mut rows = 0;
    let mut bytes = 0;
    for batch in reader {
        let batch: RecordBatch = batch.map_err(|error| error.to_string())?;
        rows += batch.num_rows() as u64;
        bytes += batch.get_array_memory_size();
        batches.push(batch);
        if rows > limits.rows || bytes > limits.result_bytes.saturating_add(limits.cell_bytes) {
            break;
        }
    }
    Ok(Read { schema, batches })
}

/// Reads a cell. Dates and times are written as in ISO 8601, with a blank between them; a value of
/// another type is written by its `str`.
fn read_cell(cell: &Bound<'_, PyAny>) -> PyResult<Cell> {
    if cell.is_none() {
        return Ok(Cell::Null);
    }
    if let Ok(value) = cell.cast_exact::<PyBool>() {
        return Ok(Cell::Boolean(value.is_true()));
    }
    if let Ok(value) = cell.cast::<PyInt>() {
        return match value.extract() {
            Ok(value) => Ok(Cell::Integer(value)),
            Err(_) => Ok(Cell::Digits(value.str()?.to_string())),
        };
    }
    if let Ok(value) = cell.cast::<PyFloat>() {
        return Ok(Cell::Real(value.value()));
    }
    if let Ok(text) = cell.cast::<PyString>() {
        return Ok(Cell::Text(text.to_string_lossy().into_owned()));
    }
    if let Ok(bytes) = cell.cast::<PyBytes>() {
        return Ok(Cell::Bytes(bytes.as_bytes().to_vec()));
    }
    let kind = cell.get_type().name()?.to_string();
    match kind.as_str() {
        "Decimal" => Ok(Cell::Digits(cell.call_method1("__format__", ("f",))?.extract()?)),
        "memoryview" | "bytearray" => {
            Ok(Cell::Bytes(cell.py().get_type::<PyBytes>().call1((cell,))?.extract()?))
        }
        "datetime" => Ok(Cell::Text(cell.call_method1("isoformat", (" ",))?.extract()?)),
        "date" | "time" => Ok(Cell::Text(cell.call_method0("isoformat")?.extract()?)),
        "dict" | "list" => {
            let json = cell.py().import("json")?;
            Ok(Cell::Text(match json.call_method1("dumps", (cell,)) {
                Ok(written) => written.extract()?,
                Err(_) => cell.str()?.to_string_lossy().into_owned(),
            }))
        }
        _ => Ok(Cell::Text(cell.str()?.to_string_lossy().into_owned())),
    }
}
