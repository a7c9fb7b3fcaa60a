//! The time after a failure in which a shared place is left alone, so that one that is gone costs a
//! run one wait and not one for each call.

use std::time::{Duration, Instant};

use crate::CacheError;

/// The time for which nothing is tried after a failure.
const BACKOFF: Duration = Duration::from_secs(10);

/// The last failure, while it lasts.
#[derive(Debug, Default)]
pub(crate) struct Pause(Option<(Instant, CacheError)>);

impl Pause {
    /// Returns the failure of a moment ago.
    pub(crate) fn check(&self) -> Result<(), CacheError> {
        match &self.0 {
            Some((until, error)) if Instant::now() < *until => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Begins a pause because of a failure.
    pub(crate) fn begin(&mut self, error: CacheError) {
        self.0 = Some((Instant::now() + BACKOFF, error));
    }
}
