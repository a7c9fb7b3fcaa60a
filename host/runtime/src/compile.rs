//! Compiles third-party components in a child process, whose limits the operating system enforces.
//!
//! A compilation runs no code of the component, but a hostile component can make the compiler use
//! gigabytes and minutes, and a thread that compiles can be neither interrupted nor bounded. The
//! child is the host's own binary; it has an empty environment and three pipes.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use syrch_core::{Limits, text};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::LoadError;
use crate::engine::compiler;

/// The most bytes of compiled code that are read from a child. Code is some three to eight times as
/// large as its component.
const MAX_CODE: u64 = 768 << 20;
/// The most bytes of an error message that are read from a child.
const MAX_MESSAGE: u64 = 4 << 10;

/// The wall time of a child, as a multiple of that of a compilation in this process.
const STANDSTILL: u32 = 15;

/// The command that starts a process of this host's binary that calls [`compile_component`] on its
/// standard streams, and nothing else. Two further arguments are its limits: bytes of memory and
/// seconds of CPU time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileProcess {
    /// The path of the program.
    pub program: PathBuf,
    /// The arguments before the limits.
    pub arguments: Vec<OsString>,
}

impl CompileProcess {
    /// The first argument that makes the program compile a component.
    pub const COMMAND: &str = "__compile-component";

    /// True if this system can bound a child process. On others, components are compiled in the
    /// host's own process.
    pub const IS_SUPPORTED: bool = cfg!(target_os = "linux");

    /// Compiles a component in a child.
    pub(crate) async fn compile(
        &self,
        component: &[u8],
        limits: &Limits,
    ) -> Result<Vec<u8>, LoadError> {
        fn process_error(error: std::io::Error) -> LoadError {
            LoadError::Engine(format!("the compiler's process: {error}"))
        }
        let mut command = Command::new(&self.program);
        // The child's limits are this host's, whatever the defaults are.
        command.args(&self.arguments).args(
            [limits.compile_memory, limits.compile_cpu.as_secs()].map(|limit| limit.to_string()),
        );
        command.env_clear().current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(process_error)?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(LoadError::Engine("the compiler's process has no pipes".to_owned()));
        };
        let mut code = Vec::new();
        let mut message = Vec::new();
        let exchange = async {
            let write = async {
                // A child that has seen enough closes its input.
                let _ = stdin.write_all(component).await;
                drop(stdin);
            };
            let mut stdout = stdout.take(MAX_CODE + 1);
            let mut stderr = stderr.take(MAX_MESSAGE);
            let read = futures::future::join(
                stdout.read_to_end(&mut code),
                stderr.read_to_end(&mut message),
            );
            let (_, (read, _)) = futures::future::join(write, read).await;
            read?;
            // What is over the bound is not read; the child would wait for a reader.
            drop(stdout);
            child.wait().await
        };
        // The limit is the CPU time: on a busy machine it takes far longer. This ends a child that
        // does not get on at all.
        let longest = limits.compile * STANDSTILL;
        let status = tokio::time::timeout(longest, exchange)
            .await
            .map_err(|_| LoadError::CompileLimit(format!("{} s", longest.as_secs_f64())))?
            .map_err(process_error)?;
        if code.len() as u64 > MAX_CODE {
            return Err(LoadError::CompileLimit(format!(
                "{} MiB of compiled code",
                MAX_CODE >> 20
            )));
        }
        if status.success() { Ok(code) } else { Err(child_error(status, &message, limits)) }
    }
}

/// Makes the error of a child that ended without code: by its message, or by the signal of the
/// limit that ended it.
fn child_error(status: ExitStatus, message: &[u8], limits: &Limits) -> LoadError {
    let message = String::from_utf8_lossy(message);
    let first =
        text::clip(message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), 500)
            .to_owned();
    if status.code() == Some(i32::from(CompileFailure::REFUSED)) {
        return LoadError::Broken(first);
    }
    let seconds = limits.compile_cpu.as_secs();
    match signal(status) {
        // SIGXCPU.
        Some(24) => LoadError::CompileLimit(format!("{seconds} CPU-seconds")),
        // Rust aborts where memory or stack cannot be had.
        Some(6 | 7 | 11) => {
            LoadError::CompileLimit(format!("{} MB of memory", limits.compile_memory / 1_000_000))
        }
        _ => LoadError::Engine(format!("the compiler's process ended with {status}: {first}")),
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// An error of [`compile_component`].
#[derive(Debug, thiserror::Error)]
pub enum CompileFailure {
    /// The component is not valid.
    #[error("{0}")]
    Component(String),
    /// This process could not be limited, or its streams failed.
    #[error("{0}")]
    Process(String),
}

impl CompileFailure {
    /// The exit status of a child whose component is not valid.
    pub const REFUSED: u8 = 65;

    /// The exit status of a child with this failure.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Self::Component(_) => Self::REFUSED,
            Self::Process(_) => 1,
        }
    }
}

/// The child's side of [`CompileProcess`]: limits this process, reads a component and writes its
/// compiled code. The caller ends the process afterwards, with an error's text on standard error
/// and its [`CompileFailure::status`].
///
/// # Errors
/// When the limits cannot be set, the streams fail, or the component is not valid.
pub fn compile_component(
    limits: &Limits,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<(), CompileFailure> {
    fn process_failure(error: std::io::Error) -> CompileFailure {
        CompileFailure::Process(error.to_string())
    }
    limit_process(limits).map_err(process_failure)?;
    let mut component = Vec::new();
    input.read_to_end(&mut component).map_err(process_failure)?;
    let engine = compiler(limits).map_err(|error| CompileFailure::Process(format!("{error:#}")))?;
    let code = engine
        .precompile_component(&component)
        .map_err(|error: wasmtime::Error| CompileFailure::Component(format!("{error:#}")))?;
    output.write_all(&code).and_then(|()| output.flush()).map_err(process_failure)
}

/// Bounds memory, CPU time and files of this process for the rest of its life.
#[cfg(target_os = "linux")]
fn limit_process(limits: &Limits) -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let seconds = limits.compile_cpu.as_secs();
    for (resource, limit, hard) in [
        (Resource::As, limits.compile_memory, limits.compile_memory),
        (Resource::Cpu, seconds, seconds + 1),
        (Resource::Core, 0, 0),
        (Resource::Fsize, 0, 0),
        (Resource::Nproc, 0, 0),
    ] {
        // A limit that is lower already stays so: it cannot be raised.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        setrlimit(
            resource,
            Rlimit { current: Some(limit.min(most)), maximum: Some(hard.min(most)) },
        )?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn limit_process(_: &Limits) -> std::io::Result<()> {
    Err(std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        "a process cannot be bounded on this system",
    ))
}
