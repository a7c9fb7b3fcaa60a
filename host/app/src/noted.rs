//! Notes what statements gave, how sure the rules were, and that the database or the model could not be used while a search ran: without an answer,
//! the user must hear that.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    ColumnStats, Facts, Flight, InspectPort, LlmError, LlmPort, Plan, PortError, Reply, Request, SqlPort, Ticket,
};
use syrch_core::{ResultSet, SqlError, TaskId};
use syrch_journal::CallId;

use crate::context::Context;

/// Notes which result a statement gave, so that candidates with equal results can be told, and that the database could not be read.
pub(crate) struct NotedSql {
    pub(crate) inner: Arc<dyn SqlPort>,
    pub(crate) context: Arc<Context>,
    pub(crate) task: TaskId,
    pub(crate) call: CallId,
}

#[async_trait]
impl SqlPort for NotedSql {
    async fn issue(&self, ticket: Ticket, text: String) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        let flight = self.inner.issue(ticket, text.clone()).await;
        let (context, task, call) = (Arc::clone(&self.context), self.task.clone(), self.call);
        Box::pin(async move {
            let results = flight.await;
            match &results {
                Ok(results) => context.note_result(task, text, results),
                Err(error) => context.note_error(call, error),
            }
            results
        })
    }

    fn salt(&self) -> u64 {
        self.inner.salt()
    }
}

/// The port `inspect` of one role call, noted.
pub(crate) struct NotedInspect {
    pub(crate) inner: Arc<dyn InspectPort>,
    pub(crate) context: Arc<Context>,
    pub(crate) call: CallId,
}

impl NotedInspect {
    fn noted<T>(&self, result: Result<T, SqlError>) -> Result<T, SqlError> {
        result.inspect_err(|error| self.context.note_error(self.call, error))
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

/// Notes why the endpoint or the recording in its place could not be used.
pub(crate) struct NotedModel {
    pub(crate) inner: Arc<dyn LlmPort>,
    pub(crate) context: Arc<Context>,
    pub(crate) call: CallId,
}

#[async_trait]
impl LlmPort for NotedModel {
    fn models(&self) -> Vec<String> {
        self.inner.models()
    }

    async fn issue(&self, ticket: Ticket, request: Request) -> Flight<Result<Reply, LlmError>> {
        let flight = self.inner.issue(ticket, request).await;
        let (context, call) = (Arc::clone(&self.context), self.call);
        Box::pin(async move {
            let reply = flight.await;
            match &reply {
                Ok(reply) => context.note_reply(reply),
                Err(error) => context.note_model_error(call, ticket, error),
            }
            reply
        })
    }
}
