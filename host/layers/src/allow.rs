//! The grants of one plugin, beside those of the search: the ports that it may call, and how much
//! of each in one search.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use syrch_core::ledger::{Budgets, Exhausted};
use syrch_core::ports::{
    CellsPort, ColumnStats, CompiledMetric, Embedder, Estimate, EvaluatePort, Facts, Flight, HOST,
    InspectPort, LlmError, LlmPort, Match, ModelProvider, Page, Plan, PortError, Ports, Purpose,
    Reply, Request, RetrievalPort, RowsGrant, RowsPort, Sample, SqlPort, SqlQuery, Ticket, Usage,
};
use syrch_core::{
    Candidate, Grants, Hit, Ledger, Limits, ResultSet, RetrievalQuery, Signals, SqlError,
    SqlErrorKind, Verdict,
};

use crate::BudgetedModel;
use crate::pivot::check_columns;
use crate::taint::is_embedded;

/// More than any search may spend.
const NO_LIMIT: u64 = 1 << 50;
/// The purpose of calls that make embeddings.
const EMBED: &str = "embed";

/// The decision on a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// A port that is granted was called.
    Used,
    /// A port that is not granted was called, or a call was denied for another reason.
    Denied,
    /// A limit stopped the plugin.
    Limited,
}

/// Receives a decision when it is made for the first time in a search, with the port or the limit,
/// and the reason. Called from the guest's future, so it must return at once.
pub type Watch = Box<dyn Fn(Decision, &str, &str) + Send + Sync>;

/// The decisions on each port and limit, counted.
pub type Decisions = BTreeMap<(Decision, String), u64>;

/// The relation of a role call to a plugin whose grants bound it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// The plugin makes the call. The host's own statements are neither denied nor counted.
    Call,
    /// The plugin has started the call, a judgement, which another plugin makes. It needs the ports
    /// by which statements and prompts leave the host, and all of it is counted.
    Judgement,
    /// The plugin judges what it has started to judge.
    OwnJudgement,
}

impl Bounds {
    /// Returns whether the plugin has to be granted a port.
    fn holds_for(self, port: &str) -> bool {
        self != Self::Judgement || ["llm", "sql"].contains(&port)
    }

    /// Returns whether a statement is the host's own.
    fn is_free(self, ticket: Ticket) -> bool {
        self == Self::Call && ticket == HOST
    }
}

/// The grants of one plugin in one search, which all of its role calls share. A search that is
/// resumed counts from what it resumes on.
pub struct Allowance {
    grants: Grants,
    decisions: Mutex<Decisions>,
    watch: Watch,
    /// Model calls and statements of the plugin.
    ledger: Arc<Ledger>,
    /// Queries of retrieval, as statements of a ledger.
    retrievals: Arc<Ledger>,
}

impl Allowance {
    /// Creates the allowance of a plugin with these grants.
    #[must_use]
    pub fn new(grants: Grants, watch: Watch) -> Arc<Self> {
        let budgets = Budgets {
            tokens: grants.tokens.unwrap_or(NO_LIMIT),
            llm_calls: grants.model_calls.unwrap_or(u32::MAX),
            sql_runs: grants.statements.unwrap_or(u32::MAX),
            cost_micros: grants.cost_micros,
            ..Budgets::default()
        };
        let queries = grants.retrievals.unwrap_or(u32::MAX);
        let ledger = Ledger::new(budgets);
        let retrievals = Ledger::new(Budgets { sql_runs: queries, ..Budgets::default() });
        let decisions = Mutex::default();
        Arc::new(Self { grants, decisions, watch, ledger, retrievals })
    }

    /// The decisions so far.
    #[must_use]
    pub fn decisions(&self) -> Decisions {
        self.decisions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a decision on a port or a limit of the plugin.
    pub fn note(&self, decision: Decision, name: &str, why: &str) {
        let key = (decision, name.to_owned());
        let count = {
            let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
            let count = decisions.entry(key).or_default();
            *count = count.saturating_add(1);
            *count
        };
        if count == 1 {
            (self.watch)(decision, name, why);
        }
    }

    /// The grants of the plugin.
    #[must_use]
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns a provider for the model calls of the plugin, which charges its allowance.
    #[must_use]
    pub fn limit_model(
        &self,
        provider: &Arc<dyn ModelProvider>,
        limits: &Limits,
    ) -> Arc<dyn ModelProvider> {
        let Grants { tokens, model_calls, cost_micros, .. } = &self.grants;
        if tokens.is_none() && model_calls.is_none() && cost_micros.is_none() {
            return Arc::clone(provider);
        }
        let ledger = Arc::clone(&self.ledger);
        Arc::new(BudgetedModel::new(Arc::clone(provider), ledger, limits.clone()))
    }

    /// Builds the layer around the ports of one role call.
    #[must_use]
    pub fn wrap_ports(self: &Arc<Self>, bounds: Bounds, ports: Ports) -> Ports {
        Ports {
            llm: self.wrap(bounds, ports.llm),
            inspect: self.wrap(bounds, ports.inspect),
            sql: self.wrap(bounds, ports.sql),
            rows: self.wrap(bounds, ports.rows),
            cells: self.wrap(bounds, ports.cells),
            evaluate: self.wrap(bounds, ports.evaluate),
            retrieval: self.wrap(bounds, ports.retrieval),
            ..ports
        }
    }

    fn wrap<P: ?Sized>(self: &Arc<Self>, bounds: Bounds, inner: Arc<P>) -> Arc<Allowed<P>> {
        Arc::new(Allowed { inner, allowance: Arc::clone(self), bounds })
    }

    /// Decides on a call of a port, with the reason of a denial.
    fn admit(self: &Arc<Self>, port: &'static str) -> Result<Call, String> {
        if self.grants.has(port) {
            let allowance = Some(Arc::clone(self));
            return Ok(Call { allowance, port, end: End::Used });
        }
        let why = denial(port);
        self.note(Decision::Denied, port, &why);
        Err(why)
    }

    fn charge_statement(&self) -> Result<(), SqlError> {
        self.ledger.charge_sql_run().map_err(|_| {
            let most = self.grants.statements.unwrap_or_default();
            let message = format!("this plugin is granted {most} statements in a search");
            self.note(Decision::Limited, "statements", &message);
            SqlError::new(SqlErrorKind::Budget, message).rule("grants")
        })
    }

    fn charge_retrieval(&self) -> Result<(), PortError> {
        self.retrievals.charge_sql_run().map_err(|_| {
            let most = self.grants.retrievals.unwrap_or_default();
            let message = format!("this plugin is granted {most} queries of retrieval in a search");
            self.note(Decision::Limited, "retrievals", &message);
            PortError::Budget
        })
    }

    /// The cell text that the plugin is shown in a search that shows this much.
    #[must_use]
    pub fn limit_rows(&self, rows: RowsGrant) -> RowsGrant {
        self.grants.reads.map_or(rows, |reads| rows.least(reads))
    }

    fn hides_cells(&self) -> bool {
        self.grants.reads.is_some_and(|reads| !reads.shows_cells())
    }

    /// Notes the limits of the plugin's model calls that are used up.
    fn note_spent(&self) {
        for exhausted in self.ledger.spending().exhausted {
            let name = match exhausted {
                Exhausted::LlmCalls => "model-calls",
                Exhausted::Tokens => "tokens",
                Exhausted::Cost => "usd",
                _ => continue,
            };
            self.note(Decision::Limited, name, "this plugin is granted no more in a search");
        }
    }

    /// Charges a call that makes embeddings.
    fn charge_embedding(self: &Arc<Self>) -> Result<(), PortError> {
        let call = self.admit("llm").map_err(PortError::Denied)?;
        call.end(self.reserve_embedding())
    }

    fn reserve_embedding(&self) -> Result<(), PortError> {
        let purpose = Purpose::Other(EMBED.to_owned());
        let most = Estimate { cost_micros: Some(0), ..Estimate::default() };
        let reserved = self.ledger.reserve_call(&purpose, &most);
        let usage = Usage { cost_micros: Some(0), ..Usage::default() };
        let reserved = reserved.map_err(|_| {
            self.note_spent();
            PortError::Budget
        });
        reserved?.settle(Some(&usage));
        Ok(())
    }
}

/// The end of a call that was admitted.
enum End {
    Used,
    /// Another grant denies it, such as that of rows.
    Denied(String),
    /// A limit stopped it, which is noted where it is charged.
    Limited,
}

/// A refusal among the errors of a port.
trait Refusal {
    fn end(&self) -> End;
}

impl Refusal for PortError {
    fn end(&self) -> End {
        match self {
            Self::Denied(why) => End::Denied(why.clone()),
            Self::Budget => End::Limited,
            _ => End::Used,
        }
    }
}

impl Refusal for LlmError {
    fn end(&self) -> End {
        match self {
            // The reason may quote the request.
            Self::Denied(_) => End::Denied("the host denies this model call".to_owned()),
            Self::Budget => End::Limited,
            _ => End::Used,
        }
    }
}

impl Refusal for SqlError {
    fn end(&self) -> End {
        // A table that was not granted may be unknown to the guard.
        let is_refusal = self.kind.is_refusal() || self.rule.as_deref() == Some("granted-tables");
        match self.kind {
            // The message may quote the statement.
            _ if is_refusal => End::Denied(match &self.rule {
                Some(rule) => format!("the rule `{rule}` denies this statement"),
                None => "the rows that are granted deny this statement".to_owned(),
            }),
            SqlErrorKind::Budget => End::Limited,
            _ => End::Used,
        }
    }
}

/// A call of a port that was admitted. It is noted when it ends, and as used where nobody waits for
/// its end.
struct Call {
    /// `None` if the call needs no grant.
    allowance: Option<Arc<Allowance>>,
    port: &'static str,
    end: End,
}

impl Call {
    /// Notes the call by its answer, which is returned.
    fn end<T, E: Refusal>(mut self, answer: Result<T, E>) -> Result<T, E> {
        self.end = answer.as_ref().err().map_or(End::Used, Refusal::end);
        answer
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(allowance) = &self.allowance else { return };
        match &self.end {
            End::Used => allowance.note(Decision::Used, self.port, ""),
            End::Denied(why) => allowance.note(Decision::Denied, self.port, why),
            End::Limited => {}
        }
    }
}

/// The result without the doubts about it, which may quote cells.
fn leave_doubts_out(results: Arc<ResultSet>) -> Arc<ResultSet> {
    match results.doubts().is_empty() {
        true => results,
        false => Arc::new(ResultSet::clone(&results).with_doubts(Vec::new())),
    }
}

fn denial(port: &str) -> String {
    format!("the port `{port}` is not granted to this plugin")
}

/// A port under the grants of a plugin.
struct Allowed<P: ?Sized> {
    inner: Arc<P>,
    allowance: Arc<Allowance>,
    bounds: Bounds,
}

impl<P: ?Sized> Allowed<P> {
    fn admit(&self, port: &'static str) -> Result<Call, String> {
        match self.bounds.holds_for(port) {
            true => self.allowance.admit(port),
            false => Ok(Call { allowance: None, port, end: End::Used }),
        }
    }

    fn check_port(&self, port: &'static str) -> Result<Call, PortError> {
        self.admit(port).map_err(PortError::Denied)
    }

    fn check_statement(&self, port: &'static str) -> Result<Call, SqlError> {
        let admitted = self.admit(port);
        admitted.map_err(|why| SqlError::new(SqlErrorKind::Denied, why).rule("grants"))
    }
}

#[async_trait]
impl LlmPort for Allowed<dyn LlmPort> {
    fn models(&self) -> Vec<String> {
        if self.allowance.grants.has("llm") { self.inner.models() } else { Vec::new() }
    }

    async fn issue(&self, ticket: Ticket, request: Request) -> Flight<Result<Reply, LlmError>> {
        let call = match self.admit("llm") {
            Ok(call) => call,
            Err(why) => return Box::pin(async move { Err(LlmError::Denied(why)) }),
        };
        let flight = self.inner.issue(ticket, request).await;
        let allowance = Arc::clone(&self.allowance);
        Box::pin(async move {
            let reply = flight.await;
            if matches!(reply, Err(LlmError::Budget)) {
                allowance.note_spent();
            }
            call.end(reply)
        })
    }
}

#[async_trait]
impl SqlPort for Allowed<dyn SqlPort> {
    async fn issue(
        &self,
        ticket: Ticket,
        text: String,
    ) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        if self.bounds.is_free(ticket) {
            return self.inner.issue(ticket, text).await;
        }
        let call = match self.check_statement("sql") {
            Ok(call) => call,
            Err(error) => return Box::pin(async move { Err(error) }),
        };
        let checked = self.allowance.charge_statement();
        let checked = checked.and_then(|()| match self.allowance.grants.reads {
            Some(reads) => check_columns(&SqlQuery::new(&*text), reads),
            None => Ok(()),
        });
        if let Err(error) = checked {
            return Box::pin(async move { call.end(Err(error)) });
        }
        let hides = self.allowance.hides_cells();
        let flight = self.inner.issue(ticket, text).await;
        Box::pin(async move {
            let results = call.end(flight.await);
            if hides { results.map(leave_doubts_out) } else { results }
        })
    }

    fn salt(&self) -> u64 {
        self.inner.salt()
    }
}

#[async_trait]
impl InspectPort for Allowed<dyn InspectPort> {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        let call = self.check_statement("inspect")?;
        call.end(self.inner.check(text).await)
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        let call = self.check_statement("inspect")?;
        match self.allowance.charge_statement() {
            Ok(()) => call.end(self.inner.explain(text).await),
            Err(error) => call.end(Err(error)),
        }
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        let call = self.check_port("inspect")?;
        call.end(self.inner.column_stats(table, columns).await)
    }

    async fn compile_metric(&self, request: &str) -> Result<CompiledMetric, PortError> {
        let call = self.check_port("inspect")?;
        call.end(self.inner.compile_metric(request).await)
    }
}

#[async_trait]
impl RowsPort for Allowed<dyn RowsPort> {
    async fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        let call = self.check_port("rows")?;
        call.end(self.inner.read(results, offset, limit).await)
    }
}

#[async_trait]
impl CellsPort for Allowed<dyn CellsPort> {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        let call = self.check_port("cells")?;
        call.end(self.inner.samples(table, columns, limit).await)
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        let call = self.check_port("cells")?;
        call.end(self.inner.find(phrases, how, limit).await)
    }
}

#[async_trait]
impl EvaluatePort for Allowed<dyn EvaluatePort> {
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError> {
        let call = self.check_port("evaluate")?;
        call.end(self.inner.calibrate(claims).await)
    }

    async fn issue_reward(
        &self,
        ticket: Ticket,
        candidates: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>> {
        match self.check_port("evaluate") {
            Ok(call) => {
                let flight = self.inner.issue_reward(ticket, candidates).await;
                Box::pin(async move { call.end(flight.await) })
            }
            Err(error) => Box::pin(async move { Err(error) }),
        }
    }
}

#[async_trait]
impl Embedder for Allowed<dyn RetrievalPort> {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let call = self.check_port("retrieval")?;
        match self.allowance.charge_embedding() {
            Ok(()) => call.end(self.inner.embed(texts).await),
            Err(error) => call.end(Err(error)),
        }
    }

    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let call = self.check_port("retrieval")?;
        match self.allowance.charge_embedding() {
            Ok(()) => call.end(self.inner.embed_queries(texts).await),
            Err(error) => call.end(Err(error)),
        }
    }
}

#[async_trait]
impl RetrievalPort for Allowed<dyn RetrievalPort> {
    async fn find(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        let mut calls = Vec::with_capacity(queries.len());
        for query in queries {
            match self.admit_query(query) {
                Ok(call) => calls.push(call),
                Err(error) => {
                    // None of them is made.
                    for call in calls {
                        let _ = call.end::<(), _>(Err(error.clone()));
                    }
                    return queries.iter().map(|_| Err(error.clone())).collect();
                }
            }
        }
        let found = self.inner.find(queries).await;
        calls.into_iter().zip(found).map(|(call, found)| call.end(found)).collect()
    }
}

impl Allowed<dyn RetrievalPort> {
    fn admit_query(&self, query: &RetrievalQuery) -> Result<Call, PortError> {
        let call = self.check_port("retrieval")?;
        let charged = self.allowance.charge_retrieval();
        let charged = charged.and_then(|()| match is_embedded(query) {
            true => self.allowance.charge_embedding(),
            false => Ok(()),
        });
        match charged {
            Ok(()) => Ok(call),
            Err(error) => call.end(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Relation;
    use syrch_core::{Corpus, Doubt, DoubtKind, Retriever};

    use super::*;
    use crate::fakes::{FakeDatabase, FakeModel, request};
    use crate::{Memo, ModelPort, SqlBinding};

    /// The retrieval of a search that finds nothing and embeds each text as 1.
    struct Nothing;

    #[async_trait]
    impl Embedder for Nothing {
        async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
            Ok(texts.iter().map(|_| vec![1.0]).collect())
        }
    }

    #[async_trait]
    impl RetrievalPort for Nothing {
        async fn find(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
            queries.iter().map(|_| Ok(Vec::new())).collect()
        }
    }

    fn allowance(words: &[&str]) -> Arc<Allowance> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Allowance::new(words.try_into().unwrap(), Box::new(|_, _, _| ()))
    }

    fn count(allowance: &Allowance, decision: Decision, name: &str) -> Option<u64> {
        allowance.decisions().get(&(decision, name.to_owned())).copied()
    }

    fn allow<P: ?Sized>(inner: Arc<P>, words: &[&str]) -> Allowed<P> {
        Allowed { inner, allowance: allowance(words), bounds: Bounds::Call }
    }

    fn binding() -> Arc<SqlBinding> {
        let memo = Memo::new(Arc::new(FakeDatabase::default()));
        Arc::new(SqlBinding::new(memo, Vec::<Relation>::new(), 7))
    }

    #[tokio::test]
    async fn a_port_without_a_grant_answers_denied_and_the_host_is_not_bound() {
        let sql = allow(binding() as Arc<dyn SqlPort>, &["llm"]);
        let error = sql.issue(1, "SELECT 1".to_owned()).await.await.unwrap_err();
        assert_eq!((error.kind, error.rule.as_deref()), (SqlErrorKind::Denied, Some("grants")));
        assert!(sql.run("SELECT 1").await.is_ok(), "the host's own statement");
        let inspect = allow(binding() as Arc<dyn InspectPort>, &["sql"]);
        assert_eq!(inspect.check("SELECT 1").await.unwrap_err().kind, SqlErrorKind::Denied);
        assert!(matches!(inspect.column_stats("t", &[]).await, Err(PortError::Denied(_))));
        let retrieval = allow(Arc::new(Nothing) as Arc<dyn RetrievalPort>, &["llm"]);
        assert!(matches!(retrieval.embed(&[]).await, Err(PortError::Denied(_))));
    }

    #[test]
    fn what_the_guard_refuses_is_denied() {
        let ends = [
            (SqlErrorKind::WriteRefused, Some("read-only"), true),
            (SqlErrorKind::FunctionRefused, Some("function"), true),
            (SqlErrorKind::Denied, None, true),
            (SqlErrorKind::UnknownTable, Some("granted-tables"), true),
            (SqlErrorKind::UnknownTable, None, false),
            (SqlErrorKind::Syntax, Some("syntax"), false),
            (SqlErrorKind::Timeout, Some("deadline"), false),
        ];
        for (kind, rule, is_denied) in ends {
            let error = SqlError::new(kind, "");
            let error = rule.map_or(error.clone(), |rule| error.rule(rule));
            assert_eq!(matches!(error.end(), End::Denied(_)), is_denied, "{error:?}");
        }
    }

    #[tokio::test]
    async fn statements_and_queries_are_counted() {
        let sql = allow(binding() as Arc<dyn SqlPort>, &["sql", "statements=2"]);
        for _ in 0..2 {
            assert!(sql.issue(1, "SELECT 1".to_owned()).await.await.is_ok());
        }
        let third = sql.issue(1, "SELECT 1".to_owned()).await.await.unwrap_err();
        assert_eq!((third.kind, third.rule.as_deref()), (SqlErrorKind::Budget, Some("grants")));
        assert_eq!(count(&sql.allowance, Decision::Used, "sql"), Some(2));
        assert_eq!(count(&sql.allowance, Decision::Limited, "statements"), Some(1));

        let words = ["retrieval", "llm", "retrievals=3", "model-calls=1"];
        let retrieval = allow(Arc::new(Nothing) as Arc<dyn RetrievalPort>, &words);
        let query = |retriever| RetrievalQuery {
            corpus: Corpus::Notes,
            retriever,
            text: String::new(),
            limit: 1,
        };
        let two = [query(Retriever::Lexical), query(Retriever::Vector)];
        assert!(retrieval.find(&two).await.iter().all(Result::is_ok));
        assert_eq!(retrieval.find(&two[1..]).await, [Err(PortError::Budget)], "a second embedding");
        assert_eq!(retrieval.find(&two[..1]).await, [Err(PortError::Budget)], "a fourth query");
        assert!(
            allow(Arc::new(Nothing) as Arc<dyn RetrievalPort>, &["retrieval"])
                .find(&two[1..])
                .await[0]
                .is_err()
        );
    }

    #[tokio::test]
    async fn a_judgement_is_charged_to_the_plugin_that_started_it() {
        let inner = binding() as Arc<dyn SqlPort>;
        for (bounds, words, answered) in [
            (Bounds::Call, &["llm"][..], [true, false]),
            (Bounds::Judgement, &["llm"], [false, false]),
            (Bounds::Judgement, &["sql", "statements=1"], [true, false]),
            (Bounds::Judgement, &["sql"], [true, true]),
            (Bounds::OwnJudgement, &["sql", "statements=1"], [true, false]),
        ] {
            let sql = allowance(words).wrap(bounds, Arc::clone(&inner));
            let mut found = Vec::new();
            // A candidate's statement, which the host runs, and one of the reward.
            for ticket in [HOST, 1] {
                found.push(sql.issue(ticket, "SELECT 1".to_owned()).await.await.is_ok());
            }
            assert_eq!(found, answered, "{bounds:?} {words:?}");
        }
        // What the reward reads besides needs no grant of the other plugin, but what it explains
        // is counted.
        let allowance = allowance(&["sql", "statements=1"]);
        let inspect = allowance.wrap(Bounds::Judgement, binding() as Arc<dyn InspectPort>);
        assert!(inspect.check("SELECT 1").await.is_ok());
        assert!(inspect.explain("SELECT 1").await.is_ok());
        assert_eq!(inspect.explain("SELECT 1").await.unwrap_err().kind, SqlErrorKind::Budget);
        assert_eq!(count(&allowance, Decision::Used, "inspect"), None);
        let own = allowance.wrap(Bounds::OwnJudgement, binding() as Arc<dyn InspectPort>);
        assert_eq!(own.check("SELECT 1").await.unwrap_err().kind, SqlErrorKind::Denied);
    }

    #[tokio::test]
    async fn each_decision_is_reported_once_and_counted() {
        let reported: Arc<Mutex<Vec<(Decision, String)>>> = Arc::default();
        let watch = Arc::clone(&reported);
        let watch: Watch = Box::new(move |decision, name, _| {
            watch.lock().unwrap().push((decision, name.to_owned()));
        });
        let grants = Grants::for_ports(["inspect"]);
        let allowance = Allowance::new(grants, watch);
        let inner = binding() as Arc<dyn InspectPort>;
        let inspect = allowance.wrap(Bounds::Call, inner);
        let sql = allowance.wrap(Bounds::Call, binding() as Arc<dyn SqlPort>);
        for _ in 0..3 {
            drop(inspect.check("SELECT 1").await);
            drop(sql.issue(1, "SELECT 1".to_owned()).await.await);
        }
        assert_eq!(
            *reported.lock().unwrap(),
            [(Decision::Used, "inspect".to_owned()), (Decision::Denied, "sql".to_owned())]
        );
        assert_eq!(count(&allowance, Decision::Used, "inspect"), Some(3));
        assert_eq!(count(&allowance, Decision::Denied, "sql"), Some(3));
    }

    #[tokio::test]
    async fn a_plugin_that_reads_no_cells_is_shown_none() {
        for (reads, rows, is_denied) in [
            ("reads=none", RowsGrant::None, true),
            ("reads=aggregates", RowsGrant::Aggregates, true),
            ("reads=sample:2", RowsGrant::Sample(2), true),
            ("reads=full", RowsGrant::Full, false),
        ] {
            let allowance = allowance(&["sql", reads]);
            assert_eq!(allowance.limit_rows(RowsGrant::Full), rows);
            assert_eq!(allowance.limit_rows(RowsGrant::None), RowsGrant::None);
            let sql = allow(binding() as Arc<dyn SqlPort>, &["sql", reads]);
            // Its columns would be named by cells.
            let pivot = sql.issue(1, "PIVOT t ON name".to_owned()).await.await;
            let error = pivot.err().filter(|error| error.kind == SqlErrorKind::Denied);
            assert_eq!(error.is_some(), is_denied, "{reads}");
            let decision = if is_denied { Decision::Denied } else { Decision::Used };
            let decisions = sql.allowance.decisions();
            assert_eq!(decisions.into_keys().collect::<Vec<_>>(), [(decision, "sql".to_owned())]);
        }
        let text = "no row has France".to_owned();
        let doubt = Doubt { kind: DoubtKind::NoNumbers, text };
        let doubtful = Arc::new(crate::fakes::numbers(1).with_doubts(vec![doubt]));
        assert_eq!(leave_doubts_out(doubtful).doubts(), []);
    }

    /// A port that a search shows nothing by.
    struct Closed;

    #[async_trait]
    impl RowsPort for Closed {
        async fn read(&self, _: &ResultSet, _: u64, _: u32) -> Result<Page, PortError> {
            Err(PortError::Denied("--rows is none".to_owned()))
        }
    }

    #[async_trait]
    impl LlmPort for Closed {
        fn models(&self) -> Vec<String> {
            Vec::new()
        }

        async fn issue(&self, _: Ticket, _: Request) -> Flight<Result<Reply, LlmError>> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test]
    async fn a_call_is_noted_by_its_end() {
        let rows = allow(Arc::new(Closed) as Arc<dyn RowsPort>, &["rows", "reads=none"]);
        assert!(rows.read(&crate::fakes::numbers(1), 0, 1).await.is_err());
        let denied = (Decision::Denied, "rows".to_owned());
        assert_eq!(rows.allowance.decisions(), [(denied, 1)].into());
        // One that nobody waits for was made nevertheless.
        let llm = allow(Arc::new(Closed) as Arc<dyn LlmPort>, &["llm"]);
        drop(llm.issue(1, request("x")).await);
        assert_eq!(count(&llm.allowance, Decision::Used, "llm"), Some(1));
    }

    #[tokio::test]
    async fn model_calls_and_tokens_are_those_of_the_plugin() {
        for (words, answered, limit) in [
            (&["llm"][..], 4, None),
            (&["llm", "model-calls=2"], 2, Some("model-calls")),
            (&["llm", "tokens=1"], 0, Some("tokens")),
            (&["sql"], 0, None),
        ] {
            let allowance = allowance(words);
            let call = crate::fakes::call("x");
            let provider: Arc<dyn ModelProvider> = Arc::new(FakeModel::using(10, 10));
            let port = ModelPort {
                provider: allowance.limit_model(&provider, &Limits::default()),
                problem: call.problem,
                task: None,
                catalog: call.catalog,
                inspect: binding(),
                seed: 0,
            };
            let port: Arc<dyn LlmPort> = Arc::new(port);
            let port = allowance.wrap(Bounds::Call, port);
            let mut count = 0;
            for _ in 0..4 {
                count += usize::from(port.issue(1, request("x")).await.await.is_ok());
            }
            assert_eq!(count, answered, "{words:?}");
            let decisions = allowance.decisions();
            let limited = decisions.keys().find(|(decision, _)| *decision == Decision::Limited);
            assert_eq!(limited.map(|(_, name)| name.as_str()), limit, "{words:?}");
        }
    }
}
