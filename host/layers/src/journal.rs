//! The ports of one role call, connected to the event log: each call and its answer is recorded at
//! its sequence point, or replayed from a journal.
//!
//! This is the outermost layer but one, so that a journal holds what the guest saw, whatever layers
//! answered.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    Budget, CellsPort, ColumnStats, CompiledMetric, Embedder, EvaluatePort, Facts, Flight, HOST,
    InspectPort, Level, LlmError, LlmPort, Match, Page, Plan, Policy, PortError, Ports, Reply,
    Request, RetrievalPort, RowsPort, RunPort, Sample, SqlPort, Ticket, TracePort, WaitPort,
};
use syrch_core::{Candidate, Hit, Json, ResultSet, RetrievalQuery, Signals, SqlError, Verdict};
use syrch_journal::{Ask, CallId, EventLog, Got, RowRetention};

use crate::taint::{self, Admission, TaintOfCall, is_embedded};

/// The connection of one role call's ports to the event log.
#[derive(Clone)]
pub struct CallRecorder {
    event_log: Arc<EventLog>,
    call: CallId,
    taint: TaintOfCall,
}

/// Connects the ports of a role call to the event log. What `taint` denies is denied at the call's
/// sequence point.
#[must_use]
pub fn add_journal(
    ports: Ports,
    event_log: &Arc<EventLog>,
    call: CallId,
    taint: TaintOfCall,
) -> Ports {
    let recorder = CallRecorder { event_log: Arc::clone(event_log), call, taint };
    Ports {
        run: Arc::new(Journalled { inner: ports.run, recorder: recorder.clone() }),
        llm: Arc::new(Journalled { inner: ports.llm, recorder: recorder.clone() }),
        inspect: Arc::new(Journalled { inner: ports.inspect, recorder: recorder.clone() }),
        sql: Arc::new(Journalled { inner: ports.sql, recorder: recorder.clone() }),
        rows: Arc::new(Journalled { inner: ports.rows, recorder: recorder.clone() }),
        cells: Arc::new(Journalled { inner: ports.cells, recorder: recorder.clone() }),
        evaluate: Arc::new(Journalled { inner: ports.evaluate, recorder: recorder.clone() }),
        retrieval: Arc::new(Journalled { inner: ports.retrieval, recorder: recorder.clone() }),
        trace: Arc::new(Journalled { inner: ports.trace, recorder: recorder.clone() }),
        wait: Arc::new(recorder),
    }
}

/// A port that is connected to the event log.
struct Journalled<P: ?Sized> {
    inner: Arc<P>,
    recorder: CallRecorder,
}

impl<P: ?Sized> Journalled<P> {
    /// Records the start of a call, or replays it from the journal.
    async fn issue(&self, ticket: Ticket, ask: Ask) -> Admission {
        let CallRecorder { event_log, call, taint } = &self.recorder;
        event_log.issue(*call, ticket, ask, |ask| taint.admit(ask)).await
    }

    /// Records a call that the guest awaits before it does anything else, and its answer.
    async fn record_awaited<T>(
        &self,
        ask: Ask,
        actual: impl Future<Output = T>,
        write: impl FnOnce(&T, RowRetention) -> Got,
        read: impl FnOnce(&Got) -> Option<T>,
    ) -> T {
        self.issue(HOST, ask).await;
        self.recorder.event_log.other(self.recorder.call, HOST, actual, write, read).await
    }
}

#[async_trait]
impl RunPort for Journalled<dyn RunPort> {
    fn policy(&self) -> Policy {
        self.inner.policy()
    }

    fn setting(&self, name: &str) -> Option<Json> {
        self.inner.setting(name)
    }

    async fn remaining(&self) -> Budget {
        let actual = self.inner.remaining().await;
        let got = self.recorder.event_log.port(self.recorder.call, Ask::Remaining, |got| {
            self.recorder.taint.mark_seen_if_asked();
            got.cloned().unwrap_or_else(|| Got::Budget(actual.clone()))
        });
        match got.await {
            Got::Budget(budget) => budget,
            _ => actual,
        }
    }

    fn seed(&self) -> u64 {
        self.inner.seed()
    }
}

#[async_trait]
impl LlmPort for Journalled<dyn LlmPort> {
    fn models(&self) -> Vec<String> {
        self.inner.models()
    }

    async fn issue(&self, ticket: Ticket, request: Request) -> Flight<Result<Reply, LlmError>> {
        let admission = Journalled::issue(self, ticket, Ask::Llm(Box::new(request.clone()))).await;
        let recorder = self.recorder.clone();
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let actual = async {
                let Some(_permit) = recorder.taint.wait_for_admission(admission).await else {
                    return Err(taint::denial());
                };
                inner.issue(ticket, request).await.await
            };
            recorder.event_log.reply(recorder.call, ticket, actual).await
        })
    }
}

#[async_trait]
impl SqlPort for Journalled<dyn SqlPort> {
    async fn issue(
        &self,
        ticket: Ticket,
        text: String,
    ) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        Journalled::issue(self, ticket, Ask::Sql(text.clone())).await;
        let recorder = self.recorder.clone();
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let actual = async { inner.issue(ticket, text).await.await };
            recorder.event_log.rows(recorder.call, ticket, actual).await
        })
    }

    fn salt(&self) -> u64 {
        self.inner.salt()
    }
}

#[async_trait]
impl InspectPort for Journalled<dyn InspectPort> {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        fn read_facts(got: &Got) -> Option<Result<Facts, SqlError>> {
            match got {
                Got::Facts(facts) => Some(facts.clone().map(|facts| *facts)),
                _ => None,
            }
        }
        self.record_awaited(
            Ask::Check(text.to_owned()),
            self.inner.check(text),
            |facts: &Result<Facts, SqlError>, _| Got::Facts(facts.clone().map(Box::new)),
            read_facts,
        )
        .await
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        fn read_plan(got: &Got) -> Option<Result<Plan, SqlError>> {
            match got {
                Got::Plan(plan) => Some(plan.clone()),
                _ => None,
            }
        }
        self.record_awaited(
            Ask::Explain(text.to_owned()),
            self.inner.explain(text),
            |plan: &Result<Plan, SqlError>, _| Got::Plan(plan.clone()),
            read_plan,
        )
        .await
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        let read = |got: &Got| match got {
            Got::Stats(stats) => Some(stats.clone()),
            _ => None,
        };
        let actual = self.inner.column_stats(table, columns);
        self.record_awaited(
            Ask::Stats(table.to_owned(), columns.to_vec()),
            actual,
            |stats: &Result<Vec<ColumnStats>, PortError>, _| Got::Stats(stats.clone()),
            read,
        )
        .await
    }

    async fn compile_metric(&self, request: &str) -> Result<CompiledMetric, PortError> {
        self.record_awaited(
            Ask::CompileMetric(request.to_owned()),
            self.inner.compile_metric(request),
            |compiled: &Result<CompiledMetric, PortError>, _| {
                Got::Compiled(compiled.clone().map(Box::new))
            },
            |got: &Got| match got {
                Got::Compiled(compiled) => Some(compiled.clone().map(|compiled| *compiled)),
                _ => None,
            },
        )
        .await
    }
}

#[async_trait]
impl RowsPort for Journalled<dyn RowsPort> {
    async fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        // What is shown follows from the result and the grant, which a replay has.
        let page = self.inner.read(results, offset, limit).await;
        let shown = page.as_ref().map(|page| page.rows.len() as u64).map_err(Clone::clone);
        self.recorder
            .event_log
            .port(self.recorder.call, Ask::Rows(offset, limit), |_| Got::Page(shown))
            .await;
        page
    }
}

#[async_trait]
impl CellsPort for Journalled<dyn CellsPort> {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        let read = |got: &Got| match got {
            Got::Samples(samples) => samples.clone(),
            _ => None,
        };
        let actual = self.inner.samples(table, columns, limit);
        self.record_awaited(
            Ask::Samples(table.to_owned(), columns.to_vec(), limit),
            actual,
            |samples: &Result<Vec<Sample>, PortError>, rows| {
                Got::Samples(
                    (rows == RowRetention::Full || samples.is_err()).then(|| samples.clone()),
                )
            },
            read,
        )
        .await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        let read = |got: &Got| match got {
            Got::Hits(hits) => hits.clone(),
            _ => None,
        };
        let actual = self.inner.find(phrases, how.clone(), limit);
        self.record_awaited(
            Ask::Find(phrases.to_vec(), how, limit),
            actual,
            |hits: &Result<Vec<Vec<Hit>>, PortError>, rows| {
                Got::Hits((rows == RowRetention::Full || hits.is_err()).then(|| hits.clone()))
            },
            read,
        )
        .await
    }
}

/// Judgements are role calls themselves. A replay makes them again, and the event log holds when
/// they started and ended.
#[async_trait]
impl EvaluatePort for Journalled<dyn EvaluatePort> {
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError> {
        self.issue(HOST, Ask::Calibrate(claims.clone())).await;
        let calibrated = self.inner.calibrate(claims).await;
        self.recorder
            .event_log
            .end_port_call(self.recorder.call, HOST, Got::Calibrated(calibrated.clone()))
            .await;
        calibrated
    }

    async fn issue_reward(
        &self,
        ticket: Ticket,
        candidates: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>> {
        self.issue(ticket, Ask::Reward(candidates.clone())).await;
        let recorder = self.recorder.clone();
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let verdicts = inner.issue_reward(ticket, candidates).await.await;
            recorder
                .event_log
                .end_port_call(recorder.call, ticket, Got::Verdicts(verdicts.clone()))
                .await;
            verdicts
        })
    }
}

/// Hits of retrieval are no cells, so they are recorded whatever the journal retains of rows.
#[async_trait]
impl RetrievalPort for Journalled<dyn RetrievalPort> {
    async fn find(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        let read = |got: &Got| match got {
            Got::Found(found) => Some(found.clone()),
            _ => None,
        };
        let write = |found: &Vec<_>, _| Got::Found(found.clone());
        let admission = self.issue(HOST, Ask::Retrieval(queries.to_vec())).await;
        let actual = async {
            let permit = self.recorder.taint.wait_for_admission(admission).await;
            let is_denied = permit.is_none();
            let allowed = |query: &&RetrievalQuery| !(is_denied && is_embedded(query));
            let granted: Vec<RetrievalQuery> = queries.iter().filter(allowed).cloned().collect();
            let mut found = self.inner.find(&granted).await.into_iter();
            queries
                .iter()
                .filter_map(|query| {
                    if allowed(&query) { found.next() } else { Some(taint::deny_retrieval()) }
                })
                .collect()
        };
        self.recorder.event_log.other(self.recorder.call, HOST, actual, write, read).await
    }
}

#[async_trait]
impl Embedder for Journalled<dyn RetrievalPort> {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let read = |got: &Got| match got {
            Got::Vectors(vectors) => Some(vectors.clone()),
            _ => None,
        };
        let admission = self.issue(HOST, Ask::Embed(texts.to_vec())).await;
        let actual = async {
            let Some(_permit) = self.recorder.taint.wait_for_admission(admission).await else {
                return taint::deny_retrieval();
            };
            self.inner.embed(texts).await
        };
        self.recorder
            .event_log
            .other(
                self.recorder.call,
                HOST,
                actual,
                |vectors: &Result<_, _>, _| Got::Vectors(vectors.clone()),
                read,
            )
            .await
    }
}

/// Trace calls are passed on after their sequence point, so those of one role call have the order
/// of the journal.
#[async_trait]
impl TracePort for Journalled<dyn TracePort> {
    async fn note(&self, level: Level, message: &str) {
        self.record(Ask::Note(level, message.to_owned())).await;
        self.inner.note(level, message).await;
    }

    async fn propose(&self, candidate: &Candidate) {
        self.record(Ask::Propose(Box::new(candidate.clone()))).await;
        self.inner.propose(candidate).await;
    }

    async fn keep(&self, candidate: &str, reason: &str) {
        self.record(Ask::Keep(candidate.to_owned(), reason.to_owned())).await;
        self.inner.keep(candidate, reason).await;
    }

    async fn discard(&self, candidate: &str, reason: &str) {
        self.record(Ask::Discard(candidate.to_owned(), reason.to_owned())).await;
        self.inner.discard(candidate, reason).await;
    }

    async fn event(&self, candidate: Option<&str>, name: &str, data: &Json) {
        let ask = Ask::Step(candidate.map(str::to_owned), name.to_owned(), data.clone());
        self.record(ask).await;
        self.inner.event(candidate, name, data).await;
    }

    fn print_line(&self, line: &str) {
        self.inner.print_line(line);
    }
}

impl Journalled<dyn TracePort> {
    async fn record(&self, ask: Ask) {
        self.recorder.event_log.port(self.recorder.call, ask, |_| Got::Nothing).await;
    }
}

#[async_trait]
impl WaitPort for CallRecorder {
    async fn replay_ended(&self, tickets: &[Ticket]) -> Option<Vec<Ticket>> {
        self.event_log.replay_ended(self.call, tickets).await
    }

    async fn record_ended(&self, asked: &[Ticket], ended: &[Ticket]) {
        self.event_log
            .port(self.call, Ask::Wait(asked.to_vec()), |_| Got::Ended(ended.to_vec()))
            .await;
    }

    async fn give_up(&self, ticket: Ticket, is_done: bool) -> bool {
        let got = self.event_log.port(self.call, Ask::GiveUp(ticket), |got| match got {
            Some(got) => got.clone(),
            None => Got::GaveUp(is_done),
        });
        matches!(got.await, Got::GaveUp(true))
    }

    fn is_replaying(&self) -> bool {
        self.event_log.is_replaying()
    }

    async fn left(&self) {
        self.taint.note_return();
        self.event_log.left(self.call).await;
    }
}
