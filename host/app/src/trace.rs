//! What people see of a search: the trace of its candidates, and the port through which plugins write it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use syrch_core::ports::{Level, TracePort};
use syrch_core::{Candidate, Json, TaskId};

use crate::report::{CandidateReport, CandidateStatus};
use crate::{Observer, SearchEvent};

/// The reason of a candidate of which nothing more was said.
const UNUSED: &str = "proposed and not used";
/// Bytes of a reason that a candidate's own words give.
const REASON: usize = 200;

/// The trace of one search.
pub(crate) struct Trace {
    observer: Arc<dyn Observer>,
    candidates: Mutex<Vec<CandidateReport>>,
    most: usize,
    unlisted: AtomicUsize,
    /// How many of them come from before the last clarification.
    earlier: AtomicUsize,
}

impl Trace {
    /// A trace of at most `most` candidates.
    pub(crate) fn new(observer: Arc<dyn Observer>, most: usize) -> Arc<Self> {
        let (earlier, unlisted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { observer, candidates: Mutex::default(), most, unlisted, earlier })
    }

    /// Something about the run itself went wrong.
    pub(crate) fn warn(&self, message: &str) {
        let (call, message) = ("search".to_owned(), message.to_owned());
        self.event(&SearchEvent::Note { call, level: Level::Warn, message });
    }

    pub(crate) fn event(&self, event: &SearchEvent) {
        self.observer.event(event);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CandidateReport>> {
        self.candidates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was found since the last clarification in the order of these tasks: what was found side by side has no order of its own.
    pub(crate) fn order(&self, tasks: &[TaskId]) {
        let mut candidates = self.lock();
        let place = |task: &str| tasks.iter().position(|known| known == task).unwrap_or(usize::MAX);
        let earlier = self.earlier.load(Ordering::Relaxed).min(candidates.len());
        candidates[earlier..].sort_by(|a, b| (place(&a.task), &a.task).cmp(&(place(&b.task), &b.task)));
    }

    /// The candidates so far; of each task in the order in which they were proposed.
    pub(crate) fn candidates(&self) -> Vec<CandidateReport> {
        self.lock().clone()
    }

    /// A clarification starts the search over, for that time. What was found before stays in the report, but is no candidate any more; its tasks
    /// and ids get a name that none of the new ones can have, so that both stay apart.
    pub(crate) fn restart(&self, round: u32) {
        let mut candidates = self.lock();
        let earlier = self.earlier.swap(candidates.len(), Ordering::Relaxed);
        for known in candidates.iter_mut().skip(earlier) {
            known.id = format!("round{round}:{}", known.id);
            known.task = format!("round{round}:{}", known.task);
            known.status = CandidateStatus::Dropped;
            known.reason = format!("from before the clarification: {}", known.reason);
        }
    }

    /// How many candidates were proposed beyond the bound, and are missing from the report.
    pub(crate) fn unlisted(&self) -> usize {
        self.unlisted.load(Ordering::Relaxed)
    }

    /// Notes a candidate of a task, or what is newly known about it.
    pub(crate) fn propose(&self, task: &str, candidate: &Candidate) {
        let mut candidates = self.lock();
        let full = candidates.len() >= self.most;
        let known = candidates.iter_mut().rev().find(|known| known.id == candidate.id && known.task == task);
        match known {
            Some(known) => {
                known.sql.clone_from(&candidate.sql);
                known.confidence = candidate.confidence.or(known.confidence);
                known.rationale = candidate.rationale.clone().or_else(|| known.rationale.take());
            }
            None if full => {
                self.unlisted.fetch_add(1, Ordering::Relaxed);
            }
            None => candidates.push(CandidateReport {
                id: candidate.id.clone(),
                task: task.to_owned(),
                sql: candidate.sql.clone(),
                status: CandidateStatus::Dropped,
                cluster: None,
                confidence: candidate.confidence,
                reason: UNUSED.to_owned(),
                rationale: candidate.rationale.clone(),
            }),
        }
    }

    /// Updates the report of a candidate of a task.
    pub(crate) fn settle(&self, task: &str, id: &str, change: impl FnOnce(&mut CandidateReport)) {
        if let Some(known) = self.lock().iter_mut().find(|known| known.id == id && known.task == task) {
            change(known);
            // Its solver gave no verdict on it, only the candidate itself.
            if known.status != CandidateStatus::Dropped && known.reason == UNUSED {
                let said =
                    known.rationale.as_deref().and_then(|said| said.lines().next()).filter(|said| !said.is_empty());
                known.reason = syrch_core::text::clip(said.unwrap_or("its solver returned it"), REASON).to_owned();
            }
        }
    }
}

/// The port `trace` of one role call.
pub(crate) struct TraceOfCall {
    pub(crate) trace: Arc<Trace>,
    pub(crate) call: String,
    /// The task whose candidates the call speaks of; empty for a call that has none.
    pub(crate) task: String,
    /// The last remark that something went wrong, for the failure's message.
    pub(crate) complaint: Arc<Mutex<Option<String>>>,
}

#[async_trait]
impl TracePort for TraceOfCall {
    async fn note(&self, level: Level, message: &str) {
        if level == Level::Warn {
            *self.complaint.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.to_owned());
        }
        let (call, message) = (self.call.clone(), message.to_owned());
        self.trace.event(&SearchEvent::Note { call, level, message });
    }

    async fn propose(&self, candidate: &Candidate) {
        // The guest's confidence is a claim; the host's own value comes later.
        self.trace.propose(&self.task, &Candidate { confidence: None, ..candidate.clone() });
    }

    async fn keep(&self, candidate: &str, reason: &str) {
        self.trace.settle(&self.task, candidate, |known| reason.clone_into(&mut known.reason));
    }

    async fn discard(&self, candidate: &str, reason: &str) {
        self.trace.settle(&self.task, candidate, |known| reason.clone_into(&mut known.reason));
    }

    async fn event(&self, candidate: Option<&str>, name: &str, data: &Json) {
        let about = candidate.map(|id| format!(" of {id}")).unwrap_or_default();
        self.note(Level::Debug, &format!("{name}{about}: {data}")).await;
    }

    fn printed(&self, line: &str) {
        let (call, message) = (self.call.clone(), line.to_owned());
        self.trace.event(&SearchEvent::Note { call, level: Level::Debug, message });
    }
}
