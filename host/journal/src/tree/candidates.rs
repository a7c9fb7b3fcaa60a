//! Candidates: who proposed them, what became of them, and which of them have the same result.

use std::collections::{BTreeMap, HashMap};

use syrch_core::{Candidate, Equality, Observation, SqlError, Verdict};

use super::build::Builder;
use super::{CandidateNode, Status, TaskNode};
use crate::read::Journal;
use crate::record::{CallId, Record, StoredRows};
use crate::stored;

/// The salt of digests of results, always the same, since digests are compared between runs.
const SALT: u64 = 0;

impl CandidateNode {
    /// Copies the strategy's own properties. Its confidence is a claim; the calibrated one comes
    /// from the host alone.
    pub(super) fn take_claim(&mut self, candidate: &Candidate) {
        self.parents.clone_from(&candidate.parents);
        self.origin.clone_from(&candidate.origin);
        self.sql.clone_from(&candidate.sql);
        self.claimed = candidate.raw_confidence.or(self.claimed);
        self.rationale = candidate.rationale.clone().or_else(|| self.rationale.take());
        self.signals = candidate.signals.clone();
    }
}

fn entry<'a>(candidates: &'a mut Vec<CandidateNode>, id: &str) -> &'a mut CandidateNode {
    let place = candidates.iter().position(|known| known.id == id).unwrap_or_else(|| {
        candidates.push(CandidateNode { id: id.to_owned(), ..CandidateNode::default() });
        candidates.len() - 1
    });
    &mut candidates[place]
}

impl Builder<'_> {
    /// The candidate of that id, of the task that the role call works on.
    pub(super) fn candidate(&mut self, call: CallId, id: &str) -> &mut CandidateNode {
        let of = self.role_call(call).map(|call| (call.round, call.task.clone()));
        let (round, task) = of.unwrap_or_else(|| (self.round().number, String::new()));
        self.candidate_of(round, &task, id)
    }

    pub(super) fn candidate_of(&mut self, round: u32, task: &str, id: &str) -> &mut CandidateNode {
        let place = self.tree.rounds.iter().position(|known| known.number == round);
        let place = place.unwrap_or_else(|| {
            self.round();
            self.tree.rounds.len() - 1
        });
        let round = &mut self.tree.rounds[place];
        match round.tasks.iter().position(|known| known.id == task) {
            Some(task) => entry(&mut round.tasks[task].candidates, id),
            None => entry(&mut round.candidates, id),
        }
    }

    /// A task ended: the first of its candidates solved it, and the others did not.
    pub(super) fn end_task(&mut self, at_us: u64, observation: &Observation) {
        let round = self.round().number;
        for (place, candidate) in observation.candidates.iter().enumerate() {
            let known = self.candidate_of(round, &observation.task, &candidate.id);
            known.take_claim(candidate);
            known.confidence = candidate.confidence;
            if place == 0 && observation.ending.is_success() {
                known.status = Status::Kept;
            }
        }
        let Some(node) = self.task(round, &observation.task) else { return };
        node.ending = Some(observation.ending.clone());
        node.ended_us = Some(at_us);
        for candidate in
            node.candidates.iter_mut().filter(|candidate| candidate.status == Status::Open)
        {
            candidate.status = Status::Dropped;
        }
    }

    /// Adds the result of each candidate, and why it was dropped where no plugin gave a reason.
    pub(super) fn settle_candidates(&mut self) {
        let Self { tree, results, .. } = self;
        for round in &mut tree.rounds {
            for node in &mut round.tasks {
                results.settle(round.number, node);
            }
        }
    }
}

/// The results of statements, by the task that ran them.
pub(super) struct Results<'a> {
    rows: HashMap<&'a str, &'a str>,
    found: HashMap<(u32, String, String), Result<StoredRows, SqlError>>,
    digests: HashMap<String, Option<String>>,
}

impl<'a> Results<'a> {
    pub(super) fn from_journal(journal: &'a Journal) -> Self {
        let rows = journal.records.iter().filter_map(|record| match record {
            Record::Rows { digest, bytes } => Some((digest.as_str(), bytes.as_str())),
            _ => None,
        });
        Self { rows: rows.collect(), found: HashMap::new(), digests: HashMap::new() }
    }

    /// Stores the result of a statement, and returns whether the task ran it for the first time.
    pub(super) fn note(
        &mut self,
        round: u32,
        task: &str,
        sql: &str,
        found: &Result<StoredRows, SqlError>,
    ) -> bool {
        self.found.insert((round, task.to_owned(), sql.to_owned()), found.clone()).is_none()
    }

    /// Equal for equal results in any order of rows. Each result is decoded once.
    fn digest(&mut self, stored: &StoredRows) -> Option<String> {
        let wanted = stored.digest.as_ref()?;
        if let Some(known) = self.digests.get(wanted) {
            return known.clone();
        }
        let result =
            self.rows.get(wanted.as_str()).and_then(|bytes| stored::restore(wanted, bytes));
        let digest = result.and_then(|result| result.fingerprint(&Equality::Bag, SALT));
        self.digests.insert(wanted.clone(), digest.clone());
        digest
    }

    fn settle(&mut self, round: u32, node: &mut TaskNode) {
        let mut failures = BTreeMap::new();
        for candidate in &mut node.candidates {
            let key = (round, node.id.clone(), candidate.sql.clone());
            match self.found.get(&key).cloned() {
                Some(Ok(stored)) => {
                    candidate.rows = Some(stored.rows);
                    candidate.digest = self.digest(&stored);
                }
                Some(Err(error)) => {
                    failures.insert(candidate.id.clone(), format!("its SQL does not run: {error}"));
                }
                None => {}
            }
            if candidate.reason.is_none() && candidate.status == Status::Dropped {
                let rejected = match &candidate.verdict {
                    Some(Verdict::Rejected(opinion)) => {
                        Some(format!("rejected: {}", opinion.reason))
                    }
                    _ => None,
                };
                candidate.reason = failures.remove(&candidate.id).or(rejected);
            }
        }
        number(&mut node.candidates);
    }
}

/// Numbers equal results, where the run itself has not.
fn number(candidates: &mut [CandidateNode]) {
    if candidates.iter().any(|candidate| candidate.cluster.is_some()) {
        return;
    }
    let mut clusters: BTreeMap<String, u32> = BTreeMap::new();
    for candidate in candidates {
        let Some(digest) = candidate.digest.clone() else { continue };
        let next = u32::try_from(clusters.len()).unwrap_or(u32::MAX).saturating_add(1);
        candidate.cluster = Some(*clusters.entry(digest).or_insert(next));
    }
}
