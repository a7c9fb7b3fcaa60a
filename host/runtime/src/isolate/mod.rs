//! The worker process of a plugin: the host starts it, sends it calls and serves their ports. Once
//! it runs a guest it may be under the guest's control, so everything that comes from it is bounded
//! and checked.

mod connection;
mod outbox;
mod sandbox;
mod worker;

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;

use syrch_core::roles::{Call, Role};
use syrch_core::validate::{self, Invalid};
use syrch_core::{Limits, RoleError, text};
use tokio::sync::Mutex;
use wasmtime::component::Component;

use self::connection::{Code, Connection, OpenCall};
use crate::LoadError;
use crate::error::{no_worker, role_error};
use crate::job::{CallLimits, Description, RoleCall, RoleResult, Used, narrow_limits};
use crate::process::{Probed, WorkerProcess};
use crate::session::to_load_error;
use crate::state::State;
use crate::wire::{Done, Ended, Hello, Job, ToHost, Unfinished, decode_json, max_decoded};

/// The wall time of a worker's answer, as a multiple of the CPU time that the guest may take.
const STANDSTILL: u32 = 15;
/// Workers that are started for one call at most.
const STARTS: usize = 3;
/// The most bytes of a text in an error of a worker.
const MAX_TEXT: usize = 2 << 10;
/// The most bytes that a worker's guest may print in one call.
const MAX_PRINTED: usize = 64 << 10;

impl WorkerProcess {
    /// Returns whether this system can bound such a process: Linux with Landlock and seccomp.
    #[must_use]
    pub fn is_supported() -> bool {
        sandbox::is_supported()
    }
}

/// The process's side of [`WorkerProcess`]: takes the code of a plugin from standard output and
/// calls from standard input, gives up all rights, and serves the calls until the host is gone. The
/// caller ends the process afterwards.
///
/// # Errors
/// When the streams are not those of a host, or this system cannot bound the process.
pub fn run_worker() -> std::io::Result<()> {
    worker::run_worker()
}

/// The worker of one plugin. The process is started for the first call, and anew after it ended.
pub(crate) struct Worker {
    process: WorkerProcess,
    component: Component,
    label: String,
    roles: Vec<Role>,
    limits: Arc<Limits>,
    started: Mutex<Option<(Code, Option<Arc<Connection>>)>>,
    /// Makes the numbers of searches that the worker sees.
    numbers: RandomState,
}

impl Worker {
    pub(crate) fn new(
        process: WorkerProcess,
        component: Component,
        label: String,
        roles: Vec<Role>,
        limits: Arc<Limits>,
    ) -> Self {
        let started = Mutex::default();
        Self { process, component, label, roles, limits, started, numbers: RandomState::new() }
    }

    /// The connection to the worker, which is started if there is none.
    async fn connect(&self) -> io::Result<Arc<Connection>> {
        let mut started = self.started.lock().await;
        let (code, connection) = match &mut *started {
            Some(started) => started,
            none => none.insert((Code::new(&self.component)?, None)),
        };
        if let Some(connection) = connection.as_ref().filter(|connection| connection.is_open()) {
            return Ok(Arc::clone(connection));
        }
        let hello = Hello {
            label: self.label.clone(),
            roles: self.roles.clone(),
            limits: Limits::clone(&self.limits),
        };
        let fresh = Connection::start(&self.process, code, &hello).await?;
        Ok(Arc::clone(connection.insert(fresh)))
    }

    /// Starts a job in the worker.
    async fn begin(&self, job: &Job<'_>) -> io::Result<OpenCall> {
        for _ in 0..STARTS {
            if let Some(call) = self.connect().await?.begin(job)? {
                return Ok(call);
            }
            // It ended in between, as one does that has been idle.
        }
        Err(io::Error::other("it ends whenever it is started"))
    }

    /// Has the worker do a job, and serves its ports.
    async fn exchange(
        &self,
        export: &str,
        job: &Job<'_>,
        mut state: Option<&mut State>,
    ) -> Result<Done, RoleError> {
        let mut call = self.begin(job).await.map_err(|error| no_worker(&self.label, &error))?;
        let cpu = match job {
            Job::Role { limits, .. } => limits.cpu.unwrap_or(self.limits.cpu_per_call),
            _ => self.limits.cpu_per_call,
        };
        let longest = cpu.min(self.limits.cpu_per_call) * STANDSTILL + self.limits.idle;
        loop {
            let Ok(message) = tokio::time::timeout(longest, call.next()).await else {
                call.end("it did not answer");
                return Err(self.trap(export, "its worker process did not answer"));
            };
            match (message, &mut state) {
                (None, _) => return Err(self.trap(export, &call.ending())),
                (Some(ToHost::Done { done, .. }), _) => {
                    let most = max_decoded(&self.limits);
                    let done: Done = decode_json(&done, most).map_err(|_| {
                        call.end("its result cannot be read");
                        self.trap(export, "the result of its worker process cannot be read")
                    })?;
                    call.count(done.cpu);
                    return Ok(done);
                }
                (Some(ToHost::Ask { cpu, call: port, .. }), Some(state)) => {
                    state.liveness.meter().report(cpu);
                    let served = tokio::select! {
                        biased;
                        served = state.serve(*port) => Some(served),
                        _ = call.next() => None,
                    };
                    let Some(served) = served else {
                        call.end("it sent a message while its guest waited");
                        return Err(self.trap(export, &call.ending()));
                    };
                    let answer = served.map_err(|error| {
                        role_error(&self.label, export, &error, &state.limiter, "")
                    })?;
                    call.answer(answer).map_err(|error| no_worker(&self.label, &error))?;
                }
                (Some(_), _) => {
                    call.end("it called a port outside of a role");
                    return Err(self.trap(export, "its worker process broke the protocol"));
                }
            }
        }
    }

    /// Asks the plugin for its description.
    pub(crate) async fn describe(&self) -> Result<Description, LoadError> {
        let done = self.exchange("describe", &Job::Describe, None).await;
        match done.map_err(to_load_error)?.ended {
            Ok(Ended::Described(description)) => Ok(description),
            Err(Unfinished::Export(export, detail)) => {
                Err(LoadError::Export { export: clip(&export), detail: clip(&detail) })
            }
            Err(Unfinished::Unavailable(reason)) => Err(LoadError::Unavailable(clip(&reason))),
            Err(Unfinished::About(reason)) => Err(LoadError::About(clip(&reason))),
            Err(Unfinished::Failed(error)) => Err(to_load_error(self.own_error("describe", error))),
            _ => Err(to_load_error(self.trap("describe", BROKEN))),
        }
    }

    /// Asks the plugin whether it accepts these settings.
    pub(crate) async fn configure(&self, config: &str) -> Result<(), RoleError> {
        let job = Job::Configure(config.to_owned());
        match self.exchange("configure", &job, None).await?.ended {
            Ok(Ended::Configured) => Ok(()),
            Err(Unfinished::Failed(error)) => Err(self.own_error("configure", error)),
            _ => Err(self.trap("configure", BROKEN)),
        }
    }

    /// Has the worker try what it must not be able to do.
    pub(crate) async fn probe(&self) -> Result<Vec<Probed>, RoleError> {
        match self.exchange("probe", &Job::Probe, None).await?.ended {
            Ok(Ended::Probed(probed)) => {
                Ok(probed.into_iter().map(|(tried, error)| Probed { tried, error }).collect())
            }
            _ => Err(self.trap("probe", BROKEN)),
        }
    }

    /// Calls a role in the worker. The result fits the call.
    pub(crate) async fn run(
        &self,
        role: Role,
        call: Call,
        config: &str,
        made: &RoleCall<'_>,
    ) -> Result<(RoleResult, Used), RoleError> {
        let export = made.export();
        let mut limits = CallLimits::new(role, &call);
        limits.search = self.numbers.hash_one(limits.search) as usize;
        let wait = Arc::clone(&call.ports.wait);
        let mut state = State::for_worker(narrow_limits(&self.limits, &limits), (role, call));
        let mut handles = Vec::new();
        for results in made.results() {
            let handle = state
                .push_rows(Arc::clone(results))
                .map_err(|error| role_error(&self.label, export, &error, &state.limiter, ""))?;
            handles.push(handle.rep());
        }
        let job = Job::Role {
            limits,
            config: Cow::Borrowed(config),
            handles,
            call: Box::new(Cow::Borrowed(made)),
        };
        let exchanged = self.exchange(export, &job, Some(&mut state)).await;
        wait.left().await;
        let done = exchanged?;
        state.liveness.meter().report(done.cpu);
        let charged = state.charge_cpu();
        state.trace_printed(text::clip(&done.printed, MAX_PRINTED));
        let result = match done.ended {
            Ok(Ended::Returned(result)) => result,
            Err(Unfinished::Failed(error)) => return Err(self.own_error(export, error)),
            _ => return Err(self.trap(export, BROKEN)),
        };
        charged.map_err(|error| role_error(&self.label, export, &error, &state.limiter, ""))?;
        made.check(&result, &self.limits).map_err(|Invalid(detail)| RoleError::Invalid {
            plugin: self.label.clone(),
            export: export.to_owned(),
            detail,
        })?;
        let memory_peak = done.memory_peak.min(self.limits.memory as u64);
        Ok((result, Used { cpu: state.usage().cpu, memory_peak }))
    }

    fn trap(&self, export: &str, reason: &str) -> RoleError {
        RoleError::Trap {
            plugin: self.label.clone(),
            export: export.to_owned(),
            reason: clip(reason),
        }
    }

    /// The error that a worker returned, as an error of its plugin: whatever it says, it speaks for
    /// nobody else.
    fn own_error(&self, called: &str, error: RoleError) -> RoleError {
        let plugin = self.label.clone();
        match error {
            RoleError::Failure { failure, .. } => {
                RoleError::Failure { plugin, failure: validate::failure(failure, &self.limits) }
            }
            RoleError::Trap { export, reason, .. } => {
                RoleError::Trap { plugin, export: clip(&export), reason: clip(&reason) }
            }
            RoleError::Limit { export, limit, detail, .. } => RoleError::Limit {
                plugin,
                export: clip(&export),
                limit: clip(&limit),
                detail: clip(&detail),
            },
            RoleError::Invalid { export, detail, .. } => {
                RoleError::Invalid { plugin, export: clip(&export), detail: clip(&detail) }
            }
            RoleError::Unavailable { reason, .. } => {
                RoleError::Unavailable { plugin, reason: clip(&reason) }
            }
            RoleError::Deadline | RoleError::Cancelled => self.trap(called, BROKEN),
        }
    }
}

const BROKEN: &str = "its worker process returned something else than was asked for";

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some((_, Some(connection))) = self.started.get_mut() {
            connection.end("nobody needs it any more");
        }
    }
}

fn clip(text: &str) -> String {
    text::clip(text, MAX_TEXT).to_owned()
}
