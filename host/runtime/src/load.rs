//! Loading: recognise, hash, compare with the contract, compile or fetch, and ask the plugin for
//! its description.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use syrch_core::roles::Role;
use syrch_core::{CONTRACT_VERSION, Limits};
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

use crate::cache::{self, CodeCache, CompiledCache, WriteCode};
use crate::capacity::{self, Capacity, Size};
use crate::compile::CompileProcess;
use crate::component::{self, Contract};
use crate::contract::{Port, ports_of};
use crate::engine::{Ticker, engine};
use crate::isolate::Worker;
use crate::plugin::{Inner, Plugin};
use crate::process::WorkerProcess;
use crate::release::ReleaseThread;
use crate::session::Guest;
use crate::slices::TimeSlices;
use crate::state::State;
use crate::{LoadError, ports, read, signature};

/// The most plugins whose code is unpacked at once.
const LOADING: usize = 2;
/// The most names of exports in an error.
const SHOWN: usize = 8;
const PACKAGE: &str = "syrch:plugin/";
/// WASI interfaces that are linked, and grant nothing.
const WASI: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// The engine with its linker, which loads any number of plugins.
pub struct Runtime {
    engine: Engine,
    linker: Linker<State>,
    limits: Arc<Limits>,
    cache: Option<CompiledCache>,
    process: Option<CompileProcess>,
    worker: Option<WorkerProcess>,
    /// Allows one child at a time: each may use as much memory as the limit allows.
    compiling: Semaphore,
    loading: Semaphore,
    capacity: Capacity,
    slices: TimeSlices,
    releases: ReleaseThread,
    _ticker: Ticker,
}

/// The settings for compiling components, caching their code and running it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompileSettings {
    /// The place where compiled code is cached; `None` compiles anew at each start.
    pub cache: Option<CodeCache>,
    /// The process that compiles third-party components; `None` compiles in this process, bounded
    /// by time and by checks of the code alone.
    pub process: Option<CompileProcess>,
    /// The process that runs third-party components; `None` runs them in this process.
    pub worker: Option<WorkerProcess>,
}

impl CompileSettings {
    /// Settings that cache compiled code and its key below one folder, which only the user may
    /// write, and compile in this process.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        let cache = CodeCache {
            folder: folder.join("cache"),
            keys: vec![folder.join("state").join("compiled.key")],
        };
        Self { cache: Some(cache), process: None, worker: None }
    }
}

/// The origin of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The component is part of the host.
    BuiltIn,
    /// The component is a file of the user's, and untrusted.
    ThirdParty,
}

/// The code of a component that was compiled when the host was built.
pub struct Precompiled {
    digest: &'static str,
    size: u64,
    code: Code,
}

/// The source of compiled code.
pub enum Code {
    /// The code itself. It is run where it lies if it begins with a page of memory.
    Plain(&'static [u8]),
    /// A function that writes it, on a thread that may block, and does so a second time where the
    /// code cannot be mapped.
    Written(Box<WriteCode<'static>>),
}

impl Precompiled {
    /// The code of the component with this sha256, in hex, and this size in bytes.
    ///
    /// # Safety
    /// The code runs as it is: it must come from wasmtime's compiler and from nobody else.
    #[allow(unsafe_code)]
    #[must_use]
    pub unsafe fn new(digest: &'static str, size: u64, code: Code) -> Self {
        Self { digest, size, code }
    }
}

impl std::fmt::Debug for Precompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Precompiled").field("digest", &self.digest).finish_non_exhaustive()
    }
}

/// A compiled component, with what is known of it before it runs.
struct Loaded {
    component: Component,
    digest: String,
    size: u64,
    roles: Vec<Role>,
    imports: Vec<String>,
    has_known_schema: bool,
    origin: Origin,
}

impl Runtime {
    /// Starts the engine.
    ///
    /// # Errors
    /// When the engine does not work on this machine.
    pub fn new(limits: Limits, compile: &CompileSettings) -> Result<Self, LoadError> {
        fn engine_error(error: &dyn std::fmt::Display) -> LoadError {
            LoadError::Engine(error.to_string())
        }
        // A component with more memories than a share could never be allocated.
        let limits = Limits { memories: limits.memories.min(capacity::SHARE as usize), ..limits };
        let searches = limits.searches;
        let engine = engine(&limits).map_err(|error| engine_error(&error))?;
        let linker = ports::linker(&engine).map_err(|error| engine_error(&error))?;
        let ticker = Ticker::start(&engine).map_err(|error| engine_error(&error))?;
        Ok(Self {
            engine,
            linker,
            limits: Arc::new(limits),
            cache: compile.cache.as_ref().and_then(CompiledCache::open),
            process: compile.process.clone().filter(|_| CompileProcess::IS_SUPPORTED),
            worker: compile.worker.clone(),
            compiling: Semaphore::new(1),
            loading: Semaphore::new(LOADING),
            capacity: Capacity::new(Size::for_searches(searches)),
            slices: TimeSlices::new(),
            releases: ReleaseThread::default(),
            _ticker: ticker,
        })
    }

    /// The limits that are enforced.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Loads a component. It is compared with the contract first and compiled only if the names
    /// fit; `compiling` is called before.
    ///
    /// # Errors
    /// When the component is refused; see [`LoadError`].
    pub async fn load(
        &self,
        name: &str,
        bytes: Vec<u8>,
        origin: Origin,
        compiling: &(dyn Fn() + Sync),
    ) -> Result<Plugin, LoadError> {
        read::recognise(&bytes)?;
        let digest = read::digest(&bytes);
        let size = bytes.len() as u64;
        let Contract { imports, exports } = component::contract(&bytes)?;
        let roles = roles_from_exports(&exports)?;
        let imports = ports_from_imports(&imports, &roles)?;
        let component = self.get_or_compile(&digest, bytes, origin, compiling).await?;
        let has_known_schema = false;
        let loaded = Loaded { component, digest, size, roles, imports, has_known_schema, origin };
        self.describe(name, loaded).await
    }

    /// Loads a component that was compiled when the host was built. `None` when the code does not
    /// fit the machine and the component has to be compiled.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub async fn load_precompiled(
        &self,
        name: &str,
        known: Precompiled,
    ) -> Result<Option<Plugin>, LoadError> {
        let engine = self.engine.clone();
        let code = known.code;
        // Few at a time: the next one works in the memory of the last.
        let permit = self.loading.acquire().await;
        let loaded = tokio::task::spawn_blocking(move || match code {
            Code::Plain(code) => cache::load_plain(&engine, code),
            Code::Written(write) => cache::load(&engine, &*write),
        });
        let loaded = loaded.await;
        drop(permit);
        let Some(component) = loaded.ok().flatten() else { return Ok(None) };
        let of = component.component_type();
        let exports: Vec<String> =
            of.exports(&self.engine).map(|(name, _)| name.to_owned()).collect();
        let imports: Vec<String> =
            of.imports(&self.engine).map(|(name, _)| name.to_owned()).collect();
        let roles = roles_from_exports(&exports)?;
        let imports = ports_from_imports(&imports, &roles)?;
        let digest = known.digest.to_owned();
        let size = known.size;
        let has_known_schema = true;
        let origin = Origin::BuiltIn;
        let loaded = Loaded { component, digest, size, roles, imports, has_known_schema, origin };
        self.describe(name, loaded).await.map(Some)
    }

    /// Returns whether the compiled code of the component with that digest is cached, so that
    /// loading it compiles nothing.
    #[must_use]
    pub fn is_compiled(&self, digest: &str) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.get(&self.engine, digest).is_some())
    }

    /// Links a component and asks it for its description.
    async fn describe(&self, name: &str, loaded: Loaded) -> Result<Plugin, LoadError> {
        let Loaded { component, digest, size, roles, imports, has_known_schema, origin } = loaded;
        let resources = component.resources_required().ok_or_else(|| LoadError::Import {
            import: "a core module".to_owned(),
            detail: "the host offers interfaces, not modules".to_owned(),
        })?;
        let pre = self.link(&component)?;
        let process = self.worker.as_ref().filter(|_| origin == Origin::ThirdParty);
        let worker = process.map(|process| {
            let limits = Arc::clone(&self.limits);
            Worker::new(process.clone(), component, name.to_owned(), roles.clone(), limits)
        });
        let guest = Arc::new(Guest {
            pre,
            capacity: self.capacity.clone(),
            slices: self.slices.clone(),
            releases: self.releases.clone(),
            long_calls: Arc::default(),
            memories: resources.num_memories,
            limits: Arc::clone(&self.limits),
            label: name.to_owned(),
            roles,
        });
        let identity = OnceLock::new();
        let inner = Inner { guest, worker, digest, size, imports, has_known_schema, identity };
        Plugin::describe(inner).await
    }

    async fn get_or_compile(
        &self,
        digest: &str,
        bytes: Vec<u8>,
        origin: Origin,
        compiling: &(dyn Fn() + Sync),
    ) -> Result<Component, LoadError> {
        let cached = || self.cache.as_ref().and_then(|cache| cache.get(&self.engine, digest));
        if let Some(component) = cached() {
            return Ok(component);
        }
        compiling();
        let bytes = match origin {
            Origin::BuiltIn => bytes,
            Origin::ThirdParty => self.check(bytes).await?,
        };
        let code = match &self.process {
            Some(process) if origin == Origin::ThirdParty => {
                let _permit = self.compiling.acquire().await;
                process.compile(&bytes, &self.limits).await?
            }
            _ => self.compile_here(bytes).await?,
        };
        if let Some(cache) = &self.cache {
            let _ = cache.put(&self.engine, digest, &code);
        }
        // From the file it is mapped, not copied.
        cached().or_else(|| cache::load(&self.engine, &|file| file.write_all(&code))).ok_or_else(
            || match origin {
                Origin::BuiltIn => {
                    LoadError::Engine("the compiled code does not fit this engine".to_owned())
                }
                // The compiler takes memories and tables of any size; the engine here does not.
                Origin::ThirdParty => LoadError::Broken(
                    "a memory or table of it is larger than the host offers".to_owned(),
                ),
            },
        )
    }

    /// Checks the cost of compiling a component, outside of the async threads.
    async fn check(&self, bytes: Vec<u8>) -> Result<Vec<u8>, LoadError> {
        let checked = tokio::task::spawn_blocking(move || component::check(&bytes).map(|()| bytes));
        checked.await.map_err(|error| LoadError::Broken(error.to_string()))?
    }

    async fn compile_here(&self, bytes: Vec<u8>) -> Result<Vec<u8>, LoadError> {
        let engine = self.engine.clone();
        // A compilation cannot be interrupted: over its time it is left to end alone, and its
        // result is dropped.
        let compilation = tokio::task::spawn_blocking(move || engine.precompile_component(&bytes));
        tokio::time::timeout(self.limits.compile, compilation)
            .await
            .map_err(|_| {
                LoadError::CompileLimit(format!("{} s", self.limits.compile.as_secs_f64()))
            })?
            .map_err(|error| LoadError::Broken(error.to_string()))?
            .map_err(|error| LoadError::Broken(chain(&error)))
    }

    fn link(&self, component: &Component) -> Result<InstancePre<State>, LoadError> {
        self.linker.instantiate_pre(component).map_err(|error| {
            let text = chain(&error);
            let mut names = text.split('`').skip(1).step_by(2);
            let import = names.next().unwrap_or("an import").to_owned();
            let compared =
                names.find_map(|name| signature::compare(&self.engine, component, &import, name));
            let detail = match compared {
                Some(compared) => format!("{compared} ({text})"),
                None => text.clone(),
            };
            LoadError::Import { import, detail }
        })
    }
}

fn chain(error: &wasmtime::Error) -> String {
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The roles that a component exports, all of this host's version.
fn roles_from_exports(exports: &[String]) -> Result<Vec<Role>, LoadError> {
    fn export_name(name: &str) -> String {
        format!("{PACKAGE}{name}@{CONTRACT_VERSION}")
    }
    for export in exports.iter().filter(|export| export.starts_with(PACKAGE)) {
        check_version(export)?;
    }
    let roles: Vec<Role> =
        Role::ALL.into_iter().filter(|role| exports.contains(&export_name(role.name()))).collect();
    if roles.is_empty() {
        return Err(LoadError::NoRole { exports: exports.iter().take(SHOWN).cloned().collect() });
    }
    if !exports.contains(&export_name("about")) {
        return Err(LoadError::Export {
            export: export_name("about"),
            detail: "is missing".to_owned(),
        });
    }
    Ok(roles)
}

fn check_version(name: &str) -> Result<(), LoadError> {
    let (interface, version) = name.split_once('@').unwrap_or((name, "none"));
    if version == CONTRACT_VERSION {
        return Ok(());
    }
    Err(LoadError::Version {
        found: name.to_owned(),
        offered: format!("{interface}@{CONTRACT_VERSION}"),
    })
}

/// The ports that a component imports, all of which must be in the worlds of its roles.
fn ports_from_imports(imports: &[String], roles: &[Role]) -> Result<Vec<String>, LoadError> {
    let allowed: Vec<&str> =
        roles.iter().flat_map(|role| ports_of(*role)).map(|port| port.name()).collect();
    let mut wanted = Vec::new();
    for name in imports {
        let Some(rest) = name.strip_prefix(PACKAGE) else {
            if WASI.iter().any(|prefix| name.starts_with(prefix)) && name.contains("@0.2.") {
                continue;
            }
            let detail =
                "the host offers the ports of syrch:plugin and, with nothing behind them, WASI 0.2"
                    .to_owned();
            return Err(LoadError::Import { import: name.clone(), detail });
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
            return Err(LoadError::Import { import: name.clone(), detail });
        }
        wanted.push(port.to_owned());
    }
    Ok(wanted)
}

/// An interface that a component imports or exports, compared with the contract by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameCheck {
    /// The name of the interface with its version.
    pub name: String,
    /// True if the component exports it; otherwise it imports it.
    pub is_export: bool,
    /// The reason why it does not fit; `None` if it fits.
    pub wrong: Option<String>,
}

/// Compares the names of all that a component imports and exports with the contract. Nothing is
/// compiled; the types of functions are compared when the component is loaded.
///
/// # Errors
/// When the bytes are no component.
pub fn check_names(bytes: &[u8]) -> Result<Vec<NameCheck>, LoadError> {
    read::recognise(bytes)?;
    let Contract { imports, exports } = component::contract(bytes)?;
    fn error_text(checked: Result<(), LoadError>) -> Option<String> {
        checked.err().map(|error| error.to_string())
    }
    fn is_role(name: &str, role: &Role) -> bool {
        signature::plain(name) == role.name()
    }
    let roles: Vec<Role> = Role::ALL
        .into_iter()
        .filter(|role| exports.iter().any(|name| is_role(name, role)))
        .collect();
    let exported = exports.iter().filter(|name: &&String| name.starts_with(PACKAGE)).map(|name| {
        let is_known =
            signature::plain(name) == "about" || Role::ALL.iter().any(|role| is_role(name, role));
        let wrong = error_text(check_version(name));
        let unknown = (!is_known).then(|| "the contract has no such role".to_owned());
        NameCheck { name: name.clone(), is_export: true, wrong: wrong.or(unknown) }
    });
    let imported = imports.iter().map(|name| {
        let wrong = error_text(ports_from_imports(std::slice::from_ref(name), &roles).map(drop));
        NameCheck { name: name.clone(), is_export: false, wrong }
    });
    Ok(exported.chain(imported).collect())
}

/// The names of the ports that the world of a role imports: all that a plugin may reach in it.
#[must_use]
pub fn port_names(role: Role) -> Vec<&'static str> {
    ports_of(role).iter().map(|port| port.name()).collect()
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
