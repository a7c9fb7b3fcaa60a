//! Small backends for the tests of this crate.

mod scripted;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use async_trait::async_trait;
use syrch_core::ports::{
    Bench, BenchLimits, CellIndex, ColumnStats, Database, DatabaseError, Estimate, Facts, LlmError,
    Match, Message, ModelCall, ModelOutcome, ModelProvider, OVERRUN, Plan, PortError, Purpose,
    Reply, Request, Retry, Sample, Shape, Speaker, SqlQuery, Usage,
};
use syrch_core::{
    Catalog, Corpus, Dialect, Hit, Problem, ResultSet, SqlError, SqlErrorKind, Value,
};

pub(crate) use self::scripted::{ScriptedModel, answer_outcome, failure_outcome};

/// A request of one message.
pub(crate) fn request(text: &str) -> Request {
    Request::new(
        Purpose::Generate,
        vec![Message { speaker: Speaker::User, text: text.to_owned() }],
        Shape::Text,
    )
}

fn catalog() -> Arc<Catalog> {
    Arc::new(Catalog { database: "fake".into(), dialect: Dialect::Sqlite, tables: Vec::new() })
}

/// A call of one message.
pub(crate) fn call(text: &str) -> ModelCall {
    ModelCall {
        request: request(text),
        problem: Arc::new(Problem::new("q")),
        task: None,
        catalog: catalog(),
    }
}

/// A result of one column.
fn result(name: &str, column: ArrayRef, sql: &str) -> ResultSet {
    let schema = Arc::new(Schema::new(vec![Field::new(name, column.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
    ResultSet::new(schema, vec![batch], false, Vec::new(), sql.to_owned())
}

/// The numbers from zero on, in a column `n`.
pub(crate) fn numbers(rows: i64) -> ResultSet {
    result("n", Arc::new(Int64Array::from_iter_values(0..rows)), "")
}

/// These texts, in a column `t`.
pub(crate) fn texts(texts: &[String]) -> ResultSet {
    result("t", Arc::new(StringArray::from_iter_values(texts)), "")
}

/// Counts calls in flight.
#[derive(Default)]
struct Traffic {
    under_way: AtomicUsize,
    peak: AtomicUsize,
    total: AtomicUsize,
}

struct Passing<'a>(&'a Traffic);

impl Traffic {
    fn pass(&self) -> Passing<'_> {
        self.total.fetch_add(1, Ordering::SeqCst);
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(now, Ordering::SeqCst);
        Passing(self)
    }
}

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

enum Behaviour {
    /// Reports that many output tokens.
    Reports(u32),
    /// Uses all output tokens that it may.
    UsesAll,
    /// Answers without a report.
    Silent,
    Hangs,
    /// Fails after it was sent.
    Fails,
    /// Fails before it was sent.
    Unreachable,
    /// The endpoint answers with an error.
    TurnedAway,
}

/// A model with a fixed estimate.
pub(crate) struct FakeModel {
    estimate: u64,
    output: Option<u32>,
    behaviour: Behaviour,
    reply_bytes: usize,
    traffic: Traffic,
    last: Mutex<Option<ModelCall>>,
}

impl FakeModel {
    fn new(estimate: u64, behaviour: Behaviour) -> Self {
        Self {
            estimate,
            output: None,
            behaviour,
            reply_bytes: 2,
            traffic: Traffic::default(),
            last: Mutex::default(),
        }
    }

    pub(crate) fn using(estimate: u64, used: u32) -> Self {
        Self::new(estimate, Behaviour::Reports(used))
    }

    /// A prompt of `input` tokens and all output that is allowed, by default `output`.
    pub(crate) fn by_output(input: u64, output: u32) -> Self {
        Self { output: Some(output), ..Self::new(input, Behaviour::UsesAll) }
    }

    pub(crate) fn silent(estimate: u64) -> Self {
        Self::new(estimate, Behaviour::Silent)
    }

    pub(crate) fn hanging(estimate: u64) -> Self {
        Self::new(estimate, Behaviour::Hangs)
    }

    pub(crate) fn failing(estimate: u64) -> Self {
        Self::new(estimate, Behaviour::Fails)
    }

    pub(crate) fn unreachable(estimate: u64) -> Self {
        Self::new(estimate, Behaviour::Unreachable)
    }

    pub(crate) fn turning_away(estimate: u64) -> Self {
        Self::new(estimate, Behaviour::TurnedAway)
    }

    /// Replies with that many bytes.
    pub(crate) fn replying(self, bytes: usize) -> Self {
        Self { reply_bytes: bytes, ..self }
    }

    pub(crate) fn calls(&self) -> usize {
        self.traffic.total.load(Ordering::SeqCst)
    }

    pub(crate) fn peak(&self) -> usize {
        self.traffic.peak.load(Ordering::SeqCst)
    }

    pub(crate) fn last(&self) -> Option<ModelCall> {
        self.last.lock().unwrap().clone()
    }

    pub(crate) fn last_max_tokens(&self) -> Option<u32> {
        self.last().and_then(|call| call.request.max_tokens)
    }

    fn output_limit(&self, call: &ModelCall) -> u32 {
        self.output.map_or(0, |most| call.request.max_tokens.unwrap_or(most).min(most))
    }
}

#[async_trait]
impl ModelProvider for FakeModel {
    fn name(&self) -> &str {
        "fake"
    }

    fn models(&self) -> Vec<String> {
        vec!["fake".into()]
    }

    fn identity(&self, _: &ModelCall) -> Option<String> {
        Some("fake".into())
    }

    fn estimate(&self, call: &ModelCall) -> Estimate {
        let output_tokens = u64::from(self.output_limit(call));
        Estimate { input_tokens: self.estimate, output_tokens, cost_micros: None }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let _passing = self.traffic.pass();
        *self.last.lock().unwrap() = Some(call.clone());
        tokio::task::yield_now().await;
        let usage = |input: u64, output| Usage {
            input_tokens: u32::try_from(input).unwrap(),
            output_tokens: output,
            model: "fake".into(),
            ..Usage::default()
        };
        let usage = match self.behaviour {
            Behaviour::Reports(used) => Some(usage(0, used)),
            Behaviour::UsesAll => Some(usage(self.estimate, self.output_limit(call))),
            Behaviour::Silent => None,
            Behaviour::Hangs => std::future::pending().await,
            Behaviour::Fails => {
                let result = Err(LlmError::Unavailable("failed".into()));
                return ModelOutcome::sent(result, None).retry(Retry::Yes);
            }
            Behaviour::TurnedAway => {
                let nothing = Usage { cost_micros: Some(0), ..usage(0, 0) };
                return ModelOutcome::sent(
                    Err(LlmError::Unavailable("turned away".into())),
                    Some(nothing),
                );
            }
            Behaviour::Unreachable => {
                return ModelOutcome::unsent(LlmError::Unavailable("unreachable".into()));
            }
        };
        let reply = Reply {
            text: "x".repeat(self.reply_bytes),
            parsed: None,
            truncated: false,
            logprob: None,
            usage: usage.clone().unwrap_or_default(),
        };
        ModelOutcome::sent(Ok(reply), usage)
    }
}

/// A database that answers every statement with one number.
#[derive(Default)]
pub(crate) struct FakeDatabase {
    fails: Option<SqlErrorKind>,
    rule: Option<&'static str>,
    hangs: bool,
    traffic: Traffic,
}

impl FakeDatabase {
    pub(crate) fn failing(kind: SqlErrorKind) -> Self {
        Self { fails: Some(kind), ..Self::default() }
    }

    pub(crate) fn overrunning() -> Self {
        Self { rule: Some(OVERRUN), ..Self::failing(SqlErrorKind::Timeout) }
    }

    pub(crate) fn hanging() -> Self {
        Self { hangs: true, ..Self::default() }
    }

    pub(crate) fn runs(&self) -> usize {
        self.traffic.total.load(Ordering::SeqCst)
    }

    pub(crate) fn peak(&self) -> usize {
        self.traffic.peak.load(Ordering::SeqCst)
    }

    pub(crate) fn under_way(&self) -> usize {
        self.traffic.under_way.load(Ordering::SeqCst)
    }

    /// Answers a call that is not the guest's statement. It is counted where its budget is
    /// exceeded.
    fn call(&self) -> Result<(), PortError> {
        if self.rule == Some(OVERRUN) {
            let _passing = self.traffic.pass();
            return Err(PortError::Budget);
        }
        Ok(())
    }
}

#[async_trait]
impl CellIndex for FakeDatabase {
    async fn samples(
        &self,
        _: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.call()?;
        let frequent = |_| vec![(Value::Integer(1), 1); limit as usize];
        let least = Value::Integer(0);
        let greatest = Value::Integer(9);
        Ok(columns
            .iter()
            .map(|column| Sample {
                column: column.clone(),
                least: least.clone(),
                greatest: greatest.clone(),
                frequent: frequent(column),
            })
            .collect())
    }

    async fn find(
        &self,
        phrases: &[String],
        _: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        self.call()?;
        let hit = |phrase: &String| Hit {
            corpus: Corpus::Cells,
            id: phrase.clone(),
            path: "t.n".into(),
            table: None,
            column: None,
            snippet: Some(phrase.clone()),
            payload: None,
            score: 1.0,
        };
        Ok(phrases.iter().map(|phrase| vec![hit(phrase); limit as usize]).collect())
    }
}

#[async_trait]
impl Database for FakeDatabase {
    fn name(&self) -> &str {
        "fake"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn identity(&self) -> Option<String> {
        Some("fake".into())
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(catalog())
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        let relations: String = query
            .relations
            .iter()
            .map(|relation| format!("WITH {} AS ({}) ", relation.name, relation.sql))
            .collect();
        Ok(format!("{relations}{}", query.text))
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        self.call().map_err(|_| SqlError::new(SqlErrorKind::Timeout, "fails").rule(OVERRUN))?;
        let tasks = query.relations.iter().map(|relation| relation.name.clone()).collect();
        Ok(Facts { tasks, ..Facts::default() })
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        Ok(Plan { format: "fake".into(), text: self.compose(query)?, cost: None, rows: None })
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let _passing = self.traffic.pass();
        tokio::task::yield_now().await;
        if self.hangs {
            std::future::pending::<()>().await;
        }
        if let Some(kind) = self.fails {
            let error = SqlError::new(kind, "fails");
            return Err(SqlError { rule: self.rule.map(str::to_owned), ..error });
        }
        Ok(result("n", Arc::new(Int64Array::from(vec![1])), &self.compose(query)?))
    }

    async fn column_stats(&self, table: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.call()?;
        Err(PortError::UnknownName(table.to_owned()))
    }

    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        Err(PortError::Unavailable(format!("no bench for {} rows", limits.rows)))
    }
}
