//! Notes that a search takes of its role calls while it runs, for its later steps and for the
//! reason why there is no answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use syrch_core::ports::{LlmError, Ticket};
use syrch_core::roles::Role;
use syrch_core::{
    Candidate, Catalog, Extras, Question, RoleError, SqlError, SqlErrorKind, TaskId, Verdict,
};
use syrch_journal::CallId;

use crate::error::Outage;
use crate::report::{JudgedReport, OriginReport};

/// The subject of a verdict: a statement, and what its solver adds for the reward, such as the step
/// that it was made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Judged(String, Extras);

impl From<&Candidate> for Judged {
    fn from(candidate: &Candidate) -> Self {
        Self(candidate.sql.clone(), candidate.extra.clone())
    }
}

/// The key that a solver adds to a candidate that the reward is to judge as a step of its task, and
/// not as a whole.
const STEP: &str = "step";

impl Judged {
    /// Returns whether the statement is a step towards one that solves its task.
    pub(crate) fn is_step(&self) -> bool {
        self.1.iter().any(|(key, _)| key == STEP)
    }
}

/// A role, its task, and the call that waits for it.
pub(super) type Place = (Role, TaskId, Option<(CallId, Ticket)>);

/// The notes of one search.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    relation_names: BTreeMap<TaskId, String>,
    calls: BTreeMap<Place, u64>,
    verdicts: BTreeMap<(TaskId, Judged), Verdict>,
    /// The judgements of the statements of a task by model calls.
    judged: BTreeMap<(TaskId, String), JudgedReport>,
    /// The fingerprints of results, by the statement of a task that gave them.
    fingerprints: BTreeMap<(TaskId, String), String>,
    // By role call and ticket: which one is reported first must not depend on which was quicker.
    faults: BTreeMap<CallId, RoleError>,
    failed_rewards: BTreeMap<CallId, RoleError>,
    asks: BTreeMap<CallId, Question>,
    model_errors: BTreeMap<(CallId, Ticket), Outage>,
    /// The limits of length at which replies were cut off, before they held what was expected.
    cut_off: BTreeMap<(CallId, Ticket), u32>,
    /// The prompts that did not fit into the model's context.
    overflows: BTreeMap<(CallId, Ticket), Outage>,
    has_reply: bool,
    is_shapeless: bool,
    /// The greatest confidence with which the offline rules wrote a statement.
    by_rules: Option<f64>,
    /// The doubts of the offline rules about their statements, by statement.
    doubts: BTreeMap<String, Vec<String>>,
    /// True if some reply gave the statement of a task clearly as its answer, by the statement.
    clear: BTreeMap<(TaskId, String), bool>,
    /// The origins of the statements of metrics, by statement.
    origins: BTreeMap<String, OriginReport>,
    outages: BTreeMap<CallId, SqlError>,
    has_refused_write: bool,
}

impl Notes {
    fn with_noted<T>(&self, work: impl FnOnce(&mut Noted) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts the calls of one place, from 1.
    pub(super) fn next_call(&self, place: Place) -> u64 {
        self.with_noted(|noted| {
            let number = noted.calls.entry(place).or_default();
            *number += 1;
            *number
        })
    }

    /// Counts calls of one place that another context has made.
    pub(crate) fn skip_calls(&self, place: Place, calls: u64) {
        self.with_noted(|noted| *noted.calls.entry(place).or_default() += calls);
    }

    /// The name by which a finished task stands in FROM: unique, and that of no table of the
    /// catalog.
    pub(crate) fn relation_name(&self, task: &str, catalog: &Catalog) -> String {
        let plain: String =
            task.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.with_noted(|noted| {
            if let Some(name) = noted.relation_names.get(task) {
                return name.clone();
            }
            let mut name = format!("task_{plain}");
            while catalog.table(&name).is_some()
                || noted.relation_names.values().any(|known| known.eq_ignore_ascii_case(&name))
            {
                name.push('_');
            }
            noted.relation_names.insert(task.to_owned(), name.clone());
            name
        })
    }

    /// Notes that a plugin trapped, exceeded a limit or returned an invalid value.
    pub(super) fn note_fault(&self, call: CallId, fault: RoleError) {
        self.with_noted(|noted| noted.faults.insert(call, fault));
    }

    /// The faults of plugins, that of the earliest call first.
    pub(crate) fn faults(&self) -> Vec<RoleError> {
        self.with_noted(|noted| noted.faults.values().cloned().collect())
    }

    /// Notes that the reward returned a failure instead of verdicts.
    pub(crate) fn note_failed_reward(&self, call: CallId, error: RoleError) {
        self.with_noted(|noted| noted.failed_rewards.insert(call, error));
    }

    /// The failure of the reward's earliest call that failed.
    pub(crate) fn reward_failure(&self) -> Option<RoleError> {
        self.with_noted(|noted| noted.failed_rewards.values().next().cloned())
    }

    /// Notes what a solver would ask the user.
    pub(crate) fn ask(&self, call: CallId, question: Question) {
        self.with_noted(|noted| noted.asks.insert(call, question));
    }

    pub(crate) fn list_asks(&self) -> Vec<Question> {
        self.with_noted(|noted| noted.asks.values().cloned().collect())
    }

    /// Notes the fingerprint of the result of a statement of a task. It outlives the result, so
    /// that nothing depends on how long a plugin holds that.
    pub(crate) fn note_fingerprint(&self, task: TaskId, sql: String, fingerprint: String) {
        self.with_noted(|noted| noted.fingerprints.insert((task, sql), fingerprint));
    }

    /// The fingerprint of the result of a statement of a task; `None` if it had none.
    pub(crate) fn fingerprint_of(&self, task: &str, sql: &str) -> Option<String> {
        self.with_noted(|noted| noted.fingerprints.get(&(task.to_owned(), sql.to_owned())).cloned())
    }

    pub(crate) fn note_verdict(&self, task: &str, judged: &Judged, verdict: &Verdict) {
        self.with_noted(|noted| {
            noted.verdicts.insert((task.to_owned(), judged.clone()), verdict.clone())
        });
    }

    pub(crate) fn verdict(&self, task: &str, judged: &Judged) -> Option<Verdict> {
        self.with_noted(|noted| noted.verdicts.get(&(task.to_owned(), judged.clone())).cloned())
    }

    /// Notes that a model call said yes or no to a statement.
    pub(crate) fn note_judged(&self, task: &str, sql: &str, yes: bool) {
        self.with_noted(|noted| {
            let known = noted.judged.entry((task.to_owned(), sql.to_owned())).or_default();
            let count = if yes { &mut known.yes } else { &mut known.no };
            *count = count.saturating_add(1);
        });
    }

    /// Returns the judgements of a statement of a task by model calls; `None` if there are none.
    pub(crate) fn judgements_of(&self, task: &str, sql: &str) -> Option<JudgedReport> {
        self.with_noted(|noted| noted.judged.get(&(task.to_owned(), sql.to_owned())).copied())
    }

    /// Notes why a call of the model could not be made.
    pub(crate) fn note_model_error(&self, call: CallId, ticket: Ticket, error: &LlmError) {
        let outage = Outage::from_error(error);
        self.with_noted(|noted| noted.model_errors.insert((call, ticket), outage));
    }

    /// Notes that a reply came, whatever it was.
    pub(crate) fn note_reply(&self) {
        self.with_noted(|noted| noted.has_reply = true);
    }

    /// Notes that a reply did not have the shape that was asked for.
    pub(crate) fn note_shapeless(&self) {
        self.with_noted(|noted| noted.is_shapeless = true);
    }

    /// Returns whether a reply did not have the shape that was asked for.
    pub(crate) fn is_shapeless(&self) -> bool {
        self.with_noted(|noted| noted.is_shapeless)
    }

    /// Notes that a reply was cut off at a limit of tokens.
    pub(crate) fn note_cut(&self, call: CallId, ticket: Ticket, tokens: u32) {
        self.with_noted(|noted| {
            noted.has_reply = true;
            noted.is_shapeless = true;
            noted.cut_off.insert((call, ticket), tokens);
        });
    }

    /// The number of replies that were cut off, and the least and the greatest limit at which that
    /// happened.
    pub(crate) fn cut_off(&self) -> (u32, u32, u32) {
        self.with_noted(|noted| {
            let count = u32::try_from(noted.cut_off.len()).unwrap_or(u32::MAX);
            let limits = || noted.cut_off.values().copied();
            (count, limits().min().unwrap_or(0), limits().max().unwrap_or(0))
        })
    }

    /// Notes that a prompt did not fit into the model's context.
    pub(crate) fn note_overflow(&self, call: CallId, ticket: Ticket, error: &LlmError) {
        let outage = Outage::from_error(error);
        self.with_noted(|noted| noted.overflows.insert((call, ticket), outage));
    }

    /// Returns the error because of which the model could not be used, if that happened: the reason
    /// to report when there is no answer. A prompt that was too long is no reason once a shorter
    /// one had a reply.
    pub(crate) fn model_error(&self) -> Option<Outage> {
        self.with_noted(|noted| {
            let mut overflows = noted.overflows.values().filter(|_| !noted.has_reply);
            noted.model_errors.values().next_back().or(overflows.next_back()).cloned()
        })
    }

    /// Notes the confidence with which the offline rules wrote a statement.
    pub(crate) fn note_rules(&self, confidence: f64) {
        self.with_noted(|noted| {
            noted.by_rules = Some(noted.by_rules.map_or(confidence, |most| most.max(confidence)))
        });
    }

    /// Notes for which reasons the offline rules doubt a statement of theirs.
    pub(crate) fn note_doubts(&self, sql: String, doubts: Vec<String>) {
        self.with_noted(|noted| noted.doubts.insert(sql, doubts));
    }

    /// Returns the reasons for which the offline rules doubt a statement of theirs.
    pub(crate) fn doubts_of(&self, sql: &str) -> Vec<String> {
        self.with_noted(|noted| noted.doubts.get(sql).cloned().unwrap_or_default())
    }

    /// Notes that a reply gave the statement of a task, clearly or in doubt.
    pub(crate) fn note_written(&self, task: &TaskId, sql: &str, is_doubted: bool) {
        self.with_noted(|noted| {
            let key = (task.clone(), sql.to_owned());
            *noted.clear.entry(key).or_default() |= !is_doubted;
        });
    }

    /// Returns true if replies gave the statement of a task, and none of them clearly.
    pub(crate) fn is_unclear(&self, task: &TaskId, sql: &str) -> bool {
        self.with_noted(|noted| noted.clear.get(&(task.clone(), sql.to_owned())) == Some(&false))
    }

    /// Notes where the statement of a metric comes from.
    pub(crate) fn note_origin(&self, sql: String, origin: OriginReport) {
        self.with_noted(|noted| noted.origins.insert(sql, origin));
    }

    /// Returns the origin of a statement; `None` if it is not that of a metric.
    pub(crate) fn origin_of(&self, sql: &str) -> Option<OriginReport> {
        self.with_noted(|noted| noted.origins.get(sql).cloned())
    }

    /// The upper bound of an answer's confidence. The rules write the same statement for every
    /// sample, so that agreement of its candidates adds nothing.
    pub(crate) fn most_confidence(&self) -> f64 {
        self.with_noted(|noted| noted.by_rules).unwrap_or(1.0)
    }

    /// Notes an error that means that the database cannot be read now, or that a statement would
    /// have written to it.
    pub(crate) fn note_error(&self, call: CallId, error: &SqlError) {
        self.with_noted(|noted| match error.kind {
            SqlErrorKind::Unavailable => {
                noted.outages.entry(call).or_insert_with(|| error.clone());
            }
            SqlErrorKind::WriteRefused => noted.has_refused_write = true,
            _ => {}
        });
    }

    /// Returns the error because of which the database could not be read, if that happened.
    pub(crate) fn outage(&self) -> Option<SqlError> {
        self.with_noted(|noted| noted.outages.values().next_back().cloned())
    }

    /// Returns whether a statement that would have written was refused.
    pub(crate) fn has_refused_write(&self) -> bool {
        self.with_noted(|noted| noted.has_refused_write)
    }
}
