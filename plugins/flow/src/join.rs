//! Joins: the branches of a fan-out become one again once all of them wait or ended.

use syrch_flows::{DEFAULT, Kind, Node};
use syrch_plugin::draws::groups;
use syrch_plugin::prelude::*;
use syrch_plugin::text::count32;

use crate::branch::{Ballot, Branch, Passed, State};
use crate::walk::Walk;
use crate::work;

/// All statements of branches in one ballot: the most common result first, and of equally common
/// ones the earliest.
pub(crate) fn vote<'b>(branches: impl IntoIterator<Item = &'b Branch>) -> Ballot {
    let mut passed: Vec<Passed> = Vec::new();
    let mut replied = 0;
    for branch in branches {
        let found = branch.final_ballot();
        replied += match (&branch.state, found.replied) {
            (State::Abstained | State::Handed(_) | State::Failed(_), 0) => 0,
            (_, replied) => replied.max(1),
        };
        passed.extend(found.groups.into_iter().flatten());
    }
    let fingerprints: Vec<&str> = passed.iter().map(|one| one.ran.fingerprint.as_str()).collect();
    let groups = groups(&fingerprints);
    let groups = groups
        .into_iter()
        .map(|group| group.into_iter().map(|place| passed[place].clone()).collect());
    Ballot { groups: groups.collect(), replied, is_chosen: false }
}

impl<H: SolverHost> Walk<'_, H> {
    /// Joins the branches of every fan-out of which none is under way.
    pub(crate) fn join(&mut self) {
        while let Some(members) = self.ready() {
            self.join_members(&members);
        }
    }

    /// The branches that wait at one node for each other, and those of their fan-out that ended;
    /// the first one waits.
    fn ready(&self) -> Option<Vec<usize>> {
        self.branches.iter().filter(|branch: &&Branch| branch.state == State::Waiting).find_map(
            |first| {
                let Some(fork) = first.fork() else { return Some(vec![first.id as usize]) };
                let siblings: Vec<&Branch> =
                    self.branches.iter().filter(|other| other.came_from(fork)).collect();
                if siblings.iter().any(|other| matches!(other.state, State::Open | State::Away)) {
                    return None;
                }
                // Branches of a fan-out within this one, which wait elsewhere, come first.
                if siblings.iter().any(|other: &&Branch| {
                    other.state == State::Waiting && other.fork() != Some(fork)
                }) {
                    return None;
                }
                let members = siblings
                    .iter()
                    .filter(|other: &&&Branch| match other.state {
                        State::Waiting => {
                            other.fork() == Some(fork) && other.place() == first.place()
                        }
                        State::Joined | State::Open | State::Away => false,
                        State::Ended | State::Abstained | State::Handed(_) | State::Failed(_) => {
                            true
                        }
                    })
                    .map(|member| member.id as usize);
                let others = members.filter(|id| *id != first.id as usize);
                Some([first.id as usize].into_iter().chain(others).collect())
            },
        )
    }

    fn join_members(&mut self, members: &[usize]) {
        let flow = self.flow();
        let first = members[0];
        let node: &Node = self.branches[first].node(flow);
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let mut ballot = vote(sorted.iter().map(|id| &self.branches[*id]));
        let failure = sorted.iter().find_map(|id| match &self.branches[*id].state {
            State::Failed(failure) => Some(failure.clone()),
            _ => None,
        });
        let why = sorted
            .iter()
            .rev()
            .map(|id| &self.branches[*id].why)
            .find(|why| !why.is_empty())
            .cloned();
        let winner = ballot.best().map(|best| best.candidate.id.clone());
        let mut chains = sorted.iter().map(|id| &self.branches[*id].chain);
        let chain = chains.rfind(|chain| chain.last_id == winner).cloned();
        for id in &members[1..] {
            // One that hands the task over stays so, in case that nothing is found.
            if !matches!(self.branches[*id].state, State::Handed(_)) {
                self.branches[*id].state = State::Joined;
            }
        }
        let branch = &mut self.branches[first];
        branch.state = State::Open;
        if branch.fork().is_some() {
            branch.forks.pop();
        }
        branch.doubtful = None;
        branch.chain = chain.unwrap_or_else(|| branch.chain.clone());
        if ballot.best().is_none() {
            branch.why = why.unwrap_or_default();
            if let Some(failure) = failure {
                branch.state = State::Failed(failure);
                return;
            }
        }
        if node.kind == Kind::Choose {
            work::choose(self, first, &mut ballot);
        }
        let size = ballot.groups.first().map_or(0, Vec::len);
        let action = match size {
            0 => "none",
            _ if node.kind == Kind::Vote
                && count32(size) < node.whole("agree")
                && node.edges.contains_key("disagreed") =>
            {
                "disagreed"
            }
            _ => DEFAULT,
        };
        self.branches[first].ballot = ballot;
        self.leave_joined(first, action, members.len());
    }
}
