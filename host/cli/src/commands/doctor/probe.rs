//! `doctor --probe`: what the endpoint can do, measured by a few calls, and the flags that follow
//! from it.

use serde_json::Value;
use syrch::models::{Probe, SchemaSupport, is_loopback, probe_endpoint};
use syrch::settings::ModelSettings;
use syrch::{Error, Provider, Settings};

use super::Check;
use super::endpoint::{NAME_MODEL, document, models_of};

/// The output tokens for which a call must have time.
const TOKENS: f64 = 1_024.0;
/// The seconds of the default timeout.
const TIMEOUT: f64 = 120.0;
/// The context below which replies are bounded, in tokens, and the default bound of replies.
const SMALL: u64 = 16_384;
const REPLY: u64 = 4_096;

/// The limits that an endpoint reports of itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct Own {
    /// The tokens of its context.
    context: Option<u64>,
    /// The calls that it serves at once.
    slots: Option<u64>,
}

/// Measures the endpoint of the settings.
pub(super) async fn measure_endpoint(settings: &Settings) -> Vec<Check> {
    let model = &settings.model;
    if model.replay.is_some() || model.simulated.is_some() {
        return vec![Check::warn(
            "probe",
            "no endpoint answers, so nothing is measured",
            "name one by --base-url",
        )];
    }
    if model.provider == Provider::OFFLINE {
        let detail = "the offline rules answer: there is no endpoint to probe";
        return vec![Check::fail("probe", detail, NAME_MODEL)];
    }
    let probe = match probe_endpoint(settings).await {
        Ok(probe) => probe,
        Err(error @ Error::Model { .. }) => {
            let fix =
                "check --model, --base-url, --timeout and the key, and read the log of the server";
            return vec![Check::fail("probe", error.to_string(), fix)];
        }
        Err(error) => return vec![Check::from_failure("probe", error.into())],
    };
    checks(&probe, &ask_for_limits(model).await)
}

fn checks(probe: &Probe, own: &Own) -> Vec<Check> {
    let seconds = probe.call.as_secs_f64();
    let speed = match probe.tokens_per_second {
        Some(speed) => {
            Check::ok("speed", format!("{speed:.1} tokens/s, {seconds:.2} s for a short call"))
        }
        None => Check::warn(
            "speed",
            "its replies are empty",
            "check the model and the log of the server",
        ),
    };
    let context = match own.context {
        Some(tokens) => Check::ok("context", format!("{tokens} tokens")),
        None => Check::ok("context", "the server does not tell it"),
    };
    let slots = slots(probe, own);
    let parallel = match slots {
        1 => "one call at a time".to_owned(),
        slots => format!("{slots} calls at once"),
    };
    let schema = match probe.schema {
        SchemaSupport::Obeyed => Check::ok("schema", "a JSON schema is obeyed"),
        SchemaSupport::Ignored => Check::warn(
            "schema",
            "a JSON schema is taken and not obeyed",
            "plans may be malformed: choose a strategy without them, such as vote5",
        ),
        SchemaSupport::Refused => {
            Check::ok("schema", "a JSON schema is not taken: it is described in the prompt")
        }
        SchemaSupport::Unknown => Check::ok(
            "schema",
            "not measured: the reply was cut off, as that of a model which thinks first",
        ),
    };
    // A search of one question has no workers.
    let flags = match (flags(probe, own).join(" "), slots < 4) {
        (flags, true) => format!("{flags}, and --workers 1 for suites and batch"),
        (flags, false) if flags.is_empty() => "none are needed: the defaults fit".to_owned(),
        (flags, false) => flags,
    };
    vec![speed, context, Check::ok("parallel", parallel), schema, Check::ok("flags", flags)]
}

fn slots(probe: &Probe, own: &Own) -> u64 {
    own.slots.unwrap_or(u64::MAX).min(u64::from(probe.slots)).max(1)
}

/// The flags that fit what was found.
fn flags(probe: &Probe, own: &Own) -> Vec<String> {
    let mut flags = Vec::new();
    let slots = slots(probe, own);
    if slots < 4 {
        flags.push(format!("--max-concurrency {slots}"));
    }
    let needed = probe.tokens_per_second.map_or(0.0, |speed| TOKENS / speed);
    if needed > TIMEOUT {
        flags.push(format!("--timeout {}", ((needed / 60.0).ceil() * 60.0) as u64));
    }
    if let Some(context) = own.context.filter(|context| *context < SMALL) {
        flags.push(format!("--max-tokens {}", (context / 4).clamp(1, REPLY)));
    }
    flags
}

/// Asks a server on this machine for its limits: in its list of models, or under `/props` as
/// llama.cpp has them.
async fn ask_for_limits(model: &ModelSettings) -> Own {
    let Some(list) = models_of(model.provider, &model.base_url).filter(is_loopback) else {
        return Own::default();
    };
    let listed =
        document(&list, model).await.map(|list| read_list(&list, &model.model)).unwrap_or_default();
    let mut props = list.clone();
    props.set_path("/props");
    let of_props =
        document(&props, model).await.map(|props| read_props(&props)).unwrap_or_default();
    Own { context: of_props.context.or(listed), slots: of_props.slots }
}

/// The context of a model by the usual names of vLLM, LM Studio, OpenRouter and others.
fn read_list(list: &Value, model: &str) -> Option<u64> {
    let models = list.get("data")?.as_array()?;
    let named = models.iter().find(|one| one["id"] == model);
    let one = named.or(models.first().filter(|_| models.len() == 1))?;
    let names = [
        "max_model_len",
        "context_length",
        "max_context_length",
        "context_window",
        "loaded_context_length",
    ];
    names.iter().find_map(|name| one[name].as_u64()).or(one["meta"]["n_ctx"].as_u64())
}

fn read_props(props: &Value) -> Own {
    let context =
        props["default_generation_settings"]["n_ctx"].as_u64().or(props["n_ctx"].as_u64());
    Own { context, slots: props["total_slots"].as_u64() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn probe(speed: f64, slots: u32) -> Probe {
        let call = Duration::from_secs(1);
        Probe { tokens_per_second: Some(speed), call, slots, schema: SchemaSupport::Obeyed }
    }

    #[test]
    fn flags_follow_from_what_was_measured() {
        let own = |context, slots| Own { context, slots };
        assert!(flags(&probe(50.0, 4), &own(Some(131_072), None)).is_empty());
        assert_eq!(flags(&probe(50.0, 1), &own(None, None)), ["--max-concurrency 1"]);
        assert_eq!(flags(&probe(50.0, 4), &own(None, Some(2))), ["--max-concurrency 2"]);
        assert_eq!(
            flags(&probe(5.0, 1), &own(Some(4_096), Some(1))),
            ["--max-concurrency 1", "--timeout 240", "--max-tokens 1024"]
        );
    }

    #[test]
    fn servers_name_their_context_in_several_ways() {
        for (list, context) in [
            (json!({"data": [{"id": "m", "max_model_len": 4096}]}), Some(4_096)),
            (
                json!({
                    "data": [
                        {"id": "x", "context_length": 1}, {"id": "m", "meta": {"n_ctx": 2_048}}
                    ]
                }),
                Some(2_048),
            ),
            (json!({"data": [{"id": "x", "context_length": 8_192}]}), Some(8_192)),
            (json!({"data": [{"id": "m"}]}), None),
            (json!([]), None),
        ] {
            assert_eq!(read_list(&list, "m"), context, "{list}");
        }
        let props = json!({"default_generation_settings": {"n_ctx": 4_096}, "total_slots": 1});
        assert_eq!(read_props(&props), Own { context: Some(4_096), slots: Some(1) });
    }
}
