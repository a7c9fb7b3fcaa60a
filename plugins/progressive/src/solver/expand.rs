//! Branches on error: alternatives of a step that was not accepted, each a line of its own.

use serde_json::json;
use syrch_plugin::prelude::*;

use super::attempt::{Came, Draft};
use super::{Goal, Miss, Solve};
use crate::solver::branch::{Branch, FailurePoint, Made};

/// A line whose step was not accepted.
type Open = (Branch, Miss);

impl<H: SolverHost> Solve<'_, H> {
    /// Expands a branch whose statement was not accepted into the lines of accepted alternatives.
    /// Alternatives that are not accepted get alternatives of their own, as deep as the settings
    /// allow. If none is accepted, the search goes on with the best that was accepted with a lower
    /// score than asked for, else with the branch itself without the step.
    pub(super) fn expand(&mut self, branch: Branch, goal: Goal, miss: Miss) -> Vec<Branch> {
        let mut below: Option<(Branch, Made)> = None;
        let mut level = vec![(branch.clone(), miss.clone())];
        let mut latest = miss;
        while !level.is_empty() {
            best_below(&mut below, &level);
            order(&mut level);
            level.truncate(self.settings.beam_width as usize);
            let mut missed = Vec::new();
            for (from, miss) in std::mem::take(&mut level) {
                let (accepted, worse) = self.alternatives(&from, goal, &miss);
                if !accepted.is_empty() {
                    return self.keep_distinct(goal, accepted);
                }
                latest = worse.last().map_or(latest, |(_, miss)| miss.clone());
                missed.extend(worse);
            }
            level = missed;
        }
        if let Some((mut branch, made)) = below {
            self.take(&mut branch, goal, made);
            return vec![branch];
        }
        vec![self.continue_without(branch, goal, latest)]
    }

    /// Side by side so many further statements for the goal, each on a line of its own; those that
    /// were accepted, and the others.
    fn alternatives(
        &mut self,
        from: &Branch,
        goal: Goal,
        miss: &Miss,
    ) -> (Vec<(Branch, Made)>, Vec<Open>) {
        let mut accepted = Vec::new();
        let mut missed = Vec::new();
        let number =
            if from.depth < self.settings.max_branch_depth { self.affordable() } else { 0 };
        if number == 0 {
            return (accepted, missed);
        }
        let children: Vec<u32> = (0..number).map(|more| self.branches + more).collect();
        self.branches += number;
        let reported = json!({ "from": from.id, "into": children, "subtask": self.name(goal),
                           "class": miss.class.map(crate::class::ErrorClass::name) });
        self.host.event(miss.after.as_deref(), "branched", &reported);
        let requests: Vec<Request> = (0..number)
            .map(|sample| {
                let mut request = self.request(from, goal, &miss.tried, sample);
                request.temperature = Some(self.settings.alternative_temperature as f32);
                request
            })
            .collect();
        for ((sample, id), reply) in (0..).zip(children).zip(self.host.complete_all(&requests)) {
            let mut child = from.child(id);
            child.failures.push(self.failure_point(goal, miss));
            let tried = miss.tried.clone();
            let after = miss.after.clone();
            let draft = Draft { origin: "alternative", sample, tried, after, reply: Some(reply) };
            match self.attempt(&mut child, goal, draft) {
                Came::Succeeded(made) => accepted.push((child, made)),
                Came::Missed(miss) => {
                    child.failures.push(self.failure_point(goal, &miss));
                    self.record(&child, false);
                    missed.push((child, miss));
                }
                Came::Stopped => {
                    self.record(&child, false);
                    break;
                }
            }
        }
        (accepted, missed)
    }

    /// Returns the number of alternatives that the budget allows: each needs a statement and a
    /// judgement, and one judgement is left over for the whole. A search that runs out of time
    /// opens no branches.
    fn affordable(&mut self) -> u32 {
        let left = self.host.remaining();
        let calls =
            if left.time == TimeLeft::Plenty { left.llm_calls.saturating_sub(1) / 2 } else { 0 };
        let number = self.settings.alternatives.min(calls).min(left.sql_runs);
        if self.stop.is_some() {
            return 0;
        }
        if number < self.settings.alternatives && !self.has_warned_of_budget {
            self.has_warned_of_budget = true;
            self.warn(&format!(
                "what is left to spend allows {number} of {} alternatives",
                self.settings.alternatives
            ));
        }
        number
    }

    /// The lines of accepted alternatives. Those with equal results are one: the first.
    fn keep_distinct(&mut self, goal: Goal, accepted: Vec<(Branch, Made)>) -> Vec<Branch> {
        let mut out: Vec<Branch> = Vec::new();
        for (mut line, made) in accepted {
            let print = made.fingerprint.as_ref();
            let known = out.iter().filter_map(|known| known.last.as_ref());
            match known
                .into_iter()
                .find(|known| print.is_some() && known.fingerprint.as_ref() == print)
            {
                Some(twin) => {
                    self.host.discard(
                        &made.candidate.id,
                        &format!("the same rows as {}", twin.candidate.id),
                    );
                    self.record(&line, false);
                }
                None => {
                    self.take(&mut line, goal, made);
                    out.push(line);
                }
            }
        }
        out
    }

    /// The branch continues without the step.
    fn continue_without(&mut self, mut branch: Branch, goal: Goal, miss: Miss) -> Branch {
        branch.failures.push(self.failure_point(goal, &miss));
        if let Goal::Step(place) = goal {
            let was_second = branch.states[place].is_second_chance;
            branch.fail(place, &self.subtasks, self.settings.dependents, miss.tried);
            let id = &self.subtasks[place].id;
            let how = match branch.states[place].is_second_chance && !was_second {
                true => "is tried again after the others",
                false => "failed",
            };
            self.warn(&format!("sub-task {id} {how}: {}", miss.reason));
            let skipped = branch.skip_blocked(&self.subtasks, self.settings.dependents);
            if !skipped.is_empty() {
                self.warn(&format!(
                    "not executed, since they wait for a failed sub-task: {}",
                    skipped.join(", ")
                ));
            }
        }
        self.record(&branch, true);
        branch
    }

    fn failure_point(&self, goal: Goal, miss: &Miss) -> FailurePoint {
        FailurePoint { subtask: self.name(goal), class: miss.class, reason: miss.reason.clone() }
    }

    fn name(&self, goal: Goal) -> String {
        match goal {
            Goal::Step(place) => self.subtasks[place].id.clone(),
            Goal::Whole => "whole".to_owned(),
        }
    }
}

/// Remembers the statement with the highest reward below what was asked for; the earlier one wins a
/// tie.
fn best_below(best: &mut Option<(Branch, Made)>, level: &[Open]) {
    for (branch, miss) in level {
        let Some(made) = &miss.below else { continue };
        if best.as_ref().is_none_or(|(_, known)| made.reward > known.reward) {
            *best = Some((branch.clone(), made.clone()));
        }
    }
}

/// Higher rewards first, then the more important class: what has a meaning is worth more
/// alternatives than what does not parse.
fn order(level: &mut [Open]) {
    fn reward_below(open: &Open) -> f64 {
        open.1.below.as_ref().map_or(0.0, |made| made.reward)
    }
    let class = |open: &Open| open.1.class.map_or(u8::MAX, |class| class as u8);
    level.sort_by(|a, b| reward_below(b).total_cmp(&reward_below(a)).then(class(a).cmp(&class(b))));
}
