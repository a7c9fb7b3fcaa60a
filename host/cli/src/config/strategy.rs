//! The layer of the strategy, just above the defaults: which layer names it, and what it sets.

use serde_json::Value;
use syrch::settings::{PluginSource, Strategy};
use syrch::strategies::{self, Definition};
use syrch::syrch_core::roles::Role;

use super::entry::Entry;
use super::options;
use super::parameter::Target;
use super::spec::{self, STRATEGY, Spec};
use super::{Config, Origin};
use crate::environment::Environment;
use crate::failure::{Failure, Outcome};

/// The strategy that the strongest layer names, with that layer. `None` if no layer names one. A
/// wrong variable counts as unset here, since all wrong variables are reported together later.
pub(super) fn choose_strategy(
    entries: &[Entry],
    environment: &Environment,
    flags: &[(&'static Spec, Value, Origin)],
) -> Option<(String, Origin)> {
    fn is_strategy(spec: &Spec) -> bool {
        spec.key == STRATEGY
    }
    let word = |value: &Value, origin: &Origin| Some((value.as_str()?.to_owned(), origin.clone()));
    let by_flag = flags.iter().rev().find(|(spec, ..)| is_strategy(spec));
    let by_file = || {
        entries.iter().rev().find_map(|entry| match entry {
            Entry::Option(spec, value, origin) if is_strategy(spec) => word(value, origin),
            _ => None,
        })
    };
    by_flag
        .and_then(|(_, value, origin)| word(value, origin))
        .or_else(|| {
            let spec = options::find(STRATEGY)?;
            let (name, word) = spec
                .env
                .iter()
                .find_map(|name| Some((*name, environment.syrch.get(*name)?.clone()?)))?;
            spec.kind.parse(&word).is_ok().then(|| (word, Origin::Environment(name.to_owned())))
        })
        .or_else(by_file)
}

impl Config {
    /// Puts a strategy in force, if one was chosen.
    pub(super) fn use_strategy(&mut self, chosen: Option<(String, Origin)>) -> Outcome<()> {
        let Some((word, by)) = chosen else { return Ok(()) };
        self.put_in_force(&word, &Origin::Strategy(word.clone())).map_err(|failure| Failure {
            message: format!("{by}: {}", failure.message),
            ..failure
        })?;
        self.effective.strategy = word;
        self.origins.insert(STRATEGY, by);
        Ok(())
    }

    /// Chooses the strategy by the model in use, if no layer names one.
    pub(super) fn settle_strategy(&mut self) {
        if !self.effective.settings.strategy.is_default {
            return;
        }
        let named = Role::ALL
            .into_iter()
            .filter(|role: &Role| self.origins.contains_key(format!("plugins.{role}").as_str()));
        let named = named.collect();
        strategies::settle(&mut self.effective.settings, &named);
        let strategy = &self.effective.settings.strategy;
        self.effective.strategy.clone_from(&strategy.name);
        if strategy.name != strategies::DEFAULT {
            self.origins.insert(STRATEGY, Origin::Derived("the default with a model"));
        }
        for (role, config) in &strategy.config {
            for key in config.keys() {
                self.parameters.entry((Target::Role(*role), key.clone())).or_default();
            }
        }
    }

    /// Puts a strategy in force.
    fn put_in_force(&mut self, word: &str, origin: &Origin) -> Outcome<()> {
        let definition = strategies::find(word)?;
        self.effective.settings.strategy = definition.strategy();
        for (role, part) in &definition.roles {
            let from = Some(origin).filter(|_| !part.is_inherited);
            for key in part.config.keys() {
                self.parameters
                    .insert((Target::Role(*role), key.clone()), from.cloned().unwrap_or_default());
            }
            for option in part.config.keys().filter_map(|key| spec::find_short(*role, key)) {
                self.note(options::find(option), from);
            }
            self.note(options::find(&format!("plugins.{role}")), from);
        }
        if !definition.roles.contains_key(&Role::Linker)
            && Strategy::default().roles.contains_key(&Role::Linker)
        {
            self.note(options::find("plugins.linker"), Some(origin));
        }
        self.set_policy(&definition, origin);
        Ok(())
    }

    fn set_policy(&mut self, definition: &Definition, origin: &Origin) {
        for (key, value) in &definition.policy {
            let spec = options::find_policy(key);
            spec.into_iter().for_each(|spec| spec.set(&mut self.effective, value));
            self.note(spec, Some(origin));
        }
    }

    fn note(&mut self, spec: Option<&'static Spec>, origin: Option<&Origin>) {
        if let (Some(spec), Some(origin)) = (spec, origin) {
            self.origins.insert(spec.key, origin.clone());
        }
    }

    /// Leaves out of the components that only the strategy's file names those that the user names
    /// as well.
    pub(super) fn leave_named(&mut self) {
        let by_file =
            |role: &Role| matches!(self.origin(&format!("plugins.{role}")), Origin::Strategy(_));
        let roles = self.effective.settings.strategy.roles.iter();
        let by_user = roles.filter(|(role, _)| !by_file(role)).map(|(_, source)| source.clone());
        let by_user: Vec<PluginSource> = by_user.collect();
        let strategy = &mut self.effective.settings.strategy;
        strategy.named_by.retain(|path, _| !by_user.contains(&PluginSource::File(path.clone())));
    }

    /// Warns of settings for a role that has no plugin.
    pub(super) fn warn_of_unused(&mut self) {
        let roles = &self.effective.settings.strategy.roles;
        let idle = self.parameters.iter().filter_map(|((target, key), origin)| match target {
            Target::Role(role) if !roles.contains_key(role) => {
                Some((*role, key.clone(), origin.clone()))
            }
            _ => None,
        });
        for (role, key, origin) in idle.collect::<Vec<_>>() {
            self.warnings.push(format!(
                "{origin} {role}.{key} is not used: no plugin implements the {role}"
            ));
        }
    }

    /// Warns when a layer weaker than the one that named the strategy replaces one of its plugins,
    /// such as a config file under a `--strategy` flag: the user may not expect that.
    pub(super) fn warn_of_replaced(
        &mut self,
        role: Role,
        before: &Value,
        was: &Origin,
        origin: &Origin,
    ) {
        if matches!(was, Origin::Strategy(_)) && layer(origin) < layer(&self.origin(STRATEGY)) {
            let plugin = before.as_str().unwrap_or_default();
            let strategy = &self.effective.strategy;
            self.warnings.push(format!(
                "the {role} is not `{plugin}` of the strategy `{strategy}`, since {origin} \
                 names another"
            ));
        }
    }
}

/// The rank of a layer; a higher one wins.
fn layer(origin: &Origin) -> u8 {
    match origin {
        Origin::Default | Origin::Derived(_) | Origin::Strategy(_) => 0,
        Origin::File { .. } => 1,
        Origin::Environment(_) => 2,
        Origin::Flag(_) => 3,
    }
}
