//! The command that starts the process of a plugin, and what it tries.

use std::ffi::OsString;
use std::path::PathBuf;

/// The command that starts a process of this host's binary that calls [`crate::run_worker`], and
/// nothing else. Each plugin that is not built in has one such process, which is started for its
/// first call and ended when it is idle. It has no environment, no file, no network and no other
/// process, and dies with the host.
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
    /// The argument by which this host's binary calls [`crate::run_worker`].
    pub const COMMAND: &str = "__run-plugin";
}
