//! The end: the best branch's statement is judged against the whole question, and the outcome is
//! made.

use serde_json::{Value, json};
use syrch_plugin::brief::Tried;
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clip, line};

use super::attempt::{Came, Draft, Judged};
use super::{Goal, Miss, Solve, Stop, rank};
use crate::solver::branch::{Branch, Made, Standing};
use crate::subtask::Subtask;

// Bytes of a memo that branches may fill; a document as a whole may have 256 KiB.
const BRANCHES: usize = 96 * 1024;
// Failed statements that the prompt for the whole question carries.
const CARRIED: usize = 4;

impl<H: SolverHost> Solve<'_, H> {
    /// The best branch whose statement is not rejected as a whole; best by cumulative reward.
    pub(super) fn conclude(mut self, beam: Vec<Branch>) -> Result<Outcome, Failure> {
        let mut below: Option<Branch> = None;
        let mut lost: Vec<Branch> = Vec::new();
        let mut winner = None;
        for branch in rank(beam) {
            if winner.is_some() {
                lost.push(branch);
                continue;
            }
            for line in self.take_whole(branch) {
                match line.last.as_ref().map(|made| made.standing) {
                    Some(Standing::Below) if winner.is_none() && below.is_none() => {
                        below = Some(line)
                    }
                    Some(Standing::Accepted | Standing::Unjudged) if winner.is_none() => {
                        winner = Some(line)
                    }
                    _ => lost.push(line),
                }
            }
        }
        match (winner, below) {
            (Some(winner), below) => {
                lost.extend(below);
                Ok(self.outcome(winner, &lost))
            }
            (None, Some(below)) => Ok(self.outcome(below, &lost)),
            (None, None) => self.fail_without_statement(),
        }
    }

    /// The lines of a branch whose statements are judged as a whole and not rejected.
    fn take_whole(&mut self, mut branch: Branch) -> Vec<Branch> {
        let Some(mut made) = branch.last.take() else {
            // A lone sub-task is the question, which then was tried already.
            if self.subtasks.len() == 1 {
                return Vec::new();
            }
            let miss = self.without_statement(&branch);
            return self.mend(branch, miss);
        };
        if made.is_whole {
            branch.last = Some(made);
            return vec![branch];
        }
        made.is_whole = true;
        made.part =
            Some((branch.count_done(), self.subtasks.len())).filter(|(done, all)| done < all);
        made.candidate.signals.reward = None;
        made.candidate.score = None;
        match self.judge_candidate(&branch, Goal::Whole, &made.candidate) {
            Judged::Unjudged(why) => {
                self.host
                    .note(Level::Info, &format!("the whole is not judged: {}", line(&why, 300)));
                branch.last = Some(Made { standing: Standing::Unjudged, reason: why, ..made });
                vec![branch]
            }
            Judged::Accepted(opinion) => {
                let mut draft = Draft::for_candidate(&made.candidate.id);
                match self.record_acceptance(&mut draft, made, &opinion) {
                    Came::Missed(miss) => self.mend(branch, miss),
                    Came::Succeeded(made) => {
                        branch.last = Some(made);
                        vec![branch]
                    }
                    Came::Stopped => Vec::new(),
                }
            }
            // A statement that is rejected as a whole gets alternatives, like a step.
            Judged::Rejected(opinion) => {
                let mut draft = Draft::for_candidate(&made.candidate.id);
                let miss = self.record_rejection(
                    &mut branch,
                    &mut draft,
                    &made.candidate,
                    &opinion,
                    "rejected as a whole",
                );
                self.mend(branch, miss)
            }
        }
    }

    fn mend(&mut self, branch: Branch, miss: Miss) -> Vec<Branch> {
        let mut lines = self.expand(branch, Goal::Whole, miss);
        lines.retain(|line| line.last.as_ref().is_some_and(|made| made.is_whole));
        lines
    }

    /// EP-D5: where no step was accepted, there is no statement, and never an empty one.
    fn without_statement(&self, branch: &Branch) -> Miss {
        let mut tried: Vec<Tried> =
            branch.states.iter().flat_map(|state| state.tried.iter().cloned()).collect();
        tried.drain(..tried.len().saturating_sub(CARRIED));
        let reason =
            tried.last().map_or("no step has a statement", |tried| tried.wrong.as_str()).to_owned();
        let class = branch.failures.last().and_then(|failure| failure.class);
        Miss { tried, class, reason, below: None, after: None }
    }

    fn outcome(mut self, winner: Branch, lost: &[Branch]) -> Outcome {
        if let Some(stop) = &self.stop {
            self.warn(&format!("going on with what there is: {}", stop.words()));
        }
        let Some(made) = &winner.last else { return Outcome::default() };
        let id = made.candidate.id.clone();
        for branch in lost {
            self.record(branch, false);
            if let Some(other) = branch.last.as_ref().filter(|other| other.candidate.id != id) {
                let why = if branch.cumulative < winner.cumulative {
                    format!(
                        "cumulative reward {:.2}; {id} comes first with {:.2}",
                        branch.cumulative, winner.cumulative
                    )
                } else {
                    format!(
                        "cumulative reward {:.2}, like {id}, whose branch is an earlier one",
                        branch.cumulative
                    )
                };
                self.host.discard(&other.candidate.id, &why);
            }
        }
        self.record(&winner, true);
        let how = match made.standing {
            Standing::Accepted => "accepted as a whole",
            Standing::Below => "accepted as a whole, with less than was asked for",
            Standing::Unjudged => "not judged as a whole",
        };
        let part = made.part.filter(|_| made.standing != Standing::Accepted);
        let how = match part {
            Some((done, all)) => format!("{how}, with {done} of {all} sub-tasks done"),
            None => how.to_owned(),
        };
        self.host.keep(
            &id,
            &format!(
                "{how}; cumulative reward {:.2}: {}",
                winner.cumulative,
                line(&made.reason, 300)
            ),
        );
        let mut candidate = made.candidate.clone();
        if let Some((done, all)) = part {
            lessen(&mut candidate, done, all);
        }
        let reward = candidate.signals.reward;
        candidate.signals =
            Signals { reward, logprob: candidate.signals.logprob, ..self.signals(&winner) };
        candidate.signals.extra.extend(
            made.candidate.signals.extra.iter().filter(|(name, _)| name == "tokens").cloned(),
        );
        let memo = self.memo(Some(&winner), &how);
        Outcome { candidates: vec![candidate], memo: Some(memo.to_string()), ..Outcome::default() }
    }

    fn fail_without_statement(self) -> Result<Outcome, Failure> {
        let why = match &self.stop {
            Some(Stop::Failed(failure)) => return Err(failure.clone()),
            Some(Stop::Abstained(why)) => why.clone(),
            None => {
                let point = self
                    .records
                    .values()
                    .rev()
                    .find_map(|record| record["failure_point"]["reason"].as_str());
                format!(
                    "no statement did in {} rounds: {}",
                    self.iterations,
                    point.unwrap_or("no reason is known")
                )
            }
        };
        // The host shows the last warning to the user if a task has no result.
        self.host.note(Level::Warn, &why);
        let memo = self.memo(None, &line(&why, 600));
        Ok(Outcome { memo: Some(memo.to_string()), ..Outcome::default() })
    }

    /// Returns the memo of the search: the output that the design document defines.
    fn memo(&self, winner: Option<&Branch>, reason: &str) -> Value {
        let made = winner.and_then(|winner| winner.last.as_ref());
        json!({
            "reason": reason,
            "sql": made.map(|made| clip(&made.candidate.sql, 16_000)),
            "reward": made
                .filter(|made| made.standing != Standing::Unjudged)
                .map(|made| made.reward),
            "result": made.map(|made| json!({ "rows": made.rows, "columns": made.columns })),
            "judgement": made.map(|made| line(&made.reason, 500)),
            "iterations": self.iterations,
            "plan": self.plan,
            "subtasks": winner.map_or_else(
                || self.subtasks.iter().map(Subtask::json).collect(),
                |winner| winner.subtasks_json(&self.subtasks),
            ),
            "context": winner.map(Branch::context_json),
            "branches": fitting(self.records.values().take(100), BRANCHES),
            "branches_explored": self.branches,
            "errors": self.errors,
        })
    }
}

/// The first records that fit into so many bytes.
fn fitting<'a>(records: impl Iterator<Item = &'a Value>, bytes: usize) -> Vec<&'a Value> {
    let mut space = bytes;
    records
        .take_while(|record: &&Value| {
            let left = space.checked_sub(record.to_string().len());
            space = left.unwrap_or_default();
            left.is_some()
        })
        .collect()
}

/// Makes the confidence in a statement that was written for some of the sub-tasks, and not accepted
/// as the whole, their share of what was stated, and says so: a model that is sure of a step says
/// nothing about what is missing.
fn lessen(candidate: &mut Candidate, done: usize, all: usize) {
    let share = done as f64 / all.max(1) as f64;
    candidate.raw_confidence = candidate.raw_confidence.map(|stated| stated * share);
    let reported =
        format!("{done} of {all} sub-tasks are done, and the confidence is scaled by that share");
    let earlier =
        candidate.rationale.take().map(|earlier| format!("{earlier}; ")).unwrap_or_default();
    candidate.rationale = Some(earlier + &reported);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_branches_are_reported_as_fit() {
        let records = [json!("123"), json!("12345"), json!("")];
        assert_eq!(fitting(records.iter(), 14).len(), 3);
        assert_eq!(fitting(records.iter(), 13), [&records[0], &records[1]]);
        assert_eq!(fitting(records.iter(), 11), [&records[0]]);
    }

    #[test]
    fn a_confidence_becomes_its_share() {
        let mut candidate = Candidate { raw_confidence: Some(0.96), ..Candidate::default() };
        lessen(&mut candidate, 1, 2);
        assert_eq!(candidate.raw_confidence, Some(0.48));
        let mut unstated = Candidate::default();
        lessen(&mut unstated, 1, 2);
        assert_eq!(unstated.raw_confidence, None);
    }
}
