//! The guests of a plugin: each call has a store of its own, in the process of the host or in that
//! of a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use syrch_core::roles::{Call, Role};
use syrch_core::{CONTRACT_VERSION, Limits, RoleError, validate};
use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Store, UpdateDeadline};

use crate::LoadError;
use crate::bindings::exports::syrch::plugin as export;
use crate::capacity::Capacity;
use crate::convert::Conv;
use crate::error::role_error;
use crate::job::{CallLimits, Description, Used, narrow_limits};
use crate::liveness::Liveness;
use crate::release::{OwnedStore, ReleaseThread};
use crate::remote::Remote;
use crate::signature;
use crate::slices::{self, LongCalls, TimeSlices};
use crate::state::State;
use crate::wasi::{Printed, deny_all};

/// The linked code of a plugin, and what its stores are made of.
pub(crate) struct Guest {
    pub(crate) pre: InstancePre<State>,
    pub(crate) capacity: Capacity,
    pub(crate) slices: TimeSlices,
    pub(crate) releases: ReleaseThread,
    pub(crate) long_calls: Arc<LongCalls>,
    /// The number of linear memories of a store.
    pub(crate) memories: u32,
    pub(crate) limits: Arc<Limits>,
    pub(crate) label: String,
    pub(crate) roles: Vec<Role>,
}

impl Guest {
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

/// The caller of a guest.
pub(crate) enum Caller {
    /// The host, while the plugin describes or configures itself.
    Nobody,
    /// A search of this process.
    Here(Role, Call),
    /// A search of the host whose worker this process is.
    Host(CallLimits, Remote),
}

/// The load error for a call that failed while the plugin was loaded.
pub(crate) fn to_load_error(error: RoleError) -> LoadError {
    match error {
        RoleError::Unavailable { .. } => LoadError::Unavailable(error.to_string()),
        _ => LoadError::About(error.to_string()),
    }
}

#[derive(Default)]
pub(crate) struct UsedCells {
    pub(crate) cpu_micros: AtomicU64,
    pub(crate) memory_peak: AtomicU64,
}

impl UsedCells {
    /// Adds what one call used.
    pub(crate) fn add(&self, used: Used) {
        let cpu = u64::try_from(used.cpu.as_micros()).unwrap_or(u64::MAX);
        self.cpu_micros.fetch_add(cpu, Ordering::Relaxed);
        self.memory_peak.fetch_max(used.memory_peak, Ordering::Relaxed);
    }
}

/// The store of one role call.
pub(crate) struct Session {
    pub(crate) store: OwnedStore,
    pub(crate) instance: Instance,
    about: export::about::Guest,
    guest: Arc<Guest>,
    pub(crate) used: Option<Arc<UsedCells>>,
}

impl Session {
    pub(crate) async fn open(guest: &Arc<Guest>, caller: Caller) -> Result<Self, RoleError> {
        let (of_call, call, remote) = match caller {
            Caller::Nobody => (CallLimits::default(), None, None),
            Caller::Here(role, call) => (CallLimits::new(role, &call), Some((role, call)), None),
            Caller::Host(of_call, remote) => (of_call, None, Some(remote)),
        };
        let CallLimits { role, search, seed, .. } = of_call;
        let allocation = guest.capacity.allocate(role, search, guest.memories).await;
        let printed = Printed::default();
        let limits = narrow_limits(&guest.limits, &of_call);
        let mut state = State::new(deny_all(seed, &printed), printed, limits, call);
        state.remote = remote;
        let store = Store::new(guest.pre.engine(), state);
        let mut store = OwnedStore::new(store, allocation, guest.releases.clone());
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(guest.limits.hostcall_bytes);
        // The table of what the host lends is full before this: then the error names the limit.
        // This one bounds the guest's own handles.
        store.set_max_component_handles(guest.limits.handles.saturating_add(256));
        // Armed before instantiation: a start function is guest code too.
        store.set_epoch_deadline(1);
        let capacity = guest.capacity.clone();
        let slices = guest.slices.clone();
        let long_calls = Arc::clone(&guest.long_calls);
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
        if guest.capacity.is_shared(search) && guest.long_calls.is_long() {
            liveness.waiting(guest.slices.next(liveness.slice(), true, None)).await;
        }
        let started =
            liveness.watch(guest.limits.idle, guest.pre.instantiate_async(&mut *store)).await;
        fn instantiate_error(
            guest: &Guest,
            error: &wasmtime::Error,
            store: &Store<State>,
        ) -> RoleError {
            role_error(
                &guest.label,
                "instantiate",
                error,
                &store.data().limiter,
                &store.data().printed.text(),
            )
        }
        let instance = started.map_err(|error| instantiate_error(guest, &error, &store))?;
        let indices = export::about::GuestIndices::new(&guest.pre)
            .map_err(|error| instantiate_error(guest, &error, &store))?;
        let about = indices
            .load(&mut *store, &instance)
            .map_err(|error| instantiate_error(guest, &error, &store))?;
        Ok(Self { store, instance, about, guest: Arc::clone(guest), used: None })
    }

    /// Checks the type of each function of the plugin's roles.
    fn check_exports(&mut self, guest: &Guest) -> Result<(), LoadError> {
        macro_rules! load {
            ($role:ident) => {
                export::$role::GuestIndices::new(&guest.pre)
                    .and_then(|indices| indices.load(&mut *self.store, &self.instance).map(drop))
            };
        }
        for role in &guest.roles {
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
                let engine = guest.pre.engine();
                let component = guest.pre.component();
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
            role_error(&self.guest.label, export, &error, &state.limiter, &state.printed.text())
        })
    }

    /// The error for a failure that the plugin returned.
    pub(crate) fn failure_error(&self, failure: syrch_core::Failure) -> RoleError {
        let failure = validate::failure(failure, &self.store.data().limits);
        RoleError::Failure { plugin: self.guest.label.clone(), failure }
    }

    /// The error for a value that the contract forbids.
    pub(crate) fn invalid(&self, export: &str, detail: String) -> RoleError {
        RoleError::Invalid { plugin: self.guest.label.clone(), export: export.to_owned(), detail }
    }

    pub(crate) fn pre(&self) -> &InstancePre<State> {
        &self.guest.pre
    }
}

impl Drop for Session {
    /// Adds up what the call used, and moves what the guest printed into its trace.
    fn drop(&mut self) {
        let state = self.store.data_mut();
        if let Some(used) = &self.used {
            used.add(state.usage());
        }
        let printed = state.printed.take();
        state.trace_printed(&printed);
    }
}
