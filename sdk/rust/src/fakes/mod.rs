//! A host for unit tests: scripted models, databases and judges, and a record of all requests and
//! log entries.
//!
//! ```
//! use syrch_plugin::fakes::FakeHost;
//! use syrch_plugin::prelude::*;
//!
//! let mut host = FakeHost::default();
//! host.model.reply_sql("SELECT 1", Some(0.9));
//! let reply = host.complete(&Ask::new(Purpose::Generate).user("one, please").sql()).unwrap();
//! assert_eq!(reply.text, "SELECT 1");
//! assert_eq!(host.model.requests().len(), 1);
//! ```

mod database;
mod evaluate;
mod model;
mod retrieval;
mod rewrite;
mod trace;

pub use database::{FakeCall, FakeDatabase, FakeRows, facts, sql_error};
pub use evaluate::FakeEvaluate;
pub use model::{FakeModel, reply};
pub use retrieval::{FakeRetrieval, problem_with_example};
pub use rewrite::{attempt, plan, rewrites};
pub use trace::{FakeTrace, Traced};

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as JsonValue;

use crate::bindings::llm::{LlmError, Reply, Request};
use crate::bindings::types::{
    Candidate, Hit, PortError, RetrievalQuery, Signals, SqlError, Verdict,
};
use crate::bindings::{inspect, trace as trace_port};
use crate::handles::{
    Judging, JudgingHandle, PendingReply, ReplyHandle, ResultHandle, ResultSet, RunningStatement,
    StatementHandle,
};
use crate::ports::{
    Budget, Cells, ColumnStats, Compiled, Evaluate, Inspect, Llm, Match, Page, Policy, Retrieval,
    Rows, Run, Sample, Sql, TimeLeft, Trace, Wait,
};

/// All ports in one value; it serves every role.
#[derive(Debug)]
pub struct FakeHost {
    /// The policy that the user asked for.
    pub policy: Policy,
    /// The budget that `remaining` returns.
    pub budget: Budget,
    /// Further settings of the user's, by name.
    pub settings: BTreeMap<String, JsonValue>,
    /// The number that `seed` returns.
    pub seed: u64,
    /// The replies of the language models.
    pub model: FakeModel,
    /// The facts, results and cells of the database.
    pub database: FakeDatabase,
    /// The verdicts of the reward and the probabilities of the calibrator.
    pub evaluate: FakeEvaluate,
    /// The hits that retrieval finds.
    pub retrieval: FakeRetrieval,
    /// The entries that the plugin logged.
    pub trace: FakeTrace,
    /// The pauses that the plugin asked for, which take no time.
    pub pauses: RefCell<Vec<Duration>>,
}

impl Default for FakeHost {
    fn default() -> Self {
        Self {
            policy: Policy {
                high_confidence: 0.85,
                max_attempts: 3,
                max_depth: 3,
                max_parallel: 5,
                max_rounds: 8,
            },
            budget: Budget {
                tokens: 100_000,
                llm_calls: 200,
                sql_runs: 500,
                cost_micros: None,
                time: TimeLeft::Plenty,
            },
            settings: BTreeMap::new(),
            seed: 0,
            model: FakeModel::default(),
            database: FakeDatabase::default(),
            evaluate: FakeEvaluate::default(),
            retrieval: FakeRetrieval::default(),
            trace: FakeTrace::default(),
            pauses: RefCell::default(),
        }
    }
}

impl Run for FakeHost {
    fn policy(&self) -> Policy {
        self.policy
    }

    fn setting(&self, name: &str) -> Option<JsonValue> {
        self.settings.get(name).cloned()
    }

    fn remaining(&self) -> Budget {
        self.budget
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Wait for FakeHost {
    // Fake calls have always ended, so all tickets are ready.
    fn any(&self, tickets: &[u32]) -> Vec<u32> {
        tickets.to_vec()
    }

    fn pause(&self, length: Duration) {
        self.pauses.borrow_mut().push(length);
    }
}

impl Llm for FakeHost {
    fn models(&self) -> Vec<String> {
        self.model.names.clone()
    }

    fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.model.answer(request)
    }

    fn complete_all(&self, requests: &[Request]) -> Vec<Result<Reply, LlmError>> {
        requests.iter().map(|request| self.model.answer(request)).collect()
    }

    fn start_reply(&self, request: &Request) -> PendingReply {
        PendingReply(ReplyHandle::Fake(FakeCall::from_value(self.model.answer(request))))
    }
}

impl Inspect for FakeHost {
    fn check(&self, text: &str) -> Result<inspect::Facts, SqlError> {
        self.database.check(text)
    }

    fn explain(&self, text: &str) -> Result<inspect::Plan, SqlError> {
        self.database.explain(text)
    }

    fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.database.statistics(table, columns)
    }

    fn compile_metric(&self, request: &str) -> Result<Compiled, PortError> {
        self.database.metrics.get(request).cloned().ok_or(PortError::Unsupported)
    }
}

impl Sql for FakeHost {
    fn run(&self, text: &str) -> Result<ResultSet, SqlError> {
        self.database.ran(text).map(|rows| ResultSet(ResultHandle::Fake(rows)))
    }

    fn run_all(&self, texts: &[String]) -> Vec<Result<ResultSet, SqlError>> {
        texts.iter().map(|text| self.run(text)).collect()
    }

    fn start_statement(&self, text: &str) -> RunningStatement {
        RunningStatement(StatementHandle::Fake(FakeCall::from_value(self.run(text))))
    }
}

impl Rows for FakeHost {
    fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        match &results.0 {
            ResultHandle::Fake(rows) => self.database.page(rows, offset, limit),
            ResultHandle::Host(_) => Err(PortError::Unsupported),
        }
    }
}

impl Cells for FakeHost {
    fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.database.sample(table, columns, limit)
    }

    fn find(
        &self,
        phrases: &[String],
        _how: &Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        self.database.find(phrases, limit)
    }
}

impl Evaluate for FakeHost {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Result<Vec<f64>, PortError> {
        self.evaluate.calibrate_claims(claims)
    }

    fn reward(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>, PortError> {
        self.evaluate.judge_all(candidates)
    }

    fn start_reward(&self, candidates: &[Candidate]) -> Judging {
        Judging(JudgingHandle::Fake(FakeCall::from_value(self.evaluate.judge_all(candidates))))
    }
}

impl Retrieval for FakeHost {
    fn retrieve(&self, query: &RetrievalQuery) -> Result<Vec<Hit>, PortError> {
        self.retrieval.find(query)
    }

    fn retrieve_all(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        queries.iter().map(|query| self.retrieval.find(query)).collect()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.retrieval.embed(texts)
    }
}

impl Trace for FakeHost {
    fn note(&self, level: trace_port::Level, message: &str) {
        self.trace.record(Traced::Note(level, message.to_owned()));
    }

    fn propose(&self, candidate: &Candidate) {
        self.trace.record(Traced::Proposed(candidate.clone()));
    }

    fn keep(&self, candidate: &str, reason: &str) {
        self.trace.record(Traced::Kept(candidate.to_owned(), reason.to_owned()));
    }

    fn discard(&self, candidate: &str, reason: &str) {
        self.trace.record(Traced::Discarded(candidate.to_owned(), reason.to_owned()));
    }

    fn event(&self, candidate: Option<&str>, name: &str, data: &JsonValue) {
        self.trace.record(Traced::Event(
            candidate.map(str::to_owned),
            name.to_owned(),
            data.clone(),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::sql::Equality;
    use crate::bindings::types::Value;
    use crate::prelude::*;

    fn numbers(list: &[i64]) -> FakeRows {
        FakeRows::new(&["n"], list.iter().map(|n| vec![Value::Integer(*n)]).collect())
    }

    #[test]
    fn reading_stops_at_the_grant() {
        let mut host = FakeHost::default();
        let results = numbers(&[1, 2, 3, 4, 5]).handle();
        let page = Rows::read(&host, &results, 1, 10).unwrap();
        assert_eq!((page.rows.len(), page.clipped), (2, true));
        let page = Rows::read(&host, &results, 0, 2).unwrap();
        assert_eq!((page.rows.len(), page.clipped), (2, false));
        host.database.granted_rows = None;
        assert!(matches!(Rows::read(&host, &results, 0, 1), Err(PortError::Denied(_))));
    }

    #[test]
    fn fingerprints_follow_the_equality() {
        let one = numbers(&[1, 2, 2]).handle();
        let other = numbers(&[2, 1, 2]).handle();
        assert_eq!(one.fingerprint(&Equality::Bag), other.fingerprint(&Equality::Bag));
        assert_ne!(one.fingerprint(&Equality::Ordered), other.fingerprint(&Equality::Ordered));
        assert_eq!(
            one.fingerprint(&Equality::Set),
            numbers(&[1, 2]).handle().fingerprint(&Equality::Set)
        );
        assert_eq!(one.fingerprint(&Equality::Other("x".into())), None);
    }

    #[test]
    fn calls_under_way_end_as_scripted() {
        let mut host = FakeHost::default();
        host.model.reply_text(&Purpose::Clarify, "which?");
        host.database.answer("SELECT 1", numbers(&[1]));
        host.evaluate.judge("SELECT 1", accepted(1.0, "fine"));
        let reply = host.start_reply(&Ask::new(Purpose::Clarify).text());
        let statement = host.start_statement("SELECT 1");
        let judging =
            host.start_reward(&[Candidate { sql: "SELECT 1".into(), ..Candidate::default() }]);
        let tickets = [reply.ticket(), statement.ticket(), judging.ticket()];
        assert_eq!(host.any(&tickets), tickets);
        assert_eq!(reply.get().unwrap().unwrap().text, "which?");
        assert_eq!(reply.get(), reply.get());
        assert_eq!(statement.take().unwrap().unwrap().profile().rows, 1);
        assert!(statement.take().is_none());
        assert_eq!(judging.get().unwrap().unwrap(), [accepted(1.0, "fine")]);
    }

    #[test]
    fn what_nobody_scripted_is_an_error() {
        let host = FakeHost::default();
        assert!(matches!(
            host.complete(&Ask::new(Purpose::Plan).text()),
            Err(LlmError::Unsupported(_))
        ));
        assert_eq!(host.check("SELECT 1").unwrap_err().kind, SqlErrorKind::Syntax);
        assert_eq!(Sql::run(&host, "SELECT 1").unwrap_err().kind, SqlErrorKind::Other);
        assert!(matches!(host.column_stats("t", &[]), Err(PortError::UnknownName(_))));
    }
}
