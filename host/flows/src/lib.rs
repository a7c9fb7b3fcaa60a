//! Flows: graphs of nodes that a strategy file holds, with edges by the word that a node ends with.
//!
//! [`read`] makes a [`Flow`] of a JSON document and returns everything that is wrong with it. The
//! host calls it before a search and the plugin that runs flows calls it again, so that both know
//! the same nodes. Nothing here runs a flow.
//!
//! ```
//! use serde_json::json;
//!
//! let flow = syrch_flows::read(&json!({
//!     "start": "draft",
//!     "nodes": {
//!         "draft": {"next": "run"},
//!         "run": {"on": {"error": "repair"}},
//!         "repair": {"next": "run", "max_visits": 2},
//!     },
//! }));
//! assert_eq!(flow.unwrap().nodes.len(), 3);
//! ```

mod check;
mod kind;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use kind::{Kind, Range, Setting};
pub use read::read;

/// The action of a node that ends with nothing in particular; an edge under `next` is one for it.
pub const DEFAULT: &str = "default";

/// The action of a node that was visited as often as its `max_visits` allow: it does nothing then.
pub const EXHAUSTED: &str = "exhausted";

/// The action of a node whose model gives no answer.
pub const ABSTAINED: &str = "abstained";

/// The action of a join or a plugin that found no statement.
pub const NONE: &str = "none";

/// The action of a plugin whose confidence in its statement is below the setting `sure`.
pub const UNSURE: &str = "unsure";

/// The beginning of a task's operation that names the node of a flow to whose plugin it is handed.
pub const SOLVER: &str = "solver/";

/// The most nodes of a flow, those of its inner flows included.
pub const NODES: usize = 128;
/// The most nodes of an inner flow, counted once for each item of its `each`.
pub const COPIES: usize = 1024;
/// The longest wait before another attempt, in seconds.
pub const WAIT: f64 = 60.0;
/// The most levels of flows within flows.
pub const LEVELS: usize = 4;
/// The most bytes of a node's name or of an action.
pub const NAME: usize = 40;
/// The most bytes of a text among the settings.
pub const TEXT: usize = 2000;
/// The most nodes that one edge leads to, and the most times that an inner flow runs side by side.
pub const BRANCHES: u32 = 32;
/// The most visits of a node.
pub const VISITS: u32 = 100;
/// The most attempts at a node's work in one visit.
pub const RETRIES: u32 = 10;
/// The most times that a flow continues after other plugins have solved its task.
pub const ROUNDS: u32 = 6;

/// A flow whose edges lead to nodes that exist.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The first node, by its place.
    pub start: usize,
    /// The nodes, in the order of the document.
    pub nodes: Vec<Node>,
}

/// A node of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The work that it does.
    pub kind: Kind,
    /// Its settings, those of its kind that are left out with their defaults.
    pub settings: Map<String, Value>,
    /// The nodes that follow, by action. Several are visited side by side.
    pub edges: BTreeMap<String, Vec<usize>>,
    /// The most visits of one branch; `None` for any number.
    pub max_visits: Option<u32>,
    /// The most attempts at its work in one visit, at least 1.
    pub max_retries: u32,
    /// The seconds to wait before each further attempt.
    pub wait: f64,
    /// The action after the last attempt failed; `None` if the branch ends then.
    pub fallback: Option<String>,
    /// The flow of a node of the kind `flow`.
    pub inner: Option<Flow>,
    /// The number of times that an inner flow runs side by side.
    pub times: u32,
    /// Settings with which the inner flow runs, once for each item, side by side.
    pub each: Vec<Map<String, Value>>,
    /// The inner flow with the settings of each item.
    pub items: Vec<Flow>,
}

impl Node {
    /// Returns the text of a setting; empty if there is none.
    #[must_use]
    pub fn text(&self, setting: &str) -> &str {
        self.settings.get(setting).and_then(Value::as_str).unwrap_or_default()
    }

    /// The number of a setting; `None` if it was left out and has no default.
    #[must_use]
    pub fn number(&self, setting: &str) -> Option<f64> {
        self.settings.get(setting).and_then(Value::as_f64)
    }

    /// The whole number of a setting; 0 if there is none.
    #[must_use]
    pub fn whole(&self, setting: &str) -> u32 {
        let whole = self.settings.get(setting).and_then(Value::as_u64);
        whole.and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
    }

    /// The texts of a setting.
    #[must_use]
    pub fn texts(&self, setting: &str) -> Vec<String> {
        let texts = self.settings.get(setting).and_then(Value::as_array);
        texts.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The inner flow of an item, counted from 0, or that of all where there are no items.
    #[must_use]
    pub fn item(&self, item: usize) -> Option<&Flow> {
        self.items.get(item).or(self.inner.as_ref())
    }

    /// Returns the number of branches that an inner flow makes of one.
    #[must_use]
    pub fn branches(&self) -> usize {
        self.each.len().max(self.times as usize)
    }

    /// Returns the actions that the node may end with.
    #[must_use]
    pub fn actions(&self) -> Vec<String> {
        let mut actions = match &self.inner {
            Some(inner) => inner.last_actions(),
            None => self.kind.actions().iter().map(|action| (*action).to_owned()).collect(),
        };
        let optional =
            self.kind.optional_actions().iter().filter(|action| self.edges.contains_key(**action));
        actions.extend(optional.map(|action| (*action).to_owned()));
        actions.extend(self.fallback.clone());
        actions.extend(self.max_visits.map(|_| EXHAUSTED.to_owned()));
        actions.sort();
        actions.dedup();
        actions
    }

    /// Returns true if something follows the node, so that a plugin that it calls comes back.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        !self.edges.is_empty() || self.fallback.is_some()
    }

    /// Returns true if the branch that visits it may become several.
    #[must_use]
    pub fn fans_out(&self) -> bool {
        self.branches() > 1 || self.edges.values().any(|targets| targets.len() > 1)
    }
}

/// A node of the kind `solver`.
#[derive(Debug, Clone, PartialEq)]
pub struct Solver {
    /// The names of the nodes that lead to it and its own, with `/` between them.
    pub name: String,
    /// The keys that lead to its settings in the document.
    pub path: Vec<String>,
    /// The plugin, as the file names it.
    pub plugin: String,
    /// The plugin's settings.
    pub config: Map<String, Value>,
}

/// Replaces the plugins of all nodes that hand the task to one, in the document of a flow.
pub fn map_plugins(document: &mut Value, map: &impl Fn(&str) -> String) {
    let Some(nodes) = document.get_mut("nodes").and_then(Value::as_object_mut) else { return };
    for (name, node) in nodes {
        let kind = node.get("do").and_then(Value::as_str).unwrap_or(name);
        if kind == Kind::Solver.name()
            && let Some(plugin) = node.pointer_mut("/settings/plugin")
            && let Some(word) = plugin.as_str()
        {
            *plugin = Value::from(map(word));
        }
        if let Some(inner) = node.get_mut("flow") {
            map_plugins(inner, map);
        }
    }
}

impl Flow {
    /// The nodes that hand the task to other plugins, those of inner flows included.
    #[must_use]
    pub fn solvers(&self) -> Vec<Solver> {
        let mut found = Vec::new();
        self.find_solvers("", &[], &mut found);
        found
    }

    fn find_solvers(&self, before: &str, path: &[String], found: &mut Vec<Solver>) {
        for node in &self.nodes {
            let name = format!("{before}{}", node.name);
            let at = |key: &str| {
                path.iter().cloned().chain(["nodes", &node.name, key].map(str::to_owned)).collect()
            };
            if node.kind == Kind::Solver {
                let config = node
                    .settings
                    .get("config")
                    .and_then(Value::as_object)
                    .cloned()
                    .unwrap_or_default();
                let path = at("settings");
                let plugin = node.text("plugin").to_owned();
                found.push(Solver { name: name.clone(), path, plugin, config });
            }
            if let Some(inner) = &node.inner {
                let path: Vec<String> = at("flow");
                inner.find_solvers(&format!("{name}/"), &path, found);
            }
        }
    }

    /// Gives all nodes that have this setting the value, those of inner flows included: the
    /// settings of an outer flow replace those of its nodes, and those of an item replace both.
    /// Returns whether a node has the setting, or why the value does not fit. The settings of a
    /// `solver` belong to its plugin and stand at the node alone.
    pub(crate) fn replace(&mut self, setting: &str, value: &Value) -> Result<bool, String> {
        let mut is_known = false;
        for node in &mut self.nodes {
            if let Some(inner) = &mut node.inner {
                is_known |= inner.replace(setting, value)?;
                node.items = items(inner, &node.each)?;
            } else if node.kind != Kind::Solver
                && let Some(known) = node.kind.settings().iter().find(|known| known.name == setting)
            {
                known.refuse(value).map_or(Ok(()), Err)?;
                node.settings.insert(setting.to_owned(), value.clone());
                is_known = true;
            }
        }
        Ok(is_known)
    }

    /// The nodes, those of inner flows included, and of each item.
    pub(crate) fn size(&self) -> usize {
        let of = |node: &Node| {
            node.inner
                .as_ref()
                .map_or(0, |inner| inner.size().saturating_mul(node.each.len().max(1)))
        };
        self.nodes.iter().map(|node| of(node).saturating_add(1)).fold(0, usize::saturating_add)
    }

    /// The actions with which the flow may end: those that lead nowhere.
    #[must_use]
    pub fn last_actions(&self) -> Vec<String> {
        self.nodes
            .iter()
            .flat_map(|node: &Node| {
                node.actions()
                    .into_iter()
                    .filter(|action: &String| !node.edges.contains_key(action))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// An inner flow with the settings of each item.
pub(crate) fn items(inner: &Flow, each: &[Map<String, Value>]) -> Result<Vec<Flow>, String> {
    each.iter()
        .map(|item: &Map<String, Value>| {
            let mut flow = inner.clone();
            item.iter().try_for_each(|(setting, value)| flow.replace(setting, value).map(drop))?;
            Ok(flow)
        })
        .collect()
}

/// An error in a flow, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The keys that lead to the place in the document, the outermost first.
    pub path: Vec<String>,
    /// The error, in words that follow the place.
    pub why: String,
    /// A word that is not known there, with those that are.
    pub unknown: Option<(String, Vec<String>)>,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.join(".");
        if path.is_empty() { f.write_str(&self.why) } else { write!(f, "{path}: {}", self.why) }
    }
}
