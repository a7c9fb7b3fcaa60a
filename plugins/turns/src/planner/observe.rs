//! Taking over what the host saw.

use syrch_plugin::prelude::*;
use syrch_plugin::text::clamp01;

use crate::planner::evidence::{Evidence, retain};
use crate::planner::state::{Standing, State};

/// Returns the last ending of the task; `None` while it has not ended.
pub(crate) fn observation<'a>(seen: &'a [Observation], task: &str) -> Option<&'a Observation> {
    seen.iter().rfind(|observation| observation.task == task)
}

/// Takes over how the tasks under way ended and what they found, at most `retained` pieces of
/// evidence a branch. Returns the ids of those that ended.
pub(crate) fn absorb(
    state: &mut State,
    graph: &Graph,
    seen: &[Observation],
    retained: u32,
) -> Vec<String> {
    let mut ended = Vec::new();
    for place in 0..state.nodes.len() {
        let node = &mut state.nodes[place];
        if node.standing != Standing::Running {
            continue;
        }
        let Some(observation) = observation(seen, &node.id) else {
            // The host runs equal tasks once: the other one's result is there.
            if graph.task(&node.id).is_none() {
                node.standing = Standing::Cancelled;
            }
            continue;
        };
        node.standing = standing(observation, node.is_search());
        node.confidence = confidence(observation);
        ended.push(node.id.clone());
        let id = node.id.clone();
        let branch = node.branch.clone();
        let fresh: Vec<Evidence> =
            observation.hits.iter().map(|hit| Evidence::from_hit(&id, hit)).collect();
        let Some(branch) =
            state.branches.iter_mut().find(|known| known.id == branch && known.state.is_live())
        else {
            continue;
        };
        let counts = retain(&mut branch.evidence, fresh, retained);
        state.nodes[place].gained = counts.gained;
        state.let_go = state.let_go.saturating_add(counts.let_go);
    }
    ended
}

fn standing(observation: &Observation, is_search: bool) -> Standing {
    match &observation.ending {
        Ending::Solved if is_search && observation.hits.is_empty() => Standing::Empty,
        Ending::Solved => Standing::Solved,
        Ending::Empty => Standing::Empty,
        Ending::Cancelled => Standing::Cancelled,
        Ending::Failed(_) | Ending::Skipped(_) | Ending::Other(_) => Standing::Failed,
    }
}

fn confidence(observation: &Observation) -> Option<f64> {
    observation.candidates.first().and_then(|candidate| candidate.confidence).map(clamp01)
}

/// Returns true if no further statement or call can succeed: a budget is used up, or the search was
/// cancelled.
pub(crate) fn is_spent(seen: &[Observation]) -> bool {
    seen.iter().any(|observation| match &observation.ending {
        Ending::Failed(failure) => {
            matches!(failure.kind, FailureKind::Budget | FailureKind::Cancelled)
        }
        _ => false,
    })
}
