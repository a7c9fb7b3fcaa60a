//! The engine: a connection to a Spark server under the contract of engines that answer in Arrow.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use globset::GlobSet;
use proto::analyze_plan_request::{
    Analyze, Explain, Schema as Analysis, SparkVersion, explain::ExplainMode,
};
use proto::analyze_plan_response::Result as Analyzed;
use syrch_arrow_engine::{ArrowDatabase, ArrowEngine, BatchSink, Schema, deadline_error};
use syrch_core::ports::{DatabaseError, Plan};
use syrch_core::{Dialect, Limits, SqlError};
use tokio::time::{Instant, timeout_at};

use crate::config::{SparkConfig, target};
use crate::connect::Connection;
use crate::error::Failure;
use crate::execute::{Receiver, Stopped, query, run};
use crate::proto::spark_connect as proto;
use crate::{introspect, value};

/// Bytes that a message may have besides the rows of its batch.
const OWN: usize = 4 << 20;

/// A database at a Spark server.
pub type SparkDatabase = ArrowDatabase<SparkEngine>;

/// Opens a database: connects, opens a session and reads the catalog.
///
/// # Errors
/// Those of [`SparkEngine::connect`] and of [`ArrowDatabase::open`].
pub async fn open(config: SparkConfig) -> Result<SparkDatabase, DatabaseError> {
    let tables = config.tables.clone();
    let limits = config.limits.clone();
    ArrowDatabase::open(SparkEngine::connect(&config).await?, tables, limits).await
}

/// A session at a Spark server.
pub struct SparkEngine {
    connection: Arc<Connection>,
    name: String,
    globs: Option<GlobSet>,
    limits: Limits,
}

impl SparkEngine {
    /// Connects and opens a session.
    ///
    /// # Errors
    /// [`DatabaseError::Address`] for an address that is none, and why the server cannot be reached
    /// or refuses the user.
    pub async fn connect(config: &SparkConfig) -> Result<Self, DatabaseError> {
        let target = target(config)?;
        let globs = syrch_arrow_engine::globs(&config.tables, &target.display_address())?;
        let limits = config.limits.clone();
        let bytes = limits
            .result_bytes
            .saturating_add(limits.cell_bytes)
            .saturating_mul(2)
            .saturating_add(OWN);
        let connection = Arc::new(Connection::open(target, bytes).await?);
        let name = introspect::current(&connection).await?;
        Ok(Self { connection, name, globs, limits })
    }

    /// The version of Spark, `None` where the server does not say it, and how the connection is
    /// made.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn server(&self) -> Result<(Option<String>, &'static str), DatabaseError> {
        let how = if self.connection.target.is_encrypted { "TLS" } else { "not encrypted" };
        let deadline = Instant::now() + self.limits.sql_deadline;
        match self.analyze(Analyze::SparkVersion(SparkVersion {}), deadline).await {
            Ok(Some(Analyzed::SparkVersion(found))) => Ok((Some(found.version), how)),
            Ok(_) => Ok((None, how)),
            Err(Stopped::Server(failure)) if !failure.is_answer() => {
                Err(failure.opening(self.connection.target.display_address()))
            }
            Err(_) => Ok((None, how)),
        }
    }

    /// The server's analysis of a plan, which does not run.
    async fn analyze(
        &self,
        analyze: Analyze,
        deadline: Instant,
    ) -> Result<Option<Analyzed>, Stopped> {
        let session = self.connection.session();
        let first = self.connection.analyze(&session, analyze.clone());
        match self.request_analysis(first, deadline).await {
            Err(Stopped::Server(failure))
                if self.connection.is_renewed(&session, &failure).await =>
            {
                self.request_analysis(
                    self.connection.analyze(&self.connection.session(), analyze),
                    deadline,
                )
                .await
            }
            outcome => outcome,
        }
    }

    async fn request_analysis(
        &self,
        request: proto::AnalyzePlanRequest,
        deadline: Instant,
    ) -> Result<Option<Analyzed>, Stopped> {
        let mut client = self.connection.client();
        match timeout_at(deadline, client.analyze_plan(request)).await {
            Ok(Ok(answer)) => Ok(answer.into_inner().result),
            Ok(Err(status)) => Err(Stopped::Server(Failure::from_status(&status))),
            Err(_) => Err(Stopped::Deadline),
        }
    }

    fn analysing(&self, stopped: Stopped) -> SqlError {
        match stopped {
            Stopped::Server(failure) => failure.analysing(),
            Stopped::Client(error) => error,
            Stopped::Deadline => deadline_error(self.limits.sql_deadline),
        }
    }
}

/// A sink as a receiver, which gets Spark's names of types.
struct Sink<'a>(&'a mut BatchSink);

impl Receiver for Sink<'_> {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), SqlError> {
        self.0.begin(&value::with_sql_types(schema))
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<ControlFlow<()>, SqlError> {
        self.0.push(batch)
    }
}

#[async_trait]
impl ArrowEngine for SparkEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        Dialect::Spark
    }

    fn display_address(&self) -> String {
        self.connection.target.display_address()
    }

    fn warnings(&self) -> Vec<String> {
        self.connection.target.warnings.clone()
    }

    fn schema_lifetime(&self) -> Duration {
        // Reading it takes a request for each table.
        Duration::from_secs(60)
    }

    async fn schema(&self) -> Result<Schema, DatabaseError> {
        introspect::read(&self.connection, self.globs.as_ref()).await
    }

    async fn prepare(&self, sql: &str, deadline: Instant) -> Result<(), SqlError> {
        let analysis = Analyze::Schema(Analysis { plan: Some(query(sql, None)) });
        self.analyze(analysis, deadline).await.map_err(|stopped| self.analysing(stopped))?;
        Ok(())
    }

    async fn explain(&self, sql: &str, deadline: Instant) -> Result<Plan, SqlError> {
        let explain =
            Explain { plan: Some(query(sql, None)), explain_mode: ExplainMode::Simple.into() };
        let analyzed = self.analyze(Analyze::Explain(explain), deadline).await;
        let text = match analyzed.map_err(|stopped| self.analysing(stopped))? {
            Some(Analyzed::Explain(plan)) => plan.explain_string,
            _ => String::new(),
        };
        Ok(Plan { format: "spark-explain".to_owned(), text, cost: None, rows: None })
    }

    async fn execute(
        &self,
        sql: &str,
        deadline: Instant,
        sink: &mut BatchSink,
    ) -> Result<(), SqlError> {
        let limits = sink.limits();
        let rows = limits.rows.saturating_add(1);
        let limit = limits.sql_deadline;
        let outcome =
            run(&self.connection, &query(sql, Some(rows)), deadline, &mut Sink(sink)).await;
        match outcome {
            Ok(()) => Ok(()),
            // Its message may quote cells, unless it is the analysis that fails, which reads none.
            Err(Stopped::Server(failure)) if failure.is_unnamed() => {
                self.prepare(sql, deadline).await?;
                Err(failure.running())
            }
            Err(stopped) => Err(stopped.error(limit)),
        }
    }
}
