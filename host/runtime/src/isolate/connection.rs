//! The connection of the host to one worker process.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;
use std::pin::pin;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{mpsc, oneshot};
use wasmtime::component::Component;

use syrch_core::Limits;

use super::outbox::Outbox;
use super::sandbox::CPU_SECONDS;
use crate::process::WorkerProcess;
use crate::wire::{
    self, Hello, Job, MAX_TO_WORKER, ToHost, ToWorker, invalid, max_decoded, max_to_host,
    read_frame,
};

/// Bytes of a message besides its longest part, at most.
const HEAD: usize = 64;
/// The time in which a worker has to start.
const START: Duration = Duration::from_secs(60);
/// The time after which a worker without calls is ended.
const IDLE: Duration = Duration::from_secs(60);
/// The time in which the system ends a process that was killed.
const ENDING: Duration = Duration::from_secs(5);
/// The CPU time of guests after which a worker gets no further calls.
const RETIRED: Duration = Duration::from_secs(CPU_SECONDS / 4);

/// The compiled code of a component in a file in memory, which nobody can change.
pub(super) struct Code(File);

impl Code {
    pub(super) fn new(component: &Component) -> io::Result<Self> {
        let code = component.serialize().map_err(io::Error::other)?;
        let mut file =
            File::from(memfd_create(c"code", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        file.write_all(&code)?;
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        Ok(Self(file))
    }
}

/// A started worker, and the calls that it has.
pub(super) struct Connection {
    process: OwnedFd,
    outbox: Outbox,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    /// The calls that have not ended, by number.
    open: HashMap<u64, Slot>,
    last: u64,
    /// The CPU time that the worker has reported for calls that ended.
    cpu: Duration,
    /// The reason why the worker gets no further calls.
    ended: Option<String>,
}

impl Calls {
    /// Returns true if no call is open but those that the host has cancelled.
    fn are_unwanted(&self) -> bool {
        self.open.values().all(|slot| slot.messages.is_none())
    }
}

/// A call as the connection sees it.
struct Slot {
    /// The call; `None` if the host has cancelled it. The worker says that it ended all the same.
    messages: Option<mpsc::UnboundedSender<ToHost>>,
    /// True if its guest has called a port and waits for the answer.
    is_asking: bool,
    /// True if its guest has called a port.
    has_asked: bool,
}

impl Connection {
    /// Starts a worker.
    pub(super) async fn start(
        program: &WorkerProcess,
        code: &Code,
        hello: &Hello,
    ) -> io::Result<Arc<Self>> {
        let (ours, theirs) = Socket::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&program.program);
        command.args(&program.arguments).env_clear().current_dir("/");
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        command.stdout(Stdio::from(code.0.try_clone()?)).stderr(Stdio::null());
        let (process, status) = spawn(command).await?;
        let (reader, writer) = UnixStream::from_std(ours)?.into_split();
        let outbox = Outbox::new(writer);
        let connection = Arc::new(Self { process, outbox, calls: Mutex::default() });
        // One that is gone sends no message.
        let _ = connection.outbox.send(wire::json_frame(hello)?);
        let mut reader = BufReader::new(reader);
        let most = max_to_host(&hello.limits);
        let first = tokio::time::timeout(START, read_frame(&mut reader, most)).await;
        let reason = match first {
            Ok(Ok(Some(body))) => match wire::decode(&body, most) {
                Ok(ToHost::Ready) => {
                    let limits = hello.limits.clone();
                    tokio::spawn(read(Arc::clone(&connection), reader, limits, status));
                    return Ok(connection);
                }
                Ok(ToHost::Unable(reason)) => syrch_core::text::clip(&reason, 200).to_owned(),
                _ => "it is no worker".to_owned(),
            },
            Ok(Ok(None)) => ending(status).await,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it did not start in time".to_owned(),
        };
        connection.end(&reason);
        Err(io::Error::other(reason))
    }

    /// Returns whether the worker takes calls.
    pub(super) fn is_open(&self) -> bool {
        let mut calls = self.lock();
        if calls.cpu > RETIRED {
            calls.ended.get_or_insert_with(|| "it has worked for long".to_owned());
        }
        calls.ended.is_none()
    }

    /// Starts a job. `None` if the worker takes no calls any more.
    pub(super) fn begin(self: &Arc<Self>, job: &Job<'_>) -> io::Result<Option<OpenCall>> {
        let job = serde_json::to_string(job)?;
        if job.len() > MAX_TO_WORKER - HEAD {
            return Err(invalid("a call is too large for a worker process"));
        }
        let (sender, messages) = mpsc::unbounded_channel();
        let id = {
            let mut calls = self.lock();
            if calls.ended.is_some() {
                return Ok(None);
            }
            calls.last += 1;
            let id = calls.last;
            let slot = Slot { messages: Some(sender), is_asking: false, has_asked: false };
            calls.open.insert(id, slot);
            id
        };
        let call = OpenCall { connection: Arc::clone(self), id, messages };
        self.send_for(id, wire::frame(&ToWorker::Start { id, job })?)?;
        Ok(Some(call))
    }

    /// Sends what the worker has to read before it goes on with a call.
    fn send_for(&self, id: u64, frame: Vec<u8>) -> io::Result<()> {
        if frame.len() > MAX_TO_WORKER {
            return Err(invalid("an answer is too large for a worker process"));
        }
        // If the worker is gone, so are its calls.
        let _ = self.outbox.send_for(id, frame);
        Ok(())
    }

    /// Ends the worker, and all of its calls.
    pub(super) fn end(&self, reason: &str) {
        self.lock().ended.get_or_insert_with(|| reason.to_owned());
        // One that is gone needs no signal.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
    }

    /// Ends the worker if nobody waits for it: cancelled calls, of which it does not say that they
    /// ended, do not keep it.
    fn end_if_idle(&self) -> bool {
        let mut calls = self.lock();
        let is_idle = calls.are_unwanted();
        if is_idle {
            calls.ended.get_or_insert_with(|| "it was idle".to_owned());
        }
        is_idle
    }

    /// Passes a message of the worker to its call.
    fn receive(&self, message: ToHost) -> io::Result<()> {
        fn unknown() -> io::Error {
            invalid("a message is of no call")
        }
        let mut calls = self.lock();
        let messages = match &message {
            ToHost::Ask { id, .. } => {
                let slot = calls.open.get_mut(id).ok_or_else(unknown)?;
                if std::mem::replace(&mut slot.is_asking, true) {
                    return Err(invalid("a guest called two ports at once"));
                }
                // One that asks again and again without reading would fill the host's memory.
                if self.outbox.has_frame(*id) {
                    return Err(invalid("a guest called a port before it read the answer of one"));
                }
                slot.has_asked = true;
                slot.messages.clone()
            }
            ToHost::Done { id, .. } => {
                let slot = calls.open.remove(id).ok_or_else(unknown)?;
                self.outbox.forget(*id);
                slot.messages
            }
            ToHost::Ready | ToHost::Unable(_) => return Err(invalid("it started twice")),
        };
        if let Some(messages) = messages {
            // Its call may end at the same time.
            let _ = messages.send(message);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end("nobody needs it any more");
    }
}

/// A call that a worker has, which is cancelled when this is dropped.
pub(super) struct OpenCall {
    connection: Arc<Connection>,
    id: u64,
    messages: mpsc::UnboundedReceiver<ToHost>,
}

impl OpenCall {
    /// The next message of the worker about this call; `None` if the worker is gone.
    pub(super) async fn next(&mut self) -> Option<ToHost> {
        self.messages.recv().await
    }

    /// Answers the port call of the last message.
    pub(super) fn answer(&self, answer: Vec<u8>) -> io::Result<()> {
        if let Some(slot) = self.connection.lock().open.get_mut(&self.id) {
            slot.is_asking = false;
        }
        self.connection.send_for(self.id, wire::frame(&ToWorker::Answer { id: self.id, answer })?)
    }

    /// Counts the CPU time of the call.
    pub(super) fn count(&self, cpu: Duration) {
        let mut calls = self.connection.lock();
        calls.cpu = calls.cpu.saturating_add(cpu);
    }

    /// Ends the worker.
    pub(super) fn end(&self, reason: &str) {
        self.connection.end(reason);
    }

    /// The reason why the worker is gone.
    pub(super) fn ending(&self) -> String {
        let reason = self.connection.lock().ended.clone();
        format!("its worker process is gone: {}", reason.unwrap_or_default())
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut calls = self.connection.lock();
        let Some(slot) = calls.open.get_mut(&self.id) else { return };
        slot.messages = None;
        let has_asked = slot.has_asked;
        // What nobody waits for is not sent; a call whose start was not does not exist.
        if self.connection.outbox.forget(self.id) && !has_asked {
            calls.open.remove(&self.id);
            return;
        }
        drop(calls);
        if let Ok(frame) = wire::frame(&ToWorker::Cancel { id: self.id }) {
            let _ = self.connection.outbox.send(frame);
        }
    }
}

/// Starts the process on a thread that waits for its end: the process dies with that thread, so
/// with this one and not before.
async fn spawn(mut command: Command) -> io::Result<(OwnedFd, oneshot::Receiver<ExitStatus>)> {
    let (started, start) = oneshot::channel();
    let (ended, end) = oneshot::channel();
    std::thread::Builder::new().name("worker".into()).spawn(move || {
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return drop(started.send(Err(error))),
        };
        // The host's copies of its streams are closed.
        drop(command);
        let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        if process.is_err() || started.send(process.map_err(io::Error::from)).is_err() {
            let _ = child.kill();
        }
        if let Ok(status) = child.wait() {
            let _ = ended.send(status);
        }
    })?;
    let process = start.await.map_err(io::Error::other)??;
    Ok((process, end))
}

/// Passes on the messages of a worker until it ends, breaks the protocol or has been idle for long.
async fn read(
    connection: Arc<Connection>,
    mut stream: BufReader<OwnedReadHalf>,
    limits: Limits,
    mut status: oneshot::Receiver<ExitStatus>,
) {
    let most = max_to_host(&limits);
    let decoded = max_decoded(&limits);
    let mut ended = None;
    let broken = loop {
        let body = {
            let mut body = pin!(read_frame(&mut stream, most));
            loop {
                tokio::select! {
                    // What it sent before it ended counts.
                    biased;
                    body = &mut body => break body,
                    status = &mut status => {
                        ended = Some(status);
                        break Ok(None);
                    }
                    () = tokio::time::sleep(IDLE) => {
                        if connection.end_if_idle() {
                            break Ok(None);
                        }
                    }
                }
            }
        };
        let received = match body {
            Ok(Some(body)) => {
                wire::decode(&body, decoded).and_then(|message| connection.receive(message))
            }
            Ok(None) => break None,
            Err(error) => Err(error),
        };
        if let Err(error) = received {
            break Some(error.to_string());
        }
    };
    if let Some(reason) = &broken {
        connection.end(reason);
    }
    // One that has only closed its stream ends as well.
    let _ = pidfd_send_signal(&connection.process, Signal::KILL);
    let ending = match ended {
        Some(status) => describe_end(status.ok()),
        None => ending(status).await,
    };
    connection.end(&ending);
    connection.lock().open.clear();
}

async fn ending(status: oneshot::Receiver<ExitStatus>) -> String {
    match tokio::time::timeout(ENDING, status).await {
        Ok(Ok(status)) => describe_end(Some(status)),
        _ => describe_end(None),
    }
}

fn describe_end(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => format!("it ended with {status}"),
        None => "it ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_ends_no_cancelled_call_is_idle() {
        let mut calls = Calls::default();
        assert!(calls.are_unwanted());
        let (sender, _messages) = mpsc::unbounded_channel();
        calls.open.insert(1, Slot { messages: None, is_asking: false, has_asked: false });
        calls.open.insert(2, Slot { messages: Some(sender), is_asking: false, has_asked: false });
        assert!(!calls.are_unwanted());
        calls.open.remove(&2);
        assert!(calls.are_unwanted());
    }
}
