//! What arms of a run may differ in beside their strategies: single values of the policy and of plugins. And whether they differ at all.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value, json};
use syrch_core::roles::Role;
use syrch_grade::run::{DOCUMENT, read_within};

use crate::builtin::{self, Builtin};
use crate::strategies::{LIMITS, Limit};
use crate::{PluginSource, Settings, record};

/// The calibrator that lets claims stand when all its weights are 0: it only ever takes off.
const PLAIN: &str = "signals";
/// Those weights.
const WEIGHTS: [&str; 7] = ["syntax", "schema", "execution", "empty", "null_column", "overflow", "retry"];

/// One value by which arms may differ.
#[derive(Debug, Clone)]
pub enum Knob {
    /// A value of the policy, such as `max_depth`.
    Policy(&'static Limit),
    /// Whether claimed confidence is calibrated: `false` replaces the calibrator by one that takes nothing off, so that what a model claims
    /// is what counts; `true` leaves the calibrator as it is.
    Calibration,
    /// A setting of the plugin that plays a role.
    Plugin(Role, String),
    /// A setting that plugins read by name.
    Setting(String),
}

impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(limit) => f.write_str(limit.key),
            Self::Calibration => f.write_str("calibration"),
            Self::Plugin(role, key) => write!(f, "{role}.{key}"),
            Self::Setting(name) => write!(f, "settings.{name}"),
        }
    }
}

impl PartialEq for Knob {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Knob {
    /// The value of the policy with that key, if there is one.
    #[must_use]
    pub fn policy(key: &str) -> Option<Self> {
        Limit::of(key).map(Self::Policy)
    }

    /// The keys of the policy.
    pub fn policies() -> impl Iterator<Item = &'static str> {
        LIMITS.iter().map(|limit| limit.key)
    }

    /// Whether it may have this value. What a plugin takes only the plugin knows, which is asked when it is loaded.
    ///
    /// # Errors
    /// What it must be, in words.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let wrong = |expected: String| Err(format!("{self}: {value} is not {expected}"));
        match self {
            Self::Policy(limit) if !limit.admits(value) => wrong(limit.expected()),
            Self::Calibration if !value.is_boolean() => wrong("true or false".to_owned()),
            _ => Ok(()),
        }
    }

    /// Puts a value in force that was checked.
    ///
    /// # Errors
    /// When nobody plays the role.
    pub fn set(&self, value: &Value, settings: &mut Settings) -> Result<(), String> {
        match self {
            Self::Policy(limit) => limit.set(&mut settings.policy, value),
            Self::Calibration if *value == json!(false) => {
                let strategy = &mut settings.strategy;
                strategy.roles.insert(Role::Calibrator, PluginSource::Builtin(PLAIN.to_owned()));
                let weights = WEIGHTS.map(|weight| (weight.to_owned(), json!(0.0)));
                strategy.config.insert(Role::Calibrator, Map::from_iter(weights));
            }
            Self::Calibration => {}
            Self::Plugin(role, key) => {
                if !settings.strategy.roles.contains_key(role) {
                    return Err(format!("{self}: nobody plays the {role}"));
                }
                settings.strategy.config.entry(*role).or_default().insert(key.clone(), value.clone());
            }
            Self::Setting(name) => drop(settings.settings.insert(name.clone(), value.to_string())),
        }
        Ok(())
    }
}

/// Two arms that would do the same, by their places: the same settings, and plugins of the same bytes, whatever they are called.
#[must_use]
pub fn twins(arms: &[(String, Settings)]) -> Option<(usize, usize)> {
    let described: Vec<Value> = arms.iter().map(|(_, settings)| described(settings)).collect();
    let is_same = |one: usize, other: usize| {
        let strategy = |at: usize| arms.get(at).map(|(_, settings)| &settings.strategy);
        described.get(one) == described.get(other)
            && strategy(one).zip(strategy(other)).is_some_and(|(one, other)| {
                one.roles.len() == other.roles.len()
                    && one
                        .roles
                        .iter()
                        .all(|(role, source)| other.roles.get(role).is_some_and(|known| is_same_plugin(source, known)))
            })
    };
    (0..arms.len()).find_map(|other| (0..other).find(|one| is_same(*one, other)).map(|one| (one, other)))
}

/// The settings without who plays, and without what the strategy is called.
fn described(settings: &Settings) -> Value {
    let mut written = record::written(settings);
    if let Some(strategy) = written.get_mut("strategy").and_then(Value::as_object_mut) {
        strategy.shift_remove("roles");
        strategy.shift_remove("name");
    }
    written
}

fn is_same_plugin(one: &PluginSource, other: &PluginSource) -> bool {
    one == other || matches!((bytes(one), bytes(other)), (Some(one), Some(other)) if one == other)
}

/// The bytes of a component, if they can be had; who cannot have them says so when the run begins.
fn bytes(source: &PluginSource) -> Option<Vec<u8>> {
    match source {
        PluginSource::Builtin(name) => builtin::find(name).map(Builtin::component),
        PluginSource::File(path) => read_within(path, DOCUMENT).ok(),
    }
}

/// Names for arms, each only once: the short ones where they tell the arms apart, else the long ones, and a number behind what is still
/// the same.
#[must_use]
pub fn distinct(names: &[(String, String)]) -> Vec<String> {
    let is_only = |short: &str| names.iter().filter(|(known, _)| known == short).count() == 1;
    let mut taken = BTreeSet::new();
    let mut all = Vec::with_capacity(names.len());
    for (short, long) in names {
        let name = if is_only(short) { short } else { long };
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        let free = free.unwrap_or_default();
        taken.insert(free.clone());
        all.push(free);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::strategies;

    fn of(word: &str) -> Settings {
        let mut settings = Settings::default();
        strategies::find(word).unwrap().apply(&mut settings);
        settings
    }

    fn with(knob: &Knob, value: &Value) -> Settings {
        let mut settings = Settings::default();
        knob.check(value).unwrap();
        knob.set(value, &mut settings).unwrap();
        settings
    }

    #[test]
    fn a_knob_sets_what_it_says() {
        let depth = Knob::policy("max_depth").unwrap();
        assert_eq!((with(&depth, &json!(5)).policy.max_depth, depth.to_string().as_str()), (5, "max_depth"));
        assert_eq!(depth.check(&json!(0)).unwrap_err(), "max_depth: 0 is not a whole number from 1 to 16");
        let rounds = Knob::Plugin(Role::Solver, "rounds".into());
        assert_eq!(with(&rounds, &json!([1, 2])).strategy.config[&Role::Solver]["rounds"], json!([1, 2]));
        assert_eq!(with(&Knob::Setting("style".into()), &json!("short")).settings["style"], "\"short\"");
        let mut nobody = Settings::default();
        nobody.strategy.roles.remove(&Role::Linker);
        let told = Knob::Plugin(Role::Linker, "k".into()).set(&json!(1), &mut nobody).unwrap_err();
        assert_eq!(told, "linker.k: nobody plays the linker");
    }

    #[test]
    fn without_calibration_nothing_is_taken_off_a_claim() {
        assert_eq!(Knob::Calibration.check(&json!("no")).unwrap_err(), "calibration: \"no\" is not true or false");
        let off = with(&Knob::Calibration, &json!(false)).strategy;
        let weights = &off.config[&Role::Calibrator];
        assert!(weights.len() == 7 && weights.values().all(|weight| *weight == json!(0.0)));
        assert_eq!(with(&Knob::Calibration, &json!(true)).strategy, Settings::default().strategy);
    }

    #[tokio::test]
    async fn all_weights_of_that_calibrator_are_set() {
        let plain = PluginSource::Builtin(PLAIN.to_owned());
        let known = crate::plugins::inspect(&plain, &Settings::default(), &crate::Silent).await.unwrap();
        let mut keys: Vec<&String> = known.config_schema["properties"].as_object().unwrap().keys().collect();
        let mut weights = WEIGHTS.to_vec();
        keys.sort();
        weights.sort_unstable();
        assert_eq!(keys, weights);
    }

    #[test]
    fn arms_are_told_apart_by_what_they_do() {
        let arms = |words: &[&str]| -> Vec<(String, Settings)> {
            words.iter().map(|word| ((*word).to_owned(), of(word))).collect()
        };
        assert_eq!(twins(&arms(&["single", "vote5", "retry3"])), None);
        assert_eq!(twins(&arms(&["single", "vote5", "single"])), Some((0, 2)));
        let mut renamed = arms(&["single", "single"]);
        renamed[1].1.strategy.name = "mine".into();
        assert_eq!(twins(&renamed), Some((0, 1)));
        renamed[1].1.policy.max_attempts = 9;
        assert_eq!(twins(&renamed), None);
    }

    #[test]
    fn a_copy_of_a_plugin_is_that_plugin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.wasm");
        std::fs::write(&path, builtin::find("refine").unwrap().component()).unwrap();
        let mut arms = vec![("a".to_owned(), of("decompose")), ("b".to_owned(), of("decompose"))];
        arms[1].1.strategy.roles.insert(Role::Solver, PluginSource::File(path.clone()));
        assert_eq!(twins(&arms), Some((0, 1)));
        std::fs::write(&path, "another").unwrap();
        assert_eq!(twins(&arms), None);
    }

    proptest! {
        #[test]
        fn names_are_distinct(names in prop::collection::vec(("[ab]{1,2}", "[ab/]{1,3}"), 0..9)) {
            let found = distinct(&names);
            let unique: BTreeSet<&String> = found.iter().collect();
            prop_assert_eq!((found.len(), unique.len()), (names.len(), names.len()));
            for ((short, long), name) in names.iter().zip(&found) {
                prop_assert!(name.starts_with(short.as_str()) || name.starts_with(long.as_str()));
            }
        }
    }
}
