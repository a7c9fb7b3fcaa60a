//! From an engine's record batches to a result within its caps. Types that results do not have are converted: narrow numbers become wide, nested
//! values and times become texts.

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use syrch_core::{Limits, ResultSet, SqlError};

/// A result under construction.
#[derive(Debug)]
pub struct BatchSink {
    limits: Limits,
}

impl BatchSink {
    /// An empty result with these caps.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// The caps.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes the schema, before the first batch. A field's metadata may hold the declared SQL type under `syrch_core::result_set::SQL_TYPE`.
    ///
    /// # Errors
    /// When the names of the columns are too long, or a type cannot be read.
    pub fn begin(&mut self, _schema: &Schema) -> Result<(), SqlError> {
        unimplemented!()
    }

    /// Takes a batch of that schema. Breaks when a cap is reached: then no further batch is wanted.
    ///
    /// # Errors
    /// When a cell is larger than a cell may be.
    pub fn push(&mut self, _batch: &RecordBatch) -> Result<ControlFlow<()>, SqlError> {
        unimplemented!()
    }

    /// The result of this statement.
    ///
    /// # Errors
    /// When [`begin`](Self::begin) was never called.
    pub fn finish(self, _sql: String) -> Result<ResultSet, SqlError> {
        let _: Option<SchemaRef> = None;
        unimplemented!()
    }
}
