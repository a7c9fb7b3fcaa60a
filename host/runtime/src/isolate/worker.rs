//! The worker's side: a process that runs the guests of one plugin for its host.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as Socket;
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use syrch_core::RoleError;
use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::outbox::Outbox;
use super::sandbox;
use crate::LoadError;
use crate::cache;
use crate::capacity::{Capacity, Size};
use crate::engine::{Ticker, engine};
use crate::forward;
use crate::release::ReleaseThread;
use crate::remote::Remote;
use crate::session::{Caller, Guest, Session};
use crate::slices::TimeSlices;
use crate::wire::{
    self, Done, Ended, Hello, Job, MAX_TO_WORKER, ToHost, ToWorker, Unfinished, max_to_host,
    read_frame,
};

/// The most threads that run guests.
const THREADS: usize = 8;
/// The time that an idle thread of them waits for work: none can take its place.
const FOREVER: Duration = Duration::from_secs(1 << 32);

/// Serves a host on the standard streams until it is gone.
pub(crate) fn run_worker() -> io::Result<()> {
    sandbox::close_descriptors()?;
    let mut socket = Socket::from(io::stdin().as_fd().try_clone_to_owned()?);
    let code = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let hello = read_hello(&mut socket)?;
    match prepare(hello, code, &socket) {
        Ok(Prepared { guest, runtime, ticker: _ticker }) => {
            // A task of the pool: the thread that reads a call runs it, too, and none has to wake.
            let serving = runtime.spawn(serve(guest, socket));
            let served = runtime.block_on(serving).map_err(io::Error::other).flatten();
            // A guest that still runs does not hold up the end.
            runtime.shutdown_background();
            served
        }
        Err(error) => {
            socket.set_nonblocking(false)?;
            socket.write_all(&wire::frame(&ToHost::Unable(error.to_string()))?)
        }
    }
}

fn read_hello(socket: &mut Socket) -> io::Result<Hello> {
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let mut body = Vec::new();
    socket.take(u32::from_le_bytes(length).into()).read_to_end(&mut body)?;
    serde_json::from_slice(&body).map_err(io::Error::from)
}

/// A plugin in a process without rights.
struct Prepared {
    guest: Arc<Guest>,
    runtime: Runtime,
    ticker: Ticker,
}

/// Loads the plugin's code, then gives up all rights. No code of the plugin has run by then.
fn prepare(hello: Hello, code: File, socket: &Socket) -> io::Result<Prepared> {
    let Hello { label, roles, limits } = hello;
    let engine = engine(&limits).map_err(io::Error::other)?;
    let linker = forward::linker(&engine).map_err(io::Error::other)?;
    let component = cache::map(&engine, cap_std::fs::File::from_std(code))
        .ok_or_else(|| io::Error::other("the compiled code does not fit its engine"))?;
    let resources = component
        .resources_required()
        .ok_or_else(|| io::Error::other("the component imports a module"))?;
    let pre = linker.instantiate_pre(&component).map_err(io::Error::other)?;
    let slices = TimeSlices::new();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    socket.set_nonblocking(true)?;
    sandbox::give_up_files(&limits)?;
    let ticker = Ticker::start(&engine)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads.min(THREADS))
        .max_blocking_threads(threads)
        .thread_keep_alive(FOREVER)
        .enable_io()
        .enable_time()
        .build()?;
    // No thread can be started later on: those that take over from one which computes, and the one
    // that frees memory, start now.
    let started = Arc::new(Barrier::new(threads + 1));
    for _ in 0..threads {
        let started = Arc::clone(&started);
        runtime.spawn_blocking(move || started.wait());
    }
    started.wait();
    let releases = ReleaseThread::default();
    releases.start();
    sandbox::give_up_calls()?;
    let guest = Guest {
        pre,
        capacity: Capacity::new(Size::for_searches(limits.searches)),
        slices,
        releases,
        long_calls: Arc::default(),
        memories: resources.num_memories,
        limits: Arc::new(limits),
        label,
        roles,
    };
    Ok(Prepared { guest: Arc::new(guest), runtime, ticker })
}

/// The jobs that have not ended.
#[derive(Clone, Default)]
struct Jobs(Arc<Mutex<HashMap<u64, Running>>>);

struct Running {
    task: AbortHandle,
    answers: mpsc::UnboundedSender<Vec<u8>>,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves the host until it closes the stream.
async fn serve(guest: Arc<Guest>, socket: Socket) -> io::Result<()> {
    let (reader, writer) = UnixStream::from_std(socket)?.into_split();
    let mut reader = BufReader::new(reader);
    let outbox = Outbox::new(writer);
    let _ = outbox.send(wire::frame(&ToHost::Ready)?);
    let jobs = Jobs::default();
    while let Some(body) = read_frame(&mut reader, MAX_TO_WORKER).await? {
        match wire::decode(&body, usize::MAX)? {
            ToWorker::Start { id, job } => start(&guest, id, job, &jobs, &outbox),
            ToWorker::Answer { id, answer } => {
                if let Some(running) = jobs.lock().get(&id) {
                    // The guest may have ended.
                    let _ = running.answers.send(answer);
                }
            }
            ToWorker::Cancel { id } => {
                if let Some(running) = jobs.lock().get(&id) {
                    running.task.abort();
                }
            }
        }
    }
    Ok(())
}

/// Starts a job, whose end is sent whatever becomes of it.
fn start(guest: &Arc<Guest>, id: u64, job: String, jobs: &Jobs, outbox: &Outbox) {
    let (answers, receiver) = mpsc::unbounded_channel();
    let report = Report {
        id,
        guest: Arc::clone(guest),
        jobs: jobs.clone(),
        outbox: outbox.clone(),
        done: None,
    };
    let mut jobs = jobs.lock();
    let task = tokio::spawn(async move {
        let done = run(&report.guest, id, job, report.outbox.clone(), receiver).await;
        report.send(done);
    });
    jobs.insert(id, Running { task: task.abort_handle(), answers });
}

/// Says that a job has ended when it is dropped, as a cancelled one is, too.
struct Report {
    id: u64,
    guest: Arc<Guest>,
    jobs: Jobs,
    outbox: Outbox,
    /// The result; `None` if the job was cancelled or panicked.
    done: Option<Done>,
}

impl Report {
    fn send(mut self, done: Done) {
        self.done = Some(done);
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let done = self.done.take().unwrap_or_else(|| {
            Done::new(Err(if std::thread::panicking() {
                Unfinished::Failed(RoleError::Trap {
                    plugin: self.guest.label.clone(),
                    export: "run".to_owned(),
                    reason: "its worker process panicked".to_owned(),
                })
            } else {
                Unfinished::Cancelled
            }))
        });
        self.jobs.lock().remove(&self.id);
        if let Ok(frame) = frame_done(self.id, &done, &self.guest) {
            let _ = self.outbox.send(frame);
        }
    }
}

/// The message that a job has ended.
fn frame_done(id: u64, done: &Done, guest: &Guest) -> io::Result<Vec<u8>> {
    let frame = wire::frame(&ToHost::Done { id, done: serde_json::to_string(done)? })?;
    if frame.len() <= max_to_host(&guest.limits) {
        return Ok(frame);
    }
    let too_large = Done::new(Err(Unfinished::Failed(RoleError::Limit {
        plugin: guest.label.clone(),
        export: "run".to_owned(),
        limit: "hostcall-bytes".to_owned(),
        detail: "the bytes that one call may pass to the host or return".to_owned(),
    })));
    wire::frame(&ToHost::Done { id, done: serde_json::to_string(&too_large)? })
}

/// Does a job.
async fn run(
    guest: &Arc<Guest>,
    id: u64,
    job: String,
    outbox: Outbox,
    answers: mpsc::UnboundedReceiver<Vec<u8>>,
) -> Done {
    let job: io::Result<Job<'_>> = serde_json::from_str(&job).map_err(io::Error::from);
    match job {
        Err(error) => Done::new(Err(Unfinished::About(error.to_string()))),
        Ok(Job::Describe) => Done::new(match guest.describe().await {
            Ok(description) => Ok(Ended::Described(description)),
            Err(LoadError::Export { export, detail }) => Err(Unfinished::Export(export, detail)),
            Err(LoadError::Unavailable(reason)) => Err(Unfinished::Unavailable(reason)),
            Err(LoadError::About(reason)) => Err(Unfinished::About(reason)),
            Err(error) => Err(Unfinished::About(error.to_string())),
        }),
        Ok(Job::Configure(config)) => Done::new(match guest.configure(&config).await {
            Ok(()) => Ok(Ended::Configured),
            Err(error) => Err(Unfinished::Failed(error)),
        }),
        Ok(Job::Probe) => {
            let probed = tokio::task::spawn_blocking(sandbox::probe).await;
            Done::new(probed.map(Ended::Probed).map_err(|_| Unfinished::Cancelled))
        }
        Ok(Job::Role { limits, config, handles, call }) => {
            let remote =
                Remote::new(id, Box::new(move |frame| outbox.send(frame)), answers, handles);
            let opened = Session::open(guest, Caller::Host(limits, remote)).await;
            let mut session = match opened {
                Ok(session) => session,
                Err(error) => return Done::new(Err(Unfinished::Failed(error))),
            };
            let result = match session.configure(&config).await {
                Ok(()) => session.run(&call).await,
                Err(error) => Err(error),
            };
            let state = session.store.data();
            let used = state.usage();
            Done {
                cpu: used.cpu,
                memory_peak: used.memory_peak,
                printed: state.printed.text(),
                ended: result.map(Ended::Returned).map_err(Unfinished::Failed),
            }
        }
    }
}
