//! Loading: recognise, hash, compile or fetch, compare with the contract, and let the plugin say who it is.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use syrch_core::roles::Role;
use syrch_core::{CONTRACT_VERSION, Limits};
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker, types};

use crate::cache::CompiledCache;
use crate::contract::{Port, ports_of};
use crate::engine::{Ticker, engine};
use crate::plugin::{Inner, Plugin};
use crate::slots::{self, Slots};
use crate::state::State;
use crate::{LoadError, ports, read};

const PACKAGE: &str = "syrch:plugin/";
/// WASI interfaces that are linked, with nothing behind them.
const WASI: [&str; 6] = ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// The engine with its linker: made once, it loads any number of plugins.
pub struct Runtime {
    engine: Engine,
    linker: Linker<State>,
    limits: Arc<Limits>,
    cache: Option<CompiledCache>,
    slots: Slots,
    _ticker: Ticker,
}

impl Runtime {
    /// Starts the engine. Compiled plugins are kept below `cache_dir`, if one is given and is private to the user.
    ///
    /// # Errors
    /// When the engine does not work on this machine.
    pub fn new(limits: Limits, cache_dir: Option<&Path>) -> Result<Self, LoadError> {
        let failed = |error: &dyn std::fmt::Display| LoadError::Engine(error.to_string());
        let engine = engine(&limits).map_err(|error| failed(&error))?;
        let linker = ports::linker(&engine).map_err(|error| failed(&error))?;
        let ticker = Ticker::start(&engine).map_err(|error| failed(&error))?;
        let cache = cache_dir.and_then(CompiledCache::open);
        let slots = Slots::new(slots::OF_A_KIND);
        Ok(Self { engine, linker, limits: Arc::new(limits), cache, slots, _ticker: ticker })
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Loads a component. `compiling` is called if it has to be compiled first.
    ///
    /// # Errors
    /// Why it is refused; see [`LoadError`].
    pub async fn load(&self, name: &str, bytes: Vec<u8>, compiling: &(dyn Fn() + Sync)) -> Result<Plugin, LoadError> {
        read::recognise(&bytes)?;
        let digest = read::digest(&bytes);
        let size = bytes.len() as u64;
        let component = self.compiled(&digest, bytes, compiling).await?;
        let ty = component.component_type();
        let roles = exported_roles(&self.engine, &ty)?;
        let imports = imported_ports(&self.engine, &ty, &roles)?;
        let inner = Inner {
            pre: self.link(&component)?,
            slots: self.slots.clone(),
            limits: Arc::clone(&self.limits),
            label: name.to_owned(),
            digest,
            size,
            roles,
            imports,
            identity: OnceLock::new(),
        };
        Plugin::describe(inner).await
    }

    async fn compiled(
        &self,
        digest: &str,
        bytes: Vec<u8>,
        compiling: &(dyn Fn() + Sync),
    ) -> Result<Component, LoadError> {
        if let Some(component) = self.cache.as_ref().and_then(|cache| cache.get(&self.engine, digest)) {
            return Ok(component);
        }
        compiling();
        let engine = self.engine.clone();
        // A compilation cannot be interrupted: over its time it is left to end alone, and its result is dropped.
        let compilation = tokio::task::spawn_blocking(move || Component::from_binary(&engine, &bytes));
        let component = tokio::time::timeout(self.limits.compile, compilation)
            .await
            .map_err(|_| LoadError::CompileTimeout(self.limits.compile))?
            .map_err(|error| LoadError::Broken(error.to_string()))?
            .map_err(|error| LoadError::Broken(chain(&error)))?;
        if let Some(cache) = &self.cache {
            let _ = cache.put(&self.engine, digest, &component);
        }
        Ok(component)
    }

    fn link(&self, component: &Component) -> Result<InstancePre<State>, LoadError> {
        self.linker.instantiate_pre(component).map_err(|error| {
            let text = chain(&error);
            let import = text.split('`').nth(1).unwrap_or("an import").to_owned();
            LoadError::Import { import, detail: text }
        })
    }
}

fn chain(error: &wasmtime::Error) -> String {
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The roles that a component exports, all of this host's version.
fn exported_roles(engine: &Engine, ty: &types::Component) -> Result<Vec<Role>, LoadError> {
    let offered = |name: &str| format!("{PACKAGE}{name}@{CONTRACT_VERSION}");
    let exports: Vec<String> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
    for export in exports.iter().filter(|export| export.starts_with(PACKAGE)) {
        check_version(export)?;
    }
    let roles: Vec<Role> = Role::ALL.into_iter().filter(|role| exports.contains(&offered(role.name()))).collect();
    if roles.is_empty() {
        return Err(LoadError::NoRole { exports });
    }
    if !exports.contains(&offered("about")) {
        return Err(LoadError::Export { export: offered("about"), detail: "is missing".to_owned() });
    }
    Ok(roles)
}

fn check_version(name: &str) -> Result<(), LoadError> {
    let (interface, version) = name.split_once('@').unwrap_or((name, "none"));
    if version == CONTRACT_VERSION {
        return Ok(());
    }
    Err(LoadError::Version { found: name.to_owned(), offered: format!("{interface}@{CONTRACT_VERSION}") })
}

/// The ports that a component imports; all of them must be in the worlds of its roles.
fn imported_ports(engine: &Engine, ty: &types::Component, roles: &[Role]) -> Result<Vec<String>, LoadError> {
    let allowed: Vec<&str> = roles.iter().flat_map(|role| ports_of(*role)).map(|port| port.name()).collect();
    let mut wanted = Vec::new();
    for (name, _) in ty.imports(engine) {
        let Some(rest) = name.strip_prefix(PACKAGE) else {
            if WASI.iter().any(|prefix| name.starts_with(prefix)) && name.contains("@0.2.") {
                continue;
            }
            let detail = "the host offers the ports of syrch:plugin and, with nothing behind them, WASI 0.2".to_owned();
            return Err(LoadError::Import { import: name.to_owned(), detail });
        };
        check_version(name)?;
        let port = rest.split('@').next().unwrap_or_default();
        if port == "types" {
            continue;
        }
        if !allowed.contains(&port) {
            let roles = roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
            let known = Port::ALL.iter().any(|known| known.name() == port);
            let detail = if known {
                format!("the role {roles} may import {}", list(&allowed))
            } else {
                "the contract has no such port".to_owned()
            };
            return Err(LoadError::Import { import: name.to_owned(), detail });
        }
        wanted.push(port.to_owned());
    }
    Ok(wanted)
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
