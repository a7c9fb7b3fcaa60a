//! Ports behind which there is nothing, for role calls that reach none.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    Budget, CellsPort, ColumnStats, CompiledMetric, Embedder, EvaluatePort, Facts, Flight,
    InspectPort, Level, LlmError, LlmPort, Match, Page, Plan, Policy, PortError, Ports, Reply,
    Request, RetrievalPort, RowsPort, RunPort, Sample, SqlPort, Ticket, TimeLeft, TracePort,
    Unrecorded,
};
use syrch_core::{
    Candidate, Hit, Json, ResultSet, RetrievalQuery, Signals, SqlError, SqlErrorKind, Verdict,
};

/// Ports with nothing behind them: no model, no database and no budget.
pub(crate) fn nothing() -> Ports {
    Ports {
        run: Arc::new(Nothing),
        llm: Arc::new(Nothing),
        inspect: Arc::new(Nothing),
        sql: Arc::new(Nothing),
        rows: Arc::new(Nothing),
        cells: Arc::new(Nothing),
        evaluate: Arc::new(Nothing),
        retrieval: Arc::new(Nothing),
        trace: Arc::new(Nothing),
        wait: Arc::new(Unrecorded),
    }
}

struct Nothing;

fn no_sql() -> SqlError {
    SqlError::new(SqlErrorKind::Unavailable, "no database")
}

#[async_trait]
impl RunPort for Nothing {
    fn policy(&self) -> Policy {
        Policy::default()
    }

    fn setting(&self, _: &str) -> Option<Json> {
        None
    }

    async fn remaining(&self) -> Budget {
        Budget { tokens: 0, llm_calls: 0, sql_runs: 0, cost_micros: None, time: TimeLeft::Plenty }
    }

    fn seed(&self) -> u64 {
        0
    }
}

#[async_trait]
impl Embedder for Nothing {
    async fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl RetrievalPort for Nothing {
    async fn find(&self, looks: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        looks.iter().map(|_| Err(PortError::Unsupported)).collect()
    }
}

#[async_trait]
impl LlmPort for Nothing {
    fn models(&self) -> Vec<String> {
        Vec::new()
    }

    async fn issue(&self, _: Ticket, _: Request) -> Flight<Result<Reply, LlmError>> {
        Box::pin(async { Err(LlmError::Unavailable("no model".to_owned())) })
    }
}

#[async_trait]
impl InspectPort for Nothing {
    async fn check(&self, _: &str) -> Result<Facts, SqlError> {
        Err(no_sql())
    }

    async fn explain(&self, _: &str) -> Result<Plan, SqlError> {
        Err(no_sql())
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn compile_metric(&self, _: &str) -> Result<CompiledMetric, PortError> {
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl SqlPort for Nothing {
    async fn issue(&self, _: Ticket, _: String) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        Box::pin(async { Err(no_sql()) })
    }

    fn salt(&self) -> u64 {
        0
    }
}

#[async_trait]
impl RowsPort for Nothing {
    async fn read(&self, _: &ResultSet, _: u64, _: u32) -> Result<Page, PortError> {
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl CellsPort for Nothing {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl EvaluatePort for Nothing {
    async fn calibrate(&self, _: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn issue_reward(
        &self,
        _: Ticket,
        _: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>> {
        Box::pin(async { Err(PortError::Unsupported) })
    }
}

#[async_trait]
impl TracePort for Nothing {
    async fn note(&self, _: Level, _: &str) {}
    async fn propose(&self, _: &Candidate) {}
    async fn keep(&self, _: &str, _: &str) {}
    async fn discard(&self, _: &str, _: &str) {}
    async fn event(&self, _: Option<&str>, _: &str, _: &Json) {}
    fn print_line(&self, _: &str) {}
}
