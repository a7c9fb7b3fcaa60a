//! Reports how the calls of a role ended, so that a search without an answer can name the cause.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    ColumnStats, Facts, Flight, InspectPort, LlmError, LlmPort, Plan, PortError, Ports, Reply, Request, SqlPort, Ticket,
};
use syrch_core::{ResultSet, SqlError};

/// Receives how each call ended. Called from the guest's future, so it must return at once.
pub trait CallObserver: Send + Sync {
    /// Called when a model call has ended.
    fn replied(&self, ticket: Ticket, result: &Result<Reply, LlmError>);
    /// Called when a statement has ended.
    fn ran(&self, text: &str, result: &Result<Arc<ResultSet>, SqlError>);
    /// Called when a statement could not be checked or explained.
    fn refused(&self, error: &SqlError);
}

/// Adds the observer to the ports of one role call.
pub(crate) fn observed(ports: Ports, observer: &Arc<dyn CallObserver>) -> Ports {
    let (llm, sql, inspect) = (Arc::clone(observer), Arc::clone(observer), Arc::clone(observer));
    Ports {
        llm: Arc::new(Observed { inner: ports.llm, observer: llm }),
        sql: Arc::new(Observed { inner: ports.sql, observer: sql }),
        inspect: Arc::new(Observed { inner: ports.inspect, observer: inspect }),
        ..ports
    }
}

struct Observed<P: ?Sized> {
    inner: Arc<P>,
    observer: Arc<dyn CallObserver>,
}

#[async_trait]
impl LlmPort for Observed<dyn LlmPort> {
    fn models(&self) -> Vec<String> {
        self.inner.models()
    }

    async fn issue(&self, ticket: Ticket, request: Request) -> Flight<Result<Reply, LlmError>> {
        let flight = self.inner.issue(ticket, request).await;
        let observer = Arc::clone(&self.observer);
        Box::pin(async move {
            let reply = flight.await;
            observer.replied(ticket, &reply);
            reply
        })
    }
}

#[async_trait]
impl SqlPort for Observed<dyn SqlPort> {
    async fn issue(&self, ticket: Ticket, text: String) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        let flight = self.inner.issue(ticket, text.clone()).await;
        let observer = Arc::clone(&self.observer);
        Box::pin(async move {
            let results = flight.await;
            observer.ran(&text, &results);
            results
        })
    }

    fn salt(&self) -> u64 {
        self.inner.salt()
    }
}

#[async_trait]
impl InspectPort for Observed<dyn InspectPort> {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        self.inner.check(text).await.inspect_err(|error| self.observer.refused(error))
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.inner.explain(text).await.inspect_err(|error| self.observer.refused(error))
    }

    async fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.inner.column_stats(table, columns).await
    }
}
