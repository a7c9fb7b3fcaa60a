//! The ports of one role call with the tape around them: what is asked and answered is noted in its order, or comes from a journal.
//!
//! These are the outermost layer, so that a journal holds what the guest saw, whatever stood behind it.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    Budget, CellsPort, ColumnStats, Embedder, EvaluatePort, Facts, Flight, HOST, InspectPort, Level, LlmError, LlmPort,
    Match, Page, Plan, Policy, PortError, Ports, Reply, Request, RowsPort, RunPort, Sample, SearchPort, SqlPort,
    Ticket, TracePort, WaitPort,
};
use syrch_core::{Candidate, Hit, Json, Lookup, ResultSet, Signals, SqlError, Verdict};
use syrch_journal::{Ask, CallId, Got, Kept, Tape};

use crate::taint::{self, Passage, TaintOfCall, is_embedded};

/// Where the ports of one role call come to the tape.
#[derive(Clone)]
pub struct Scribe {
    tape: Arc<Tape>,
    call: CallId,
    taint: TaintOfCall,
}

/// These ports of a role call, on the tape; what `taint` denies is denied in its turn.
#[must_use]
pub fn journalled(ports: Ports, tape: &Arc<Tape>, call: CallId, taint: TaintOfCall) -> Ports {
    let scribe = Scribe { tape: Arc::clone(tape), call, taint };
    Ports {
        run: Arc::new(Journalled { inner: ports.run, scribe: scribe.clone() }),
        llm: Arc::new(Journalled { inner: ports.llm, scribe: scribe.clone() }),
        inspect: Arc::new(Journalled { inner: ports.inspect, scribe: scribe.clone() }),
        sql: Arc::new(Journalled { inner: ports.sql, scribe: scribe.clone() }),
        rows: Arc::new(Journalled { inner: ports.rows, scribe: scribe.clone() }),
        cells: Arc::new(Journalled { inner: ports.cells, scribe: scribe.clone() }),
        evaluate: Arc::new(Journalled { inner: ports.evaluate, scribe: scribe.clone() }),
        search: Arc::new(Journalled { inner: ports.search, scribe: scribe.clone() }),
        trace: Arc::new(Journalled { inner: ports.trace, scribe: scribe.clone() }),
        wait: Arc::new(scribe),
    }
}

/// A port with the tape around it.
struct Journalled<P: ?Sized> {
    inner: Arc<P>,
    scribe: Scribe,
}

impl<P: ?Sized> Journalled<P> {
    /// A call is made.
    async fn issue(&self, ticket: Ticket, ask: Ask) -> Passage {
        let Scribe { tape, call, taint } = &self.scribe;
        tape.issue(*call, ticket, ask, |ask| taint.asks(ask)).await
    }

    /// A call that the guest waits for before it does anything else.
    async fn waits<T>(
        &self,
        ask: Ask,
        live: impl Future<Output = T>,
        write: impl FnOnce(&T, Kept) -> Got,
        read: impl FnOnce(&Got) -> Option<T>,
    ) -> T {
        self.issue(HOST, ask).await;
        self.scribe.tape.other(self.scribe.call, HOST, live, write, read).await
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
        let live = self.inner.remaining().await;
        let got = self.scribe.tape.port(self.scribe.call, Ask::Remaining, |got| {
            self.scribe.taint.reads_of_others();
            got.cloned().unwrap_or_else(|| Got::Budget(live.clone()))
        });
        match got.await {
            Got::Budget(budget) => budget,
            _ => live,
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
        let passage = Journalled::issue(self, ticket, Ask::Llm(Box::new(request.clone()))).await;
        let (scribe, inner) = (self.scribe.clone(), Arc::clone(&self.inner));
        Box::pin(async move {
            let live = async {
                let Some(_place) = scribe.taint.passes(passage).await else { return Err(taint::denied()) };
                inner.issue(ticket, request).await.await
            };
            scribe.tape.reply(scribe.call, ticket, live).await
        })
    }
}

#[async_trait]
impl SqlPort for Journalled<dyn SqlPort> {
    async fn issue(&self, ticket: Ticket, text: String) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        Journalled::issue(self, ticket, Ask::Sql(text.clone())).await;
        let (scribe, inner) = (self.scribe.clone(), Arc::clone(&self.inner));
        Box::pin(async move {
            let live = async { inner.issue(ticket, text).await.await };
            scribe.tape.rows(scribe.call, ticket, live).await
        })
    }

    fn salt(&self) -> u64 {
        self.inner.salt()
    }
}

#[async_trait]
impl InspectPort for Journalled<dyn InspectPort> {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        let write = |facts: &Result<Facts, SqlError>, _| Got::Facts(facts.clone().map(Box::new));
        let read = |got: &Got| match got {
            Got::Facts(facts) => Some(facts.clone().map(|facts| *facts)),
            _ => None,
        };
        self.waits(Ask::Check(text.to_owned()), self.inner.check(text), write, read).await
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        let read = |got: &Got| match got {
            Got::Plan(plan) => Some(plan.clone()),
            _ => None,
        };
        let write = |plan: &Result<Plan, SqlError>, _| Got::Plan(plan.clone());
        self.waits(Ask::Explain(text.to_owned()), self.inner.explain(text), write, read).await
    }

    async fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        let read = |got: &Got| match got {
            Got::Stats(stats) => Some(stats.clone()),
            _ => None,
        };
        let write = |stats: &Result<Vec<ColumnStats>, PortError>, _| Got::Stats(stats.clone());
        let live = self.inner.column_stats(table, columns);
        self.waits(Ask::Stats(table.to_owned(), columns.to_vec()), live, write, read).await
    }
}

#[async_trait]
impl RowsPort for Journalled<dyn RowsPort> {
    async fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        // What is shown follows from the result and the grant, which a replay has.
        let page = self.inner.read(results, offset, limit).await;
        let shown = page.as_ref().map(|page| page.rows.len() as u64).map_err(Clone::clone);
        self.scribe.tape.port(self.scribe.call, Ask::Rows(offset, limit), |_| Got::Page(shown)).await;
        page
    }
}

#[async_trait]
impl CellsPort for Journalled<dyn CellsPort> {
    async fn samples(&self, table: &str, columns: &[String], limit: u32) -> Result<Vec<Sample>, PortError> {
        let read = |got: &Got| match got {
            Got::Samples(samples) => samples.clone(),
            _ => None,
        };
        let write = |samples: &Result<Vec<Sample>, PortError>, kept| {
            Got::Samples((kept == Kept::Full || samples.is_err()).then(|| samples.clone()))
        };
        let live = self.inner.samples(table, columns, limit);
        self.waits(Ask::Samples(table.to_owned(), columns.to_vec(), limit), live, write, read).await
    }

    async fn find(&self, phrases: &[String], how: Match, limit: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        let read = |got: &Got| match got {
            Got::Hits(hits) => hits.clone(),
            _ => None,
        };
        let write = |hits: &Result<Vec<Vec<Hit>>, PortError>, kept| {
            Got::Hits((kept == Kept::Full || hits.is_err()).then(|| hits.clone()))
        };
        let live = self.inner.find(phrases, how.clone(), limit);
        self.waits(Ask::Find(phrases.to_vec(), how, limit), live, write, read).await
    }
}

/// Judgements are role calls themselves: a replay makes them again, and notes when they began and ended.
#[async_trait]
impl EvaluatePort for Journalled<dyn EvaluatePort> {
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError> {
        self.issue(HOST, Ask::Calibrate(claims.clone())).await;
        let calibrated = self.inner.calibrate(claims).await;
        self.scribe.tape.done(self.scribe.call, HOST, Got::Calibrated(calibrated.clone())).await;
        calibrated
    }

    async fn issue_reward(
        &self,
        ticket: Ticket,
        candidates: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>> {
        self.issue(ticket, Ask::Reward(candidates.clone())).await;
        let (scribe, inner) = (self.scribe.clone(), Arc::clone(&self.inner));
        Box::pin(async move {
            let verdicts = inner.issue_reward(ticket, candidates).await.await;
            scribe.tape.done(scribe.call, ticket, Got::Verdicts(verdicts.clone())).await;
            verdicts
        })
    }
}

/// What it finds is no cell, so that it is kept whatever the journal keeps of rows.
#[async_trait]
impl SearchPort for Journalled<dyn SearchPort> {
    async fn look_up(&self, looks: &[Lookup]) -> Vec<Result<Vec<Hit>, PortError>> {
        let read = |got: &Got| match got {
            Got::Found(found) => Some(found.clone()),
            _ => None,
        };
        let write = |found: &Vec<_>, _| Got::Found(found.clone());
        let passage = self.issue(HOST, Ask::LookUp(looks.to_vec())).await;
        let live = async {
            let place = self.scribe.taint.passes(passage).await;
            let is_denied = place.is_none();
            let allowed = |look: &&Lookup| !(is_denied && is_embedded(look));
            let granted: Vec<Lookup> = looks.iter().filter(allowed).cloned().collect();
            let mut found = self.inner.look_up(&granted).await.into_iter();
            let answer = |look| if allowed(&look) { found.next() } else { Some(taint::denied_search()) };
            looks.iter().filter_map(answer).collect()
        };
        self.scribe.tape.other(self.scribe.call, HOST, live, write, read).await
    }
}

#[async_trait]
impl Embedder for Journalled<dyn SearchPort> {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let read = |got: &Got| match got {
            Got::Vectors(vectors) => Some(vectors.clone()),
            _ => None,
        };
        let write = |vectors: &Result<_, _>, _| Got::Vectors(vectors.clone());
        let passage = self.issue(HOST, Ask::Embed(texts.to_vec())).await;
        let live = async {
            let Some(_place) = self.scribe.taint.passes(passage).await else { return taint::denied_search() };
            self.inner.embed(texts).await
        };
        self.scribe.tape.other(self.scribe.call, HOST, live, write, read).await
    }
}

/// What is told comes after its turn; of one role call, in the order of the journal.
#[async_trait]
impl TracePort for Journalled<dyn TracePort> {
    async fn note(&self, level: Level, message: &str) {
        self.turn(Ask::Note(level, message.to_owned())).await;
        self.inner.note(level, message).await;
    }

    async fn propose(&self, candidate: &Candidate) {
        self.turn(Ask::Propose(Box::new(candidate.clone()))).await;
        self.inner.propose(candidate).await;
    }

    async fn keep(&self, candidate: &str, reason: &str) {
        self.turn(Ask::Keep(candidate.to_owned(), reason.to_owned())).await;
        self.inner.keep(candidate, reason).await;
    }

    async fn discard(&self, candidate: &str, reason: &str) {
        self.turn(Ask::Discard(candidate.to_owned(), reason.to_owned())).await;
        self.inner.discard(candidate, reason).await;
    }

    async fn event(&self, candidate: Option<&str>, name: &str, data: &Json) {
        let ask = Ask::Step(candidate.map(str::to_owned), name.to_owned(), data.clone());
        self.turn(ask).await;
        self.inner.event(candidate, name, data).await;
    }

    fn printed(&self, line: &str) {
        self.inner.printed(line);
    }
}

impl Journalled<dyn TracePort> {
    async fn turn(&self, ask: Ask) {
        self.scribe.tape.port(self.scribe.call, ask, |_| Got::Nothing).await;
    }
}

#[async_trait]
impl WaitPort for Scribe {
    async fn recorded(&self, tickets: &[Ticket]) -> Option<Vec<Ticket>> {
        self.tape.ended(self.call, tickets).await
    }

    async fn found(&self, asked: &[Ticket], ended: &[Ticket]) {
        self.tape.port(self.call, Ask::Wait(asked.to_vec()), |_| Got::Ended(ended.to_vec())).await;
    }

    async fn give_up(&self, ticket: Ticket, is_done: bool) -> bool {
        let got = self.tape.port(self.call, Ask::GiveUp(ticket), |got| match got {
            Some(got) => got.clone(),
            None => Got::GaveUp(is_done),
        });
        matches!(got.await, Got::GaveUp(true))
    }

    async fn left(&self) {
        self.taint.leaves();
        self.tape.left(self.call).await;
    }
}
