//! The options that are mappings of names, which only files hold: databases, further endpoints and
//! models, which model answers which purpose, and prices. What each of their keys may be stands
//! here; the file's reader checks it, place by place.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use syrch::Provider;
use syrch::settings::{
    DriverSettings, EndpointSettings, PriceSettings, RateSettings, RouteSettings,
};
use syrch::syrch_core::ports::Purpose;
use syrch::syrch_core::text::nearest;
use syrch::syrch_core::{DatabaseUrl, Dialect};

use super::Effective;
use super::kind::{self, Kind, TIME};
use super::value::{as_u32, as_u64, as_usize, seconds, seconds_value, text};
use crate::failure::alternatives;

/// An option that is a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// The addresses of databases by their names, `databases`.
    Databases,
    /// The ADBC drivers by their names, `drivers`.
    Drivers,
    /// The endpoints by their names, `llm.endpoints`.
    Endpoints,
    /// The models by their names, `llm.models`.
    Models,
    /// The models of purposes, `llm.purposes`.
    Purposes,
    /// The prices of models, `llm.prices`.
    Prices,
}

/// One key of an entry.
pub(super) struct Field {
    /// The key of the field in a file.
    pub(super) name: &'static str,
    /// The type of the value.
    pub(super) kind: Kind,
    /// True if an entry must have it.
    pub(super) required: bool,
}

const fn field(name: &'static str, kind: Kind, required: bool) -> Field {
    Field { name, kind, required }
}

/// Dollars for a million tokens; the highest that the price table takes.
const PRICE: Kind = Kind::Number { min: 0.0, inclusive: true, max: 1_000_000.0 };
/// Rates, of the default endpoint and of further ones.
pub(super) const REQUESTS: Kind = Kind::Integer(1, 1_000_000);
pub(super) const TOKENS: Kind = Kind::Integer(1, 1_000_000_000_000);
pub(super) const IN_FLIGHT: Kind = Kind::Integer(1, 10_000);

const DRIVER: &[Field] = &[
    field("path", Kind::Text, true),
    field("sha256", Kind::Text, true),
    field("entrypoint", Kind::Text, false),
    field("dialect", Kind::Choice(Dialect::NAMES), false),
];
const ENDPOINT: &[Field] = &[
    field("provider", Kind::EndpointProvider, true),
    field("base_url", Kind::Text, true),
    field("api_key", Kind::Secret, false),
    field("timeout_seconds", TIME, false),
    field("requests_per_minute", REQUESTS, false),
    field("tokens_per_minute", TOKENS, false),
    field("in_flight", IN_FLIGHT, false),
];
const MODEL: &[Field] = &[field("endpoint", Kind::Text, false), field("model", Kind::Text, true)];
const PRICES: &[Field] = &[
    field("input", PRICE, true),
    field("output", PRICE, true),
    field("cached_input", PRICE, false),
];

const PURPOSES: [Purpose; 10] = [
    Purpose::Link,
    Purpose::Plan,
    Purpose::Generate,
    Purpose::Repair,
    Purpose::Judge,
    Purpose::Select,
    Purpose::Calibrate,
    Purpose::Clarify,
    Purpose::Summarise,
    Purpose::Rewrite,
];

/// The purposes without a name in the contract that the program itself and its rewriter have.
const FURTHER: [&str; 2] = ["describe", "optimize"];

impl Mapping {
    /// The keys of an entry; empty where entries are plain texts.
    pub(super) fn fields(self) -> &'static [Field] {
        match self {
            Self::Drivers => DRIVER,
            Self::Endpoints => ENDPOINT,
            Self::Models => MODEL,
            Self::Databases | Self::Purposes => &[],
            Self::Prices => PRICES,
        }
    }

    /// The noun for an entry in error messages.
    pub(super) fn entry_noun(self) -> &'static str {
        match self {
            Self::Databases => "a database",
            Self::Drivers => "a driver",
            Self::Endpoints => "an endpoint",
            Self::Models => "a model",
            Self::Purposes => "a purpose",
            Self::Prices => "a price",
        }
    }

    /// Checks the name of an entry.
    pub(super) fn check_name(self, name: &str) -> Result<(), String> {
        fn is_plain(c: char) -> bool {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
        }
        match self {
            // It cannot be mistaken for a path or a URL.
            Self::Databases if !name.is_empty() && name.chars().all(is_plain) => Ok(()),
            Self::Databases => {
                Err(format!("`{name}` is no name of a database: letters, digits, - and _"))
            }
            // It stands in an address, before the options.
            Self::Drivers if !name.is_empty() && name.chars().all(is_plain) => Ok(()),
            Self::Drivers => {
                Err(format!("`{name}` is no name of a driver: letters, digits, - and _"))
            }
            // It is part of a variable's name.
            Self::Endpoints if !name.is_empty() && name.chars().all(is_plain) => Ok(()),
            Self::Endpoints => {
                Err(format!("`{name}` is no name of an endpoint: letters, digits, - and _"))
            }
            Self::Models if !name.trim().is_empty() => Ok(()),
            Self::Models => Err("the name of a model is empty".to_owned()),
            Self::Purposes => purpose(name),
            Self::Prices => kind::patterns(&[name]),
        }
    }

    /// The mapping in force, as a file holds it. A key is shown as `set`, and a password as `***`.
    pub(super) fn get(self, effective: &Effective) -> Value {
        let model = &effective.settings.model;
        match self {
            Self::Databases => entries_value(&effective.databases, |url| {
                json!(DatabaseUrl::parse(url).to_string())
            }),
            Self::Drivers => entries_value(&effective.drivers, driver),
            Self::Endpoints => entries_value(&model.endpoints, endpoint),
            Self::Models => entries_value(
                &model.models,
                |route| json!({"endpoint": route.endpoint, "model": route.model}),
            ),
            Self::Purposes => json!(model.purposes),
            Self::Prices => entries_value(&model.prices, |price| {
                json!({
                    "input": price.input, "output": price.output, "cached_input": price.cached_input
                })
            }),
        }
    }

    /// Puts a checked mapping in force.
    pub(super) fn set(self, effective: &mut Effective, value: &Value) {
        let model = &mut effective.settings.model;
        match self {
            Self::Databases => effective.databases = read(value, text),
            Self::Drivers => effective.drivers = read(value, driver_of),
            Self::Endpoints => model.endpoints = read(value, endpoint_of),
            Self::Models => model.models = read(value, route_of),
            Self::Purposes => model.purposes = read(value, text),
            Self::Prices => model.prices = read(value, price_of),
        }
    }
}

fn purpose(name: &str) -> Result<(), String> {
    let known: Vec<&str> = PURPOSES.iter().map(Purpose::name).chain(FURTHER).collect();
    if known.contains(&name) {
        return Ok(());
    }
    Err(match alternatives(&nearest(name, known.iter().copied())) {
        Some(names) => format!("unknown purpose `{name}`; did you mean {names}?"),
        None => format!("unknown purpose `{name}`: one of {}", known.join(", ")),
    })
}

fn entries_value<T>(entries: &BTreeMap<String, T>, entry: impl Fn(&T) -> Value) -> Value {
    entries
        .iter()
        .map(|(name, value)| (name.clone(), without_nulls(entry(value))))
        .collect::<Map<_, _>>()
        .into()
}

fn without_nulls(mut entry: Value) -> Value {
    entry.as_object_mut().into_iter().for_each(|map| map.retain(|_, value| !value.is_null()));
    entry
}

fn read<T>(value: &Value, entry: impl Fn(&Value) -> T) -> BTreeMap<String, T> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), entry(value)))
        .collect()
}

fn driver(driver: &DriverSettings) -> Value {
    let DriverSettings { path, sha256, entrypoint, dialect } = driver;
    json!({"path": path, "sha256": sha256, "entrypoint": entrypoint, "dialect": dialect.name()})
}

fn driver_of(value: &Value) -> DriverSettings {
    DriverSettings {
        path: value.get("path").map(text).unwrap_or_default().into(),
        sha256: value.get("sha256").map(text).unwrap_or_default(),
        entrypoint: value.get("entrypoint").map(text),
        // One of `Dialect::NAMES`.
        dialect: value
            .get("dialect")
            .cloned()
            .and_then(|name| serde_json::from_value(name).ok())
            .unwrap_or(Dialect::Ansi),
    }
}

fn endpoint(endpoint: &EndpointSettings) -> Value {
    let RateSettings { requests_per_minute, tokens_per_minute, in_flight } = endpoint.rates;
    json!({
        "provider": endpoint.provider.name(),
        "base_url": endpoint.base_url,
        "api_key": endpoint.api_key.as_ref().map(|_| "set"),
        "timeout_seconds": endpoint.timeout.map(seconds_value),
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "in_flight": in_flight,
    })
}

fn endpoint_of(value: &Value) -> EndpointSettings {
    EndpointSettings {
        provider: value
            .get("provider")
            .and_then(Value::as_str)
            .and_then(Provider::from_name)
            .unwrap_or(Provider::OPENAI),
        base_url: value.get("base_url").map(text).unwrap_or_default(),
        api_key: value.get("api_key").map(|key| text(key).into()),
        timeout: value.get("timeout_seconds").map(seconds),
        rates: RateSettings {
            requests_per_minute: value.get("requests_per_minute").map(as_u32),
            tokens_per_minute: value.get("tokens_per_minute").map(as_u64),
            in_flight: value.get("in_flight").map(as_usize),
        },
    }
}

fn route_of(value: &Value) -> RouteSettings {
    RouteSettings {
        endpoint: value.get("endpoint").map(text),
        model: value.get("model").map(text).unwrap_or_default(),
    }
}

fn price_of(value: &Value) -> PriceSettings {
    let dollars = |key| value.get(key).and_then(Value::as_f64).unwrap_or_default();
    let cached_input = value.get("cached_input").and_then(Value::as_f64);
    PriceSettings { input: dollars("input"), output: dollars("output"), cached_input }
}

/// The variable that holds the key of a further endpoint.
pub(crate) fn variable(endpoint: &str) -> String {
    format!("SYRCH_API_KEY_{}", endpoint.to_ascii_uppercase().replace('-', "_"))
}

/// Entries of each mapping, for tests that go through all options.
#[cfg(test)]
pub(super) fn sample(mapping: Mapping) -> Value {
    match mapping {
        Mapping::Databases => {
            json!({"sales": "postgres://ann@localhost/sales", "old": "old.sqlite"})
        }
        Mapping::Drivers => json!({
            "duck": {
                "path": "/opt/libduckdb.so", "sha256": "0a", "entrypoint": "duckdb_adbc_init",
                "dialect": "duckdb"
            },
        }),
        Mapping::Endpoints => json!({
            "plain": {"provider": "openai", "base_url": "http://localhost:1/v1"},
            "all": {"provider": "anthropic", "base_url": "http://localhost:2", "api_key": "set",
                "timeout_seconds": 1.5,
                "requests_per_minute": 3, "tokens_per_minute": 4, "in_flight": 5},
        }),
        Mapping::Models => json!({"a": {"endpoint": "all", "model": "m"}, "b": {"model": "n"}}),
        Mapping::Purposes => json!({"judge": "a"}),
        Mapping::Prices => json!({"gpt-4o*": {"input": 2.5, "output": 10.0, "cached_input": 1.25}}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_with_near_ones() {
        for name in ["summarise", "describe", "optimize"] {
            assert_eq!(Mapping::Purposes.check_name(name), Ok(()));
        }
        let reported = Mapping::Purposes.check_name("jugde").unwrap_err();
        assert_eq!(reported, "unknown purpose `jugde`; did you mean `judge`?");
        assert!(Mapping::Purposes.check_name("x").unwrap_err().contains("one of link, plan"));
        assert!(
            Mapping::Endpoints.check_name("a b").is_err()
                && Mapping::Endpoints.check_name("a-B_1").is_ok()
        );
        assert!(
            Mapping::Prices.check_name("gpt-[").is_err()
                && Mapping::Prices.check_name("gpt-*").is_ok()
        );
        assert!(Mapping::Models.check_name(" ").is_err());
    }

    #[test]
    fn an_endpoint_has_a_variable_of_its_own() {
        assert_eq!(variable("my-gpu_2"), "SYRCH_API_KEY_MY_GPU_2");
    }
}
