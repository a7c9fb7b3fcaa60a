//! Checks that the plugins of a strategy exist, implement their roles and accept their settings.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use syrch_core::roles::Role;
use syrch_runtime::{LoadError, Plugin};

use super::error::StrategyError;
use super::read::{did_you_mean, suggestion};
use super::{Definition, FLOW, Part};
use crate::plugins::{self, Inspection};
use crate::{Error, Observer, Settings};

/// Loads every plugin of a strategy and gives it its settings, as a search would. Of `settings`
/// only limits and the folder of compiled plugins count.
///
/// # Errors
/// Everything that is wrong, each with its place in the file, its key, and what nearly matches.
pub async fn check(
    definition: &Definition,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<BTreeMap<Role, Inspection>, StrategyError> {
    let runtime =
        plugins::runtime(settings).map_err(|error| StrategyError::Host(error.to_string()))?;
    let mut found = BTreeMap::new();
    let mut problems = Vec::new();
    for (role, part) in &definition.roles {
        let place = definition.place(part, None);
        match plugins::load(&runtime, &part.plugin, observer).await {
            Err(error) => {
                problems.push(format!("{place}: roles.{role}: {}", explain_load_error(&error)))
            }
            Ok(plugin) => {
                problems.extend(configure(definition, *role, part, &plugin).await);
                found.insert(*role, plugins::inspection(&part.plugin, &plugin, settings));
            }
        }
    }
    for (name, part) in definition.solvers() {
        let place = definition.place(&part, None);
        match plugins::load(&runtime, &part.plugin, observer).await {
            Err(error) => {
                problems.push(format!("{place}: {FLOW}: `{name}`: {}", explain_load_error(&error)))
            }
            Ok(plugin) => {
                problems.extend(configure(definition, Role::Solver, &part, &plugin).await)
            }
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(StrategyError::Invalid { problems }) }
}

/// Explains why a plugin cannot be loaded, with the plugins that have similar names.
fn explain_load_error(error: &Error) -> String {
    match error {
        Error::UnknownPlugin { similar, .. }
        | Error::PluginRejected { source: LoadError::Missing { similar, .. }, .. } => {
            format!("{error}{}", suggestion(similar))
        }
        _ => error.to_string(),
    }
}

/// Returns the errors in a role's settings: unknown ones one by one, the rest in the plugin's
/// words.
async fn configure(
    definition: &Definition,
    role: Role,
    part: &Part,
    plugin: &Plugin,
) -> Vec<String> {
    let schema = &plugin.identity().config_schema;
    let none = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let is_known = |key: &String| !is_closed || known.contains_key(key);
    let mut problems = Vec::new();
    for key in part.config.keys().filter(|key| !is_known(key)) {
        let near = did_you_mean(key, known.keys().map(String::as_str));
        let place = definition.place(part, Some(key));
        problems.push(format!(
            "{place}: roles.{role}.config: `{}` has no setting `{key}`{near}",
            part.plugin
        ));
    }
    let rest = part.config.iter().filter(|(key, _)| is_known(key));
    let rest: Map<String, Value> = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
    if let Err(error) = plugin.configure(role, &rest).await {
        // The message begins with the first wrong setting, where one setting alone is wrong.
        let key = match &error {
            LoadError::Config(why) => rest.keys().find(|key| why.starts_with(&format!("{key}: "))),
            _ => None,
        };
        let place = definition.place(part, key.map(String::as_str));
        problems.push(format!("{place}: roles.{role}: `{}`: {error}", part.plugin));
    }
    problems
}
