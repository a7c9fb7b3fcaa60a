//! Finding and inspecting plugins: by a built-in's name or by a path.

use syrch_core::roles::Role;
use syrch_core::text;
use syrch_runtime::{Plugin, Runtime, read_component};

use crate::{Error, LoadError, Observer, PluginSource, SearchEvent, Settings, builtin};

/// A plugin that travels inside the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// The size of its component, in bytes.
    pub bytes: usize,
}

/// What a plugin is, wants and plays, without running any of its roles.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Where it came from.
    pub source: PluginSource,
    /// The sha256 of its bytes, in hex: its identity.
    pub digest: String,
    /// The size of its component, in bytes.
    pub bytes: u64,
    /// The roles that it plays.
    pub roles: Vec<Role>,
    /// The ports that it wants.
    pub imports: Vec<String>,
    /// Its own name.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// What it says it does.
    pub summary: String,
    /// A JSON Schema of its settings.
    pub config_schema: serde_json::Value,
}

/// The built-in plugins, by name.
#[must_use]
pub fn builtins() -> Vec<Builtin> {
    builtin::names().map(|name| Builtin { name, bytes: builtin::find(name).map_or(0, <[u8]>::len) }).collect()
}

/// Loads a plugin and tells what it is.
///
/// # Errors
/// When there is none of that name, or it is refused.
pub async fn inspect(source: &PluginSource, settings: &Settings, observer: &dyn Observer) -> Result<Inspection, Error> {
    let runtime = runtime(settings)?;
    Ok(inspection(source, &load(&runtime, source, observer).await?))
}

/// What a loaded plugin is.
pub(crate) fn inspection(source: &PluginSource, plugin: &Plugin) -> Inspection {
    let identity = plugin.identity();
    Inspection {
        source: source.clone(),
        digest: plugin.digest().to_owned(),
        bytes: plugin.size(),
        roles: plugin.roles().to_vec(),
        imports: plugin.imports().to_vec(),
        name: identity.name.clone(),
        version: identity.version.clone(),
        summary: identity.summary.clone(),
        config_schema: identity.config_schema.clone(),
    }
}

pub(crate) fn runtime(settings: &Settings) -> Result<Runtime, Error> {
    Runtime::new(settings.limits.clone(), settings.cache_dir.as_deref())
        .map_err(|error| Error::Internal(error.to_string()))
}

pub(crate) async fn load(runtime: &Runtime, source: &PluginSource, observer: &dyn Observer) -> Result<Plugin, Error> {
    let label = source.to_string();
    let bytes = match source {
        PluginSource::Builtin(name) => match builtin::find(name) {
            Some(bytes) => bytes.to_vec(),
            None => {
                return Err(Error::UnknownPlugin {
                    name: name.clone(),
                    similar: text::nearest(name, builtin::names()),
                });
            }
        },
        PluginSource::File(path) => {
            read_component(path, runtime.limits()).map_err(|source| rejected(&label, source))?
        }
    };
    let compiling = || observer.event(&SearchEvent::Compiling { plugin: label.clone() });
    runtime.load(&label, bytes, &compiling).await.map_err(|source| rejected(&label, source))
}

pub(crate) fn rejected(plugin: &str, source: LoadError) -> Error {
    Error::PluginRejected { plugin: plugin.to_owned(), source }
}
