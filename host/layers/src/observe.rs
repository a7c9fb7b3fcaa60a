//! Reports how the calls of a role ended, so that a search without an answer can name the cause.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use syrch_core::ports::{
    ColumnStats, CompiledMetric, Facts, Flight, InspectPort, LlmError, LlmPort, Plan, PortError,
    Ports, Purpose, Reply, Request, SqlPort, SqlReply, Ticket,
};
use syrch_core::{ResultSet, SqlError};

/// Receives how each call ended. Called from the guest's future, so it must return at once.
pub trait CallObserver: Send + Sync {
    /// Called when a model call has ended.
    fn on_reply(&self, ticket: Ticket, result: &Result<Reply, LlmError>);
    /// Called with the reply to a model call that judges statements or chooses among them, and its
    /// request without messages, before [`on_reply`](Self::on_reply).
    fn on_judgement(&self, request: &Request, reply: &Reply);
    /// Called with the statement of a model's reply and the others that it held, before
    /// [`on_reply`](Self::on_reply).
    fn on_statement(&self, reply: &SqlReply);
    /// Called with the statement of a request for metrics that the host compiled, and its origin as
    /// an answer's document has it; for that of a model's reply before
    /// [`on_reply`](Self::on_reply).
    fn on_compiled(&self, sql: &str, origin: &Value);
    /// Called when a statement has ended.
    fn on_result(&self, text: &str, result: &Result<Arc<ResultSet>, SqlError>);
    /// Called when a statement could not be checked or explained.
    fn on_refusal(&self, error: &SqlError);
}

/// Adds the observer to the ports of one role call.
pub(crate) fn add_observer(ports: Ports, observer: &Arc<dyn CallObserver>) -> Ports {
    let llm = Arc::clone(observer);
    let sql = Arc::clone(observer);
    let inspect = Arc::clone(observer);
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
        let expect = request.expect.clone();
        let judging = without_messages(&request);
        let flight = self.inner.issue(ticket, request).await;
        let observer = Arc::clone(&self.observer);
        Box::pin(async move {
            let mut reply = flight.await;
            if let Ok(reply) = &mut reply
                && let Some(read) = SqlReply::from_reply(&expect, reply)
            {
                observer.on_statement(&read);
                if let Some(origin) = &read.origin {
                    observer.on_compiled(&read.sql, origin);
                }
                if read.is_doubted || !read.statements.is_empty() {
                    // A guest gets the statement that is used.
                    reply.parsed = Some(read.alone().json());
                }
            }
            if let (Some(request), Ok(reply)) = (&judging, &reply) {
                observer.on_judgement(request, reply);
            }
            observer.on_reply(ticket, &reply);
            reply
        })
    }
}

/// The request without its messages, if it is to judge or choose statements.
fn without_messages(request: &Request) -> Option<Request> {
    let is_judging =
        matches!(request.purpose, Purpose::Judge | Purpose::Select) && !request.subjects.is_empty();
    let Request { purpose, expect, subjects, .. } = request;
    is_judging.then(|| Request {
        subjects: subjects.clone(),
        ..Request::new(purpose.clone(), Vec::new(), expect.clone())
    })
}

#[async_trait]
impl SqlPort for Observed<dyn SqlPort> {
    async fn issue(
        &self,
        ticket: Ticket,
        text: String,
    ) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        let flight = self.inner.issue(ticket, text.clone()).await;
        let observer = Arc::clone(&self.observer);
        Box::pin(async move {
            let results = flight.await;
            observer.on_result(&text, &results);
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
        self.inner.check(text).await.inspect_err(|error| self.observer.on_refusal(error))
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.inner.explain(text).await.inspect_err(|error| self.observer.on_refusal(error))
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        self.inner.column_stats(table, columns).await
    }

    async fn compile_metric(&self, request: &str) -> Result<CompiledMetric, PortError> {
        let compiled = self.inner.compile_metric(request).await;
        if let Ok(CompiledMetric { sql, origin, .. }) = &compiled {
            self.observer.on_compiled(sql, origin);
        }
        compiled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use syrch_core::ports::{ModelProvider, Shape, WrittenStatement};

    use super::*;
    use crate::fakes::{FakeModel, call, request};

    /// A model whose replies hold two statements.
    struct Two;

    #[async_trait]
    impl LlmPort for Two {
        fn models(&self) -> Vec<String> {
            Vec::new()
        }

        async fn issue(&self, _: Ticket, _: Request) -> Flight<Result<Reply, LlmError>> {
            fn statement(number: usize) -> WrittenStatement {
                let sql = format!("SELECT {number}");
                WrittenStatement { sql, confidence: None, number, rivals: vec![3 - number] }
            }
            let statements = vec![statement(1), statement(2)];
            let several = SqlReply {
                sql: "SELECT 2".to_owned(),
                confidence: Some(0.5),
                statements,
                origin: None,
                is_doubted: true,
            };
            let reply = FakeModel::using(1, 1).complete(&call("x")).await.result;
            Box::pin(
                async move { reply.map(|reply| Reply { parsed: Some(several.json()), ..reply }) },
            )
        }
    }

    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl CallObserver for Counted {
        fn on_reply(&self, _: Ticket, _: &Result<Reply, LlmError>) {}

        fn on_judgement(&self, _: &Request, _: &Reply) {}

        fn on_statement(&self, reply: &SqlReply) {
            self.0.fetch_add(reply.statements.len(), Ordering::Relaxed);
        }

        fn on_compiled(&self, _: &str, _: &Value) {}

        fn on_result(&self, _: &str, _: &Result<Arc<ResultSet>, SqlError>) {}

        fn on_refusal(&self, _: &SqlError) {}
    }

    #[tokio::test]
    async fn a_guest_gets_the_statement_that_is_used_and_the_observer_learns_of_the_others() {
        let counted = Arc::new(Counted::default());
        let observed = Observed {
            inner: Arc::new(Two) as Arc<dyn LlmPort>,
            observer: Arc::clone(&counted) as _,
        };
        let request = Request { expect: Shape::Sql, ..request("x") };
        let reply = observed.issue(1, request).await.await.unwrap();
        assert_eq!(reply.parsed.as_deref(), Some(r#"{"sql":"SELECT 2","confidence":0.5}"#));
        assert_eq!(counted.0.load(Ordering::Relaxed), 2);
    }
}
