//! The events of a search that people see: the trace of its candidates, and the port through which
//! plugins write it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use syrch_core::ports::{Level, TracePort};
use syrch_core::{Candidate, Json, Task, TaskId, Verdict};

use crate::report::{CandidateReport, CandidateStatus, StepReport};
use crate::{Observer, SearchEvent, thought};

/// The reason of a candidate of which nothing more was said.
const UNUSED: &str = "proposed and not used";
/// Bytes of a reason that a candidate's own words give.
const REASON: usize = 200;
/// The most steps of strategies' own.
const STEPS: usize = 128;
/// The most parents of a candidate, and the most bytes of its origin.
const PARENTS: usize = 16;
const ORIGIN: usize = 200;

/// The trace of one search.
pub(crate) struct Trace {
    observer: Arc<dyn Observer>,
    candidates: Mutex<Vec<CandidateReport>>,
    steps: Mutex<Vec<StepReport>>,
    most: usize,
    unlisted: AtomicUsize,
    /// The number of candidates from before the last clarification.
    earlier: AtomicUsize,
}

impl Trace {
    /// A trace of at most `most` candidates.
    pub(crate) fn new(observer: Arc<dyn Observer>, most: usize) -> Arc<Self> {
        let earlier = AtomicUsize::new(0);
        let unlisted = AtomicUsize::new(0);
        Arc::new(Self {
            observer,
            candidates: Mutex::default(),
            steps: Mutex::default(),
            most,
            unlisted,
            earlier,
        })
    }

    /// Something about the run itself went wrong.
    pub(crate) fn warn(&self, message: &str) {
        let call = "search".to_owned();
        let message = message.to_owned();
        self.event(&SearchEvent::Note { call, level: Level::Warn, message });
    }

    pub(crate) fn event(&self, event: &SearchEvent) {
        self.observer.event(event);
    }

    /// Reports tasks that are put into the graph; `answer` is the one that answers the question.
    pub(crate) fn tasks<'a>(&self, tasks: impl IntoIterator<Item = &'a Task>, answer: &str) {
        for task in tasks {
            self.observer.task(&thought::open_task(task, answer));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CandidateReport>> {
        self.candidates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was found since the last clarification in the order of these tasks: what was found
    /// side by side has no order of its own.
    pub(crate) fn order(&self, tasks: &[TaskId]) {
        let mut candidates = self.lock();
        let place = |task: &str| tasks.iter().position(|known| known == task).unwrap_or(usize::MAX);
        let earlier = self.earlier.load(Ordering::Relaxed).min(candidates.len());
        candidates[earlier..]
            .sort_by(|a, b| (place(&a.task), &a.task).cmp(&(place(&b.task), &b.task)));
    }

    /// The candidates so far; of each task in the order in which they were proposed.
    pub(crate) fn candidates(&self) -> Vec<CandidateReport> {
        self.lock().clone()
    }

    /// The steps since the last clarification, by task in the order of these tasks; steps of no
    /// task come first.
    pub(crate) fn steps(&self, tasks: &[TaskId]) -> Vec<StepReport> {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let place = |step: &StepReport| {
            let known = tasks.iter().position(|known| *known == step.task);
            if step.task.is_empty() { 0 } else { known.map_or(usize::MAX, |place| place + 1) }
        };
        steps.sort_by(|a, b| (place(a), &a.task).cmp(&(place(b), &b.task)));
        steps.truncate(STEPS);
        steps
    }

    /// A step of the strategy's own. Each task has its share, so that which are dropped does not
    /// depend on which task was quicker.
    fn step(&self, step: StepReport) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.iter().filter(|known| known.task == step.task).count() < STEPS {
            self.observer.step(&step);
            steps.push(step);
        }
    }

    /// A clarification starts the search over, for that time. What was found before stays in the
    /// report, but is no candidate any more; its tasks and ids get a name that none of the new ones
    /// can have, so that both stay apart.
    pub(crate) fn restart(&self, round: u32) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut candidates = self.lock();
        let earlier = self.earlier.swap(candidates.len(), Ordering::Relaxed);
        for known in candidates.iter_mut().skip(earlier) {
            known.id = format!("round{round}:{}", known.id);
            known.task = format!("round{round}:{}", known.task);
            known.status = CandidateStatus::Dropped;
            known.reason = format!("from before the clarification: {}", known.reason);
        }
    }

    /// Returns the number of candidates beyond the bound, which are missing from the report.
    pub(crate) fn count_unlisted(&self) -> usize {
        self.unlisted.load(Ordering::Relaxed)
    }

    /// Notes a candidate of a task, or what is newly known about it.
    pub(crate) fn propose(&self, task: &str, candidate: &Candidate) {
        let mut candidates = self.lock();
        let full = candidates.len() >= self.most;
        let known = candidates
            .iter_mut()
            .rev()
            .find(|known| known.id == candidate.id && known.task == task);
        match known {
            Some(known) => {
                known.sql.clone_from(&candidate.sql);
                known.confidence = candidate.confidence.or(known.confidence);
                known.rationale = candidate.rationale.clone().or_else(|| known.rationale.take());
                known.claimed = candidate.raw_confidence.or(known.claimed);
                self.observer.candidate(known);
            }
            None if full => {
                self.unlisted.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                let report = CandidateReport {
                    id: candidate.id.clone(),
                    task: task.to_owned(),
                    sql: candidate.sql.clone(),
                    status: CandidateStatus::Dropped,
                    cluster: None,
                    confidence: candidate.confidence,
                    reason: UNUSED.to_owned(),
                    rationale: candidate.rationale.clone(),
                    parents: candidate.parents.iter().take(PARENTS).cloned().collect(),
                    origin: syrch_core::text::clip(&candidate.origin, ORIGIN).to_owned(),
                    claimed: candidate.raw_confidence,
                    reward: None,
                    judged: None,
                };
                self.observer.candidate(&report);
                candidates.push(report);
            }
        }
    }

    /// Notes the reward's verdict on a candidate of a task, as a whole or as a step.
    pub(crate) fn reward(&self, task: &str, id: &str, verdict: &Verdict, is_step: bool) {
        if let Some(known) =
            self.lock().iter_mut().find(|known| known.id == id && known.task == task)
        {
            known.reward = Some(thought::reward(verdict, is_step));
            self.observer.candidate(known);
        }
    }

    /// Updates the report of a candidate of a task.
    pub(crate) fn settle(&self, task: &str, id: &str, change: impl FnOnce(&mut CandidateReport)) {
        if let Some(known) =
            self.lock().iter_mut().find(|known| known.id == id && known.task == task)
        {
            change(known);
            // Its solver gave no verdict on it, only the candidate itself.
            if known.status != CandidateStatus::Dropped && known.reason == UNUSED {
                let said = known
                    .rationale
                    .as_deref()
                    .and_then(|said| said.lines().next())
                    .filter(|said| !said.is_empty());
                known.reason =
                    syrch_core::text::clip(said.unwrap_or("its solver returned it"), REASON)
                        .to_owned();
            }
            self.observer.candidate(known);
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
    pub(crate) last_warning: Arc<Mutex<Option<String>>>,
}

#[async_trait]
impl TracePort for TraceOfCall {
    async fn note(&self, level: Level, message: &str) {
        if level == Level::Warn {
            *self.last_warning.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(message.to_owned());
        }
        let call = self.call.clone();
        let message = message.to_owned();
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
        self.trace.step(thought::step(&self.task, candidate, name, data));
        let about = candidate.map(|id| format!(" of {id}")).unwrap_or_default();
        self.note(Level::Debug, &format!("{name}{about}: {data}")).await;
    }

    fn print_line(&self, line: &str) {
        let call = self.call.clone();
        let message = line.to_owned();
        self.trace.event(&SearchEvent::Note { call, level: Level::Debug, message });
    }
}
