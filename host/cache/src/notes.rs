//! What a cache did in this process: counted, and told once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::CacheError;

/// Counts, and what is to be told.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    hits: AtomicU64,
    misses: AtomicU64,
    untold: Mutex<Untold>,
}

#[derive(Debug, Default)]
struct Untold {
    said: Vec<String>,
    first: Option<CacheError>,
    failures: u64,
}

impl Notes {
    fn untold(&self) -> MutexGuard<'_, Untold> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// Hits and misses.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    pub(crate) fn tell(&self, text: String) {
        self.untold().said.push(text);
    }

    pub(crate) fn failed(&self, error: CacheError) {
        let mut untold = self.untold();
        untold.failures += 1;
        untold.first.get_or_insert(error);
    }

    /// What has not been told yet: what was set aside, and the first of the failures with their count.
    pub(crate) fn take(&self) -> Vec<String> {
        let Untold { mut said, first, failures } = std::mem::take(&mut *self.untold());
        said.extend(first.map(|error| match failures {
            1 => error.to_string(),
            _ => format!("{error}; {failures} accesses failed"),
        }));
        said
    }
}
