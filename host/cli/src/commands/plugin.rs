//! `plugin list` and `plugin inspect`: the plugins with their roles, imports and settings.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Value, json};
use syrch::plugins::{self, Inspection};
use syrch::settings::PluginSource;

use super::Context;
use super::Run;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::Grid;

/// The commands of `plugin`.
#[derive(Subcommand)]
pub(crate) enum PluginCommand {
    /// List the built-in plugins
    #[command(after_help = Exit::help())]
    List,
    /// Show the roles, imports and settings of a plugin
    #[command(after_help = Exit::help())]
    Inspect {
        /// The path of a component, or a built-in's name
        #[arg(value_name = "PATH|NAME")]
        plugin: String,
    },
}

impl Run for PluginCommand {
    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        match self {
            Self::Inspect { plugin } => match PluginSource::parse(plugin) {
                PluginSource::File(path) => vec![("a plugin in use", path)],
                PluginSource::Builtin(_) => Vec::new(),
            },
            Self::List => Vec::new(),
        }
    }

    async fn run(self, context: Context) -> Outcome {
        match self {
            PluginCommand::List => list(&context).await,
            PluginCommand::Inspect { plugin } => inspect(&context, &plugin).await,
        }
    }
}

async fn inspected(context: &Context, source: &PluginSource) -> Outcome<Inspection> {
    let watch = Watch::new(Arc::clone(&context.console));
    Ok(plugins::inspect(source, &context.config.effective.settings, &watch).await?)
}

async fn list(context: &Context) -> Outcome {
    let mut found = Vec::new();
    for builtin in plugins::builtins() {
        found.push(inspected(context, &PluginSource::Builtin(builtin.name.to_string())).await?);
    }
    let mut grid = Grid::new(["name", "version", "roles", "digest", "summary"]);
    for one in &found {
        grid.rows.push(vec![
            json!(one.name),
            json!(one.version),
            json!(roles(one)),
            json!(one.digest.get(..12).unwrap_or(&one.digest)),
            json!(one.summary),
        ]);
    }
    context
        .rows(grid, || json!({"schema": "syrch.plugins/1", "plugins": found.iter().map(sheet).collect::<Vec<_>>()}))?;
    Ok(Exit::Answered)
}

fn roles(one: &Inspection) -> Vec<&'static str> {
    one.roles.iter().map(|role| role.name()).collect()
}

/// The properties of a plugin, as a JSON object.
fn sheet(one: &Inspection) -> Value {
    json!({
        "name": one.name,
        "version": one.version,
        "summary": one.summary,
        "source": one.source.to_string(),
        "digest": one.digest,
        "bytes": one.bytes,
        "built_in": one.is_built_in,
        "trusted": one.is_trusted,
        "roles": roles(one),
        "imports": one.imports,
        "config_schema": one.config_schema,
    })
}

async fn inspect(context: &Context, plugin: &str) -> Outcome {
    let one = inspected(context, &PluginSource::parse(plugin)).await?;
    let mut grid = Grid::new(["property", "value"]);
    let Value::Object(properties) = sheet(&one) else { return Ok(Exit::Unexpected) };
    for (name, value) in properties.into_iter().filter(|(name, _)| name != "config_schema") {
        grid.rows.push(vec![json!(name), value]);
    }
    grid.rows.extend(settings(&one.config_schema));
    context.rows(grid, || {
        let mut document = json!({"schema": "syrch.plugin/1"});
        if let (Value::Object(document), Value::Object(sheet)) = (&mut document, sheet(&one)) {
            document.extend(sheet);
        }
        document
    })?;
    Ok(Exit::Answered)
}

/// A row for each of the plugin's own settings.
fn settings(schema: &Value) -> Vec<Vec<Value>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let row = |(key, about): (&String, &Value)| {
        let text = |field: &str| about.get(field).filter(|value| !value.is_null());
        let kind = text("type").map(crate::sink::plain).unwrap_or_default();
        let default = text("default").map(|value| format!(" = {value}")).unwrap_or_default();
        let words = text("description").map(|value| format!(": {}", crate::sink::plain(value))).unwrap_or_default();
        vec![json!(format!("setting {key}")), json!(format!("{kind}{default}{words}"))]
    };
    properties.into_iter().flatten().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_show_type_default_and_words() {
        let schema =
            json!({"properties": {"width": {"type": "integer", "default": 3, "description": "how wide"}, "odd": true}});
        assert_eq!(
            settings(&schema),
            [[json!("setting width"), json!("integer = 3: how wide")], [json!("setting odd"), json!("")]]
        );
        assert!(settings(&json!({})).is_empty());
    }
}
