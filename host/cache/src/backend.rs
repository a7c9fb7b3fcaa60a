//! The place in which the entries and leases of a cache are: a file of this machine, a folder that
//! several hosts share, or a server.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use crate::store::Entry;
use crate::{CacheError, Key, Kind, Size};

/// The time after which a lease expires that is not extended.
pub(crate) const LEASE: Duration = Duration::from_secs(5);

/// The state of a key.
pub(crate) enum Claim {
    /// There is a value.
    Value(Vec<u8>),
    /// Another process holds the lease.
    Elsewhere,
    /// No process holds a lease, and this one could not take it.
    Free,
    /// This process leads: it has just taken the lease.
    Taken,
}

/// A request of this cache for a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The number of this cache, by which it knows its leases.
    pub(crate) owner: i64,
    /// Milliseconds since 1970.
    pub(crate) now: i64,
    /// The age up to which an entry is valid, in milliseconds.
    pub(crate) ttl: i64,
}

/// The place of entries and leases. Only the cache's thread calls it. After a failure it may answer
/// every call with the same error for a while, so that a dead server costs little.
pub(crate) trait Backend: Send {
    /// The value of a key; if there is none, the lease, unless another cache has it.
    fn claim(&mut self, key: &Key, request: Request) -> Result<Claim, CacheError>;

    /// Stores a value, within `most` bytes for all values, and ends the lease of the key.
    fn put(&mut self, key: &Key, entry: Entry<'_>, most: u64) -> Result<(), CacheError>;

    /// Deletes one entry.
    fn delete(&mut self, key: &Key) -> Result<(), CacheError>;

    /// Extends leases that no other cache has taken over. If it fails, another process may lead,
    /// too.
    fn renew(&mut self, held: &HashSet<Key>, owner: i64, now: i64) -> Result<(), CacheError>;

    /// Ends a lease of this owner. If it fails, the lease expires.
    fn release(&mut self, key: &Key, owner: i64) -> Result<(), CacheError>;

    /// Writes something and removes it again, to see that it can be done. The place of one machine
    /// repairs itself when it is used, and is not tried.
    fn check(&mut self) -> Result<(), CacheError> {
        Ok(())
    }

    /// The number of entries of each kind and their size.
    fn entry_sizes(&mut self) -> Result<BTreeMap<Kind, Size>, CacheError>;

    /// Deletes all present entries, or those of one kind.
    fn clear(&mut self, kind: Option<Kind>) -> Result<Size, CacheError>;

    /// Bytes that the entries take where they are, as far as it is known.
    fn bytes(&mut self) -> u64;

    /// The largest value that is stored, where all may have `most` bytes.
    fn largest(&self, most: u64) -> u64;

    /// The interval at which leases of other caches are checked.
    fn poll_every(&self) -> Duration;

    /// The file of this machine, for tests of it.
    #[cfg(test)]
    fn local(&mut self) -> Option<&mut crate::local::LocalFile> {
        None
    }
}
