//! Notes that the database could not be read while a search ran: without an answer, that is what the user must hear.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{ColumnStats, Facts, InspectPort, Plan, PortError};
use syrch_core::{SqlError, SqlErrorKind};
use syrch_journal::CallId;

use crate::context::Context;

/// Whether the database is to blame, and not the statement.
pub(crate) fn is_outage(error: &SqlError) -> bool {
    error.kind == SqlErrorKind::Unavailable
}

/// The port `inspect` of one role call, noted.
pub(crate) struct NotedInspect {
    pub(crate) inner: Arc<dyn InspectPort>,
    pub(crate) context: Arc<Context>,
    pub(crate) call: CallId,
}

impl NotedInspect {
    fn noted<T>(&self, result: Result<T, SqlError>) -> Result<T, SqlError> {
        result.inspect_err(|error| self.context.note_outage(self.call, error))
    }
}

#[async_trait]
impl InspectPort for NotedInspect {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        self.noted(self.inner.check(text).await)
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.noted(self.inner.explain(text).await)
    }

    async fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.inner.column_stats(table, columns).await
    }
}
