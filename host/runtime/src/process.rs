//! The command that starts the process of a plugin, and what runs in it.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::isolate;

/// The command that starts a process of this host's binary that calls [`run_worker`], and nothing
/// else. Each plugin that is not built in has one such process, which is started for its first call
/// and ended when it is idle. It has no environment, no file, no network and no other process, and
/// dies with the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProcess {
    /// The path of the program.
    pub program: PathBuf,
    /// The arguments.
    pub arguments: Vec<OsString>,
}

/// An attempt of a worker process to do what it must not be able to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// The thing that was tried, such as `read a file`.
    pub tried: String,
    /// The error of it; `None` if it was possible.
    pub error: Option<String>,
}

impl WorkerProcess {
    /// The argument by which this host's binary calls [`run_worker`].
    pub const COMMAND: &str = "__run-plugin";

    /// Returns whether this system can bound such a process: Linux with Landlock and seccomp.
    #[must_use]
    pub fn is_supported() -> bool {
        isolate::is_supported()
    }
}

/// The process's side of [`WorkerProcess`]: takes the code of a plugin from standard output and
/// calls from standard input, gives up all rights, and serves the calls until the host is gone. The
/// caller ends the process afterwards.
///
/// # Errors
/// When the streams are not those of a host, or this system cannot bound the process.
pub fn run_worker() -> std::io::Result<()> {
    isolate::run_worker()
}
