//! The names of what arms and cells differ in: `policy.KEY`, `calibration`, `ROLE.KEY`,
//! `settings.NAME`, or the KEY alone that only one plugin of the strategy has.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::Value;
use syrch::settings::PluginSource;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::nearest;
use syrch::{Settings, plugins};
use syrch_grading::Knob;

use crate::console::progress::Watch;
use crate::failure::{Failure, Outcome, alternatives};
use crate::shell;

/// The meaning of a name, as far as it is known without the plugins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Named {
    /// A knob that the name denotes by itself.
    Knob(Knob),
    /// The setting of the one plugin that has this key.
    Open(String),
}

impl FromStr for Named {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let name = name.trim();
        let Some((whose, key)) = name.split_once('.') else {
            return match name {
                "" => Err("the name before `=` is empty".to_owned()),
                "calibration" => Ok(Self::Knob(Knob::Calibration)),
                key => Ok(Self::Open(key.to_owned())),
            };
        };
        if key.trim().is_empty() {
            return Err("the key before `=` is empty".to_owned());
        }
        match whose {
            "policy" => Knob::policy(key).map(Self::Knob).ok_or_else(|| {
                let similar = alternatives(&nearest(key, Knob::policies()));
                format!(
                    "the policy has no `{key}`: {}",
                    similar.map_or_else(
                        || Knob::policies().collect::<Vec<_>>().join(", "),
                        |names| format!("did you mean {names}?")
                    )
                )
            }),
            "settings" => Ok(Self::Knob(Knob::Setting(key.to_owned()))),
            role => match Role::SEARCH.into_iter().find(|known| known.name() == role) {
                Some(role) => Ok(Self::Knob(Knob::Plugin(role, key.to_owned()))),
                None => {
                    let all = Role::SEARCH.map(Role::name).join(", ");
                    Err(format!("`{role}` is no role of a search: {all}, policy or settings"))
                }
            },
        }
    }
}

/// The plugins that were inspected, each once.
pub(crate) struct Plugins<'a> {
    watch: &'a Watch,
    known: BTreeMap<PluginSource, Plugin>,
}

/// The roles and settings of an inspected plugin.
#[derive(Debug, Clone)]
pub(crate) struct Plugin {
    /// The roles that it implements.
    pub(crate) roles: Vec<Role>,
    keys: Vec<String>,
    /// True if it takes no other keys.
    is_closed: bool,
}

impl<'a> Plugins<'a> {
    /// Creates the cache, which inspects a plugin when it is asked for.
    pub(crate) fn new(watch: &'a Watch) -> Self {
        Self { watch, known: BTreeMap::new() }
    }

    /// The roles and settings of a plugin.
    pub(crate) async fn inspect(
        &mut self,
        source: &PluginSource,
        settings: &Settings,
    ) -> Outcome<Plugin> {
        if let Some(plugin) = self.known.get(source) {
            return Ok(plugin.clone());
        }
        let inspection = plugins::inspect(source, settings, self.watch).await?;
        let schema = &inspection.config_schema;
        let keys = schema.get("properties").and_then(Value::as_object);
        let plugin = Plugin {
            roles: inspection.roles,
            keys: keys.into_iter().flat_map(|keys| keys.keys().cloned()).collect(),
            is_closed: schema.get("additionalProperties") == Some(&Value::Bool(false)),
        };
        self.known.insert(source.clone(), plugin.clone());
        Ok(plugin)
    }

    /// The knob that a name denotes in a search with these settings.
    pub(crate) async fn knob(&mut self, named: &Named, settings: &Settings) -> Outcome<Knob> {
        let knob = match named {
            Named::Knob(knob) => knob.clone(),
            Named::Open(key) => self.owner(key, settings).await?,
        };
        if let Knob::Plugin(role, key) = &knob {
            self.check(*role, key, settings).await?;
        }
        Ok(knob)
    }

    /// Checks that the plugin of a role has a setting.
    async fn check(&mut self, role: Role, key: &str, settings: &Settings) -> Outcome<()> {
        let Some(source) = settings.strategy.roles.get(&role) else {
            return Err(Failure::usage(format!("{role}.{key}: no plugin implements the {role}")));
        };
        let plugin = self.inspect(source, settings).await?;
        if !plugin.is_closed || plugin.keys.iter().any(|known| known == key) {
            return Ok(());
        }
        let failure =
            Failure::usage(format!("{role}.{key}: the {role} `{source}` has no setting `{key}`"));
        let similar = nearest(key, plugin.keys.iter().map(String::as_str));
        Err(failure.hint(match alternatives(&similar) {
            Some(names) => format!("did you mean {names}?"),
            None => format!(
                "`syrch-host plugin inspect {}` shows the settings that it has",
                shell::quote(source)
            ),
        }))
    }

    /// The one that has this key: a plugin of the strategy, or the policy.
    async fn owner(&mut self, key: &str, settings: &Settings) -> Outcome<Knob> {
        let mut owners: Vec<Knob> = Knob::policy(key).into_iter().collect();
        let mut all: Vec<String> = Knob::policies().map(|key| format!("policy.{key}")).collect();
        let of_search =
            settings.strategy.roles.iter().filter(|(role, _)| Role::SEARCH.contains(role));
        for (role, source) in of_search {
            let plugin = self.inspect(source, settings).await?;
            all.extend(plugin.keys.iter().map(|key| format!("{role}.{key}")));
            owners.extend(
                plugin.keys.contains(&key.to_owned()).then(|| Knob::Plugin(*role, key.to_owned())),
            );
        }
        match owners.as_slice() {
            [one] => Ok(one.clone()),
            [] => {
                let bare =
                    |name: &str| name.split_once('.').map_or(name, |(_, key)| key).to_owned();
                let keys: Vec<String> = all.iter().map(|name| bare(name)).collect();
                let similar = nearest(key, keys.iter().map(String::as_str));
                let near: Vec<String> =
                    all.into_iter().filter(|name| similar.contains(&bare(name))).collect();
                let failure = Failure::usage(format!(
                    "{key}: no plugin of the strategy has the setting `{key}`"
                ));
                Err(failure.hint(match alternatives(&near) {
                    Some(names) => format!("did you mean {names}?"),
                    None => "`syrch-host plugin inspect NAME` shows a plugin's settings".to_owned(),
                }))
            }
            several => {
                let names: Vec<String> = several
                    .iter()
                    .map(|knob| {
                        if matches!(knob, Knob::Policy(_)) {
                            format!("policy.{knob}")
                        } else {
                            knob.to_string()
                        }
                    })
                    .collect();
                let names = alternatives(&names).unwrap_or_default();
                Err(Failure::usage(format!("{key}: several have the setting `{key}`"))
                    .hint(format!("say which: {names}")))
            }
        }
    }
}

/// One `-P NAME=VALUE`, or several with commas between them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assigned {
    /// The meaning of the name.
    pub(crate) named: Named,
    /// The name as it was written.
    pub(crate) name: String,
    /// The values, at least one.
    pub(crate) values: Vec<Value>,
}

impl Assigned {
    /// Reads `NAME=VALUES`; what `read` makes of the text behind the `=`.
    fn read(text: &str, read: impl Fn(&str) -> Result<Vec<Value>, String>) -> Result<Self, String> {
        let (name, values) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        Ok(Self { named: name.parse()?, name: name.trim().to_owned(), values: read(values)? })
    }

    /// Reads a list of values, as a grid takes it.
    pub(crate) fn list(text: &str) -> Result<Self, String> {
        Self::read(text, super::list::values)
    }

    /// Reads one value, which may contain commas.
    pub(crate) fn read_one(text: &str) -> Result<Self, String> {
        let whole = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
        };
        Self::read(text, |text| Ok(vec![whole(text)]))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_denote_knobs() {
        let named = |name: &str| name.parse::<Named>();
        assert_eq!(named("policy.max_depth"), Ok(Named::Knob(Knob::policy("max_depth").unwrap())));
        assert_eq!(named("calibration"), Ok(Named::Knob(Knob::Calibration)));
        assert_eq!(named("solver.a.b"), Ok(Named::Knob(Knob::Plugin(Role::Solver, "a.b".into()))));
        assert_eq!(named("settings.style"), Ok(Named::Knob(Knob::Setting("style".into()))));
        assert_eq!(named(" rounds "), Ok(Named::Open("rounds".into())));
        assert_eq!(
            named("policy.max_dept").unwrap_err(),
            "the policy has no `max_dept`: did you mean `max_depth` or `max_attempts`?"
        );
        assert!(
            named("sover.x").unwrap_err().starts_with("`sover` is no role of a search: linker, ")
        );
        assert!(
            named("rewriter.x").unwrap_err().starts_with("`rewriter` is no role of a search: ")
        );
        for wrong in ["", " ", "solver.", "policy. "] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_value_may_hold_commas_and_a_list_is_split() {
        assert_eq!(Assigned::read_one("a=1,2").unwrap().values, [json!("1,2")]);
        assert_eq!(Assigned::list("a=1,2").unwrap().values, [json!(1), json!(2)]);
        assert!(Assigned::read_one("a").is_err() && Assigned::list("=1").is_err());
    }
}
