//! Recursion: subtasks that are not atomic are planned themselves, and their plans stand in their
//! place.

use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::JoinKey;

use crate::planner::draft::{Draft, Node, pick_free_id, read_plan};
use crate::{Decompose, prompts};

// The host's longest id.
const ID: usize = 64;

impl Decompose {
    /// Plans the non-atomic tasks of each level concurrently, until the depth that the user allows.
    pub(crate) fn expand(
        &self,
        host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
        mut draft: Draft,
    ) -> Draft {
        let max_depth = host.policy().max_depth;
        for _ in 1..max_depth {
            let open: Vec<Node> =
                draft.nodes.iter().filter(|node| !node.is_atomic).cloned().collect();
            if open.is_empty() || draft.nodes.len() >= self.task_limit() {
                break;
            }
            let requests: Vec<Request> = open
                .iter()
                .map(|node| {
                    prompts::subplan(problem, catalog, &self.settings, max_depth, &node.text)
                })
                .collect();
            for (node, reply) in open.iter().zip(host.complete_all(&requests)) {
                match self.subdraft(host, reply) {
                    Ok(sub) => draft = self.insert_plan(host, draft, &node.id, sub),
                    Err(why) => {
                        host.note(Level::Info, &format!("{} is not divided: {why}", node.id));
                        settle(&mut draft, &node.id);
                    }
                }
            }
        }
        draft
    }

    /// Tasks that the draft may have: one of the graph's is reserved for the final one.
    fn task_limit(&self) -> usize {
        (self.settings.tasks as usize).saturating_sub(1).max(1)
    }

    /// Subtasks that one plan may have.
    pub(crate) fn widest(&self) -> usize {
        (self.settings.subtasks as usize).min(self.task_limit())
    }

    fn subdraft(
        &self,
        host: &impl PlannerHost,
        reply: Result<Reply, LlmError>,
    ) -> Result<Draft, String> {
        let reply = reply.map_err(|error| llm_words(&error))?;
        let subtasks = read_plan(host, &reply).ok_or("the plan has no subtask")?;
        Draft::from_plan(subtasks, self.widest())
    }

    /// The sub-plan in the task's place, or the task as it is when the sub-plan has no use or no
    /// place.
    fn insert_plan(
        &self,
        host: &impl PlannerHost,
        mut draft: Draft,
        id: &str,
        sub: Draft,
    ) -> Draft {
        let fits = draft.nodes.len() - 1 + sub.nodes.len() <= self.task_limit();
        let named = nest_plan(&draft, id, &sub);
        let short = named.nodes.iter().all(|node| node.id.len() <= ID);
        if sub.nodes.len() < 2 || !fits || !short {
            if sub.nodes.len() >= 2 {
                host.note(
                    Level::Info,
                    &format!("{id} is not divided: the graph would grow too large"),
                );
            }
            settle(&mut draft, id);
            return draft;
        }
        splice(draft, id, named)
    }
}

fn settle(draft: &mut Draft, id: &str) {
    draft.nodes.iter_mut().filter(|node| node.id == id).for_each(|node| node.is_atomic = true);
}

/// The sub-plan with ids `parent.child`. All ids are known before any dependency is rewritten, so
/// that the order in which the model lists its subtasks does not matter.
fn nest_plan(draft: &Draft, parent: &str, sub: &Draft) -> Draft {
    let mut taken: Vec<String> = draft.nodes.iter().map(|node| node.id.clone()).collect();
    let mut ids: Vec<(String, String)> = Vec::new();
    for node in &sub.nodes {
        let id = pick_free_id(&format!("{parent}.{}", node.id), &taken);
        taken.push(id.clone());
        ids.push((node.id.clone(), id));
    }
    let new = |old: &String| {
        ids.iter().find(|(id, _)| id == old).map_or_else(|| old.clone(), |(_, id)| id.clone())
    };
    Draft {
        nodes: sub
            .nodes
            .iter()
            .map(|node: &Node| Node {
                id: new(&node.id),
                depends_on: node.depends_on.iter().map(new).collect(),
                ..node.clone()
            })
            .collect(),
        keys: sub
            .keys
            .iter()
            .map(|key: &JoinKey| JoinKey {
                left: new(&key.left),
                right: new(&key.right),
                ..key.clone()
            })
            .collect(),
    }
}

/// Roots of the sub-plan inherit the task's dependencies, and what depended on the task depends on
/// the sub-plan's leaves.
fn splice(draft: Draft, id: &str, mut sub: Draft) -> Draft {
    let leaves = sub.leaves();
    let inherited: Vec<String> = draft
        .nodes
        .iter()
        .find(|node| node.id == id)
        .map(|node| node.depends_on.clone())
        .unwrap_or_default();
    for root in sub.nodes.iter_mut().filter(|node| node.depends_on.is_empty()) {
        root.depends_on.clone_from(&inherited);
    }
    let mut nodes = Vec::new();
    for mut node in draft.nodes {
        if node.id == id {
            nodes.append(&mut sub.nodes);
            continue;
        }
        node.depends_on = rewire(&node.depends_on, id, &leaves);
        nodes.push(node);
    }
    let mut keys: Vec<JoinKey> =
        draft.keys.iter().filter_map(|key| move_key(key, id, &leaves)).collect();
    keys.append(&mut sub.keys);
    Draft { nodes, keys }
}

fn rewire(depends_on: &[String], id: &str, leaves: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for dependency in depends_on {
        let instead = if dependency == id { leaves } else { std::slice::from_ref(dependency) };
        out.extend(instead.iter().filter(|new| !out.contains(new)).cloned().collect::<Vec<_>>());
    }
    out
}

/// A join key of the task becomes one of its only leaf; with several leaves nobody knows which of
/// them has the column.
fn move_key(key: &JoinKey, id: &str, leaves: &[String]) -> Option<JoinKey> {
    let new = |side: &String| match leaves {
        _ if side != id => Some(side.clone()),
        [leaf] => Some(leaf.clone()),
        _ => None,
    };
    Some(JoinKey { left: new(&key.left)?, right: new(&key.right)?, ..key.clone() })
}
