//! A branch: the place in the flow with everything that was found on the way. A fan-out copies it,
//! and a join makes one of several.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use syrch_flows::{Flow, Node};
use syrch_plugin::attempt::{Chain, Ran, Statement};
use syrch_plugin::prelude::*;

/// A statement that ran.
#[derive(Debug, Clone)]
pub(crate) struct Passed {
    pub(crate) candidate: Candidate,
    pub(crate) ran: Rc<Ran>,
}

/// The statements of a branch that stand, the most common result first, and those of one result
/// together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ballot {
    pub(crate) groups: Vec<Vec<Passed>>,
    /// The number of branches that had an answer or failed at it; those that the model refused do
    /// not count.
    pub(crate) replied: u32,
    /// True if the first group was chosen, and does not lead by its size alone.
    pub(crate) is_chosen: bool,
}

impl Ballot {
    /// The ballot of one statement.
    pub(crate) fn from_statement(passed: Passed) -> Self {
        Self { groups: vec![vec![passed]], replied: 1, is_chosen: false }
    }

    /// The statement that stands for the best result.
    pub(crate) fn best(&self) -> Option<&Passed> {
        self.groups.first()?.first()
    }
}

/// The position of a branch in one flow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The item of an inner flow's `each`, counted from 0.
    pub(crate) item: usize,
    /// The node to visit, by its place.
    pub(crate) node: usize,
    /// The number of visits of each node.
    pub(crate) visits: BTreeMap<usize, u32>,
    /// The nodes that had no visit left when they were reached.
    pub(crate) exhausted: Vec<usize>,
}

impl Frame {
    /// Creates the frame at the start of a flow, as an item of the node that has it.
    pub(crate) fn new(flow: &Flow, item: usize) -> Self {
        Self { item, node: flow.start, visits: BTreeMap::new(), exhausted: Vec::new() }
    }
}

/// A fan-out that a branch came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fork {
    pub(crate) id: u32,
    /// The level of the flow in which it happened, 1 for the outermost.
    pub(crate) level: usize,
}

/// The state of a branch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// It visits its node in the next round.
    Open,
    /// It waits at a join for its siblings.
    Waiting,
    /// It left the flow. What it found counts.
    Ended,
    /// The model abstained.
    Abstained,
    /// It hands the task to the plugin of that node, and ends with it.
    Handed(String),
    /// It waits for the plugin of its node, and continues in a later task.
    Away,
    /// No call or no statement can succeed any more.
    Failed(Failure),
    /// It is part of another branch.
    Joined,
}

/// The state that travels along the edges.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) id: u32,
    /// The position of the branch, the outermost flow first.
    pub(crate) frames: Vec<Frame>,
    /// The fan-outs that it came from, the innermost last.
    pub(crate) forks: Vec<Fork>,
    pub(crate) state: State,
    /// The attempts, and the counts of their errors.
    pub(crate) chain: Chain,
    /// A statement that did not run yet.
    pub(crate) written: Option<Statement>,
    /// The statements that stand.
    pub(crate) ballot: Ballot,
    /// The first statement that ran and was to be repaired, which stays if no repair of it does.
    pub(crate) doubtful: Option<Passed>,
    /// Attempts that failed in this visit, and why the last one did.
    pub(crate) failed: u32,
    /// The time to wait before the next attempt.
    pub(crate) pause: Duration,
    pub(crate) wrong: String,
    /// Replies without a statement, over all visits.
    pub(crate) without_statement: u32,
    /// Statements that a judge did not pass.
    pub(crate) rejected: u32,
    /// The reason why it has no statement that stands.
    pub(crate) why: String,
}

impl Branch {
    /// The branch with which a flow starts.
    pub(crate) fn new(flow: &Flow, attempts: u32) -> Self {
        Self {
            id: 0,
            frames: vec![Frame::new(flow, 0)],
            forks: Vec::new(),
            state: State::Open,
            chain: Chain::new(attempts),
            written: None,
            ballot: Ballot::default(),
            doubtful: None,
            failed: 0,
            pause: Duration::ZERO,
            wrong: String::new(),
            without_statement: 0,
            rejected: 0,
            why: String::new(),
        }
    }

    /// The flow in which it is.
    pub(crate) fn flow<'f>(&self, outermost: &'f Flow) -> &'f Flow {
        let inwards = self.frames.iter().zip(self.frames.iter().skip(1));
        inwards.fold(outermost, |flow, (outer, inner)| {
            flow.nodes[outer.node].item(inner.item).unwrap_or(flow)
        })
    }

    /// The node at which it is.
    pub(crate) fn node<'f>(&self, outermost: &'f Flow) -> &'f Node {
        let flow = self.flow(outermost);
        &flow.nodes[self.place()]
    }

    /// The place of its node.
    pub(crate) fn place(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.node)
    }

    /// The names of the nodes that lead to its own, such as `tries/run`.
    pub(crate) fn path(&self, outermost: &Flow) -> String {
        let mut flow = Some(outermost);
        let mut names = Vec::new();
        for frame in &self.frames {
            let Some(node) = flow.and_then(|flow| flow.nodes.get(frame.node)) else { break };
            names.push(node.name.as_str());
            flow = node.inner.as_ref();
        }
        names.join("/")
    }

    /// Returns true if it waits for the plugin of the node of that path.
    pub(crate) fn waits_for_plugin_at(&self, path: &str, outermost: &Flow) -> bool {
        self.state == State::Away && self.path(outermost) == path
    }

    /// Returns the items of `each` that it is in, the outermost first, counted from 1.
    pub(crate) fn items(&self, outermost: &Flow) -> Vec<usize> {
        let mut flow = Some(outermost);
        let mut items = Vec::new();
        for (outer, inner) in self.frames.iter().zip(self.frames.iter().skip(1)) {
            let Some(node) = flow.and_then(|flow| flow.nodes.get(outer.node)) else { break };
            if !node.each.is_empty() {
                items.push(inner.item + 1);
            }
            flow = node.item(inner.item);
        }
        items
    }

    /// Returns true if something follows its node or a flow that the node is in.
    pub(crate) fn is_followed(&self, outermost: &Flow) -> bool {
        let mut flow = Some(outermost);
        self.frames.iter().any(|frame| {
            let node = flow.and_then(|flow| flow.nodes.get(frame.node));
            flow = node.and_then(|node| node.inner.as_ref());
            node.is_some_and(Node::is_followed)
        })
    }

    /// The fan-out that a join at its node waits for: the last one, if it happened in the same
    /// flow.
    pub(crate) fn fork(&self) -> Option<Fork> {
        self.forks.last().copied().filter(|fork| fork.level == self.frames.len())
    }

    /// Returns true if the branch came from that fan-out.
    pub(crate) fn came_from(&self, fork: Fork) -> bool {
        self.forks.iter().any(|known| known.id == fork.id)
    }

    /// Returns the branch's results: a statement that was to be repaired counts if no later one
    /// stands.
    pub(crate) fn final_ballot(&self) -> Ballot {
        match (&self.ballot.best(), &self.doubtful) {
            (None, Some(doubtful)) => Ballot::from_statement(doubtful.clone()),
            _ => self.ballot.clone(),
        }
    }

    /// The next node, with no attempt made yet.
    pub(crate) fn move_to(&mut self, place: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.node = place;
        }
        self.failed = 0;
        self.wrong.clear();
    }
}
