//! The activity of a cache in this process: counts of hits and misses, and the warnings that were
//! not reported yet.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::CacheError;

/// Counts and pending warnings.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    hits: AtomicU64,
    misses: AtomicU64,
    failures: AtomicU64,
    first: OnceLock<CacheError>,
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    warnings: Vec<String>,
    first: Option<CacheError>,
    failures: u64,
}

impl Activity {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// The numbers of hits and misses.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    pub(crate) fn warn(&self, text: String) {
        self.pending().warnings.push(text);
    }

    pub(crate) fn note_failure(&self, error: CacheError) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        self.first.get_or_init(|| error.clone());
        let mut pending = self.pending();
        pending.failures += 1;
        pending.first.get_or_insert(error);
    }

    /// The warnings since the last call: files that were set aside, and the first failure with the
    /// number of failures.
    pub(crate) fn take(&self) -> Vec<String> {
        let Pending { mut warnings, first, failures } = std::mem::take(&mut *self.pending());
        warnings.extend(first.map(|error| describe(&error, failures)));
        warnings
    }

    /// The first failure of all, with the number of failures.
    pub(crate) fn failure(&self) -> Option<String> {
        Some(describe(self.first.get()?, self.failures.load(Ordering::Relaxed)))
    }
}

fn describe(error: &CacheError, failures: u64) -> String {
    match failures {
        1 => error.to_string(),
        _ => format!("{error}; {failures} accesses failed"),
    }
}
