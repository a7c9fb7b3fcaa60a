//! The planner's state between calls: branches, their tasks, the edges between those, and the
//! frontier. It travels in the memo.

use serde::{Deserialize, Serialize};
use syrch_plugin::serde_json;

use crate::planner::evidence::Evidence;

/// The state of a branch (sift, graph episode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BranchState {
    /// Nothing of it has started.
    Pending,
    /// A task of it has started.
    Active,
    /// It gave the answer.
    Completed,
    /// Another branch took over what it found.
    Merged,
    /// A decision ended it without an answer.
    Pruned,
}

impl BranchState {
    /// Returns true if it may still give the answer.
    pub(crate) fn is_live(self) -> bool {
        matches!(self, Self::Pending | Self::Active | Self::Completed)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Merged => "merged",
            Self::Pruned => "pruned",
        }
    }
}

/// A line of work. `head` is the task that it has come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub(crate) id: String,
    pub(crate) state: BranchState,
    pub(crate) head: Option<String>,
    pub(crate) evidence: Vec<Evidence>,
}

/// The work of a task. Corpus and retriever stand by their names in the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Work {
    /// Looks into a corpus.
    Search { corpus: String, retriever: String, query: String },
    /// Goes to the solver.
    Solve { text: String, expected: Option<String> },
}

/// The progress of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Standing {
    /// In the frontier; the host does not know it.
    Waiting,
    /// In the host's graph, not known to have ended.
    Running,
    /// It has a result with rows, or hits.
    Solved,
    /// It has a result without rows, or no hits.
    Empty,
    /// It has no result.
    Failed,
    /// It was called off.
    Cancelled,
}

impl Standing {
    pub(crate) fn has_ended(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }

    pub(crate) fn has_result(self) -> bool {
        matches!(self, Self::Solved | Self::Empty)
    }
}

/// A task, by the id that it has in the host's graph. `after`: the tasks that it builds on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) branch: String,
    pub(crate) work: Work,
    pub(crate) after: Vec<String>,
    pub(crate) priority: f64,
    pub(crate) standing: Standing,
    /// The confidence of its best candidate.
    pub(crate) confidence: Option<f64>,
    /// Pieces of evidence that were new to its branch.
    pub(crate) gained: u32,
}

impl Node {
    pub(crate) fn is_search(&self) -> bool {
        matches!(self.work, Work::Search { .. })
    }
}

/// The way in which a task came out of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EdgeKind {
    /// It begins a branch with nothing before it.
    Root,
    /// It builds on the other one's result.
    Child,
    /// It stands beside the other one: it builds on what that one builds on.
    Sibling,
    /// It brings another branch's result in.
    Merge,
}

/// An edge of the search as the planner sees it; the host's dependencies follow from it. `from` is
/// `None` for a root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) id: String,
    pub(crate) kind: EdgeKind,
    pub(crate) from: Option<String>,
    pub(crate) to: String,
}

/// A forked branch whose first task has not been started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) branch: String,
    pub(crate) node: String,
}

/// The reason why the search ended (sift, heuristic planner).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StopReason {
    GoalSatisfied,
    StepLimitReached,
    NoFurtherQueries,
    NoAdditionalEvidence,
}

impl StopReason {
    pub(crate) const ALL: [Self; 4] = [
        Self::GoalSatisfied,
        Self::StepLimitReached,
        Self::NoFurtherQueries,
        Self::NoAdditionalEvidence,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::GoalSatisfied => "goal-satisfied",
            Self::StepLimitReached => "step-limit-reached",
            Self::NoFurtherQueries => "no-further-queries",
            Self::NoAdditionalEvidence => "no-additional-evidence",
        }
    }
}

/// The planner's state between two calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The number of turns so far.
    pub(crate) turn: u32,
    /// True if a model decides; once it cannot, the heuristic decides to the end.
    pub(crate) by_model: bool,
    /// The branch worked on last.
    pub(crate) active: String,
    pub(crate) branches: Vec<Branch>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) frontier: Vec<Entry>,
    /// Words that were searched for.
    pub(crate) used: Vec<String>,
    /// Pieces of evidence let go for the limit's sake.
    pub(crate) let_go: u32,
    pub(crate) stopped: Option<StopReason>,
}

/// The branch that is there from the start.
pub(crate) const MAIN: &str = "main";

impl State {
    /// One branch, and nothing in it.
    pub(crate) fn new() -> Self {
        let main = Branch {
            id: MAIN.to_owned(),
            state: BranchState::Pending,
            head: None,
            evidence: Vec::new(),
        };
        Self {
            turn: 0,
            by_model: true,
            active: MAIN.to_owned(),
            branches: vec![main],
            nodes: Vec::new(),
            edges: Vec::new(),
            frontier: Vec::new(),
            used: Vec::new(),
            let_go: 0,
            stopped: None,
        }
    }

    /// Reads the state in a memo; `None` if it is not this planner's, or is inconsistent.
    pub(crate) fn read(memo: Option<&str>) -> Option<Self> {
        let state: Self = serde_json::from_str(memo?).ok()?;
        state.hangs_together().then_some(state)
    }

    /// The memo; `None` cannot happen, since all keys are texts and all numbers finite.
    pub(crate) fn memo(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    fn hangs_together(&self) -> bool {
        let has_node = |id: &String| self.node(id).is_some();
        self.branch(&self.active).is_some()
            && self.branches.iter().all(|branch| branch.head.iter().all(has_node))
            && self
                .nodes
                .iter()
                .all(|node| self.branch(&node.branch).is_some() && node.after.iter().all(has_node))
            && self.edges.iter().all(|edge| has_node(&edge.to) && edge.from.iter().all(has_node))
            && self
                .frontier
                .iter()
                .all(|entry| self.branch(&entry.branch).is_some() && has_node(&entry.node))
    }

    pub(crate) fn branch(&self, id: &str) -> Option<&Branch> {
        self.branches.iter().find(|branch| branch.id == id)
    }

    pub(crate) fn branch_mut(&mut self, id: &str) -> Option<&mut Branch> {
        self.branches.iter_mut().find(|branch| branch.id == id)
    }

    pub(crate) fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// Branches that may still give the answer, in the order in which they came.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Branch> {
        self.branches.iter().filter(|branch| branch.state.is_live())
    }

    /// The active branch where it is live, else the first live one.
    pub(crate) fn working(&self) -> Option<&Branch> {
        self.live().find(|branch| branch.id == self.active).or_else(|| self.live().next())
    }

    /// The tasks that have started and not ended.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.standing == Standing::Running)
    }

    /// The last task of a branch that has ended.
    pub(crate) fn last_ended(&self, branch: &str) -> Option<String> {
        self.nodes
            .iter()
            .rfind(|node: &&Node| node.branch == branch && node.standing.has_ended())
            .map(|node| node.id.clone())
    }

    /// The last task of a branch that went to the solver and has a result.
    pub(crate) fn result_of(&self, branch: &str) -> Option<&Node> {
        self.nodes.iter().rfind(|node: &&Node| {
            node.branch == branch && !node.is_search() && node.standing.has_result()
        })
    }

    /// The result to answer with: one with rows before one without, then the more confident, then
    /// the later.
    pub(crate) fn best(&self) -> Option<&Node> {
        fn rank(node: &Node) -> (bool, f64) {
            (node.standing == Standing::Solved, node.confidence.unwrap_or(-1.0))
        }
        let results = self.live().filter_map(|branch| self.result_of(&branch.id));
        results.reduce(|best, next| if rank(next) >= rank(best) { next } else { best })
    }
}
