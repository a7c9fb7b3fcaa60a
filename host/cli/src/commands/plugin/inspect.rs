//! `plugin inspect`: the roles, imports and settings of a plugin, what it is granted, and what made
//! it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use syrch::Error;
use syrch::plugins::{self, Inspection, Origins};
use syrch::settings::PluginSource;
use syrch::syrch_core::Limits;

use super::sheet::{inspect_plugin, sheet};
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::Grid;

#[derive(Args)]
pub(crate) struct InspectArgs {
    /// The path of a component, or a built-in's name
    #[arg(value_name = "PATH|NAME")]
    plugin: String,
}

impl Run for InspectArgs {
    const LOADS_PLUGINS: bool = true;

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        super::sheet::files(&self.plugin).into_iter().collect()
    }

    async fn run(self, context: Context) -> Outcome {
        let source = PluginSource::parse(&self.plugin);
        let effective = context.config.effective.settings.clone();
        let read = tokio::task::spawn_blocking({
            let source = source.clone();
            move || plugins::origins(&source, &effective)
        });
        let origins = read.await.map_err(|error| Error::Internal(error.to_string()))?;
        let one = inspect_plugin(&context, &source).await?;
        // What refuses the bytes of a plugin refuses it when it is loaded, too, with more to say.
        let origins = origins?;
        let mut grid = Grid::new(["property", "value"]);
        let limits = &context.config.effective.settings.limits;
        let Value::Object(mut properties) = sheet(&one) else { return Ok(Exit::Unexpected) };
        let lock = &context.config.effective.settings.lock;
        let grants = lock.grants(&one.digest)?.map(|grants| grants.list_words());
        let Value::Object(others) = details(&one, &origins, limits, grants) else {
            return Ok(Exit::Unexpected);
        };
        properties.extend(others);
        let document = properties.clone();
        for (name, value) in properties.into_iter().filter(|(name, _)| name != "config_schema") {
            match value {
                Value::Object(limits) => {
                    grid.rows.extend(limits.into_iter().map(|(limit, value): (String, Value)| {
                        vec![json!(limit.replace('_', " ")), value]
                    }));
                }
                value => grid.rows.push(vec![json!(name), value]),
            }
        }
        grid.rows.extend(settings(&one.config_schema));
        context.rows(grid, || {
            let mut whole = json!({"schema": "syrch.plugin/1"});
            if let Value::Object(whole) = &mut whole {
                whole.extend(document);
            }
            whole
        })?;
        Ok(Exit::Answered)
    }
}

/// Returns the properties that `plugin inspect` shows besides those of `plugin list`.
/// `grants` are those of the lock, of a plugin that was added.
fn details(
    one: &Inspection,
    origins: &Origins,
    limits: &Limits,
    grants: Option<Vec<String>>,
) -> Value {
    let reachable: BTreeSet<&str> =
        one.roles.iter().flat_map(|role| plugins::port_names(*role)).collect();
    json!({
        "roles_may_reach": reachable,
        "granted": grants,
        "language": origins.toolchain.language(),
        "made_by": origins.producers,
        "compiled": origins.is_compiled,
        "limits": {
            "memory_bytes": limits.memory,
            "cpu_seconds_per_call": limits.cpu_per_call.as_secs_f64(),
            "idle_seconds": limits.idle.as_secs_f64(),
            "stack_bytes": limits.wasm_stack,
            "handles": limits.handles,
            "bytes_in_one_call": limits.hostcall_bytes,
        },
    })
}

/// A row for each of the plugin's own settings.
fn settings(schema: &Value) -> Vec<Vec<Value>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(key, about): (&String, &Value)| {
            let text = |field: &str| about.get(field).filter(|value| !value.is_null());
            let kind = text("type").map(crate::sink::plain).unwrap_or_default();
            let default = text("default").map(|value| format!(" = {value}")).unwrap_or_default();
            let words = text("description")
                .map(|value| format!(": {}", crate::sink::plain(value)))
                .unwrap_or_default();
            vec![json!(format!("setting {key}")), json!(format!("{kind}{default}{words}"))]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_show_type_default_and_words() {
        let schema = json!({
            "properties": {
                "width": {"type": "integer", "default": 3, "description": "how wide"}, "odd": true
            }
        });
        assert_eq!(
            settings(&schema),
            [
                [json!("setting width"), json!("integer = 3: how wide")],
                [json!("setting odd"), json!("")]
            ]
        );
        assert!(settings(&json!({})).is_empty());
    }
}
