//! The engine: what `ArrowDatabase` asks of a warehouse.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use syrch_arrow_engine::{ArrowDatabase, ArrowEngine, BatchSink, Schema, deadline_error};
use syrch_core::ports::{DatabaseError, Plan};
use syrch_core::{Dialect, SqlError};
use tokio::time::{Instant, timeout_at};

use crate::api::{Api, REPLY};
use crate::config::{self, DatabricksConfig};
use crate::error::Failure;
use crate::execute;
use crate::introspect;
use crate::plan;
use crate::statement::Request;

/// The age up to which a schema is used: reading it costs several calls of the warehouse.
const FRESH: Duration = Duration::from_secs(300);
/// The limits on the rows and the bytes of a plan.
const PLAN: (u64, usize) = (10_000, 1 << 20);
/// The size limit of a result that the service may put into replies, in bytes; a statement with
/// more fails.
const INLINE: usize = 20 << 20;

/// A SQL warehouse of Databricks, of which statements only read.
pub type DatabricksDatabase = ArrowDatabase<DatabricksEngine>;

/// Opens a database: logs in, and reads the catalog. A stopped warehouse starts by that.
///
/// # Errors
/// [`DatabaseError::Address`] for a wrong or missing part of the address,
/// [`DatabaseError::Unreachable`] and [`DatabaseError::Encryption`] where there is no connection,
/// [`DatabaseError::LoginRefused`] for wrong credentials, [`DatabaseError::Missing`] for a
/// warehouse that does not exist, and [`DatabaseError::Unavailable`] for one that does not start in
/// time or cannot be read.
pub async fn open(config: DatabricksConfig) -> Result<DatabricksDatabase, DatabaseError> {
    let tables = config.tables.clone();
    let limits = config.limits.clone();
    ArrowDatabase::open(DatabricksEngine::new(&config)?, tables, limits).await
}

/// A SQL warehouse, and who asks it.
pub struct DatabricksEngine {
    pub(crate) api: Arc<Api>,
    name: String,
    limit: Duration,
    warnings: Mutex<Vec<String>>,
}

impl DatabricksEngine {
    /// A warehouse that nothing is sent to yet.
    ///
    /// # Errors
    /// [`DatabaseError::Address`] for a wrong or missing part of the address.
    pub fn new(config: &DatabricksConfig) -> Result<Self, DatabaseError> {
        let target = config::target(config)?;
        let shown = target.display_address();
        let warnings = Mutex::new(target.warnings.clone());
        let name = target.catalog.clone().unwrap_or_else(|| "databricks".to_owned());
        let api = Api::new(target).map_err(|failure| failure.opening(shown))?;
        Ok(Self { api, name, limit: config.limits.sql_deadline, warnings })
    }

    /// The rows of a statement of the host's own, as texts.
    ///
    /// # Errors
    /// When the statement fails or does not end in time.
    pub(crate) async fn texts(
        &self,
        sql: &str,
        rows: u64,
    ) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let deadline = Instant::now() + self.limit;
        let request = Request { sql, rows, bytes: PLAN.1, reply: REPLY, is_inline: true, deadline };
        let read = timeout_at(deadline, execute::texts(&self.api, &request)).await;
        read.unwrap_or(Err(Failure::Deadline)).map(|(rows, _)| rows)
    }

    /// The lines of what `EXPLAIN` answers.
    async fn fetch_plan(&self, sql: &str, deadline: Instant) -> Result<String, SqlError> {
        let request =
            Request { sql, rows: PLAN.0, bytes: PLAN.1, reply: REPLY, is_inline: true, deadline };
        let (rows, _) = with_deadline(deadline, execute::texts(&self.api, &request)).await?;
        let lines: Vec<String> = rows.into_iter().flatten().flatten().collect();
        plan::check_plan(lines.join("\n"))
    }
}

/// Works until the deadline. What is then under way is dropped, which cancels its statement.
async fn with_deadline<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, SqlError> {
    // In tenths of seconds, since some time has passed already.
    let left = deadline.saturating_duration_since(Instant::now()).as_millis().div_ceil(100);
    let limit = Duration::from_millis(u64::try_from(left).unwrap_or(u64::MAX).saturating_mul(100));
    match timeout_at(deadline, work).await {
        Ok(worked) => worked.map_err(|failure| failure.statement(limit)),
        Err(_) => Err(deadline_error(limit)),
    }
}

#[async_trait]
impl ArrowEngine for DatabricksEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        Dialect::Databricks
    }

    fn display_address(&self) -> String {
        self.api.target.display_address()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn schema_lifetime(&self) -> Duration {
        FRESH
    }

    async fn schema(&self) -> Result<Schema, DatabaseError> {
        let deadline = Instant::now() + self.limit;
        let read = timeout_at(deadline, introspect::read(&self.api, deadline)).await;
        let read = read
            .unwrap_or(Err(Failure::Deadline))
            .map_err(|failure| failure.opening(self.display_address()))?;
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let new = read.warning.filter(|warning| !warnings.contains(warning));
        warnings.extend(new);
        Ok(read.schema)
    }

    async fn prepare(&self, sql: &str, deadline: Instant) -> Result<(), SqlError> {
        self.fetch_plan(&format!("EXPLAIN {sql}"), deadline).await.map(drop)
    }

    async fn explain(&self, sql: &str, deadline: Instant) -> Result<Plan, SqlError> {
        let text = self.fetch_plan(&format!("EXPLAIN COST {sql}"), deadline).await?;
        let rows = plan::rows(&text);
        Ok(Plan { format: "databricks-explain".to_owned(), text, cost: None, rows })
    }

    async fn execute(
        &self,
        sql: &str,
        deadline: Instant,
        sink: &mut BatchSink,
    ) -> Result<(), SqlError> {
        let limits = sink.limits();
        let size = limits.result_bytes.saturating_add(limits.cell_bytes);
        let is_inline = self.api.target.is_inline;
        let bytes = size.saturating_mul(2).min(if is_inline { INLINE } else { usize::MAX });
        let reply = size.saturating_mul(4).saturating_add(REPLY);
        // One row more than wanted shows that there are more.
        let rows = limits.rows.saturating_add(1);
        let request = Request { sql, rows, bytes, reply, is_inline, deadline };
        if with_deadline(deadline, execute::run(&self.api, &request, sink)).await? {
            sink.cut(format!(
                "the result has more than {bytes} bytes, and the server has cut it there"
            ));
        }
        Ok(())
    }
}
