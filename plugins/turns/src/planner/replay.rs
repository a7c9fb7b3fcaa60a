//! Replays a stream of decisions on a copy of the state. The stream is untrusted: all of it is
//! taken, or none.

use syrch_plugin::text::clamp01;

use crate::planner::decision::{Action, Decision};
use crate::planner::references::text_line;
use crate::planner::refusal::Refusal;
use crate::planner::state::{BranchState, Edge, EdgeKind, Entry, Node, Standing, State, Work};
use crate::planner::terms;

/// The limits of a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Decisions of one turn.
    pub(crate) actions: u32,
    /// Branches that are live at the same time.
    pub(crate) branches: u32,
    /// Pieces of evidence of one branch.
    pub(crate) retained: u32,
}

/// A sound stream's outcome.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Replayed {
    /// The state after the decisions.
    pub(crate) state: State,
    /// Tasks to start, in the order in which they were decided.
    pub(crate) started: Vec<String>,
    /// Tasks under way to call off.
    pub(crate) cancelled: Vec<String>,
    /// The task whose result is the answer, where a stream ended the search.
    pub(crate) answer: Option<String>,
}

/// Replays all decisions. `taken` are the ids of the host's graph.
pub(crate) fn replay(
    state: &State,
    taken: &[String],
    decisions: &[Decision],
    bounds: Bounds,
) -> Result<Replayed, Refusal> {
    if decisions.len() > bounds.actions as usize {
        return Err(Refusal::TooMany { given: decisions.len(), most: bounds.actions as usize });
    }
    let outcome =
        Replayed { state: state.clone(), started: Vec::new(), cancelled: Vec::new(), answer: None };
    let mut replay = Replay { outcome, taken, bounds, number: 0, action: Action::Continue };
    for (index, decision) in decisions.iter().enumerate() {
        (replay.number, replay.action) = (index + 1, decision.action);
        replay.take(decision)?;
    }
    replay.outcome.fill_up();
    let state = &replay.outcome.state;
    if state.stopped.is_none() && state.running().next().is_none() {
        return Err(Refusal::Idle);
    }
    Ok(replay.outcome)
}

impl Replayed {
    /// Sees to it that a statement is under way or has a result: else the question is tried, after
    /// all that its branch has.
    pub(crate) fn attempt(&mut self, id: String, question: &str) {
        if self.state.best().is_some() || self.state.running().any(|node| !node.is_search()) {
            return;
        }
        let Some(branch) = self.state.working().map(|branch| branch.id.clone()) else { return };
        let of_branch = self.state.nodes.iter().filter(|node| node.branch == branch);
        let mut after: Vec<String> = of_branch
            .filter(|node| self.started.contains(&node.id))
            .map(|node| node.id.clone())
            .collect();
        after.extend(self.state.last_ended(&branch));
        let from = after.first().cloned();
        let kind = if from.is_some() { EdgeKind::Child } else { EdgeKind::Root };
        self.add(
            &branch,
            &id,
            Work::Solve { text: text_line(question), expected: None },
            after,
            None,
        );
        self.connect(None, kind, from, &id);
        self.start(&id);
        self.activate(&branch);
    }

    /// Starts the best entry of the frontier, the first of equals, if nothing is under way.
    fn fill_up(&mut self) {
        if self.state.stopped.is_some() || self.state.running().next().is_some() {
            return;
        }
        let priority =
            |entry: &Entry| self.state.node(&entry.node).map_or(0.0, |node| node.priority);
        let best = self.state.frontier.iter().enumerate();
        let best =
            best.reduce(|best, next| if priority(next.1) > priority(best.1) { next } else { best });
        if let Some((place, _)) = best {
            self.select(place);
        }
    }

    /// Takes an entry out of the frontier and starts its task.
    pub(crate) fn select(&mut self, place: usize) {
        let entry = self.state.frontier.remove(place);
        self.start(&entry.node);
        self.activate(&entry.branch);
    }

    pub(crate) fn start(&mut self, id: &str) {
        if let Some(node) = self.state.nodes.iter_mut().find(|node| node.id == id) {
            node.standing = Standing::Running;
            self.started.push(node.id.clone());
        }
    }

    pub(crate) fn activate(&mut self, branch: &str) {
        self.state.active = branch.to_owned();
        if let Some(branch) = self.state.branch_mut(branch) {
            branch.state = BranchState::Active;
        }
    }

    /// A task that waits; it is then the last of its branch.
    pub(crate) fn add(
        &mut self,
        branch: &str,
        id: &str,
        work: Work,
        after: Vec<String>,
        priority: Option<f64>,
    ) {
        let state = &mut self.state;
        if let Work::Search { query, .. } = &work {
            let fresh = terms::pick_unused(terms::terms(query), &state.used);
            state.used.extend(fresh);
        }
        state.nodes.push(Node {
            id: id.to_owned(),
            branch: branch.to_owned(),
            work,
            after,
            priority: priority.map_or(0.5, clamp01),
            standing: Standing::Waiting,
            confidence: None,
            gained: 0,
        });
        if let Some(branch) = state.branch_mut(branch) {
            branch.head = Some(id.to_owned());
        }
    }

    /// Adds the edge to a task from the one that it came out of; an edge without an id gets the
    /// next free one.
    pub(crate) fn connect(
        &mut self,
        edge: Option<String>,
        kind: EdgeKind,
        from: Option<String>,
        to: &str,
    ) {
        let edges = &self.state.edges;
        let is_free = |id: &String| edges.iter().all(|edge| edge.id != *id);
        let id =
            edge.or_else(|| (1..=edges.len() + 1).map(|number| format!("e{number}")).find(is_free));
        let edge = Edge { id: id.unwrap_or_default(), kind, from, to: to.to_owned() };
        self.state.edges.push(edge);
    }
}

/// The copy under way, and the decision that is being replayed.
pub(crate) struct Replay<'a> {
    pub(crate) outcome: Replayed,
    pub(crate) taken: &'a [String],
    pub(crate) bounds: Bounds,
    pub(crate) number: usize,
    pub(crate) action: Action,
}

impl Replay<'_> {
    fn take(&mut self, decision: &Decision) -> Result<(), Refusal> {
        if self.outcome.state.stopped.is_some() {
            return Err(self.unusable("nothing can follow a terminate"));
        }
        match decision.action {
            Action::Search | Action::Continue => self.extend(decision),
            Action::Fork => self.fork(decision),
            Action::Select => self.select(decision),
            Action::Merge => self.merge(decision),
            Action::Prune => self.prune(decision),
            Action::Terminate => self.terminate(decision),
        }
    }

    /// Ends a branch: nothing of it waits or runs any more, and what it found goes.
    pub(crate) fn leave(&mut self, id: &str, how: BranchState) {
        let state = &mut self.outcome.state;
        state.frontier.retain(|entry| entry.branch != id);
        for node in
            state.nodes.iter_mut().filter(|node| node.branch == id && !node.standing.has_ended())
        {
            if node.standing == Standing::Running && !self.outcome.started.contains(&node.id) {
                self.outcome.cancelled.push(node.id.clone());
            }
            node.standing = Standing::Cancelled;
            self.outcome.started.retain(|started| *started != node.id);
        }
        if let Some(branch) = state.branch_mut(id) {
            branch.state = how;
            branch.evidence.clear();
        }
    }
}

/// An id as it stands in FROM, where case and punctuation do not distinguish names.
pub(crate) fn fold_id(id: &str) -> String {
    id.to_ascii_lowercase().replace(['.', '-'], "_")
}
