//! The state of the cache's thread: the place of the entries, and the leases of this process.

use crate::backend::Backend;
use crate::lease::Leases;
use crate::options::Options;

/// The state of the cache's thread.
pub(crate) struct Worker {
    pub(crate) options: Options,
    pub(crate) leases: Leases,
    pub(crate) backend: Box<dyn Backend>,
}

impl Worker {
    /// A worker over this place, which is not opened yet.
    pub(crate) fn new(backend: Box<dyn Backend>, options: Options) -> Self {
        Self { options, leases: Leases::new(), backend }
    }
}
