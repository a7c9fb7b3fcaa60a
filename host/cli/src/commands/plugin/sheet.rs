//! The properties of a plugin that `plugin list` and `plugin inspect` show.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use syrch::plugins::{self, Inspection};
use syrch::settings::PluginSource;

use super::{Context, PLUGIN};
use crate::console::progress::Watch;
use crate::failure::Outcome;

/// Loads a plugin and reads its description.
pub(super) async fn inspect_plugin(
    context: &Context,
    source: &PluginSource,
) -> Outcome<Inspection> {
    let watch = Watch::new(Arc::clone(&context.console));
    Ok(plugins::inspect(source, &context.config.effective.settings, &watch).await?)
}

/// The file of a plugin, if it is one: `-o` must not replace it.
pub(super) fn files(plugin: &str) -> Option<(&'static str, PathBuf)> {
    match PluginSource::parse(plugin) {
        PluginSource::File(path) => Some((PLUGIN, path)),
        PluginSource::Builtin(_) => None,
    }
}

/// The names of the roles that a plugin implements.
pub(super) fn roles(one: &Inspection) -> Vec<&'static str> {
    one.roles.iter().map(|role| role.name()).collect()
}

/// The properties of a plugin, as a JSON object.
pub(in crate::commands) fn sheet(one: &Inspection) -> Value {
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
