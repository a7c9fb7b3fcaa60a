//! The reasons why a stream of decisions is refused.

use crate::planner::decision::Action;

/// The fault of a reference (sift, replay validator), in this planner's terms: a node is a task by
/// its id in the host's graph, an edge says how a task came out of another, a frontier entry is a
/// forked branch that has not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// No branch where one must be named, one that is not there, or one that was pruned or merged;
    /// also a prune of the last one.
    #[error("missing-branch")]
    MissingBranch,
    /// No task where one must be named, or one that is not there.
    #[error("missing-node")]
    MissingNode,
    /// A fork without an edge or without its kind.
    #[error("missing-edge")]
    MissingEdge,
    /// No frontier entry where one must be named, or one that is not there.
    #[error("missing-frontier")]
    MissingFrontier,
    /// A new branch with the id of another, also of one that was pruned.
    #[error("duplicate-branch")]
    DuplicateBranch,
    /// A new task with the id of another, letter case and punctuation aside: results stand in FROM
    /// by these names.
    #[error("duplicate-node")]
    DuplicateNode,
    /// A new edge with the id of another.
    #[error("duplicate-edge")]
    DuplicateEdge,
    /// A new frontier entry with the id of another.
    #[error("duplicate-frontier")]
    DuplicateFrontier,
    /// A task that is not of that branch, a frontier entry that is not of that branch and task, or
    /// a merge of a branch with itself.
    #[error("invalid-branch-node-pair")]
    InvalidBranchNodePair,
    /// An edge of a kind that a fork does not make, or from a task that has not ended: nobody has
    /// seen its result.
    #[error("invalid-edge-reference")]
    InvalidEdgeReference,
}

/// The refusal of a stream of decisions, as a whole. `number` counts from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("decision {number} ({}): {fault}: {detail}", .action.name())]
    Reference { number: usize, action: Action, fault: Fault, detail: String },
    #[error("decision {number} ({}): {detail}", .action.name())]
    Unusable { number: usize, action: Action, detail: String },
    #[error("after these decisions no task is under way: add one, or terminate")]
    Idle,
    #[error("{given} decisions in one turn, over the limit of {most}")]
    TooMany { given: usize, most: usize },
}
