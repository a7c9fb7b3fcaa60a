//! The dimensions, besides the strategy, in which the arms of a graded run may differ: single
//! values of the policy and of plugins; and a check whether they differ.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value, json};
use syrch::settings::PluginSource;
use syrch::strategies::{LIMITS, Limit};
use syrch::{Settings, internal, plugins};
use syrch_core::roles::Role;
use syrch_grade::run::{DOCUMENT, read_within};

/// The calibrator that leaves claims as they are when all of its weights are 0, since it only
/// lowers them.
const PLAIN: &str = "signals";
/// The settings of [`PLAIN`] that are weights.
const WEIGHTS: [&str; 7] =
    ["syntax", "schema", "execution", "empty", "null_column", "overflow", "retry"];

/// A setting in which arms may differ.
#[derive(Debug, Clone)]
pub enum Knob {
    /// A value of the policy, such as `max_depth`.
    Policy(&'static Limit),
    /// The calibration of confidence: `false` replaces the calibrator by one that lowers nothing,
    /// so that the model's claims count as they are; `true` leaves the calibrator as it is.
    Calibration,
    /// A setting of the plugin that implements a role.
    Plugin(Role, String),
    /// A setting that plugins read by its name.
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
    /// The knob for a value of the policy; `None` if the policy has no such key.
    #[must_use]
    pub fn policy(key: &str) -> Option<Self> {
        Limit::for_key(key).map(Self::Policy)
    }

    /// The keys that [`Knob::policy`] knows.
    pub fn policies() -> impl Iterator<Item = &'static str> {
        LIMITS.iter().map(|limit| limit.key)
    }

    /// Checks whether the knob may have this value. The settings of a plugin are checked when the
    /// plugin is loaded.
    ///
    /// # Errors
    /// A message that says which values are allowed.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let wrong = |expected: String| Err(format!("{self}: {value} is not {expected}"));
        match self {
            Self::Policy(limit) if !limit.admits(value) => wrong(limit.describe_range()),
            Self::Calibration if !value.is_boolean() => wrong("true or false".to_owned()),
            _ => Ok(()),
        }
    }

    /// Sets a value that [`Knob::check`] accepted.
    ///
    /// # Errors
    /// When no plugin implements the role.
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
                    return Err(format!("{self}: no plugin implements the {role}"));
                }
                settings
                    .strategy
                    .config
                    .entry(*role)
                    .or_default()
                    .insert(key.clone(), value.clone());
            }
            Self::Setting(name) => drop(settings.settings.insert(name.clone(), value.to_string())),
        }
        Ok(())
    }
}

/// The positions of two arms that would do the same: they have equal settings and plugins of equal
/// bytes, whatever the names.
#[must_use]
pub fn twins(arms: &[(String, Settings)]) -> Option<(usize, usize)> {
    // What no search calls makes no difference.
    let arms: Vec<Settings> = arms.iter().map(|(_, settings)| for_search(settings)).collect();
    let described: Vec<Value> = arms.iter().map(describe_settings).collect();
    let is_same = |one: usize, other: usize| {
        let strategy = |at: usize| arms.get(at).map(|settings| &settings.strategy);
        described.get(one) == described.get(other)
            && strategy(one).zip(strategy(other)).is_some_and(|(one, other)| {
                one.roles.len() == other.roles.len()
                    && one.roles.iter().all(|(role, source)| {
                        other.roles.get(role).is_some_and(|known| is_same_plugin(source, known))
                    })
            })
    };
    (0..arms.len())
        .find_map(|other| (0..other).find(|one| is_same(*one, other)).map(|one| (one, other)))
}

/// The settings without the roles that no search calls.
fn for_search(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.strategy.roles.retain(|role, _| Role::SEARCH.contains(role));
    settings.strategy.config.retain(|role, _| Role::SEARCH.contains(role));
    settings
}

/// The settings without the plugins and the name of the strategy.
fn describe_settings(settings: &Settings) -> Value {
    let mut written = internal::journal_settings(settings);
    if let Some(strategy) = written.get_mut("strategy").and_then(Value::as_object_mut) {
        strategy.shift_remove("roles");
        strategy.shift_remove("name");
    }
    written
}

fn is_same_plugin(one: &PluginSource, other: &PluginSource) -> bool {
    one == other || matches!((bytes(one), bytes(other)), (Some(one), Some(other)) if one == other)
}

/// The bytes of a plugin's component; `None` if they cannot be read, which is an error when the run
/// begins.
fn bytes(source: &PluginSource) -> Option<Vec<u8>> {
    match source {
        PluginSource::Builtin(name) => plugins::builtin_component(name),
        PluginSource::File(path) => read_within(path, DOCUMENT).ok(),
    }
}

/// Unique names for arms, of which each has a short and a long name: the short name if no other arm
/// has it, else the long one, with a number behind it if it is taken.
#[must_use]
pub fn distinct(names: &[(String, String)]) -> Vec<String> {
    fn is_unique(names: &[(String, String)], short: &str) -> bool {
        names.iter().filter(|(known, _)| known == short).count() == 1
    }
    let mut taken = BTreeSet::new();
    let mut all = Vec::with_capacity(names.len());
    for (short, long) in names {
        let name = if is_unique(names, short) { short } else { long };
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
    use syrch::strategies;

    fn settings_for(word: &str) -> Settings {
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
        assert_eq!(
            (with(&depth, &json!(5)).policy.max_depth, depth.to_string().as_str()),
            (5, "max_depth")
        );
        assert_eq!(
            depth.check(&json!(0)).unwrap_err(),
            "max_depth: 0 is not a whole number from 1 to 16"
        );
        let rounds = Knob::Plugin(Role::Solver, "rounds".into());
        assert_eq!(
            with(&rounds, &json!([1, 2])).strategy.config[&Role::Solver]["rounds"],
            json!([1, 2])
        );
        assert_eq!(
            with(&Knob::Setting("style".into()), &json!("short")).settings["style"],
            "\"short\""
        );
        let mut without = Settings::default();
        without.strategy.roles.remove(&Role::Linker);
        let reported =
            Knob::Plugin(Role::Linker, "k".into()).set(&json!(1), &mut without).unwrap_err();
        assert_eq!(reported, "linker.k: no plugin implements the linker");
    }

    #[test]
    fn without_calibration_nothing_is_taken_off_a_claim() {
        assert_eq!(
            Knob::Calibration.check(&json!("no")).unwrap_err(),
            "calibration: \"no\" is not true or false"
        );
        let off = with(&Knob::Calibration, &json!(false)).strategy;
        let weights = &off.config[&Role::Calibrator];
        assert!(weights.len() == 7 && weights.values().all(|weight| *weight == json!(0.0)));
        assert_eq!(with(&Knob::Calibration, &json!(true)).strategy, Settings::default().strategy);
    }

    #[tokio::test]
    async fn all_weights_of_that_calibrator_are_set() {
        let plain = PluginSource::Builtin(PLAIN.to_owned());
        let known =
            syrch::plugins::inspect(&plain, &Settings::default(), &syrch::Silent).await.unwrap();
        let mut keys: Vec<&String> =
            known.config_schema["properties"].as_object().unwrap().keys().collect();
        let mut weights = WEIGHTS.to_vec();
        keys.sort();
        weights.sort_unstable();
        assert_eq!(keys, weights);
    }

    #[test]
    fn arms_are_distinguished_by_what_they_do() {
        fn arms(words: &[&str]) -> Vec<(String, Settings)> {
            words.iter().map(|word| ((*word).to_owned(), settings_for(word))).collect()
        }
        assert_eq!(twins(&arms(&["single", "vote5", "retry3"])), None);
        assert_eq!(twins(&arms(&["single", "vote5", "single"])), Some((0, 2)));
        let mut renamed = arms(&["single", "single"]);
        renamed[1].1.strategy.name = "mine".into();
        assert_eq!(twins(&renamed), Some((0, 1)));
        renamed[1].1.strategy.roles.insert(Role::Rewriter, PluginSource::Builtin("rules".into()));
        renamed[1]
            .1
            .strategy
            .config
            .insert(Role::Rewriter, Map::from_iter([("a".to_owned(), json!(1))]));
        assert_eq!(twins(&renamed), Some((0, 1)));
        renamed[1].1.policy.max_attempts = 9;
        assert_eq!(twins(&renamed), None);
    }

    #[test]
    fn a_copy_of_a_plugin_is_that_plugin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.wasm");
        std::fs::write(&path, plugins::builtin_component("refine").unwrap()).unwrap();
        let mut arms = vec![
            ("a".to_owned(), settings_for("decompose")),
            ("b".to_owned(), settings_for("decompose")),
        ];
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
