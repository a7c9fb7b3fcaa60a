//! A loaded plugin: who it is, and stores in which its roles are called.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use syrch_core::roles::{Call, Role};
use syrch_core::{Limits, RoleError, text, validate};
use syrch_schema::{Patterns, Schema};
use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Store, UpdateDeadline};

use crate::LoadError;
use crate::bindings::exports::syrch::plugin as export;
use crate::convert::Conv;
use crate::error::role_error;
use crate::pulse::Pulse;
use crate::slots::{Slot, Slots};
use crate::state::State;
use crate::turns::{self, Habit, Turns};
use crate::wasi::{Printed, deny_all};

/// Who a plugin says it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// Its name. A label: the digest is what identifies it.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// A JSON Schema of its settings.
    pub config_schema: serde_json::Value,
    /// The same as the plugin wrote it.
    pub(crate) schema_text: String,
}

/// A plugin that was loaded and compared with the contract. Cheap to clone.
#[derive(Clone)]
pub struct Plugin {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) pre: InstancePre<State>,
    pub(crate) slots: Slots,
    pub(crate) turns: Turns,
    pub(crate) habit: Arc<Habit>,
    /// Linear memories of a store.
    pub(crate) memories: u32,
    pub(crate) limits: Arc<Limits>,
    pub(crate) label: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
    pub(crate) roles: Vec<Role>,
    pub(crate) imports: Vec<String>,
    pub(crate) identity: OnceLock<Identity>,
}

impl Plugin {
    /// Lets it say who it is.
    pub(crate) async fn describe(inner: Inner) -> Result<Self, LoadError> {
        let inner = Arc::new(inner);
        let mut session = Session::open(&inner, None).await.map_err(refused)?;
        session.check_exports(&inner)?;
        let described = session.describe().await.map_err(refused)?;
        let _ = inner.identity.set(identity_of(described, &inner.limits).await?);
        Ok(Self { inner })
    }

    /// Who it says it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        const NOBODY: &Identity = &Identity {
            name: String::new(),
            version: String::new(),
            summary: String::new(),
            config_schema: serde_json::Value::Null,
            schema_text: String::new(),
        };
        self.inner.identity.get().unwrap_or(NOBODY)
    }

    /// The sha256 of its bytes, in hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// The size of its file, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.inner.size
    }

    /// The roles that it plays.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.inner.roles
    }

    /// The ports that it wants.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.inner.imports
    }

    /// Gives it a role and settings: they are compared with its schema, and the plugin itself must take them.
    ///
    /// # Errors
    /// When it does not play the role, or the settings do not fit.
    pub async fn configure(
        &self,
        role: Role,
        config: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Configured, LoadError> {
        if !self.inner.roles.contains(&role) {
            let plays = self.inner.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
            return Err(LoadError::WrongRole { wanted: role.name().to_owned(), plays });
        }
        let config = serde_json::Value::Object(config.clone());
        check_config(&self.identity().schema_text, &config, &self.inner.limits).await?;
        let config = config.to_string();
        let mut session = Session::open(&self.inner, None).await.map_err(refused)?;
        session.configure(&config).await.map_err(|error| match error.is_fault() {
            true => LoadError::About(error.to_string()),
            false => LoadError::Config(error.to_string()),
        })?;
        Ok(Configured { plugin: self.clone(), role, config: config.into(), used: Arc::default() })
    }
}

/// A call that failed while the plugin was loaded.
fn refused(error: RoleError) -> LoadError {
    match error {
        RoleError::Unavailable { .. } => LoadError::Unavailable(error.to_string()),
        _ => LoadError::About(error.to_string()),
    }
}

async fn identity_of(described: export::about::Identity, limits: &Limits) -> Result<Identity, LoadError> {
    let unusable = |what: String| LoadError::About(format!("its description is unusable: {what}"));
    let export::about::Identity { name, version, summary, config_schema } = described;
    if name.is_empty() || name.len() > limits.id_bytes || version.len() > limits.id_bytes {
        return Err(unusable(format!("name and version are 1 to {} bytes", limits.id_bytes)));
    }
    Schema::prepare(&config_schema, Patterns::Refused, limits)
        .await
        .map_err(|error| unusable(format!("`config-schema`: {error}")))?;
    let schema_text = config_schema;
    let config_schema = serde_json::from_str(&schema_text).map_err(|error| unusable(error.to_string()))?;
    let summary = text::clip(&summary, limits.log_line).to_owned();
    Ok(Identity { name, version, summary, config_schema, schema_text })
}

/// Compares settings with the plugin's schema.
async fn check_config(schema: &str, config: &serde_json::Value, limits: &Limits) -> Result<(), LoadError> {
    const SHOWN: usize = 8;
    let schema = Schema::prepare(schema, Patterns::Refused, limits)
        .await
        .map_err(|error| LoadError::Config(error.to_string()))?;
    let errors = schema.errors(config, SHOWN);
    if errors.is_empty() { Ok(()) } else { Err(LoadError::Config(errors.join("; "))) }
}

/// What a plugin used, over all calls of one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// CPU time.
    pub cpu: Duration,
    /// The most linear memory that one call had, in bytes.
    pub memory_peak: u64,
}

#[derive(Default)]
struct UsedCells {
    cpu_micros: AtomicU64,
    memory_peak: AtomicU64,
}

/// A plugin with a role and its settings; it implements the traits of `core`. Cheap to clone.
#[derive(Clone)]
pub struct Configured {
    plugin: Plugin,
    role: Role,
    config: Arc<str>,
    used: Arc<UsedCells>,
}

impl Configured {
    /// The plugin.
    #[must_use]
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// The role it was given.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// What it used so far.
    #[must_use]
    pub fn used(&self) -> Used {
        Used {
            cpu: Duration::from_micros(self.used.cpu_micros.load(Ordering::Relaxed)),
            memory_peak: self.used.memory_peak.load(Ordering::Relaxed),
        }
    }

    /// The same with the same settings, for somebody else: what it used is counted from nothing.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { used: Arc::default(), ..self.clone() }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.plugin.inner.limits
    }

    pub(crate) fn pre(&self) -> &InstancePre<State> {
        &self.plugin.inner.pre
    }

    /// A fresh store for one role call, with the settings already in it.
    pub(crate) async fn session(&self, call: Call) -> Result<Session, RoleError> {
        let mut session = Session::open(&self.plugin.inner, Some((self.role, call))).await?;
        session.used = Some(Arc::clone(&self.used));
        session.configure(&self.config).await?;
        Ok(session)
    }
}

/// One store, for one role call.
pub(crate) struct Session {
    pub(crate) store: Store<State>,
    pub(crate) instance: Instance,
    about: export::about::Guest,
    label: String,
    used: Option<Arc<UsedCells>>,
    /// Given back after the store, for fields are dropped in their order.
    _slot: Slot,
}

impl Session {
    async fn open(inner: &Inner, call: Option<(Role, Call)>) -> Result<Self, RoleError> {
        let role = call.as_ref().map(|(role, _)| *role);
        // All calls of a search charge the same ledger.
        let search = call.as_ref().map_or(0, |(_, call)| Arc::as_ptr(&call.ledger).addr());
        let slot = inner.slots.take(role, search, inner.memories).await;
        let printed = Printed::default();
        let seed = call.as_ref().map_or(0, |(_, call)| call.ports.run.seed());
        let state = State::new(deny_all(seed, &printed), printed, Arc::clone(&inner.limits), call);
        let mut store = Store::new(inner.pre.engine(), state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(inner.limits.hostcall_bytes);
        // The table of what the host lends is full before this: then the error names the limit. This one bounds the guest's own handles.
        store.set_max_component_handles(inner.limits.handles.saturating_add(256));
        // Armed before instantiation: a start function is guest code too.
        store.set_epoch_deadline(1);
        let (slots, turns, habit) = (inner.slots.clone(), inner.turns.clone(), Arc::clone(&inner.habit));
        store.epoch_deadline_callback(move |mut store| {
            let state = store.data_mut();
            state.charge_cpu()?;
            let used = state.pulse.meter().used_with_ports();
            let slice = used.saturating_sub(std::mem::replace(&mut state.seen, used));
            let is_shared = slots.is_shared(search);
            if used >= turns::FREE {
                habit.note();
            } else if !(is_shared && habit.is_long()) {
                return Ok(UpdateDeadline::Yield(1));
            }
            let slice = is_shared.then_some(slice);
            // Waiting for a turn is no idleness of the guest's.
            let pulse = state.pulse.clone();
            let next = turns.next(pulse.turn(), slice);
            Ok(UpdateDeadline::YieldCustom(1, Box::pin(async move { pulse.waiting(next).await })))
        });
        let pulse = store.data().pulse.clone();
        if inner.slots.is_shared(search) && inner.habit.is_long() {
            pulse.waiting(inner.turns.next(pulse.turn(), None)).await;
        }
        let started = pulse.guard(inner.limits.idle, inner.pre.instantiate_async(&mut store)).await;
        let fail = |error: &wasmtime::Error, store: &Store<State>| {
            role_error(&inner.label, "instantiate", error, &store.data().limiter, &store.data().printed.text())
        };
        let instance = started.map_err(|error| fail(&error, &store))?;
        let indices = export::about::GuestIndices::new(&inner.pre).map_err(|error| fail(&error, &store))?;
        let about = indices.load(&mut store, &instance).map_err(|error| fail(&error, &store))?;
        Ok(Self { store, instance, about, label: inner.label.clone(), used: None, _slot: slot })
    }

    /// Compares each role's functions with the contract's types.
    fn check_exports(&mut self, inner: &Inner) -> Result<(), LoadError> {
        for role in &inner.roles {
            let loaded = match role {
                Role::Linker => export::linker::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut self.store, &self.instance).map(drop)),
                Role::Planner => export::planner::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut self.store, &self.instance).map(drop)),
                Role::Solver => export::solver::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut self.store, &self.instance).map(drop)),
                Role::Calibrator => export::calibrator::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut self.store, &self.instance).map(drop)),
                Role::Reward => export::reward::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut self.store, &self.instance).map(drop)),
                Role::Clarifier => export::clarifier::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut self.store, &self.instance).map(drop)),
                Role::Aggregator => export::aggregator::GuestIndices::new(&inner.pre)
                    .and_then(|indices| indices.load(&mut self.store, &self.instance).map(drop)),
            };
            loaded
                .map_err(|error| LoadError::Export { export: role.name().to_owned(), detail: format!("{error:#}") })?;
        }
        Ok(())
    }

    async fn describe(&mut self) -> Result<export::about::Identity, RoleError> {
        let (pulse, patience) = self.pulse();
        let described = pulse.guard(patience, self.about.call_describe(&mut self.store)).await;
        self.told("describe", described)
    }

    async fn configure(&mut self, config: &str) -> Result<(), RoleError> {
        let (pulse, patience) = self.pulse();
        let config = config.to_owned();
        let configured = pulse.guard(patience, self.about.call_configure(&mut self.store, &config)).await;
        let configured = self.told("configure", configured)?;
        configured.map_err(|failure| self.failed(failure.conv()))
    }

    /// What watches a call in this store, and how long it lets the guest be silent.
    pub(crate) fn pulse(&self) -> (Pulse, Duration) {
        (self.store.data().pulse.clone(), self.store.data().limits.idle)
    }

    /// The guest is done: what it started and did not wait for ends with its store, and the ports hear of it before.
    pub(crate) async fn left(&mut self) {
        if let Some((_, call)) = &self.store.data().call {
            let wait = Arc::clone(&call.ports.wait);
            wait.left().await;
        }
    }

    /// Tells a call's failure in the words of `core`.
    pub(crate) fn told<T>(&mut self, export: &str, result: wasmtime::Result<T>) -> Result<T, RoleError> {
        let charged = self.store.data_mut().charge_cpu();
        let result = result.and_then(|value| charged.map(|()| value));
        let state = self.store.data();
        result.map_err(|error| role_error(&self.label, export, &error, &state.limiter, &state.printed.text()))
    }

    /// The plugin's own failure.
    pub(crate) fn failed(&self, failure: syrch_core::Failure) -> RoleError {
        let failure = validate::failure(failure, &self.store.data().limits);
        RoleError::Failure { plugin: self.label.clone(), failure }
    }

    /// A value that the contract forbids.
    pub(crate) fn invalid(&self, export: &str, invalid: validate::Invalid) -> RoleError {
        RoleError::Invalid { plugin: self.label.clone(), export: export.to_owned(), detail: invalid.0 }
    }
}

impl Drop for Session {
    /// Books what the call used, and moves what the guest printed into its trace.
    fn drop(&mut self) {
        let state = self.store.data_mut();
        if let Some(used) = &self.used {
            let cpu = u64::try_from(state.cpu().as_micros()).unwrap_or(u64::MAX);
            used.cpu_micros.fetch_add(cpu, Ordering::Relaxed);
            used.memory_peak.fetch_max(state.limiter.peak() as u64, Ordering::Relaxed);
        }
        let printed = state.printed.take();
        let Some((_, call)) = &state.call else { return };
        for line in printed.lines().filter(|line| !line.trim().is_empty()) {
            if call.ledger.charge_log(line.len()) {
                let line = text::clip(line, state.limits.log_line);
                call.ports.trace.printed(line);
            }
        }
    }
}
