//! The references of a decision: looked up in the copy of the state, or refused.

use syrch_plugin::text::{clip, line};

use crate::planner::decision::{Action, CORPORA, Decision, RETRIEVERS};
use crate::planner::refusal::{Fault, Refusal};
use crate::planner::replay::{Replay, fold_id};
use crate::planner::state::{Branch, EdgeKind, Node, Work};

// Characters of a task's text, and of an id; the host's ids are longer, but the host adds to them.
const TEXT: usize = 600;
const ID: usize = 32;

impl Replay<'_> {
    /// The named task, when it has a result that may be the answer.
    pub(crate) fn result(&self, node: &str, branch: Option<&Branch>) -> Result<&Node, Refusal> {
        let Some(known) = self.outcome.state.node(node) else {
            return Err(
                self.fault(Fault::MissingNode, format!("there is no task `{}`", line(node, ID)))
            );
        };
        if branch.is_some_and(|branch| branch.id != known.branch) {
            return Err(self.fault(
                Fault::InvalidBranchNodePair,
                format!("`{node}` is of branch `{}`", known.branch),
            ));
        }
        self.live("branch", Some(&known.branch))?;
        if known.is_search() || !known.standing.has_result() {
            return Err(
                self.fault(Fault::MissingNode, format!("`{node}` has no result to answer with"))
            );
        }
        Ok(known)
    }

    /// Returns the work of the added task.
    pub(crate) fn work(&self, decision: &Decision) -> Result<Work, Refusal> {
        fn text_if_any(text: &Option<String>) -> Option<String> {
            text.as_deref().map(text_line).filter(|text| !text.is_empty())
        }
        if decision.action == Action::Search
            || (decision.action == Action::Fork && decision.query.is_some())
        {
            let query =
                text_if_any(&decision.query).ok_or_else(|| self.unusable("`query` is missing"))?;
            let corpus =
                self.word("corpus", decision.corpus.as_deref().unwrap_or("columns"), &CORPORA)?;
            let retriever = self.word(
                "retriever",
                decision.retriever.as_deref().unwrap_or("lexical"),
                &RETRIEVERS,
            )?;
            return Ok(Work::Search { corpus, retriever, query });
        }
        let text = text_if_any(&decision.text).ok_or_else(|| self.unusable("`text` is missing"))?;
        Ok(Work::Solve { text, expected: text_if_any(&decision.expected) })
    }

    pub(crate) fn word(&self, name: &str, word: &str, known: &[&str]) -> Result<String, Refusal> {
        let found = known.iter().find(|known| **known == word).map(|word| (*word).to_owned());
        found.ok_or_else(|| self.unusable(&format!("`{name}` is none of {}", known.join(", "))))
    }

    /// The task that the new one builds on: the named one, else the branch's last; it must have
    /// ended.
    pub(crate) fn base(
        &self,
        node: Option<&str>,
        branch: &Branch,
    ) -> Result<Option<String>, Refusal> {
        let state = &self.outcome.state;
        let Some(id) = node.filter(|id| !id.is_empty()).or(branch.head.as_deref()) else {
            return Ok(None);
        };
        let Some(known) = state.node(id) else {
            return Err(
                self.fault(Fault::MissingNode, format!("there is no task `{}`", line(id, ID)))
            );
        };
        // A forked branch also builds on what its first task came out of.
        if known.branch != branch.id {
            return Err(self.fault(
                Fault::InvalidBranchNodePair,
                format!("`{id}` is of branch `{}`", known.branch),
            ));
        }
        if !known.standing.has_ended() {
            let detail =
                format!("`{id}` has not ended: wait for its result before you build on it");
            return Err(self.fault(Fault::InvalidEdgeReference, detail));
        }
        Ok(Some(id.to_owned()))
    }

    pub(crate) fn live(&self, field: &str, id: Option<&str>) -> Result<&Branch, Refusal> {
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            return Err(self.fault(Fault::MissingBranch, format!("`{field}` is missing")));
        };
        match self.outcome.state.branch(id) {
            Some(branch) if branch.state.is_live() => Ok(branch),
            Some(branch) => {
                Err(self.fault(Fault::MissingBranch, format!("`{id}` was {}", branch.state.name())))
            }
            None => {
                Err(self
                    .fault(Fault::MissingBranch, format!("there is no branch `{}`", line(id, ID))))
            }
        }
    }

    pub(crate) fn id(
        &self,
        field: &str,
        fault: Fault,
        id: Option<&str>,
    ) -> Result<String, Refusal> {
        let Some(id) = id.map(str::trim).filter(|id| !id.is_empty()) else {
            return Err(self.fault(fault, format!("`{field}` is missing")));
        };
        if id.len() > ID
            || !id
                .bytes()
                .all(|byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        {
            return Err(self.unusable(&format!("`{field}` is not 1 to {ID} of A-Z a-z 0-9 _ -")));
        }
        Ok(id.to_owned())
    }

    pub(crate) fn new_node(&self, id: Option<&str>) -> Result<String, Refusal> {
        let id = self.id("target_node", Fault::MissingNode, id)?;
        let nodes = self.outcome.state.nodes.iter().map(|node| &node.id);
        if self.taken.iter().chain(nodes).any(|known| fold_id(known) == fold_id(&id)) {
            return Err(self.fault(Fault::DuplicateNode, format!("there is already a task `{id}`")));
        }
        Ok(id)
    }

    pub(crate) fn optional_edge(&self, decision: &Decision) -> Result<Option<String>, Refusal> {
        let Some(edge) = decision.edge.as_deref().filter(|edge| !edge.is_empty()) else {
            return Ok(None);
        };
        let edge = self.id("edge", Fault::MissingEdge, Some(edge))?;
        self.check_edge(&edge)?;
        Ok(Some(edge))
    }

    pub(crate) fn check_edge(&self, edge: &str) -> Result<(), Refusal> {
        if self.outcome.state.edges.iter().any(|known| known.id == edge) {
            return Err(
                self.fault(Fault::DuplicateEdge, format!("there is already an edge `{edge}`"))
            );
        }
        Ok(())
    }

    pub(crate) fn fork_kind(&self, kind: Option<&str>) -> Result<EdgeKind, Refusal> {
        match kind {
            Some("child") => Ok(EdgeKind::Child),
            Some("sibling") => Ok(EdgeKind::Sibling),
            None | Some("") => {
                Err(self.fault(Fault::MissingEdge, "`edge_kind` is missing".to_owned()))
            }
            Some(_) => Err(self.fault(
                Fault::InvalidEdgeReference,
                "`edge_kind` is none of child, sibling".to_owned(),
            )),
        }
    }

    pub(crate) fn fault(&self, fault: Fault, detail: String) -> Refusal {
        Refusal::Reference { number: self.number, action: self.action, fault, detail }
    }

    pub(crate) fn unusable(&self, detail: &str) -> Refusal {
        Refusal::Unusable { number: self.number, action: self.action, detail: detail.to_owned() }
    }
}

/// A task's text as the state holds it.
pub(crate) fn text_line(text: &str) -> String {
    clip(&line(text, TEXT), TEXT).to_owned()
}
