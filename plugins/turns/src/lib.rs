//! The planner `turns`: an agent that searches the catalog, tries statements, forks, merges and prunes lines of work, and sees each result
//! before it decides the next step.
//!
//! A turn is a stream of decisions (`decision`) by a model (`ask`, which shows it the `report`) or by rule (`heuristic`). It is replayed on
//! a copy of the `state` (`replay`, `actions`, `references`) and refused as a whole when it does not fit (`refusal`); a sound one becomes
//! edits of the host's graph (`edits`). What the host saw is taken over by `observe`, which keeps the `evidence`. The state travels in the
//! graph's memo.
//!
//! The actions are sift's (search, fork, select, merge, prune, continue, terminate); its planner decided them before the first result.

mod actions;
mod ask;
mod decision;
mod edits;
mod evidence;
mod heuristic;
mod observe;
mod references;
mod refusal;
mod replay;
mod report;
mod state;
mod terms;
#[cfg(test)]
mod tests;
mod turn;

use syrch_plugin::prelude::*;

use crate::replay::{Bounds, Replayed};
use crate::state::{State, StopReason};

syrch_plugin::settings! {
    /// How a search in turns goes.
    pub struct Manners {
        /// Turns that may add tasks, the first one included; the user's rounds bound them too.
        steps: u32 = 6, 1 ..= 12;
        /// Branches at once; merged and pruned ones do not count.
        branches: u32 = 3, 1 ..= 6;
        /// Hits that a branch keeps as evidence.
        retained: u32 = 5, 1 ..= 20;
        /// Decisions of one turn.
        actions_per_turn: u32 = 3, 1 ..= 6;
        /// Hits that one search asks for.
        hits: u32 = 10, 1 ..= 50;
        /// Bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
        /// Whether to decide only when all tasks of a turn have ended; otherwise after each of them, so that the others can be called off.
        together: bool = true;
        /// Whether a model decides; otherwise all goes by rule.
        model: bool = true;
    }
}

/// The planner.
pub struct Turns {
    manners: Manners,
}

/// What a turn is decided from.
pub(crate) struct View<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) catalog: &'a Catalog,
    pub(crate) graph: &'a Graph,
    pub(crate) seen: &'a [Observation],
    /// Ids of the host's graph.
    pub(crate) taken: &'a [String],
    /// Tasks that ended since the last turn.
    pub(crate) new: &'a [String],
    /// Turns that may add tasks.
    pub(crate) limit: u32,
}

impl Plugin for Turns {
    const NAME: &'static str = "turns";
    const SUMMARY: &'static str =
        "searches, tries, forks, merges and prunes in turns, and sees each result before the next step";
    type Settings = Manners;

    fn new(manners: Manners) -> Self {
        Self { manners }
    }
}

impl PlannerRole for Turns {
    fn plan(&self, host: &impl PlannerHost, problem: &Problem, catalog: &Catalog) -> Result<Graph, Failure> {
        let graph = Graph { tasks: Vec::new(), answer: String::new(), memo: None };
        let limit = self.limit(host);
        let view = View { problem, catalog, graph: &graph, seen: &[], taken: &[], new: &[], limit };
        let mut state = State { by_model: self.manners.model, ..State::new() };
        // With one turn there is no result to look at.
        let first = if limit > 1 { self.turn(host, &view, &mut state)? } else { None };
        let first = first.unwrap_or_else(|| only_try(&view, state));
        let added = edits::added(&view, &first, &self.manners);
        Ok(Graph { tasks: added.tasks, answer: added.answer, memo: first.state.memo() })
    }

    fn next(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
        _fresh: usize,
    ) -> Result<Step, Failure> {
        let unchanged = Step { edits: Vec::new(), memo: graph.memo.clone() };
        let limit = self.limit(host);
        let taken: Vec<String> = graph.tasks.iter().map(|task| task.id.clone()).collect();
        let Some(mut state) = State::read(graph.memo.as_deref()) else {
            host.note(Level::Warn, "the planner's memo is not its own: the graph stays as it is");
            return Ok(unchanged);
        };
        if state.stopped.is_some() {
            return Ok(unchanged);
        }
        let new = observe::absorb(&mut state, graph, seen, self.manners.retained);
        let is_quiet = state.running().next().is_none();
        if !is_quiet && (self.manners.together || !state.by_model || new.is_empty()) {
            return Ok(unchanged);
        }
        if observe::is_spent(seen) {
            host.note(Level::Info, "a budget is spent or the search was called off: no further turn");
        }
        let view = View { problem, catalog, graph, seen, taken: &taken, new: &new, limit };
        let taken_turn = match over(&view, &state) {
            Some(_) if !is_quiet => None,
            Some(reason) => Some(stop(host, state.clone(), reason)),
            None => self.turn(host, &view, &mut state)?,
        };
        Ok(match taken_turn {
            Some(replayed) => edits::step(&view, &replayed, &self.manners),
            None if is_quiet => edits::step(&view, &stop(host, state, StopReason::NoFurtherQueries), &self.manners),
            None => Step { edits: Vec::new(), memo: state.memo() },
        })
    }
}

impl Turns {
    /// Each turn but the first costs one of the user's rounds.
    fn limit(&self, host: &impl PlannerHost) -> u32 {
        self.manners.steps.min(host.policy().max_rounds.saturating_add(1))
    }

    pub(crate) fn bounds(&self) -> Bounds {
        let Manners { actions_per_turn, branches, retained, .. } = self.manners;
        Bounds { actions: actions_per_turn, branches, retained }
    }
}

/// Why no further turn can be taken.
fn over(view: &View, state: &State) -> Option<StopReason> {
    let is_satisfied = || !state.by_model && state.best().is_some_and(|best| best.standing == state::Standing::Solved);
    match () {
        () if observe::is_spent(view.seen) => Some(StopReason::NoAdditionalEvidence),
        () if state.turn < view.limit => None,
        () if is_satisfied() => Some(StopReason::GoalSatisfied),
        () => Some(StopReason::StepLimitReached),
    }
}

/// The end, with the best result there is.
fn stop(host: &impl PlannerHost, mut state: State, reason: StopReason) -> Replayed {
    let answer = state.best().map(|node| node.id.clone());
    turn::told_end(host, reason, answer.as_deref());
    state.stopped = Some(reason);
    Replayed { state, started: Vec::new(), cancelled: Vec::new(), answer }
}

/// The question as one task.
fn only_try(view: &View, mut state: State) -> Replayed {
    state.turn += 1;
    let mut replayed = Replayed { state, started: Vec::new(), cancelled: Vec::new(), answer: None };
    replayed.attempt("t1".to_owned(), &view.problem.question);
    replayed
}

syrch_plugin::export!(Turns: planner);
