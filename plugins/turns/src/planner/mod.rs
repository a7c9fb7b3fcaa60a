//! Plans turn by turn: each call observes what has ended and decides the next edits of the graph.

pub(crate) mod actions;
pub(crate) mod decision;
pub(crate) mod edits;
pub(crate) mod evidence;
pub(crate) mod heuristic;
pub(crate) mod observe;
pub(crate) mod references;
pub(crate) mod refusal;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod state;
pub(crate) mod terms;
pub(crate) mod turn;

use syrch_plugin::prelude::*;

use crate::planner::replay::{Bounds, Replayed};
use crate::planner::state::{State, StopReason};
use crate::{Settings, Turns};

/// The view of the search from which a turn is decided.
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

impl PlannerRole for Turns {
    fn plan(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, Failure> {
        let graph = Graph { tasks: Vec::new(), answer: String::new(), memo: None };
        let limit = self.limit(host);
        let view = View { problem, catalog, graph: &graph, seen: &[], taken: &[], new: &[], limit };
        let mut state = State { by_model: self.settings.model, ..State::new() };
        // With one turn there is no result to look at.
        let first = if limit > 1 { self.turn(host, &view, &mut state)? } else { None };
        let first = first.unwrap_or_else(|| only_try(&view, state));
        let added = edits::build_additions(&view, &first, &self.settings);
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
        let new = observe::absorb(&mut state, graph, seen, self.settings.retained);
        let is_quiet = state.running().next().is_none();
        if !is_quiet && (self.settings.together || !state.by_model || new.is_empty()) {
            return Ok(unchanged);
        }
        if observe::is_spent(seen) {
            host.note(
                Level::Info,
                "a budget is spent or the search was called off: no further turn",
            );
        }
        let view = View { problem, catalog, graph, seen, taken: &taken, new: &new, limit };
        let taken_turn = match stop_reason(&view, &state) {
            Some(_) if !is_quiet => None,
            Some(reason) => Some(stop(host, state.clone(), reason)),
            None => self.turn(host, &view, &mut state)?,
        };
        Ok(match taken_turn {
            Some(replayed) => edits::step(&view, &replayed, &self.settings),
            None if is_quiet => {
                edits::step(&view, &stop(host, state, StopReason::NoFurtherQueries), &self.settings)
            }
            None => Step { edits: Vec::new(), memo: state.memo() },
        })
    }
}

impl Turns {
    /// Each turn but the first costs one of the user's rounds.
    fn limit(&self, host: &impl PlannerHost) -> u32 {
        self.settings.steps.min(host.policy().max_rounds.saturating_add(1))
    }

    pub(crate) fn bounds(&self) -> Bounds {
        let Settings { actions_per_turn, branches, retained, .. } = self.settings;
        Bounds { actions: actions_per_turn, branches, retained }
    }
}

/// Returns the reason why no further turn can be taken; `None` if one can.
fn stop_reason(view: &View, state: &State) -> Option<StopReason> {
    fn is_satisfied(state: &State) -> bool {
        !state.by_model && state.best().is_some_and(|best| best.standing == state::Standing::Solved)
    }
    match () {
        () if observe::is_spent(view.seen) => Some(StopReason::NoAdditionalEvidence),
        () if state.turn < view.limit => None,
        () if is_satisfied(state) => Some(StopReason::GoalSatisfied),
        () => Some(StopReason::StepLimitReached),
    }
}

/// The end, with the best result there is.
fn stop(host: &impl PlannerHost, mut state: State, reason: StopReason) -> Replayed {
    let answer = state.best().map(|node| node.id.clone());
    turn::log_end(host, reason, answer.as_deref());
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
