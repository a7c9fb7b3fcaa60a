//! The configuration as a document: by section, without secrets, and with where each value came
//! from.

use serde_json::{Map, Value};

use super::kind::Kind;
use super::options::SPECS;
use super::parameter::Target;
use super::{Config, Origin};

impl Config {
    /// The whole configuration by section, without secrets; with `origin`, each value as `{"value",
    /// "origin"}`.
    pub(crate) fn document(&self, origin: bool) -> Value {
        let shown = |value: Value, from: &Origin| {
            if origin {
                serde_json::json!({"value": value, "origin": from.to_string()})
            } else {
                value
            }
        };
        let mut sections = Map::new();
        let mut put = |section: &str, path: &[&str], value: Value| {
            let Some((name, parents)) = path.split_last() else { return };
            let mut map = if section.is_empty() {
                Some(&mut sections)
            } else {
                section_of(&mut sections, section)
            };
            for part in parents {
                map = map.and_then(|map| section_of(map, part));
            }
            map.and_then(|map| map.insert((*name).to_owned(), value));
        };
        for spec in SPECS {
            let value = spec.get(&self.effective);
            let from = self.origin(spec.key);
            let (section, name) = spec.key.split_once('.').unwrap_or(("", spec.key));
            if let (Kind::Mapping(_), Some(entries)) =
                (spec.kind, value.as_object().filter(|map| !map.is_empty()))
            {
                for (path, value) in list_leaves(entries) {
                    let key = self
                        .keys
                        .get(path[0])
                        .filter(|_| spec.key == ENDPOINTS && path.last() == Some(&"api_key"));
                    put(
                        section,
                        &[&[name], path.as_slice()].concat(),
                        shown(value.clone(), key.unwrap_or(&from)),
                    );
                }
                continue;
            }
            let value = shown(value, &from);
            if section == "plugins" {
                put(section, &[name, "plugin"], value)
            } else {
                put(section, &name.split('.').collect::<Vec<_>>(), value)
            }
        }
        for ((target, key), from) in &self.parameters {
            match target {
                Target::Role(role) => {
                    let config = self.effective.settings.strategy.config.get(role);
                    let value =
                        config.and_then(|config| config.get(key)).cloned().unwrap_or_default();
                    put("plugins", &[role.name(), "config", key], shown(value, from));
                }
                _ => {
                    let json = self.effective.settings.settings.get(key);
                    let value =
                        json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
                    put("settings", &[key], shown(value, from));
                }
            }
        }
        Value::Object(sections)
    }
}

/// The option of further endpoints.
const ENDPOINTS: &str = "llm.endpoints";

/// Returns the values in the entries of a mapping, each with its path; an entry may be a value
/// itself.
fn list_leaves(entries: &Map<String, Value>) -> Vec<(Vec<&str>, &Value)> {
    let mut leaves = Vec::new();
    for (name, entry) in entries {
        match entry {
            Value::Object(fields) => {
                leaves.extend(
                    fields.iter().map(|(key, value)| (vec![name.as_str(), key.as_str()], value)),
                );
            }
            value => leaves.push((vec![name.as_str()], value)),
        }
    }
    leaves
}

fn section_of<'a>(
    map: &'a mut Map<String, Value>,
    name: &str,
) -> Option<&'a mut Map<String, Value>> {
    map.entry(name).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}
