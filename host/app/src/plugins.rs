//! Finding and inspecting plugins: by a built-in's name or by a path.

use syrch_core::roles::Role;
use syrch_core::text;
pub use syrch_runtime::{
    CodeCache, CompileFailure, CompileProcess, CompileSettings, LoadError, NameCheck, Probed,
    Toolchain, WorkerProcess, check_names, compile_component, port_names, run_worker,
};
use syrch_runtime::{Origin, Plugin, Runtime, digest, producers, read_component};

use crate::settings::PluginSource;
use crate::{Error, Observer, SearchEvent, Settings, builtin, granted};

/// A plugin that travels inside the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// The name by which flags and strategy files refer to it.
    pub name: &'static str,
    /// The size of its component, in bytes.
    pub bytes: usize,
}

/// The identity, imports and roles of a plugin, found without a role call.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// The source of the plugin.
    pub source: PluginSource,
    /// The sha256 of its bytes, in hex: its identity.
    pub digest: String,
    /// The size of its component, in bytes.
    pub bytes: u64,
    /// True if these are the bytes of a built-in plugin, wherever they were read from.
    pub is_built_in: bool,
    /// True if it may call the model whatever it knows of the data: a built-in one, or one whose
    /// file [`Settings::trust`] names, unless the lock forbids it. The others may not where
    /// [`Settings::rows`] shows no cells.
    pub is_trusted: bool,
    /// The roles that it implements.
    pub roles: Vec<Role>,
    /// The ports that it wants.
    pub imports: Vec<String>,
    /// The name that the plugin gives itself.
    pub name: String,
    /// The version that the plugin gives itself.
    pub version: String,
    /// The description that the plugin gives of itself.
    pub summary: String,
    /// A JSON Schema of its settings.
    pub config_schema: serde_json::Value,
}

/// The built-in plugins, by name.
#[must_use]
pub fn builtins() -> Vec<Builtin> {
    builtin::all().map(|known| Builtin { name: known.name, bytes: known.size }).collect()
}

/// The component of a built-in plugin, as a file of it would hold it; `None` if no built-in plugin
/// has that name.
#[must_use]
pub fn builtin_component(name: &str) -> Option<Vec<u8>> {
    builtin::find(name).map(builtin::Builtin::component)
}

/// The component of a hostile plugin, whose setting `behaviour` chooses what it tries: with it a
/// user sees what the sandbox contains. `None` in a build without plugins.
#[must_use]
pub fn hostile_component() -> Option<Vec<u8>> {
    builtin::hostile_component()
}

/// Loads a plugin and describes it.
///
/// # Errors
/// When there is none of that name, or it is refused.
pub async fn inspect(
    source: &PluginSource,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Inspection, Error> {
    let runtime = runtime(settings)?;
    let source = &granted::resolve(source, settings)?;
    Ok(inspection(source, &load(&runtime, source, observer).await?, settings))
}

/// Has the worker process of a plugin try what it must not be able to do, such as to open a file.
///
/// # Errors
/// When there is no such plugin, it is refused, or [`CompileSettings::worker`] names no process
/// that runs it.
pub async fn probe_worker(
    source: &PluginSource,
    settings: &Settings,
) -> Result<Vec<Probed>, Error> {
    let runtime = runtime(settings)?;
    let plugin = load(&runtime, source, &crate::Silent).await?;
    match plugin.probe_worker().await {
        Some(Ok(probed)) => Ok(probed),
        Some(Err(error)) => Err(Error::Internal(error.to_string())),
        None => Err(Error::Internal(format!("plugin `{source}` has no worker process"))),
    }
}

/// The facts on a component that can be read from its bytes before it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origins {
    /// The toolchain that made it, as far as the file names it.
    pub toolchain: Toolchain,
    /// The languages and tools that the file names, at most 16.
    pub producers: Vec<String>,
    /// True if its code is compiled already, so that loading it takes no time.
    pub is_compiled: bool,
    /// The names of its imports and exports, compared with the contract.
    pub names: Vec<NameCheck>,
}

/// Reads what the bytes of a plugin tell; nothing of it is compiled or run.
///
/// # Errors
/// When there is none of that name, or the file is no component.
pub fn origins(source: &PluginSource, settings: &Settings) -> Result<Origins, Error> {
    let label = source.to_string();
    let source = &granted::resolve(source, settings)?;
    let bytes = match source {
        PluginSource::Builtin(name) => {
            builtin_component(name).ok_or_else(|| unknown_plugin(name))?
        }
        PluginSource::File(path) => {
            read_component(path, &settings.limits).map_err(|error| rejection(&label, error))?
        }
    };
    let digest = digest(&bytes);
    let is_precompiled =
        builtin::find_by_digest(&digest).is_some_and(|known| known.to_precompiled().is_some());
    let toolchain = Toolchain::detect(&bytes);
    let producers = producers(&bytes);
    let names = check_names(&bytes).map_err(|source| Error::PluginRejected {
        plugin: label.clone(),
        toolchain,
        source,
    })?;
    let is_compiled = is_precompiled || runtime(settings)?.is_compiled(&digest);
    Ok(Origins { toolchain, producers, is_compiled, names })
}

fn unknown_plugin(name: &str) -> Error {
    if cfg!(not(feature = "builtins")) {
        return Error::NotBuilt { what: "built-in plugins", feature: "builtins" };
    }
    Error::UnknownPlugin { name: name.to_owned(), similar: text::nearest(name, builtin::names()) }
}

/// Returns the description of a loaded plugin.
pub(crate) fn inspection(
    source: &PluginSource,
    plugin: &Plugin,
    settings: &Settings,
) -> Inspection {
    let identity = plugin.identity();
    let is_built_in = is_built_in(source, plugin);
    Inspection {
        source: source.clone(),
        digest: plugin.digest().to_owned(),
        bytes: plugin.size(),
        is_built_in,
        is_trusted: !is_silenced(source, plugin, settings)
            && (is_built_in || is_named(plugin, settings)),
        roles: plugin.roles().to_vec(),
        imports: plugin.imports().to_vec(),
        name: identity.name.clone(),
        version: identity.version.clone(),
        summary: identity.summary.clone(),
        config_schema: identity.config_schema.clone(),
    }
}

/// Returns whether a plugin may not call a model once it may know something of the data.
pub(crate) fn is_untrusted(source: &PluginSource, plugin: &Plugin, settings: &Settings) -> bool {
    is_silenced(source, plugin, settings)
        || (!settings.rows.shows_cells()
            && !is_built_in(source, plugin)
            && !is_named(plugin, settings))
}

/// Returns whether the lock grants the plugin to send no cell to a model, whatever it reads and
/// whoever trusts it.
fn is_silenced(source: &PluginSource, plugin: &Plugin, settings: &Settings) -> bool {
    let grants = settings.lock.grants(plugin.digest()).ok().flatten();
    matches!(source, PluginSource::File(_)) && grants.is_some_and(|one| one.silence().is_some())
}

/// Returns whether a plugin is built in, by its bytes, which are a plugin's identity: the same
/// component does the same wherever it lies, and a file that was changed since is another.
fn is_built_in(source: &PluginSource, plugin: &Plugin) -> bool {
    matches!(source, PluginSource::Builtin(name) if builtin::find(name).is_some())
        || builtin::find_by_digest(plugin.digest()).is_some()
}

/// Returns whether the user trusts the plugin, which is whether one of the files that the user
/// names holds its bytes. A file that cannot be read does not count.
pub(crate) fn is_named(plugin: &Plugin, settings: &Settings) -> bool {
    settings.trust.iter().any(|path| {
        let is_as_large = std::fs::metadata(path).is_ok_and(|file| file.len() == plugin.size());
        is_as_large
            && read_component(path, &settings.limits)
                .is_ok_and(|bytes| digest(&bytes) == plugin.digest())
    })
}

pub(crate) fn runtime(settings: &Settings) -> Result<Runtime, Error> {
    Runtime::new(settings.limits.clone(), &settings.compile)
        .map_err(|error| Error::Internal(error.to_string()))
}

pub(crate) async fn load(
    runtime: &Runtime,
    source: &PluginSource,
    observer: &dyn Observer,
) -> Result<Plugin, Error> {
    let label = source.to_string();
    let (bytes, known) = match source {
        PluginSource::Builtin(name) => match builtin::find(name) {
            Some(known) => (None, Some(known)),
            None => return Err(unknown_plugin(name)),
        },
        // A file may hold a built-in plugin.
        PluginSource::File(path) => {
            let bytes = read_component(path, runtime.limits())
                .map_err(|source| rejection(&label, source))?;
            let known = builtin::find_by_digest(&digest(&bytes));
            (Some(bytes), known)
        }
    };
    if let Some(code) = known.and_then(builtin::Builtin::to_precompiled) {
        let loaded = runtime.load_precompiled(&label, code).await;
        if let Some(plugin) = loaded.map_err(|error| rejection(&label, error))? {
            return Ok(plugin);
        }
    }
    let bytes = bytes.or_else(|| known.map(builtin::Builtin::component)).unwrap_or_default();
    let origin = if known.is_some() { Origin::BuiltIn } else { Origin::ThirdParty };
    let loaded = runtime
        .load(&label, bytes, origin, &|| {
            observer.event(&SearchEvent::Compiling { plugin: label.clone() })
        })
        .await;
    loaded.map_err(|error| match (rejection(&label, error), source) {
        (Error::PluginRejected { plugin, source, .. }, PluginSource::File(path)) => {
            let toolchain = read_component(path, runtime.limits())
                .map_or_else(|_| Toolchain::default(), |bytes| Toolchain::detect(&bytes));
            Error::PluginRejected { plugin, toolchain, source }
        }
        (error, _) => error,
    })
}

pub(crate) fn rejection(plugin: &str, source: LoadError) -> Error {
    match source {
        // The host's own trouble.
        LoadError::Engine(_) | LoadError::Unavailable(_) => {
            Error::Internal(format!("plugin `{plugin}`: {source}"))
        }
        _ => Error::PluginRejected {
            plugin: plugin.to_owned(),
            toolchain: Toolchain::default(),
            source,
        },
    }
}
