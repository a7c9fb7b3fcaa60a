//! A loaded plugin: its description, and the stores in which its roles are called.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use syrch_core::roles::{Call, Role};
use syrch_core::{CONTRACT_VERSION, Limits, RoleError, text, validate};
use syrch_schema::{Patterns, Schema};
use tokio::task::JoinSet;
use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Store, UpdateDeadline};

use crate::LoadError;
use crate::bindings::exports::syrch::plugin as export;
use crate::capacity::Capacity;
use crate::convert::Conv;
use crate::error::role_error;
use crate::forward::Remote;
use crate::isolate::Worker;
use crate::job::{RoleCall, RoleResult};
use crate::liveness::Liveness;
use crate::process::Probed;
use crate::release::{OwnedStore, ReleaseThread};
use crate::signature;
use crate::slices::{self, LongCalls, TimeSlices};
use crate::state::State;
use crate::wasi::{Printed, deny_all};

/// A plugin's description of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The plugin's name. It is a label; the digest identifies the plugin.
    pub name: String,
    /// The version that the plugin reports, which may be empty.
    pub version: String,
    /// A description of the plugin in a sentence.
    pub summary: String,
    /// A JSON Schema of the plugin's settings.
    pub config_schema: serde_json::Value,
    /// The schema as the plugin wrote it.
    pub(crate) schema_text: String,
}

/// A plugin that was loaded and compared with the contract. Cheap to clone.
#[derive(Clone)]
pub struct Plugin {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) pre: InstancePre<State>,
    pub(crate) capacity: Capacity,
    pub(crate) slices: TimeSlices,
    pub(crate) releases: ReleaseThread,
    pub(crate) long_calls: Arc<LongCalls>,
    /// The process in which the plugin runs; `None` if it runs in this one.
    pub(crate) worker: Option<Worker>,
    /// The number of linear memories of a store.
    pub(crate) memories: u32,
    pub(crate) limits: Arc<Limits>,
    pub(crate) label: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
    pub(crate) roles: Vec<Role>,
    pub(crate) imports: Vec<String>,
    /// True if its schema of settings is known to be one and to demand none, as tests show of
    /// plugins that came with the host: then it is compiled only where there are settings to check.
    pub(crate) has_known_schema: bool,
    pub(crate) identity: OnceLock<Identity>,
}

impl Plugin {
    /// Asks the plugin for its description.
    pub(crate) async fn describe(inner: Inner) -> Result<Self, LoadError> {
        beside_others(async move {
            let inner = Arc::new(inner);
            let described = match &inner.worker {
                Some(worker) => worker.describe().await?,
                None => inner.describe().await?,
            };
            let _ = inner.identity.set(identity_of(described, &inner).await?);
            Ok(Self { inner })
        })
        .await
    }

    /// Has the worker process of the plugin try what it must not be able to do; `None` if the
    /// plugin runs in this process.
    ///
    /// # Errors
    /// When the worker cannot be started, or ends.
    pub async fn probe_worker(&self) -> Option<Result<Vec<Probed>, RoleError>> {
        Some(self.inner.worker.as_ref()?.probe().await)
    }

    /// The plugin's description of itself.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        const UNKNOWN: &Identity = &Identity {
            name: String::new(),
            version: String::new(),
            summary: String::new(),
            config_schema: serde_json::Value::Null,
            schema_text: String::new(),
        };
        self.inner.identity.get().unwrap_or(UNKNOWN)
    }

    /// The sha256 of the plugin's bytes, in hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// The size of the plugin's file, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.inner.size
    }

    /// The roles that the plugin implements.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.inner.roles
    }

    /// The ports that the plugin imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.inner.imports
    }

    /// Assigns the plugin a role and settings. The settings are checked against its schema, and the
    /// plugin itself must accept them.
    ///
    /// # Errors
    /// When the plugin does not implement the role, or refuses the settings.
    pub async fn configure(
        &self,
        role: Role,
        config: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Configured, LoadError> {
        if !self.inner.roles.contains(&role) {
            let implemented =
                self.inner.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
            return Err(LoadError::WrongRole { wanted: role.name().to_owned(), implemented });
        }
        let is_empty = config.is_empty();
        let config = serde_json::Value::Object(config.clone());
        let plugin = self.clone();
        beside_others(async move {
            if !(plugin.inner.has_known_schema && is_empty) {
                check_config(&plugin.identity().schema_text, &config, &plugin.inner.limits).await?;
            }
            let config = config.to_string();
            let configured = match &plugin.inner.worker {
                Some(worker) => worker.configure(&config).await,
                None => plugin.inner.configure(&config).await,
            };
            configured.map_err(|error| match error {
                RoleError::Failure { .. } => LoadError::Config(error.to_string()),
                _ => to_load_error(error),
            })?;
            Ok(Configured { plugin, role, config: config.into(), used: Arc::default() })
        })
        .await
    }
}

impl Inner {
    /// Compares the types of the plugin's functions with the contract, and asks it for its
    /// description.
    pub(crate) async fn describe(self: &Arc<Self>) -> Result<Description, LoadError> {
        let mut session = Session::open(self, Caller::Nobody).await.map_err(to_load_error)?;
        session.check_exports(self)?;
        let described = session.describe().await.map_err(to_load_error)?;
        let export::about::Identity { name, version, summary, config_schema } = described;
        Ok(Description { name, version, summary, config_schema })
    }

    /// Asks the plugin whether it accepts these settings.
    pub(crate) async fn configure(self: &Arc<Self>, config: &str) -> Result<(), RoleError> {
        Session::open(self, Caller::Nobody).await?.configure(config).await
    }
}

/// The description that a plugin returned, unchecked.
#[derive(Serialize, Deserialize)]
pub(crate) struct Description {
    name: String,
    version: String,
    summary: String,
    config_schema: String,
}

/// The caller of a guest.
pub(crate) enum Caller {
    /// The host, while the plugin describes or configures itself.
    Nobody,
    /// A search of this process.
    Here(Role, Call),
    /// A search of the host whose worker this process is.
    Host(CallLimits, Remote),
}

/// The facts of a role call that its store is made of.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct CallLimits {
    pub(crate) role: Option<Role>,
    /// A number that calls of the same search share.
    pub(crate) search: usize,
    pub(crate) seed: u64,
    pub(crate) memory: Option<usize>,
    pub(crate) cpu: Option<Duration>,
}

impl CallLimits {
    pub(crate) fn new(role: Role, call: &Call) -> Self {
        Self {
            role: Some(role),
            // All calls of a search charge the same ledger.
            search: Arc::as_ptr(&call.ledger).addr(),
            seed: call.ports.run.seed(),
            memory: call.memory,
            cpu: call.cpu,
        }
    }
}

/// The limits of a role call, of which its plugin may be granted less than others.
pub(crate) fn narrow_limits(limits: &Arc<Limits>, call: &CallLimits) -> Arc<Limits> {
    let memory = call.memory.filter(|memory| *memory < limits.memory);
    let cpu = call.cpu.filter(|cpu| *cpu < limits.cpu_per_call);
    if memory.is_none() && cpu.is_none() {
        return Arc::clone(limits);
    }
    Arc::new(Limits {
        memory: memory.unwrap_or(limits.memory),
        cpu_per_call: cpu.unwrap_or(limits.cpu_per_call),
        ..Limits::clone(limits)
    })
}

/// Runs a part of loading as a task of its own, which ends with the future: a search loads several
/// plugins at once.
fn beside_others<T: Send + 'static>(
    part: impl Future<Output = Result<T, LoadError>> + Send + 'static,
) -> BoxFuture<'static, Result<T, LoadError>> {
    let mut task = JoinSet::new();
    task.spawn(part);
    Box::pin(async move {
        match task.join_next().await {
            Some(Ok(loaded)) => loaded,
            Some(Err(error)) => Err(LoadError::Engine(error.to_string())),
            None => Err(LoadError::Engine("the task that loads it is gone".to_owned())),
        }
    })
}

/// The load error for a call that failed while the plugin was loaded.
pub(crate) fn to_load_error(error: RoleError) -> LoadError {
    match error {
        RoleError::Unavailable { .. } => LoadError::Unavailable(error.to_string()),
        _ => LoadError::About(error.to_string()),
    }
}

async fn identity_of(described: Description, inner: &Inner) -> Result<Identity, LoadError> {
    let limits = &inner.limits;
    fn description_error(what: String) -> LoadError {
        LoadError::About(format!("its description is unusable: {what}"))
    }
    let Description { name, version, summary, config_schema } = described;
    if name.is_empty() || name.len() > limits.id_bytes || version.len() > limits.id_bytes {
        return Err(description_error(format!(
            "name and version are 1 to {} bytes",
            limits.id_bytes
        )));
    }
    if !inner.has_known_schema {
        Schema::prepare(&config_schema, Patterns::Refused, limits)
            .await
            .map_err(|error| description_error(format!("`config-schema`: {error}")))?;
    }
    let schema_text = config_schema;
    let config_schema =
        serde_json::from_str(&schema_text).map_err(|error| description_error(error.to_string()))?;
    let summary = text::clip(&summary, limits.log_line).to_owned();
    Ok(Identity { name, version, summary, config_schema, schema_text })
}

/// Checks settings against the plugin's schema.
async fn check_config(
    schema: &str,
    config: &serde_json::Value,
    limits: &Limits,
) -> Result<(), LoadError> {
    const SHOWN: usize = 8;
    let schema = Schema::prepare(schema, Patterns::Refused, limits)
        .await
        .map_err(|error| LoadError::Config(error.to_string()))?;
    let errors = schema.errors(config, SHOWN);
    if errors.is_empty() { Ok(()) } else { Err(LoadError::Config(errors.join("; "))) }
}

/// The CPU time and the memory that a plugin has used, over all calls of one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// The CPU time of all calls.
    pub cpu: Duration,
    /// The most linear memory that one call had, in bytes.
    pub memory_peak: u64,
}

#[derive(Default)]
struct UsedCells {
    cpu_micros: AtomicU64,
    memory_peak: AtomicU64,
}

impl UsedCells {
    /// Adds what one call used.
    fn add(&self, used: Used) {
        let cpu = u64::try_from(used.cpu.as_micros()).unwrap_or(u64::MAX);
        self.cpu_micros.fetch_add(cpu, Ordering::Relaxed);
        self.memory_peak.fetch_max(used.memory_peak, Ordering::Relaxed);
    }
}

/// A plugin with a role and settings. It implements the traits of `core`. Cheap to clone; clones
/// count what they use together.
#[derive(Clone)]
pub struct Configured {
    plugin: Plugin,
    role: Role,
    config: Arc<str>,
    used: Arc<UsedCells>,
}

impl Configured {
    /// The plugin without its role.
    #[must_use]
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// The role that the plugin was assigned.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the CPU time and the memory that the plugin has used so far.
    #[must_use]
    pub fn usage(&self) -> Used {
        Used {
            cpu: Duration::from_micros(self.used.cpu_micros.load(Ordering::Relaxed)),
            memory_peak: self.used.memory_peak.load(Ordering::Relaxed),
        }
    }

    /// The plugin with the same role and settings for another user; what it uses is counted from
    /// zero.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { used: Arc::default(), ..self.clone() }
    }

    /// Calls the role in a new store, with the settings already applied, or in the worker process
    /// of the plugin. The result fits the call.
    pub(crate) async fn run(
        &self,
        call: Call,
        made: &RoleCall<'_>,
    ) -> Result<RoleResult, RoleError> {
        if let Some(worker) = &self.plugin.inner.worker {
            let (result, used) = worker.run(self.role, call, &self.config, made).await?;
            self.used.add(used);
            return Ok(result);
        }
        let mut session = Session::open(&self.plugin.inner, Caller::Here(self.role, call)).await?;
        session.used = Some(Arc::clone(&self.used));
        session.configure(&self.config).await?;
        session.run(made).await
    }

    /// The error for a result of another role.
    pub(crate) fn other_result(&self, export: &str) -> RoleError {
        RoleError::Invalid {
            plugin: self.plugin.inner.label.clone(),
            export: export.to_owned(),
            detail: "a result of another role".to_owned(),
        }
    }
}

/// The store of one role call.
pub(crate) struct Session {
    pub(crate) store: OwnedStore,
    pub(crate) instance: Instance,
    about: export::about::Guest,
    inner: Arc<Inner>,
    used: Option<Arc<UsedCells>>,
}

impl Session {
    pub(crate) async fn open(inner: &Arc<Inner>, caller: Caller) -> Result<Self, RoleError> {
        let (of_call, call, remote) = match caller {
            Caller::Nobody => (CallLimits::default(), None, None),
            Caller::Here(role, call) => (CallLimits::new(role, &call), Some((role, call)), None),
            Caller::Host(of_call, remote) => (of_call, None, Some(remote)),
        };
        let CallLimits { role, search, seed, .. } = of_call;
        let allocation = inner.capacity.allocate(role, search, inner.memories).await;
        let printed = Printed::default();
        let limits = narrow_limits(&inner.limits, &of_call);
        let mut state = State::new(deny_all(seed, &printed), printed, limits, call);
        state.remote = remote;
        let store = Store::new(inner.pre.engine(), state);
        let mut store = OwnedStore::new(store, allocation, inner.releases.clone());
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(inner.limits.hostcall_bytes);
        // The table of what the host lends is full before this: then the error names the limit.
        // This one bounds the guest's own handles.
        store.set_max_component_handles(inner.limits.handles.saturating_add(256));
        // Armed before instantiation: a start function is guest code too.
        store.set_epoch_deadline(1);
        let capacity = inner.capacity.clone();
        let slices = inner.slices.clone();
        let long_calls = Arc::clone(&inner.long_calls);
        store.epoch_deadline_callback(move |mut store| {
            let state = store.data_mut();
            state.charge_cpu()?;
            let used = state.liveness.meter().cpu_time_with_ports();
            let slice = used.saturating_sub(std::mem::replace(&mut state.seen, used));
            let is_shared = capacity.is_shared(search);
            if used >= slices::ALWAYS_SLICED {
                long_calls.note();
            } else if !is_shared || used < slices::SLICED_WHEN_BUSY && !long_calls.is_long() {
                return Ok(UpdateDeadline::Yield(1));
            }
            let is_long = used >= slices::ALWAYS_SLICED || long_calls.is_long();
            // A guest that waits for a time slice is not idle.
            let liveness = state.liveness.clone();
            let next = slices.next(liveness.slice(), is_long, is_shared.then_some(slice));
            Ok(UpdateDeadline::YieldCustom(
                1,
                Box::pin(async move { liveness.waiting(next).await }),
            ))
        });
        let liveness = store.data().liveness.clone();
        if inner.capacity.is_shared(search) && inner.long_calls.is_long() {
            liveness.waiting(inner.slices.next(liveness.slice(), true, None)).await;
        }
        let started =
            liveness.watch(inner.limits.idle, inner.pre.instantiate_async(&mut *store)).await;
        fn instantiate_error(
            inner: &Inner,
            error: &wasmtime::Error,
            store: &Store<State>,
        ) -> RoleError {
            role_error(
                &inner.label,
                "instantiate",
                error,
                &store.data().limiter,
                &store.data().printed.text(),
            )
        }
        let instance = started.map_err(|error| instantiate_error(inner, &error, &store))?;
        let indices = export::about::GuestIndices::new(&inner.pre)
            .map_err(|error| instantiate_error(inner, &error, &store))?;
        let about = indices
            .load(&mut *store, &instance)
            .map_err(|error| instantiate_error(inner, &error, &store))?;
        Ok(Self { store, instance, about, inner: Arc::clone(inner), used: None })
    }

    /// Checks the type of each function of the plugin's roles.
    fn check_exports(&mut self, inner: &Inner) -> Result<(), LoadError> {
        macro_rules! load {
            ($role:ident) => {
                export::$role::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut *self.store, &self.instance).map(drop))
            };
        }
        for role in &inner.roles {
            let loaded = match role {
                Role::Linker => load!(linker),
                Role::Planner => load!(planner),
                Role::Solver => load!(solver),
                Role::Calibrator => load!(calibrator),
                Role::Reward => load!(reward),
                Role::Clarifier => load!(clarifier),
                Role::Aggregator => load!(aggregator),
                Role::Rewriter => load!(rewriter),
            };
            loaded.map_err(|error| {
                let interface = format!("syrch:plugin/{role}@{CONTRACT_VERSION}");
                let engine = inner.pre.engine();
                let component = inner.pre.component();
                let functions = signature::contract_functions(&interface);
                let functions: Vec<String> = functions
                    .filter_map(|(name, _)| signature::compare(engine, component, &interface, name))
                    .collect();
                let detail = format!("{} ({error:#})", functions.join("; "));
                LoadError::Export { export: role.name().to_owned(), detail }
            })?;
        }
        Ok(())
    }

    async fn describe(&mut self) -> Result<export::about::Identity, RoleError> {
        let (liveness, idle) = self.liveness();
        let described = liveness.watch(idle, self.about.call_describe(&mut *self.store)).await;
        self.convert_result("describe", described)
    }

    pub(crate) async fn configure(&mut self, config: &str) -> Result<(), RoleError> {
        let (liveness, idle) = self.liveness();
        let config = config.to_owned();
        let configured =
            liveness.watch(idle, self.about.call_configure(&mut *self.store, &config)).await;
        let configured = self.convert_result("configure", configured)?;
        configured.map_err(|failure| self.failure_error(failure.conv()))
    }

    /// The liveness of the guest in this store, and how long the guest may be idle.
    pub(crate) fn liveness(&self) -> (Liveness, Duration) {
        (self.store.data().liveness.clone(), self.store.data().limits.idle)
    }

    /// Called when the guest has returned: what it started and did not await ends with its store,
    /// and the port `wait` is called before.
    pub(crate) async fn left(&mut self) {
        if let Some((_, call)) = &self.store.data().call {
            let wait = Arc::clone(&call.ports.wait);
            wait.left().await;
        }
    }

    /// Charges the CPU time of a call, and converts its error.
    pub(crate) fn convert_result<T>(
        &mut self,
        export: &str,
        result: wasmtime::Result<T>,
    ) -> Result<T, RoleError> {
        let charged = self.store.data_mut().charge_cpu();
        let result = result.and_then(|value| charged.map(|()| value));
        let state = self.store.data();
        result.map_err(|error| {
            role_error(&self.inner.label, export, &error, &state.limiter, &state.printed.text())
        })
    }

    /// The error for a failure that the plugin returned.
    pub(crate) fn failure_error(&self, failure: syrch_core::Failure) -> RoleError {
        let failure = validate::failure(failure, &self.store.data().limits);
        RoleError::Failure { plugin: self.inner.label.clone(), failure }
    }

    /// The error for a value that the contract forbids.
    pub(crate) fn invalid(&self, export: &str, detail: String) -> RoleError {
        RoleError::Invalid { plugin: self.inner.label.clone(), export: export.to_owned(), detail }
    }

    pub(crate) fn pre(&self) -> &InstancePre<State> {
        &self.inner.pre
    }
}

impl Drop for Session {
    /// Adds up what the call used, and moves what the guest printed into its trace.
    fn drop(&mut self) {
        let state = self.store.data_mut();
        if let Some(used) = &self.used {
            used.add(state.used());
        }
        let printed = state.printed.take();
        state.trace_printed(&printed);
    }
}
