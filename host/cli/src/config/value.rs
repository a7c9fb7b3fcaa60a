//! Conversions between the values of files and those of settings.

use std::time::Duration;

use serde_json::{Value, json};
use syrch::Provider;
use syrch::databases::Executor;
use syrch::models::SimulatedKnobs;
use syrch::settings::{PluginSource, SimulatedSettings};
use syrch::strategies::NOBODY;
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::roles::Role;

use super::Effective;

/// The option that stands for a setting of the clarifier, and that setting.
pub(crate) const AMBIGUITY: (&str, &str) = ("execution.ambiguity_threshold", "threshold");

/// The option that stands for a setting of the aggregator, and that setting.
pub(crate) const SUMMARISE: (&str, &str) = ("execution.summarise", "summarise");

// The kind of the option has checked each value before, so these conversions lose nothing.

/// The value as a text.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The value as a whole number.
pub(super) fn as_u64(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// The value as a whole number of 32 bits.
pub(super) fn as_u32(value: &Value) -> u32 {
    u32::try_from(as_u64(value)).unwrap_or(u32::MAX)
}

/// The value as a number of things in memory.
pub(super) fn as_usize(value: &Value) -> usize {
    usize::try_from(as_u64(value)).unwrap_or(usize::MAX)
}

/// The value as a number.
pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// The value, in seconds, as a duration.
pub(super) fn seconds(value: &Value) -> Duration {
    Duration::try_from_secs_f64(number(value)).unwrap_or_default()
}

/// A duration as a number of seconds, without a fraction where it has none.
pub(super) fn seconds_value(time: Duration) -> Value {
    let seconds = time.as_secs_f64();
    if time.subsec_nanos() == 0 { json!(time.as_secs()) } else { json!(seconds) }
}

/// A text; null if it is empty.
pub(super) fn text_value(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

/// The texts of a list.
pub(super) fn texts(value: &Value) -> impl Iterator<Item = String> {
    value.as_array().into_iter().flatten().map(text)
}

/// The database's address; null if there is none.
pub(super) fn database(e: &Effective) -> Value {
    match e.settings.database.as_str() {
        "" => Value::Null,
        address => json!(DatabaseUrl::parse(address).to_string()),
    }
}

/// The kind of the database: the one that is asked for, else the one of its address.
pub(super) fn executor(e: &Effective) -> Value {
    let address = DatabaseUrl::parse(&e.settings.database);
    match &e.executor {
        Some(name) => json!(name),
        None => json!(Executor::for_url(&address).ok().map(Executor::name)),
    }
}

/// The plugin of a role; null if there is none.
pub(super) fn plugin(e: &Effective, role: Role) -> Value {
    json!(e.settings.strategy.roles.get(&role).map(ToString::to_string))
}

/// Names the plugin of a role.
pub(super) fn set_plugin(e: &mut Effective, role: Role, value: &Value) {
    e.settings.strategy.roles.insert(role, PluginSource::parse(&text(value)));
}

/// The linker; [`NOBODY`] if there is none.
pub(super) fn linker(e: &Effective) -> Value {
    let linker = e.settings.strategy.roles.get(&Role::Linker);
    json!(linker.map_or(NOBODY.to_owned(), ToString::to_string))
}

/// Names the linker, or removes it.
pub(super) fn set_linker(e: &mut Effective, value: &Value) {
    if text(value) == NOBODY {
        e.settings.strategy.roles.remove(&Role::Linker);
    } else {
        set_plugin(e, Role::Linker, value);
    }
}

/// The ambiguity above which the clarifier asks, if it is set.
pub(super) fn threshold(e: &Effective) -> Value {
    let settings = e.settings.strategy.config.get(&Role::Clarifier);
    settings.and_then(|settings| settings.get(AMBIGUITY.1)).cloned().unwrap_or_default()
}

/// Sets the ambiguity above which the clarifier asks.
pub(super) fn set_threshold(e: &mut Effective, value: &Value) {
    let settings = e.settings.strategy.config.entry(Role::Clarifier).or_default();
    settings.insert(AMBIGUITY.1.to_owned(), value.clone());
}

/// Returns true in JSON if a model writes the sentence of an answer, if it is set.
pub(super) fn summarise(effective: &Effective) -> Value {
    let settings = effective.settings.strategy.config.get(&Role::Aggregator);
    settings.and_then(|settings| settings.get(SUMMARISE.1)).cloned().unwrap_or_default()
}

/// Sets if a model writes the sentence of an answer.
pub(super) fn set_summarise(effective: &mut Effective, value: &Value) {
    let settings = effective.settings.strategy.config.entry(Role::Aggregator).or_default();
    settings.insert(SUMMARISE.1.to_owned(), value.clone());
}

/// The model source in force, such as `openai` or `replay:FILE`.
pub(super) fn model_source(effective: &Effective) -> Value {
    let model = &effective.settings.model;
    if let Some(simulated) = &model.simulated {
        return json!(format!("simulated:{}", simulated.suite.display()));
    }
    match (&model.replay, &model.record) {
        (Some(file), _) => json!(format!("replay:{}", file.display())),
        (None, Some(file)) => json!(format!("record:{}", file.display())),
        (None, None) => json!(model.provider.name()),
    }
}

/// Puts a model source in force. A provider replaces the recording or suite of a weaker layer; a
/// recording to be made leaves the provider unchanged.
pub(super) fn set_model_source(effective: &mut Effective, value: &Value) {
    let model = &mut effective.settings.model;
    let word = text(value);
    (model.replay, model.record, model.simulated) = (None, None, None);
    match word.split_once(':') {
        Some(("replay", file)) => model.replay = Some(file.into()),
        Some(("simulated", suite)) => {
            model.simulated =
                Some(SimulatedSettings { suite: suite.into(), knobs: effective.simulated.clone() });
        }
        Some((_, file)) => model.record = Some(file.into()),
        None => {
            model.provider = Provider::from_name(&word).unwrap_or_default();
            effective.is_provider_named = true;
        }
    }
}

/// Changes a setting of the simulated model, also while another source is in force, since a
/// stronger layer may choose it later.
pub(super) fn turn(effective: &mut Effective, turn: impl FnOnce(&mut SimulatedKnobs)) {
    turn(&mut effective.simulated);
    if let Some(simulated) = &mut effective.settings.model.simulated {
        simulated.knobs.clone_from(&effective.simulated);
    }
}

/// A 32-bit number shows more digits as 64 bits than it has.
pub(super) fn round(n: f64) -> f64 {
    (n * 1e6).round() / 1e6
}
