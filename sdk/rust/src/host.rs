//! The ports as the host lends them to a component.

use std::time::Duration;

use serde_json::Value as JsonValue;

use crate::bindings::{
    cells, evaluate, inspect, llm, retrieval, rows, run, sql, trace, types, wait,
};
use crate::handles::{Judging, PendingReply, ResultHandle, ResultSet, RunningStatement};
use crate::ports::{Cells, Evaluate, Inspect, Llm, Retrieval, Rows, Run, Sql, Trace, Wait};

/// The real host. It answers inside a component only; native tests use [`crate::fakes::FakeHost`].
#[derive(Debug, Clone, Copy)]
pub struct Host;

impl Run for Host {
    fn policy(&self) -> run::Policy {
        run::current_policy()
    }

    fn setting(&self, name: &str) -> Option<JsonValue> {
        run::setting(name).and_then(|text| serde_json::from_str(&text).ok())
    }

    fn remaining(&self) -> run::Budget {
        run::remaining()
    }

    fn seed(&self) -> u64 {
        run::seed()
    }
}

impl Wait for Host {
    fn any(&self, tickets: &[u32]) -> Vec<u32> {
        wait::any(tickets)
    }

    fn pause(&self, length: Duration) {
        wait::pause(u32::try_from(length.as_millis()).unwrap_or(u32::MAX));
    }
}

impl Llm for Host {
    fn models(&self) -> Vec<String> {
        llm::models()
    }

    fn complete(&self, request: &llm::Request) -> Result<llm::Reply, llm::LlmError> {
        llm::complete(request)
    }

    fn complete_all(&self, requests: &[llm::Request]) -> Vec<Result<llm::Reply, llm::LlmError>> {
        llm::complete_all(requests)
    }

    fn start_reply(&self, request: &llm::Request) -> PendingReply {
        PendingReply::lent(llm::start(request))
    }
}

impl Inspect for Host {
    fn check(&self, text: &str) -> Result<inspect::Facts, types::SqlError> {
        inspect::check(text)
    }

    fn explain(&self, text: &str) -> Result<inspect::Plan, types::SqlError> {
        inspect::explain(text)
    }

    fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<inspect::ColumnStats>, types::PortError> {
        inspect::column_stats_of(table, columns)
    }

    fn compile_metric(&self, request: &str) -> Result<inspect::Compiled, types::PortError> {
        inspect::compile_metric(request)
    }
}

impl Sql for Host {
    fn run(&self, text: &str) -> Result<ResultSet, types::SqlError> {
        sql::run(text).map(ResultSet::lent)
    }

    fn run_all(&self, texts: &[String]) -> Vec<Result<ResultSet, types::SqlError>> {
        sql::run_all(texts).into_iter().map(|ended| ended.map(ResultSet::lent)).collect()
    }

    fn start_statement(&self, text: &str) -> RunningStatement {
        RunningStatement::lent(sql::start(text))
    }
}

impl Rows for Host {
    fn read(
        &self,
        results: &ResultSet,
        offset: u64,
        limit: u32,
    ) -> Result<rows::Page, types::PortError> {
        match &results.0 {
            ResultHandle::Host(handle) => rows::read(handle, offset, limit),
            #[cfg(not(target_arch = "wasm32"))]
            ResultHandle::Fake(_) => Err(types::PortError::Unsupported),
        }
    }
}

impl Cells for Host {
    fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<cells::Sample>, types::PortError> {
        cells::samples(table, columns, limit)
    }

    fn find(
        &self,
        phrases: &[String],
        how: &cells::Match,
        limit: u32,
    ) -> Result<Vec<Vec<types::Hit>>, types::PortError> {
        cells::find(phrases, how, limit)
    }
}

impl Evaluate for Host {
    fn calibrate(&self, claims: &[(f64, types::Signals)]) -> Result<Vec<f64>, types::PortError> {
        evaluate::calibrate(claims)
    }

    fn reward(
        &self,
        candidates: &[types::Candidate],
    ) -> Result<Vec<types::Verdict>, types::PortError> {
        evaluate::reward(candidates)
    }

    fn start_reward(&self, candidates: &[types::Candidate]) -> Judging {
        Judging::lent(evaluate::start_reward(candidates))
    }
}

impl Retrieval for Host {
    fn retrieve(&self, query: &types::RetrievalQuery) -> Result<Vec<types::Hit>, types::PortError> {
        retrieval::find(query)
    }

    fn retrieve_all(
        &self,
        queries: &[types::RetrievalQuery],
    ) -> Vec<Result<Vec<types::Hit>, types::PortError>> {
        retrieval::find_all(queries)
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, types::PortError> {
        retrieval::embed(texts)
    }
}

impl Trace for Host {
    fn note(&self, level: trace::Level, message: &str) {
        trace::note(level, message);
    }

    fn propose(&self, candidate: &types::Candidate) {
        trace::propose(candidate);
    }

    fn keep(&self, candidate: &str, reason: &str) {
        trace::keep(candidate, reason);
    }

    fn discard(&self, candidate: &str, reason: &str) {
        trace::discard(candidate, reason);
    }

    fn event(&self, candidate: Option<&str>, name: &str, data: &JsonValue) {
        trace::event(candidate, name, &data.to_string());
    }
}
