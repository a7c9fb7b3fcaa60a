//! Running one query, whose batches are handed on as they arrive. It is interrupted at the server
//! when nobody waits for it any more.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use proto::execute_plan_response::ResponseType;
use syrch_arrow_engine::deadline_error;
use syrch_core::{SqlError, SqlErrorKind};
use tokio::time::{Instant, timeout, timeout_at};

use crate::connect::{Connection, Session, uuid};
use crate::error::Failure;
use crate::proto::spark_connect as proto;
use crate::value;

/// Time for the server to end a statement whose time is over.
const INTERRUPTING: Duration = Duration::from_millis(500);
/// Time for the server to end a statement that nobody waits for.
const ABANDONED: Duration = Duration::from_secs(30);

/// A statement as a plan that only a query can be: in parentheses, in which Spark's grammar has no
/// commands. `rows` bounds its result at the server, after its ORDER BY.
pub(crate) fn query(sql: &str, rows: Option<u64>) -> proto::Plan {
    let sql = proto::Sql { query: format!("({sql}\n)") };
    let query = relation(1, proto::relation::RelType::Sql(sql));
    let Some(rows) = rows else { return plan(query) };
    let limit = i32::try_from(rows).unwrap_or(i32::MAX);
    let limit = proto::Limit { input: Some(Box::new(query)), limit };
    plan(relation(2, proto::relation::RelType::Limit(Box::new(limit))))
}

/// A request to the catalog as a plan.
pub(crate) fn catalog(question: proto::catalog::CatType) -> proto::Plan {
    let catalog = proto::Catalog { cat_type: Some(question) };
    plan(relation(1, proto::relation::RelType::Catalog(catalog)))
}

fn relation(plan_id: i64, rel_type: proto::relation::RelType) -> proto::Relation {
    proto::Relation {
        common: Some(proto::RelationCommon { plan_id: Some(plan_id) }),
        rel_type: Some(rel_type),
    }
}

fn plan(root: proto::Relation) -> proto::Plan {
    proto::Plan { op_type: Some(proto::plan::OpType::Root(root)) }
}

/// The reason why an execution ended early.
pub(crate) enum Stopped {
    /// The server refused or ended it, or is gone.
    Server(Failure),
    /// The answer cannot be used, or the receiver refused it.
    Client(SqlError),
    /// Its time is over, and it was interrupted.
    Deadline,
}

impl Stopped {
    /// The error of a statement whose time was `limit`.
    pub(crate) fn error(self, limit: Duration) -> SqlError {
        match self {
            Self::Server(failure) => failure.running(),
            Self::Client(error) => error,
            Self::Deadline => deadline_error(limit),
        }
    }
}

/// A receiver of the schema and the batches of a result.
pub(crate) trait Receiver: Send {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), SqlError>;
    fn push(&mut self, batch: &RecordBatch) -> Result<ControlFlow<()>, SqlError>;
}

/// Runs a plan until `receiver` has all or breaks. Where the session is gone, it runs in another
/// one.
pub(crate) async fn run(
    connection: &Arc<Connection>,
    plan: &proto::Plan,
    deadline: Instant,
    receiver: &mut dyn Receiver,
) -> Result<(), Stopped> {
    let session = connection.session();
    let (outcome, has_begun) = attempt(connection, &session, plan, deadline, receiver).await;
    match outcome {
        Err(Stopped::Server(failure))
            if !has_begun && connection.is_renewed(&session, &failure).await =>
        {
            attempt(connection, &connection.session(), plan, deadline, receiver).await.0
        }
        outcome => outcome,
    }
}

/// Returns also whether the receiver got anything.
async fn attempt(
    connection: &Arc<Connection>,
    session: &Arc<Session>,
    plan: &proto::Plan,
    deadline: Instant,
    receiver: &mut dyn Receiver,
) -> (Result<(), Stopped>, bool) {
    let operation = match uuid() {
        Ok(operation) => operation,
        Err(reason) => {
            return (Err(Stopped::Client(SqlError::new(SqlErrorKind::Unavailable, reason))), false);
        }
    };
    let mut running = Running { connection, session, operation, is_over: false };
    let mut schema = None;
    let outcome = match timeout_at(deadline, running.read(plan, &mut schema, receiver)).await {
        Ok(outcome) => outcome,
        Err(_) => {
            running.end().await;
            Err(Stopped::Deadline)
        }
    };
    (outcome, schema.is_some())
}

/// A statement under way. Dropping it before its end interrupts it.
struct Running<'a> {
    connection: &'a Arc<Connection>,
    session: &'a Arc<Session>,
    operation: String,
    is_over: bool,
}

impl Running<'_> {
    async fn read(
        &mut self,
        plan: &proto::Plan,
        schema: &mut Option<SchemaRef>,
        receiver: &mut dyn Receiver,
    ) -> Result<(), Stopped> {
        let request = self.connection.execute(self.session, plan.clone(), self.operation.clone());
        let mut client = self.connection.client();
        let answer = client.execute_plan(request).await;
        let mut stream = answer.map_err(|status| self.record_failure(&status))?.into_inner();
        while let Some(message) =
            stream.message().await.map_err(|status| self.record_failure(&status))?
        {
            let Some(ResponseType::ArrowBatch(batch)) = message.response_type else { continue };
            let (found, batches) = value::decode_stream(&batch.data).map_err(Stopped::Client)?;
            let schema = match &*schema {
                Some(schema) => schema,
                None => {
                    receiver.begin(&found).map_err(Stopped::Client)?;
                    schema.insert(value::with_sql_types(&found))
                }
            };
            for batch in batches {
                let batch = value::with_schema(schema, &batch).map_err(Stopped::Client)?;
                if receiver.push(&batch).map_err(Stopped::Client)?.is_break() {
                    return Ok(());
                }
            }
        }
        self.is_over = true;
        // A server other than Spark may end an interrupted stream like this.
        schema.as_ref().map(|_| ()).ok_or_else(|| {
            Stopped::Client(SqlError::new(
                SqlErrorKind::Unavailable,
                "the server ended the statement without a result",
            ))
        })
    }

    fn record_failure(&mut self, status: &tonic::Status) -> Stopped {
        let failure = Failure::from_status(status);
        // Where the connection is gone, the statement may still run.
        self.is_over = failure.is_answer();
        Stopped::Server(failure)
    }

    /// Interrupts the statement and waits for the server's answer, but not long.
    async fn end(&mut self) {
        let request = self.connection.interrupt(self.session, self.operation.clone());
        let mut client = self.connection.client();
        self.is_over = matches!(timeout(INTERRUPTING, client.interrupt(request)).await, Ok(Ok(_)));
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let request = self.connection.interrupt(self.session, std::mem::take(&mut self.operation));
        // It holds the connection, which would end the session.
        let connection = Arc::clone(self.connection);
        runtime.spawn(async move {
            let mut client = connection.client();
            match timeout(ABANDONED, client.interrupt(request)).await {
                Ok(Ok(_)) => {}
                Ok(Err(status)) => {
                    tracing::debug!(code = ?status.code(), "a statement could not be interrupted")
                }
                Err(_) => tracing::warn!("a statement could not be interrupted in time"),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_the_statement_in_parentheses_under_the_limit() {
        let plan = query("SELECT 1 -- x", Some(u64::MAX));
        let Some(proto::plan::OpType::Root(root)) = plan.op_type else { panic!("{plan:?}") };
        let Some(proto::relation::RelType::Limit(limit)) = root.rel_type else {
            panic!("no limit")
        };
        assert_eq!(limit.limit, i32::MAX);
        let below = limit.input.unwrap().rel_type;
        let Some(proto::relation::RelType::Sql(sql)) = below else { panic!("no statement") };
        assert_eq!(sql.query, "(SELECT 1 -- x\n)");
    }
}
