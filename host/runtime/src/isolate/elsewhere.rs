//! Worker processes where the system cannot bound them: there are none.

use std::io;
use std::sync::Arc;

use syrch_core::roles::{Call, Role};
use syrch_core::{Limits, RoleError};
use wasmtime::component::Component;

use crate::job::{Description, RoleCall, RoleResult, Used};
use crate::process::{Probed, WorkerProcess};
use crate::{LoadError, error};

impl WorkerProcess {
    /// Returns whether this system can bound such a process: Linux with Landlock and seccomp.
    #[must_use]
    pub fn is_supported() -> bool {
        false
    }
}

/// The process's side of [`WorkerProcess`].
///
/// # Errors
/// Always: this system cannot bound the process.
pub fn run_worker() -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// The worker of a plugin, which never starts.
pub(crate) struct Worker(String);

impl Worker {
    pub(crate) fn new(
        _: WorkerProcess,
        _: Component,
        label: String,
        _: Vec<Role>,
        _: Arc<Limits>,
    ) -> Self {
        Self(label)
    }

    fn error(&self) -> RoleError {
        error::no_worker(&self.0, &io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(crate) async fn describe(&self) -> Result<Description, LoadError> {
        Err(LoadError::Unavailable(self.error().to_string()))
    }

    pub(crate) async fn configure(&self, _: &str) -> Result<(), RoleError> {
        Err(self.error())
    }

    pub(crate) async fn probe(&self) -> Result<Vec<Probed>, RoleError> {
        Err(self.error())
    }

    pub(crate) async fn run(
        &self,
        _: Role,
        _: Call,
        _: &str,
        _: &RoleCall<'_>,
    ) -> Result<(RoleResult, Used), RoleError> {
        Err(self.error())
    }
}
