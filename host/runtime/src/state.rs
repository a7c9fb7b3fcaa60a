//! The data of one store: the role call that it serves, its handles and its limits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use syrch_core::ports::{LlmError, PortError, Reply};
use syrch_core::roles::{Call, Role};
use syrch_core::{Limits, ResultSet, SqlError, Verdict, text};
use tokio::sync::watch;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::contract::{Port, ports_of};
use crate::flight::Flight;
use crate::job::Used;
use crate::limiter::SumLimiter;
use crate::liveness::Liveness;
use crate::remote::Remote;
use crate::wasi::Printed;

// The generated bindings re-export these four, so they are `pub` in a private module.
/// A model call in flight.
#[allow(unreachable_pub)]
pub struct Pending(pub(crate) Flight<Result<Reply, LlmError>>, pub(crate) usize);
/// A result that a guest holds.
#[allow(unreachable_pub)]
pub struct Rows(pub(crate) Arc<ResultSet>);
/// A statement in flight.
#[allow(unreachable_pub)]
pub struct Running(pub(crate) Flight<Result<Arc<ResultSet>, SqlError>>, pub(crate) usize);
/// A judgement in flight.
#[allow(unreachable_pub)]
pub struct Judging(pub(crate) Flight<Result<Vec<Verdict>, PortError>>, pub(crate) usize);

/// A limit that ended a call, as wasmtime carries it out of the guest.
#[derive(Debug, thiserror::Error)]
#[error("{limit}: {detail}")]
pub(crate) struct LimitHit {
    pub(crate) limit: &'static str,
    pub(crate) detail: String,
}

/// The data of one store.
pub(crate) struct State {
    pub(crate) wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) limiter: SumLimiter,
    pub(crate) limits: Arc<Limits>,
    pub(crate) printed: Printed,
    pub(crate) liveness: Liveness,
    /// The role call; `None` while the plugin describes or configures itself.
    pub(crate) call: Option<(Role, Call)>,
    /// The host that made the role call, if that is another process: it serves the ports.
    pub(crate) remote: Option<Remote>,
    tickets: BTreeMap<u32, watch::Receiver<bool>>,
    next_ticket: u32,
    held: usize,
    /// The time for which the guest may still pause.
    pub(crate) pauses_left: Duration,
    /// The CPU time that was charged so far.
    charged: Duration,
    /// The CPU time, that of ports included, when the guest was interrupted last.
    pub(crate) seen: Duration,
}

impl State {
    pub(crate) fn new(
        wasi: WasiCtx,
        printed: Printed,
        limits: Arc<Limits>,
        call: Option<(Role, Call)>,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        Self {
            wasi,
            table,
            limiter: SumLimiter::new(&limits),
            pauses_left: limits.pauses,
            limits,
            printed,
            liveness: Liveness::new(),
            call,
            remote: None,
            tickets: BTreeMap::new(),
            next_ticket: 1,
            held: 0,
            charged: Duration::ZERO,
            seen: Duration::ZERO,
        }
    }

    /// The data of a call whose guest runs in a worker process, which reports its CPU time.
    pub(crate) fn for_worker(limits: Arc<Limits>, call: (Role, Call)) -> Self {
        let printed = Printed::default();
        let mut state = Self::new(WasiCtx::builder().build(), printed, limits, Some(call));
        state.liveness = Liveness::from_reports();
        state
    }

    /// The amounts that the guest has used.
    pub(crate) fn usage(&self) -> Used {
        Used { cpu: self.charged, memory_peak: self.limiter.peak() as u64 }
    }

    /// Moves what the guest printed into the trace of its call, as far as the quota goes.
    pub(crate) fn trace_printed(&self, printed: &str) {
        let Some((_, call)) = &self.call else { return };
        for line in printed.lines().filter(|line| !line.trim().is_empty()) {
            if call.ledger.charge_log(line.len()) {
                call.ports.trace.print_line(text::clip(line, self.limits.log_line));
            }
        }
    }

    /// Charges the CPU time since the last charge.
    pub(crate) fn charge_cpu(&mut self) -> wasmtime::Result<()> {
        let used = self.liveness.meter().cpu_time();
        let spent = used.saturating_sub(self.charged);
        self.charged = used;
        if used > self.limits.cpu_per_call {
            return hit("cpu-per-call", format!("{} s", self.limits.cpu_per_call.as_secs_f64()));
        }
        match &self.call {
            Some((_, call)) if call.ledger.charge_cpu(spent).is_err() => {
                hit("cpu-per-search", format!("{} s", call.ledger.budgets().cpu.as_secs_f64()))
            }
            _ => Ok(()),
        }
    }

    /// Called first by every port function: charges the call, and returns the role call if its
    /// world imports this port.
    pub(crate) fn enter(&mut self, port: Port) -> wasmtime::Result<Result<Call, String>> {
        self.charge_cpu()?;
        let Some((role, call)) = &self.call else {
            return Ok(Err(format!(
                "port `{}` is not lent while a plugin describes or configures itself",
                port.name()
            )));
        };
        if call.ledger.charge_host_call().is_err() {
            return hit("host-calls", format!("{} a search", call.ledger.budgets().host_calls));
        }
        if ports_of(*role).contains(&port) {
            Ok(Ok(call.clone()))
        } else {
            Ok(Err(format!("port `{}` is not lent to the role {role}", port.name())))
        }
    }

    /// Enters a port as [`State::enter`] does, for functions that cannot return `denied`: the guest
    /// is stopped instead.
    pub(crate) fn enter_or_stop(&mut self, port: Port) -> wasmtime::Result<Call> {
        match self.enter(port)? {
            Ok(call) => Ok(call),
            Err(reason) => hit("grant", reason),
        }
    }

    /// Waits for work that has a deadline of its own and whose CPU time is not the guest's.
    pub(crate) async fn waiting<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.liveness.waiting(self.liveness.meter().leaving_out(work)).await
    }

    pub(crate) fn ticket(&mut self) -> u32 {
        self.next_ticket += 1;
        self.next_ticket
    }

    pub(crate) fn watch(&mut self, ticket: u32, done: watch::Receiver<bool>) {
        self.tickets.insert(ticket, done);
    }

    pub(crate) fn forget(&mut self, ticket: u32) {
        self.tickets.remove(&ticket);
    }

    /// A receiver of whether a ticket is done; `None` for an unknown or taken one.
    pub(crate) fn watcher(&self, ticket: u32) -> Option<watch::Receiver<bool>> {
        self.tickets.get(&ticket).cloned()
    }

    /// The guest drops the handle of a call in flight. No further event of the call happens.
    pub(crate) async fn give_up<T: Send + 'static>(&mut self, flight: &Flight<T>, instead: T) {
        self.forget(flight.ticket());
        if let Some((_, call)) = &self.call {
            let wait = Arc::clone(&call.ports.wait);
            self.waiting(flight.give_up(wait.as_ref(), instead)).await;
        }
    }

    /// Counts bytes that a handle of the guest holds in the host.
    pub(crate) fn hold(&mut self, bytes: usize) -> wasmtime::Result<()> {
        self.held = self.held.saturating_add(bytes);
        if self.held > self.limits.held_bytes {
            return hit(
                "held-bytes",
                format!("{} behind the handles of one call", self.limits.held_bytes),
            );
        }
        Ok(())
    }

    /// Subtracts what a dropped handle held.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Gives the guest a handle of a result.
    pub(crate) fn push_rows(&mut self, rows: Arc<ResultSet>) -> wasmtime::Result<Resource<Rows>> {
        self.hold(rows.size())?;
        self.push(Rows(rows))
    }

    /// Gives the guest a handle of a result that is part of its call.
    pub(crate) fn lend_rows(&mut self, rows: &Arc<ResultSet>) -> wasmtime::Result<Resource<Rows>> {
        match &mut self.remote {
            Some(remote) => remote.next_handle().map(Resource::new_own),
            None => self.push_rows(Arc::clone(rows)),
        }
    }

    /// Gives the guest a handle of a host value.
    pub(crate) fn push<T: Send + 'static>(&mut self, value: T) -> wasmtime::Result<Resource<T>> {
        match self.table.push(value) {
            Ok(handle) => Ok(handle),
            Err(_) => hit("handles", format!("{} at once", self.limits.handles)),
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

pub(crate) fn hit<T>(limit: &'static str, detail: String) -> wasmtime::Result<T> {
    Err(wasmtime::Error::new(LimitHit { limit, detail }))
}
