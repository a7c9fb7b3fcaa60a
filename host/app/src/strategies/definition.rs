//! A strategy as its file defines it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};
use syrch_core::ports::Policy;
use syrch_core::roles::Role;

use super::FLOW;
use super::policy::{LIMITS, Limit};
use crate::Settings;
use crate::settings::{PluginSource, Strategy};
use crate::yaml::{Location, place};

/// A strategy, with what its file leaves out taken from the default one.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// A summary in a line; empty if the file has none.
    pub summary: String,
    /// A description of the strategy and of the source of the idea; empty if the file has none.
    pub idea: String,
    /// The case in which to pick it; empty if the file does not say.
    pub when: String,
    /// The plugin of each role. A role that is not here has none.
    pub roles: BTreeMap<Role, Part>,
    /// The values of the policy that it sets, by the keys of [`super::LIMITS`], each within its
    /// range.
    pub policy: Map<String, Value>,
    /// The name of its file in errors.
    pub(super) file: String,
    /// The path of its file; `None` if it is built in, or of no file.
    pub(super) path: Option<PathBuf>,
}

/// The plugin of a role in a strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The plugin. The path of a file is that from where the host stands, not from the strategy
    /// file.
    pub plugin: PluginSource,
    /// The plugin's own settings.
    pub config: Map<String, Value>,
    /// True if the strategy's file leaves the role out, so that it is as in the default strategy.
    pub is_inherited: bool,
    /// The place of the role in the file.
    pub(super) at: Option<Location>,
    /// The places of the settings, each by the keys that lead to it, with dots between them.
    pub(super) places: BTreeMap<String, Location>,
}

impl Part {
    /// A plugin with its settings, of no file.
    #[must_use]
    pub fn new(plugin: PluginSource, config: Map<String, Value>) -> Self {
        Self { plugin, config, is_inherited: false, at: None, places: BTreeMap::new() }
    }
}

impl Definition {
    /// A strategy of no file.
    #[must_use]
    pub fn new(name: &str, roles: BTreeMap<Role, Part>, policy: Map<String, Value>) -> Self {
        let (summary, idea, when) = Default::default();
        Self {
            name: name.to_owned(),
            summary,
            idea,
            when,
            roles,
            policy,
            file: name.to_owned(),
            path: None,
        }
    }

    /// The plugins and their settings, as settings of a search hold them.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        let configured = self.roles.iter().filter(|(_, part)| !part.config.is_empty());
        let mut strategy = Strategy {
            name: self.name.clone(),
            roles: self.roles.iter().map(|(role, part)| (*role, part.plugin.clone())).collect(),
            config: configured.map(|(role, part)| (*role, part.config.clone())).collect(),
            file: self.path.clone(),
            named_by: BTreeMap::new(),
            is_default: false,
        };
        if let Some(path) = &self.path {
            strategy.note_document(&format!("the strategy file `{}`", path.display()));
        }
        strategy
    }

    /// The flow that its solver runs, if it is one for flows.
    #[must_use]
    pub fn flow(&self) -> Option<&Value> {
        let solver = self.roles.get(&Role::Solver)?;
        solver.config.get(FLOW).filter(|_| solver.plugin == PluginSource::Builtin(FLOW.to_owned()))
    }

    /// The nodes of its flow that hand tasks to other plugins, each with the plugin as a part of
    /// the strategy.
    #[must_use]
    pub fn solvers(&self) -> BTreeMap<String, Part> {
        let flow = self.flow().and_then(|flow| syrch_flows::read(flow).ok());
        let places = self.roles.get(&Role::Solver).map(|part| &part.places);
        flow.map(|flow| flow.solvers())
            .unwrap_or_default()
            .into_iter()
            .map(|solver: syrch_flows::Solver| {
                let path = format!("{FLOW}.{}", solver.path.join("."));
                let place = |key: &str| {
                    places.and_then(|places| places.get(&format!("{path}.{key}")).copied())
                };
                let keys = solver
                    .config
                    .keys()
                    .filter_map(|key| Some((key.clone(), place(&format!("config.{key}"))?)));
                let places = keys.collect();
                let at = place("plugin");
                let plugin = PluginSource::parse(&solver.plugin);
                (
                    solver.name,
                    Part { plugin, config: solver.config, is_inherited: false, at, places },
                )
            })
            .collect()
    }

    /// Puts the path of a file in the place of each plugin to which its flow hands tasks.
    pub fn set_paths(&mut self, path: impl Fn(&std::path::Path) -> PathBuf) {
        let Some(solver) = self.roles.get_mut(&Role::Solver) else { return };
        if let Some(flow) = solver.config.get_mut(FLOW) {
            syrch_flows::map_plugins(flow, &|word| match PluginSource::parse(word) {
                PluginSource::File(file) => path(&file).display().to_string(),
                PluginSource::Builtin(name) => name,
            });
        }
    }

    /// Puts it in force: all roles are its own then, and of the policy what it sets.
    pub fn apply(&self, settings: &mut Settings) {
        settings.strategy = self.strategy();
        self.set_policy(&mut settings.policy);
    }

    /// The whole policy: what it sets, and the defaults.
    #[must_use]
    pub fn whole_policy(&self) -> Map<String, Value> {
        let mut policy = Policy::default();
        self.set_policy(&mut policy);
        LIMITS.iter().map(|limit| (limit.key.to_owned(), limit.get(&policy))).collect()
    }

    fn set_policy(&self, policy: &mut Policy) {
        for (key, value) in &self.policy {
            if let Some(limit) = Limit::for_key(key) {
                limit.set(policy, value);
            }
        }
    }

    /// `file:line:column` of a role in the file, or of one setting of the role's plugin.
    pub(super) fn place(&self, part: &Part, key: Option<&str>) -> String {
        place(&self.file, key.and_then(|key| part.places.get(key).copied()).or(part.at))
    }
}
