//! The seven actions, each on the copy of the state that a replay works on.

use crate::planner::decision::{Action, Decision};
use crate::planner::evidence::retain;
use crate::planner::refusal::{Fault, Refusal};
use crate::planner::replay::Replay;
use crate::planner::state::{Branch, BranchState, EdgeKind, Entry, StopReason};

impl Replay<'_> {
    /// A further task of a branch.
    pub(crate) fn extend(&mut self, decision: &Decision) -> Result<(), Refusal> {
        let branch = self.live("branch", decision.branch.as_deref())?.clone();
        if self.outcome.state.frontier.iter().any(|entry| entry.branch == branch.id) {
            let detail = format!("`{}` waits in the frontier: select it first", branch.id);
            return Err(self.fault(Fault::InvalidBranchNodePair, detail));
        }
        // Searches may run concurrently: without a name each builds on what had ended before.
        let from = match (decision.action, &decision.node) {
            (Action::Search, None) => self.outcome.state.last_ended(&branch.id),
            (_, node) => self.base(node.as_deref(), &branch)?,
        };
        let id = self.new_node(decision.target_node.as_deref())?;
        let edge = self.optional_edge(decision)?;
        let work = self.work(decision)?;
        let kind = if from.is_some() { EdgeKind::Child } else { EdgeKind::Root };
        self.outcome.add(&branch.id, &id, work, from.iter().cloned().collect(), decision.priority);
        self.outcome.connect(edge, kind, from, &id);
        self.outcome.start(&id);
        self.outcome.activate(&branch.id);
        Ok(())
    }

    /// A new branch, which waits in the frontier with a copy of the old one's evidence.
    pub(crate) fn fork(&mut self, decision: &Decision) -> Result<(), Refusal> {
        let branch = self.live("branch", decision.branch.as_deref())?.clone();
        let from = self.base(decision.node.as_deref(), &branch)?;
        let target =
            self.id("target_branch", Fault::MissingBranch, decision.target_branch.as_deref())?;
        let id = self.new_node(decision.target_node.as_deref())?;
        let edge = self.id("edge", Fault::MissingEdge, decision.edge.as_deref())?;
        let kind = self.fork_kind(decision.edge_kind.as_deref())?;
        let frontier = self.id("frontier", Fault::MissingFrontier, decision.frontier.as_deref())?;
        let state = &self.outcome.state;
        if state.branch(&target).is_some() {
            return Err(
                self.fault(Fault::DuplicateBranch, format!("there is already a branch `{target}`"))
            );
        }
        self.check_edge(&edge)?;
        if state.frontier.iter().any(|entry| entry.id == frontier) {
            return Err(self.fault(
                Fault::DuplicateFrontier,
                format!("there is already an entry `{frontier}`"),
            ));
        }
        if state.live().count() >= self.bounds.branches as usize {
            let most = self.bounds.branches;
            return Err(self.unusable(&format!(
                "there are as many branches as may be ({most}): merge or prune one first"
            )));
        }
        let after = match (&from, kind) {
            (Some(from), EdgeKind::Sibling) => {
                state.node(from).map(|node| node.after.clone()).unwrap_or_default()
            }
            _ => from.iter().cloned().collect(),
        };
        let kind = if from.is_some() { kind } else { EdgeKind::Root };
        let work = self.work(decision)?;
        self.outcome.state.branches.push(Branch {
            id: target.clone(),
            state: BranchState::Pending,
            head: None,
            ..branch
        });
        self.outcome.add(&target, &id, work, after, decision.priority);
        self.outcome.connect(Some(edge), kind, from, &id);
        self.outcome.state.frontier.push(Entry { id: frontier, branch: target, node: id });
        Ok(())
    }

    pub(crate) fn select(&mut self, decision: &Decision) -> Result<(), Refusal> {
        let branch = self.live("branch", decision.branch.as_deref())?.id.clone();
        let frontier = self.id("frontier", Fault::MissingFrontier, decision.frontier.as_deref())?;
        let node = self.id("node", Fault::MissingNode, decision.node.as_deref())?;
        let place = self.outcome.state.frontier.iter().position(|entry| entry.id == frontier);
        let Some(place) = place else {
            return Err(self.fault(
                Fault::MissingFrontier,
                format!("there is no entry `{frontier}` in the frontier"),
            ));
        };
        if self.outcome.state.node(&node).is_none() {
            return Err(self.fault(Fault::MissingNode, format!("there is no task `{node}`")));
        }
        let entry = &self.outcome.state.frontier[place];
        if entry.branch != branch || entry.node != node {
            let detail =
                format!("`{frontier}` is of branch `{}` and task `{}`", entry.branch, entry.node);
            return Err(self.fault(Fault::InvalidBranchNodePair, detail));
        }
        self.outcome.select(place);
        Ok(())
    }

    /// A task that builds on both branches; the target is then a part of the branch.
    pub(crate) fn merge(&mut self, decision: &Decision) -> Result<(), Refusal> {
        let branch = self.live("branch", decision.branch.as_deref())?.clone();
        let target = self.live("target_branch", decision.target_branch.as_deref())?.clone();
        if branch.id == target.id {
            return Err(self.fault(
                Fault::InvalidBranchNodePair,
                "a branch cannot be merged with itself".to_owned(),
            ));
        }
        let (Some(from), Some(other)) =
            (self.base(decision.node.as_deref(), &branch)?, self.base(None, &target)?)
        else {
            return Err(self
                .fault(Fault::MissingNode, "a branch without a task cannot be merged".to_owned()));
        };
        let id = self.new_node(decision.target_node.as_deref())?;
        let edge = self.optional_edge(decision)?;
        let work = self.work(decision)?;
        self.outcome.add(
            &branch.id,
            &id,
            work,
            vec![from.clone(), other.clone()],
            decision.priority,
        );
        self.outcome.connect(edge, EdgeKind::Child, Some(from), &id);
        self.outcome.connect(None, EdgeKind::Merge, Some(other), &id);
        self.leave(&target.id, BranchState::Merged);
        // Its tasks go on as the branch's own, so that its result still counts where the merging
        // task has none.
        for node in self.outcome.state.nodes.iter_mut().filter(|node| node.branch == target.id) {
            node.branch.clone_from(&branch.id);
        }
        if let Some(branch) = self.outcome.state.branch_mut(&branch.id) {
            // Its own stays first; the other's must not push it out.
            let own = std::mem::take(&mut branch.evidence);
            branch.evidence = target.evidence;
            self.outcome.state.let_go +=
                retain(&mut branch.evidence, own, self.bounds.retained).let_go;
        }
        self.outcome.start(&id);
        self.outcome.activate(&branch.id);
        Ok(())
    }

    pub(crate) fn prune(&mut self, decision: &Decision) -> Result<(), Refusal> {
        let named = decision.target_branch.as_deref().or(decision.branch.as_deref());
        let branch = self.live("branch", named)?.id.clone();
        if self.outcome.state.live().count() < 2 {
            return Err(self.fault(
                Fault::MissingBranch,
                format!("without `{branch}` no branch would be left"),
            ));
        }
        self.leave(&branch, BranchState::Pruned);
        Ok(())
    }

    pub(crate) fn terminate(&mut self, decision: &Decision) -> Result<(), Refusal> {
        if !self.outcome.started.is_empty() {
            return Err(self.unusable("a turn that starts a task cannot end the search"));
        }
        let Some(reason) = decision.stop_reason else {
            return Err(self.unusable("`stop_reason` is missing"));
        };
        let named = decision
            .branch
            .as_deref()
            .map(|branch| self.live("branch", Some(branch)))
            .transpose()?;
        let answer = match (decision.node.as_deref(), named) {
            (Some(node), branch) => Some(self.result(node, branch)?),
            (None, Some(branch)) => self.outcome.state.result_of(&branch.id),
            (None, None) => self.outcome.state.best(),
        };
        if answer.is_none()
            && !self
                .outcome
                .state
                .nodes
                .iter()
                .any(|node| !node.is_search() && node.standing.has_ended())
        {
            return Err(self.unusable("no task has tried to answer the question yet"));
        }
        if answer.is_none() && reason == StopReason::GoalSatisfied {
            return Err(self.fault(
                Fault::MissingNode,
                "there is no result that could satisfy the goal".to_owned(),
            ));
        }
        let answer = answer.map(|node| (node.id.clone(), node.branch.clone()));
        if let Some(branch) =
            answer.as_ref().and_then(|(_, branch)| self.outcome.state.branch_mut(branch))
        {
            branch.state = BranchState::Completed;
        }
        self.outcome.answer = answer.map(|(node, _)| node);
        self.outcome.state.stopped = Some(reason);
        Ok(())
    }
}
