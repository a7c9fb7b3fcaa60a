//! The options with which a cache is opened.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The source of the current time, which tests replace.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The lifetime of entries, the limit on their size, and the limit on waits for other processes.
#[derive(Clone)]
pub struct Options {
    /// The time for which an entry is valid: one that this process writes, for every process; one
    /// that it reads, for this process.
    pub ttl: Duration,
    /// The limit on the size of all entries, in bytes; the oldest are deleted. An entry larger than
    /// an eighth of it is not stored.
    pub bytes: u64,
    /// The limit on the wait for a lock of another process.
    pub wait: Duration,
    /// The clock by which entries expire.
    pub clock: Clock,
}

impl Default for Options {
    /// 24 hours, 1 GiB, 2 seconds, the system's clock.
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(24 * 60 * 60),
            bytes: 1 << 30,
            wait: Duration::from_secs(2),
            clock: Arc::new(SystemTime::now),
        }
    }
}

impl Options {
    /// Milliseconds since 1970; 0 for a clock before it.
    pub(crate) fn now(&self) -> i64 {
        let since = (self.clock)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    /// The TTL in milliseconds.
    pub(crate) fn ttl_millis(&self) -> i64 {
        i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX)
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("ttl", &self.ttl)
            .field("bytes", &self.bytes)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}
